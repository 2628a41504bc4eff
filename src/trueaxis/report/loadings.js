// Loadings: how much a column changes along a component, per standard deviation.

const SHOWN_LOADINGS = 20; // columns with bars, until all are asked for

// A list of bars to both sides of a middle line.
function barList(names, values, order, text) {
  const list = node("ul", undefined, "bars");
  const most = Math.max(...order.map((j) => Math.abs(values[j]) || 0), 1e-12);
  list.append(...order.map((j) => {
    const item = node("li");
    const name = node("bdi", names[j], "name");
    name.title = names[j];
    item.append(name, twoSided(values[j] / most), node("span", text(values[j]), "value"));
    return item;
  }));
  return list;
}

// The loadings of each component.
function unpackLoadings(data) {
  return data.axes.loadings.map(([most, text]) => unpackFractions(text).map((x) => most * x));
}

// A bar from the middle: to the right if positive, to the left if negative. If it
// would be longer than the track, it ends in a point.
function twoSided(share, className = "") {
  const track = node("span", undefined, "track both");
  const bar = node("i", undefined, className);
  if (Math.abs(share) > 1 + 1e-9) bar.classList.add("cut", share < 0 ? "left" : "right");
  const part = Number.isFinite(share) ? Math.min(Math.abs(share), 1) : 0;
  bar.style.width = `${50 * part}%`;
  bar.style.left = share < 0 ? `${50 - 50 * part}%` : "50%";
  track.append(bar);
  return track;
}

function makeLoadings(data) {
  const { names } = data.axes, D = data.columns.length;
  const loadings = unpackLoadings(data);
  const choose = byId("component"), host = byId("loadings-shown"), more = byId("loadings-more");
  const positions = positionsOf(data);
  let all = false;

  function show() {
    const j = Number(choose.value);
    const values = loadings[j];
    const order = bySize(values);
    if (positions) {
      const top = order.slice(0, 3).map((c) => data.columns[c]).join(", ");
      curves(host, positions, [{ title: `loading on ${names[j]}`, high: 200, levels: [0], lines: [{ values, className: "row-line" }] }],
        `Loadings of all columns on ${names[j]}; largest at ${top}`);
    }
    else host.replaceChildren(barList(data.columns, values, all ? order : order.slice(0, SHOWN_LOADINGS), formatNumber));
    more.hidden = Boolean(positions) || D <= SHOWN_LOADINGS;
    more.textContent = all ? `Show the ${SHOWN_LOADINGS} largest` : `Show all ${count(D)} columns`;
  }
  names.forEach((name, j) => choose.add(new Option(name, j)));
  choose.addEventListener("change", show);
  more.addEventListener("click", () => { all = !all; show(); });
  byId("loadings").hidden = false;
  show();
}
