"""Does a robust reducer help a classifier?
===========================================

Wines of three growers, with four columns of a tenth of the rows in another unit. DSWL
is one step of a scikit-learn pipeline, so that cross-validation and grid search treat
it like any other.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import RobustScaler

from trueaxis import DSWL

X, y = load_wine(return_X_y=True)
wrong = np.random.default_rng(0).permutation(len(X))[:18]
damaged = X.copy()
damaged[wrong, 3:7] *= 10

accuracy = {}
for table, rows in (("clean", X), ("damaged", damaged)):
    for name, reducer in (("PCA", PCA(3)), ("DSWL", DSWL(3))):
        pipeline = make_pipeline(RobustScaler(), reducer, KNeighborsClassifier(1))
        scores = cross_val_score(pipeline, rows, y, cv=5)
        accuracy[f"{name},\n{table}"] = scores
        print(f"{name} on {table} rows: accuracy {scores.mean():.2f}")

figure, ax = plt.subplots(figsize=(5.2, 3.8), layout="constrained")
ax.boxplot(list(accuracy.values()), showmeans=True)
ax.set_xticks(range(1, 5), accuracy)
ax.set(ylabel="accuracy of 1-NN, 5 folds", title="Three components of the wines")

# %%
# Parameters of DSWL are reached by their names, as those of every step:

pipeline = make_pipeline(RobustScaler(), DSWL(), KNeighborsClassifier(1))
grid = {"dswl__n_components": [2, 3, 5], "dswl__trust": [0.5, 0.8]}
search = GridSearchCV(pipeline, grid, cv=5).fit(damaged, y)
print("best parameters:", search.best_params_)
model = DSWL(3).fit(RobustScaler().fit_transform(damaged))
flagged = ~model.support_
print(
    f"{flagged.sum()} rows are flagged, {flagged[wrong].sum()} of the {len(wrong)} bad"
)

# %%
# On damaged rows it does: 0.89 instead of 0.84. On clean rows it costs a little, 0.92
# instead of 0.94: the three growers are groups, and DSWL keeps to what most rows have
# in common. That is also why it flags 37 rows, the 18 bad ones among them.
