"""WRITE the section on UCI data sets: the paper's numbers, ours, tests, verdicts."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from trueaxis.reproduction.methods import AUTOMATIC, NAMES, PUBLISHED
from trueaxis.reproduction.significance import LEVEL, table, verdict_table
from trueaxis.reproduction.study import Results
from trueaxis.reproduction.uci.class_leak import leak_section
from trueaxis.reproduction.uci.printed import KS, METHODS, accuracies
from trueaxis.reproduction.uci.study import ORACLE, UciStudy
from trueaxis.reproduction.uci.summary import (
    ALL,
    DRAWS,
    UciSummary,
    duel,
    printed_cases,
    printed_gain,
    verdicts,
)

WORDS = {
    "accuracy": "accuracy, all rows contaminated",
    "accuracy_training_only": "accuracy, training folds only",
    "angle": "angle to PCA on clean rows",
    "lost": "clean variance lost",
}


def section(study: UciStudy, results: Results) -> str:
    """Write it all."""
    summary = UciSummary.of(results)
    parts = [
        "## UCI data sets\n",
        _protocol(study, summary),
        RULES,
        *(part for k in KS for part in _beside_paper(summary, k)),
        "### Training folds only\n",
        "The same fits, tested on rows that are not contaminated. Accuracy in percent "
        "with 1 / 3 / 5 components:\n",
        _three(summary, "accuracy_training_only", "{:.1f}"),
        "### The sharp measure\n",
        "Largest angle, in degrees, between each fit and PCA on the clean training "
        "rows, with 1 / 3 / 5 components:\n",
        _three(summary, "angle", "{:.0f}", NAMES),
        "Where two variances of the clean data are close, or one natural outlier makes "
        "an axis (Ecoli has a column that is constant in all rows but one), the axes "
        "of clean PCA are themselves a matter of chance, and all angles large. The "
        "variance of the clean rows that a fit loses, in percent of what clean PCA "
        "keeps, does not suffer from this:\n",
        _three(summary, "lost", "{:.1f}", NAMES),
        "Distance of the mean from that of the clean training rows, in standard "
        "deviations (RPCA-OM leaves open where in its subspace the mean lies):\n",
        _three(summary, "mean_error", "{:.2f}", NAMES),
        "### Ranks\n",
        _ranks(summary),
        "### Gain over plain PCA\n",
        _gains(summary),
        "### What beats automatic DSWL\n",
        *(_duels(summary, measure) for measure in WORDS),
        "### Verdicts\n",
        "A claim holds if the whole 95 % interval of its number agrees, does not hold "
        "if none of it does, and cannot be told otherwise; intervals come from drawing "
        f"the seeds anew {DRAWS} times. They say nothing about other data sets (for "
        "that see the critical difference), and are not corrected for the number of "
        "claims. Cases are data sets times numbers of components, among the five "
        "methods of the printed table.\n",
        verdict_table(verdicts(summary)),
        _own_claim(summary),
        leak_section(summary, results),
        _stuck(results),
    ]
    return "\n".join(part for part in parts if part)


def _protocol(study: UciStudy, summary: UciSummary) -> str:
    missing = ""
    if study.missing:
        missing = (
            f" **Not available here and left out: {', '.join(study.missing)}.** "
            "Averages, ranks and the paper's figures below are over the others."
        )
    return (
        f"1-NN, {study.n_folds} folds, {summary.n_seeds} seeds, each with folds and "
        "contamination of its own; mean and standard error over the seeds. The paper "
        "leaves the order of scaling and contamination open. Here rows are z-scored by "
        "the clean training rows of the fold, then a quarter of all rows is damaged. "
        "That fits the paper's numbers best: in a trial with 3 seeds, "
        "PCA, PCA-L1, R1-PCA and RPCA-DI differed from the printed accuracies on nine "
        "sets by 4.2 points on average, against 9.8 with damage before scaling and 9.4 "
        "without scaling (4.3 if the scale is that of all clean rows). Fits "
        "see damaged training rows and no test row. Shuffled rows are dealt to the "
        "folds class after class; a class with fewer rows than folds is missing in "
        "some of them. Temperatures of DSWL as published are chosen once for each data "
        "set, on training rows of one fold and without labels (see "
        f"`trueaxis.reproduction.methods.temperatures`).{missing}\n"
    )


# Said because it matters for the comparison of the two DSWLs, and cannot be computed
# from the results.
RULES = (
    "How that rule was found: three were tried (median of the held-out residuals; the "
    "bounded loss now used; 1-NN accuracy on training labels) and compared on one seed "
    "and three folds of every data set, with test accuracy and angles in view. So the "
    "rule itself was chosen with a look at rows that are tested here, and favours DSWL "
    "as published. It decides which DSWL leads by accuracy: a run of 4 seeds with the "
    "median rule gave average ranks of 4.10 (as published) and 2.10 (automatic). "
    "Automatic DSWL was not changed for this study.\n"
)


def _title(name: str) -> str:
    return name.replace("_", " ").title().replace("Bupa", "BUPA")


def _beside_paper(summary: UciSummary, k: int) -> list[str]:
    paper, j = accuracies(list(summary.sets)), KS.index(k)
    means = {m: summary.mean("accuracy", m)[:, j] for m in ALL}
    errors = {m: summary.error("accuracy", m)[:, j] for m in ALL}
    rows = []
    for i, name in enumerate(summary.sets):
        cells = [_title(name)]
        for method in ALL:
            ours = f"{means[method][i]:.1f} ± {errors[method][i]:.1f}"
            if method in METHODS:
                printed = paper[i, METHODS.index(method), j]
                gap = means[method][i] - printed
                ours = f"{printed:.1f} → {ours} ({gap:+.1f})"
            cells.append(ours)
        rows.append(cells)
    cells = ["**mean**"]
    for method in ALL:
        ours = f"{means[method].mean():.1f}"
        if method in METHODS:
            printed = paper[:, METHODS.index(method), j].mean()
            ours = f"{printed:.1f} → {ours} ({means[method].mean() - printed:+.1f})"
        cells.append(ours)
    return [
        f"### Accuracy with {k} component{'s' if k > 1 else ''}\n",
        "Printed → ours ± standard error (difference), all rows contaminated:\n",
        table(["", *ALL], [*rows, cells]),
    ]


def _three(
    summary: UciSummary, measure: str, form: str, methods: tuple[str, ...] = ALL
) -> str:
    def cell(values: NDArray[Any]) -> str:
        # Rounded first, and 0 added: no number is shown as -0.0.
        return " / ".join(form.format(round(x, 3) + 0.0) for x in values)

    means = {m: summary.mean(measure, m) for m in methods}
    rows = [
        [_title(name), *(cell(means[m][i]) for m in methods)]
        for i, name in enumerate(summary.sets)
    ]
    rows.append(["**mean**", *(cell(means[m].mean(axis=0)) for m in methods)])
    return table(["", *methods], rows)


def _ranks(summary: UciSummary) -> str:
    choices: list[tuple[str, int | None]] = [(m, k) for m in WORDS for k in (*KS, None)]
    found = {choice: summary.ranking(*choice) for choice in choices}
    text = [
        f"Average ranks over {len(summary.sets)} data sets, 1 the best; Friedman's "
        "test; Wilcoxon's test of each method against automatic DSWL, corrected by "
        "Holm, where it is below 5 %. Two ranks differ (Nemenyi, 5 %) if they are "
        f"{found[choices[0]].critical:.2f} apart. 'All': the mean of the measure over "
        "the numbers of components.\n"
    ]
    for measure, words in WORDS.items():
        columns = [found[measure, k] for k in (*KS, None)]
        rows = []
        for name in NAMES:
            cells = [name]
            for ranks in columns:
                p = ranks.against.get(name, 1.0)
                sure = f" (p = {p:.3f})" if p < LEVEL else ""
                best = ranks.ranks[name] == min(ranks.ranks.values())
                number = f"{ranks.ranks[name]:.2f}"
                cells.append((f"**{number}**" if best else number) + sure)
            rows.append(cells)
        rows.append(["Friedman's p", *(f"{ranks.p:.2g}" for ranks in columns)])
        text.append(table([words, *(f"k = {k}" for k in KS), "all"], rows))
    return "\n".join(text)


def _gains(summary: UciSummary) -> str:
    nine = summary.without("bupa")
    paper = printed_gain(summary.sets)
    rows = [["printed, DSWL", *(f"{x:+.1f}" for x in paper), "", "", ""]]
    for method in ALL[1:]:
        cells = [method]
        for measure in ("accuracy", "accuracy_training_only"):
            cells += [f"{x:+.1f}" for x in nine.gain(method, measure)]
        rows.append(cells)
    head = ["points", *(f"all, k = {k}" for k in KS)]
    head += [f"training only, k = {k}" for k in KS]
    ours, clean = nine.gain(AUTOMATIC), nine.gain(ORACLE)
    said = "; ".join(
        f"k = {k}: {x:+.1f}, {'reached' if x >= least else 'not reached'} (printed "
        f"{least:+.1f}, PCA on clean rows {top:+.1f})"
        for k, x, least, top in zip(KS, ours, paper, clean, strict=True)
    )
    return (
        f"Mean over {len(nine.sets)} data sets (without BUPA):\n\n{table(head, rows)}\n"
        f"Automatic DSWL with all rows contaminated: {said}. PCA on the clean rows is "
        "what a fit would be that the damage did not touch; by accuracy it need not be "
        "the best. This table does not tell why a method falls short of it or of the "
        "printed gain. Intervals are among the verdicts.\n"
    )


def _duels(summary: UciSummary, measure: str) -> str:
    found = {m: duel(summary, measure, m) for m in NAMES[:-1]}
    unit = " points" if measure.startswith("accuracy") else "°"
    unit = " %" if measure == "lost" else unit
    rows = [
        [
            method,
            str(d.better),
            str(d.worse),
            f"{d.mean:+.1f}{unit}",
            f"{d.most:+.1f}{unit} ({d.where})",
        ]
        for method, d in found.items()
    ]
    ahead = [m for m, d in found.items() if d.mean > 0]
    said = (
        "better on average than automatic DSWL: "
        + ", ".join(f"{m} by {found[m].mean:.1f}{unit}" for m in ahead)
        if ahead
        else "no method is better on average than automatic DSWL"
    )
    n = len(summary.sets) * len(KS)
    head = [f"of {n} cases", "better", "worse", "mean advantage", "largest advantage"]
    words = WORDS[measure]
    return (
        f"By {words}: {said}. Cases in which each is better or worse than automatic "
        f"DSWL by more than two standard errors:\n\n{table(head, rows)}"
    )


def _own_claim(summary: UciSummary) -> str:
    best, third = printed_cases(summary.sets)
    n = len(summary.sets) * len(KS)
    return (
        f"The printed table itself: RPCA-DSWL is best (or equal) in {best} of {n} "
        f"cases and third or worse in {third}.\n"
    )


def _stuck(results: Results) -> str:
    rows = results.rows
    n = sum(row["method"] == PUBLISHED for row in rows)
    said = []
    for name in NAMES:
        some = sum(row["method"] == name and not row["converged"] for row in rows)
        if some:
            said.append(f"{name} {some}")
    return f"Fits that did not converge, of {n}: {', '.join(said) or 'none'}.\n"
