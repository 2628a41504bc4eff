// The table of flagged rows: sorting, searching, paging, and its rows as a CSV file.

const PAGE = matchMedia("(max-width: 40rem)").matches ? 10 : 25;
const PRINTED = 100;

function makeTable(data, levels, { onPick, showRow }) {
  const body = byId("body");
  const heads = [...document.querySelectorAll("#table thead button")];
  const entries = data.p.map((_, i) => i);
  const label = (i) => (data.label ? data.labels[data.label[i]] : "");
  const searched = entries.map((i) => [data.id[i], label(i), data.because[i]].join("\n").toLowerCase());
  const words = new Intl.Collator(undefined, { numeric: true });
  let by = "p", falling = false, all = [], shown = [], page = 0, selected = -1, open = -1, printing = false;

  const difference = (x, y) => (x === y ? 0 : x - y); // infinite ones, too
  const byText = (text) => (i, j) => words.compare(text(i), text(j));
  const far = (what) => (i, j) => difference(levels.distances(i)[what], levels.distances(j)[what]);
  const orders = {
    id: byText((i) => data.id[i]), label: byText(label), because: byText((i) => data.because[i]),
    kind: (i, j) => levels.kind(i) - levels.kind(j),
    p: (i, j) => i - j, // rows are stored worst first
    excess: far("excess"), score: far("score"), off: far("off"),
  };

  function arrange() {
    const text = byId("search").value.trim().toLowerCase(), only = byId("only").value;
    const sign = falling ? -1 : 1;
    all = entries.filter((i) => (levels.kind(i) > 0) !== (only === "near"));
    shown = all
      .filter((i) => searched[i].includes(text) && (["", "near"].includes(only) || levels.kind(i) === Number(only)))
      .sort((i, j) => sign * orders[by](i, j) || i - j);
    page = 0;
    fill();
  }

  function fill() {
    const rows = printing ? shown.slice(0, PRINTED) : shown.slice(page * PAGE, (page + 1) * PAGE);
    body.replaceChildren(...rows.map(row));
    if (rows.includes(open)) {
      const { tr, td } = wholeLine();
      tr.className = "detail";
      body.querySelector(`[data-entry="${open}"]`).after(tr);
      showRow(td, open);
    }
    if (!rows.length) body.append(wholeLine(all.length ? "No row matches." : "No row of the page is flagged at this level.").tr);
    if (printing && shown.length > PRINTED) body.append(wholeLine(`${count(shown.length - PRINTED)} more rows are not printed.`).tr);
    const what = `${count(all.length)} ${all.length === 1 ? "row" : "rows"}`;
    byId("count").textContent = shown.length === all.length ? what : `${count(shown.length)} of ${what}`;
    const last = Math.max(Math.ceil(shown.length / PAGE), 1);
    byId("pages").hidden = last === 1;
    byId("where").textContent = `Page ${page + 1} of ${last}`;
    byId("before").disabled = page === 0;
    byId("after").disabled = page === last - 1;
    for (const head of heads) {
      const sorted = head.dataset.by === by ? (falling ? "descending" : "ascending") : "none";
      head.parentElement.setAttribute("aria-sort", sorted);
    }
  }

  function wholeLine(text) {
    const tr = node("tr"), td = node("td", text);
    td.colSpan = heads.length;
    tr.append(td);
    return { tr, td };
  }

  function row(i) {
    const tr = node("tr", undefined, i === selected ? "row chosen" : "row");
    tr.dataset.entry = i;
    const first = node("th"), button = node("button", undefined, "open");
    first.scope = "row";
    button.type = "button";
    button.setAttribute("aria-expanded", String(i === open));
    button.append(node("bdi", data.id[i]));
    first.append(button);
    const cell = (name, text, className) => {
      const made = node("td", undefined, className);
      made.dataset.name = name;
      made.append(typeof text === "string" ? node("bdi", text) : text);
      return made;
    };
    const { score, off, excess } = levels.distances(i), kind = levels.kind(i), called = node("span");
    called.append(mark(data.kinds[kind], `k${kind}`), ` ${data.kinds[kind].called}`);
    tr.append(first, ...(data.label ? [cell("Label", label(i))] : []), cell("Kind", called, "kind"),
      cell("p-value", data.p[i], "number"), cell("Excess", formatDistance(excess), "number"),
      cell("Score", formatDistance(score), "number"), cell("Orth.", formatDistance(off), "number"),
      cell("Reason", data.because[i]));
    return tr;
  }

  // Select a row (-1: none); `unfold` opens it here.
  function select(i, unfold) {
    selected = i < entries.length ? i : -1;
    open = unfold ? selected : -1;
    // A regular row is not in the table, unless it is asked for.
    if (selected >= 0 && !shown.includes(i) && (unfold || levels.kind(i))) {
      byId("search").value = "";
      byId("only").value = levels.kind(i) ? "" : "near";
      arrange();
    }
    const place = shown.indexOf(selected);
    if (place >= 0) page = Math.floor(place / PAGE);
    fill();
  }

  body.addEventListener("click", (event) => {
    const tr = event.target.closest("tr.row");
    if (!tr) return;
    const i = Number(tr.dataset.entry);
    onPick(i === open ? -1 : i);
    // The table has been rebuilt: put the focus back where it was.
    if (event.target.closest(".open")) body.querySelector(`[data-entry="${i}"] .open`)?.focus({ preventScroll: true });
  });
  for (const head of heads) {
    head.addEventListener("click", () => {
      const rises = ["id", "label", "because", "p"].includes(head.dataset.by);
      falling = head.dataset.by === by ? !falling : !rises;
      by = head.dataset.by;
      arrange();
    });
  }
  byId("search").addEventListener("input", arrange);
  byId("only").addEventListener("change", arrange);
  byId("before").addEventListener("click", () => { page -= 1; fill(); });
  byId("after").addEventListener("click", () => { page += 1; fill(); });
  byId("download").addEventListener("click", () => download(data, levels, entries.filter(levels.kind)));
  levels.onChange(() => { byId("download-said").textContent = ""; arrange(); });
  arrange();
  return { select, print: (on) => { printing = on; fill(); } };
}

