// What the two plots show: distances, and scores with ellipses and arrows.

const FAR = 15; // an axis is logarithmic if anything is farther out than this
const LABEL_COLORS = 8; // labels with colors of their own, see page.css
const ARROWS = 8; // columns with arrows
const KNEE = 3; // standard deviations; beyond them, axes of far-out scores are logarithmic

const largest = (values) => values.reduce((top, x) => (x > top ? x : top), 1);
const dashed = (d) => drawn("path", { d, class: "cutoff dashed" });

const distanceAxis = (values, log, name) =>
  makeAxis(0, (log ? 1.3 : 1.06) * largest(values), 1, log, `${name} distance, in cut-offs`);

function makeMap(data, levels, listeners) {
  let log = Math.max(largest(data.score), largest(data.off)) > FAR;
  const map = makePlot(byId("canvas"), {
    kinds: data.kinds,
    n: data.id.length,
    axes: () => ({ x: distanceAxis(data.score, log, "score"), y: distanceAxis(data.off, log, "orth.") }),
    x: (i) => data.score[i],
    y: (i) => data.off[i],
    kind: levels.kind,
    color: (i) => `k${levels.kind(i)}`,
    lines({ x, y, left, right, top, bottom }) {
      const [score, off] = levels.stop().lines;
      return [dashed(`M${x(score)} ${top}V${bottom}`), dashed(`M${left} ${y(off)}H${right}`)];
    },
  }, listeners);
  map.isLog = () => log;
  map.rescale = (next) => { log = next; map.reset(); };
  return map;
}

// A circle of standard deviations, or an ellipse of a covariance.
function ellipse({ x, y }, [u, v], [uu, uv, vv], radius) {
  const a = Math.sqrt(Math.max(uu, 0)), b = a > 0 ? uv / a : 0, c = Math.sqrt(Math.max(vv - b * b, 0));
  const points = Array.from({ length: 121 }, (_, i) => {
    const s = Math.cos((i * Math.PI) / 60), t = Math.sin((i * Math.PI) / 60);
    return `${x(u + radius * a * s)} ${y(v + radius * (b * s + c * t))}`;
  });
  return `M${points.join("L")}Z`;
}

