// The answer: the main reasons, groups of similar anomalies, and when they were.
const MAX_GROUPS = 8, MAX_DOTS = 800;

const farP = () => state.figures.alpha ?? 0.05;

function unusualCriteria(sample) {
  if (!isExplained(sample)) return [];
  return state.figures.criteria.map((_, i) => i).filter((i) => state.figures.samples.criterion_p[sample][i] <= farP());
}

function farCriteria(sample) {
  const { because } = state.figures.samples;
  if (!isExplained(sample) || because[sample] < 0) return [];
  const unusual = unusualCriteria(sample);
  return state.figures.criteria.map((_, i) => i).filter((i) => i === because[sample] || unusual.includes(i));
}

const groupOf = (sample) => `alike ${farCriteria(sample).join("+")}`;

function groupName(group) {
  const criteria = group.slice(6).split("+").filter(Boolean).map((i) => shortened(state.figures.criteria[i]));
  return criteria.length ? criteria.join(" + ") : state.figures.together;
}

const calledSamples = () => state.figures.samples.row.map((_, sample) => sample).filter((sample) => isCalled(sample) && isExplained(sample));

function tally(samples, key) {
  const counts = new Map();
  for (const sample of samples) counts.set(key(sample), (counts.get(key(sample)) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]);
}

// A bar that filters the table when pressed, and gives all samples back when pressed again.
function filterBar(show, name, n_samples, share) {
  const bar = element("button", undefined, "bar");
  bar.type = "button";
  bar.dataset.show = show;
  bar.append(element("span", name, "bar-name"), element("span", count(n_samples), "bar-count"));
  bar.style.setProperty("--share", `${100 * share}%`);
  bar.title = `${name}: ${count(n_samples)}`;
  bar.addEventListener("click", () => {
    setShow(byId("show").value === show ? "all" : show);
    filterRows();
  });
  return bar;
}

function filterBars(id, counts, name) {
  const largest = Math.max(1, ...counts.map(([, n]) => n));
  const focused = document.activeElement?.dataset?.show;
  byId(id).replaceChildren(...counts.map(([show, n]) => {
    const item = element("li");
    item.append(filterBar(show, name(show), n, n / largest));
    return item;
  }));
  byId(id).querySelector(`[data-show="${CSS.escape(focused ?? "")}"]`)?.focus();
}

function showOverview() {
  const called = calledSamples(), { criteria, together } = state.figures;
  const reason = (sample) => String(state.figures.samples.because[sample] < 0 ? criteria.length : state.figures.samples.because[sample]);
  setText("reasons-note", called.length < nCalled() ? `These bars count the ${count(called.length)} of ${count(nCalled())} anomalies that this page explains, those with the highest scores.` : "");
  filterBars("reasons", tally(called, reason), (show) => shortened([...criteria, together][show]));
  const groups = tally(called, groupOf);
  filterBars("groups", groups.slice(0, MAX_GROUPS), groupName);
  const n_rest = groups.slice(MAX_GROUPS).reduce((sum, [, n]) => sum + n, 0);
  setText("groups-rest", n_rest ? `${count(n_rest)} more in ${count(groups.length - MAX_GROUPS)} smaller groups.` : "");
  // Groups of one criterion each are the bars once more.
  byId("groups-part").hidden = !groups.some(([group]) => group.includes("+"));
  byId("overview").hidden = !called.length;
  showPressed();
}

function showPressed() {
  for (const bar of document.querySelectorAll(".bar")) bar.ariaPressed = String(bar.dataset.show === byId("show").value);
}

function drawTimeline() {
  const { time, samples } = state.figures;
  byId("timeline-part").hidden = time === null;
  if (time === null) return;
  const all = samples.row.map((_, sample) => sample).filter((sample) => time.values[sample] !== null);
  const called = all.filter(isCalled).slice(0, MAX_DOTS), others = all.filter((sample) => !isCalled(sample)).slice(0, MAX_DOTS);
  const dots = (chosen, rest) => ({
    mode: "markers", type: "scatter", x: chosen.map((sample) => time.values[sample]), y: chosen.map((sample) => placed(samples.score[sample])),
    customdata: chosen, text: chosen.map((sample) => plain(`row ${samples.row[sample]}, score ${shortNumber(samples.score[sample])}`)), hoverinfo: "text+x", ...rest,
  });
  const ticks = scoreTicks(scoreRange());
  drawn("timeline", [
    dots(others, { marker: { size: 4, color: colour("nominal"), opacity: 0.4 } }),
    dots(called, { marker: { symbol: "triangle-up", size: 10, color: colour("anomaly"), line: { width: 1, color: colour("card") } } }),
  ], {
    showlegend: false, margin: { l: 56, r: 16, t: 10, b: 32 },
    xaxis: { type: "date" }, yaxis: { tickvals: ticks.map(placed), ticktext: ticks.map(count), title: { text: "score" } },
    shapes: [{ type: "line", x0: 0, x1: 1, xref: "paper", y0: placed(state.threshold), y1: placed(state.threshold), line: { color: colour("anomaly"), dash: "dash", width: 1 } }],
  });
  const n_hidden = all.length - called.length - others.length;
  setText("timeline-note", `Score over ${time.column}; ▲ are anomalies, and a click chooses one.` +
    (n_hidden ? ` Drawn are the ${count(called.length)} anomalies and the ${count(others.length)} others with the highest scores.` : ""));
}

function startOverview() {
  drawTimeline();
  byId("timeline").on?.("plotly_click", ({ points }) => choose(points[0].customdata, true));
}
