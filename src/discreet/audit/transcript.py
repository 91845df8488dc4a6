"""The exact transcript audit: what one person can change in what meets the door, against what was
charged.

One stream of people passes a door that records every integer vector and every table of weights; a
neighbouring stream is then sent through the same released transcript by a door that is forced
(doors.py). Along it the privacy loss is a function of the two streams' integers alone, so its sure
cost can be added up:

    noise        ‖v‖²/2σ² (zCDP) or ‖v‖₁/scale (pure)     v: how far the two integer vectors are apart
    a draw       b²/8 (zCDP) or b (pure)                   b: the range of the log-ratios of the two tables
    a path       |log-ratio| of its likelihoods (pure)     the changed people's coins averaged out

and compared with the charge after every turn, in the measure of the step that people are in; each
passage also with its own price, because a turn of many hides one that costs too much. All that a
person costs is compared with what was asked for, over all their rounds; where rounds name their
person, each block with the price of one round. Cohorts that the changed people are not in must show
no difference at all. After every call everything visible must be the same in both runs (life.py,
visible.py); under joint privacy, where a person's context may decide what they are given, all but
the changed people's own decisions. After every release the ledger must be what the plan charged,
and the guarantee must say so (accounts.py).

People are hostile, react to decisions, answer late or never (neighbours.py); in every second pair
they are as far apart as an aggregator allows, in a stage that releases it (extremes.py).
Transcripts are drawn from the law and beyond it (noise fifty times as large or none, uniform
draws), because a proof holds for all of them.

What it does not see: the law of the noise, words that are used twice, timing. Other tests do.

Guarantee   docs/guarantees/engine.md, Theorem 4
"""

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from math import inf

import numpy as np

from discreet.audit.cases.case import Case
from discreet.audit.doors import LOUD, QUIET, Passed, Tape
from discreet.audit.extremes import Extremes, Target, targets
from discreet.audit.life import Life, Note, Steps
from discreet.audit.neighbours import Neighbours
from discreet.engine.codec import fingerprint
from discreet.learners.base import Learner

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
    passages: dict[Passed, float]
    """The largest cost over charge of what passed the door, each passage against its own price."""


def audit_transcript(case: Case, *, pairs: int = 200, seed: int = 0) -> Audited:
    """Send pairs of neighbouring streams through the same transcripts; raises if one costs too
    much.
    """
    found = measured_costs(case, pairs=pairs, seed=seed)
    largest = found.largest_cost_over_charge
    assert largest <= 1 + ROUNDING, (
        f"{case.name}: one person can cost {largest:.4g} times what is charged"
    )
    return found


AnyPair = Neighbours | Extremes


def neighbours(
    case: Case, like: Learner, *, seed: int, number: int, stages: list[Target] | None = None
) -> AnyPair:
    """The pair of this number: even ones are drawn, odd ones as far apart as a stage's aggregator
    allows.

    `stages` are the targets of odd pairs (`targets`); they are found again where they are not
    given.
    """
    generator = np.random.default_rng([seed, number])
    if number % 2 == 0:
        return Neighbours.drawn(case, like, generator)
    stages = targets(case, like, seed) if stages is None else stages
    target = stages[number // 2 % len(stages)]
    one, two, three = generator.integers(2**63, size=3).tolist()
    # Of a path only what the law would hardly ever draw tells; elsewhere noise may hide later
    # stages.
    loudness = LOUD if target.passed.law == "path" else int(generator.choice([QUIET, QUIET, 1]))
    return Extremes(
        case, like, target, (one, two, three), loudness, several=bool(generator.random() < 0.5)
    )


def measured_costs(case: Case, *, pairs: int, seed: int, enough: float = inf) -> Audited:
    """The same, whatever is found; it stops once a cost exceeds `enough` times its charge."""
    learner = case.make()
    total = learner.guarantee.total
    claims = {"pure": total.pure, "zcdp": total.zcdp}
    claims[total.everyone.measure] += total.everyone.amount
    measure = max(claims, key=lambda name: claims[name])
    costs: list[float] = []
    passages: dict[Passed, float] = defaultdict(float)
    stages = targets(case, learner, seed)
    while len(costs) < pairs and max(costs, default=0.0) <= enough:
        pair = neighbours(case, learner, seed=seed, number=len(costs), stages=stages)
        cost, alone = _cost_over_charge(pair)
        costs.append(cost)
        for passed, ratio in alone.items():
            passages[passed] = max(passages[passed], ratio)
    worst = int(np.argmax(costs))
    return Audited(
        case.name, measure, claims[measure], len(costs), costs[worst], worst, dict(passages)
    )


def _cost_over_charge(pair: AnyPair) -> tuple[float, dict[Passed, float]]:
    """The largest cost over charge along one transcript, and of each passage against its own
    price.
    """
    tape, name = Tape(pair.loudness), pair.case.name
    # Public coins are part of the transcript: the same in both runs.
    settings = replace(pair.like.settings, seed=pair.seeds[2])
    here: list[tuple[str, str]] = []
    there: list[tuple[str, str]] = []

    def noted(where: list[tuple[str, str]]) -> Note:
        return lambda what, value: where.append((what, fingerprint(value)))

    learner = type(pair.like)
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
    # Where rounds name their person: in how many blocks that are read together they are.
    blocks = max(_own_blocks(pair, steps).values(), default=1)
    once = blocks if pair.owners else pair.contributions
    alone = {passed: ratio / _group(passed.measure, once) for passed, ratio in tape.alone.items()}
    together = _worst(pair, steps, tape.costs), _whole(pair, steps, tape.costs)
    return max(*together, *alone.values(), 0.0), alone


def _group(measure: str, several: int) -> int:
    """How many times a charge so many changed rounds may cost: pure so many, zCDP the square of
    that.
    """
    return several if measure == "pure" else several**2


def _whole(pair: AnyPair, steps: Steps, costs: dict[int, float]) -> float:
    """All that the changed rounds cost over what a person may, in the measure that is nearer to
    it.
    """
    privacy = pair.like.settings.privacy
    may: dict[str, float] = {"pure": privacy.epsilon, privacy.whole.measure: privacy.whole.amount}
    spent: dict[str, float] = defaultdict(float)
    for index, (_, step) in enumerate(steps):
        spent[step.charge.measure] += costs.get(index, 0.0)
    return max(spent[measure] / may[measure] for measure in spent)


def _own_blocks(pair: AnyPair, steps: Steps) -> Counter[object]:
    """In how many blocks of each cohort the changed person is."""
    own: Counter[object] = Counter()
    for begin, step in steps:
        of_log = (
            pair.in_log and not step.rounds
        )  # people who come in no round are a step of their own
        if of_log or any(begin <= round < begin + step.rounds for round in pair.changed):
            own[step.cohort] += 1
    return own


def _worst(pair: AnyPair, steps: Steps, costs: dict[int, float]) -> float:
    """Costs against charges, after every turn: everyone's add up, each cohort's stands alone."""
    name, own = pair.case.name, _own_blocks(pair, steps)
    paid: dict[object, float] = defaultdict(float)
    due: dict[object, float] = defaultdict(float)
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
