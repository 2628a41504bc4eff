// Connect map and table: a row selected in one is selected in the other.

const data = JSON.parse(byId("data").textContent);
const tip = byId("tip");
byId("map").hidden = false;
if (byId("rows")) byId("rows").hidden = false;

const map = makeMap(data, { onHover: hover, onPick: (i) => pick(i, true) });
const table = byId("rows")
  ? makeTable(data, { onPick: (i) => pick(i, false), onShow: showOnMap })
  : { select() {}, print() {} };

function reason(i) {
  if (i < data.because.length) return data.because[i];
  if (data.notes && data.notes[i]) return data.notes[i];
  const { means } = data.kinds[data.kind[i]];
  return data.kind[i] ? `${means} (not listed in the table)` : means;
}

function facts(i) {
  const p = i < data.p.length ? `, p-value ${data.p[i]}` : "";
  return `score ${formatDistance(data.score[i])}, orthogonal ${formatDistance(data.off[i])} cut-offs${p}`;
}

function hover(i) {
  map.mark(i);
  map.canvas.style.cursor = i < 0 ? "" : "pointer";
  tip.hidden = i < 0;
  if (i < 0) return;
  const kind = data.kinds[data.kind[i]];
  const called = node("div");
  called.append(mark(kind), ` ${kind.called}`);
  const name = node("b");
  name.append("Row ", node("bdi", data.id[i]));
  tip.replaceChildren(name);
  if (data.label && data.label[i]) tip.append(node("div", data.label[i]));
  tip.append(called, node("div", reason(i)), node("div", facts(i), "quiet"));
  const at = map.place(i);
  const { offsetWidth: w, offsetHeight: h } = tip;
  const { clientWidth: W, clientHeight: H } = map.canvas;
  // Next to the mark or, if there is no room, below or above it.
  const right = at.x + 16, left = at.x - 16 - w;
  const beside = right + w <= W || left >= 0;
  const x = right + w <= W ? right : left;
  const y = at.y + 16 + h <= H ? at.y + 16 : at.y - 16 - h;
  tip.style.left = `${clamp(beside ? x : at.x - w / 2, 0, Math.max(W - w, 0))}px`;
  tip.style.top = `${clamp(beside ? at.y - h / 2 : y, 0, Math.max(H - h, 0))}px`;
}

function say(i, what) {
  const said = byId("map-said");
  if (i < 0) {
    said.textContent = "No row selected.";
    return;
  }
  const label = data.label && data.label[i] ? [" · ", node("bdi", data.label[i])] : [];
  const kind = data.kinds[data.kind[i]].called;
  said.replaceChildren(
    `${what} row `, node("bdi", data.id[i]), ...label, ` · ${kind} · `, node("bdi", reason(i)), ` · ${facts(i)}`);
}

function pick(i, scroll) {
  map.select(i);
  standAt(i);
  say(i, "Selected:");
  table.select(i, scroll);
}

function showOnMap(i) {
  pick(i, false);
  map.show(i);
  map.canvas.focus({ preventScroll: true });
  byId("map").scrollIntoView({ block: "center" });
}

listenToInput(map);
const standAt = listenToKeys(map, data.flagged, (i) => {
  requestAnimationFrame(() => requestAnimationFrame(() => hover(i)));
  say(i, "At");
}, () => { hover(-1); pick(-1, false); });

function showScale() {
  byId("scale-linear").setAttribute("aria-pressed", String(!map.bent()));
  byId("scale-log").setAttribute("aria-pressed", String(map.bent()));
}
for (const [id, log] of [["scale-linear", false], ["scale-log", true]]) {
  byId(id).addEventListener("click", () => { hover(-1); map.rescale(log); showScale(); });
}
showScale();
byId("zoom-in").addEventListener("click", () => map.zoom(1.4));
byId("zoom-out").addEventListener("click", () => map.zoom(1 / 1.4));
byId("zoom-reset").addEventListener("click", () => map.reset());

new ResizeObserver(() => map.measure()).observe(map.canvas);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => map.measure());
// In print, use light colors and no paging.
function print(on) {
  document.documentElement.classList.toggle("printing", on);
  hover(-1);
  table.print(on);
  map.measure();
  map.drawNow();
}
addEventListener("beforeprint", () => print(true));
addEventListener("afterprint", () => print(false));
matchMedia("print").addEventListener("change", (event) => print(event.matches));
