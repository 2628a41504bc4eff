// Connect all parts: a row selected in one plot or the table is selected everywhere.

const data = JSON.parse(byId("data").textContent);
byId("map").hidden = false;
const levels = makeLevels(data);
let selected = -1;

function reason(i) {
  const kind = levels.kind(i), { means } = data.kinds[kind];
  if (kind === 0) return data.notes[i] || means;
  return i < data.p.length ? data.because[i] : `${means} (not listed in the table)`;
}
function facts(i) {
  const { score, off } = levels.distances(i);
  const p = i < data.p.length ? `, p-value ${data.p[i]}` : "";
  return `score ${formatDistance(score)}, orthogonal ${formatDistance(off)} cut-offs${p}`;
}
const label = (i) => (data.label && data.labels[data.label[i]]) || "";

function hover(plot, tip, i, byKey) {
  plot.mark(i);
  plot.canvas.style.cursor = i < 0 ? "" : "pointer";
  tip.hidden = i < 0;
  if (byKey) say(i, "At");
  if (i < 0) return;
  const kind = levels.kind(i), called = node("div"), name = node("b");
  called.append(mark(data.kinds[kind], `k${kind}`), ` ${data.kinds[kind].called}`);
  name.append("Row ", node("bdi", data.id[i]));
  tip.replaceChildren(name, ...(label(i) ? [node("div", label(i))] : []), called, node("div", reason(i)), node("div", facts(i), "quiet"));
  const { x, y } = plot.place(i), { offsetWidth: w, offsetHeight: h } = tip;
  const { clientWidth: W, clientHeight: H } = plot.canvas;
  // Below the mark or, if there is no room, above it.
  tip.style.left = `${clamp(x - w / 2, 0, Math.max(W - w, 0))}px`;
  tip.style.top = `${y + 16 + h <= H ? y + 16 : y - 16 - h}px`;
}

function say(i, what) {
  if (i < 0) { byId("map-said").textContent = "No row selected."; return; }
  const kind = data.kinds[levels.kind(i)].called;
  byId("map-said").replaceChildren(`${what} row `, node("bdi", data.id[i]), ...(label(i) ? [" · ", node("bdi", label(i))] : []),
    ` · ${kind} · `, node("bdi", reason(i)), ` · ${facts(i)}`);
}

function button(text, act) {
  const made = node("button", text);
  made.type = "button";
  made.addEventListener("click", act);
  return made;
}

// Select a row everywhere. Its columns are shown where it was picked: in the table, or
// below the plots.
function pick(i, inTable) {
  selected = i;
  for (const [plot] of plots) { plot.select(i); plot.stand(i); }
  say(i, "Selected:");
  table?.select(i, inTable);
  const panel = byId("profile");
  panel.hidden = i < 0 || inTable;
  panel.replaceChildren();
  if (panel.hidden) return;
  const title = node("h3");
  title.append("All columns of row ", node("bdi", data.id[i]));
  panel.append(title);
  showProfile(panel, data, i);
  if (i < data.p.length) {
    panel.append(button("Show in the table", () => {
      pick(i, true);
      document.querySelector(".chosen").scrollIntoView({ block: "center" });
      document.querySelector(".chosen .open").focus({ preventScroll: true });
    }));
  }
}

const listeners = (k) => ({
  onHover: (i, byKey) => hover(...plots[k], i, byKey),
  onPick: (i) => pick(i, false),
});
const plots = [
  [makeMap(data, levels, listeners(0)), byId("tip")],
  [makeScores(data, levels, listeners(1)), byId("score-tip")],
];
const [[map]] = plots;
function leave() { for (const [plot, tip] of plots) hover(plot, tip, -1); }

let table = null;
if (byId("rows")) {
  byId("rows").hidden = false;
  table = makeTable(data, levels, {
    onPick: (i) => pick(i, i >= 0),
    showRow(host, i) {
      showProfile(host, data, i);
      host.append(button("Show on the map", () => {
        pick(i, false);
        for (const [plot] of plots) plot.show(i);
        map.canvas.focus({ preventScroll: true });
        byId("map").scrollIntoView({ block: "center" });
      }));
    },
  });
}
makeLoadings(data);

levels.onChange(() => {
  leave();
  for (const [plot] of plots) plot.draw();
  if (selected >= 0) say(selected, "Selected:");
});
function showScale() {
  byId("scale-linear").setAttribute("aria-pressed", String(!map.isLog()));
  byId("scale-log").setAttribute("aria-pressed", String(map.isLog()));
}
for (const [id, log] of [["scale-linear", false], ["scale-log", true]]) {
  byId(id).addEventListener("click", () => {
    leave();
    for (const [plot] of plots) plot.rescale(log);
    showScale();
  });
}
showScale();
const zooms = { "zoom-in": (plot) => plot.zoom(1.4), "zoom-out": (plot) => plot.zoom(1 / 1.4), "zoom-reset": (plot) => plot.reset() };
for (const [id, act] of Object.entries(zooms)) byId(id).addEventListener("click", () => plots.forEach(([plot]) => act(plot)));

// On paper, there are light colors and no pages of the table.
matchMedia("print").addEventListener("change", (event) => {
  leave();
  table?.print(event.matches);
});
