"""Use DSWL in a scikit-learn pipeline, on a table with a unit error.

Run with: python examples/pipeline.py
"""

import numpy as np
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import RobustScaler

from trueaxis import DSWL

X, y = load_wine(return_X_y=True)
rng = np.random.default_rng(0)
wrong = rng.permutation(len(X))[:18]
X[wrong, 3:7] *= 10  # four columns of a tenth of the rows in another unit

for name, reducer in [("plain PCA", PCA(3)), ("DSWL", DSWL(3))]:
    pipeline = make_pipeline(RobustScaler(), reducer, KNeighborsClassifier(1))
    accuracy = cross_val_score(pipeline, X, y, cv=10).mean()
    print(f"{name:10s} 10-fold accuracy of 1-NN on 3 components: {accuracy:.3f}")

search = GridSearchCV(
    make_pipeline(RobustScaler(), DSWL(), KNeighborsClassifier(1)),
    {"dswl__n_components": [2, 3, 5], "dswl__trust": [0.5, 0.8]},
    cv=5,
).fit(X, y)
print("best parameters:", search.best_params_)

model = DSWL(3).fit(RobustScaler().fit_transform(X))
flagged = np.flatnonzero(~model.support_)
hits = np.isin(wrong, flagged).sum()
print(f"{len(flagged)} rows flagged, among them {hits} of the {len(wrong)} wrong ones")
