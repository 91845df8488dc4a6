"""The exact transcript audit: the privacy cost of one person at the door, against the charge.

One stream of people passes a door that records every integer vector and every table of weights; a
neighbouring stream is then sent through the same released transcript by a forced door (doors.py).
Along it the privacy loss is a function of the two streams' integers alone, so its sure cost can be
added up:

    noise     ‖v‖²/2σ² (zCDP) or ‖v‖₁/scale (pure)    v: difference of the two integer vectors
    a draw    b²/8 (zCDP) or b (pure)                  b: range of the log-ratios of the two tables
    a path    |log-ratio| of its likelihoods (pure)    the changed people's coins averaged out

The cost is compared with the charge after every release, in the measure of the step. Each passage
is compared with its own charge too, because a release of many passages can hide one that costs too
much. All that a person costs, over all their rounds, is compared with the budget; where rounds name
their person, each block with the charge of one round. Releases of cohorts without the changed
person must show no difference at all.

After every call everything visible must be the same in both runs (life.py, visible.py); under joint
privacy, where a person's context may decide the own decision, all but the changed person's own
decisions. After every release the ledger must be what the plan charged, and the guarantee must say
so (accounts.py).

People are hostile, react to decisions, answer late or never (neighbours.py); in every second pair
they are as far apart as an aggregator allows, in a block whose release reads it (extremes.py).
Transcripts are drawn from the law and beyond it (noise fifty times as large or none, draws of tiny
probability), because a proof holds for all of them.

The audit does not see the law of the noise, random bits that are used twice, and timing. Other
tests do.

Guarantee   docs/guarantees/engine.md, Theorem 4
"""

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from math import inf
from typing import NamedTuple

import numpy as np

from discreet.audit.cases.case import Case
from discreet.audit.doors import LOUD, QUIET, Passed, Tape
from discreet.audit.extremes import Extremes, targets
from discreet.audit.life import Life, Note, Steps
from discreet.audit.neighbours import Neighbours
from discreet.audit.pair import Pair, Seeds
from discreet.audit.search import Target
from discreet.budget.ledger import Spending
from discreet.engine.codec import fingerprint
from discreet.learners.base import Learner

ROUNDING = 1e-12
"""Rounding error of the logarithms of weights; charges of noise are compared exactly."""


@dataclass(frozen=True)
class Audited:
    """The result of a transcript audit of one learner."""

    name: str
    """The name of the case."""
    measure: str
    """The measure in which most is charged: "pure" or "zcdp"."""
    claim: float
    """The charge of the whole plan in that measure."""
    pairs: int
    """The number of pairs of streams."""
    largest_cost_over_charge: float
    worst: int
    """The number of the pair that cost most."""
    passages: dict[Passed, float]
    """The largest cost over charge per kind of passage, each passage against its own charge."""


def audit_transcript(case: Case, *, pairs: int = 200, seed: int = 0) -> Audited:
    """Compare the cost of one person with the charge, over pairs of neighbouring streams.

    Parameters
    ----------
    case
        The learner and its people.
    pairs
        The number of pairs of streams.
    seed
        The seed of the people.

    Returns
    -------
    The largest cost over charge, and the pair in which it occurred.

    Raises
    ------
    AssertionError
        If one person can cost more than is charged, or shows other than through the door.

    Guarantee   docs/guarantees/engine.md, Theorem 4

    Examples
    --------
    >>> from discreet.audit.cases.learners import cases
    >>> audit_transcript(cases()[0], pairs=4).largest_cost_over_charge <= 1
    True
    """
    audited = measured_costs(case, pairs=pairs, seed=seed)
    largest = audited.largest_cost_over_charge
    assert largest <= 1 + ROUNDING, (
        f"{case.name}: one person can cost {largest:.4g} times what is charged"
    )
    return audited


