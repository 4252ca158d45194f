// The chosen sample: why it is strange, its dyads, its neighbors, and the thing itself.
const isNarrow = () => matchMedia("(max-width: 60rem)").matches;

function choose(sample, byPointer) {
  state.chosen = sample;
  showRows();
  drawSample();
  remember();
  if (byPointer && isNarrow()) byId("panel").scrollIntoView({ behavior: "smooth" });
}

function showCall() {
  const called = isCalled(state.chosen);
  const badge = byId("sample-call");
  badge.textContent = called ? "▲ anomaly at this threshold" : `● ${ordinary()} at this threshold`;
  badge.className = `badge ${called ? "is-anomaly" : "is-nominal"}`;
}

function drawSample() {
  const { samples, columns } = state.figures;
  const sample = state.chosen;
  const name = columns.length && typeof samples.cells[0][sample] === "string" ? ` · ${samples.cells[0][sample].slice(0, 60)}` : "";
  setText("sample-name", `Row ${samples.row[sample]}${name}`);
  setText("sentence", samples.sentence[sample]);
  setText("sample-score", `Score ${shortNumber(samples.score[sample])}, p-value ${shortP(samples.p[sample])}. ` +
    `The sentence is for the threshold ${shortNumber(state.figures.threshold)}.`);
  byId("cells").replaceChildren(...columns.flatMap((column, i) =>
    [element("dt", column), element("dd", String(samples.cells[i][sample] ?? ""))]));
  showCall();
  showMarks();
  drawCriteria(sample);
  const hasDetails = sample < state.details.n;
  setText("no-details", hasDetails ? "" :
    `Dyads, neighbors and lines are kept for the ${count(state.details.n)} strangest samples; ` +
    `"paretodepth explain" tells them of every sample.`);
  drawDyads(sample, hasDetails);
  drawLines(sample, hasDetails);
  showNeighbors(sample, hasDetails);
}

// Long names often begin alike, so their ends are kept too.
function shortened(name) { return name.length > 24 ? `${name.slice(0, 11)}…${name.slice(-12)}` : name; }

