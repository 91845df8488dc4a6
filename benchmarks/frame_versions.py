"""Imports and constructors of each version that benchmarks/frame.py can measure.

Names in constructors change from version to version; the names of modes here do not, so that times
can be compared.
"""

import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Preamble:
    """Import statements of one version, and the constructor call of each mode."""

    imports: str
    modes: dict[str, str]


IMPORTS = """
from discreet import Hedge, Privacy, RunningSum, SetMaximizer, SetMinimizer, StreamingLearner
from discreet.domains import LpBall
try:
    from discreet.functions import ConcaveOfLinear, GraphCut, MinusModular
    from discreet.losses import SquaredLoss
except ImportError:  # before 0.6 was released
    from discreet.arrivals import ConcaveOfLinear, GraphCut, MinusModular, SquaredLoss
from discreet.learners.forced import forced
"""

COMMON = {
    "RunningSum": "RunningSum(10, 10**6, P, bound=1.0)",
    "Hedge": "Hedge(10, 10**6, P, block=1000)",
    "SetMaximizer full drifting": "SetMaximizer(100, 5, 10**6, P)",
    "SetMaximizer full iid": "SetMaximizer(100, 5, 10**6, P, stream='iid')",
    "SetMaximizer bandit drifting": "SetMaximizer(100, 5, 10**6, P, feedback='bandit')",
    "SetMaximizer bandit iid": "SetMaximizer(100, 5, 10**6, P, feedback='bandit', stream='iid')",
    "SetMaximizer clicks drifting": "SetMaximizer(100, 5, 10**6, P, feedback='clicks')",
    "SetMaximizer clicks iid": "SetMaximizer(100, 5, 10**6, P, feedback='clicks', stream='iid')",
    "SetMinimizer full": "SetMinimizer(20, 10**6, P, function=CUT)",
    "SetMinimizer bandit drifting": "SetMinimizer(20, 10**6, P, feedback='bandit')",
    "SetMinimizer bandit iid": "SetMinimizer(20, 10**6, P, feedback='bandit', stream='iid')",
    "StreamingLearner leader": (
        "forced(StreamingLearner, 'leader', LpBall(10), SQUARED, 10**6, P, **BOUNDS)"
    ),
    "StreamingLearner frank-wolfe": (
        "forced(StreamingLearner, 'frank-wolfe', LpBall(10), SQUARED, 10**6, P, **BOUNDS)"
    ),
    "StreamingLearner corners": (
        "forced(StreamingLearner, 'frank-wolfe', LpBall(10, 1), SQUARED, 10**6, P, **BOUNDS)"
    ),
}
"""The modes of all versions, in the words of the newest."""
CORNERS = {
    "StreamingLearner corners": COMMON["StreamingLearner corners"].replace("frank-wolfe", "corners")
}
MORE_IMPORTS = """
from discreet import ContextualBandit, ContinuousMaximizer
from discreet.domains import PartitionMatroid, UniformMatroid
KEYED = Privacy(1.0, 1e-6, keyed=True)
CONCAVE = ConcaveOfLinear('log', 3.0)
SHELVES = PartitionMatroid((0,) * 10 + (1,) * 10, (1, 2))
"""
MORE = {
    "SetMaximizer full adversarial": "SetMaximizer(100, 5, 10**6, P, stream='adversarial')",
    "SetMaximizer clicks masks": "SetMaximizer(100, 5, 10**6, P, feedback='clicks')",
    "SetMaximizer bandit masks": "SetMaximizer(100, 5, 10**6, P, feedback='bandit')",
    "SetMaximizer clicks keyed": "SetMaximizer(100, 5, 10**6, KEYED, feedback='clicks')",
    "SetMinimizer bandit masks": "SetMinimizer(20, 10**6, P, feedback='bandit')",
    "SetMinimizer bandit keyed": "SetMinimizer(20, 10**6, KEYED, feedback='bandit')",
    "StreamingLearner whitened": "StreamingLearner(LpBall(10), SQUARED, 10**6, P, **BOUNDS)",
    "StreamingLearner passes": (
        "forced(StreamingLearner, 'passes', LpBall(10), SQUARED, 10**6, P, **BOUNDS)"
    ),
    "StreamingLearner keyed": "StreamingLearner(LpBall(10), SQUARED, 10**6, KEYED, **BOUNDS)",
    "ContextualBandit ridge": "ContextualBandit(10, 10, 10**6, P)",
    "ContextualBandit screen": "ContextualBandit(10, 100, 10**6, P)",
    "ContextualBandit masks": "ContextualBandit(10, 10, 10**6, P)",
    "ContextualBandit keyed": "ContextualBandit(10, 10, 10**6, KEYED)",
    "ContinuousMaximizer slates": "ContinuousMaximizer(UniformMatroid(20, 3), 10**6, P)",
    "ContinuousMaximizer fresh": "ContinuousMaximizer(SHELVES, 10**6, P, stream='iid')",
    "ContinuousMaximizer vertex": "ContinuousMaximizer(SHELVES, 10**6, P)",
    "ContinuousMaximizer euclidean": (
        "ContinuousMaximizer(UniformMatroid(20, 3), 10**6, P, play='point', function=CONCAVE)"
    ),
    "Hedge keyed": "Hedge(10, 10**6, KEYED, block=1000)",
}
"""The modes of the newest version that are not measured in the versions before."""
VERSIONS = {
    "0.4": Preamble(IMPORTS, COMMON | CORNERS),
    "0.5": Preamble(IMPORTS, COMMON),
    "0.6": Preamble(IMPORTS + MORE_IMPORTS, COMMON | MORE),
}
"""Preambles, keyed by the first version that each is for. A mode has the same name in all of them.
Horizons
are written 10**6, which frame.py replaces by others."""


def version_of(source: Path) -> str:
    """Return the version of a checkout, as its package states it."""
    package = source / "src" / "discreet" / "__init__.py"
    text = package.read_text(encoding="utf-8") if package.is_file() else ""
    stated = re.search(r'^__version__ = "(\d[^"]*)"', text, re.MULTILINE)
    if stated is None:
        raise SystemExit(
            f"{source} is no checkout of discreet: no __version__ in src/discreet/__init__.py"
        )
    return stated.group(1)


def preamble_of(version: str) -> Preamble:
    """Return the preamble for a version: the newest that is not newer than it."""
    fitting = [known for known in VERSIONS if _numbers(known) <= _numbers(version)]
    if not fitting:
        raise SystemExit(
            f"version {version} cannot be measured: known are {', '.join(VERSIONS)} and later"
        )
    return VERSIONS[max(fitting, key=_numbers)]


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version))
