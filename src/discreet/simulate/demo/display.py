"""`discreet demo`: a shop with five slots and a hundred items learns what to show.

No visitor can be identified from what it shows. All contenders meet the same visitors.
"""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from discreet import pictures, warm_up
from discreet.arrays import Floats
from discreet.budget.privacy import Privacy
from discreet.learners.set_maximizer import SetMaximizer
from discreet.progress import bar, shown
from discreet.simulate.demo.page import show, stated, table_of
from discreet.simulate.problems.display import Display, Run, run_display
from discreet.tasks import repeat
from discreet.texts import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


ITEMS, SLOTS = 100, 5
PLAIN = "whole preferences, no privacy"


class Seen(NamedTuple):
    """What the shop sees of a visitor: the learner's feedback, and words for it."""

    feedback: Literal["bandit", "clicks", "full"]
    words: str


SEEN = {
    "rewards only": Seen("bandit", "whether the visitor clicks"),
    "clicks": Seen("clicks", "which item the visitor clicks"),
    "whole preferences": Seen("full", "how much they like each item"),
    PLAIN: Seen("full", "the same, without privacy"),
}


class Look(NamedTuple):
    """The look of a contender's line, and its name in the picture."""

    colour: str
    style: str
    name: str


LOOKS = {
    PLAIN: Look(pictures.BLACK, "--", "no privacy,\nsees all tastes"),
    "whole preferences": Look(pictures.BLUE, "-", "private,\nsees all tastes"),
    "clicks": Look(pictures.RED, "-", "private,\nsees clicks"),
}
"""The drawn contenders."""
NO_PRIVACY = 1e4
"""An epsilon at which noise is negligible."""
EPSILONS = (0.1, 0.3, 1.0, 3.0)
CURVES = ("whole preferences", "clicks")
SCALE = "A share of 0 % is what random items bring, 100 % what the best five bring."
WORLDS = (1, 2, 3)
"""Seeds of the worlds whose spread the bands of the picture show."""
FIRST_VISITORS = 100
"""The picture begins after this number of visitors."""
LEAST_LEARNED = 0.1
"""Below this share of the value without privacy, there is nothing to keep."""
MOST_VISITORS = 100_000
"""Largest number of visitors of each of these worlds."""


@dataclass(frozen=True)
class DisplayResult:
    """Value of all contenders with the same visitors, and shares in other worlds against ε."""

    visitors: int
    privacy: Privacy
    random: float
    """Value of random slates."""
    hindsight: float
    """Value of the best fixed slate in hindsight."""
    runs: dict[str, Run]
    curves: dict[str, Floats]
    """Shares by ε (rows) and world (columns), for each curve."""

    @property
    def shares(self) -> dict[str, float]:
        """Each contender's share of the gain of the best slate over random ones."""
        gain = self.hindsight - self.random
        return {name: (run.value - self.random) / gain for name, run in self.runs.items()}


def tell_display(
    visitors: int, privacy: Privacy, folder: Path, *, seed: int | None, console: Console
) -> dict[str, object]:
    """Let all contenders meet the same visitors; print a table, write demo.png and demo.json."""
    pictures.require_matplotlib()
    budgets = dict.fromkeys(SEEN, privacy) | {PLAIN: Privacy(NO_PRIVACY, privacy.delta)}
    problems = {name: _problem(name, visitors, budget) for name, budget in budgets.items()}
    learners = {name: problem.learner(seed=seed) for name, problem in problems.items()}
    warm_up(*learners.values())
    began = time.perf_counter()
    with shown(console):
        result = _simulate(problems[PLAIN], privacy, learners, seed or 0)
    numbers = _numbers(result) | {
        "seconds": time.perf_counter() - began,
        "simulated": seed is not None,
    }
    parts = [_table(result), SCALE, f"{_point(result)}.", str(learners["clicks"].guarantee)]
    return show(console, folder, parts, _picture(result), numbers)


def _simulate(
    problem: Display, privacy: Privacy, learners: dict[str, SetMaximizer], seed: int
) -> DisplayResult:
    """Run all learners on the visitors of a problem, and measure shares against ε."""
    visitors = problem.rounds
    world = problem.people(seed)
    with bar("visitors", visitors * len(learners)) as report:
        runs = {
            name: run_display(learner, world, report=report) for name, learner in learners.items()
        }
    hindsight = world.worth(world.best_slate(SLOTS))
    curves = _curves(min(visitors, MOST_VISITORS), privacy.delta)
    return DisplayResult(visitors, privacy, world.random_worth(SLOTS), hindsight, runs, curves)


def _numbers(result: DisplayResult) -> dict[str, object]:
    """The numbers of demo.json."""
    return {
        "visitors": result.visitors,
        "epsilon": result.privacy.epsilon,
        "delta": result.privacy.delta,
        "random": result.random,
        "hindsight": result.hindsight,
        "share": result.shares,
        "clicks": {name: run.value for name, run in result.runs.items()},
        "share_against_epsilon": {
            name: dict(zip(EPSILONS, shares.mean(axis=1).tolist(), strict=True))
            for name, shares in result.curves.items()
        },
    }


