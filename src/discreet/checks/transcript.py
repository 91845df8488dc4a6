"""The exact transcript audit: what one person can change in what meets the door, against what was charged.

One stream of people passes a door that records every integer vector and every table of weights; a
neighbouring stream is then sent through the same released transcript by a door that is forced (doors.py).
Along it the privacy loss is a function of the two streams' integers alone, so its sure cost can be added up:

    noise        ‖v‖²/2σ² (zCDP) or ‖v‖₁/scale (pure)     v: how far the two integer vectors are apart
    a draw       b²/8 (zCDP) or b (pure)                   b: the range of the log-ratios of the two tables
    a path       |log-ratio| of its likelihoods (pure)     the changed people's coins averaged out

and compared with the charge after every turn, in the measure of the step that people are in; each release
with noise also with its own price, because a turn of many hides one that costs too much. All that a person
costs is compared with what was asked for, over all their rounds; where rounds name their person, each block
with the price of one round. Cohorts that the
changed people are not in must show no difference at all, and everything visible must be the same in both
runs; under joint privacy, where a person's context may decide what they are given, all but the changed
people's own decisions. People are hostile, react to decisions, answer late or never (neighbours.py);
transcripts are drawn from the law and beyond it (noise fifty times as large, uniform draws), because a proof
holds for all of them.

What it does not see: the law of the noise, words that are used twice, timing. Other tests do.

Guarantee   docs/guarantees/turn.md, Theorem 4
"""

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np

from discreet.checks.case import Case
from discreet.checks.doors import Tape
from discreet.checks.neighbours import Neighbours, Steps
from discreet.learners.learner import Learner
from discreet.turn.described import fingerprint

__all__ = ["ROUNDING", "Audited", "audit_transcript", "measured_costs", "neighbours"]

ROUNDING = 1e-12
"""Of the logarithms of weights; charges of noise are compared exactly."""


@dataclass(frozen=True)
class Audited:
    """What an audit of one learner found."""

    name: str
    measure: str
    claim: float
    pairs: int
    largest_cost_over_charge: float
    worst: int
    """Which pair cost most."""


def audit_transcript(case: Case, *, pairs: int = 200, seed: int = 0) -> Audited:
    """Send pairs of neighbouring streams through the same transcripts; raises if one costs too much."""
    found = measured_costs(case, pairs=pairs, seed=seed)
    largest = found.largest_cost_over_charge
    assert largest <= 1 + ROUNDING, f"{case.name}: one person can cost {largest:.4g} times what is charged"
    return found


def neighbours(case: Case, like: Learner, *, seed: int, number: int) -> Neighbours:
    """The pair of this number."""
    return Neighbours.drawn(case, like, np.random.default_rng([seed, number]))


def measured_costs(case: Case, *, pairs: int, seed: int, enough: float = inf) -> Audited:
    """The same, whatever is found; it stops once a cost exceeds `enough` times its charge."""
    learner = case.make()
    total = learner.guarantee.total
    claims = {"pure": total.pure, "zcdp": total.zcdp}
    claims[total.everyone.measure] += total.everyone.amount
    measure = max(claims, key=lambda name: claims[name])
    costs: list[float] = []
    while len(costs) < pairs and max(costs, default=0.0) <= enough:
        number = len(costs)
        wild = bool(np.random.default_rng([seed, number, 1]).random() < 0.5)
        costs.append(_cost_over_charge(neighbours(case, learner, seed=seed, number=number), wild=wild))
    worst = int(np.argmax(costs))
    return Audited(case.name, measure, claims[measure], len(costs), costs[worst], worst)


def _cost_over_charge(pair: Neighbours, *, wild: bool) -> float:
    """The largest cost over charge along one transcript."""
    tape, name = Tape(wild=wild), pair.case.name
    # Public coins are part of the transcript: the same in both runs.
    settings = replace(pair.like.settings, seed=pair.seeds[2])
    here: list[str] = []
    there: list[str] = []

    def noted(where: list[str]) -> Any:
        return lambda value: where.append(fingerprint(value))

    learner = type(pair.like)
    pair.live(learner.from_settings(settings, door=tape.recording), noted(here), replaced=False)
    forced = learner.from_settings(settings, door=tape.forcing)
    steps = pair.live(forced, noted(there), replaced=True)
    assert here == there, f"{name}: something visible depends on a person other than by the door"
    assert tape.position == len(tape.passages), f"{name}: the number of draws depends on data"
    once = 1 if pair.owners else pair.contributions
    alone = (ratio / _group(measure, once) for measure, ratio in tape.alone.items())
    return max(_worst(pair, steps, tape.costs), _whole(pair, steps, tape.costs), *alone, 0.0)


def _group(measure: str, several: int) -> int:
    """How many times a charge so many changed rounds may cost: pure so many, zCDP the square of that."""
    return several if measure == "pure" else several**2


def _whole(pair: Neighbours, steps: Steps, costs: dict[int, float]) -> float:
    """All that the changed rounds cost over what a person may, in the measure that is nearer to it."""
    privacy = pair.like.settings.privacy
    may: dict[str, float] = {"pure": privacy.epsilon, privacy.whole.measure: privacy.whole.amount}
    spent: dict[str, float] = defaultdict(float)
    for index, (_, step) in enumerate(steps):
        spent[step.charge.measure] += costs.get(index, 0.0)
    return max(spent[measure] / may[measure] for measure in spent)


def _worst(pair: Neighbours, steps: Steps, costs: dict[int, float]) -> float:
    """Costs against charges, after every turn: everyone's add up, each cohort's stands alone."""
    name = pair.case.name
    own: Counter[Any] = Counter()  # in how many blocks of each cohort the changed person is
    for begin, step in steps:
        of_log = pair.in_log and not step.rounds  # people who come in no round are a step of their own
        if of_log or any(begin <= round < begin + step.rounds for round in pair.changed):
            own[step.cohort] += 1
    paid: dict[Any, float] = defaultdict(float)
    due: dict[Any, float] = defaultdict(float)
    worst = 0.0
    for index, (_, step) in enumerate(steps):
        cost, account = costs.get(index, 0.0), (step.cohort, step.charge.measure)
        if step.cohort is not None and step.cohort not in own:
            assert cost == 0, f"{name}: release {index} shows a person of another cohort"
        due[account] += cost
        several = own[step.cohort] if pair.owners else pair.contributions
        paid[account] += step.charge.amount * _group(step.charge.measure, several)
        if due[account] > 0:
            worst = max(worst, due[account] / paid[account] if paid[account] > 0 else inf)
    return worst
