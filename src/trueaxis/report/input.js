// Mouse, touch and keyboard input of a plot.

const MOVED = 5; // pixels; a click that moves farther is a drag

function listenToInput(map) {
  const { canvas } = map;
  const down = new Map();
  let start = null, dragged = false, pinched = false, panning = false;

  const place = (event) => {
    const frame = canvas.getBoundingClientRect();
    return { x: event.clientX - frame.left, y: event.clientY - frame.top };
  };
  const apart = ([a, b]) => Math.hypot(a.x - b.x, a.y - b.y);
  const middle = ([a, b]) => ({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 });

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    canvas.focus({ preventScroll: true });
    canvas.setPointerCapture(event.pointerId);
    down.set(event.pointerId, place(event));
    start = place(event);
    dragged = pinched = down.size > 1;
    panning = event.shiftKey || event.pointerType !== "mouse";
  });

  canvas.addEventListener("pointermove", (event) => {
    const at = place(event);
    const before = down.get(event.pointerId);
    if (!before) {
      map.onHover(map.nearest(at.x, at.y));
      return;
    }
    const was = [...down.values()];
    down.set(event.pointerId, at);
    if (down.size === 2) {
      const now = [...down.values()];
      const from = middle(was), to = middle(now);
      map.move(to.x - from.x, to.y - from.y);
      map.zoom(apart(now) / Math.max(apart(was), 1), to.x, to.y);
      return;
    }
    dragged ||= Math.hypot(at.x - start.x, at.y - start.y) > MOVED;
    if (!dragged) return;
    map.onHover(-1);
    if (panning) map.move(at.x - before.x, at.y - before.y);
    else map.setBox({ a: start, b: at });
  });

  canvas.addEventListener("pointerup", (event) => {
    if (!down.delete(event.pointerId)) return;
    const at = place(event);
    map.setBox(null);
    if (!dragged) map.onPick(map.nearest(at.x, at.y));
    else if (!panning && !pinched) map.zoomTo(start, at);
  });
  canvas.addEventListener("pointercancel", (event) => {
    down.delete(event.pointerId);
    map.setBox(null);
  });
  canvas.addEventListener("pointerleave", () => map.onHover(-1));
  canvas.addEventListener("dblclick", () => map.reset());

  // Scrolling through the page must not zoom the map by accident.
  canvas.addEventListener("wheel", (event) => {
    const meant = document.activeElement === canvas || event.ctrlKey || event.metaKey;
    if (!meant) return;
    event.preventDefault();
    const at = place(event);
    map.zoom(Math.exp(-clamp(event.deltaY, -100, 100) / 300), at.x, at.y);
  }, { passive: false });
}

// Arrow keys step through the flagged rows, worst first, from the selected row.
// `flagged` returns them. Returns a function that sets the selected row.
function listenToKeys(map, flagged, walkTo, clear) {
  let at = -1;
  const shifts = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
  const walks = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };
  const others = {
    "+": () => map.zoom(1.4), "=": () => map.zoom(1.4), "-": () => map.zoom(1 / 1.4),
    0: () => map.reset(),
    Escape: clear,
    Enter: () => map.onPick(at),
    Home: () => { at = -1; walk(1); },
    End: () => { at = Infinity; walk(-1); },
  };
  // Points are in order of their p-values.
  function walk(step) {
    const rows = flagged();
    if (!rows.length) return;
    const next = step > 0 ? rows.find((i) => i > at) : rows.findLast((i) => i < at);
    at = next === undefined ? rows.at(step > 0 ? -1 : 0) : next;
    map.show(at);
    walkTo(at);
  }
  map.canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { key } = event;
    if (event.shiftKey && shifts[key]) map.move(...shifts[key]);
    else if (walks[key]) walk(walks[key]);
    else if (others[key]) others[key]();
    else return;
    event.preventDefault();
  });
  return (i) => { at = i; };
}