def _problem(name: str, visitors: int, privacy: Privacy) -> Display:
    return Display(visitors, privacy, ITEMS, SLOTS, SEEN[name].feedback, "iid")


def _curves(visitors: int, delta: float) -> dict[str, Floats]:
    """Return the shares of each curve, by ε (rows) and world (columns)."""
    tasks = [
        (name, visitors, epsilon, delta, seed)
        for name in CURVES
        for epsilon in EPSILONS
        for seed in WORLDS
    ]
    shares = repeat(share_at, tasks, label="share against epsilon")
    return dict(zip(CURVES, np.reshape(shares, (-1, len(EPSILONS), len(WORLDS))), strict=True))


def share_at(name: str, visitors: int, epsilon: float, delta: float, seed: int) -> float:
    """Return the share of one contender in the world of a seed."""
    problem = _problem(name, visitors, Privacy(epsilon, delta))
    people = problem.people(seed)
    return problem.share_of(problem.outcome(problem.learner(), people), people)


def _table(result: DisplayResult) -> Table:
    title = (
        f"A shop shows {SLOTS} of {ITEMS} items to each of {result.visitors:,} visitors\n"
        f"{stated(result.privacy)}"
    )
    table = table_of(title, "what the shop sees", "visitors who click", "share of the value")
    table.add_row("nothing (random items)", f"{result.random:,.0f}", percent(0.0))
    for name, share in result.shares.items():
        table.add_row(SEEN[name].words, f"{result.runs[name].value:,.0f}", percent(share))
    table.add_row(f"the best {SLOTS} items, beforehand", f"{result.hindsight:,.0f}", percent(1.0))
    return table


def _point(result: DisplayResult) -> str:
    """Return the point of the demo as a sentence with its number."""
    shares = result.shares
    if shares[PLAIN] < LEAST_LEARNED:
        return f"{result.visitors:,} visitors are too few to learn from, even without privacy"
    kept = percent(shares["clicks"] / shares[PLAIN])
    return (
        f"A private shop that sees only clicks keeps {kept} of the value that a shop without "
        "privacy earns"
    )


def _picture(result: DisplayResult) -> "Figure":
    """Draw the value per visitor over time (left) and the share of value against ε (right)."""
    figure, (left, right) = pictures.panels(2, (13, 4.8))
    _draw_value(left, result)
    _draw_shares(right, result)
    for axes in (left, right):
        pictures.open_frame(axes)
    return figure


def _draw_value(axes: "Axes", result: DisplayResult) -> None:
    """Draw the drawn contenders' clicks per visitor over time."""
    highest = result.hindsight / result.visitors
    lowest = result.random / result.visitors
    first = min(FIRST_VISITORS, result.visitors)
    edges = np.append(0, np.geomspace(first, result.visitors, 50))
    axes.axhline(lowest, color=pictures.GREY, linestyle=":")
    names = [pictures.Name(lowest, "random items", pictures.NOTES)]
    for name, look in LOOKS.items():
        run = result.runs[name]
        earned = np.diff(np.interp(edges, run.visitors, run.earned)) / np.diff(edges)
        axes.plot(edges[1:], earned, look.style, color=look.colour, linewidth=1.8)
        names.append(pictures.Name(float(earned[-1]), look.name, look.colour))
    axes.set(ylabel="share of visitors who click", ylim=(0, highest * 1.1))
    pictures.count_percent(axes)
    pictures.follow_people(axes, first, result.visitors, "visitors")
    pictures.name_lines(axes, names)
    pictures.state_point(
        axes,
        _point(result),
        f"Value: clicks beyond those of random items. ε = {result.privacy.epsilon:g}, "
        f"{result.visitors:,} visitors.",
    )


def _draw_shares(axes: "Axes", result: DisplayResult) -> None:
    """Draw shares of value against ε, with bands of one standard deviation over worlds."""
    names = []
    for name, shares in result.curves.items():
        look = LOOKS[name]
        middle = shares.mean(axis=1)
        spread = shares.std(axis=1)
        low = middle - spread
        high = middle + spread
        axes.plot(EPSILONS, middle, color=look.colour, marker="o", linewidth=1.8)
        axes.fill_between(EPSILONS, low, high, color=look.colour, alpha=0.15, linewidth=0)
        names.append(pictures.Name(float(middle[-1]), look.name, look.colour))
    axes.set(
        xscale="log",
        ylim=(0, 1.02),
        xlabel="ε, the privacy budget (smaller: stricter; logarithmic axis)",
        ylabel="share of the value",
    )
    axes.set_xticks(EPSILONS, [f"{epsilon:g}" for epsilon in EPSILONS])
    axes.minorticks_off()
    pictures.count_percent(axes)
    pictures.name_lines(axes, names)
    clicks = dict(zip(EPSILONS, result.curves["clicks"].mean(axis=1), strict=True))
    visitors = min(result.visitors, MOST_VISITORS)
    pictures.state_point(
        axes,
        f"With {visitors:,} visitors, {len(WORLDS)} shops that see only clicks keep "
        f"{percent(clicks[1.0], 0)} of the value at ε = 1, {percent(clicks[0.1], 0)} at ε = 0.1",
        f"100 %: the best {SLOTS} items. Means over these shops; bands: ± one standard deviation.",
    )
