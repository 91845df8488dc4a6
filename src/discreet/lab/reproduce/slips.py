"""Each slip of the papers that can be shown, shown by numbers; which algorithms are private as printed."""

from dataclasses import asdict
from math import inf
from typing import Any

from discreet.lab.published.catalogue import CATALOGUE
from discreet.lab.published.slips import SLIPS, Slip
from discreet.lab.published.verdict import Verdict
from discreet.lab.reproduce.report import Ask, Chapter, Grid, Part

__all__ = ["tell_slips"]


def tell_slips(ask: Ask) -> Chapter:
    """Compute all of them."""
    slips = []
    with ask.bar("slips", len(SLIPS)) as report:
        for show in SLIPS.values():
            slips.append(show())
            report(1)
    shown = [slip.name for slip in slips if slip.shown]
    parts: list[Part] = [
        f"{len(shown)} of {len(slips)} show when they are computed from what is printed: exactly, or by "
        "numerical integration; none is a simulation. Neighbouring streams differ in one person.",
        Grid(
            "Slips",
            ["slip", "paper", "in print", "computed"],
            [[slip.name.replace("-", " "), slip.paper, slip.claim, _numbers(slip)] for slip in slips],
        ),
        Grid(
            "Is it private as printed?",
            ["algorithm", "paper", "as", "verdict"],
            [
                [name, algorithm.paper, algorithm.printed_as, str(algorithm.verdict)]
                for name, algorithm in CATALOGUE.items()
            ],
        ),
    ]
    numbers = {
        "slips": [asdict(slip) for slip in slips],
        "slips_shown": shown,
        "verdicts": {name: _plain(algorithm.verdict) for name, algorithm in CATALOGUE.items()},
    }
    return Chapter("slips", "What is wrong in print, by numbers", parts, numbers)


def _plain(verdict: Verdict) -> dict[str, Any]:
    """As JSON has it, which knows no ∞."""
    told = asdict(verdict)
    return told | {"epsilon": "infinite"} if verdict.epsilon == inf else told


def _numbers(slip: Slip) -> str:
    return "; ".join(f"{name} = {value:.4g}" for name, value in slip.computed.items())
