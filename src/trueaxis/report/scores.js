// The score plot: rows by two components, the tolerance ellipse, arrows of the columns.

const LABEL_COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#7a5cc4"];
const OTHER_LABELS = "#9a9a9a";
const ARROWS = 8; // columns with arrows

const KNEE = 3; // standard deviations; beyond them, axes are bent if anything is far out

// Linear, or linear up to about three standard deviations and logarithmic beyond.
function scoreAxis(low, high, log, titles) {
  const to = log ? (x) => KNEE * Math.asinh(x / KNEE) : (x) => x;
  const from = log ? (u) => KNEE * Math.sinh(u / KNEE) : (u) => u;
  const margin = 0.05 * (to(high) - to(low));
  return {
    to, from, titles: titles.map((title) => (log ? `${title}, log beyond ${KNEE}` : title)), low: to(low) - margin, high: to(high) + margin,
    ticks(u0, u1, pixels) {
      const a = from(u0), b = from(u1), n = Math.max(2, Math.floor(pixels / 60));
      const even = steps(a, b, n);
      if (!log) return even;
      const at = (x) => ((to(x) - u0) / (u1 - u0)) * pixels;
      const marks = bentTicks(a, b, at);
      return marks.length >= even.length ? marks : even;
    },
  };
}

const TICK_GAP = 8; // pixels between the numbers of a bent axis

// Ticks from a to b: 0 and powers of ten, then others where there is room.
function bentTicks(a, b, at) {
  const powers = [];
  for (let p = 0; 10 ** p <= Math.max(-a, b); p++) powers.push(10 ** p);
  const wanted = [0, ...[1, 3, 2, 5].flatMap((m) => powers.filter((p) => m * p >= KNEE).flatMap((p) => [m * p, -m * p])), 1, -1];
  const marks = [];
  const half = (x) => Math.max(textWidth(tickText(x)), 16) / 2;
  const apart = (x, y) => Math.abs(at(x) - at(y)) >= half(x) + half(y) + TICK_GAP;
  for (const x of wanted) {
    if (x >= a && x <= b && marks.every((y) => apart(x, y))) marks.push(x);
  }
  return marks;
}

// A circle about 0 in units of standard deviations, or an ellipse of a covariance.
function ellipse(center, [xx, xy, yy], radius) {
  const a = Math.sqrt(Math.max(xx, 0));
  const b = a > 0 ? xy / a : 0, c = Math.sqrt(Math.max(yy - b * b, 0));
  return Array.from({ length: 121 }, (_, i) => {
    const u = Math.cos((i * Math.PI) / 60), v = Math.sin((i * Math.PI) / 60);
    return [center[0] + radius * a * u, center[1] + radius * (b * u + c * v)];
  });
}

