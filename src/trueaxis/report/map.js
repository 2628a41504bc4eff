// The outlier map: points in units of their cut-offs, drawn on a canvas.
// `makeMap` does not know the table; page.js connects the two.

const byId = (id) => document.getElementById(id);
const clamp = (x, low, high) => Math.min(Math.max(x, low), high);

function node(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

// null stands for infinity: a distance whose cut-off is 0.
function formatDistance(x) {
  if (x === null) return "∞";
  if (x >= 1e5) return x.toExponential(1);
  return x >= 100 ? x.toFixed(0) : x.toFixed(2);
}

function largest(values) {
  let top = 1;
  for (const x of values) if (x !== null && x > top) top = x;
  return top;
}

// Linear up to the cut-off, and linear or logarithmic beyond it.
function makeScale(top, log) {
  if (!log || top <= 1) {
    return { to: (x) => x, from: (u) => u, end: 1.06 * top, bend: false };
  }
  const low = Math.max(0.5, 0.5 * Math.log10(top));
  return {
    to: (x) => (x <= 1 ? low * x : low + Math.log10(x)),
    from: (u) => (u <= low ? u / low : 10 ** (u - low)),
    end: low + 1.06 * Math.log10(top),
    bend: true,
  };
}

function steps(low, high, count) {
  const raw = (high - low) / count;
  const unit = 10 ** Math.floor(Math.log10(raw));
  const step = unit * [1, 2, 5, 10].find((m) => m * unit >= raw);
  const marks = [];
  for (let i = Math.ceil(low / step); i * step <= high; i++) marks.push(i * step);
  return marks;
}

// Ticks of an axis that shows the scaled values from `low` to `high`.
function ticks(scale, low, high, pixels) {
  const from = Math.max(scale.from(low), 0);
  const to = scale.from(high);
  const count = Math.max(2, Math.floor(pixels / 60));
  if (!scale.bend || to < 1.5 || to / Math.max(from, 1) < 8) return steps(from, to, count);
  const decades = Math.log10(to);
  const every = Math.max(1, Math.ceil(decades / count));
  const marks = from < 1 ? [0, 0.5, 1] : [];
  for (let p = 0; p <= decades; p += every) {
    for (const m of every === 1 && decades < 3 ? [1, 3] : [1]) marks.push(m * 10 ** p);
  }
  return [...new Set(marks)].filter((x) => x >= from && x <= to);
}

function tickText(x) {
  if (x === 0) return "0";
  if (x >= 1e4 || x < 1e-3) return x.toExponential(0).replace("e+", "e");
  return String(Number(x.toPrecision(4)));
}

const EDGE = { left: 62, right: 16, top: 14, bottom: 46 };
const CROWD = 1000; // flagged rows; above this, marks are smaller
const NEAR = 14; // pixels from the mouse within which a point is hit

function makeMap(data, { onHover, onPick }) {
  const canvas = byId("canvas");
  const pen = canvas.getContext("2d");
  const n = data.score.length;
  const px = new Float64Array(n);
  const py = new Float64Array(n);
  let wide = 0, high = 0, ratio = 1, sprites = [], colours = {};
  let scales, view, box = null, marked = -1, selected = -1;

  const tops = [largest(data.score), largest(data.off)];
  function rescale(log) {
    scales = tops.map((top) => makeScale(top, log));
    reset();
  }

  function reset() {
    view = { x0: 0, x1: scales[0].end, y0: 0, y1: scales[1].end };
    draw();
  }

  const inner = () => ({
    w: Math.max(wide - EDGE.left - EDGE.right, 1),
    h: Math.max(high - EDGE.top - EDGE.bottom, 1),
  });
  const toX = (u) => EDGE.left + ((u - view.x0) / (view.x1 - view.x0)) * inner().w;
  const toY = (u) => high - EDGE.bottom - ((u - view.y0) / (view.y1 - view.y0)) * inner().h;
  const fromX = (x) => view.x0 + ((x - EDGE.left) / inner().w) * (view.x1 - view.x0);
  const fromY = (y) => view.y0 + ((high - EDGE.bottom - y) / inner().h) * (view.y1 - view.y0);

  // Stay within the data, and do not zoom in beyond the precision of the numbers.
  function look(next) {
    for (const [a, b, scale] of [["x0", "x1", scales[0]], ["y0", "y1", scales[1]]]) {
      const span = clamp(next[b] - next[a], scale.end / 5000, scale.end);
      const low = clamp(next[a], 0, scale.end - span);
      view[a] = low;
      view[b] = low + span;
    }
    draw();
  }

  function zoom(factor, x = EDGE.left + inner().w / 2, y = EDGE.top + inner().h / 2) {
    const u = fromX(x), v = fromY(y);
    look({
      x0: u - (u - view.x0) / factor, x1: u + (view.x1 - u) / factor,
      y0: v - (v - view.y0) / factor, y1: v + (view.y1 - v) / factor,
    });
  }

  function move(dx, dy) {
    const u = (dx / inner().w) * (view.x1 - view.x0);
    const v = (dy / inner().h) * (view.y1 - view.y0);
    look({ x0: view.x0 - u, x1: view.x1 - u, y0: view.y0 + v, y1: view.y1 + v });
  }

  function zoomTo(a, b) {
    look({
      x0: fromX(Math.min(a.x, b.x)), x1: fromX(Math.max(a.x, b.x)),
      y0: fromY(Math.max(a.y, b.y)), y1: fromY(Math.min(a.y, b.y)),
    });
  }

  // Move the view to a point that is outside it.
  function show(i) {
    const { w, h } = inner();
    if (px[i] < EDGE.left || px[i] > EDGE.left + w || py[i] < EDGE.top || py[i] > EDGE.top + h) {
      move(EDGE.left + w / 2 - px[i], EDGE.top + h / 2 - py[i]);
    }
  }

  function nearest(x, y) {
    let best = -1, least = NEAR * NEAR;
    for (let i = 0; i < n; i++) {
      const d = (px[i] - x) ** 2 + (py[i] - y) ** 2;
      if (d < least) { least = d; best = i; }
    }
    return best;
  }

  function measure() {
    const frame = canvas.getBoundingClientRect();
    ratio = window.devicePixelRatio || 1;
    wide = frame.width;
    high = frame.height;
    canvas.width = Math.round(wide * ratio);
    canvas.height = Math.round(high * ratio);
    const style = getComputedStyle(document.documentElement);
    for (const name of ["paper", "text", "quiet", "line", "accent"]) {
      colours[name] = style.getPropertyValue(`--${name}`).trim();
    }
    sprites = data.kinds.map((kind, k) => stamp(kind, k ? (data.flagged > CROWD ? 3.4 : 4.6) : 2.6, k > 0));
    draw();
  }

  // Draw a mark once, to copy it thousands of times.
  function stamp(kind, size, rimmed) {
    const made = document.createElement("canvas");
    const side = 2 * Math.ceil(1.4 * size + 1);
    made.width = made.height = Math.ceil(side * ratio);
    const ink = made.getContext("2d");
    ink.scale(ratio, ratio);
    ink.translate(side / 2, side / 2);
    ink.scale(size, size);
    const outline = new Path2D(kind.outline);
    ink.fillStyle = kind.colour;
    ink.globalAlpha = rimmed ? 1 : 0.75;
    ink.fill(outline);
    ink.lineWidth = (data.flagged > CROWD ? 0.4 : 0.7) / size;
    ink.strokeStyle = colours.text;
    if (rimmed) ink.stroke(outline);
    return { image: made, side };
  }

  let waiting = false;
  function draw() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; drawNow(); });
  }

  function drawNow() {
    const { w, h } = inner();
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = colours.paper;
    pen.fillRect(0, 0, wide, high);
    drawAxes(w, h);
    pen.save();
    pen.beginPath();
    pen.rect(EDGE.left - 6, EDGE.top - 8, w + 16, h + 14);
    pen.clip();
    const endX = EDGE.left + w, endY = EDGE.top;
    for (let i = n - 1; i >= 0; i--) {
      const x = data.score[i], y = data.off[i];
      // Infinitely distant points lie on the edge.
      px[i] = x === null ? endX : toX(scales[0].to(x));
      py[i] = y === null ? endY : toY(scales[1].to(y));
      const { image, side } = sprites[data.kind[i]];
      pen.drawImage(image, px[i] - side / 2, py[i] - side / 2, side, side);
    }
    for (const [i, width, radius] of [[marked, 1.5, 9], [selected, 3, 10]]) {
      if (i < 0) continue;
      pen.strokeStyle = colours.accent;
      pen.lineWidth = width;
      pen.beginPath();
      pen.arc(px[i], py[i], radius, 0, 2 * Math.PI);
      pen.stroke();
    }
    pen.restore();
    if (box) {
      pen.strokeStyle = colours.accent;
      pen.lineWidth = 1;
      pen.setLineDash([4, 3]);
      pen.strokeRect(box.a.x, box.a.y, box.b.x - box.a.x, box.b.y - box.a.y);
      pen.setLineDash([]);
    }
    const all = view.x1 - view.x0 > 0.999 * scales[0].end && view.y1 - view.y0 > 0.999 * scales[1].end;
    canvas.classList.toggle("zoomed", !all);
  }

  function drawAxes(w, h) {
    const bottom = EDGE.top + h;
    pen.font = "12px system-ui, sans-serif";
    pen.lineWidth = 1;
    pen.strokeStyle = colours.line;
    pen.fillStyle = colours.quiet;
    pen.textAlign = "center";
    pen.textBaseline = "top";
    for (const x of ticks(scales[0], view.x0, view.x1, w)) {
      const at = toX(scales[0].to(x));
      line(at, bottom, at, bottom + 4);
      pen.fillText(tickText(x), at, bottom + 7);
    }
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    for (const y of ticks(scales[1], view.y0, view.y1, h)) {
      const at = toY(scales[1].to(y));
      line(EDGE.left - 4, at, EDGE.left, at);
      pen.fillText(tickText(y), EDGE.left - 8, at);
    }
    pen.strokeStyle = colours.quiet;
    line(EDGE.left, EDGE.top, EDGE.left, bottom);
    line(EDGE.left, bottom, EDGE.left + w, bottom);
    pen.fillStyle = colours.text;
    pen.textAlign = "center";
    pen.textBaseline = "bottom";
    pen.fillText("score distance, in cut-offs", EDGE.left + w / 2, high - 2);
    pen.save();
    pen.translate(10, EDGE.top + h / 2);
    pen.rotate(-Math.PI / 2);
    pen.textBaseline = "middle";
    pen.fillText("orthogonal distance, in cut-offs", 0, 0);
    pen.restore();
    pen.strokeStyle = colours.text;
    pen.setLineDash([6, 4]);
    const x = toX(scales[0].to(1)), y = toY(scales[1].to(1));
    if (x > EDGE.left && x < EDGE.left + w) line(x, EDGE.top, x, bottom);
    if (y > EDGE.top && y < bottom) line(EDGE.left, y, EDGE.left + w, y);
    pen.setLineDash([]);
  }

  function line(x0, y0, x1, y1) {
    pen.beginPath();
    pen.moveTo(x0, y0);
    pen.lineTo(x1, y1);
    pen.stroke();
  }

  const map = {
    canvas, drawNow, reset, zoom, move, zoomTo, nearest, measure, rescale, show, onHover, onPick,
    place: (i) => ({ x: px[i], y: py[i] }),
    bent: () => scales[0].bend || scales[1].bend,
    setBox: (next) => { box = next; draw(); },
    mark: (i) => { marked = i; draw(); },
    select: (i) => { selected = i; draw(); },
  };
  rescale(Math.max(...tops) > data.far);
  measure();
  drawNow();
  return map;
}
