// Connect all parts: a row selected in one plot or the table is selected everywhere.

const data = JSON.parse(byId("data").textContent);
byId("map").hidden = false;
if (byId("rows")) byId("rows").hidden = false;

// Rows of the table are called entries: the worst flagged points, then the nearest
// regular ones. -1 stands for none.
const [worst, near] = data.listed;
const pointOf = (entry) => (entry < worst ? entry : entry - worst + data.flagged);
function entryOf(i) {
  if (i < worst) return i;
  const entry = i - data.flagged;
  return entry >= 0 && entry < near ? worst + entry : -1;
}

const levels = makeLevels(data);
let selected = -1;

function reason(i) {
  const kind = levels.kind(i), entry = entryOf(i);
  const { means } = data.kinds[kind];
  if (kind === 0) return (data.notes && data.notes[i]) || means;
  return entry >= 0 ? data.because[entry] : `${means} (not listed in the table)`;
}

function facts(i) {
  const entry = entryOf(i), { score, off } = levels.distances(i, entry);
  const p = entry >= 0 ? `, p-value ${data.p[entry]}` : "";
  return `score ${formatDistance(score)}, orthogonal ${formatDistance(off)} cut-offs${p}`;
}

const map = makeMap(data, levels, { onHover: (i) => hover(map, tips.map, i), onPick: (i) => pick(i, false) });
const scores = makeScores(data, levels, { onHover: (i) => hover(scores, tips.scores, i), onPick: (i) => pick(i, false) });
const tips = { map: byId("tip"), scores: byId("score-tip") };
const plots = [[map, tips.map], [scores, tips.scores]];
const profile = makeProfile(data, { entryOf, onMap: showOnMap, onTable: showInTable });
const table = byId("rows")
  ? makeTable(data, levels, { pointOf, onPick: (i) => pick(i, true), showProfile: (host, i) => profile.show(host, i, true) })
  : { select() {}, print() {}, reveal() {}, flagged: () => [] };
if (byId("rows")) listenToDownload(data, levels, table, profile);
makeLoadings(data);

function hover(plot, tip, i) {
  plot.mark(i);
  plot.canvas.style.cursor = i < 0 ? "" : "pointer";
  tip.hidden = i < 0;
  if (i < 0) return;
  const kind = data.kinds[levels.kind(i)];
  const called = node("div");
  called.append(mark(kind), ` ${kind.called}`);
  const name = node("b");
  name.append("Row ", node("bdi", data.id[i]));
  tip.replaceChildren(name);
  if (data.label && data.labels[data.label[i]]) tip.append(node("div", data.labels[data.label[i]]));
  tip.append(called, node("div", reason(i)), node("div", facts(i), "quiet"));
  const at = plot.place(i);
  const { offsetWidth: w, offsetHeight: h } = tip;
  const { clientWidth: W, clientHeight: H } = plot.canvas;
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
  const called = data.label ? data.labels[data.label[i]] : "";
  const label = called ? [" · ", node("bdi", called)] : [];
  const kind = data.kinds[levels.kind(i)].called;
  said.replaceChildren(
    `${what} row `, node("bdi", data.id[i]), ...label, ` · ${kind} · `, node("bdi", reason(i)), ` · ${facts(i)}`);
}

// Select a row everywhere. Its profile opens where it was picked: in the table, or
// below the plots.
function pick(i, fromTable) {
  selected = i;
  for (const [plot] of plots) plot.select(i);
  for (const stand of stands) stand(i);
  say(i, "Selected:");
  const inTable = fromTable && i >= 0;
  table.select(i < 0 ? -1 : entryOf(i), inTable);
  const panel = byId("profile");
  panel.hidden = i < 0 || inTable;
  profile.show(panel, panel.hidden ? -1 : i, false);
}

function showOnMap(i) {
  pick(i, false);
  for (const [plot] of plots) plot.show(i);
  map.canvas.focus({ preventScroll: true });
  byId("map").scrollIntoView({ block: "center" });
}

function showInTable(i) {
  pick(i, true);
  table.reveal();
  document.querySelector(".chosen .open")?.focus({ preventScroll: true });
}

const flagged = () => data.id.map((_, i) => i).filter((i) => levels.kind(i) > 0);
const stands = plots.map(([plot, tip]) => {
  listenToInput(plot);
  return listenToKeys(plot, flagged, (i) => {
    requestAnimationFrame(() => requestAnimationFrame(() => hover(plot, tip, i)));
    say(i, "At");
  }, () => { hover(plot, tip, -1); pick(-1, false); });
});
levels.onChange(() => {
  for (const [plot, tip] of plots) hover(plot, tip, -1);
  if (selected >= 0) say(selected, "Selected:");
});

function showScale() {
  byId("scale-linear").setAttribute("aria-pressed", String(!map.bent()));
  byId("scale-log").setAttribute("aria-pressed", String(map.bent()));
}
for (const [id, log] of [["scale-linear", false], ["scale-log", true]]) {
  byId(id).addEventListener("click", () => {
    for (const [plot, tip] of plots) { hover(plot, tip, -1); plot.rescale(log); }
    showScale();
  });
}
showScale();
for (const [id, act] of [["zoom-in", (plot) => plot.zoom(1.4)], ["zoom-out", (plot) => plot.zoom(1 / 1.4)], ["zoom-reset", (plot) => plot.reset()]]) {
  byId(id).addEventListener("click", () => plots.forEach(([plot]) => act(plot)));
}

for (const [plot] of plots) new ResizeObserver(() => plot.measure()).observe(plot.canvas);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => plots.forEach(([plot]) => plot.measure()));
// In print, use light colors and no paging.
function print(on) {
  document.documentElement.classList.toggle("printing", on);
  table.print(on);
  for (const [plot, tip] of plots) {
    hover(plot, tip, -1);
    plot.measure();
    plot.drawNow();
  }
}
addEventListener("beforeprint", () => print(true));
addEventListener("afterprint", () => print(false));
matchMedia("print").addEventListener("change", (event) => print(event.matches));
