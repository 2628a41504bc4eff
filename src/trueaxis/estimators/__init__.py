"""The estimators, one module per family of methods, and their names."""

from trueaxis.estimators.columns import RSPCA, TwoWayPCA
from trueaxis.estimators.dswl import DSWL
from trueaxis.estimators.encoder import TableEncoder
from trueaxis.estimators.l1 import L1PCA
from trueaxis.estimators.lowrank import PCP, RRPCP, SPCP
from trueaxis.estimators.pairwise import WeightedPCA
from trueaxis.estimators.residual import R1PCA, RPCAOM, L2pPCA
from trueaxis.estimators.retained import RPCADI, AnglePCA, L21MaxPCA
from trueaxis.estimators.reweighted import PlainPCA, ReweightedPCA
from trueaxis.estimators.scaler import ColumnScaler
from trueaxis.estimators.selection import DRPCA, RPCARP, RWLAN, TRPCA
from trueaxis.estimators.signs import PCAL1, PCAL1NonGreedy, PCALp

METHODS = {
    "pca": PlainPCA,
    "dswl": DSWL,
    "pca-l1": PCAL1,
    "pca-l1-nongreedy": PCAL1NonGreedy,
    "pca-lp": PCALp,
    "r1-pca": R1PCA,
    "l2p-pca": L2pPCA,
    "rpca-om": RPCAOM,
    "rpca-di": RPCADI,
    "angle-pca": AnglePCA,
    "l21-max": L21MaxPCA,
    "l1-pca": L1PCA,
    "weighted-pca": WeightedPCA,
    "rwl-an": RWLAN,
    "t-rpca": TRPCA,
    "drpca": DRPCA,
    "rpca-rp": RPCARP,
    "rspca": RSPCA,
    "two-way": TwoWayPCA,
    "pcp": PCP,
    "spcp": SPCP,
    "rrpcp": RRPCP,
}

__all__ = [
    "AnglePCA",
    "ColumnScaler",
    "DRPCA",
    "DSWL",
    "L1PCA",
    "L21MaxPCA",
    "L2pPCA",
    "METHODS",
    "PCAL1",
    "PCAL1NonGreedy",
    "PCALp",
    "PCP",
    "PlainPCA",
    "R1PCA",
    "RPCADI",
    "RPCAOM",
    "RPCARP",
    "RRPCP",
    "RSPCA",
    "RWLAN",
    "ReweightedPCA",
    "SPCP",
    "TRPCA",
    "TableEncoder",
    "TwoWayPCA",
    "WeightedPCA",
]
