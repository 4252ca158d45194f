// A sample's values against what is usual: a small histogram a column with the value marked, the odd ones first.
const N_STRIPS = 6, ODD_SHARE = 0.025;
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

// Of each kind: the share of usual values as odd as this one, where it stands on the strip from 0 to 1, and in words.
const readings = {
  numbers(usual, value) {
    if (typeof value !== "number") return null;
    const { quantiles, low, high } = usual, last = quantiles.length - 1;
    const [usualLow, usualHigh] = [quantiles[Math.round(last * 0.05)], quantiles[Math.round(last * 0.95)]];
    const atMost = quantiles.filter((quantile) => quantile <= value).length, atLeast = quantiles.filter((quantile) => quantile >= value).length;
    const spread = usualHigh - usualLow || Math.abs(usualHigh) || 1;
    const beyond = Math.max(quantiles[0] - value, value - quantiles[last], 0) / spread;
    const scale = usual.log ? (x) => Math.log(Math.max(x, Number.MIN_VALUE)) : (x) => x;
    const place = (scale(value) - scale(low)) / (scale(high) - scale(low));
    const where = value > usualHigh ? "above the usual" : value < usualLow ? "below the usual" : "within the usual";
    const share = beyond > 0 ? 0 : Math.min(atMost, atLeast) / quantiles.length;
    return { share, rank: share - beyond, place, words: `${where} ${shortNumber(usualLow)} to ${shortNumber(usualHigh)}` };
  },
  categories(usual, value) {
    const total = usual.counts.reduce((sum, n) => sum + n, 0), i = usual.values.indexOf(value);
    const n = i < 0 ? 0 : usual.counts[i];
    const words = n ? `${count(n)} of ${count(total)} have it` : "never seen";
    return { share: n / total, rank: n / total - (n ? 0 : 1), place: i < 0 ? Infinity : (i + 0.5) / usual.counts.length, words };
  },
  hours(usual, value) {
    const hour = hourOf(value);
    if (hour === null) return null;
    const total = usual.counts.reduce((sum, n) => sum + n, 0), n = usual.counts[Math.floor(hour)];
    const share = usual.counts.filter((other) => other <= n).reduce((sum, other) => sum + other, 0) / total;
    return { share, rank: share, place: hour / 24, words: `${count(n)} of ${count(total)} are in this hour` };
  },
};

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

function readValues(sample) {
  const { usual, columns, samples } = state.figures;
  return columns.map((name, i) => ({ name, i, value: samples.cells[i][sample], usual: usual[i] }))
    .filter(({ usual, value }) => usual !== null && value !== null)
    .map((entry) => ({ ...entry, reading: readings[entry.usual.kind](entry.usual, entry.value) }))
    .filter(({ reading }) => reading !== null)
    .sort((a, b) => a.reading.rank - b.reading.rank);
}

function stripItem({ name, value, usual, reading }) {
  const isOdd = reading.share < ODD_SHARE, item = element("li", undefined, isOdd ? "odd" : "");
  const words = element("span", undefined, "strip-words");
  words.append(element("b", shortCell(value)), ` ${reading.words}`);
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
