"""What every figure of quality must keep, and what it should reach one day.

Values were measured with seed 0 and one BLAS thread. The margin is for rounding on
other machines, not for other seeds. When a figure gets better, move its floor.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Floor:
    """A figure, its value when it was last moved, and how far it may be from it.

    `better` is the direction, `goal` a better value that was once reached, or that
    another method reaches, and `why` says who or when.
    """

    name: str
    better: str
    value: float
    margin: float
    goal: float | None = None
    why: str = ""

    @property
    def limit(self):
        """The worst value that passes."""
        return self.value + (self.margin if self.better == "low" else -self.margin)

    def holds(self, value):
        """Whether a value passes; NaN never does."""
        return value <= self.limit if self.better == "low" else value >= self.limit

    def line(self, value):
        """Name, value, limit and goal, for people."""
        sign = "<=" if self.better == "low" else ">="
        goal = "" if self.goal is None else f"; goal {self.goal:g}: {self.why}"
        return f"{self.name}: {value:.4g} ({sign} {self.limit:.4g}{goal})"


FLOORS = (
    Floor(
        "efficiency on clean rows",
        "high",
        0.9156,
        0.01,
        0.992,
        "it had at commit dcb4c0e",
    ),
    Floor("near cluster of 45 %: worst angle", "low", 3.965, 0.08),
    Floor(
        "t with 2 df: median angle",
        "low",
        3.026,
        0.06,
        2.96,
        "rrcov's ROBPCA, seeds 0 to 19",
    ),
    Floor(
        "55 % scattered rows: median angle",
        "low",
        83.26,
        1.67,
        1,
        "Tyler's M-estimator",
    ),
    Floor("p-values: distance from uniform", "low", 0.02744, 0.01),
    Floor("p-values: below .01, %", "low", 0.8, 0.3),
    Floor(
        "wine, draws of 95 %: spread of flags", "low", 62, 6, 3, "a sketch of 75 lines"
    ),
    Floor(
        "24 rows, 4 of them bad: F1",
        "high",
        0.9641,
        0.01,
        1,
        "it had at commit dcb4c0e",
    ),
    Floor("20 % missing: angle", "low", 2.901, 0.06),
    Floor("20 % missing: error of filled cells", "low", 0.3387, 0.01),
    Floor(
        "10 % wrong cells: angle",
        "low",
        2.477,
        0.05,
        2.387,
        "before cells had one limit per column and side",
    ),
    Floor("10 % wrong cells: of these found", "high", 1, 0.01),
    Floor("20 x 300, 5 % wrong cells: mean angle", "low", 51.29, 1.04),
    Floor("100 x 200, holes, wrong cells, bad rows: mean angle", "low", 11.59, 0.25),
    Floor("100 x 200, 20% cells at 3 sds, 0% missing: median angle", "low", 9.551, 0.2),
    Floor("100 x 200, 30% cells at 6 sds, 0% missing: median angle", "low", 9.588, 0.2),
    Floor(
        "100 x 200, 20% cells at 3 sds, 20% missing: median angle", "low", 11.12, 0.25
    ),
    Floor("CPU time over PCA's, 500 x 20", "low", 42, 126),
    Floor("CPU time over PCA's, 20,000 x 50", "low", 15, 45),
    Floor(
        "UMIST: error over that of PCA on good images",
        "low",
        1.075,
        0.01,
        1.005,
        "it had at commit dcb4c0e",
    ),
    Floor(
        "UMIST: bad images found", "high", 0.8333, 0.01, 1, "it had at commit dcb4c0e"
    ),
    Floor("textbook tables: AUC", "high", 1, 0.01),
    Floor("textbook tables: F1", "high", 0.9106, 0.01, 0.924, "rrcov's ROBPCA"),
    Floor(
        "textbook tables: false alarms", "low", 0.02131, 0.01, 0.016, "rrcov's ROBPCA"
    ),
    Floor("six real tables: AUC", "high", 0.8501, 0.01),
    Floor("six real tables: found", "high", 0.55, 0.01),
    Floor("six real tables: false alarms", "low", 0.1039, 0.01, 0.09, "wanted"),
    Floor("ten of macrOData: AUC", "high", 0.7248, 0.01),
    Floor("ten of macrOData: found", "high", 0.3724, 0.01),
    Floor("ten of macrOData: false alarms", "low", 0.1725, 0.01, 0.12, "wanted"),
)
