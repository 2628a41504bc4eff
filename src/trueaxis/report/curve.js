// Curves over columns that have a natural order, such as the wavelengths of a spectrum.

const FRAME = { left: 58, right: 14, top: 10, bottom: 26, gap: 26, title: 18, line: 16, tick: 52 };

const watchers = new WeakMap(); // by element, to draw its curves anew when its width changes

// panels: { title, high, lines: [{ values, className }], levels: [y, ...] }
function curves(host, positions, panels, label) {
  const range = (values) => {
    let low = Infinity, high = -Infinity;
    for (const x of values) if (Number.isFinite(x)) { low = Math.min(low, x); high = Math.max(high, x); }
    return low < high ? [low, high] : [low === Infinity ? 0 : low - 1, low === Infinity ? 1 : low + 1];
  };

  function render() {
    const wide = Math.max(host.clientWidth, 240);
    const titles = panels.map(({ title }) => wrapped(title, wide - FRAME.right));
    const space = (p) => FRAME.title + (titles[p].length - 1) * FRAME.line;
    const high = panels.reduce((sum, panel, p) => sum + panel.high + FRAME.gap + space(p), FRAME.top + FRAME.bottom - FRAME.gap);
    const svg = drawn("svg", { viewBox: `0 0 ${wide} ${high}`, role: "img", "aria-label": label, class: "curves" });
    const [x0, x1] = range(positions);
    const toX = (x) => FRAME.left + ((x - x0) / (x1 - x0)) * (wide - FRAME.left - FRAME.right);
    let top = FRAME.top;
    panels.forEach((panel, p) => {
      const [low, up] = range(panel.lines.flatMap(({ values }) => Array.from(values)).concat(panel.levels || []));
      const begin = top + space(p), end = begin + panel.high;
      const toY = (y) => end - ((y - low) / (up - low)) * panel.high;
      // Above the plot; titles that would not fit there begin at the left edge.
      const fits = titles[p].every((text) => textWidth(text) <= wide - FRAME.left - FRAME.right);
      titles[p].forEach((text, i) => {
        const y = begin - 6 - (titles[p].length - 1 - i) * FRAME.line;
        svg.append(drawn("text", { x: fits ? FRAME.left : 0, y, class: "name" }, text));
      });
      for (const y of steps(low, up, 4)) {
        svg.append(
          drawn("line", { x1: FRAME.left, x2: wide - FRAME.right, y1: toY(y), y2: toY(y), class: "grid-line" }),
          drawn("text", { x: FRAME.left - 6, y: toY(y) + 4, "text-anchor": "end" }, formatNumber(y)));
      }
      for (const y of panel.levels || []) {
        svg.append(drawn("line", { x1: FRAME.left, x2: wide - FRAME.right, y1: toY(y), y2: toY(y), class: "level-line" }));
      }
      for (const { values, className } of panel.lines) {
        // Where a cell is missing, the curve is interrupted.
        let path = "", pen = "M";
        values.forEach((y, j) => {
          if (!Number.isFinite(y)) { pen = "M"; return; }
          path += `${pen}${toX(positions[j]).toFixed(1)} ${toY(y).toFixed(1)}`;
          pen = "L";
        });
        svg.append(drawn("path", { d: path, class: className }));
      }
      if (p === panels.length - 1) {
        for (const x of enoughSteps(x0, x1, wide - FRAME.left - FRAME.right, FRAME.tick)) {
          svg.append(drawn("text", { x: toX(x), y: end + 18, "text-anchor": "middle" }, tickPosition(x)));
        }
      }
      top = end + FRAME.gap;
    });
    host.replaceChildren(svg);
  }

  render();
  watchers.get(host)?.disconnect();
  let wide = host.clientWidth;
  const watcher = new ResizeObserver(() => {
    if (host.clientWidth !== wide && host.clientWidth) { wide = host.clientWidth; render(); }
  });
  watcher.observe(host);
  watchers.set(host, watcher);
}

const tickPosition = (x) => String(Number(x.toPrecision(6)));

// Where columns lie on the axis of a curve; null if they have no order.
function positionsOf(data) {
  return data.axes.positions ? unpack(data.axes.positions, Float32Array) : null;
}
