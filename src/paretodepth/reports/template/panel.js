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
  if (!state.figures.samples.row.length) return;
  const called = isCalled(state.chosen);
  const badge = byId("sample-call");
  badge.textContent = called ? "▲ anomaly at this threshold" : `● ${ordinary()} at this threshold`;
  badge.className = `badge ${called ? "is-anomaly" : "is-nominal"}`;
}

function drawSample() {
  const { samples, columns } = state.figures;
  const sample = state.chosen;
  // Where every sample lacks a value there is none to show.
  byId("panel").hidden = !samples.row.length;
  if (!samples.row.length) return;
  const id = columns.length ? samples.cells[0][sample] : null;
  const name = typeof id === "string" || (state.figures.has_id && id !== null) ? ` · ${String(id).slice(0, 60)}` : "";
  setText("sample-name", `Row ${samples.row[sample]}${name}`);
  setText("sentence", samples.sentence[sample] ?? `Reasons are included for the ${count(samples.because.length)} samples with the highest scores only.`);
  setText("sample-score", `Score ${shortNumber(samples.score[sample])}, p-value ${shortP(samples.p[sample])}. ` +
    `The sentence is for the threshold ${shortNumber(state.figures.threshold)}.`);
  byId("cells").replaceChildren(...columns.flatMap((column, i) =>
    [element("dt", column), element("dd", String(samples.cells[i][sample] ?? ""))]));
  showCall();
  showMarks();
  showStrips(sample);
  const hasDetails = sample < state.details.n;
  setText("no-details", hasDetails ? "" :
    `Dyads, neighbors and lines are kept for the ${count(state.details.n)} samples with the highest scores only.`);
  if (state.figures.criteria.length > 1) choosePair(...blamedPair(sample));
  byId("neighbors-by").value = samples.because[sample] >= 0 ? String(samples.because[sample]) : "each";
  byId("score-part").hidden = !isExplained(sample);
  showNeighbors(sample, hasDetails);
  drawValues(sample, hasDetails);
  byId("values-part").hidden = byId("pair").hidden && byId("values-plot").hidden;
  drawLines(sample, hasDetails);
  drawScore(sample, hasDetails);
}

// Long names often begin alike, so their ends are kept too.
function shortened(name) { return name.length > 24 ? `${name.slice(0, 11)}…${name.slice(-12)}` : name; }