def neighbours(
    case: Case, like: Learner, *, seed: int, number: int, stages: list[Target] | None = None
) -> Pair:
    """Return the pair of this number: even ones are drawn, odd ones searched for large costs.

    `stages` are the targets of odd pairs (`targets`); they are computed if they are not given.
    """
    generator = np.random.default_rng([seed, number])
    if number % 2 == 0:
        return Neighbours.drawn(case, like, generator)
    stages = targets(case, like, seed) if stages is None else stages
    target = stages[number // 2 % len(stages)]
    seeds = Seeds(*generator.integers(2**63, size=3).tolist())
    # A path shows one person best where draws have a tiny probability; elsewhere loud noise may
    # hide later releases.
    loudness = LOUD if target.passed.law == "path" else int(generator.choice([QUIET, QUIET, 1]))
    repeated = bool(generator.random() < 0.5)
    return Extremes(case, like, target, seeds, loudness, repeated)


def measured_costs(case: Case, *, pairs: int, seed: int, enough: float = inf) -> Audited:
    """Return the result of the audit without judging it.

    The audit stops once a cost exceeds `enough` times its charge.
    """
    learner = case.make()
    claim = _claim(learner.guarantee.total)
    stages = targets(case, learner, seed)
    costs: list[float] = []
    passages: dict[Passed, float] = defaultdict(float)
    while len(costs) < pairs and max(costs, default=0.0) <= enough:
        pair = neighbours(case, learner, seed=seed, number=len(costs), stages=stages)
        ratios = _cost_over_charge(pair)
        costs.append(ratios.largest)
        for passed, ratio in ratios.passages.items():
            passages[passed] = max(passages[passed], ratio)
    worst = int(np.argmax(costs))
    return Audited(
        name=case.name,
        measure=claim.measure,
        claim=claim.amount,
        pairs=len(costs),
        largest_cost_over_charge=costs[worst],
        worst=worst,
        passages=dict(passages),
    )


class Claim(NamedTuple):
    """The measure in which a plan charges most, and the charge."""

    measure: str
    amount: float


def _claim(total: Spending) -> Claim:
    amounts = {"pure": total.pure, "zcdp": total.zcdp}
    amounts[total.everyone.measure] += total.everyone.amount
    measure = max(amounts, key=lambda name: amounts[name])
    return Claim(measure, amounts[measure])


class Ratios(NamedTuple):
    """Cost over charge along one transcript: the largest, and the largest per kind of passage."""

    largest: float
    passages: dict[Passed, float]


def _cost_over_charge(pair: Pair) -> Ratios:
    """Live both streams of a pair through one transcript, and compare costs with charges."""
    tape = Tape(pair.loudness)
    steps = _lived_twice(pair, tape)
    # Where rounds name their person: the number of their blocks that are read together.
    blocks = max(_own_blocks(pair, steps).values(), default=1)
    several = blocks if pair.owners else pair.contributions
    passages = {
        passed: ratio / _group(passed.measure, several)
        for passed, ratio in tape.largest_ratio.items()
    }
    by_release = _largest_of_releases(pair, steps, tape.costs)
    of_budget = _share_of_budget(pair, steps, tape.costs)
    return Ratios(max(by_release, of_budget, *passages.values(), 0.0), passages)


def _lived_twice(pair: Pair, tape: Tape) -> Steps:
    """Record one stream and force its transcript on the other; all visible values must agree."""
    name = pair.case.name
    # Public coins are part of the transcript: they are the same in both runs.
    settings = replace(pair.like.settings, seed=pair.seeds.public)
    learner = type(pair.like)
    here: list[tuple[str, str]] = []
    there: list[tuple[str, str]] = []

    def noted(seen: list[tuple[str, str]]) -> Note:
        return lambda what, value: seen.append((what, fingerprint(value)))

    recorded = learner.from_settings(settings, door=tape.recording)
    Life(pair, recorded, noted(here), replaced=False).lead()
    forced = learner.from_settings(settings, door=tape.forcing)
    steps = Life(pair, forced, noted(there), replaced=True).lead()
    for (what, one), (_, two) in zip(here, there, strict=False):
        assert one == two, (
            f"{name}: something visible depends on a person other than by the door: {what}"
        )
    assert len(here) == len(there), f"{name}: how much is visible depends on a person"
    assert tape.position == len(tape.passages), f"{name}: the number of draws depends on data"
    return steps


def _group(measure: str, several: int) -> int:
    """Return the factor of group privacy: k for k contributions in pure DP, k² in zCDP."""
    return several if measure == "pure" else several**2


def _share_of_budget(pair: Pair, steps: Steps, costs: dict[int, float]) -> float:
    """Return the cost of all changed rounds over a person's budget, in the larger measure."""
    privacy = pair.like.settings.privacy
    budget: dict[str, float] = {
        "pure": privacy.epsilon,
        privacy.whole.measure: privacy.whole.amount,
    }
    spent: dict[str, float] = defaultdict(float)
    for index, taken in enumerate(steps):
        spent[taken.step.charge.measure] += costs.get(index, 0.0)
    return max(spent[measure] / budget[measure] for measure in spent)


def _own_blocks(pair: Pair, steps: Steps) -> Counter[object]:
    """Count the blocks of each cohort that have the changed person."""
    own: Counter[object] = Counter()
    for taken in steps:
        # The rows of a log are a step without rounds.
        in_log = pair.in_log and not taken.step.rounds
        if in_log or any(map(taken.has, pair.changed)):
            own[taken.step.cohort] += 1
    return own


def _largest_of_releases(pair: Pair, steps: Steps, costs: dict[int, float]) -> float:
    """Return the largest cost over charge after any release.

    Releases without a cohort add up, and those of each cohort add up on their own.
    """
    own = _own_blocks(pair, steps)
    charged: dict[object, float] = defaultdict(float)
    cost: dict[object, float] = defaultdict(float)
    largest = 0.0
    for index, taken in enumerate(steps):
        charge = taken.step.charge
        cohort = taken.step.cohort
        account = (cohort, charge.measure)
        if cohort is not None and cohort not in own:
            assert costs.get(index, 0.0) == 0, (
                f"{pair.case.name}: release {index} shows a person of another cohort"
            )
        several = own[cohort] if pair.owners else pair.contributions
        cost[account] += costs.get(index, 0.0)
        charged[account] += charge.amount * _group(charge.measure, several)
        if cost[account] > 0:
            ratio = cost[account] / charged[account] if charged[account] > 0 else inf
            largest = max(largest, ratio)
    return largest
