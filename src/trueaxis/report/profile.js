// All columns of a row, and of a component: tables, bars, and curves of spectra.

const ODD = 3; // deviations beyond this many standard deviations are marked
const FULL = 6; // deviations of this size fill the bar, as in the map of cells
const SHOWN_COLUMNS = 20; // of a row, until all are asked for
const MOST_LOADINGS = 200;
const FRAME = { left: 58, right: 14, title: 20, gap: 12, bottom: 22 };

// A bar from the middle: to the right if positive, to the left if negative.
function twoSided(share, className = "") {
  const track = node("span", undefined, "track");
  const bar = node("i", undefined, className);
  const part = Math.min(Math.abs(share || 0), 1);
  bar.style.width = `${50 * part}%`;
  bar.style.left = share < 0 ? `${50 - 50 * part}%` : "50%";
  track.append(bar);
  return track;
}

// panels: { title, high, lines: [[values, className], ...], levels: [y, ...] }
function curves(host, positions, panels, label) {
  const range = (values) => {
    const known = values.filter((x) => x !== null);
    const low = known.reduce((a, b) => Math.min(a, b), Infinity), high = known.reduce((a, b) => Math.max(a, b), -Infinity);
    return low < high ? [low, high] : [known.length ? low - 1 : 0, known.length ? low + 1 : 1];
  };
  const [x0, x1] = range(positions);

  function render() {
    const wide = Math.max(host.clientWidth, 240), right = wide - FRAME.right;
    const toX = (x) => FRAME.left + ((x - x0) / (x1 - x0)) * (right - FRAME.left);
    const svg = drawn("svg", { role: "img", "aria-label": label, class: "curves" });
    let end = 0;
    for (const { title, high, lines, levels = [] } of panels) {
      const [low, up] = range([...lines.flatMap(([values]) => values), ...levels]);
      const begin = end + FRAME.title + (end ? FRAME.gap : 0);
      end = begin + high;
      const toY = (y) => (begin + high - ((y - low) / (up - low)) * high).toFixed(1);
      const across = (y, className) => drawn("path", { d: `M${FRAME.left} ${toY(y)}H${right}`, class: className });
      svg.append(drawn("text", { x: 0, y: begin - 8, class: "name" }, title));
      for (const y of steps(low, up, 4)) {
        svg.append(across(y, "grid-line"), drawn("text", { x: FRAME.left - 6, y: Number(toY(y)) + 4, "text-anchor": "end" }, formatNumber(y)));
      }
      svg.append(...levels.map((y) => across(y, "level-line")));
      for (const [values, className] of lines) {
        // Where a cell is missing, the curve is interrupted.
        const parts = values.map((y, j) => (y === null ? "" : `${j && values[j - 1] !== null ? "L" : "M"}${toX(positions[j]).toFixed(1)} ${toY(y)}`));
        svg.append(drawn("path", { d: parts.join(""), class: className }));
      }
    }
    for (const x of steps(x0, x1, Math.max(3, Math.floor((right - FRAME.left) / 70)))) {
      svg.append(drawn("text", { x: toX(x), y: end + 17, "text-anchor": "middle" }, String(Number(x.toPrecision(6)))));
    }
    svg.setAttribute("viewBox", `0 0 ${wide} ${end + FRAME.bottom}`);
    host.replaceChildren(svg);
  }
  render();
  let wide = host.clientWidth;
  new ResizeObserver(() => {
    if (host.clientWidth && host.clientWidth !== wide) { wide = host.clientWidth; render(); }
  }).observe(host);
}

