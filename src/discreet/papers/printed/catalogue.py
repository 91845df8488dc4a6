"""Every algorithm of the papers by its name, with its theorem, its module and its verdict.

>>> print(CATALOGUE["TBAP"].verdict)
not private as printed: replacing one vector ... noise is for μ (ε = 2 where 1 is claimed)
>>> sorted(name for name, algorithm in CATALOGUE.items() if algorithm.paper == "SCO")
['GLM bandit', 'streaming Frank–Wolfe', 'streaming Frank–Wolfe l1']

Papers      MIN  Cardoso, Cummings (2019), "Differentially Private Online Submodular Minimization"
            MAX  Perez-Salazar, Cummings (2021), "Differentially Private Online Submodular
                 Maximization"
            SCO  Han et al. (2022), "Optimal Private Streaming SCO in l_p-geometry with Applications
                 in High Dimensional Online Decision Making"
            SET  Sadeghi, Fazel (2021), "Differentially Private Monotone Submodular Maximization
                 Under Matroid and Knapsack Constraints"
"""

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from discreet.errors import ConfigError
from discreet.papers.printed import (
    bandit_dp,
    bandit_dp_variants,
    bandit_submod_prftl,
    continuous,
    curvature,
    dpcg,
    dpmfw,
    fi_dp,
    glm_bandit,
    hedge,
    streaming_frank_wolfe,
    streaming_frank_wolfe_l1,
    submod_prftl,
    tbap,
)
from discreet.papers.printed.glm_theory import Theory
from discreet.papers.printed.verdict import Verdict


@dataclass(frozen=True)
class Algorithm:
    """One algorithm of a paper: its name, its place in print, its module and its verdict."""

    name: str
    paper: str
    printed_as: str
    """Number of the algorithm in the paper."""
    theorem: str
    """Theorem that bounds the loss of the algorithm."""
    module: ModuleType
    verdict: Verdict
    play: Callable[..., Any]
    """Runs the algorithm on a stream; returns its decisions and its `guarantee`."""
    bound: Callable[..., float]
    """The bound of the theorem, with its constants."""


_ALL = [
    Algorithm(
        "TBAP", "MIN", "Algorithm 4", "Theorem 5", tbap, tbap.VERDICT, tbap.play, tbap.error_bound
    ),
    Algorithm(
        "SUBMODPRFTL",
        "MIN",
        "main text",
        "Theorem 7",
        submod_prftl,
        submod_prftl.VERDICT,
        submod_prftl.play,
        submod_prftl.regret_bound,
    ),
    Algorithm(
        "BANDITSUBMODPRFTL",
        "MIN",
        "main text",
        "Theorem 9",
        bandit_submod_prftl,
        bandit_submod_prftl.VERDICT,
        bandit_submod_prftl.play,
        bandit_submod_prftl.regret_bound,
    ),
    Algorithm(
        "Hedge",
        "MAX",
        "Algorithm 1",
        "Theorem 3",
        hedge,
        hedge.VERDICT,
        hedge.play,
        hedge.regret_bound,
    ),
    Algorithm(
        "FI-DP",
        "MAX",
        "Algorithm 2",
        "Theorem 6",
        fi_dp,
        fi_dp.VERDICT,
        fi_dp.play,
        fi_dp.regret_bound,
    ),
    Algorithm(
        "BanditDP",
        "MAX",
        "Algorithm 3",
        "Theorem 8",
        bandit_dp,
        bandit_dp.VERDICT,
        bandit_dp.play,
        bandit_dp.regret_bound,
    ),
    Algorithm(
        "BanditDP, B.1",
        "MAX",
        "Appendix B.1",
        "Appendix B.1",
        bandit_dp_variants,
        bandit_dp_variants.EVERY_ROUND_VERDICT,
        bandit_dp_variants.play_every_round,
        bandit_dp_variants.every_round_bound,
    ),
    Algorithm(
        "BanditDP, B.2",
        "MAX",
        "Appendix B.2",
        "Appendix B.2",
        bandit_dp_variants,
        bandit_dp_variants.PRESAMPLED_VERDICT,
        bandit_dp_variants.play_presampled,
        bandit_dp_variants.presampled_bound,
    ),
    Algorithm(
        "PFTAL copies",
        "MAX",
        "Algorithm 4",
        "Theorem 10, Lemma 5",
        continuous,
        continuous.VERDICT,
        continuous.run,
        continuous.regret_bound,
    ),
    Algorithm(
        "streaming Frank–Wolfe",
        "SCO",
        "Algorithm 1",
        "Theorem A.3",
        streaming_frank_wolfe,
        streaming_frank_wolfe.VERDICT,
        streaming_frank_wolfe.play,
        streaming_frank_wolfe.risk_bound,
    ),
    Algorithm(
        "streaming Frank–Wolfe l1",
        "SCO",
        "Algorithm 2",
        "Theorem 3.12",
        streaming_frank_wolfe_l1,
        streaming_frank_wolfe_l1.VERDICT,
        streaming_frank_wolfe_l1.play,
        streaming_frank_wolfe_l1.risk_bound,
    ),
    Algorithm(
        "GLM bandit",
        "SCO",
        "Algorithm 3",
        "Theorem 4.9",
        glm_bandit,
        glm_bandit.VERDICT,
        glm_bandit.play,
        Theory.regret_bound,
    ),
    Algorithm(
        "DPCG", "SET", "Algorithm 1", "appendix 1", dpcg, dpcg.VERDICT, dpcg.run, dpcg.utility_bound
    ),
    Algorithm(
        "DPCG, curvature",
        "SET",
        "Lemma 5",
        "Lemma 5",
        curvature,
        curvature.VERDICT,
        curvature.run,
        curvature.utility_bound,
    ),
    Algorithm(
        "DPMFW",
        "SET",
        "main text",
        "main text",
        dpmfw,
        dpmfw.VERDICT,
        dpmfw.run,
        dpmfw.regret_bound,
    ),
]

CATALOGUE: dict[str, Algorithm] = {algorithm.name: algorithm for algorithm in _ALL}


def published(name: str) -> Algorithm:
    """Return the algorithm of this name; upper and lower case do not matter.

    >>> published("fi-dp").theorem
    'Theorem 6'
    """
    for known, algorithm in CATALOGUE.items():
        if known.lower() == name.lower():
            return algorithm
    raise ConfigError(
        f"no published algorithm is called {name!r}: take one of {', '.join(CATALOGUE)}"
    )
