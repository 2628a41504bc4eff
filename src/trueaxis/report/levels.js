// The level: which rows are outliers, and of what kind, at each stop of the slider.
// All verdicts are computed beforehand; here they are only looked up.

function makeLevels(data) {
  const [score, off, group] = data.beyond; // first stop at which a row is beyond each cut-off
  const slider = byId("level");
  const keys = new Map([...document.querySelectorAll("[data-key]")].map((key) => [key.dataset.key, key]));
  const level = keys.get("level") || keys.get("contamination");
  const own = { name: level.dataset.key, value: level.textContent };
  const listeners = [];
  let at = data.own;

  function show() {
    const stop = data.stops[at], isOwn = at === data.own;
    slider.value = at;
    slider.setAttribute("aria-valuetext", `${stop.level}: ${stop.flagged} rows flagged`);
    byId("level-said").textContent = `${stop.level} · ${stop.flagged} flagged`;
    byId("level-own").disabled = isOwn;
    byId("verdict").textContent = stop.verdict;
    for (const place of document.querySelectorAll("[data-count]")) place.textContent = stop.counts[place.dataset.count];
    keys.get("flagged").textContent = stop.flagged;
    level.textContent = isOwn ? own.value : stop.level;
    level.previousElementSibling.textContent = isOwn ? own.name : "level";
    byId("missing").hidden = !stop.missing;
    byId("missing").textContent = stop.missing;
  }
  function move(next) {
    at = next;
    show();
    for (const listener of listeners) listener();
  }
  slider.max = data.stops.length - 1;
  slider.addEventListener("input", () => move(Number(slider.value)));
  byId("level-own").addEventListener("click", () => {
    move(data.own);
    slider.focus(); // the button is disabled now
  });
  byId("levels").hidden = false;
  show();
  return {
    kind(i) {
      const kind = (score[i] <= at ? 1 : 0) + (off[i] <= at ? 2 : 0);
      return kind === 0 && group[i] <= at ? 4 : kind;
    },
    stop: () => data.stops[at],
    onChange: (listener) => listeners.push(listener),
    // The distances of a row in units of the cut-offs of this level.
    distances(i) {
      const far = (x, unit) => (x === null ? Infinity : x / unit);
      const [a, b, c] = data.stops[at].lines;
      const found = { score: far(data.score[i], a), off: far(data.off[i], b) };
      const towards = data.group && i < data.p.length ? far(data.group[i], c) : 0;
      return { ...found, excess: Math.max(found.score, found.off, towards) };
    },
  };
}
