"""What a budget buys, before it is spent: facts of the plan, and what is kept in a few made-up
worlds.

Every problem has a case (`DisplayCase`, `CostsCase`, … in planning/cases.py). What is asked of it
is the same for all: the share of the value that is kept, which ε would keep 90 %, and how many
people. All people that are planned are simulated, unless that takes too long; then the plan says
how long. Seeds are fixed: the same question has the same answer. How much is simulated follows from
the size of the case and from the minutes that it may take, never from the clock.
"""

import os
from abc import abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from math import ceil, exp, floor, inf, log2, sqrt
from multiprocessing import get_context
from statistics import fmean, stdev
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from discreet import require
from discreet.budget.privacy import Privacy
from discreet.errors import ConfigError
from discreet.progress import Bar, Report, bars_on
from discreet.simulate.problems.problem import Problem
from discreet.tasks import repeat

GOAL = 0.9
"""The share of the value that is aimed for."""
MINUTES = 1.0
"""How long the simulations may take, unless more is asked for."""
CORES = 2
"""How many processes simulate."""
FOR_PEOPLE = 0.5
"""The share of the time for the search of how many people are enough; the rest is for all else."""
ALONE = 3.0
"""Seconds below which one process does it sooner than two."""
STEPS = 15
"""How far is searched to each side, in half octaves: found by four trials."""
STRIDE = 2
"""Half octaves by which more people are tried at a time, so that no trial is much larger than
needed.
"""
CLIMB = 3.0
"""How long all trials of more people take together, in units of the last one."""
LEAST_EPSILON, MOST_EPSILON = 1e-9, 1e6
"""Between these, a guarantee can be asked for."""
FIRST_WORLD = 1000
"""The seed of the first world."""
NAMES = {
    "method": "learns by",
    "why": "because",
    "block": "{who} between releases (first block)",
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
class Case(Problem[Any, Any]):
    """A problem that can be planned: facts of its plan, and what it takes to simulate it."""

    @abstractmethod
    def facts(self) -> dict[str, object]:
        """Return public numbers of the plan, and `epsilon` as it will be spent; refuse what
        cannot be.
        """

    @property
    def most_people(self) -> int:
        """How many people are simulated at most: more would not fit into memory."""
        return 50_000_000

    @property
    @abstractmethod
    def seconds(self) -> float:
        """About how long it takes to simulate one world, on one core."""


class Effort(NamedTuple):
    """How much is simulated: worlds for the question itself, and worlds for each trial of a
    search.
    """

    worlds: int
    searched: int

    @property
    def runs(self) -> float:
        """How many runs the question and the search for an epsilon take."""
        return self.worlds + self.searched * log2(STEPS + 1)


EFFORTS = (Effort(4, 4), Effort(4, 2), Effort(4, 1), Effort(2, 1))


class Afforded(NamedTuple):
    """What there is time for."""

    effort: Effort
    people: int
    more: int
    """How many half octaves more people are tried at most."""
    seconds: float
    """How long that takes at most, on one core."""


class Kept(NamedTuple):
    """The share of the value that is kept at an epsilon and a number of people, on average over
    worlds.
    """

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


def make_plan(case: Case, console: Console, minutes: float = MINUTES) -> dict[str, Any]:
    """Facts, the share that is expected, and which epsilon or how many people would keep 90 %."""
    facts = case.facts()
    minutes = require.number("minutes", minutes, 0.01, 1e5)
    effort, people, more, seconds = _afforded(case, minutes)
    simulated = replace(case, rounds=people)
    fewest = min(STEPS, floor(2 * log2(people)))
    bar = bars_on(console)("simulating", ceil(seconds))
    with _workers(seconds) as pool, ThreadPoolExecutor(2) as searches, bar as report:
        asked = _kept(simulated, effort.worlds, pool, report)
        kept = partial(_kept, worlds=effort.searched, pool=pool, report=report)
        with_epsilon, with_people = (
            partial(_with_epsilon, simulated),
            partial(_with_people, simulated),
        )
        by_epsilon = searches.submit(_least, asked, kept, with_epsilon, STEPS, STEPS, STEPS)
        by_people = searches.submit(_least, asked, kept, with_people, fewest, more, STRIDE)
        (epsilon, epsilons), (enough, tried) = by_epsilon.result(), by_people.result()
    return {
        "facts": facts | {"delta": case.privacy.delta, "contributions": case.privacy.contributions},
        "in_words": in_words(case.privacy),
        "world": case.world,
        "worlds": effort.worlds,
        "who": case.who,
        "value": case.value,
        "people": case.rounds,
        "people_simulated": people,
        "minutes_for_all_people": _minutes_for_all(case) if people < case.rounds else None,
        "expected_share": asked.share,
        "standard_error": asked.standard_error,
        "share_by_epsilon": [row._asdict() for row in epsilons],
        "share_by_people": [row._asdict() for row in tried],
        "epsilon_for_90_percent": epsilon and epsilon.epsilon,
        "people_for_90_percent": enough and enough.people,
        "minutes_for_more_people": None if enough else _minutes_for_more(simulated, effort, more),
    }


@contextmanager
def _workers(seconds: float) -> Iterator[Executor | None]:
    """Processes for so much work, one thread each; None if it is done sooner without.

    Libraries of linear algebra would start as many threads as there are cores in each of them, and
    wait.
    """
    if seconds < ALONE:
        yield None
        return
    before = {name: os.environ.get(name) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    os.environ.update(dict.fromkeys(before, "1"))
    try:
        with ProcessPoolExecutor(CORES, mp_context=get_context("spawn")) as pool:
            yield pool
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


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


def _afforded(case: Case, minutes: float) -> Afforded:
    """The most thorough effort that there is time for; if there is too little for any, with
    fewer people.
    """
    time = 60 * CORES * minutes
    for_all_else = (1 - FOR_PEOPLE) * time
    rounds = min(require.whole("rounds", case.rounds), case.most_people)
    fitting = (effort for effort in EFFORTS if effort.runs * _seconds(case, rounds) <= for_all_else)
    effort = next(fitting, EFFORTS[-1])
    low, high = 0, rounds + 1  # numbers of people that can and that cannot be afforded
    while high - low > 1 and effort.runs * _seconds(case, rounds) > for_all_else:
        middle = (low + high) // 2
        fits = effort.runs * _seconds(case, middle) <= for_all_else
        low, high = (middle, high) if fits else (low, middle)
    people = max(low, 1) if low else rounds
    more = 0
    while more < STEPS and people * 2 ** ((more + 1) / 2) <= case.most_people:
        if _climb(case, people, effort, more + 1) > FOR_PEOPLE * time:
            break
        more += 1
    seconds = effort.runs * _seconds(case, people) + _climb(case, people, effort, more)
    return Afforded(effort, people, more, seconds)


def _seconds(case: Case, people: float) -> float:
    return replace(case, rounds=max(1, round(people))).seconds


def _climb(case: Case, people: int, effort: Effort, more: int) -> float:
    """Return how long it takes to try more people, up to a number of half octaves more."""
    return effort.searched * CLIMB * _seconds(case, people * 2 ** (more / 2)) if more else 0.0


def _minutes_for_all(case: Case) -> int | None:
    """How many minutes it would take to simulate all people; None if they would not fit into
    memory.
    """
    if case.rounds > case.most_people:
        return None
    return ceil(EFFORTS[-1].runs * case.seconds / ((1 - FOR_PEOPLE) * 60 * CORES))


def _minutes_for_more(case: Case, effort: Effort, tried: int) -> int | None:
    """How many minutes it would take to try four times as many people; None if more do not fit."""
    further = tried + 2 * STRIDE
    if case.rounds * 2 ** ((tried + 1) / 2) > case.most_people or tried >= STEPS:
        return None
    return ceil(_climb(case, case.rounds, effort, further) / (FOR_PEOPLE * 60 * CORES))


def _with_people(case: Case, steps: int) -> Case:
    """The case with more people, by a number of half octaves."""
    return replace(case, rounds=round(case.rounds * 2 ** (steps / 2)))


def _with_epsilon(case: Case, steps: int) -> Case:
    """The case with more epsilon, by a number of half octaves, as far as a guarantee can have
    it.
    """
    epsilon = min(max(case.privacy.epsilon * 2 ** (steps / 2), LEAST_EPSILON), MOST_EPSILON)
    return replace(case, privacy=replace(case.privacy, epsilon=epsilon))


def _kept(case: Case, worlds: int, pool: Executor | None, report: Report) -> Kept:
    """The share that is kept, on average over worlds."""
    tasks = [(case, FIRST_WORLD + number) for number in range(worlds)]
    bar = _part_of(report, case.seconds)
    shares = repeat(share_of, tasks, label="", bar=bar, workers=1, executor=pool)
    known = worlds > 1 and -inf not in shares
    return Kept(
        case.privacy.epsilon,
        case.rounds,
        fmean(shares),
        stdev(shares) / sqrt(worlds) if known else None,
    )


def _part_of(report: Report, seconds: float) -> Bar:
    """Return a bar that moves another one, by a number of seconds per task."""

    @contextmanager
    def bar(label: str, total: int) -> Iterator[Report]:
        yield lambda count: report(count * seconds)

    return bar


def _least(
    asked: Kept,
    kept: Callable[[Case], Kept],
    at: Callable[[int], Case],
    fewer: int,
    more: int,
    stride: int,
) -> tuple[Kept | None, list[Kept]]:
    """The least of the cases `at` −fewer, …, more that keeps enough, and all that were tried.

    `asked` is the one at 0. Upwards at most `stride` at a time, until one is enough.
    """
    tried = [asked]
    found = asked if asked.share >= GOAL else None
    # Shares grow: up to `low` nothing is enough, from `high` on all is (one beyond the last is
    # untried).
    low, high = (-fewer - 1, 0) if found else (0, more + 1)
    while high - low > 1:
        middle = (low + high) // 2 if found else min((low + high) // 2, low + stride)
        row = kept(at(middle))
        tried.append(row)
        if row.share >= GOAL:
            found, high = row, middle
        else:
            low = middle
    return found, sorted(set(tried), key=lambda row: row[:2])


def print_plan(plan: dict[str, Any], console: Console) -> None:
    """The plan as a table: what is fixed beforehand, then what was simulated."""
    facts, who = plan["facts"], plan["who"]
    table = Table(show_header=False, title="What this budget buys")
    for name, value in facts.items():
        if name in NAMES:
            table.add_row(NAMES[name].format(who=who), _shown(value))
    failing = f" at delta = {facts['delta']:g}" if facts["delta"] else ""
    table.add_row("privacy spent in the end", f"epsilon = {facts['epsilon']:.4g}{failing}")
    table.add_row("in plain words", plan["in_words"])
    if facts["contributions"] > 1:
        table.add_row(
            "rounds of one person", f"up to {facts['contributions']}, all of them together"
        )
    table.add_section()
    asked = Kept(0.0, 0, plan["expected_share"], plan["standard_error"])
    table.add_row("share of the value kept", str(asked))
    table.add_row("the value is", plan["value"])
    simulated = f"{plan['people_simulated']:,} {who} in {plan['worlds']} worlds: {plan['world']}"
    table.add_row("simulated", simulated)
    if plan["people_simulated"] < plan["people"]:
        table.add_row("", f"all {plan['people']:,}: {_remedy(plan['minutes_for_all_people'])}")
    for name, what in (("epsilon", "epsilon"), ("people", who)):
        enough = _enough(name, plan[f"{name}_for_90_percent"], plan[f"share_by_{name}"])
        if name == "people" and plan["people_for_90_percent"] is None:
            enough += f"; to try more: {_remedy(plan['minutes_for_more_people'])}"
        table.add_row(f"{what} for 90 %", enough)
    console.print(table)


def _remedy(minutes: int | None) -> str:
    """What to do if fewer people were simulated than it takes."""
    if minutes is None:
        return "so many are never simulated"
    return f"takes --minutes {minutes}"


def _enough(name: str, found: float | None, tried: list[dict[str, Any]]) -> str:
    """The least that was enough, among those that were tried; or what the largest keeps."""
    if found is None:
        last = max(tried, key=lambda row: row[name])
        most, share = _rounded(last[name]), f"{max(last['share'], 0):.1%}"
        return (
            f"none: {most} keeps {share}"
            if name == "epsilon"
            else f"more than {most}, who keep {share}"
        )
    is_least = found <= min(row[name] for row in tried)
    return f"{'at most' if is_least else 'about'} {_rounded(found)}"


def _rounded(value: float) -> str:
    """Whole numbers (people) to two digits, others (epsilon) to three."""
    return f"{float(f'{value:.2g}'):,.0f}" if isinstance(value, int) else f"{value:.3g}"


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
