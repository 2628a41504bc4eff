"""The methods that the paper compares DSWL with, one module per family."""

from trueaxis.core.rules import Rule
from trueaxis.dswl.estimator import DSWL
from trueaxis.methods.l1 import L1PCA
from trueaxis.methods.lowrank import PCP, RRPCP, SPCP
from trueaxis.methods.pairwise import WeightedPCA
from trueaxis.methods.residual import R1PCA, RPCAOM, L2pPCA
from trueaxis.methods.retained import RPCADI, AnglePCA, L21MaxPCA
from trueaxis.methods.reweighted import PlainPCA, ReweightedPCA
from trueaxis.methods.selection import DRPCA, RPCARP, RWLAN, TRPCA
from trueaxis.methods.signs import PCAL1, PCAL1NonGreedy, PCALp
from trueaxis.methods.sparse import RSPCA
from trueaxis.methods.two_way import TwoWayPCA

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
    "DRPCA",
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
    "Rule",
    "SPCP",
    "TRPCA",
    "TwoWayPCA",
    "WeightedPCA",
]
