// What a reader does with the page: marks, notes and the view. The browser keeps them where it may, the address always.
const MARKS = { confirmed: "✓ confirmed", "false alarm": "✗ false alarm" };
const MARK_LETTERS = { c: "confirmed", f: "false alarm" };
const MAX_NOTE = 500, MAX_ADDRESS = 8000;
// Marks belong to the samples, whatever report shows them; the view belongs to this page.
const storeKey = (what) => `paretodepth ${what} ${what === "marks" ? state.figures.samples_key : state.pageKey}`;

const markOf = (sample) => state.marks[state.figures.samples.row[sample]] ?? {};

function markText(sample) {
  const { mark, note } = markOf(sample);
  return [MARKS[mark] ?? (note ? "✎" : ""), note].filter(Boolean).join(" ") || null;
}

function stored(what) {
  try { return JSON.parse(localStorage.getItem(storeKey(what))) ?? {}; } catch { return {}; }
}

function store(what, value) {
  try { localStorage.setItem(storeKey(what), JSON.stringify(value)); return true; } catch { return false; }
}

// An address or a store may hold anything: what is no mark is left out.
function cleanMarks(marks) {
  const clean = {};
  for (const row of state.figures.samples.row) {
    const { mark, note } = Object.hasOwn(marks, row) ? marks[row] ?? {} : {};
    const kept = {};
    if (Object.hasOwn(MARKS, mark)) kept.mark = mark;
    if (typeof note === "string" && note) kept.note = note.slice(0, MAX_NOTE);
    if (kept.mark || kept.note) clean[row] = kept;
  }
  return clean;
}

function presentView() {
  const { column, falling } = grid.sorted;
  const view = { row: String(state.figures.samples.row[state.chosen]) };
  if (state.threshold !== state.figures.threshold) view.threshold = String(state.threshold);
  if (byId("show").value !== "all") view.show = byId("show").value;
  if (byId("search").value) view.search = byId("search").value;
  if (!isFirstOrder()) view.sort = `${falling ? "-" : ""}${grid.columns[column].key}`;
  return view;
}

function addressOf(view, marks) {
  const address = new URLSearchParams(view);
  const rows = Object.keys(marks);
  const letters = rows.filter((row) => marks[row].mark).map((row) => `${row}${marks[row].mark[0]}`);
  if (letters.length) address.set("marks", letters.join("."));
  for (const row of rows) if (marks[row].note) address.set(`note-${row}`, marks[row].note);
  return address;
}

function ofAddress() {
  const view = {}, marks = {};
  for (const [name, value] of new URLSearchParams(location.hash.slice(1))) {
    if (name === "marks") {
      for (const [, row, letter] of value.matchAll(/(\d+)([cf])/g)) marks[row] = { ...marks[row], mark: MARK_LETTERS[letter] };
    } else if (/^note-\d+$/.test(name)) {
      marks[name.slice(5)] = { ...marks[name.slice(5)], note: value };
    } else view[name] = value;
  }
  return { view, marks };
}

let saving = null;

function remember() {
  if (!state.isReady) return;
  // Browsers refuse too many addresses a second, and a dragged handle makes many.
  clearTimeout(saving);
  saving = setTimeout(save, 120);
}

function save() {
  clearTimeout(saving);
  saving = null;
  const view = presentView();
  const isStored = [store("marks", state.marks), store("view", view)].every(Boolean);
  let address = addressOf(view, state.marks).toString();
  const isLong = address.length > MAX_ADDRESS;
  if (isLong) address = new URLSearchParams(view).toString();
  try { history.replaceState(null, "", `#${address}`); } catch { location.replace(`#${address}`); }
  setText("kept-note", !isStored && isLong
    ? "This browser keeps nothing for this page, and the marks are too many for its address: download them before you leave."
    : !isStored ? "This browser keeps nothing for this page; the marks are in its address alone. Bookmark it, or download them." : "");
}

function applyView(view) {
  const { samples } = state.figures;
  const threshold = Number(view.threshold ?? NaN);
  state.threshold = Number.isFinite(threshold) ? withinScores(threshold) : state.figures.threshold;
  state.chosen = Math.max(0, samples.row.indexOf(Number(view.row ?? NaN)));
  byId("search").value = view.search ?? "";
  setShow(view.show ?? "all");
  sortAs(view.sort);
}

