// A scatter plot on a canvas that can be zoomed, moved and picked from.
// What is drawn where is the business of `spec`: see map.js and scores.js.

const EDGE = { left: 62, right: 16, top: 14, bottom: 46 };
const CROWD = 1000; // flagged rows; above this, marks are smaller
const NEAR = 14; // pixels from the mouse within which a point is hit

// spec: n points; axes() with scales x and y, each { to, from, low, high, ticks, titles },
// where the first title that fits is shown;
// x(i), y(i): places in the units of the axes, null if infinitely far;
// looks(): the marks; look(i): which one; lines(pen, toX, toY): what lies under the points.
function makePlot(canvas, spec, { onHover, onPick }) {
  const pen = canvas.getContext("2d");
  const px = new Float64Array(spec.n);
  const py = new Float64Array(spec.n);
  let wide = 0, high = 0, ratio = 1, sprites = [];
  const colours = {};
  let axes = spec.axes(), view, box = null, marked = -1, selected = -1;

  function reset() {
    axes = spec.axes();
    view = { x0: axes.x.low, x1: axes.x.high, y0: axes.y.low, y1: axes.y.high };
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
    for (const [a, b, axis] of [["x0", "x1", axes.x], ["y0", "y1", axes.y]]) {
      const all = axis.high - axis.low;
      const span = clamp(next[b] - next[a], all / 5000, all);
      const low = clamp(next[a], axis.low, axis.high - span);
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
    for (let i = 0; i < spec.n; i++) {
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
    restamp();
  }

  function restamp() {
    sprites = spec.looks().map(stamp);
    draw();
  }

  // Draw a mark once, to copy it thousands of times.
  function stamp({ outline, colour, size, rim }) {
    const made = document.createElement("canvas");
    const side = 2 * Math.ceil(1.4 * size + 1);
    made.width = made.height = Math.ceil(side * ratio);
    const ink = made.getContext("2d");
    ink.scale(ratio, ratio);
    ink.translate(side / 2, side / 2);
    ink.scale(size, size);
    const path = new Path2D(outline);
    ink.fillStyle = colour;
    ink.globalAlpha = rim ? 1 : 0.75;
    ink.fill(path);
    ink.lineWidth = rim / size;
    ink.strokeStyle = colours.text;
    if (rim) ink.stroke(path);
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
    const x = (value) => toX(axes.x.to(value)), y = (value) => toY(axes.y.to(value));
    const place = { x, y, colours, left: EDGE.left, right: EDGE.left + w, top: EDGE.top, bottom: EDGE.top + h };
    within(place, () => spec.lines(pen, place));
    for (let i = spec.n - 1; i >= 0; i--) {
      const u = spec.x(i), v = spec.y(i);
      // Infinitely distant points lie on the edge.
      px[i] = u === null ? EDGE.left + w : x(u);
      py[i] = v === null ? EDGE.top : y(v);
      const { image, side } = sprites[spec.look(i)];
      pen.drawImage(image, px[i] - side / 2, py[i] - side / 2, side, side);
    }
    if (spec.over) within(place, () => spec.over(pen, place));
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
    const all = (a, b, axis) => b - a > 0.999 * (axis.high - axis.low);
    canvas.classList.toggle("zoomed", !(all(view.x0, view.x1, axes.x) && all(view.y0, view.y1, axes.y)));
  }

  // Draw nothing outside the axes; only marks of rows may reach over them.
  function within({ left, right, top, bottom }, act) {
    pen.save();
    pen.beginPath();
    pen.rect(left, top, right - left, bottom - top);
    pen.clip();
    act();
    pen.restore();
  }

  const titleOf = (axis, room) => axis.titles.find((title) => textWidth(title) <= room) || axis.titles.at(-1);

  function drawAxes(w, h) {
    const bottom = EDGE.top + h;
    pen.font = PLAIN;
    pen.lineWidth = 1;
    pen.strokeStyle = colours.line;
    pen.fillStyle = colours.quiet;
    pen.textAlign = "center";
    pen.textBaseline = "top";
    for (const x of axes.x.ticks(view.x0, view.x1, w)) {
      const at = toX(axes.x.to(x));
      line(pen, at, bottom, at, bottom + 4);
      pen.fillText(tickText(x), at, bottom + 7);
    }
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    for (const y of axes.y.ticks(view.y0, view.y1, h)) {
      const at = toY(axes.y.to(y));
      line(pen, EDGE.left - 4, at, EDGE.left, at);
      pen.fillText(tickText(y), EDGE.left - 8, at);
    }
    pen.strokeStyle = colours.quiet;
    line(pen, EDGE.left, EDGE.top, EDGE.left, bottom);
    line(pen, EDGE.left, bottom, EDGE.left + w, bottom);
    pen.fillStyle = colours.text;
    pen.textAlign = "center";
    pen.textBaseline = "bottom";
    pen.fillText(titleOf(axes.x, w), EDGE.left + w / 2, high - 2, w);
    pen.save();
    pen.translate(10, EDGE.top + h / 2);
    pen.rotate(-Math.PI / 2);
    pen.textBaseline = "middle";
    pen.fillText(titleOf(axes.y, h), 0, 0, h);
    pen.restore();
  }

  reset();
  measure();
  drawNow();
  return {
    canvas, draw, drawNow, reset, zoom, move, zoomTo, nearest, measure, restamp, show, onHover, onPick,
    place: (i) => ({ x: px[i], y: py[i] }),
    setBox: (next) => { box = next; draw(); },
    mark: (i) => { marked = i; draw(); },
    select: (i) => { selected = i; draw(); },
  };
}

function line(pen, x0, y0, x1, y1) {
  pen.beginPath();
  pen.moveTo(x0, y0);
  pen.lineTo(x1, y1);
  pen.stroke();
}

// Size and rim of the mark of a kind; regular rows are small.
function looksOf(data) {
  const crowded = data.flagged > CROWD;
  return data.kinds.map((kind, k) => ({
    outline: kind.outline,
    colour: kind.colour,
    size: k ? (crowded ? 3.4 : 4.6) : 2.6,
    rim: k ? (crowded ? 0.4 : 0.7) : 0,
  }));
}
