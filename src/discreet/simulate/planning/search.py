"""`discreet plan`: facts of a plan, and the share of value in a few simulated worlds.

Every problem has a case (`DisplayCase`, `CostsCase`, … in planning/cases.py). Three questions are
the same for all: the expected share of the value, the ε that would give 90 % of it, and the number
of people who would. All planned people are simulated, unless that takes too long; then the plan
states how long it would take. Seeds are fixed, so equal questions have equal answers. The amount of
simulation follows from the size of the case and from the allowed minutes, never from the clock.
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
"""The share of the value that a plan aims for."""
MINUTES = 1.0
"""Default limit of the simulations, in minutes."""
CORES = 2
"""Number of processes that simulate."""
FOR_PEOPLE = 0.5
"""Share of the time for the search over numbers of people; the rest is for everything else."""
ALONE = 3.0
"""Seconds of work below which one process is faster than two."""
STEPS = 15
"""Width of a search to each side, in half octaves: four trials suffice."""
STRIDE = 2
"""Largest step to more people, in half octaves, so that no trial is much larger than needed."""
CLIMB = 3.0
"""Time of all trials of more people together, in units of the last one."""
LEAST_EPSILON, MOST_EPSILON = 1e-9, 1e6
"""The range of ε that a guarantee can have."""
FIRST_WORLD = 1000
"""Seed of the first world."""
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
    "noise_of_report": "noise of a block's reported value",
    "preparation": "samples used for preparation",
    "passes": "passes",
    "error_in_people": "error of the choice, in people",
    "first_views_of_an_item": "views of an item in the first block",
    "tries_of_an_item": "tries of an item, in all",
    "tries_of_a_set": "tries of each set",
    "warning": "warning",
}


@dataclass(frozen=True)
class Case(Problem[Any, Any]):
    """A problem that can be planned: facts of its plan, and the time that a simulation takes."""

    @abstractmethod
    def facts(self) -> dict[str, object]:
        """Return public numbers of the plan and its `epsilon`; refuse impossible cases."""

    @property
    def most_people(self) -> int:
        """Largest number of simulated people: more would not fit into memory."""
        return 50_000_000

    @property
    @abstractmethod
    def seconds(self) -> float:
        """Approximate time to simulate one world on one core, in seconds."""


class Effort(NamedTuple):
    """Amount of simulation: worlds for the planned case, and worlds per trial of a search."""

    worlds: int
    searched: int

    @property
    def runs(self) -> float:
        """Number of runs of the planned case and of the search for an epsilon."""
        return self.worlds + self.searched * log2(STEPS + 1)


EFFORTS = (Effort(4, 4), Effort(4, 2), Effort(4, 1), Effort(2, 1))


class Afforded(NamedTuple):
    """The simulations that the allowed time permits."""

    effort: Effort
    people: int
    more: int
    """Largest increase of the number of people that is tried, in half octaves."""
    seconds: float
    """Upper bound of the time, on one core."""


class Share(NamedTuple):
    """Mean share of the value over worlds, at an epsilon and a number of people."""

    epsilon: float
    people: int
    share: float
    standard_error: float | None
    """Standard error over worlds; None with one world."""

    def __str__(self) -> str:
        error = "" if self.standard_error is None else f" ± {self.standard_error:.1%}"
        return f"{max(self.share, 0):.1%}{error}"


class Search(NamedTuple):
    """Result of a search: the least trial that reaches the goal, if any, and all trials."""

    least: Share | None
    trials: list[Share]


class Answers(NamedTuple):
    """Simulated answers: the expected share, and the searches over epsilons and over people."""

    expected: Share
    epsilons: Search
    people: Search


def share_of(case: Case, seed: int) -> float:
    """Return the share of the value in one world; −∞ for an impossible case."""
    with suppress(ConfigError):
        return case.share(seed)
    return -inf


def make_plan(case: Case, console: Console, minutes: float = MINUTES) -> dict[str, Any]:
    """Return the facts of a plan, the expected share, and what 90 % of the value would take.

    Parameters
    ----------
    case
        The planned problem: its size, its number of people and its privacy.
    console
        Where progress is shown.
    minutes
        Limit of the simulations.

    Returns
    -------
    dict
        Facts and simulated numbers by name, as `discreet plan --json` prints them.
    """
    facts = case.facts()
    minutes = require.number("minutes", minutes, 0.01, 1e5)
    afforded = affordable(case, minutes)
    simulated = replace(case, rounds=afforded.people)
    answers = _simulate(simulated, afforded, bars_on(console))
    return {
        "facts": facts | {"delta": case.privacy.delta, "contributions": case.privacy.contributions},
        "in_words": in_words(case.privacy),
        "world": case.world,
        "worlds": afforded.effort.worlds,
        "who": case.who,
        "value": case.value,
        "people": case.rounds,
        "people_simulated": afforded.people,
        "minutes_for_all_people": _minutes_for_all(case, afforded),
        **_simulated_numbers(answers),
        "minutes_for_more_people": _minutes_for_more(simulated, afforded, answers.people),
    }


def _simulate(case: Case, afforded: Afforded, bar: Bar) -> Answers:
    """Simulate a case, and search for the least epsilon and the fewest people that suffice."""
    effort = afforded.effort
    progress = bar("simulating", ceil(afforded.seconds))
    with (
        processes_for(afforded.seconds) as pool,
        ThreadPoolExecutor(2) as searches,
        progress as report,
    ):
        expected = _mean_share(case, effort.worlds, pool, report)
        share_at = partial(_mean_share, worlds=effort.searched, pool=pool, report=report)
        least = partial(_least, expected, share_at)
        fewest = min(STEPS, floor(2 * log2(case.rounds)))
        with_epsilon = partial(_with_epsilon, case)
        with_people = partial(_with_people, case)
        epsilons = searches.submit(least, with_epsilon, STEPS, STEPS, STEPS)
        people = searches.submit(least, with_people, fewest, afforded.more, STRIDE)
        return Answers(expected, epsilons.result(), people.result())


def _simulated_numbers(answers: Answers) -> dict[str, object]:
    """The numbers of a plan that were simulated."""
    enough_epsilon = answers.epsilons.least
    enough_people = answers.people.least
    return {
        "expected_share": answers.expected.share,
        "standard_error": answers.expected.standard_error,
        "share_by_epsilon": [row._asdict() for row in answers.epsilons.trials],
        "share_by_people": [row._asdict() for row in answers.people.trials],
        "epsilon_for_90_percent": enough_epsilon and enough_epsilon.epsilon,
        "people_for_90_percent": enough_people and enough_people.people,
    }


@contextmanager
def processes_for(seconds: float) -> Iterator[Executor | None]:
    """Yield processes for this amount of work, one thread each; None if one process is faster.

    Without the limit, libraries of linear algebra start one thread per core in each process, and
    the threads wait for each other.
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
    """Return a guarantee in plain words, for readers who do not know epsilon.

    >>> in_words(Privacy(1.0, 1e-6))
    "an attacker's odds ... change by at most a factor e^1 = 2.7, except with probability 1e-06"
    """
    factor = exp(min(privacy.epsilon, 700.0))
    failing = f", except with probability {privacy.delta:g}" if privacy.delta else ""
    return (
        f"an attacker's odds about one person change by at most a factor "
        f"e^{privacy.epsilon:g} = {factor:.2g}{failing}"
    )


