// The table of samples: sorted and filtered in memory, and only the rows in sight are in the page.
const ROW_HEIGHT = 35, ROWS_AROUND = 8, PRINTED_ROWS = 25;
const grid = { columns: [], order: [], sorted: { column: 0, falling: true }, texts: null };

function gridColumns() {
  const { samples, columns } = state.figures;
  const own = columns.map((name, i) => ({ key: `own${i}`, place: i, name, value: (sample) => samples.cells[i][sample], show: shortCell }));
  const row = { key: "row", name: "row", value: (sample) => samples.row[sample], show: String, width: 4, isNumber: true };
  const score = { key: "score", name: "score", value: (sample) => samples.score[sample], show: shortNumber, width: 5, isNumber: true, falls: true };
  const p = { key: "p", name: "p-value", value: (sample) => samples.p[sample], show: shortP, width: 5.5, isNumber: true };
  const call = {
    key: "call", name: "call", value: (sample) => isCalled(sample) ? 1 : 0, show: (called) => called ? "▲ anomaly" : `● ${ordinary()}`,
    width: 6.2, isNumber: false, falls: true, tellsCall: true,
  };
  const because = { key: "because", name: "because", value: (sample) => isCalled(sample) ? blamed(sample) : null, show: shortCell, width: 9 };
  const odd = { key: "odd", name: "blamed values", value: blamedValues, show: shortCell, width: 9, isNumber: false, isBlamed: true };
  const why = { key: "why", name: "why", value: (sample) => samples.sentence[sample] ?? null, show: shortCell, width: 20, isNumber: false };
  const mark = { key: "mark", name: "mark", value: markText, show: shortCell, width: 7.5, isNumber: false };
  // A phone shows four columns at a time: those that matter most.
  return isNarrow() ? [row, score, call, because, odd, why, mark, p, ...own] : [row, ...own.slice(0, 1), score, call, because, odd, mark, why, p, ...own.slice(1)];
}

function blamedValues(sample) {
  if (!isCalled(sample)) return null;
  const { columns, criterion_columns, samples } = state.figures;
  // The main reason first.
  const isMain = (i) => Number(i === samples.because[sample]);
  const far = farCriteria(sample).sort((a, b) => isMain(b) - isMain(a));
  const places = [...new Set((far.length ? far : unusualCriteria(sample)).flatMap((i) => criterion_columns[i]))];
  return places.slice(0, 4).map((i) => `${places.length > 1 ? `${shortened(columns[i])} ` : ""}${usualOf(i)?.texts?.[sample] ?? shortCell(samples.cells[i][sample])}`).join(", ") || null;
}

function startGrid() {
  grid.columns = gridColumns();
  for (const column of grid.columns) {
    const seen = Array.from({ length: Math.min(200, state.figures.samples.row.length) }, (_, sample) => column.value(sample));
    column.isNumber ??= seen.every((value) => typeof value === "number" || value === null);
    const longest = Math.max(column.name.length + 2, ...seen.map((value) => column.show(value).length));
    column.width ??= Math.min(14, Math.max(4.5, 1.5 + longest * 0.5));
  }
  byId("widths").replaceChildren(...grid.columns.map((column) => {
    const width = document.createElement("col");
    width.style.width = `${column.width}rem`;
    return width;
  }));
  document.querySelector("#grid table").style.minWidth = `${grid.columns.reduce((sum, column) => sum + column.width, 0)}rem`;
  const { criteria, together } = state.figures;
  byId("show").replaceChildren(option("all", "all samples"), option("called", "anomalies"), option("nominal", state.figures.left_out ? "others" : "nominal ones"),
    option("open", "anomalies without a mark"), option("confirmed", "confirmed"), option("false alarm", "false alarms"), option("noted", "with a note"),
    ...[...criteria, together].map((name, i) => option(String(i), `anomalies because of ${shortened(name)}`)));
  byId("show").addEventListener("change", filterRows);
  byId("search").addEventListener("input", filterRows);
  byId("grid").addEventListener("scroll", () => requestAnimationFrame(showRows));
  byId("grid").addEventListener("keydown", moveChoice);
  byId("rows").addEventListener("click", (event) => {
    const row = event.target.closest("tr.sample");
    if (row) choose(Number(row.dataset.sample), true);
  });
  if (state.figures.n_more) {
    setText("grid-note", `The strangest ${count(state.figures.samples.row.length)} samples; ${count(state.figures.n_more)} more score less.`);
  }
}

// Groups of alike anomalies are many, so that only those asked for are in the list.
const isGroup = (show) => /^alike (\d+(\+\d+)*)?$/.test(show) && show.slice(6).split("+").every((i) => Number(i) < state.figures.criteria.length);

function setShow(show) {
  const options = [...byId("show").options].map(({ value }) => value);
  if (isGroup(show) && !options.includes(show)) byId("show").append(option(show, `alike: ${groupName(show)}`));
  byId("show").value = options.includes(show) || isGroup(show) ? show : "all";
}

function showHeadings() {
  byId("headings").replaceChildren(...grid.columns.map((column, i) => {
    const isSorted = grid.sorted.column === i;
    const heading = element("th", undefined, column.isNumber ? "number" : "");
    heading.scope = "col";
    heading.ariaSort = isSorted ? (grid.sorted.falling ? "descending" : "ascending") : "none";
    const button = element("button", `${column.name}${isSorted ? (grid.sorted.falling ? " ▾" : " ▴") : ""}`);
    button.type = "button";
    button.title = `Sort by ${column.name}`;
    button.addEventListener("click", () => sortBy(i));
    heading.append(button);
    return heading;
  }));
}

