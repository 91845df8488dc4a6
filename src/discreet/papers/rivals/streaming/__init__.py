"""Rivals of StreamingLearner for linear regression with squared loss, as printed.

They are for comparison only, in floating point. Rows have unit l_q norm and targets are clipped to
±1, so on a ball of radius R a gradient has length at most L = 2(R + 1), the smoothness is β = 2 and
the diameter D = 2R: the default constants. The paper does not state its constants;
`UNIT` = (1, 1, 1) favours it most and is not sound. Each rival takes a `pace`, the factor of its
step length that the papers choose from a grid in hindsight. "Sound" refers to the default
constants.

Methods of Euclidean geometry measure the l_p ball in l_2: gradients up to d^max(0, 1/2 − 1/q)·L,
points up to d^max(0, 1/2 − 1/p)·D apart (`Euclidean`).

References  Han et al. (2022); Bassily, Guzmán, Nandi (2021), "Non-Euclidean Differentially Private
            Stochastic Convex Optimization"; Bassily, Feldman, Guzmán, Talwar (2020), "Stability of
            Stochastic Gradient Descent on Nonsmooth Convex Losses"; Asi, Feldman, Koren, Talwar
            (2021), "Private Stochastic Convex Optimization: Optimal Rates in l_1 Geometry"
"""

from discreet.papers.rivals.streaming.corners import noisy_sfw, published, published_by_lemma
from discreet.papers.rivals.streaming.descent import local_md, noisy_sgd
from discreet.papers.rivals.streaming.problem import UNIT, Euclidean, Rival

__all__ = [
    "RIVALS",
    "UNIT",
    "Euclidean",
    "local_md",
    "noisy_sfw",
    "noisy_sgd",
    "published",
    "published_by_lemma",
]

RIVALS: dict[str, Rival] = {
    "published": published,
    "published_by_lemma": published_by_lemma,
    "noisy_sfw": noisy_sfw,
    "noisy_sgd": noisy_sgd,
    "local_md": local_md,
}
