// A sample's values against what is usual: a small histogram a column with the value marked, the odd ones first.
const N_STRIPS = 6;
const STRIP = { width: 220, height: 30 };

function drawing(tag, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function hourOf(cell) {
  const found = /(?:^|[ T])(\d\d):(\d\d)/.exec(String(cell));
  return found ? Number(found[1]) + Number(found[2]) / 60 : null;
}

const usualOf = (column) => state.figures.usual.find((usual) => usual.column === column);

// How odd a value is, as sentences rank it: how far beyond the usual range, in widths of it; of rare categories, how rare.
function numberReading({ low, high, range, period, start, end, log }, value) {
  const scale = log ? (x) => Math.log(Math.max(x, Number.MIN_VALUE)) : (x) => x;
  const around = (x) => period ? ((x % period) + period) % period : x;
  const place = (scale(around(value)) - scale(start)) / (scale(end) - scale(start));
  if (range === null) return { odd: 0, place, words: "" };
  if (period) {
    const isOff = around(value - low) > around(high - low);
    return { odd: Number(isOff), place, words: `${isOff ? "outside" : "within"} the usual ${range}` };
  }
  const odd = Math.max(low - value, value - high, 0) / Math.max(high - low, Number.MIN_VALUE);
  const where = value > high ? "above" : value < low ? "below" : "within";
  return { odd, place, words: `${where} the usual ${range}` };
}

function categoryReading({ counts, n_samples }, place, sample) {
  const isFitted = Number(state.figures.fitted[sample]), total = n_samples - isFitted;
  const n = Math.max(0, place < 0 ? 0 : counts[place] - isFitted);
  return { odd: n < 0.05 * total ? 1 / (1 + n) : 0, place: place < 0 ? Infinity : (place + 0.5) / counts.length,
    words: `${count(n)} of ${count(total)} ${others()} ${n === 1 ? "has" : "have"} it` };
}

function strip(usual, place, isOdd) {
  const { width, height } = STRIP, floor = height - 4, largest = Math.max(...usual.counts);
  const picture = drawing("svg", { viewBox: `0 0 ${width} ${height}`, class: "strip", preserveAspectRatio: "none", "aria-hidden": "true" });
  const step = (width - 16) / usual.counts.length;
  usual.counts.forEach((n, i) => {
    const tall = n ? Math.max(1, (floor - 8) * n / largest) : 0;
    picture.append(drawing("rect", { x: 8 + i * step, y: floor - tall, width: Math.max(0.5, step - 0.8), height: tall, class: "strip-bar" }));
  });
  picture.append(drawing("line", { x1: 8, x2: width - 8, y1: floor, y2: floor, class: "strip-floor" }));
  const x = place > 1.005 ? width - 4 : place < -0.005 ? 4 : 8 + Math.min(1, Math.max(0, place)) * (width - 16);
  const kind = isOdd ? "strip-odd" : "strip-own";
  if (x === 4 || x === width - 4) {
    const tip = x === 4 ? -4 : 4;
    picture.append(drawing("path", { d: `M${x + tip},${floor - 7} l${-2 * tip},-6 v12 z`, class: kind }));
  } else {
    picture.append(drawing("line", { x1: x, x2: x, y1: 6, y2: floor, class: `${kind} strip-line` }));
    picture.append(drawing("path", { d: `M${x},8 l-5,-8 h10 z`, class: kind }));
  }
  return picture;
}

// What a sample has in the columns whose usual values are known, the oddest first.
function readValues(sample) {
  const { usual, samples } = state.figures;
  return usual.map((usual) => {
    const value = usual.own ? usual.own[sample] : samples.cells[usual.column][sample];
    const text = usual.texts ? usual.texts[sample] : shortCell(samples.cells[usual.column][sample]);
    return { name: usual.name, i: usual.column, value, text, usual };
  }).filter(({ value }) => typeof value === "number")
    .map((entry) => ({ ...entry, reading: (entry.usual.kind === "category" ? categoryReading : numberReading)(entry.usual, entry.value, sample) }))
    .sort((a, b) => b.reading.odd - a.reading.odd);
}

function stripItem({ name, text, usual, reading }) {
  const isOdd = reading.odd > 0, item = element("li", undefined, isOdd ? "odd" : "");
  const words = element("span", undefined, "strip-words");
  words.append(element("b", text), ` ${reading.words}`);
  item.append(element("span", name, "strip-name"), strip(usual, reading.place, isOdd), words);
  return item;
}

// Blamed values that have no histogram, such as text: the value itself is all there is to see.
function bareItems(sample, drawnPlaces) {
  const { columns, criterion_columns, samples } = state.figures;
  const places = [...new Set(farCriteria(sample).flatMap((i) => criterion_columns[i]))].filter((i) => !drawnPlaces.includes(i));
  return places.filter((i) => samples.cells[i][sample] !== null).slice(0, 3).map((i) => {
    const item = element("li", undefined, "odd bare"), words = element("span", undefined, "strip-words");
    words.append(element("b", shortCell(samples.cells[i][sample])));
    item.append(element("span", columns[i], "strip-name"), words);
    return item;
  });
}

function showStrips(sample) {
  const read = readValues(sample);
  const items = [...bareItems(sample, read.map(({ i }) => i)), ...read.map(stripItem)];
  byId("strips-part").hidden = !items.length;
  byId("strips").replaceChildren(...items.slice(0, N_STRIPS));
  byId("more-strips").replaceChildren(...items.slice(N_STRIPS));
  byId("more-strips-part").hidden = items.length <= N_STRIPS;
  setText("more-strips-title", `${count(Math.max(0, items.length - N_STRIPS))} more columns, less odd`);
}
