// The flagged rows as a CSV file, made by the page itself.

const UTF8 = "\ufeff"; // by this mark at the start, spreadsheets know the encoding

// Spreadsheets run text that begins with one of these signs as a formula, some of them
// after a control character.
const FORMULA = /^[=+\-@\x00-\x1f]/;
const NUMBER = /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i;

function csvText(text) {
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}

// Seven digits, which is what the page holds; nothing for missing and infinite values.
function csvNumber(x) {
  return x === null || !Number.isFinite(x) ? "" : String(Number(x.toPrecision(7)));
}

// Very small p-values are no floating-point numbers any more.
function csvP(logP) {
  if (logP === null) return "0";
  if (logP > -300) return String(Number((10 ** logP).toPrecision(4)));
  const power = Math.floor(logP);
  return `${(10 ** (logP - power)).toFixed(3)}e${power}`;
}

// rows: [point, entry] of each row; cells(i): its columns, or null if the page lacks them.
function csvOf(data, levels, rows, cells) {
  // On the page, long names are shortened.
  const full = (what, name) => (Object.hasOwn(data.full?.[what] || {}, name) ? data.full[what][name] : name);
  const columns = data.columns.map((name) => full("columns", name));
  const heads = ["row", ...(data.label ? ["label"] : []), "kind", "p_value", "excess", "score_distance",
    "orthogonal_distance", "column", "value", "fits", "reason", ...columns];
  const lines = [heads.map(csvText).join(",")];
  for (const [i, entry] of rows) {
    const { score, off, excess } = levels.distances(i, entry);
    const own = cells(i);
    lines.push([
      csvText(full("rows", data.id[i])),
      ...(data.label ? [csvText(full("labels", data.labels[data.label[i]]))] : []),
      data.kinds[levels.kind(i)].name,
      csvP(data.logP[entry]),
      ...[excess, score, off].map(csvNumber),
      csvText(columns[data.column[entry]]),
      csvNumber(data.value[entry]),
      csvNumber(data.fits[entry]),
      csvText(data.because[entry]),
      ...data.columns.map((_, j) => (own ? csvNumber(own.values[j]) : "")),
    ].join(","));
  }
  return `${lines.join("\r\n")}\r\n`;
}

function listenToDownload(data, levels, table, profile) {
  const button = byId("download");
  button.addEventListener("click", () => {
    const rows = table.flagged();
    const whole = rows.filter(([i]) => profile.cells(i)).length;
    const text = csvOf(data, levels, rows, profile.cells);
    const link = node("a");
    link.href = URL.createObjectURL(new Blob([UTF8, text], { type: "text/csv;charset=utf-8" }));
    link.download = `flagged-rows-level-${levels.stop().level}.csv`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    const all = whole === rows.length ? "with all columns" : `${count(whole)} of them with all columns`;
    byId("download-said").textContent = `${count(rows.length)} ${rows.length === 1 ? "row" : "rows"} written, ${all}. ${levels.stop().missing}`;
  });
  levels.onChange(() => { byId("download-said").textContent = ""; });
}