function sortBy(column) {
  const { sorted } = grid;
  grid.sorted = { column, falling: sorted.column === column ? !sorted.falling : Boolean(grid.columns[column].falls) };
  filterRows();
  byId("headings").children[column].firstChild.focus();
}

const firstOrder = () => ({ column: grid.columns.findIndex((column) => column.key === "score"), falling: true });
const isFirstOrder = () => grid.sorted.falling && grid.columns[grid.sorted.column].key === "score";

function sortAs(text) {
  const column = grid.columns.findIndex(({ key }) => key === text?.replace(/^-/, ""));
  grid.sorted = column < 0 ? firstOrder() : { column, falling: text.startsWith("-") };
}

function isShown(sample, show) {
  if (show === "all") return true;
  if (show === "open") return isCalled(sample) && !markOf(sample).mark;
  if (show in MARKS) return markOf(sample).mark === show;
  if (show === "noted") return Boolean(markOf(sample).note);
  if (show === "called") return isCalled(sample);
  if (show === "nominal") return !isCalled(sample);
  if (!isExplained(sample)) return false;
  if (isGroup(show)) return isCalled(sample) && groupOf(sample) === show;
  const { because } = state.figures.samples, { criteria } = state.figures;
  return isCalled(sample) && (because[sample] < 0 ? criteria.length : because[sample]) === Number(show);
}

function searchTexts() {
  const { samples } = state.figures;
  grid.texts ??= samples.row.map((row, sample) =>
    [row, ...samples.cells.map((cells) => cells[sample]), blamed(sample), samples.sentence[sample]].join("\n").toLowerCase());
  return grid.texts;
}

function compared(a, b) {
  // Missing values come last, numbers before text.
  if (a === null || b === null) return (a === null) - (b === null);
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
  return a < b ? -1 : Number(a > b);
}

function filterRows() {
  const show = byId("show").value, words = byId("search").value.trim().toLowerCase();
  const texts = words ? searchTexts() : null;
  const { samples } = state.figures;
  grid.order = samples.row.map((_, sample) => sample)
    .filter((sample) => isShown(sample, show) && (!words || texts[sample].includes(words) || (markText(sample) ?? "").toLowerCase().includes(words)));
  const { column, falling } = grid.sorted;
  const values = samples.row.map((_, sample) => grid.columns[column].value(sample) ?? null);
  const sign = falling ? -1 : 1;
  grid.order.sort((a, b) => {
    const isMissing = values[a] === null || values[b] === null;
    return (isMissing ? 1 : sign) * compared(values[a], values[b]) || a - b;
  });
  setText("n-shown", `${count(grid.order.length)} of ${count(samples.row.length)}`);
  showHeadings();
  showRows();
  showPressed();
  remember();
}

function spacer(n_rows) {
  const row = element("tr", undefined, "spacer"), cell = element("td");
  row.ariaHidden = "true";
  cell.colSpan = grid.columns.length;
  cell.style.height = `${n_rows * ROW_HEIGHT}px`;
  row.append(cell);
  return row;
}

function gridRow(sample, place) {
  const row = element("tr", undefined, "sample");
  row.dataset.sample = sample;
  row.ariaRowIndex = place + 2;
  row.ariaSelected = String(sample === state.chosen);
  const suspicious = isCalled(sample) ? new Set(farCriteria(sample).flatMap((i) => state.figures.criterion_columns[i])) : new Set();
  for (const column of grid.columns) {
    const text = column.show(column.value(sample));
    const cell = element("td", text, column.isNumber ? "number" : "");
    if (text.length > 20) cell.title = text;
    if (suspicious.has(column.place) || (column.isBlamed && text)) cell.classList.add("blamed");
    if (column.tellsCall) cell.className = isCalled(sample) ? "is-anomaly" : "is-nominal";
    row.append(cell);
  }
  return row;
}

function showRows() {
  const view = byId("grid"), n_rows = grid.order.length;
  const isPrinting = document.documentElement.classList.contains("printing");
  const first = isPrinting ? 0 : Math.max(0, Math.min(n_rows, Math.floor(view.scrollTop / ROW_HEIGHT)) - ROWS_AROUND);
  const n_shown = isPrinting ? PRINTED_ROWS : Math.ceil(view.clientHeight / ROW_HEIGHT) + 2 * ROWS_AROUND;
  const shown = grid.order.slice(first, first + n_shown);
  const rest = isPrinting ? 0 : n_rows - first - shown.length;
  view.ariaRowCount = n_rows + 1;
  byId("rows").replaceChildren(spacer(first), ...shown.map((sample, i) => gridRow(sample, first + i)), spacer(rest));
}

function moveChoice(event) {
  const page = Math.floor(byId("grid").clientHeight / ROW_HEIGHT) - 1;
  const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
  if (!(event.key in steps) || event.target !== byId("grid")) return;
  event.preventDefault();
  stepChoice(steps[event.key]);
}

function stepChoice(step) {
  if (!grid.order.length) return;
  const place = Math.max(0, Math.min(grid.order.length - 1, grid.order.indexOf(state.chosen) + step));
  const view = byId("grid"), top = place * ROW_HEIGHT, room = view.clientHeight - 2 * ROW_HEIGHT;
  if (top < view.scrollTop) view.scrollTop = top;
  if (top > view.scrollTop + room) view.scrollTop = top - room;
  choose(grid.order[place], false);
}
