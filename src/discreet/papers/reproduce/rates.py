"""`discreet reproduce rates`: growth of regret with the horizon: bounds, printed, discreet."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet import pictures
from discreet.papers.printed.catalogue import CATALOGUE
from discreet.papers.reproduce.claims import (
    CLAIMS,
    COSTS_OF_SETS,
    FEATURES,
    ITEMS,
    OURS,
    PROBLEMS,
    SLOTS,
    WHOLE_COSTS,
    regret,
)
from discreet.papers.reproduce.report import Ask, Chapter, Grid, Part, Picture
from discreet.simulate.exponent import fit_exponent
from discreet.tasks import repeat
from discreet.texts import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


FIRST_SEED = 900
"""First seed; the defaults of discreet were chosen on worlds with other seeds."""
INTRODUCTION = f"""Regret is against the best fixed set in hindsight (costs), greedy in hindsight
(slates, points) or the best arm of every context, at ε = 1, δ = 10⁻⁶. The theorems of the slates
and points bound the (1 − 1/e)-regret, which is smaller. Bundles have {WHOLE_COSTS} or
{COSTS_OF_SETS} items, slates {SLOTS} of {ITEMS} items, contexts {FEATURES} features. “Trivial” is
the loss of the best of nothing, everything and random sets, of random slates, or of random arms.
Constants that a text hides in O(·) are 1 here, and the world of the contextual theorem is the
kindest."""


NEARLY_ALL = 0.9


@dataclass(frozen=True)
class Grown:
    """The regret of one algorithm at all horizons: means over seeds, and the fitted power of T."""

    horizons: tuple[int, ...]
    regret: list[float]
    trivial: list[float]
    slope: dict[str, float]

    @property
    def share(self) -> float:
        """Regret as a share of that of trivial decisions, at the largest horizon."""
        return self.regret[-1] / self.trivial[-1]


def tell_rates(ask: Ask) -> Chapter:
    """Measure every algorithm with a regret bound, and discreet, at several horizons."""
    seeds = ask.runs(usual=5, quick=2)
    grown = _measured(ask, seeds)
    vacuous = sum(_bound_over_most(name, grown) > 1 for name in CLAIMS)
    parts: list[Part] = [
        INTRODUCTION.replace("\n", " "),
        _table(grown),
        f"A power of 1 means that learning has no effect on regret yet. {vacuous} of "
        f"{len(CLAIMS)} bounds are above the largest possible regret, even at the largest of these "
        "horizons. Algorithms that are not private as printed (see the verdicts beside the errata) "
        "are measured all the same.",
        Picture(
            "rates",
            _draw(grown),
            f"Regret against the number of people, both logarithmic, means over {seeds} seeds. A "
            "bound in the grey area is above the largest possible regret.",
        ),
    ]
    numbers = {name: _numbers(name, grown) for name in CLAIMS}
    return Chapter("rates", "How regret grows: theorems, printed constants, ours", parts, numbers)


def _measured(ask: Ask, seeds: int) -> dict[tuple[str, str], Grown]:
    """Return the growth of regret by problem and algorithm, discreet included."""
    pairs = [(problem, OURS) for problem in PROBLEMS]
    pairs += [(claim.problem, name) for name, claim in CLAIMS.items()]
    plan = [(problem, who, _horizons(problem, ask)) for problem, who in pairs]
    tasks = [
        (problem, who, horizon, seed)
        for problem, who, horizons in plan
        for horizon in horizons
        for seed in range(FIRST_SEED, FIRST_SEED + seeds)
    ]
    runs = repeat(regret, tasks, label="regret", workers=ask.workers, store=ask.store)
    results = iter(runs)
    return {
        (problem, who): _grown(horizons, [next(results) for _ in range(len(horizons) * seeds)])
        for problem, who, horizons in plan
    }


def _horizons(problem: str, ask: Ask) -> tuple[int, ...]:
    return PROBLEMS[problem].quick if ask.quick else PROBLEMS[problem].horizons


def _grown(horizons: tuple[int, ...], runs: Sequence[Sequence[float]]) -> Grown:
    means = np.array(runs).reshape(len(horizons), -1, 2).mean(axis=1)
    slope = fit_exponent(horizons, [lost for lost, _ in runs])
    return Grown(horizons, means[:, 0].tolist(), means[:, 1].tolist(), slope)


def _bound_over_most(name: str, grown: dict[tuple[str, str], Grown]) -> float:
    """Return the bound over the largest possible regret, at the largest horizon."""
    problem = CLAIMS[name].problem
    largest = grown[problem, name].horizons[-1]
    return CLAIMS[name].bound(largest) / (PROBLEMS[problem].most * largest)


def _numbers(name: str, grown: dict[tuple[str, str], Grown]) -> dict[str, object]:
    claim = CLAIMS[name]
    printed = grown[claim.problem, name]
    ours = grown[claim.problem, OURS]
    return {
        "horizons": printed.horizons,
        "power": claim.power,
        "bound": [claim.bound(horizon) for horizon in printed.horizons],
        "bound_over_most": _bound_over_most(name, grown),
        "trivial": printed.trivial,
        "printed": {"regret": printed.regret, "slope": printed.slope, "share": printed.share},
        "discreet": {"regret": ours.regret, "slope": ours.slope, "share": ours.share},
    }


def _table(grown: dict[tuple[str, str], Grown]) -> Grid:
    rows = []
    for name, claim in CLAIMS.items():
        printed = grown[claim.problem, name]
        ours = grown[claim.problem, OURS]
        rows.append(
            [
                f"{name} ({CATALOGUE[name].paper})",
                PROBLEMS[claim.problem].ours,
                f"{printed.horizons[-1]:,}",
                claim.power,
                _interval(printed.slope),
                _interval(ours.slope),
                f"{printed.share:.2f}",
                f"{ours.share:.3f}",
                f"{_bound_over_most(name, grown):,.2g}",
            ]
        )
    headings = [
        "algorithm",
        "beside it",
        "largest T",
        "theorem",
        "as printed",
        "discreet",
        "regret as printed, over trivial",
        "discreet",
        "bound over the largest possible",
    ]
    caption = "Powers of T by which regret grows, with 95 % intervals, and regret at the largest T"
    return Grid(caption, headings, rows, brief=(0, 3, 4, 5, 6, 7, 8))


def _interval(slope: dict[str, float]) -> str:
    return f"{slope['slope']:.2f} ({slope['low']:.2f} to {slope['high']:.2f})"


def _point(grown: dict[tuple[str, str], Grown]) -> str:
    """Return the point of the picture as a sentence with its numbers."""
    printed = [grown[claim.problem, name].share for name, claim in CLAIMS.items()]
    ours = [grown[claim.problem, OURS].share for claim in CLAIMS.values()]
    return (
        f"discreet loses {percent(min(ours))} to {percent(max(ours))} of what trivial "
        f"decisions lose; as printed, {sum(share > NEARLY_ALL for share in printed)} of "
        f"{len(printed)} algorithms lose more than {percent(NEARLY_ALL, 0)} of it"
    )


def _draw(grown: dict[tuple[str, str], Grown]) -> "Figure":
    """Draw one panel per algorithm; grey is above the largest possible regret."""
    figure, panels = pictures.panel_grid(len(CLAIMS), columns=3, size=4.0)
    for number, (axes, name) in enumerate(zip(panels, CLAIMS, strict=True)):
        problem = CLAIMS[name].problem
        _draw_panel(axes, name, grown[problem, name], grown[problem, OURS])
        axes.set_xlabel("people (logarithmic axis)" if number >= len(CLAIMS) - 3 else "")
        axes.set_ylabel("" if number % 3 else "regret (logarithmic axis)")
    pictures.state_point_of_all(figure, _point(grown))
    lines, names = panels[0].get_legend_handles_labels()
    pictures.add_common_legend(figure, dict(zip(names, lines, strict=True)), columns=len(names))
    return figure


def _draw_panel(axes: "Axes", name: str, printed: Grown, ours: Grown) -> None:
    """Draw the regret of one algorithm and of discreet, the bound, and trivial decisions."""
    claim = CLAIMS[name]
    horizons = np.array(printed.horizons, dtype=np.float64)
    bound = np.array([claim.bound(horizon) for horizon in printed.horizons])
    most = PROBLEMS[claim.problem].most * horizons
    impossible = "above the largest possible regret"
    axes.fill_between(horizons, most, 1e14, color="#f0f0f0", linewidth=0, label=impossible)
    axes.plot(horizons, bound, color=pictures.GREY, linestyle="--", label="the theorem's bound")
    trivial = "trivial decisions"
    axes.plot(horizons, printed.trivial, color=pictures.BLACK, linestyle=":", label=trivial)
    axes.plot(horizons, printed.regret, color=pictures.RED, marker="s", label="as printed")
    axes.plot(horizons, ours.regret, color=pictures.BLUE, marker="o", label="discreet")
    least = min(min(ours.regret), min(printed.trivial), min(printed.regret))
    axes.set(
        xscale="log",
        yscale="log",
        ylim=(max(least, 1.0) / 2, 4 * max(bound.max(), most.max())),
        xlim=(horizons[0] / 1.1, horizons[-1] * 1.1),
    )
    axes.minorticks_off()
    axes.set_xticks(horizons)
    pictures.count_people(axes)
    measured = f"T^{printed.slope['slope']:.2f} measured, discreet T^{ours.slope['slope']:.2f}"
    note = f"{claim.power} in print, {measured}"
    pictures.state_point(axes, f"{name}: {claim.title}", note, size=pictures.NAME_SIZE)
    pictures.open_frame(axes)
