// The outlier map: both distances, in units of the model's cut-offs.

function largest(values) {
  let top = 1;
  for (const x of values) if (x !== null && x > top) top = x;
  return top;
}

// Linear up to the cut-off, and linear or logarithmic beyond it. `titles`: see plot.js.
function distanceAxis(top, log, titles) {
  const bent = log && top > 1 ? ", log beyond 1" : "";
  const axis = { low: 0, titles: titles.map((title) => title + bent), ticks: (low, high, pixels) => distanceTicks(axis, low, high, pixels) };
  if (!log || top <= 1) {
    return Object.assign(axis, { to: (x) => x, from: (u) => u, high: 1.06 * top, bend: false });
  }
  const low = Math.max(0.5, 0.5 * Math.log10(top));
  return Object.assign(axis, {
    to: (x) => (x <= 1 ? low * x : low + Math.log10(x)),
    from: (u) => (u <= low ? u / low : 10 ** (u - low)),
    high: low + 1.06 * Math.log10(top),
    bend: true,
  });
}

// Ticks of an axis that shows the scaled values from `low` to `high`.
function distanceTicks(axis, low, high, pixels) {
  const from = Math.max(axis.from(low), 0);
  const to = axis.from(high);
  const count = Math.max(2, Math.floor(pixels / 60));
  if (!axis.bend || to < 1.5 || to / Math.max(from, 1) < 8) return steps(from, to, count);
  const decades = Math.log10(to);
  const every = Math.max(1, Math.ceil(decades / count));
  const marks = from < 1 ? [0, 0.5, 1] : [];
  for (let p = 0; p <= decades; p += every) {
    for (const m of every === 1 && decades < 3 ? [1, 3] : [1]) marks.push(m * 10 ** p);
  }
  return [...new Set(marks)].filter((x) => x >= from && x <= to);
}

function distanceTitles(data, name, brief = name) {
  const title = `${name} distance, in cut-offs`;
  return [`${title} at level ${data.stops[data.own].level}`, title, `${brief} distance, in cut-offs`];
}

function makeMap(data, levels, listeners) {
  const tops = [largest(data.score), largest(data.off)];
  let log = Math.max(...tops) > data.far;
  const spec = {
    n: data.score.length,
    axes: () => ({
      x: distanceAxis(tops[0], log, distanceTitles(data, "score")),
      y: distanceAxis(tops[1], log, distanceTitles(data, "orthogonal", "orth.")),
    }),
    x: (i) => data.score[i],
    y: (i) => data.off[i],
    looks: () => looksOf(data),
    look: levels.kind,
    lines(pen, { x, y, colours, left, right, top, bottom }) {
      const [score, off] = levels.lines();
      pen.lineWidth = 1;
      pen.strokeStyle = colours.text;
      pen.setLineDash([6, 4]);
      if (x(score) > left && x(score) < right) line(pen, x(score), top, x(score), bottom);
      if (y(off) > top && y(off) < bottom) line(pen, left, y(off), right, y(off));
      pen.setLineDash([]);
    },
  };
  const map = makePlot(byId("canvas"), spec, listeners);
  map.bent = () => log && Math.max(...tops) > 1;
  map.rescale = (next) => { log = next; map.reset(); };
  levels.onChange(map.draw);
  return map;
}
