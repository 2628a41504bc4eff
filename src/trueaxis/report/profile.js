// The profile of a row: every column, its value, what would fit, and the deviation.

const ODD = 3; // deviations beyond this many standard deviations are marked
const FULL = 6; // deviations of this size fill the bar, as in the cell map
const SHOWN_COLUMNS = 20; // until all are asked for

function makeProfile(data, { entryOf, onMap, onTable }) {
  const D = data.columns.length;
  const { scoreParts, offParts } = data.profiles;
  const values = unpack(data.profiles.values, Int32Array);
  const fits = unpack(data.profiles.fits, Int32Array);
  const deviations = unpackBent(data.profiles.deviations);
  const positions = positionsOf(data);
  const [worst] = data.listed, [profiledWorst, profiledNear] = data.profiled;

  // The place of a row among the profiles; -1 if it has none.
  function placeOf(i) {
    const entry = entryOf(i);
    if (entry >= 0 && entry < profiledWorst) return entry;
    const near = entry - worst;
    return near >= 0 && near < profiledNear ? profiledWorst + near : -1;
  }

  // All columns of a row; null if the page does not hold them.
  function cells(i) {
    const place = placeOf(i);
    if (place < 0) return null;
    const part = (all) => all.slice(place * D, (place + 1) * D);
    const numbers = (all) => Float64Array.from(part(all), decimal);
    const own = { place, values: numbers(values), fits: numbers(fits), deviations: part(deviations) };
    own.values.forEach((x, j) => { if (Number.isNaN(x)) own.deviations[j] = NaN; });
    return own;
  }

  function head(i) {
    const title = node("h3");
    title.append("All columns of row ", node("bdi", data.id[i]));
    return title;
  }

  function table(i, own) {
    const box = node("div", undefined, "box profile-box");
    box.tabIndex = 0;
    box.setAttribute("role", "region");
    box.setAttribute("aria-label", `All columns of row ${data.id[i]}`);
    const made = node("table", undefined, "small profile-table");
    const caption = node("caption", "Largest deviations first, in standard deviations of regular rows. ", "quiet");
    caption.append("Bars: ", node("b", "blue", "low"), " is too low, ", node("b", "red", "high"),
      ` too high; those with a point are cut at ${FULL}.`);
    made.append(caption);
    const heads = node("tr");
    for (const [text, className] of [["Column"], ["Value", "number"], ["Would fit", "number"], ["Deviation", "number"], [""]]) {
      const th = node(text ? "th" : "td", text, className);
      if (text) th.scope = "col";
      heads.append(th);
    }
    const thead = node("thead"), tbody = node("tbody");
    thead.append(heads);
    bySize(own.deviations).forEach((j, place) => {
      const tr = node("tr", undefined, Math.abs(own.deviations[j]) > ODD ? "odd" : "");
      if (place >= SHOWN_COLUMNS) tr.classList.add("extra");
      const th = node("th");
      th.scope = "row";
      th.append(node("bdi", data.columns[j]));
      const bar = node("td", undefined, "bar-cell");
      bar.append(twoSided(own.deviations[j] / FULL, own.deviations[j] < 0 ? "low" : "high"));
      tr.append(th, node("td", formatNumber(own.values[j]), "number"), node("td", formatNumber(own.fits[j]), "number"),
        node("td", formatDeviation(own.deviations[j]), "number"), bar);
      tbody.append(tr);
    });
    made.append(thead, tbody);
    box.append(made);
    if (D > SHOWN_COLUMNS) box.append(moreColumns(made));
    return box;
  }

  function moreColumns(made) {
    const more = node("button", `Show all ${count(D)} columns`);
    more.type = "button";
    more.addEventListener("click", () => {
      const short = made.classList.toggle("short");
      more.textContent = short ? `Show all ${count(D)} columns` : `Show the ${SHOWN_COLUMNS} largest`;
    });
    made.classList.add("short");
    return more;
  }

  function fold(title, ...parts) {
    const made = node("details");
    made.append(node("summary", title), ...parts);
    return made;
  }

  // `flat` alternates columns and shares; column -1 stands for all others.
  function parts(heading, flat) {
    const made = node("div");
    const shares = flat.filter((_, j) => j % 2);
    const names = shares.map((_, j) => (flat[2 * j] < 0 ? "all other columns" : data.columns[flat[2 * j]]));
    made.append(node("h4", heading));
    if (shares.every((share) => share === 0)) made.append(node("p", "There are no contributions to show.", "quiet"));
    else made.append(barList(names, shares, shares.map((_, j) => j), (share) => minus(`${share.toFixed(1)}%`)));
    return made;
  }

  // Show a row in an element; `inTable` if that is a part of the table.
  function show(host, i, inTable) {
    host.replaceChildren();
    if (i < 0) return;
    const own = cells(i);
    if (!inTable) host.append(head(i));
    if (own) {
      const contributions = node("div", undefined, "lists");
      contributions.append(
        parts("Contributions to the orthogonal distance", offParts[own.place]),
        parts("Contributions to the score distance", scoreParts[own.place]));
      const folded = fold("What the columns contribute to the distances", contributions);
      if (positions) {
        const curve = node("div", undefined, "curve");
        const key = node("p", undefined, "quiet curve-key");
        key.append(node("i", undefined, "row-key"), " this row ", node("i", undefined, "fit-key"), " what would fit in each column");
        host.append(curve, key, fold("All columns as a table", table(i, own)), folded);
        const odd = bySize(own.deviations).slice(0, 3).map((j) => `${data.columns[j]} (${formatDeviation(own.deviations[j])})`);
        curves(curve, positions, [
          { title: "value", high: 180, lines: [{ values: own.fits, className: "fit-line" }, { values: own.values, className: "row-line" }] },
          { title: "deviation, in standard deviations of regular rows", high: 90, levels: [-ODD, 0, ODD], lines: [{ values: own.deviations, className: "row-line" }] },
        ], `Row ${data.id[i]} and what would fit, column by column. Largest deviations: ${odd.join(", ")}`);
      } else host.append(table(i, own), folded);
    } else {
      host.append(node("p", `The page holds all columns of the ${count(profiledWorst)} worst flagged rows and of the ${count(profiledNear)} regular rows nearest to the line. This row is not one of them.`, "quiet"));
    }
    const button = node("button", inTable ? "Show on the map" : "Show in the table");
    button.type = "button";
    button.addEventListener("click", () => (inTable ? onMap(i) : onTable(i)));
    if (inTable || entryOf(i) >= 0) host.append(button);
  }
  return { show, cells };
}
