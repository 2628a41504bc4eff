"""Numbers printed in the paper about face images."""

from __future__ import annotations

TITLES = {
    "yale": "Yale",
    "yaleb": "Extended Yale B",
    "orl": "ORL",
    "umist": "UMIST",
}

# PSNR in dB of one reconstructed image of each set (k = 100).
PSNR = {
    "yale": {
        "pca": 21.25,
        "pca-l1": 21.24,
        "rpca-om": 21.47,
        "l2p-pca": 21.21,
        "rpca-di": 21.24,
        "dswl": 21.92,
    },
    "yaleb": {
        "pca": 24.33,
        "pca-l1": 24.32,
        "rpca-om": 29.55,
        "l2p-pca": 24.77,
        "rpca-di": 26.49,
        "dswl": 30.29,
    },
    "orl": {
        "pca": 21.78,
        "pca-l1": 21.78,
        "rpca-om": 21.69,
        "l2p-pca": 21.67,
        "rpca-di": 22.48,
        "dswl": 23.03,
    },
    "umist": {
        "pca": 22.92,
        "pca-l1": 22.91,
        "rpca-om": 21.49,
        "l2p-pca": 23.32,
        "rpca-di": 23.43,
        "dswl": 25.96,
    },
}


def gain(name: str) -> float:
    """Return by how much the printed PSNR of DSWL exceeds that of PCA, in dB."""
    return round(PSNR[name]["dswl"] - PSNR[name]["pca"], 2)