// Spreadsheets run text that begins with one of these signs as a formula, some of them
// after a control character.
const FORMULA = /^[=+\-@\x00-\x1f]/;
const NUMBER = /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i;
function csvText(text) {
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}
// Seven digits, which is what the page holds; nothing for missing and infinite values.
const csvNumber = (x) => (Number.isFinite(x) ? String(Number(x.toPrecision(7))) : "");
// Very small p-values are no floating-point numbers any more.
function csvP(logP) {
  if (logP === null) return "0";
  if (logP > -300) return String(Number((10 ** logP).toPrecision(4)));
  const power = Math.floor(logP);
  return `${(10 ** (logP - power)).toFixed(3)}e${power}`;
}

function csvOf(data, levels, rows) {
  const names = ["row", ...(data.label ? ["label"] : []), "kind", "p_value", "excess", "score_distance",
    "orthogonal_distance", "column", "value", "fitted", "reason", ...data.columns];
  const lines = rows.map((i) => {
    const { score, off, excess } = levels.distances(i);
    return [
      csvText(data.id[i]), ...(data.label ? [csvText(data.labels[data.label[i]])] : []),
      data.kinds[levels.kind(i)].name, csvP(data.logP[i]), ...[excess, score, off].map(csvNumber),
      csvText(data.columns[data.column[i]]), csvNumber(data.value[i]), csvNumber(data.fits[i]), csvText(data.because[i]),
      ...data.columns.map((_, j) => (data.cells[i] ? csvNumber(data.cells[i][0][j]) : "")),
    ];
  });
  return [names.map(csvText), ...lines].map((line) => `${line.join(",")}\r\n`).join("");
}

function download(data, levels, rows) {
  const link = node("a"), { level, missing } = levels.stop();
  // By the mark at the start, spreadsheets know the encoding.
  link.href = URL.createObjectURL(new Blob(["\ufeff", csvOf(data, levels, rows)], { type: "text/csv;charset=utf-8" }));
  link.download = `flagged-rows-level-${level}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  const whole = rows.filter((i) => data.cells[i]).length;
  const all = whole === rows.length ? "with all columns" : `${count(whole)} of them with all columns`;
  byId("download-said").textContent = `${count(rows.length)} ${rows.length === 1 ? "row" : "rows"} written, ${all}. ${missing}`;
}