def affordable(case: Case, minutes: float) -> Afforded:
    """Return the most thorough effort within the time; if none fits, with fewer people."""
    time = 60 * CORES * minutes
    for_all_else = (1 - FOR_PEOPLE) * time
    rounds = min(require.whole("rounds", case.rounds), case.most_people)
    fitting = (effort for effort in EFFORTS if effort.runs * _seconds(case, rounds) <= for_all_else)
    effort = next(fitting, EFFORTS[-1])
    people = _affordable_people(case, effort, rounds, for_all_else)
    more = 0
    while more < STEPS and people * 2 ** ((more + 1) / 2) <= case.most_people:
        if _climb(case, people, effort, more + 1) > FOR_PEOPLE * time:
            break
        more += 1
    seconds = effort.runs * _seconds(case, people) + _climb(case, people, effort, more)
    return Afforded(effort, people, more, seconds)


def _affordable_people(case: Case, effort: Effort, rounds: int, seconds: float) -> int:
    """Return the largest number of people, up to `rounds`, whose runs fit into the time."""
    if effort.runs * _seconds(case, rounds) <= seconds:
        return rounds
    low = 0  # a number of people that fits
    high = rounds + 1  # a number of people that does not fit
    while high - low > 1:
        middle = (low + high) // 2
        if effort.runs * _seconds(case, middle) <= seconds:
            low = middle
        else:
            high = middle
    return low or rounds


def _seconds(case: Case, people: float) -> float:
    return replace(case, rounds=max(1, round(people))).seconds


def _climb(case: Case, people: int, effort: Effort, more: int) -> float:
    """Return the time to try more people, up to this number of half octaves more."""
    return effort.searched * CLIMB * _seconds(case, people * 2 ** (more / 2)) if more else 0.0


def _minutes_for_all(case: Case, afforded: Afforded) -> int | None:
    """Return the minutes to simulate all people; None if they are, or do not fit into memory."""
    if afforded.people >= case.rounds or case.rounds > case.most_people:
        return None
    return ceil(EFFORTS[-1].runs * case.seconds / ((1 - FOR_PEOPLE) * 60 * CORES))


