// Small tools that all parts of the page use.

const byId = (id) => document.getElementById(id);
const clamp = (x, low, high) => Math.min(Math.max(x, low), high);
const count = (n) => n.toLocaleString("en");

function node(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

const SPACE = document.querySelector("svg").namespaceURI;
function drawn(name, attributes = {}, text = "") {
  const made = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
}

// The mark of a kind, as in the legend.
function mark(kind, colour = kind.colour) {
  const made = drawn("svg", { viewBox: "-8 -8 16 16", class: "mark", "aria-hidden": "true" });
  made.append(drawn("path", { d: kind.outline, transform: "scale(5.4)", fill: colour }));
  return made;
}

// null stands for infinity: a distance whose cut-off is 0.
function formatDistance(x) {
  if (x === null || x === Infinity) return "∞";
  if (x >= 1e5) return x.toExponential(1);
  return x >= 100 ? x.toFixed(0) : x.toFixed(2);
}

const minus = (text) => text.replace(/-/g, "−");

// Four digits, as in the sentences of the page.
function formatNumber(x) {
  if (Number.isNaN(x)) return "missing";
  const size = Math.abs(x);
  if (size >= 1000 && size < 1e6) return minus(Math.round(x).toLocaleString("en"));
  if (size && (size < 1e-4 || size >= 1e6)) return minus(x.toExponential(3));
  return minus(String(Number(x.toPrecision(4))));
}

function formatDeviation(x) {
  if (Number.isNaN(x)) return "";
  const size = Math.abs(x);
  const text = size >= 1e5 ? size.toExponential(1) : size >= 100 ? size.toFixed(0) : size.toFixed(1);
  return `${x < 0 ? "−" : "+"}${text}`;
}

// Numbers of the page's data: packed in base 64, and maybe bent (see packing.py).
function unpack(text, Type) {
  const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  return new Type(bytes.buffer);
}
// Numbers with seven digits: 128 times the digits, plus the power of ten, plus 64.
function decimal(whole) {
  if (whole === -(2 ** 31)) return NaN;
  const power = ((whole % 128) + 128) % 128;
  return Number(`${(whole - power) / 128}e${power - 64}`);
}
const unpackFractions = (text) => Float64Array.from(unpack(text, Int16Array), (x) => x / 32767);
function unpackBent([reach, text]) {
  return unpackFractions(text).map((x) => Math.sinh(x * reach));
}

// About `count` round numbers between two others.
function steps(low, high, count) {
  const raw = (high - low) / count;
  if (!(raw > 0) || !Number.isFinite(raw)) return [low];
  const unit = 10 ** Math.floor(Math.log10(raw));
  const step = unit * [1, 2, 5, 10].find((m) => m * unit >= raw);
  const marks = [];
  for (let i = Math.ceil(low / step); i * step <= high; i++) marks.push(i * step);
  return marks;
}

// The same, but at least three if as many of `pixels` each have room.
function enoughSteps(low, high, room, pixels) {
  const most = Math.max(2, Math.floor(room / pixels));
  let best = steps(low, high, most);
  for (let n = most + 1; best.length < 3 && n <= 3 * most; n++) {
    const more = steps(low, high, n);
    if (more.length * pixels <= room + pixels) best = more;
  }
  return best;
}

const ruler = document.createElement("canvas").getContext("2d");
const PLAIN = "12px system-ui, sans-serif";
function textWidth(text, font = PLAIN) {
  ruler.font = font;
  return ruler.measureText(text).width;
}

// Break a text into lines that are at most so wide.
function wrapped(text, wide) {
  const lines = [];
  for (const word of text.split(" ")) {
    const longer = lines.length ? `${lines.at(-1)} ${word}` : word;
    if (lines.length && textWidth(longer) <= wide) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

function tickText(x) {
  const size = Math.abs(x);
  if (size < 1e-12) return "0";
  if (size >= 1e4 || size < 1e-3) return minus(x.toExponential(0).replace("e+", "e"));
  return minus(String(Number(x.toPrecision(4))));
}

// Columns in order of decreasing size of their values.
function bySize(values) {
  const size = (j) => (Number.isNaN(values[j]) ? -1 : Math.abs(values[j]));
  return Array.from(values, (_, j) => j).sort((a, b) => size(b) - size(a) || a - b);
}
