"""Rivals of StreamingLearner for linear regression with squared loss, as they are printed.

For comparison only, in floating point. Rows have unit l_q norm, targets are clipped to ±1, so on a
ball of radius R a gradient is at most L = 2(R + 1) long, the smoothness is β = 2, the diameter D =
2R: the default. The paper does not state what it used; `UNIT` = (1, 1, 1) is what favours it most,
and not sound. Each rival takes a `pace`, the factor of its step length that the papers choose from
a grid in hindsight. "Sound" is meant with the default constants.

Methods of Euclidean geometry see the l_p ball as it lies in l_2: gradients up to d^max(0, 1/2 −
1/q)·L, points d^max(0, 1/2 − 1/p)·D apart (`Euclidean`).

References  Han et al. (2022); Bassily, Guzmán, Nandi (2021), "Non-Euclidean Differentially Private Stochastic
            Convex Optimization"; Bassily, Feldman, Guzmán, Talwar (2020), "Stability of Stochastic
            Gradient Descent on Nonsmooth Convex Losses"; Asi, Feldman, Koren, Talwar (2021),
            "Private Stochastic Convex Optimization: Optimal Rates in l_1 Geometry"
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
