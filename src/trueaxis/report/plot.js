// A scatter plot that can be zoomed, moved and picked from, by mouse, finger and keys.

const EDGE = { left: 62, right: 16, top: 14, bottom: 46 };
const OVER = 8; // pixels by which marks may reach over the axes
const CROWD = 1000; // flagged rows; above this, marks are smaller
const NEAR = 14; // pixels from the mouse within which a point is hit
const MOVED = 5; // pixels; a click that moves farther is a drag
const MOST_ZOOM = 5000; // beyond it, numbers have too few digits

// spec: kinds; n points; axes() with x and y, see `makeAxis`; x(i), y(i): places, null if
// infinitely far; kind(i); color(i): its class; lines(place): what lies under the points.
function makePlot(canvas, spec, { onHover, onPick }) {
  const px = new Float64Array(spec.n), py = new Float64Array(spec.n);
  const points = Array.from(px, () => drawn("path"));
  const flagged = Array.from(px, (_, i) => i).filter((i) => spec.kind(i)).length;
  const size = flagged > CROWD ? 3.4 : 4.6;
  let axes, view, wide = 0, high = 0, box = null, marked = -1, selected = -1;

  const w = () => Math.max(wide - EDGE.left - EDGE.right, 1);
  const h = () => Math.max(high - EDGE.top - EDGE.bottom, 1);
  const toX = (u) => EDGE.left + ((u - view.x0) / (view.x1 - view.x0)) * w();
  const toY = (v) => high - EDGE.bottom - ((v - view.y0) / (view.y1 - view.y0)) * h();
  const fromX = (x) => view.x0 + ((x - EDGE.left) / w()) * (view.x1 - view.x0);
  const fromY = (y) => view.y0 + ((high - EDGE.bottom - y) / h()) * (view.y1 - view.y0);

  function reset() {
    axes = spec.axes();
    view = { x0: axes.x.low, x1: axes.x.high, y0: axes.y.low, y1: axes.y.high };
    draw();
  }
  // Stay within the data.
  function look(next) {
    for (const [a, b, axis] of [["x0", "x1", axes.x], ["y0", "y1", axes.y]]) {
      const all = axis.high - axis.low, span = clamp(next[b] - next[a], all / MOST_ZOOM, all);
      view[a] = clamp(next[a], axis.low, axis.high - span);
      view[b] = view[a] + span;
    }
    draw();
  }
  const lookAt = (x0, x1, y0, y1) => look({ x0: fromX(x0), x1: fromX(x1), y0: fromY(y1), y1: fromY(y0) });
  const move = (dx, dy) => lookAt(EDGE.left - dx, EDGE.left + w() - dx, EDGE.top - dy, EDGE.top + h() - dy);
  function zoom(factor) {
    const dx = (1 - 1 / factor) * w() / 2, dy = (1 - 1 / factor) * h() / 2;
    lookAt(EDGE.left + dx, EDGE.left + w() - dx, EDGE.top + dy, EDGE.top + h() - dy);
  }
  // Move the view to a point that is outside it.
  function show(i) {
    const inside = px[i] >= EDGE.left && px[i] <= EDGE.left + w() && py[i] >= EDGE.top && py[i] <= EDGE.top + h();
    if (!inside) move(EDGE.left + w() / 2 - px[i], EDGE.top + h() / 2 - py[i]);
  }
  function nearest({ x, y }) {
    let best = -1, least = NEAR * NEAR;
    for (let i = 0; i < spec.n; i++) {
      const d = (px[i] - x) ** 2 + (py[i] - y) ** 2;
      if (d < least) { least = d; best = i; }
    }
    return best;
  }

  function draw() {
    ({ clientWidth: wide, clientHeight: high } = canvas);
    if (!wide) return;
    const place = {
      x: (value) => toX(axes.x.to(value)), y: (value) => toY(axes.y.to(value)),
      left: EDGE.left, right: EDGE.left + w(), top: EDGE.top, bottom: EDGE.top + h(),
    };
    for (let i = 0; i < spec.n; i++) {
      const u = spec.x(i), v = spec.y(i), kind = spec.kind(i);
      // Infinitely distant points lie on the edge.
      px[i] = u === null ? place.right : place.x(u);
      py[i] = v === null ? place.top : place.y(v);
      points[i].setAttribute("d", spec.kinds[kind].outline);
      points[i].setAttribute("class", `point ${kind ? "" : "plain"} ${spec.color(i)}`);
      points[i].setAttribute("transform", `translate(${px[i].toFixed(1)} ${py[i].toFixed(1)}) scale(${kind ? size : 2.6})`);
    }
    const [x, y, width, height] = [place.left - OVER, place.top - OVER, w() + 2 * OVER, h() + 2 * OVER];
    const inner = drawn("svg", { x, y, width, height, viewBox: `${x} ${y} ${width} ${height}` });
    inner.append(...spec.lines(place), ...points.toReversed(), ...(spec.over ? spec.over(place) : []));
    for (const [i, radius, name] of [[marked, 9, "marked"], [selected, 10, "selected"]]) {
      if (i >= 0) inner.append(drawn("circle", { cx: px[i], cy: py[i], r: radius, class: name }));
    }
    if (box) {
      inner.append(drawn("rect", {
        x: Math.min(box[0].x, box[1].x), y: Math.min(box[0].y, box[1].y),
        width: Math.abs(box[0].x - box[1].x), height: Math.abs(box[0].y - box[1].y), class: "zoom-box",
      }));
    }
    canvas.setAttribute("viewBox", `0 0 ${wide} ${high}`);
    canvas.replaceChildren(...drawAxes(place), inner);
    const all = (a, b, axis) => b - a > 0.999 * (axis.high - axis.low);
    canvas.classList.toggle("zoomed", !(all(view.x0, view.x1, axes.x) && all(view.y0, view.y1, axes.y)));
  }

  function drawAxes({ left, right, top, bottom }) {
    const middle = (top + bottom) / 2;
    return [
      ...axes.x.ticks(view.x0, view.x1, w()).map((x) => drawn("text", { x: toX(axes.x.to(x)), y: bottom + 18, "text-anchor": "middle" }, tickText(x))),
      ...axes.y.ticks(view.y0, view.y1, h()).map((y) => drawn("text", { x: left - 8, y: toY(axes.y.to(y)) + 4, "text-anchor": "end" }, tickText(y))),
      drawn("path", { d: `M${left} ${top}V${bottom}H${right}`, class: "axis" }),
      drawn("text", { x: (left + right) / 2, y: high - 5, "text-anchor": "middle", class: "name" }, axes.x.title),
      drawn("text", { transform: `translate(13 ${middle}) rotate(-90)`, "text-anchor": "middle", class: "name" }, axes.y.title),
    ];
  }

  const plot = {
    canvas, draw, reset, zoom, show,
    place: (i) => ({ x: px[i], y: py[i] }),
    mark: (i) => { if (i !== marked) { marked = i; draw(); } },
    select: (i) => { selected = i; draw(); },
  };
  listenToPointer({ ...plot, move, lookAt, nearest, onHover, onPick, setBox: (next) => { box = next; draw(); } });
  plot.stand = listenToKeys({ ...plot, move, onHover, onPick }, spec);
  reset();
  new ResizeObserver(draw).observe(canvas);
  return plot;
}

