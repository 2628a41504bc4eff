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
function mark(kind, className) {
  const made = drawn("svg", { viewBox: "-8 -8 16 16", class: `mark ${className}`, "aria-hidden": "true" });
  made.append(drawn("path", { d: kind.outline, transform: "scale(5.4)" }));
  return made;
}

const minus = (text) => text.replace(/-/g, "−");

// null stands for infinity: a distance whose cut-off is 0.
function formatDistance(x) {
  if (x === null || x === Infinity) return "∞";
  if (x >= 1e5) return x.toExponential(1);
  return x >= 100 ? x.toFixed(0) : x.toFixed(2);
}

// Four digits, as in the sentences of the page.
function formatNumber(x) {
  if (x === null) return "missing";
  const size = Math.abs(x);
  if (size >= 1000 && size < 1e6) return minus(Math.round(x).toLocaleString("en"));
  if (size && (size < 1e-4 || size >= 1e6)) return minus(x.toExponential(3));
  return minus(String(Number(x.toPrecision(4))));
}

function formatDeviation(x) {
  if (x === null) return "";
  const size = Math.abs(x);
  const text = size >= 1e5 ? size.toExponential(1) : size >= 100 ? size.toFixed(0) : size.toFixed(1);
  return `${x < 0 ? "−" : "+"}${text}`;
}

function tickText(x) {
  const size = Math.abs(x);
  if (size < 1e-12) return "0";
  if (size >= 1e4 || size < 1e-3) return minus(x.toExponential(0).replace("e+", "e"));
  return minus(String(Number(x.toPrecision(4))));
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

// Columns in order of decreasing size of their values; missing ones are last.
function bySize(values) {
  const size = (j) => (values[j] === null ? -1 : Math.abs(values[j]));
  return values.map((_, j) => j).sort((a, b) => size(b) - size(a) || a - b);
}
