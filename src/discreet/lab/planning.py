"""What a budget buys, before it is spent: facts of the plan, and what is kept in a few made-up worlds.

Every problem has a case (`DisplayCase`, `CostsCase`, …) that makes its learner and can be simulated in a
world. What is asked of it is the same for all: the share of the value that is kept, which ε would keep 90 %,
and how many people. Seeds are fixed: the same question has the same answer. How much is simulated follows
from the size of the case, never from the clock.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from math import exp, floor, inf, log2, sqrt
from multiprocessing import get_context
from statistics import fmean, stdev
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from discreet import require
from discreet.budget.privacy import Privacy
from discreet.errors import ConfigError
from discreet.lab.progress import Bar, bars_on, silent
from discreet.lab.repeat import repeat

__all__ = ["GOAL", "MOST_SIMULATED", "Case", "Effort", "Kept", "make_plan", "print_plan", "share_of"]

GOAL = 0.9
"""The share of the value that is aimed for."""
MOST_SIMULATED = 1_000_000
"""More people are not simulated."""
SECONDS = 28.0
"""How long the simulations may take together, on about two cores."""
ALONE = 3.0
"""Seconds below which one process does it sooner than two."""
LEAST_EPSILON, MOST_EPSILON = 1e-9, 1e6
"""Between these, a guarantee can be asked for."""
FIRST_WORLD = 1000
"""The seed of the first world."""
NAMES = {
    "method": "learns by",
    "why": "because",
    "block": "visitors between releases (first block)",
    "releases": "releases",
    "rate": "learning rate",
    "explore": "share of rounds that explore",
    "noise_in_visitors": "noise, in visitors",
    "noise_in_people": "noise, in people",
    "noise_in_samples": "noise, in samples",
    "noise_of_report": "noise of what a block is said to have earned",
    "preparation": "samples that are measured first",
    "passes": "passes",
    "error_in_people": "error of the choice, in people",
    "first_views_of_an_item": "views of an item in the first block",
    "tries_of_an_item": "tries of an item, in all",
    "tries_of_a_set": "tries of each set",
    "warning": "warning",
}


@dataclass(frozen=True)
class Case(ABC):
    """What is planned; the parent of every problem's case."""

    rounds: int
    privacy: Privacy

    @property
    @abstractmethod
    def world(self) -> str:
        """What the made-up worlds are like, in a few words."""

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """Public numbers of the plan, and `epsilon` as it will be spent; refuses what cannot be."""

    @abstractmethod
    def share(self, seed: int) -> float:
        """The share of the value that is kept in the world of this seed."""

    @property
    @abstractmethod
    def seconds_a_person(self) -> float:
        """About how long it takes to simulate one."""


class Effort(NamedTuple):
    """How much is simulated: worlds for the question itself, worlds and steps for each search."""

    worlds: int
    searched: int
    steps: int
    """Half octaves to each side: 15 are found by four trials, 7 by three, 3 by two."""

    @property
    def runs(self) -> float:
        """How many runs with all people that is, about: of people, fewer are tried for the most part."""
        return self.worlds + self.searched * 1.5 * log2(self.steps + 1)


EFFORTS = (Effort(4, 4, 15), Effort(4, 2, 15), Effort(4, 2, 7), Effort(4, 1, 7), Effort(4, 1, 3))


class Kept(NamedTuple):
    """The share of the value that is kept at an epsilon and a number of people, on average over worlds."""

    epsilon: float
    people: int
    share: float
    standard_error: float | None
    """None with one world."""

    def __str__(self) -> str:
        error = "" if self.standard_error is None else f" ± {self.standard_error:.1%}"
        return f"{max(self.share, 0):.1%}{error}"


def share_of(case: Case, seed: int) -> float:
    """The share kept; less than anything where such a case cannot be."""
    with suppress(ConfigError):
        return case.share(seed)
    return -inf


def make_plan(case: Case, console: Console) -> dict[str, Any]:
    """Facts, the share that is expected, and which epsilon or how many people would keep 90 %."""
    facts = case.facts()
    effort, rounds = _affordable(case)
    simulated = replace(case, rounds=rounds)
    alone = effort.runs * rounds * case.seconds_a_person < ALONE
    pool = None if alone else ProcessPoolExecutor(2, mp_context=get_context("spawn"))
    with pool or nullcontext(), ThreadPoolExecutor(2) as searches:
        asked = _kept(simulated, effort.worlds, pool, bars_on(console))
        kept = partial(_kept, worlds=effort.searched, pool=pool)
        cases = (
            (partial(_with_epsilon, simulated), effort.steps, effort.steps),
            (partial(_with_people, simulated), *_people_steps(simulated, effort)),
        )
        (epsilon, by_epsilon), (people, by_people) = searches.map(
            lambda some: _least(asked, kept, *some), cases
        )
    return {
        "facts": facts | {"delta": case.privacy.delta, "contributions": case.privacy.contributions},
        "in_words": in_words(case.privacy),
        "world": case.world,
        "worlds": effort.worlds,
        "people": case.rounds,
        "people_simulated": rounds,
        "expected_share": asked.share,
        "standard_error": asked.standard_error,
        "share_by_epsilon": [row._asdict() for row in by_epsilon],
        "share_by_people": [row._asdict() for row in by_people],
        "epsilon_for_90_percent": epsilon and epsilon.epsilon,
        "people_for_90_percent": people and people.people,
    }


