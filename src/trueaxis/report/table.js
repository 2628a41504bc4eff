// The table of flagged rows: sorting, searching, paging.

const PAGE = matchMedia("(max-width: 40rem)").matches ? 10 : 25;
const PRINTED = 100;

function makeTable(data, levels, { pointOf, onPick, showProfile }) {
  const body = byId("body");
  const heads = [...byId("table").querySelectorAll("thead button")];
  const entries = data.because.map((_, entry) => entry);
  const label = (entry) => (data.label ? data.labels[data.label[pointOf(entry)]] : "");
  const searched = entries.map((entry) =>
    [data.id[pointOf(entry)], label(entry), data.because[entry]].join("\n").toLowerCase());
  const words = new Intl.Collator(undefined, { numeric: true });
  let by = "p", falling = false, all = [], shown = [], page = 0, selected = -1, open = -1, printing = false;
  let detailed = { entry: -1, tr: null };

  const kind = (entry) => levels.kind(pointOf(entry));
  const far = (entry) => levels.distances(pointOf(entry), entry);
  const difference = (x, y) => (x === y ? 0 : x - y);
  const orders = {
    id: (a, b) => words.compare(data.id[pointOf(a)], data.id[pointOf(b)]),
    label: (a, b) => words.compare(label(a), label(b)),
    because: (a, b) => words.compare(data.because[a], data.because[b]),
    kind: (a, b) => kind(a) - kind(b),
    p: (a, b) => a - b, // rows are stored worst first
    excess: (a, b) => difference(far(a).excess, far(b).excess),
    score: (a, b) => difference(far(a).score, far(b).score),
    off: (a, b) => difference(far(a).off, far(b).off),
  };

  function arrange() {
    const text = byId("search").value.trim().toLowerCase();
    const only = byId("only").value;
    const sign = falling ? -1 : 1;
    all = entries.filter((entry) => (kind(entry) > 0) !== (only === "near"));
    shown = all
      .filter((entry) => searched[entry].includes(text) && (["", "near"].includes(only) || kind(entry) === Number(only)))
      .sort((a, b) => sign * orders[by](a, b) || a - b);
    page = 0;
    fill();
  }

  function fill() {
    const rows = printing ? shown.slice(0, PRINTED) : shown.slice(page * PAGE, (page + 1) * PAGE);
    body.replaceChildren(...rows.flatMap((entry) => (entry === open ? [row(entry), detail(entry)] : [row(entry)])));
    const more = shown.length - PRINTED;
    if (!rows.length) remark(all.length ? "No row matches." : "No row of the page is flagged at this level.");
    if (printing && more > 0) remark(`${count(more)} more rows are not printed.`);
    const one = all.length === 1 ? "row" : "rows";
    byId("count").textContent = shown.length === all.length
      ? `${count(all.length)} ${one}`
      : `${count(shown.length)} of ${count(all.length)} ${one}`;
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
    // Curves need to know how wide they are.
    const place = body.querySelector(".detail > td");
    if (place && !place.hasChildNodes()) showProfile(place, pointOf(open));
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

  function row(entry) {
    const i = pointOf(entry);
    const tr = node("tr", undefined, entry === selected ? "row chosen" : "row");
    tr.dataset.entry = entry;
    const first = node("th");
    first.scope = "row";
    first.dataset.name = "Row";
    const button = node("button", undefined, "open");
    button.type = "button";
    button.setAttribute("aria-expanded", String(entry === open));
    button.append(node("bdi", data.id[i]));
    first.append(button);
    tr.append(first);
    if (data.label) tr.append(cell("Label", label(entry)));
    const { score, off, excess } = far(entry);
    const is = data.kinds[kind(entry)];
    const called = node("span");
    called.append(mark(is), ` ${is.called}`);
    tr.append(
      cell("Kind", called, "kind"),
      cell("p-value", data.p[entry], "number"),
      cell("Excess", formatDistance(excess), "number"),
      cell("Score", formatDistance(score), "number"),
      cell("Orth.", formatDistance(off), "number"),
      cell("Reason", data.because[entry]),
    );
    return tr;
  }

  // Made once for a row: what has been unfolded in it stays so, on paper as well.
  function detail(entry) {
    if (detailed.entry === entry) return detailed.tr;
    const tr = node("tr", undefined, "detail");
    detailed = { entry, tr };
    const td = node("td");
    td.colSpan = heads.length;
    tr.append(td);
    return tr;
  }

  // Select a row (-1: none); `unfold` opens it here.
  function select(entry, unfold) {
    selected = entry;
    open = unfold ? entry : -1;
    if (open !== detailed.entry) detailed = { entry: -1, tr: null };
    // A regular row is not in the table, unless it is asked for.
    if (entry >= 0 && !shown.includes(entry) && (unfold || kind(entry))) {
      byId("search").value = "";
      byId("only").value = kind(entry) ? "" : "near";
      arrange();
    }
    const place = shown.indexOf(entry);
    if (place >= 0) page = Math.floor(place / PAGE);
    fill();
  }

  body.addEventListener("click", (event) => {
    const tr = event.target.closest("tr.row");
    if (!tr) return;
    const entry = Number(tr.dataset.entry);
    onPick(entry === open ? -1 : pointOf(entry));
    // The table has been rebuilt: put the focus back where it was.
    const button = body.querySelector(`[data-entry="${entry}"] .open`);
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
  levels.onChange(arrange);
  arrange();
  return {
    select,
    print: (on) => { printing = on; fill(); },
    reveal: () => body.querySelector(".chosen")?.scrollIntoView({ block: "center" }),
    flagged: () => entries.filter((entry) => kind(entry) > 0).map((entry) => [pointOf(entry), entry]),
  };
}