// Plotly reads a few HTML tags in its texts; data must not bring any.
function plain(text) { return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;"); }

function drawCriteria(sample) {
  const { criteria, samples, n_training, alpha } = state.figures;
  const smallest = -Math.log10(1 / (n_training + 1));
  const bars = (values, rest) => ({
    type: "bar", orientation: "h", y: criteria.map((_, i) => i), x: values.map((p) => -Math.log10(p)),
    text: values.map((p) => `p = ${shortP(p)}`), textposition: "auto", hoverinfo: "text", ...rest,
  });
  const isFar = samples.criterion_p[sample].map((p) => p <= (alpha ?? 0.05));
  const hue = isFar.map((far) => colour(far ? "anomaly" : "nominal"));
  const ticks = [1, 0.1, 0.01, 0.001, 0.0001, 0.00001].filter((p) => -Math.log10(p) <= smallest * 1.05);
  byId("criteria-plot").style.height = `${Math.min(60, 5.5 + 3.2 * criteria.length)}rem`;
  drawn("criteria-plot", [
    bars(samples.criterion_p[sample], { name: "alone", marker: { color: hue }, textfont: { color: colour("card") }, outsidetextfont: { color: colour("ink") } }),
    bars(samples.relief[sample], {
      name: "left if it were ordinary",
      marker: { color: colour("card"), line: { color: colour("soft"), width: 1 }, pattern: { shape: "/", fgcolor: colour("soft"), size: 6 } },
      textposition: "none",
    }),
  ], {
    barmode: "group", bargap: 0.3, showlegend: false,
    margin: { l: 8, r: 16, t: 8, b: 44 },
    xaxis: { range: [0, smallest * 1.08], tickvals: ticks.map((p) => -Math.log10(p)), ticktext: ticks.map(String), title: { text: "p-value" } },
    yaxis: { tickvals: criteria.map((_, i) => i), ticktext: criteria.map((name) => plain(shortened(name))), autorange: "reversed", automargin: true },
    shapes: [{ type: "line", x0: -Math.log10(alpha ?? 0.05), x1: -Math.log10(alpha ?? 0.05), y0: 0, y1: 1, yref: "paper", line: { color: colour("soft"), dash: "dash", width: 1 } }],
  });
}

function chosenPair() {
  const across = Number(byId("first-criterion").value), up = Number(byId("second-criterion").value);
  const { pairs } = state.details.dyads;
  const { first, fronts } = pairs.find((pair) =>
    pair.first === Math.min(across, up) && pair.second === Math.max(across, up));
  return { across, up, fronts, isTurned: first !== across };
}

function drawDyads(sample, hasDetails) {
  const hasDyads = hasDetails && state.details.dyads.pairs.length > 0;
  byId("dyads-part").hidden = !hasDyads;
  if (!hasDyads) return;
  const { criteria } = state.figures, { dots, samples } = state.details.dyads;
  const pair = chosenPair();
  const traces = [{
    name: state.figures.left_out ? "dyads of all samples" : "nominal dyads", mode: "markers", type: "scatter", x: dots[pair.across], y: dots[pair.up], hoverinfo: "skip",
    marker: { size: 3, color: colour("soft"), opacity: 0.45 },
  }];
  pair.fronts.forEach((front, i) => traces.push({
    name: "fronts", legendgroup: "fronts", showlegend: i === 0, mode: "lines", x: pair.isTurned ? front.y : front.x, y: pair.isTurned ? front.x : front.y,
    line: { color: colour("nominal"), width: 1.2 }, hoverinfo: "text", text: `front ${front.number}`,
  }));
  traces.push({
    name: "dyads of this sample", mode: "markers", x: samples[sample][pair.across], y: samples[sample][pair.up],
    marker: { symbol: "triangle-up", size: 11, color: colour("anomaly"), line: { width: 1, color: colour("card") } },
    hovertemplate: "%{x:.3g}, %{y:.3g}<extra></extra>",
  });
  const title = (i) => ({ text: plain(`dissimilarity in ${shortened(criteria[i])}`) });
  byId("dyads-plot").style.height = "24rem";
  drawn("dyads-plot", traces, {
    xaxis: { type: "log", title: title(pair.across), exponentformat: "power", nticks: 6 },
    yaxis: { type: "log", title: title(pair.up), exponentformat: "power", nticks: 6 },
  });
  setText("dyads-note", (criteria.length > 2
    ? `Fronts of ${state.figures.left_out ? "all samples'" : "the nominal"} dyads in these two criteria alone. `
    : "Some of the fronts that give the depth. ") + "The further up and right of the fronts, the stranger.");
}

function showNeighbors(sample, hasDetails) {
  const table = byId("neighbors");
  table.parentElement.previousElementSibling.hidden = !hasDetails;
  if (!hasDetails) { table.replaceChildren(); return; }
  const { neighbors, training, training_columns } = state.details;
  const row = (tag, texts) => {
    const made = element("tr");
    made.append(...texts.map((text) => element(tag, text)));
    return made;
  };
  table.replaceChildren(row("th", ["by", state.figures.left_out ? "row" : "nominal row", ...training_columns]), ...neighbors[sample].flatMap((nearest, i) =>
    nearest.map((neighbor, rank) =>
      row("td", [rank ? "" : state.figures.criteria[i], String(neighbor), ...training[neighbor].map(shortCell)]))));
}

function drawLines(sample, hasDetails) {
  byId("drawings").hidden = !hasDetails;
  if (!hasDetails) return;
  state.details.drawings.forEach((drawing, i) => {
    const nearest = [...new Set(state.details.neighbors[sample].flat())];
    const line = (points, rest) => ({ ...points, mode: "lines", hoverinfo: "skip", ...rest });
    const isPath = drawing.kind === "trajectory";
    const background = drawing.background.map((row, n) => line(drawing.nominal[row], {
      name: state.figures.left_out ? "others" : "nominal", legendgroup: "nominal", showlegend: n === 0, line: { color: colour("soft"), width: 0.7 }, opacity: 0.45,
    }));
    const near = nearest.map((row, n) => line(drawing.nominal[row], {
      name: state.figures.left_out ? "nearest" : "nearest nominal", legendgroup: "near", showlegend: n === 0, line: { color: colour("nominal"), width: 1.6, dash: "dash" },
    }));
    const own = line(drawing.samples[sample], {
      name: "this sample", mode: "lines+markers", line: { color: colour("anomaly"), width: 2.6 },
      marker: { symbol: "triangle-up", size: 6, color: colour("anomaly"), maxdisplayed: 12 },
    });
    drawn(`drawing-${i}`, [...background, ...near, own], {
      xaxis: isPath ? {} : { title: { text: "place in the series" } },
      yaxis: isPath ? { scaleanchor: "x" } : {},
    });
  });
}

function startPanel() {
  const { criteria } = state.figures;
  const selects = [byId("first-criterion"), byId("second-criterion")];
  for (const select of selects) select.replaceChildren(...criteria.map((name, i) => option(String(i), shortened(name))));
  if (criteria.length > 1) selects[1].value = "1";
  byId("pair").hidden = criteria.length < 3;
  selects.forEach((select, i) => select.addEventListener("change", () => {
    // The two must differ: the other one gives way.
    const other = selects[1 - i];
    if (other.value === select.value) other.value = String((Number(select.value) + 1) % criteria.length);
    drawDyads(state.chosen, state.chosen < state.details.n);
  }));
  byId("drawings").replaceChildren(...state.details.drawings.flatMap((drawing, i) => {
    const picture = element("div", undefined, "plot");
    picture.id = `drawing-${i}`;
    picture.style.height = "22rem";
    return [element("h3", `${drawing.name}: this sample over ${state.figures.left_out ? "others" : "nominal ones"}`), picture];
  }));
  byId("previous").addEventListener("click", () => stepChoice(-1));
  byId("next").addEventListener("click", () => stepChoice(1));
}
