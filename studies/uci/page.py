"""Section of the page on UCI data sets: tables, tests, verdicts."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from studies.methods import AUTOMATIC, NAMES, PUBLISHED
from studies.significance import LEVEL, table, verdict_table
from studies.study import Results
from studies.uci.class_leak import leak_section
from studies.uci.printed import KS, METHODS, accuracies
from studies.uci.study import ORACLE, UciStudy
from studies.uci.summary import (
    ALL,
    DRAWS,
    UciSummary,
    compare_with_automatic,
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
    """Return the section in Markdown."""
    summary = UciSummary.of(results)
    parts = [
        "## UCI data sets\n",
        _protocol(study, summary),
        RULES,
        *(part for k in KS for part in _beside_paper(summary, k)),
        "### Training folds only\n",
        "The same fits, tested on rows without contamination. Accuracy in percent with "
        "1 / 3 / 5 components:\n",
        _three(summary, "accuracy_training_only", "{:.1f}"),
        "### Sharper measures\n",
        "Largest angle in degrees between each fit and PCA on the clean training rows, "
        "with 1 / 3 / 5 components:\n",
        _three(summary, "angle", "{:.0f}", NAMES),
        "Where two variances of the clean data are close, or a single natural outlier "
        "makes up an axis (Ecoli has a column that is constant except in one row), the "
        "axes of PCA on clean rows are themselves a matter of chance, and all angles "
        "are large. The variance of the clean rows that a fit loses, in percent of "
        "what PCA on clean rows keeps, does not have this problem:\n",
        _three(summary, "lost", "{:.1f}", NAMES),
        "Distance between the means of the fit and of the clean training rows, in "
        "standard deviations (RPCA-OM does not determine where in its subspace the "
        "mean lies):\n",
        _three(summary, "mean_error", "{:.2f}", NAMES),
        "### Ranks\n",
        _ranks(summary),
        "### Gain over plain PCA\n",
        _gains(summary),
        "### Methods against automatic DSWL\n",
        *(_comparisons(summary, measure) for measure in WORDS),
        "### Verdicts\n",
        "A claim holds if the whole 95 % interval of its number agrees, does not hold "
        "if no part of it does, and is undecided otherwise. Intervals are from "
        f"{DRAWS} bootstrap samples of the seeds. They do not extend to other data "
        "sets (for that, see the critical difference), and are not corrected for the "
        "number of claims. A case is a data set with a number of components, among the "
        "five methods of the printed table.\n",
        verdict_table(verdicts(summary)),
        _printed_ranks(summary),
        leak_section(summary, results),
        _not_converged(results),
    ]
    return "\n".join(part for part in parts if part)


def _protocol(study: UciStudy, summary: UciSummary) -> str:
    missing = ""
    if study.missing:
        missing = (
            f" **Not available here and left out: {', '.join(study.missing)}.** "
            "Averages, ranks and the paper's numbers below are for the other data sets."
        )
    return (
        f"Accuracy of 1-NN with {study.n_folds} folds and {summary.n_seeds} seeds, "
        "each with its own folds and contamination; mean and standard error over the "
        "seeds. The paper does not state the order of scaling and contamination. Here, "
        "rows are z-scored with the clean training rows of the fold, then a quarter of "
        "all rows is damaged. This order matches the paper's numbers best: in a trial "
        "with 3 seeds, PCA, PCA-L1, R1-PCA and RPCA-DI differed from the printed "
        "accuracies on nine sets by 4.2 points on average, against 9.8 with damage "
        "before scaling and 9.4 without scaling (4.3 when scaled with all clean rows). "
        "Fits see damaged training rows and no test rows. Shuffled rows are dealt to "
        "the folds class by class; a class with fewer rows than folds is missing from "
        "some of them. Temperatures of DSWL as published are chosen once for each data "
        "set, on training rows of one fold and without labels (see "
        f"`studies.methods.temperatures`).{missing}\n"
    )


# Needed to compare the two versions of DSWL fairly, and not visible in the results.
RULES = (
    "How the rule for temperatures was chosen: three rules were tried (median of the "
    "held-out residuals, the bounded loss now used, and 1-NN accuracy on training "
    "labels) and compared on one seed and three folds of every data set, by test "
    "accuracy and angles. So the choice of the rule used rows that are tested here, "
    "which favors DSWL as published. It decides which version of DSWL leads by "
    "accuracy: a run of 4 seeds with the median rule gave average ranks of 4.10 (as "
    "published) and 2.10 (automatic). Automatic DSWL was not changed for this study.\n"
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
        # Rounding first and adding 0 avoids -0.0.
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
    rankings = {choice: summary.ranking(*choice) for choice in choices}
    text = [
        f"Average ranks over {len(summary.sets)} data sets, where 1 is the best; p of "
        "Friedman's test; p of Wilcoxon's test of each method against automatic DSWL "
        "(corrected by Holm's method), if below 5 %. Two ranks differ (Nemenyi, 5 %) "
        f"if they are {rankings[choices[0]].critical:.2f} apart. 'All' ranks the mean "
        "of the measure over the numbers of components.\n"
    ]
    for measure, words in WORDS.items():
        columns = [rankings[measure, k] for k in (*KS, None)]
        rows = []
        for name in NAMES:
            cells = [name]
            for ranks in columns:
                p = ranks.against.get(name, 1.0)
                significant = f" (p = {p:.3f})" if p < LEVEL else ""
                best = ranks.ranks[name] == min(ranks.ranks.values())
                number = f"{ranks.ranks[name]:.2f}"
                cells.append((f"**{number}**" if best else number) + significant)
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
    listed = "; ".join(
        f"k = {k}: {x:+.1f}, {'reached' if x >= least else 'not reached'} (printed "
        f"{least:+.1f}, PCA on clean rows {top:+.1f})"
        for k, x, least, top in zip(KS, ours, paper, clean, strict=True)
    )
    return (
        f"Mean over {len(nine.sets)} data sets (without BUPA):\n\n{table(head, rows)}\n"
        "Whether automatic DSWL reaches the printed gain, with all rows contaminated: "
        f"{listed}. PCA on clean rows is a fit without any influence of the damage; it "
        "need not have the best accuracy. This table does not show why a method falls "
        "short of it or of the printed gain. For intervals, see the verdicts.\n"
    )


def _comparisons(summary: UciSummary, measure: str) -> str:
    compared = {m: compare_with_automatic(summary, measure, m) for m in NAMES[:-1]}
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
        for method, d in compared.items()
    ]
    ahead = [m for m, d in compared.items() if d.mean > 0]
    summary_line = (
        "better on average than automatic DSWL: "
        + ", ".join(f"{m} by {compared[m].mean:.1f}{unit}" for m in ahead)
        if ahead
        else "no method is better on average than automatic DSWL"
    )
    n = len(summary.sets) * len(KS)
    head = [f"of {n} cases", "better", "worse", "mean advantage", "largest advantage"]
    return (
        f"By {WORDS[measure]}: {summary_line}. Number of cases in which each method is "
        "better or worse than automatic DSWL by more than two standard errors:\n\n"
        f"{table(head, rows)}"
    )


def _printed_ranks(summary: UciSummary) -> str:
    best, third = printed_cases(summary.sets)
    n = len(summary.sets) * len(KS)
    return (
        f"In the printed table itself, RPCA-DSWL is best (or ties for it) in {best} of "
        f"{n} cases, and third or worse in {third}.\n"
    )


def _not_converged(results: Results) -> str:
    rows = results.rows
    n = sum(row["method"] == PUBLISHED for row in rows)
    listed = []
    for name in NAMES:
        some = sum(row["method"] == name and not row["converged"] for row in rows)
        if some:
            listed.append(f"{name} {some}")
    return f"Fits that did not converge, of {n}: {', '.join(listed) or 'none'}.\n"
