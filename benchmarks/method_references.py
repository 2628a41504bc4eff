"""Published algorithms as a reader of the papers would write them, for `method_speed`.

They are peers of the methods that no installable package offers: plain NumPy, the same
start, center, constants and tolerance as ours, no verdicts. Each returns center and
components. Notation: v, e squared distances inside and off the subspace.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

TOL, MOST = 1e-6, 5000


def leading(C: np.ndarray, k: int) -> np.ndarray:
    return np.linalg.eigh(C)[1][:, ::-1][:, :k].T


def plain(X: np.ndarray, k: int):
    m = X.mean(axis=0)
    return m, leading((X - m).T @ (X - m), k)


def distances(X: np.ndarray, m: np.ndarray, P: np.ndarray):
    Y = X - m
    v = ((Y @ P.T) ** 2).sum(axis=1)
    return v, np.maximum((Y**2).sum(axis=1) - v, 1e-10 * (Y**2).mean())


def turned(P: np.ndarray, Q: np.ndarray) -> float:
    return float(np.linalg.norm(P - P @ Q.T @ Q) / np.sqrt(len(P)))


def reweighted(X, k, weigh, *, center="mean", power=False, start=None):
    """Alternate between weights and the subspace of the weighted rows."""
    m, P = plain(X, k) if start is None else start
    for _ in range(MOST):
        w = weigh(*distances(X, m, P))
        if center == "weighted":
            m = w @ X / w.sum()
        elif center == "selected":
            m = X[w > 0].mean(axis=0)
        C = (X - m).T @ ((X - m) * w[:, None])
        before, P = P, np.linalg.qr(C @ P.T)[0].T if power else leading(C, k)
        if turned(P, before) <= TOL:
            break
    return m, P


def nearest(x: np.ndarray, q: int) -> np.ndarray:
    chosen = np.zeros(len(x))
    chosen[np.argsort(x, kind="stable")[:q]] = 1.0
    return chosen


def neighbours(e: np.ndarray, q: int) -> np.ndarray:
    edge = np.sort(e)[q]
    w = np.maximum(edge - e, 0.0)
    return w / w.sum()


def many_starts(X, k, weigh, loss, n_init, seed=0):
    """Return the best of plain PCA and of starts from k + 2 random rows."""
    rng = np.random.default_rng(seed)
    starts = [None] + [
        plain(X[rng.choice(len(X), k + 2, replace=False)], k) for _ in range(n_init - 1)
    ]
    ends = [reweighted(X, k, weigh, center="weighted", start=s) for s in starts]
    return min(ends, key=lambda end: loss(*distances(X, *end)))


def pca_l1(X, k):
    """Flip signs until they repeat, one component after the other (Kwak 2008)."""
    m = X.mean(axis=0)
    Y, axes = X - m, []
    for _ in range(k):
        w = Y[(Y**2).sum(axis=1).argmax()]
        signs = None
        while True:
            before, signs = signs, np.where(Y @ w >= 0, 1.0, -1.0)
            if before is not None and (signs == before).all():
                break
            w = signs @ Y
        axes.append(w / np.linalg.norm(w))
        Y = Y - np.outer(Y @ axes[-1], axes[-1])
    return m, np.array(axes)


def pca_l1_nongreedy(X, k):
    """Flip the signs of all components together (Nie 2011)."""
    m, P = plain(X, k)
    Y, signs = X - m, None
    for _ in range(MOST):
        before, signs = signs, np.sign(Y @ P.T)
        if before is not None and (signs == before).all():
            break
        U, _, Vt = np.linalg.svd(signs.T @ Y, full_matrices=False)
        P = U @ Vt
    return m, P


def pca_lp(X, k, p=0.5):
    """Follow the gradient, with steps shortened until they rise (Kwak 2013)."""
    m = X.mean(axis=0)
    Y, axes = X - m, []
    small = 1e-6 * np.sqrt((Y**2).sum(axis=1).mean())
    for _ in range(k):
        w = leading(Y.T @ Y, 1)[0]
        t = Y @ w
        value = ((t**2 + small**2) ** (p / 2)).sum()
        for _ in range(MOST):
            slope = (t * (t**2 + small**2) ** (p / 2 - 1)) @ Y
            slope /= np.linalg.norm(slope)
            damping = 0.0
            while True:
                new = slope + damping * w
                new /= np.linalg.norm(new)
                t = Y @ new
                reached = ((t**2 + small**2) ** (p / 2)).sum()
                if reached >= value or damping > 1e12:
                    break
                damping = max(0.25, 2 * damping)
            moved, w, value = np.linalg.norm(new - w), new, reached
            if moved <= TOL:
                break
        axes.append(w)
        Y = Y - np.outer(Y @ w, w)
    return m, np.array(axes)


def weighted_pca(X, k):
    """Weight all pairs of rows by their inverse distance (Koren and Carmel 2004)."""
    apart = cdist(X, X)
    C = np.divide(1.0, apart, out=np.zeros_like(apart), where=apart > 0)
    laplacian = np.diag(C.sum(axis=1)) - C
    return X.mean(axis=0), leading(X.T @ laplacian @ X, k)


def two_way(X, k, floor=0.1):
    """Weight rows and columns alternately."""
    m, P = plain(X, k)
    g, D = np.ones(X.shape[1]), X.shape[1]
    root = np.sqrt(distances(X, m, P)[1])
    penalty = floor * 0.5 * root.sum() / D
    for _ in range(MOST):
        Z = (X - m) * np.sqrt(g)
        A = np.linalg.qr((P * np.sqrt(g)).T)[0].T
        c = 0.5 / np.sqrt(np.maximum(((Z - Z @ A.T @ A) ** 2).sum(axis=1), 1e-300))
        shift = c @ Z / c.sum()
        Z = Z - shift
        A = leading(Z.T @ (Z * c[:, None]), k)
        off = c @ (Z - Z @ A.T @ A) ** 2 / g + penalty
        m = m + shift / np.sqrt(g)
        before, P = P, np.linalg.qr((A / np.sqrt(g)).T)[0].T
        g = np.exp(np.log(off).mean()) / off
        if turned(P, before) <= TOL:
            break
    return m, P


def stable_pursuit(X, k, sigma, gam=np.inf):
    """Alternate exact proximal steps until nothing moves (Zhou 2010)."""
    mu, lam = sigma * np.sqrt(2 * max(X.shape)), 1 / np.sqrt(max(X.shape))
    L = S = rows = np.zeros_like(X)
    for _ in range(MOST):
        U, s, Vt = np.linalg.svd(X - S - rows, full_matrices=False)
        before, L = L, (U * np.maximum(s - mu, 0.0)) @ Vt
        left = X - L - rows
        S = np.sign(left) * np.maximum(np.abs(left) - lam * mu, 0.0)
        if np.isfinite(gam):
            length = np.linalg.norm(X - L - S, axis=1, keepdims=True)
            rows = (X - L - S) * np.maximum(1 - gam * mu / length, 0.0)
        if np.linalg.norm(L - before) <= TOL * np.linalg.norm(X):
            break
    return L, S, rows
