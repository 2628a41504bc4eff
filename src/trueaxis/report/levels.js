// The level: which rows are outliers, and of what kind, at each stop of the slider.
// All verdicts are computed beforehand; here they are only looked up.

function makeLevels(data) {
  // First stop at which a row is beyond each cut-off.
  const [score, off, group] = data.since.map((text) => Uint8Array.from(text, (c) => parseInt(c, 36)));
  const slider = byId("level");
  const called = [...document.querySelectorAll("[data-count]")];
  const keys = new Map([...document.querySelectorAll("[data-key]")].map((key) => [key.dataset.key, key]));
  const line = keys.get("level") || keys.get("contamination");
  const own = { name: line.dataset.key, value: line.textContent };
  const listeners = [];
  let at = data.own;

  const levels = {
    kind(i) {
      const kind = (score[i] <= at ? 1 : 0) + (off[i] <= at ? 2 : 0);
      return kind === 0 && group[i] <= at ? 4 : kind;
    },
    lines: () => data.stops[at].lines,
    stop: () => data.stops[at],
    isOwn: () => at === data.own,
    onChange: (listener) => listeners.push(listener),
    // The distances of a row in units of the cut-offs of this level.
    distances(i, entry) {
      const [a, b, c] = data.stops[at].lines;
      const far = (x, unit) => (x === null ? Infinity : x / unit);
      const found = { score: far(data.score[i], a), off: far(data.off[i], b) };
      const towards = data.group && entry >= 0 ? far(data.group[entry], c) : 0;
      return { ...found, excess: Math.max(found.score, found.off, towards) };
    },
  };

  function show() {
    const stop = data.stops[at];
    slider.value = at;
    slider.setAttribute("aria-valuetext", `${stop.level}: ${stop.flagged} rows flagged`);
    byId("level-said").textContent = `${stop.level} · ${stop.flagged} flagged`;
    byId("level-own").disabled = at === data.own;
    byId("verdict").textContent = stop.verdict;
    for (const place of called) place.textContent = stop.counts[Number(place.dataset.count)];
    keys.get("flagged").textContent = stop.flagged;
    line.textContent = at === data.own ? own.value : stop.level;
    line.previousElementSibling.textContent = at === data.own ? own.name : "level";
    const missing = byId("missing");
    if (missing) {
      missing.hidden = !stop.missing;
      missing.textContent = stop.missing;
    }
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
  return levels;
}