def in_words(privacy: Privacy) -> str:
    """An epsilon for people who never heard of one.

    >>> in_words(Privacy(1.0, 1e-6))
    "an attacker's odds about one person change by at most a factor e^1 = 2.7, except with probability 1e-06"
    """
    factor = exp(min(privacy.epsilon, 700.0))
    failing = f", except with probability {privacy.delta:g}" if privacy.delta else ""
    return (
        f"an attacker's odds about one person change by at most a factor "
        f"e^{privacy.epsilon:g} = {factor:.2g}{failing}"
    )


def _affordable(case: Case) -> tuple[Effort, int]:
    """The most thorough effort that there is time for, and with how many people."""
    rounds = min(require.whole("rounds", case.rounds), MOST_SIMULATED)
    for effort in EFFORTS:
        if effort.runs * rounds * case.seconds_a_person <= SECONDS:
            return effort, rounds
    least = EFFORTS[-1]
    return least, max(1, min(rounds, int(SECONDS / (least.runs * case.seconds_a_person))))


def _people_steps(case: Case, effort: Effort) -> tuple[int, int]:
    """How many half octaves fewer people, and how many more: all trials take about twice the largest."""
    a_run = effort.searched * case.rounds * case.seconds_a_person
    longest = min(MOST_SIMULATED / case.rounds, SECONDS / (6 * a_run))
    more = max(0, floor(2 * log2(longest)))
    return min(effort.steps, floor(2 * log2(case.rounds))), min(effort.steps, more)


def _with_people(case: Case, steps: int) -> Case:
    """The case with more people, by a number of half octaves."""
    return replace(case, rounds=round(case.rounds * 2 ** (steps / 2)))


def _with_epsilon(case: Case, steps: int) -> Case:
    """The case with more epsilon, by a number of half octaves, as far as a guarantee can have it."""
    epsilon = min(max(case.privacy.epsilon * 2 ** (steps / 2), LEAST_EPSILON), MOST_EPSILON)
    return replace(case, privacy=replace(case.privacy, epsilon=epsilon))


def _kept(case: Case, worlds: int, pool: Executor | None, bar: Bar = silent) -> Kept:
    """The share that is kept, on average over worlds."""
    tasks = [(case, FIRST_WORLD + number) for number in range(worlds)]
    shares = repeat(share_of, tasks, label="simulating", bar=bar, workers=1, executor=pool)
    known = worlds > 1 and -inf not in shares
    return Kept(
        case.privacy.epsilon, case.rounds, fmean(shares), stdev(shares) / sqrt(worlds) if known else None
    )


def _least(
    asked: Kept, kept: Callable[[Case], Kept], at: Callable[[int], Case], fewer: int, more: int
) -> tuple[Kept | None, list[Kept]]:
    """The least of the cases `at` −fewer, …, more that keeps enough, and all that were tried.

    `asked` is the one at 0.
    """
    tried = [asked]
    found = asked if asked.share >= GOAL else None
    # Shares grow: up to `low` nothing is enough, from `high` on all is (one beyond the last is untried).
    low, high = (-fewer - 1, 0) if found else (0, more + 1)
    while high - low > 1:
        middle = (low + high) // 2
        row = kept(at(middle))
        tried.append(row)
        if row.share >= GOAL:
            found, high = row, middle
        else:
            low = middle
    return found, sorted(set(tried), key=lambda row: row[:2])


def print_plan(plan: dict[str, Any], console: Console) -> None:
    """The plan as a table: what is fixed beforehand, then what was simulated."""
    facts = plan["facts"]
    table = Table(show_header=False, title="What this budget buys")
    for name, value in facts.items():
        if name in NAMES:
            table.add_row(NAMES[name], _shown(value))
    failing = f" at delta = {facts['delta']:g}" if facts["delta"] else ""
    table.add_row("privacy spent in the end", f"epsilon = {facts['epsilon']:.4g}{failing}")
    table.add_row("in plain words", plan["in_words"])
    if facts["contributions"] > 1:
        table.add_row("rounds of one person", f"up to {facts['contributions']}, all of them together")
    table.add_section()
    asked = Kept(0.0, 0, plan["expected_share"], plan["standard_error"])
    table.add_row("share of the value kept", str(asked))
    table.add_row("simulated", f"in {plan['worlds']} worlds: {plan['world']}")
    if plan["people_simulated"] < plan["people"]:
        table.add_row("", f"with {plan['people_simulated']:,} people only: more of them keep more")
    for name in ("epsilon", "people"):
        tried = [row[name] for row in plan[f"share_by_{name}"]]
        table.add_row(f"{name} for 90 %", _enough(plan[f"{name}_for_90_percent"], tried))
    console.print(table)


def _enough(found: float | None, tried: list[float]) -> str:
    """The least that was enough, among those that were tried."""
    if found is None:
        return f"more than {_rounded(max(tried))}"
    return f"{'about' if found > min(tried) else 'at most'} {_rounded(found)}"


def _rounded(value: float) -> str:
    """Whole numbers (people) to two digits, others (epsilon) to three."""
    return f"{float(f'{value:.2g}'):,.0f}" if isinstance(value, int) else f"{value:.3g}"


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
