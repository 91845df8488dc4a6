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

from discreet import require
from discreet.budget.privacy import Privacy
from discreet.errors import ConfigError
from discreet.progress import Report, bar
from discreet.simulate.planning.plan import GOAL, Plan, Share
from discreet.simulate.problems.problem import Problem
from discreet.tasks import as_finished

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


def make_plan(case: Case, *, minutes: float = MINUTES) -> Plan:
    """Return the facts of a plan, the expected share, and what 90 % of the value would take.

    Parameters
    ----------
    case
        The planned problem: its size, its number of people and its privacy.
    minutes
        Limit of the simulations.
    """
    facts = case.facts()
    minutes = require.number("minutes", minutes, 0.01, 1e5)
    afforded = affordable(case, minutes)
    simulated = replace(case, rounds=afforded.people)
    answers = _simulate(simulated, afforded)
    enough_epsilon = answers.epsilons.least
    enough_people = answers.people.least
    return Plan(
        facts=facts | {"delta": case.privacy.delta, "contributions": case.privacy.contributions},
        in_words=in_words(case.privacy),
        world=case.world,
        worlds=afforded.effort.worlds,
        who=case.who,
        value=case.value,
        people=case.rounds,
        people_simulated=afforded.people,
        minutes_for_all_people=_minutes_for_all(case, afforded),
        expected_share=answers.expected.share,
        standard_error=answers.expected.standard_error,
        share_by_epsilon=answers.epsilons.trials,
        share_by_people=answers.people.trials,
        epsilon_for_90_percent=enough_epsilon and enough_epsilon.epsilon,
        people_for_90_percent=enough_people and enough_people.people,
        minutes_for_more_people=_minutes_for_more(simulated, afforded, answers.people),
    )


def _simulate(case: Case, afforded: Afforded) -> Answers:
    """Simulate a case, and search for the least epsilon and the fewest people that suffice."""
    effort = afforded.effort
    with (
        processes_for(afforded.seconds) as pool,
        ThreadPoolExecutor(2) as searches,
        bar("simulating", ceil(afforded.seconds)) as report,
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
    shares = []
    for _, share in as_finished(share_of, tasks, workers=1, executor=pool):
        shares.append(share)
        report(case.seconds)
    known = worlds > 1 and -inf not in shares
    standard_error = stdev(shares) / sqrt(worlds) if known else None
    return Share(case.privacy.epsilon, case.rounds, fmean(shares), standard_error)


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