// Plotly reads a few HTML tags in its texts; data must not bring any.
function plain(text) { return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;"); }

// What is folded away is drawn when it is opened: a picture needs to know its size.
function drawScore(sample, hasDetails) {
  if (!isExplained(sample)) return;
  if (byId("score-part").open) drawCriteria(sample);
  drawDyads(sample, hasDetails);
}

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

function blamedPair(sample) {
  if (!isExplained(sample)) return [0, 1];
  const p = state.figures.samples.criterion_p[sample], suspect = state.figures.samples.because[sample];
  const [first, second] = p.map((_, i) => i).sort((a, b) => (b === suspect) - (a === suspect) || p[a] - p[b] || a - b);
  return [Math.min(first, second), Math.max(first, second)];
}

function choosePair(across, up) {
  byId("first-criterion").value = String(across);
  byId("second-criterion").value = String(up);
}

function chosenPair() {
  const across = Number(byId("first-criterion").value), up = Number(byId("second-criterion").value);
  const { pairs } = state.details.dyads;
  const { first, fronts } = pairs.find((pair) =>
    pair.first === Math.min(across, up) && pair.second === Math.max(across, up));
  return { across, up, fronts, isTurned: first !== across };
}

// The same shift for the same place in a list: a redrawn picture does not tremble.
const shift = (i) => ((i * 0.618034) % 1) - 0.5;

// Where values are few, dots would hide each other: they are shifted a little, in parts of the step between values.
function jittered(values) {
  const distinct = [...new Set(values)].sort((a, b) => a - b);
  if (distinct.length > 12) return values;
  const step = Math.min(1, ...distinct.slice(1).map((value, i) => value - distinct[i]));
  return values.map((value, i) => value + shift(i) * 0.5 * step);
}

// Of a criterion's columns that can be drawn the one in which the sample is oddest.
const DRAWN = ["number", "phase", "category", "time_of_day"];

function oddestColumn(criterion, sample) {
  const own = state.figures.criterion_columns[criterion];
  return readValues(sample).find(({ i, usual }) => own.includes(i) && DRAWN.includes(usual.kind))?.i;
}

function drawValues(sample, hasDetails) {
  const { crowd, training_columns, neighbors, training } = state.details, { samples, columns, usual } = state.figures;
  const places = state.figures.criteria.length > 1 && hasDetails && training
    ? [byId("first-criterion"), byId("second-criterion")].map((select) => oddestColumn(Number(select.value), sample)) : [];
  const isDrawn = places.length === 2 && places.every((place) => training_columns.includes(place)) && places[0] !== places[1];
  byId("values-plot").hidden = !isDrawn;
  if (!isDrawn) { setText("values-note", hasDetails && training ? "These two criteria have no single values to draw; their dyads are below." : ""); return; }
  const near = [...new Set([Number(byId("first-criterion").value), Number(byId("second-criterion").value)].flatMap((i) => neighbors[sample][i]))];
  const axes = places.map((place) => {
    const { kind, values, log } = usual.find(({ column, kind }) => column === place && DRAWN.includes(kind)), cell = samples.cells[place][sample];
    const names = kind === "category" ? [...values, ...(values.includes(cell) ? [] : [cell])] : null;
    const number = (value) => names ? names.indexOf(value) : kind === "time_of_day" ? hourOf(value) : value;
    const of = (rows) => rows.map((row) => number(row[training_columns.indexOf(place)]));
    const isFew = new Set(of(crowd)).size <= 12;
    const title = { text: plain(shortened(columns[place]) + (kind === "time_of_day" ? ", hour" : "")) };
    const look = names ? { tickvals: names.map((_, i) => i), ticktext: names.map((name) => plain(shortened(String(name)))), automargin: true }
      : log && of(crowd).every((value) => value > 0) && number(cell) > 0 && !isFew ? { type: "log", nticks: 6 } : {};
    return { of, own: number(cell), layout: { title, ...look } };
  });
  const dots = (rows, rest) => ({ mode: "markers", type: "scatter", hoverinfo: "skip", x: jittered(axes[0].of(rows)), y: jittered(axes[1].of(rows)), ...rest });
  byId("values-plot").style.height = "22rem";
  drawn("values-plot", [
    dots(crowd, { name: state.figures.left_out ? "others" : "nominal samples", marker: { size: 5, color: colour("soft"), opacity: 0.45 } }),
    dots(near.map((row) => training[row]), { name: "nearest", marker: { symbol: "circle-open", size: 10, color: colour("nominal"), line: { width: 2 } } }),
    { name: "this sample", mode: "markers", x: [axes[0].own], y: [axes[1].own], hoverinfo: "skip",
      marker: { symbol: "triangle-up", size: 15, color: colour("anomaly"), line: { width: 1, color: colour("card") } } },
  ], { xaxis: axes[0].layout, yaxis: axes[1].layout });
  setText("values-note", "Values of the two criteria most to blame. Where values are few, dots are shifted a little.");
}

function drawDyads(sample, hasDetails) {
  const hasDyads = hasDetails && state.details.dyads.pairs.length > 0;
  byId("dyads-part").hidden = !hasDyads;
  if (!hasDyads || !byId("score-part").open) return;
  const { criteria } = state.figures, { dots, samples } = state.details.dyads;
  const pair = chosenPair();
  // Axes are logarithmic: a shift is a factor.
  const spread = (values) => new Set(values).size <= 12 ? values.map((value, i) => value * 10 ** (0.12 * shift(i))) : values;
  const traces = [{
    name: `dyads of ${fittedSamples()}`, mode: "markers", type: "scatter", x: spread(dots[pair.across]), y: spread(dots[pair.up]), hoverinfo: "skip",
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
  setText("dyads-note", (criteria.length > 2 ? `Fronts of the dyads of ${fittedSamples()} in these two criteria alone. `
    : "Some of the fronts that give the depth. ") + "The further up and right of the fronts, the more unusual.");
}

// Numbers nearly always differ: those are marked that differ by more than a quarter of what is usual.
function differs(column, own, other) {
  const usual = usualOf(column);
  if (own === other || !state.figures.criterion_columns.some((places) => places.includes(column))) return false;
  if (usual?.kind === "time_of_day") {
    const apart = Math.abs(hourOf(own) - hourOf(other));
    return Math.min(apart, 24 - apart) > 3;
  }
  if (typeof own !== "number" || typeof other !== "number") return true;
  return usual?.kind === "number" && Math.abs(own - other) > (usual.high - usual.low) / 4;
}

function besides(sample) {
  const { neighbors } = state.details, by = byId("neighbors-by").value;
  const nearest = by === "each" ? neighbors[sample].map((rows) => rows[0]) : neighbors[sample][Number(by)];
  return [...new Set(nearest)].filter((row) => row !== undefined).slice(0, 6);
}

function showNeighbors(sample, hasDetails) {
  const { training, training_columns } = state.details, { columns, samples, criterion_columns } = state.figures;
  byId("neighbors-part").hidden = !hasDetails || !training;
  if (!hasDetails || !training) return;
  const rows = besides(sample), suspicious = new Set(farCriteria(sample).flatMap((i) => criterion_columns[i]));
  const line = (heading, cells) => {
    const made = element("tr"), name = element("th", heading);
    name.scope = "row";
    made.append(name, ...cells);
    return made;
  };
  const head = element("tr");
  head.append(element("td"), ...["this sample", ...rows.map((row) => `${state.figures.left_out ? "row" : "nominal row"} ${row + state.figures.count_from}`)].map((text) => element("th", text)));
  byId("neighbors").replaceChildren(head, ...training_columns.map((column, i) => {
    const own = samples.cells[column][sample];
    const cells = rows.map((row) => training[row][i]);
    return line(shortened(columns[column]), [element("td", shortCell(own), suspicious.has(column) ? "own blamed" : "own"),
      ...cells.map((cell) => element("td", shortCell(cell), differs(column, own, cell) ? "differs" : ""))]);
  }));
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
  byId("pair").hidden = criteria.length < 3;
  byId("neighbors-by").replaceChildren(option("each", "each criterion"), ...criteria.map((name, i) => option(String(i), shortened(name))));
  byId("neighbors-by").addEventListener("change", () => showNeighbors(state.chosen, true));
  byId("score-part").addEventListener("toggle", () => drawScore(state.chosen, state.chosen < state.details.n));
  selects.forEach((select, i) => select.addEventListener("change", () => {
    // The two must differ: the other one gives way.
    const other = selects[1 - i];
    if (other.value === select.value) other.value = String((Number(select.value) + 1) % criteria.length);
    drawValues(state.chosen, state.chosen < state.details.n);
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
