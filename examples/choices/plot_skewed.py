"""Are the largest values outliers, or is the column skewed?
============================================================

Prices, areas and incomes of 500 houses are skewed: a few are large, and none of those
is wrong. Five houses have a price that is ten times too small: a slip of the decimal
point.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline

from trueaxis import DSWL, TableEncoder

rng = np.random.default_rng(1)
size = rng.normal(0, 0.7, 500)
table = pd.DataFrame(
    {
        "price": np.exp(12.5 + size + rng.normal(0, 0.2, 500)),
        "area": np.exp(4.8 + 0.8 * size + rng.normal(0, 0.15, 500)),
        "income": np.exp(10.8 + 0.9 * size + rng.normal(0, 0.25, 500)),
    }
)
slip = np.arange(500) < 5
table.loc[slip, "price"] /= 10

choices = {"as it is": (), "two logarithms": ["price", "area"]}
choices |= {"all logarithms": list(table)}
figure, axes = plt.subplots(1, 2, figsize=(5.2, 3.4), layout="constrained")
panels = dict(zip(["as it is", "all logarithms"], axes, strict=True))
for name, log in choices.items():
    model = make_pipeline(TableEncoder(log=log, scale="robust"), DSWL(1)).fit(table)
    flagged = model.predict(table) < 0
    print(
        f"{name}: {len(model[0].log_)} logarithms, {flagged[slip].sum()} of 5", end=" "
    )
    print(f"slips are flagged, and {flagged[~slip].sum()} of 495 others")
    for rows, look, label in (
        (~flagged, {"marker": ".", "color": "0.6"}, "regular"),
        (flagged & ~slip, {"marker": "s", "color": "#0072b2", "ec": "k"}, "flagged"),
        (slip, {"marker": "^", "color": "#d55e00", "ec": "k"}, "slip"),
    ):
        if ax := panels.get(name):
            some = table[rows]
            ax.scatter(some.area, some.price / 1000, s=24, label=label, **look)
            ax.set(title=name, xlabel="area", ylabel="price (thousands)")
ax.set(xscale="log", yscale="log")
ax.set_xticks([50, 100, 200, 500], [50, 100, 200, 500])
ax.minorticks_off()
figure.suptitle("Who is flagged, without and with logarithms")
figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=3)

# %%
# The column is skewed, and on logarithms all 5 slips are flagged instead of 3, and 10
# of 495 others instead of 15. But logarithms of only two of the three columns make it
# worse: the relation between a logarithm and a plain number is bent, so that 31
# others are flagged. Name all columns of a kind.