function makeLoadings({ columns, axes: { names, loadings, positions } }) {
  const choose = byId("component"), shown = byId("loadings-shown");
  function show() {
    const values = loadings[choose.value], name = names[choose.value];
    const order = bySize(values).slice(0, MOST_LOADINGS);
    if (positions) {
      const host = node("div");
      shown.replaceChildren(host);
      const top = order.slice(0, 3).map((j) => columns[j]).join(", ");
      curves(host, positions, [{ title: `loading on ${name}`, high: 200, levels: [0], lines: [[values, "row-line"]] }],
        `Loadings of all columns on ${name}; largest at ${top}`);
      return;
    }
    const most = Math.abs(values[order[0]]) || 1;
    const list = node("ul", undefined, "bars");
    list.tabIndex = 0; // it scrolls
    list.append(...order.map((j) => {
      const item = node("li"), column = node("bdi", columns[j], "name");
      column.title = columns[j];
      item.append(column, twoSided(values[j] / most), node("span", formatNumber(values[j]), "value"));
      return item;
    }));
    shown.replaceChildren(list);
  }
  names.forEach((name, j) => choose.add(new Option(name, j)));
  choose.addEventListener("change", show);
  byId("loadings").hidden = false;
  show();
}

function profileTable({ columns }, [values, fits, deviations]) {
  const made = node("table", undefined, "small profile-table");
  const caption = node("caption", "Largest deviations first, in standard deviations of regular rows. Bars: ", "quiet");
  caption.append(node("b", "blue", "low"), " is too low, ", node("b", "red", "high"), ` too high, full at ${FULL}.`);
  const head = node("tr"), body = node("tbody"), thead = node("thead");
  head.append(...["Column", "Value", "Would fit", "Deviation"].map((text, i) => node("th", text, i ? "number" : "")), node("td"));
  thead.append(head);
  bySize(deviations).forEach((j, place) => {
    const tr = node("tr"), th = node("th"), bar = node("td", undefined, "bar-cell"), far = deviations[j];
    tr.classList.toggle("odd", Math.abs(far) > ODD);
    tr.classList.toggle("extra", place >= SHOWN_COLUMNS);
    th.scope = "row";
    th.append(node("bdi", columns[j]));
    bar.append(twoSided(far / FULL, far < 0 ? "low" : "high"));
    tr.append(th, ...[formatNumber(values[j]), formatNumber(fits[j]), formatDeviation(far)].map((text) => node("td", text, "number")), bar);
    body.append(tr);
  });
  made.append(caption, thead, body);
  const box = node("div", undefined, "box profile-box");
  box.append(made);
  if (columns.length > SHOWN_COLUMNS) {
    const more = node("button");
    more.type = "button";
    const fold = () => {
      const short = made.classList.toggle("short");
      more.textContent = short ? `Show all ${count(columns.length)} columns` : `Show the ${SHOWN_COLUMNS} largest`;
    };
    more.addEventListener("click", fold);
    fold();
    box.append(more);
  }
  return box;
}

// Show all columns of a row in an element.
function showProfile(host, data, i) {
  const cells = data.cells[i], { positions } = data.axes;
  if (!cells) {
    const n = data.cells.filter(Boolean).length;
    host.append(node("p", `The page holds all columns of ${count(n)} rows, the worst and those nearest to the threshold. This row is not one of them.`, "quiet"));
    return;
  }
  const table = profileTable(data, cells);
  if (!positions) { host.append(table); return; }
  const [values, fits, deviations] = cells;
  const curve = node("div"), folded = node("details");
  const key = node("p", undefined, "quiet curve-key");
  key.append(node("i", undefined, "row-key"), " this row ", node("i", undefined, "fit-key"), " what would fit in each column");
  folded.append(node("summary", "All columns as a table"), table);
  host.append(curve, key, folded);
  const odd = bySize(deviations).slice(0, 3).map((j) => `${data.columns[j]} (${formatDeviation(deviations[j])})`);
  curves(curve, positions, [
    { title: "value", high: 180, lines: [[fits, "fit-line"], [values, "row-line"]] },
    { title: "deviation, in standard deviations", high: 90, levels: [-ODD, 0, ODD], lines: [[deviations, "row-line"]] },
  ], `Row ${data.id[i]} and what would fit, column by column. Largest deviations: ${odd.join(", ")}`);
}