function listenToPointer({ canvas, move, lookAt, reset, nearest, onHover, onPick, setBox }) {
  let start = null, last = null, dragged = false;
  const place = (event) => {
    const frame = canvas.getBoundingClientRect();
    return { x: event.clientX - frame.left, y: event.clientY - frame.top };
  };
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button || !event.isPrimary) return;
    canvas.focus({ preventScroll: true });
    canvas.setPointerCapture(event.pointerId);
    start = last = place(event);
    dragged = false;
  });
  canvas.addEventListener("pointermove", (event) => {
    const at = place(event);
    if (!start) { onHover(nearest(at)); return; }
    dragged ||= Math.hypot(at.x - start.x, at.y - start.y) > MOVED;
    if (!dragged) return;
    onHover(-1);
    if (event.pointerType !== "mouse") move(at.x - last.x, at.y - last.y);
    else setBox([start, at]);
    last = at;
  });
  const end = (event, act) => {
    if (!start) return;
    const from = start, at = place(event);
    start = null;
    setBox(null);
    if (!act) return;
    if (!dragged) onPick(nearest(at));
    else if (event.pointerType === "mouse") {
      lookAt(Math.min(from.x, at.x), Math.max(from.x, at.x), Math.min(from.y, at.y), Math.max(from.y, at.y));
    }
  };
  canvas.addEventListener("pointerup", (event) => end(event, true));
  canvas.addEventListener("pointercancel", (event) => end(event, false));
  canvas.addEventListener("pointerleave", () => onHover(-1));
  canvas.addEventListener("dblclick", reset);
}

// Arrow keys step through the flagged rows, worst first, from the selected row. Returns a
// function that sets the row to start from.
function listenToKeys({ canvas, zoom, move, reset, show, onHover, onPick }, { n, kind }) {
  let at = -1;
  function walk(step) { // points are in order of their p-values
    const rows = Array.from({ length: n }, (_, i) => i).filter(kind);
    if (!rows.length) { at = -1; return; }
    const next = step > 0 ? rows.find((i) => i > at) : rows.findLast((i) => i < at);
    at = next === undefined ? rows.at(step > 0 ? -1 : 0) : next;
    show(at);
    onHover(at, true);
  }
  const shifts = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
  const keys = {
    ArrowLeft: () => walk(-1), ArrowUp: () => walk(-1), ArrowRight: () => walk(1), ArrowDown: () => walk(1),
    Home: () => { at = -1; walk(1); },
    End: () => { at = Infinity; walk(-1); },
    Enter: () => onPick(at),
    Escape: () => { onHover(-1); onPick(-1); },
    "+": () => zoom(1.4), "=": () => zoom(1.4), "-": () => zoom(1 / 1.4), 0: reset,
  };
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.shiftKey && shifts[event.key]) move(...shifts[event.key]);
    else if (Object.hasOwn(keys, event.key)) keys[event.key]();
    else return;
    event.preventDefault();
  });
  return (i) => { at = i; };
}

// Linear up to about `knee`, and logarithmic beyond if `log`.
function makeAxis(low, high, knee, log, title) {
  const to = log ? (x) => knee * Math.asinh(x / knee) : (x) => x;
  const from = log ? (u) => knee * Math.sinh(u / knee) : (u) => u;
  return {
    to, low: to(low), high: to(high),
    title: log ? `${title}, log beyond ${knee}` : title,
    ticks(u0, u1, pixels) {
      const a = from(u0), b = from(u1);
      const even = steps(a, b, Math.max(2, Math.floor(pixels / 60)));
      if (!log) return even;
      const marks = [], powers = Array.from({ length: 300 }, (_, p) => 10 ** p);
      const wanted = [0, ...[1, 3].flatMap((m) => powers.flatMap((p) => [m * p, -m * p]))];
      const apart = (x, y) => Math.abs(to(x) - to(y)) / (u1 - u0) * pixels;
      for (const x of wanted) if (x >= a && x <= b && marks.every((y) => apart(x, y) > 38)) marks.push(x);
      return marks.length > 2 ? marks : even;
    },
  };
}