function makeScores(data, levels, listeners) {
  const { names, judging, cutoff, plain } = data.axes;
  const n = data.score.length, k = names.length;
  const scores = unpackBent(data.axes.scores);
  const loadings = unpackLoadings(data);
  const chooseX = byId("component-x"), chooseY = byId("component-y");
  let a = 0, b = k > 1 ? 1 : -1; // -1: the orthogonal distance
  let log = false, byLabel = false, arrows = byId("arrows").checked;

  const room = cutoff && cutoff < 30 ? cutoff : 1; // the ellipse fits in, if it is of use
  const reach = (j) => {
    let low = -room, high = room;
    for (let i = 0; i < n; i++) {
      const t = scores[j * n + i];
      if (t < low) low = t;
      if (t > high) high = t;
    }
    return [low, high];
  };
  const farthest = () => Math.max(...[a, b].filter((j) => j >= 0).flatMap(reach).map(Math.abs));
  const titles = (j) => [`${names[j]}, in standard deviations`, `component ${j + 1}, in std. dev.`];
  const share = (i) => (data.label ? Math.min(data.label[i], LABEL_COLOURS.length) : 0);
  const colour = (label) => LABEL_COLOURS[label] || OTHER_LABELS;

  const spec = {
    n,
    axes: () => ({
      x: scoreAxis(...reach(a), log, titles(a)),
      y: b < 0 ? distanceAxis(largest(data.off), log, distanceTitles(data, "orthogonal", "orth."))
        : scoreAxis(...reach(b), log, titles(b)),
    }),
    x: (i) => scores[a * n + i],
    y: (i) => (b < 0 ? data.off[i] : scores[b * n + i]),
    looks() {
      const kinds = looksOf(data);
      if (!byLabel) return kinds;
      const labels = [...LABEL_COLOURS, OTHER_LABELS];
      return kinds.flatMap((kind) => labels.map((c) => ({ ...kind, colour: c })));
    },
    look: (i) => (byLabel ? levels.kind(i) * (LABEL_COLOURS.length + 1) + share(i) : levels.kind(i)),
    lines(pen, { x, y, colours, left, right }) {
      const [score, off] = levels.lines();
      const follow = (points) => {
        pen.beginPath();
        points.forEach(([u, v], i) => (i ? pen.lineTo(x(u), y(v)) : pen.moveTo(x(u), y(v))));
        pen.stroke();
      };
      pen.lineWidth = 1.2;
      pen.strokeStyle = colours.text;
      if (b < 0) {
        pen.setLineDash([6, 4]);
        line(pen, left, y(off), right, y(off));
      } else {
        if (cutoff !== null && Math.max(a, b) < judging) follow(ellipse([0, 0], [1, 0, 1], cutoff * score));
        pen.setLineDash([6, 4]);
        const c = [plain.covariance[a * k + a], plain.covariance[a * k + b], plain.covariance[b * k + b]];
        const center = [plain.center[a], plain.center[b]];
        if ([...c, ...center, cutoff].every((v) => v !== null)) follow(ellipse(center, c, cutoff * score));
      }
      pen.setLineDash([]);
    },
    over(pen, place) { if (arrows && b >= 0) drawArrows(pen, place); },
  };

  // In these units, a column grows fastest along its arrow: its loadings.
  function drawArrows(pen, { x, y, colours, left, right, top, bottom }) {
    const ends = data.columns.map((_, j) => [loadings[a][j], loadings[b][j]]);
    const sizes = ends.map(([u, v]) => Math.hypot(u, v));
    const most = Math.max(...sizes);
    if (!(most > 0)) return;
    // As long as the plot allows: none of them ends beyond the data.
    const longest = bySize(sizes).slice(0, ARROWS), taken = [];
    const limit = ([low, high], end) => (Math.abs(end) > 1e-9 * most ? (end < 0 ? low : high) / end : Infinity);
    const unit = Math.min(
      (0.6 * Math.min(...[a, b].map((j) => Math.max(...reach(j).map(Math.abs))))) / most,
      ...longest.flatMap((j) => [limit(reach(a), ends[j][0]), limit(reach(b), ends[j][1])]));
    pen.font = "600 12px system-ui, sans-serif";
    pen.textAlign = "left";
    pen.textBaseline = "alphabetic";
    for (const j of longest) {
      const from = [x(0), y(0)], to = [x(ends[j][0] * unit), y(ends[j][1] * unit)];
      const name = data.columns[j].length > 18 ? `${data.columns[j].slice(0, 17)}…` : data.columns[j];
      const wide = pen.measureText(name).width;
      const at = clamp(to[0] + (to[0] < from[0] ? -wide - 6 : 6), left, Math.max(right - wide, left));
      const free = (base) => !taken.some(([u, v, w]) => Math.abs(v - base) < 14 && at < u + w + 4 && u < at + wide + 4);
      const base = [0, 1, -1, 2, -2, 3, -3]
        .map((step) => clamp(to[1] + 4 + 7 * step, top + 12, bottom - 4)).find(free);
      if (base === undefined) continue; // an arrow without a name says nothing
      taken.push([at, base, wide]);
      const turn = Math.atan2(to[1] - from[1], to[0] - from[0]);
      pen.strokeStyle = pen.fillStyle = colours.accent;
      pen.lineWidth = 1.6;
      line(pen, ...from, ...to);
      pen.beginPath();
      pen.moveTo(...to);
      for (const side of [-0.4, 0.4]) pen.lineTo(to[0] - 8 * Math.cos(turn + side), to[1] - 8 * Math.sin(turn + side));
      pen.fill();
      pen.lineWidth = 4;
      pen.strokeStyle = colours.paper;
      pen.strokeText(name, at, base); // a rim that separates the name from the points
      pen.fillStyle = colours.text;
      pen.fillText(name, at, base);
    }
  }

  function say() {
    byId("arrows").disabled = b < 0; // there is no direction to show
    const on = b < 0 ? "the orthogonal distance" : names[b];
    plot.canvas.setAttribute("aria-label",
      `Score plot: ${names[a]} and ${on}. Arrow keys step through the flagged rows, worst first; Enter selects; plus and minus zoom, 0 resets.`);
  }
  function choose() {
    a = Number(chooseX.value);
    b = Number(chooseY.value);
    log = farthest() > data.far;
    plot.reset();
    say();
  }
  for (const [select, chosen] of [[chooseX, a], [chooseY, b]]) {
    const to = select === chooseX ? "x" : "y";
    names.forEach((_, j) => select.add(new Option(`${to}: component ${j + 1}`, j)));
    if (select === chooseY) select.add(new Option("y: orth. distance", -1));
    select.value = chosen;
    select.addEventListener("change", choose);
  }
  log = farthest() > data.far;
  const plot = makePlot(byId("score-canvas"), spec, listeners);
  say();
  byId("arrows").addEventListener("change", () => { arrows = byId("arrows").checked; plot.draw(); });
  const colourBy = byId("colour-by");
  if (colourBy) {
    const legend = byId("label-legend");
    const names = data.labels.slice(0, LABEL_COLOURS.length);
    const shown = new Array(LABEL_COLOURS.length + 1).fill(0);
    for (let i = 0; i < n; i++) shown[share(i)] += 1;
    const rest = data.labels.length - names.length;
    const items = names.map((name, i) => [name || "(no label)", i]);
    if (rest > 0) items.push([`${count(rest)} other labels`, LABEL_COLOURS.length]);
    legend.replaceChildren(...items.map(([name, i]) => {
      const item = node("li");
      item.append(mark(data.kinds[0], colour(i)), " ", node("bdi", name), ` ${count(shown[i])}`);
      return item;
    }));
    colourBy.addEventListener("change", () => {
      byLabel = colourBy.value === "label";
      legend.hidden = !byLabel;
      plot.restamp();
    });
  }
  plot.rescale = (next) => { log = next; plot.reset(); };
  levels.onChange(plot.draw);
  return plot;
}
