"""`discreet demo`: a shop with five slots and a hundred items learns what to show.

No visitor can be found in what it shows. All contenders meet the same visitors.
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
from discreet.progress import Bar, bars_on
from discreet.simulate.demo.page import asked, percent, show, table_of
from discreet.simulate.problems.display import Display, Run, run_display
from discreet.tasks import repeat

if TYPE_CHECKING:
    from matplotlib.figure import Figure


ITEMS, SLOTS = 100, 5
PLAIN = "whole preferences, no privacy"


class Seen(NamedTuple):
    """What the shop sees of a visitor, as the learner's feedback; and the line that is drawn."""

    feedback: Literal["bandit", "clicks", "full"]
    colour: str
    style: str = "-"


SEEN = {
    "rewards only": Seen("bandit", pictures.RED),
    "clicks": Seen("clicks", pictures.PURPLE),
    "whole preferences": Seen("full", pictures.BLUE),
    PLAIN: Seen("full", pictures.BLACK, "--"),
}
NO_PRIVACY = 1e4
"""An epsilon at which noise plays no role."""
EPSILONS = (0.1, 0.3, 1.0, 3.0)
CURVES = ("whole preferences", "clicks")
WORLDS = (1, 2, 3)
"""Seeds of the worlds over which the bands of the picture go."""
MOST_VISITORS = 100_000
"""The most visitors of each of these worlds."""


@dataclass(frozen=True)
class DisplayResult:
    """What all contenders earned from the same visitors; and shares kept in other worlds,
    against ε.
    """

    visitors: int
    privacy: Privacy
    random: float
    """What random slates earn."""
    hindsight: float
    """What the best fixed slate would have earned."""
    runs: dict[str, Run]
    curves: dict[str, Floats]
    """Shares, by ε and world."""

    @property
    def shares(self) -> dict[str, float]:
        """How much of what the best slate gains over random ones each contender kept."""
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
    world, bar = problems[PLAIN].people(seed or 0), bars_on(console)
    with bar("visitors", visitors * len(learners)) as report:
        runs = {
            name: run_display(learner, world, report=report) for name, learner in learners.items()
        }
    best = world.worth(world.best_slate(SLOTS))
    curves = _curves(min(visitors, MOST_VISITORS), privacy.delta, bar)
    result = DisplayResult(visitors, privacy, world.random_worth(SLOTS), best, runs, curves)
    numbers = {
        "visitors": visitors,
        "epsilon": privacy.epsilon,
        "delta": privacy.delta,
        "random": result.random,
        "hindsight": best,
        "share": result.shares,
        "clicks": {name: run.value for name, run in runs.items()},
        "share_against_epsilon": {
            name: dict(zip(EPSILONS, shares.mean(axis=1).tolist(), strict=True))
            for name, shares in curves.items()
        },
        "seconds": time.perf_counter() - began,
        "simulated": seed is not None,
    }
    said = [_table(result), str(learners["clicks"].guarantee)]
    return show(console, folder, said, _picture(result), numbers)


def _problem(name: str, visitors: int, privacy: Privacy) -> Display:
    return Display(visitors, privacy, ITEMS, SLOTS, SEEN[name].feedback, "iid")


def _curves(visitors: int, delta: float, bar: Bar) -> dict[str, Floats]:
    """Shares kept by ε and world, of each curve."""
    tasks = [
        (name, visitors, epsilon, delta, seed)
        for name in CURVES
        for epsilon in EPSILONS
        for seed in WORLDS
    ]
    shares = repeat(share_at, tasks, label="share against epsilon", bar=bar)
    return dict(zip(CURVES, np.reshape(shares, (-1, len(EPSILONS), len(WORLDS))), strict=True))


def share_at(name: str, visitors: int, epsilon: float, delta: float, seed: int) -> float:
    """The share kept in a world of its own."""
    problem = _problem(name, visitors, Privacy(epsilon, delta))
    people = problem.people(seed)
    return problem.share_of(problem.outcome(problem.learner(), people), people)


def _table(result: DisplayResult) -> Table:
    title = f"{result.visitors:,} visitors, {ITEMS} items, {SLOTS} slots, {asked(result.privacy)}"
    table = table_of(title, "what the shop sees", "clicks", "share kept")
    table.add_row("nothing: random slates", f"{result.random:,.0f}", percent(0.0))
    for name, share in result.shares.items():
        table.add_row(name, f"{result.runs[name].value:,.0f}", percent(share))
    table.add_row("best fixed slate, in hindsight", f"{result.hindsight:,.0f}", percent(1.0))
    return table


def _picture(result: DisplayResult) -> "Figure":
    """Left: value per visitor over time; right: share kept against ε."""
    figure, (left, right) = pictures.panels(2, (13, 4.8))
    edges = np.append(0, np.geomspace(min(100, result.visitors), result.visitors, 50))
    for name, run in result.runs.items():
        earned = np.diff(np.interp(edges, run.visitors, run.earned)) / np.diff(edges)
        left.plot(
            edges[1:], earned, SEEN[name].style, color=SEEN[name].colour, linewidth=1.8, label=name
        )
    highest = result.hindsight / result.visitors
    pictures.mark_level(left, result.random / result.visitors, "random\nslates")
    pictures.mark_level(left, highest, "best in\nhindsight")
    left.set(
        xscale="log",
        xlabel="visitors so far (log scale)",
        ylabel="clicks per visitor",
        title=f"What the shop earns while it learns (ε = {result.privacy.epsilon:g})",
        ylim=(0, highest * 1.1),
    )
    for name, shares in result.curves.items():
        middle, spread, colour = shares.mean(axis=1), shares.std(axis=1), SEEN[name].colour
        right.plot(EPSILONS, middle, color=colour, marker="o", linewidth=1.8, label=name)
        right.fill_between(
            EPSILONS, middle - spread, middle + spread, color=colour, alpha=0.15, linewidth=0
        )
    right.set(
        xscale="log",
        ylim=(0, 1.02),
        xlabel="epsilon",
        ylabel="share of the value kept",
        title=f"What privacy costs ({min(result.visitors, MOST_VISITORS):,} visitors, "
        f"{len(WORLDS)} worlds)",
    )
    right.set_xticks(EPSILONS, [f"{epsilon:g}" for epsilon in EPSILONS])
    right.minorticks_off()
    pictures.count_people(left)
    for axes in (left, right):
        pictures.add_legend(axes, loc="lower right", title="what the shop sees")
        pictures.open_frame(axes)
    return figure