function recall() {
  const { view, marks } = ofAddress();
  // An address that was sent or bookmarked comes before what this browser remembers.
  state.marks = cleanMarks({ ...stored("marks"), ...marks });
  applyView(Object.keys(view).length ? view : stored("view"));
}

function setMark(sample, change) {
  const row = state.figures.samples.row[sample];
  const changed = { ...state.marks[row], ...change };
  for (const name of Object.keys(changed)) if (!changed[name]) delete changed[name];
  if (Object.keys(changed).length) state.marks[row] = changed;
  else delete state.marks[row];
  showMarks();
  filterRows();
}

const toggleMark = (mark) => setMark(state.chosen, { mark: markOf(state.chosen).mark === mark ? null : mark });

function showMarks() {
  const { mark, note } = markOf(state.chosen);
  for (const button of document.querySelectorAll("[data-mark]")) button.ariaPressed = String(button.dataset.mark === mark);
  if (byId("note").value !== (note ?? "")) byId("note").value = note ?? "";
  const { row, score } = state.figures.samples;
  const marked = (wanted) => Object.values(state.marks).filter((given) => given.mark === wanted).length;
  const left = nCalled() - row.filter((number, sample) => score[sample] > state.threshold && state.marks[number]?.mark).length;
  setText("progress", `${count(marked("confirmed"))} confirmed, ${count(marked("false alarm"))} marked as false alarm, ` +
    `${count(left)} ${left === 1 ? "anomaly" : "anomalies"} without a mark.`);
}

function startMarks() {
  for (const button of document.querySelectorAll("[data-mark]")) button.addEventListener("click", () => toggleMark(button.dataset.mark));
  byId("note").addEventListener("input", () => setMark(state.chosen, { note: byId("note").value }));
  byId("note").addEventListener("keydown", (event) => { if (["Escape", "Enter"].includes(event.key)) byId("grid").focus(); });
  byId("grid").addEventListener("keydown", (event) => {
    if (event.target !== byId("grid") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in MARK_LETTERS) toggleMark(MARK_LETTERS[event.key]);
    if (event.key === "n") { event.preventDefault(); byId("note").focus(); }
  });
  byId("download").addEventListener("click", download);
  addEventListener("pagehide", () => { if (saving !== null) save(); });
  addEventListener("hashchange", () => {
    const { view, marks } = ofAddress();
    state.marks = cleanMarks({ ...state.marks, ...marks });
    applyView(view);
    showAll();
  });
}

// As RFC 4180 has it. A spreadsheet would run text that begins like a formula, so that it gets an apostrophe.
function csvCell(value, isGuarded) {
  if (value === null || value === undefined) return "";
  let text = String(value);
  if (isGuarded && typeof value === "string" && /^[=+\-@\t\r\n]/.test(text)) text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function shownAsCsv() {
  const { samples, columns } = state.figures;
  const taken = new Set(columns);
  const free = (name) => { while (taken.has(name)) name += "_"; return name; };
  const ours = {
    row: (sample) => samples.row[sample], score: (sample) => samples.score[sample], p_value: (sample) => samples.p[sample],
    decision: (sample) => isCalled(sample) ? "anomaly" : ordinary(), because: (sample) => isCalled(sample) ? blamed(sample) : null,
    mark: (sample) => markOf(sample).mark, note: (sample) => markOf(sample).note, why: (sample) => samples.sentence[sample],
  };
  const isGuarded = byId("guard").checked;
  const line = (values) => values.map((value) => csvCell(value, isGuarded)).join(",");
  return [line([...columns, ...Object.keys(ours).map(free)]), ...grid.order.map((sample) =>
    line([...samples.cells.map((cells) => cells[sample]), ...Object.values(ours).map((value) => value(sample))]))].join("\r\n") + "\r\n";
}

function download() {
  // The mark at the start tells spreadsheets that this is UTF-8.
  const address = URL.createObjectURL(new Blob(["\ufeff", shownAsCsv()], { type: "text/csv;charset=utf-8" }));
  const link = element("a");
  link.href = address;
  link.download = `${state.figures.title.replaceAll(/[^\p{L}\p{N}._-]+/gu, "-").slice(0, 60) || "samples"}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
