"""The noise of a published algorithm's run: the check of its name, the warning, the guarantee.

`noise="sound"` is the default everywhere. Any other noise is an explicit request: the run warns,
and the `guarantee` of its result states the ε that it gives. All runs are seeded and in floating
point, hence simulated.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from typing import Any, Literal

from discreet import require
from discreet.errors import ConfigError

Noise = Literal["sound", "printed"]
AnyNoise = Literal["sound", "printed", "none"]
SIMULATED = " (simulated: seeded, in floating point)"
WORDS = {
    "printed": "as printed",
    "lemma": "as printed, with the sampler of Lemma 3.2",
    "corrected": "as printed, with the norm's index corrected",
    "none": "without noise",
}


class PrintedNoiseWarning(UserWarning):
    """A published algorithm runs with noise other than "sound"; the message states its ε."""


@dataclass(frozen=True, eq=False)
class Played:
    """The decisions of a run, one row per round, and the guarantee of the run."""

    decisions: Any
    guarantee: str


def promise(
    noise: str,
    epsilon: float,
    delta: float,
    spent: Callable[[], float],
    *,
    accepted: Sequence[str] = ("sound", "printed"),
    notion: str = "DP",
    at_least: bool = False,
) -> str:
    """Check `noise`, warn unless it is sound, and return the guarantee of a run with it.

    `spent` computes the ε that noise other than sound gives, for inputs within the stated bounds.
    With `at_least` this ε is a lower bound, from one pair of neighbours.

    >>> promise("sound", 1.0, 1e-6, lambda: 2.0)
    'sound noise: DP with ε = 1, δ = 1e-06 (simulated: seeded, in floating point)'
    >>> with compared():
    ...     promise("printed", 1.0, 0.0, lambda: 2.0)
    'as printed, not private at the claimed ε = 1 by our accounting: DP with ε = 2 (simulated: ...)'
    >>> promise("Printed", 1.0, 0.0, lambda: 2.0)
    Traceback (most recent call last):
    discreet.errors.ConfigError: noise must be one of sound, printed, got 'Printed', ...
    """
    require.one_of("noise", noise, accepted)
    at_delta = f", δ = {delta:.3g}" if delta else ""
    if noise == "sound":
        return f"sound noise: {notion} with ε = {epsilon:.3g}{at_delta}{SIMULATED}"
    given = inf if noise == "none" else spent()
    verdict = "not private" if given > epsilon else "not proved private" if at_least else "private"
    text = f"{WORDS[noise]}, {verdict} at the claimed ε = {epsilon:.3g} by our accounting: "
    relation = "≥" if at_least else "="
    text += "ε = ∞" if given == inf else f"{notion} with ε {relation} {given:.3g}{at_delta}"
    warnings.warn(text, PrintedNoiseWarning, stacklevel=3)
    return text + SIMULATED


def needs_delta(delta: float) -> None:
    """Raise ConfigError unless 0 < delta < 1: the algorithm has no pure guarantee.

    >>> needs_delta(0.0)
    Traceback (most recent call last):
    discreet.errors.ConfigError: the published noise needs delta > 0, got 0.0: set one, such as 1e-6
    """
    if not 0 < delta < 1:
        raise ConfigError(
            f"the published noise needs delta > 0, got {delta!r}: set one, such as 1e-6"
        )


@contextmanager
def compared() -> Iterator[None]:
    """Silence `PrintedNoiseWarning` within a comparison, as a context manager or decorator.

    The report of the comparison states which runs are private.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrintedNoiseWarning)
        yield
