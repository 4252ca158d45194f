// What all parts share: the data, the present threshold and choice, and the way to draw.
const state = { figures: null, details: null, threshold: 0, chosen: 0, marks: {}, pageKey: "", isReady: false };

const byId = (id) => document.getElementById(id);

// Everything from the data is set as text, never as HTML.
function setText(id, text) { byId(id).textContent = text; }

function element(tag, text, className) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function option(value, text) {
  const made = element("option", text);
  made.value = value;
  return made;
}

const count = (n) => n.toLocaleString("en");
const percent = (share) => `${Number((100 * share).toPrecision(2))} %`;
const shortNumber = (value) => value === null ? "" : String(Number(value.toPrecision(4)));

const shortP = (p) => String(Number(p.toPrecision(2)));

// Numbers come with the digits that sentences show.
const shortCell = (value) => value === null || value === undefined ? "" : String(value);

// Whom a sample is compared with.
const others = () => !state.figures.left_out ? "nominal samples" : state.figures.fitted_some ? "fitted samples" : "others";

const fittedSamples = () => others() === "others" ? "all samples" : others();

// What a sample that is not called is named.
const ordinary = () => state.figures.left_out ? "ordinary" : "nominal";
const isCalled = (sample) => state.figures.samples.score[sample] > state.threshold;

// With many criteria it takes long to tell why, so that only the strangest are explained.
const isExplained = (sample) => sample < state.figures.samples.because.length;

function blamed(sample) {
  const criterion = state.figures.samples.because[sample];
  if (criterion === undefined) return null;
  return criterion < 0 ? state.figures.together : state.figures.criteria[criterion];
}

async function unpacked(id) {
  const bytes = Uint8Array.from(atob(byId(id).textContent.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

function colour(name) { return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim(); }

function drawn(id, traces, layout) {
  const axis = { gridcolor: colour("line"), zeroline: false, linecolor: colour("line"), fixedrange: true };
  for (const name of ["xaxis", "yaxis"]) layout[name] = { ...axis, ...layout[name] };
  const look = {
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: "system-ui, sans-serif", size: 12, color: colour("ink") },
    hoverlabel: { bgcolor: colour("card"), font: { color: colour("ink") } },
    legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom" },
    margin: { l: 56, r: 16, t: 30, b: 44 },
  };
  return Plotly.react(id, traces, { ...look, ...layout }, { displayModeBar: false, responsive: true });
}

function drawAll() {
  drawTimeline();
  drawDistribution();
  drawSample();
}

function showAll() {
  showCounts();
  showOverview();
  filterRows();
  drawAll();
}

function showFacts() {
  const { figures } = state;
  setText("title", figures.title);
  setText("counted", `Rows are counted from ${figures.count_from}.`);
  byId("scored-key").hidden = figures.left_out;
  if (figures.left_out) showOneFile();
  showLabel();
  byId("advice").replaceChildren(...figures.advice.map((advice) => element("li", advice)));
  byId("provenance").replaceChildren(...figures.provenance.flatMap(([heading, text]) => [element("dt", heading), element("dd", text)]));
  const criteria = figures.criteria.map((name, i) => `${name} (${figures.metrics[i]}, ${figures.n_neighbors[i]} neighbors)`);
  setText("basis", `${figures.score} ${count(figures.n_training)} ${figures.left_out ? "samples" : "nominal samples"}, ` +
    `${figures.fronts} Criteria: ${criteria.join(", ")}. ${figures.exactness}` +
    (figures.left_out ? ` Each sample is compared with ${comparedWith()}; its p-value is its rank among these.` : ""));
}

const comparedWith = () => state.figures.fitted_some ? `${count(state.figures.n_training)} random ones of the file` : "all the others";

// Of one file nobody knows which samples are nominal.
function showOneFile() {
  const { n_standing_out, stand_out_fdr, n_training, fitted_some } = state.figures;
  setText("rate", count(n_standing_out));
  setText("rate-of", `${n_standing_out === 1 ? "stands" : "stand"} out beyond what the rest suggests (estimated false discovery rate of ${percent(stand_out_fdr)})`);
  setText("by-chance", count(fitted_some ? n_training : n_training - 1));
  setText("by-chance-of", fitted_some ? "random rows of the file that each sample is compared with" : "others that each sample is compared with");
  setText("nominal-key", "all samples");
  setText("neighbors-title", "Nearest samples beside it");
  byId("distribution").setAttribute("aria-label", "Distribution of the scores of all samples");
}

function showLabel() {
  const { label } = state.figures;
  if (label === null || label.area === null) return;
  byId("label-tiles").hidden = false;
  setText("label-area", label.area.toFixed(3));
  setText("label-precision", label.average_precision.toFixed(3));
  setText("label-precision-of", `average precision: 1 is perfect, ${(label.n_anomalies / label.n_labelled).toFixed(3)} is guessing`);
  setText("label-at-n", label.precision_at_n.toFixed(3));
  setText("label-at-n-of", `precision at ${count(label.n_anomalies)}, the share of anomalies among so many of the strangest: ` +
    `${label.column} is ${label.anomaly} (${label.reason}), ${count(label.n_anomalies)} of ${count(label.n_labelled)} samples`);
}

async function start() {
  try {
    state.figures = JSON.parse(await unpacked("figures-data"));
    state.details = JSON.parse(await unpacked("details-data"));
    const library = element("script", await unpacked("plotly-data"));
    state.pageKey = library.nonce = document.querySelector("script[nonce]").nonce;
    document.head.append(library);
  } catch (error) {
    setText("failure", `This report could not be unpacked (${error.message}); it needs a browser of 2023 or later.`);
    byId("failure").hidden = false;
    return;
  }
  byId("page").hidden = false;
  showFacts();
  startThreshold();
  startGrid();
  startPanel();
  startMarks();
  recall();
  startOverview();
  showAll();
  state.isReady = true;
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  for (const [event, printing] of [["beforeprint", true], ["afterprint", false]]) {
    addEventListener(event, () => {
      document.documentElement.classList.toggle("printing", printing);
      showRows();
      drawAll();
    });
  }
  document.documentElement.dataset.ready = "true";
}