def _minutes_for_more(case: Case, afforded: Afforded, people: Search) -> int | None:
    """Return the minutes to try four times as many people; None if not needed or possible."""
    if people.least is not None or afforded.more >= STEPS:
        return None
    if case.rounds * 2 ** ((afforded.more + 1) / 2) > case.most_people:
        return None
    further = afforded.more + 2 * STRIDE
    return ceil(_climb(case, case.rounds, afforded.effort, further) / (FOR_PEOPLE * 60 * CORES))


def _with_people(case: Case, steps: int) -> Case:
    """Return the case with more people, by a number of half octaves."""
    return replace(case, rounds=round(case.rounds * 2 ** (steps / 2)))


def _with_epsilon(case: Case, steps: int) -> Case:
    """Return the case with more epsilon, by a number of half octaves, within the valid range."""
    epsilon = min(max(case.privacy.epsilon * 2 ** (steps / 2), LEAST_EPSILON), MOST_EPSILON)
    return replace(case, privacy=replace(case.privacy, epsilon=epsilon))


def _mean_share(case: Case, worlds: int, pool: Executor | None, report: Report) -> Share:
    """Return the mean share of the value over worlds."""
    tasks = [(case, FIRST_WORLD + number) for number in range(worlds)]
    bar = _part_of(report, case.seconds)
    shares = repeat(share_of, tasks, label="", bar=bar, workers=1, executor=pool)
    known = worlds > 1 and -inf not in shares
    standard_error = stdev(shares) / sqrt(worlds) if known else None
    return Share(case.privacy.epsilon, case.rounds, fmean(shares), standard_error)


def _part_of(report: Report, seconds: float) -> Bar:
    """Return a bar that moves another one, by a number of seconds per task."""

    @contextmanager
    def bar(label: str, total: int | None) -> Iterator[Report]:
        yield lambda count: report(count * seconds)

    return bar


def _least(
    expected: Share,
    share_at: Callable[[Case], Share],
    case_at: Callable[[int], Case],
    fewer: int,
    more: int,
    stride: int,
) -> Search:
    """Find the least of the cases −fewer, …, more that reaches the goal.

    `expected` is the share of case 0. The search goes upwards by at most `stride` per trial until
    one reaches the goal.
    """
    trials = [expected]
    least = expected if expected.share >= GOAL else None
    # Shares grow with the case: none up to `low` reaches the goal, all from `high` on do (the case
    # after the last one is untried).
    low, high = (-fewer - 1, 0) if least else (0, more + 1)
    while high - low > 1:
        middle = (low + high) // 2 if least else min((low + high) // 2, low + stride)
        trial = share_at(case_at(middle))
        trials.append(trial)
        if trial.share >= GOAL:
            least = trial
            high = middle
        else:
            low = middle
    return Search(least, sorted(set(trials), key=lambda trial: trial[:2]))


def print_plan(plan: dict[str, Any], console: Console) -> None:
    """Print a plan as a table: the facts first, then the simulated numbers."""
    table = Table(show_header=False, title="What this budget buys")
    _add_facts(table, plan)
    table.add_section()
    _add_simulated(table, plan)
    console.print(table)


def _add_facts(table: Table, plan: dict[str, Any]) -> None:
    """Add the rows of the facts that are fixed beforehand."""
    facts = plan["facts"]
    for name, value in facts.items():
        if name in NAMES:
            table.add_row(NAMES[name].format(who=plan["who"]), _shown(value))
    failing = f" at delta = {facts['delta']:g}" if facts["delta"] else ""
    table.add_row("privacy spent in the end", f"epsilon = {facts['epsilon']:.4g}{failing}")
    table.add_row("in plain words", plan["in_words"])
    if facts["contributions"] > 1:
        rounds = f"up to {facts['contributions']}, all of them together"
        table.add_row("rounds of one person", rounds)


def _add_simulated(table: Table, plan: dict[str, Any]) -> None:
    """Add the rows of the simulated numbers."""
    who = plan["who"]
    expected = Share(0.0, 0, plan["expected_share"], plan["standard_error"])
    table.add_row("share of the value", str(expected))
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


def _remedy(minutes: int | None) -> str:
    """The option that would simulate enough people."""
    if minutes is None:
        return "too many to simulate"
    return f"takes --minutes {minutes}"


def _enough(name: str, least: float | None, trials: list[dict[str, Any]]) -> str:
    """The least number that reaches the goal, or the share that the largest trial reaches."""
    if least is None:
        last = max(trials, key=lambda row: row[name])
        most = _rounded(last[name])
        share = f"{max(last['share'], 0):.1%}"
        if name == "epsilon":
            return f"none: {most} gives {share}"
        return f"more than {most}, which give {share}"
    is_lowest_trial = least <= min(row[name] for row in trials)
    return f"{'at most' if is_lowest_trial else 'about'} {_rounded(least)}"


def _rounded(value: float) -> str:
    """Return a number as text: whole numbers (people) to two digits, others (epsilon) to three."""
    return f"{float(f'{value:.2g}'):,.0f}" if isinstance(value, int) else f"{value:.3g}"


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
