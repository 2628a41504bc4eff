// The table of flagged rows: sorting, searching, paging.

const PAGE = matchMedia("(max-width: 40rem)").matches ? 10 : 25;
const PRINTED = 100;

function mark(kind) {
  const space = document.querySelector(".legend svg").namespaceURI;
  const made = document.createElementNS(space, "svg");
  const path = document.createElementNS(space, "path");
  made.setAttribute("viewBox", "-8 -8 16 16");
  made.setAttribute("class", "mark");
  made.setAttribute("aria-hidden", "true");
  path.setAttribute("d", kind.outline);
  path.setAttribute("transform", "scale(5.4)");
  path.setAttribute("fill", kind.colour);
  made.append(path);
  return made;
}

function makeTable(data, { onPick, onShow }) {
  const body = byId("body");
  const heads = [...byId("table").querySelectorAll("thead button")];
  const all = data.because.map((_, i) => i);
  const searched = all.map((i) =>
    [data.id[i], data.label && data.label[i], data.because[i]].join("\n").toLowerCase());
  const words = new Intl.Collator(undefined, { numeric: true });
  const open = new Set();
  let by = "p", falling = false, shown = all, page = 0, selected = -1, printing = false;

  const number = (x) => (x === null ? Infinity : x);
  const orders = {
    id: (a, b) => words.compare(data.id[a], data.id[b]),
    label: (a, b) => words.compare(data.label[a], data.label[b]),
    because: (a, b) => words.compare(data.because[a], data.because[b]),
    kind: (a, b) => data.kind[a] - data.kind[b],
    p: (a, b) => a - b, // rows are stored worst first
    excess: (a, b) => number(data.excess[a]) - number(data.excess[b]) || 0,
    score: (a, b) => number(data.score[a]) - number(data.score[b]) || 0,
    off: (a, b) => number(data.off[a]) - number(data.off[b]) || 0,
  };

  function arrange() {
    const text = byId("search").value.trim().toLowerCase();
    const only = byId("only").value;
    const sign = falling ? -1 : 1;
    shown = all
      .filter((i) => searched[i].includes(text) && (only === "" || data.kind[i] === Number(only)))
      .sort((a, b) => sign * orders[by](a, b) || a - b);
    page = 0;
    fill();
  }

  function fill() {
    const rows = printing ? shown.slice(0, PRINTED) : shown.slice(page * PAGE, (page + 1) * PAGE);
    body.replaceChildren(...rows.flatMap((i) => (open.has(i) ? [row(i), detail(i)] : [row(i)])));
    const more = shown.length - PRINTED;
    if (!rows.length) remark("No flagged row matches.");
    if (printing && more > 0) remark(`${more.toLocaleString("en")} more rows are not printed.`);
    const one = all.length === 1 ? "row" : "rows";
    byId("count").textContent = shown.length === all.length
      ? `${all.length.toLocaleString("en")} ${one}`
      : `${shown.length.toLocaleString("en")} of ${all.length.toLocaleString("en")} ${one}`;
    const last = Math.max(Math.ceil(shown.length / PAGE), 1);
    byId("pages").hidden = last === 1;
    byId("where").textContent = `Page ${page + 1} of ${last}`;
    byId("before").disabled = page === 0;
    byId("after").disabled = page === last - 1;
    for (const head of heads) {
      const th = head.parentElement;
      if (head.dataset.by === by) th.setAttribute("aria-sort", falling ? "descending" : "ascending");
      else th.removeAttribute("aria-sort");
    }
  }

  function remark(text) {
    const tr = node("tr");
    const td = node("td", text, "quiet");
    td.colSpan = heads.length;
    tr.append(td);
    body.append(tr);
  }

  function cell(name, text, className) {
    const made = node("td", undefined, className);
    made.dataset.name = name;
    made.append(typeof text === "string" ? node("bdi", text) : text);
    return made;
  }

  function row(i) {
    const tr = node("tr", undefined, i === selected ? "row chosen" : "row");
    tr.dataset.point = i;
    const first = node("th");
    first.scope = "row";
    first.dataset.name = "Row";
    const button = node("button", undefined, "open");
    button.type = "button";
    button.setAttribute("aria-expanded", String(open.has(i)));
    button.append(node("bdi", data.id[i]));
    first.append(button);
    tr.append(first);
    if (data.label) tr.append(cell("Label", data.label[i]));
    const kind = data.kinds[data.kind[i]];
    const called = node("span");
    called.append(mark(kind), ` ${kind.called}`);
    tr.append(
      cell("Kind", called, "kind"),
      cell("p-value", data.p[i], "number"),
      cell("Excess", formatDistance(data.excess[i]), "number"),
      cell("Score", formatDistance(data.score[i]), "number"),
      cell("Orth.", formatDistance(data.off[i]), "number"),
      cell("Reason", data.because[i]),
    );
    return tr;
  }

  function detail(i) {
    const tr = node("tr", undefined, "detail");
    const td = node("td");
    td.colSpan = heads.length;
    const lists = node("div", undefined, "lists");
    lists.append(
      parts("Contributions to the orthogonal distance", data.offParts[i]),
      parts("Contributions to the score distance", data.scoreParts[i]),
    );
    const button = node("button", "Show on the map");
    button.type = "button";
    button.addEventListener("click", () => onShow(i));
    td.append(lists, button);
    tr.append(td);
    return tr;
  }

  // `flat` alternates columns and shares; column -1 stands for all others.
  function parts(heading, flat) {
    const made = node("div");
    const list = node("ul");
    const values = flat.filter((_, j) => j % 2);
    const most = Math.max(...values.map(Math.abs), 1);
    values.forEach((share, j) => {
      const column = flat[2 * j];
      const name = column < 0 ? "all other columns" : data.columns[column];
      const item = node("li");
      const bar = node("i", undefined, share < 0 ? "back" : "");
      bar.style.width = `${(100 * Math.abs(share)) / most}%`;
      const track = node("span", undefined, "track");
      track.append(bar);
      const label = node("bdi", name, "name");
      label.title = name;
      const said = share < 0 ? `−${(-share).toFixed(1)}` : share.toFixed(1);
      item.append(label, track, node("span", `${said}%`, "value"));
      list.append(item);
    });
    made.append(node("h4", heading));
    const zero = values.every((share) => share === 0);
    made.append(zero ? node("p", "There are no contributions to show.", "quiet") : list);
    return made;
  }

  // Select a row, here or from the map; -1 selects none.
  function select(i, scroll) {
    selected = i < all.length ? i : -1;
    if (selected >= 0) {
      open.add(i);
      if (!shown.includes(i)) {
        byId("search").value = "";
        byId("only").value = "";
        arrange();
      }
      if (scroll) page = Math.floor(shown.indexOf(i) / PAGE);
    }
    fill();
    if (scroll && selected >= 0) {
      body.querySelector(".chosen").scrollIntoView({ block: "center" });
    }
  }

  body.addEventListener("click", (event) => {
    const tr = event.target.closest("tr.row");
    if (!tr) return;
    const i = Number(tr.dataset.point);
    if (open.has(i)) {
      open.delete(i);
      fill();
    } else {
      onPick(i);
    }
    // The table has been rebuilt: put the focus back where it was.
    const button = body.querySelector(`[data-point="${i}"] .open`);
    if (event.target.closest(".open") && button) button.focus({ preventScroll: true });
  });
  for (const head of heads) {
    head.addEventListener("click", () => {
      const same = head.dataset.by === by;
      const text = ["id", "label", "because", "p"].includes(head.dataset.by);
      falling = same ? !falling : !text;
      by = head.dataset.by;
      arrange();
    });
  }
  byId("search").addEventListener("input", arrange);
  byId("only").addEventListener("change", arrange);
  byId("before").addEventListener("click", () => { page -= 1; fill(); });
  byId("after").addEventListener("click", () => { page += 1; fill(); });
  fill();
  return { select, print: (on) => { printing = on; fill(); } };
}
