"""Who did not read the questions?
==================================

Twelve answers from 1 to 5, the age and the region of 400 people. Fifteen of them ticked
anything without reading, and five ticked 3 throughout. ``TableEncoder`` turns region
into indicators, leaves out the number of the form, and puts all columns on one scale.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline

from trueaxis import DSWL, TableEncoder
from trueaxis.diagnostics import diagnose

rng = np.random.default_rng(0)
n = 400
opinion = rng.standard_normal((n, 2))
sign = rng.choice([-1, 1], 12)  # some questions are asked the other way round
asked = np.repeat(np.eye(2), 6, axis=0).T * sign
latent = 3 + opinion @ asked * 0.9 + rng.normal(0, 0.45, (n, 12))
answers = latent.round().clip(1, 5)
careless, lazy = np.arange(n) >= n - 15, np.arange(n) < 5
answers[careless] = rng.integers(1, 6, (15, 12))
answers[lazy] = 3
table = pd.DataFrame(answers, columns=[f"q{i}" for i in range(1, 13)])
table["form"] = np.arange(1, n + 1)
table["age"] = rng.integers(18, 80, n)
table["region"] = rng.choice(["north", "south", "west"], n)

model = make_pipeline(TableEncoder(categories=True), DSWL(2)).fit(table)
print(model[0].notes_[0])
print(f"{model[0].get_feature_names_out()[-3:].tolist()} are indicators")
flagged = model.predict(table) < 0
rest = ~careless & ~lazy
for rows, name in ((careless, "careless"), (lazy, "lazy"), (rest, "other")):
    print(f"{flagged[rows].sum()} of {rows.sum()} {name} forms are flagged")
found = diagnose(model, table)
worst = np.argsort(-found.orthogonal)[:15]
print(f"of the 15 forms farthest off, {careless[worst].sum()} are careless")

figure, ax = plt.subplots(figsize=(5.2, 3.6), layout="constrained")
bins = np.linspace(0, found.orthogonal.max(), 30)
for rows, name, hatch in ((~careless, "careful", ""), (careless, "careless", "//")):
    ax.hist(found.orthogonal[rows], bins, alpha=0.75, hatch=hatch, label=name)
ax.axvline(found.cutoffs.orthogonal, color="k", ls="--", label="cut-off")
ax.set(xlabel="orthogonal distance: answers contradict each other", ylabel="forms")
ax.set(title="Careless forms do not fit the two opinions", yscale="log")
ax.legend(frameon=False)

# %%
# 14 of the 15 careless forms are flagged, because their answers contradict each other,
# and 0 of 380 others. But 0 of the 5 lazy ones are: who ticks the middle throughout is
# in the center of the cloud, as regular as can be. For them, count equal answers
# instead.