function makeScores(data, levels, listeners) {
  const { names, judging, cutoff, scores, loadings, center, covariance } = data.axes;
  const chooseX = byId("component-x"), chooseY = byId("component-y"), arrows = byId("arrows"), colorBy = byId("color-by");
  let a = 0, b = names.length > 1 ? 1 : -1; // -1: the orthogonal distance
  let log = false;

  const room = cutoff && cutoff < 30 ? cutoff : 1; // the ellipse fits in, if it is of use
  const reach = (j) => scores[j].reduce(([low, high], t) => [Math.min(low, t), Math.max(high, t)], [-room, room]);
  const isFar = () => Math.max(...[a, b].filter((j) => j >= 0).flatMap(reach).map(Math.abs)) > FAR;
  function scoreAxis(j) {
    const [low, high] = reach(j), margin = (log ? 0.2 : 0.05) * (high - low);
    return makeAxis(low - margin, high + margin, KNEE, log, `component ${j + 1}, in std. dev.`);
  }
  const label = (i) => `label${Math.min(data.label[i], LABEL_COLORS)}`;

  // Arrows of the columns that change most along both components, as long as they fit.
  function drawArrows(place) {
    const { x, y, left, right, top, bottom } = place;
    const ends = data.columns.map((_, j) => [loadings[a][j], loadings[b][j]]);
    const longest = bySize(ends.map(([u, v]) => Math.hypot(u, v))).slice(0, ARROWS);
    const limit = ([low, high], u) => (u > 0 ? high / u : u < 0 ? low / u : Infinity);
    const unit = 0.9 * Math.min(...longest.flatMap((j) => [limit(reach(a), ends[j][0]), limit(reach(b), ends[j][1])]), 1e9);
    const [ox, oy] = [x(0), y(0)], taken = [];
    return longest.flatMap((j) => {
      const [u, v] = [x(unit * ends[j][0]), y(unit * ends[j][1])];
      const name = data.columns[j].length > 18 ? `${data.columns[j].slice(0, 17)}…` : data.columns[j];
      const wide = 7 * name.length, at = clamp(u < ox ? u - wide - 6 : u + 6, left, Math.max(right - wide, left));
      const base = [4, 11, -3, 18, -10, 25].map((d) => clamp(v + d, top + 10, bottom - 4))
        .find((y0) => taken.every(([x1, y1, w1]) => Math.abs(y1 - y0) > 13 || at > x1 + w1 || x1 > at + wide));
      if (base === undefined) return []; // an arrow without a name says nothing
      taken.push([at, base, wide]);
      const turn = Math.atan2(v - oy, u - ox);
      const side = (t) => `${u - 8 * Math.cos(turn + t)} ${v - 8 * Math.sin(turn + t)}`;
      return [
        drawn("path", { d: `M${ox} ${oy}L${u} ${v}M${side(-0.4)}L${u} ${v}L${side(0.4)}`, class: "arrow" }),
        drawn("text", { x: at, y: base, class: "arrow-name" }, name),
      ];
    });
  }

  const plot = makePlot(byId("score-canvas"), {
    kinds: data.kinds,
    n: data.id.length,
    axes: () => ({ x: scoreAxis(a), y: b < 0 ? distanceAxis(data.off, log, "orth.") : scoreAxis(b) }),
    x: (i) => scores[a][i],
    y: (i) => (b < 0 ? data.off[i] : scores[b][i]),
    kind: levels.kind,
    color: (i) => (colorBy && colorBy.value === "label" ? label(i) : `k${levels.kind(i)}`),
    lines(place) {
      const [score, off] = levels.stop().lines, found = [];
      if (b < 0) return [dashed(`M${place.left} ${place.y(off)}H${place.right}`)];
      if (cutoff !== null && Math.max(a, b) < judging) {
        found.push(drawn("path", { d: ellipse(place, [0, 0], [1, 0, 1], cutoff * score), class: "cutoff" }));
      }
      const middle = [center[a], center[b]], spread = [covariance[a][a], covariance[a][b], covariance[b][b]];
      if ([...middle, ...spread, cutoff].every((v) => v !== null)) found.push(dashed(ellipse(place, middle, spread, cutoff * score)));
      return found;
    },
    over: (place) => (arrows.checked && b >= 0 ? drawArrows(place) : []),
  }, listeners);

  function choose() {
    a = Number(chooseX.value);
    b = Number(chooseY.value);
    log = isFar();
    arrows.disabled = b < 0; // there is no direction to show
    plot.reset();
    plot.canvas.setAttribute("aria-label",
      `Score plot: ${names[a]} and ${b < 0 ? "the orthogonal distance" : names[b]}. Arrow keys step through the flagged rows, worst first; Enter selects; plus and minus zoom, 0 resets.`);
  }
  names.forEach((_, j) => {
    chooseX.add(new Option(`x: component ${j + 1}`, j));
    chooseY.add(new Option(`y: component ${j + 1}`, j));
  });
  chooseY.add(new Option("y: orth. distance", -1));
  chooseX.value = a;
  chooseY.value = b;
  for (const select of [chooseX, chooseY]) select.addEventListener("change", choose);
  arrows.addEventListener("change", plot.draw);
  if (colorBy) {
    const shown = new Array(LABEL_COLORS + 1).fill(0);
    for (const place of data.label) shown[Math.min(place, LABEL_COLORS)] += 1;
    const legend = [...data.labels.slice(0, LABEL_COLORS).map((name) => name || "(no label)"),
      `${count(Math.max(data.labels.length - LABEL_COLORS, 0))} other labels`];
    byId("label-legend").replaceChildren(...legend.filter((_, i) => shown[i]).map((name, i) => {
      const item = node("li");
      item.append(mark(data.kinds[0], `label${i}`), " ", node("bdi", name), ` ${count(shown[i])}`);
      return item;
    }));
    colorBy.addEventListener("change", () => {
      byId("label-legend").hidden = colorBy.value !== "label";
      plot.draw();
    });
  }
  plot.rescale = (next) => { log = next; plot.reset(); };
  choose();
  return plot;
}
