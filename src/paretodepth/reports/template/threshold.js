// The distribution of scores, and the threshold as a handle on it. Scores are drawn as log(1 + score); a blend may score a little below 0.
const placed = (score) => Math.sign(score) * Math.log1p(Math.abs(score));
const unplaced = (place) => Math.sign(place) * Math.expm1(Math.abs(place));
const MAX_MARKED = 500;
const MARGIN = { l: 56, r: 16, t: 34, b: 44 };

function scoreRange() {
  const { edges } = state.figures.bins;
  const low = placed(edges[0]), high = placed(edges[edges.length - 1]);
  const room = (high - low) * 0.02;
  return [low - room, high + room];
}

function scoreTicks([low, high]) {
  const values = [0];
  for (let size = 1; placed(size) <= high; size *= 10) values.push(size, 2 * size, 5 * size);
  // Ticks need room; small scores stand close together.
  const shown = [];
  for (const value of values) {
    const place = placed(value);
    if (place < low || place > high) continue;
    if (shown.length === 0 || place - placed(shown[shown.length - 1]) > (high - low) / 12) shown.push(value);
  }
  return shown;
}

function drawDistribution() {
  const { bins, n_samples, samples, left_out } = state.figures;
  const places = bins.edges.map(placed);
  const share = (counts, total) => [...counts.map((n) => 100 * n / total), 0];
  const range = scoreRange(), ticks = scoreTicks(range);
  const step = (counts, total, rest) => ({ x: places, y: share(counts, total), mode: "lines", hoverinfo: "skip", ...rest });
  const traces = [step(bins.nominal, bins.nominal.reduce((sum, n) => sum + n, 0), {
    fill: "tozeroy",
    fillcolor: colour("nominal-fill"), line: { shape: "hv", color: colour("nominal"), width: 1 },
  })];
  if (!left_out) {
    traces.push(step(bins.samples, n_samples, {
      line: { shape: "hv", color: colour("ink"), width: 2, dash: "dot" },
    }));
  }
  const called = samples.score.filter((score) => score > state.threshold).slice(0, MAX_MARKED);
  setText("anomaly-key", `called anomalies${nCalled() > MAX_MARKED ? `, the ${MAX_MARKED} with the highest scores` : ""}`);
  traces.push({
    x: called.map(placed), y: called.map(() => 0), mode: "markers", cliponaxis: false,
    text: called.map((score, sample) => `row ${samples.row[sample]}, score ${shortNumber(score)}`), hoverinfo: "text",
    marker: { symbol: "triangle-up", size: 10, color: colour("anomaly"), line: { width: 1, color: colour("card") } },
  });
  const drawing = drawn("distribution", traces, {
    margin: MARGIN, showlegend: false,
    xaxis: { range, tickvals: ticks.map(placed), ticktext: ticks.map(count), title: { text: "score, larger is stranger" } },
    yaxis: { title: { text: "% of samples" }, rangemode: "tozero" },
  });
  placeHandle();
  return drawing;
}

function placeHandle() {
  const box = byId("distribution").getBoundingClientRect();
  const [low, high] = scoreRange();
  const share = Math.min(1, Math.max(0, (placed(state.threshold) - low) / (high - low)));
  const handle = byId("handle");
  handle.style.left = `${MARGIN.l + share * (box.width - MARGIN.l - MARGIN.r)}px`;
  handle.style.height = `${box.height - MARGIN.b}px`;
  setText("handle-label", shortNumber(state.threshold));
  handle.setAttribute("aria-valuemin", shortNumber(lowestThreshold()));
  handle.setAttribute("aria-valuemax", shortNumber(unplaced(high)));
  handle.setAttribute("aria-valuenow", shortNumber(state.threshold));
  handle.setAttribute("aria-valuetext", `${shortNumber(state.threshold)}, ${byId("n-called").textContent} called`);
}

// Samples that the page does not hold score less than all it holds, and cannot be counted one by one.
function lowestThreshold() {
  const { n_more, samples } = state.figures;
  return n_more ? samples.score[samples.score.length - 1] : unplaced(scoreRange()[0]);
}

function countBeyond(scores, threshold) {
  let beyond = 0;
  for (const score of scores) if (score > threshold) beyond += 1;
  return beyond;
}

// All that are flagged, also those that the page does not hold: these score less than every threshold that can be chosen.
const nCalled = () => state.threshold === state.figures.threshold ? state.figures.n_anomalies : countBeyond(state.figures.samples.score, state.threshold);

function showCounts() {
  const { figures } = state;
  const called = nCalled();
  const rate = (1 + countBeyond(figures.nominal, state.threshold)) / (1 + figures.nominal.length);
  setText("n-called", count(called));
  const isMoved = state.threshold !== figures.threshold;
  setText("headline", isMoved ? movedHeadline(called, rate) : figures.headline);
  setText("n-called-of", `of ${count(figures.n_samples)} samples called anomalies (${percent(called / Math.max(1, figures.n_samples))})`);
  if (!figures.left_out) {
    setText("rate", percent(rate));
    setText("by-chance", `≈ ${count(Math.round(rate * figures.n_samples))}`);
  }
  byId("reset").disabled = !isMoved;
}

function movedHeadline(called, rate) {
  const { n_samples, left_out, threshold } = state.figures;
  const promise = left_out ? "" : ` That is a false-alarm rate of ${percent(rate)}.`;
  return `${count(called)} of ${count(n_samples)} samples called anomalies, beyond a threshold moved from ` +
    `${shortNumber(threshold)} to ${shortNumber(state.threshold)}.${promise}`;
}

const withinScores = (threshold) => Math.max(lowestThreshold(), Math.min(unplaced(scoreRange()[1]), threshold));

function setThreshold(threshold) {
  state.threshold = threshold === state.figures.threshold ? threshold : withinScores(threshold);
  showCounts();
  showOverview();
  drawTimeline();
  drawDistribution();
  filterRows();
  showCall();
  showMarks();
}

function startThreshold() {
  const handle = byId("handle");
  let wanted = null;
  // At most one recount a frame, however fast the pointer moves.
  const drag = (threshold) => {
    if (wanted === null) requestAnimationFrame(() => { setThreshold(wanted); wanted = null; });
    wanted = threshold;
  };
  handle.addEventListener("pointerdown", (event) => { handle.setPointerCapture(event.pointerId); });
  handle.addEventListener("pointermove", (event) => {
    if (!handle.hasPointerCapture(event.pointerId)) return;
    const box = byId("distribution").getBoundingClientRect();
    const [low, high] = scoreRange();
    const share = (event.clientX - box.left - MARGIN.l) / (box.width - MARGIN.l - MARGIN.r);
    drag(unplaced(low + share * (high - low)));
  });
  handle.addEventListener("keydown", (event) => {
    const [low, high] = scoreRange();
    const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10, Home: -1000, End: 1000 };
    if (!(event.key in steps)) return;
    event.preventDefault();
    setThreshold(unplaced(placed(state.threshold) + steps[event.key] * (high - low) / 100));
  });
  setText("first-threshold", shortNumber(state.figures.threshold));
  byId("reset").addEventListener("click", () => setThreshold(state.figures.threshold));
  addEventListener("resize", () => requestAnimationFrame(placeHandle));
}
