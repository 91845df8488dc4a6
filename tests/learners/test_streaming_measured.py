"""If these fail, samples that are measured first or held for many passes are given away, or in
vain.
"""

from functools import cached_property, partial
from math import inf, nan, sqrt
from typing import Any

import numpy as np
import pytest

from discreet import ConfigError, Privacy, StreamingLearner
from discreet.audit import Case, audit_transcript, weakened
from discreet.audit.transcript import measured_costs
from discreet.domains import LpBall, Simplex
from discreet.engine.coins import Coins
from discreet.engine.flat_state import flat
from discreet.engine.request import EMPTY_REQUEST, Batch
from discreet.engine.view import nobody
from discreet.errors import OutOfBounds
from discreet.learners.forced import forced
from discreet.learners.streaming_learner.histogram import Sizes
from discreet.learners.streaming_learner.many_passes.descent import Descent
from discreet.learners.streaming_learner.many_passes.parts import DrawnParts
from discreet.learners.streaming_learner.row_kernels import row_lengths, whiten_rows
from discreet.losses import (
    GeneralisedLinearLoss,
    HuberLoss,
    LogisticLoss,
    Samples,
    SoftmaxLoss,
    SquaredLoss,
)
from discreet.optim.spiked_covariance import SpikedCovariance
from discreet.release.aggregators import Gram, OneChoice, Rows
from discreet.release.door import Door
from discreet.release.noise import DiscreteLaplace
from discreet.release.randomness import seeded_bits
from discreet.simulate.problems.regression import Regression

USUAL = Privacy(1.0, 1e-6)
BOUNDS = {"feature_bound": 1.0, "target_bound": 1.0}
COINS = Coins(bytes(16))


def made(
    domain: Any = None, loss: Any = None, horizon: int = 12, privacy: Privacy = USUAL, **more: Any
) -> Any:
    domain, loss = LpBall(3) if domain is None else domain, SquaredLoss() if loss is None else loss
    mode = more.pop("mode", None)
    make: Any = StreamingLearner if mode is None else partial(forced, StreamingLearner, mode)
    return make(domain, loss, horizon, privacy, **(BOUNDS | more))


def mode_of(learner: StreamingLearner) -> Any:
    return StreamingLearner.problem_for(learner.settings)


def viewed(mode: Any, index: int = 0) -> Any:
    """The block before release `index`, with the public state that the mode starts with."""
    return mode.view(flat(mode.start()[0]), index, 0, COINS)


def batch_of(samples: Any, index: int = 0) -> Batch:
    return Batch(np.arange(len(samples)), samples, EMPTY_REQUEST)


# --- samples of their own


def test_every_sample_pays_for_one_stage_only_and_none_pays_more_than_the_budget() -> None:
    learner = made(horizon=20_000, mode="whitened", domain=LpBall(20))
    plan, begin = mode_of(learner).plan, 0
    cohorts: dict[int, list[Any]] = {}
    for index in range(plan.releases):
        step = plan.steps(index)
        cohorts.setdefault(step.cohort, []).append((begin, step.charge))
        begin += step.rounds
    assert begin == 20_000
    assert list(cohorts) == [0, 1, 2]
    budget = USUAL.budget.amount
    for paid in cohorts.values():
        total = sum(charge.amount for _, charge in paid)
        assert total <= (1.0 if paid[0][1].measure == "pure" else budget) * (1 + 1e-9)
    assert learner.facts["method"] == "whitened"


@pytest.mark.parametrize(("horizon", "mode"), [(6000, None), (6000, "whitened"), (40, "whitened")])
@pytest.mark.parametrize("block", ["auto", 6000])
def test_people_who_come_several_times_pay_in_one_measure(
    horizon: int, mode: str, block: Any
) -> None:
    """With few releases, separate ones in the pure measure would have less noise: they do not
    add up.
    """
    privacy = Privacy(1.0, 1e-6, contributions=3)
    learner = made(horizon=horizon, mode=mode, block=block, privacy=privacy, seed=1)
    plan = mode_of(learner).plan
    charges = [plan.steps(index).charge for index in range(plan.releases)]
    assert {charge.measure for charge in charges} == {"zcdp"}
    budget = privacy.budget.amount * (1 + 1e-9)
    stages = len(mode_of(learner).preparation)
    assert all(charge.amount <= budget for charge in charges[:stages])
    assert sum(charge.amount for charge in charges[stages:]) <= budget
    learner.observe_stream(np.full((horizon, 3), 0.1), np.full(horizon, 0.1))
    assert learner.guarantee.epsilon <= 1.0


def test_bounds_are_read_off_counts_and_nothing_else() -> None:
    mode = mode_of(made(mode="whitened", horizon=800, domain=LpBall(3)))
    counts = np.zeros((2, 20))
    counts[0, 2], counts[1, 5] = 1000, 1000
    found = viewed(mode).bounded(counts.reshape(-1))
    assert (found.length, found.target, found.moments.spikes) == (0.25, 2.0**-5, 0)
    nothing = viewed(mode).bounded(np.zeros(40))
    assert (nothing.length, nothing.target) == (1.0, 1.0)


@pytest.mark.parametrize("stage", [0, 1])
@pytest.mark.parametrize("share", [0.0, nan, -1.0])
def test_who_has_no_share_says_nothing_in_any_stage(stage: int, share: float) -> None:
    mode = mode_of(made(mode="whitened", horizon=800, domain=LpBall(3)))
    view = viewed(mode, index=stage)
    features, targets = np.full((4, 3), 0.3), np.array([0.1, 0.5, -0.2, nan])

    def measured(shares: Any) -> Any:
        block = nobody(view)
        samples = mode.streamed(features, targets, shares)
        view.gather(block, view.read(batch_of(samples, index=stage)))
        (aggregate,) = block.values()
        return aggregate.values

    assert measured(None).any()
    assert not measured([share] * 4).any()
    assert np.array_equal(
        measured([1.0, share, share, 1.0]) + measured([0.0, 1.0, 1.0, 0.0]), measured(None)
    )


@pytest.mark.parametrize("sizes", [[0.0, 1.0], [np.nan, 0.3], [inf, 0.26], [5e-324, 1e300]])
def test_a_replaced_sample_moves_two_counts_of_the_histogram_and_the_noise_covers_exactly_that(
    sizes: list[float],
) -> None:
    histogram, choices = Sizes(bins=4), OneChoice(4, levels=1)
    here, there = (choices.empty() for _ in range(2))
    choices.add(here, histogram.cells(np.array([0.7, sizes[0]]), 1.0))
    choices.add(there, histogram.cells(np.array([0.7, sizes[1]]), 1.0))
    moved = int(np.abs(here.values - there.values).sum())
    assert moved <= 2
    # The exact law of integer Laplace noise, two cells: no outcome is more than e^{moved/scale} as
    # likely.
    noise = DiscreteLaplace(3)
    outcomes = np.arange(-40, 41)
    law = np.exp(-np.abs(outcomes) / 3)
    ratios = np.abs(np.log(np.roll(law, 1)[1:] / law[1:]))
    assert moved * ratios.max() <= noise.charge(choices.sensitivity(1)).amount + 1e-12


def test_what_is_measured_one_by_one_is_what_is_measured_at_once() -> None:
    world = Regression.varied("correlated", 60, 5, 1.5, seed=1)
    learners = [made(world.domain, horizon=60, mode="whitened", block=10, seed=3) for _ in range(2)]
    learners[0].observe_stream(world.features, world.targets)
    for x, y in zip(world.features, world.targets, strict=True):
        learners[1].act()
        learners[1].observe((x, float(y)))
    learners[1].release_if_due()
    assert np.array_equal(learners[0].coefficients, learners[1].coefficients)


# --- what evening out means


def test_evened_rows_have_directions_alike_and_what_noise_hides_is_left() -> None:
    generator = np.random.default_rng(0)
    directions = np.linalg.qr(generator.normal(size=(6, 6)))[0]
    matrix = directions @ np.diag([50.0, 8.0, 1.0, 1.0, 1.0, 1.0]) @ directions.T
    evening = SpikedCovariance.read(matrix, noise=0.2)
    assert evening.spikes == 2
    whole = np.stack([evening.times(column, -0.5) for column in np.eye(6)])
    assert np.allclose(whole @ matrix @ whole, np.eye(6), atol=1e-9)
    rows, out = generator.normal(size=(7, 6)), np.empty((7, 6))
    factors = evening.values**-0.5
    whiten_rows(rows, 0.0, 2.0, 1e9, evening.vectors, factors, evening.rest**-0.5, out)
    assert np.allclose(out, rows @ whole)
    assert SpikedCovariance.read(np.eye(6), noise=0.2).spikes == 0


def test_the_nearest_point_in_the_norm_of_the_moments_is_nearest() -> None:
    evening = SpikedCovariance(np.eye(3)[:1], np.array([10.0]), 1.0)
    point = np.array([2.0, 1.0, 0.0])
    found = evening.nearest(point, 1.0)
    matrix = np.diag([10.0, 1.0, 1.0])
    angles = np.linspace(0, 2 * np.pi, 2001)
    circle = np.stack([np.cos(angles), np.sin(angles), np.zeros(2001)], axis=1) - point
    best = np.einsum("ij,jk,ik->i", circle, matrix, circle).min()
    assert np.linalg.norm(found) <= 1 + 1e-9
    assert (found - point) @ matrix @ (found - point) <= best + 1e-6
    assert np.array_equal(evening.nearest(point / 10, 1.0), point / 10)


def test_lengths_and_hostile_rows() -> None:
    rows = np.array([[3.0, -4.0], [np.nan, 1.0], [1e300, 1e300], [0.0, 0.0]])
    found, out = np.empty(4), np.empty((4, 3))
    row_lengths(rows, 0.0, 2.0, found)
    assert found[0] == pytest.approx(5.0)
    assert np.isnan(found[1])
    assert found[2] == pytest.approx(sqrt(2) * 1e300)
    whiten_rows(rows, 0.5, 2.0, 1.0, np.empty((0, 3)), np.empty(0), 1.0, out)
    assert out[0] == pytest.approx([0.6, -0.8, 0.5])
    assert np.isnan(out[1]).all()
    assert out[2] == pytest.approx([sqrt(0.5), sqrt(0.5), 0.5])


# --- many passes


@pytest.mark.parametrize("loss", [SquaredLoss(), HuberLoss(0.5), LogisticLoss(), SoftmaxLoss(2)])
@pytest.mark.parametrize("epsilon", [1.0, 1000.0])
def test_each_pass_reads_samples_one_by_one(loss: Any, epsilon: float) -> None:
    """A total is the sum of what each held sample adds alone, so one sample moves one addend."""
    generator = np.random.default_rng(3)
    domain = LpBall(6 if isinstance(loss, SoftmaxLoss) else 3)
    mode = mode_of(made(domain, loss, 8, Privacy(epsilon, 1e-6), method="passes"))
    view = viewed(mode)
    features, targets = (
        generator.uniform(-0.5, 0.5, size=(8, 3)),
        np.array([0.0, 1, 0, 1, 1, 0, np.nan, 0.4]),
    )
    held, unfolded = view.aggregators()["held"], mode.samples_held.unfolded
    everyone = held.empty()
    view.gather({"held": everyone}, view.read(batch_of(Samples(features, targets))))
    way, here = np.diag([1.0, 2.0, 0.5]), np.full(domain.dimension, 0.1)
    for once in mode.passes.parts:
        door = Door(seeded_bits(1, 0), mode.plan.steps(0).charge, 0)
        parts = _Noting(mode.settings, mode.loss, mode.passes, mode.samples_held, everyone, door)
        if once in mode.passes.steps:
            parts.gradient(once, way, here, 0.3)
        elif once in mode.passes.grams:
            parts.even(once, way, 1.0)
        elif once in mode.passes.clips:
            parts.clip(once, way, here)
        elif once is mode.passes.lengths:
            parts.usual_length()
        else:
            Descent(parts).regress_once(once, way)
        of_numbers = lambda numbers, of_people=parts.noted[0]: of_people(unfolded(numbers))  # noqa: E731
        total = held.total(everyone, of_numbers, once.aggregator).values
        alone = np.zeros_like(total)
        nothing = held.total(held.empty(), of_numbers, once.aggregator)
        for place in range(8):
            one = held.empty()
            one.values[place] = everyone.values[place]
            alone += held.total(one, of_numbers, once.aggregator).values - nothing.values
        assert np.array_equal(total, alone + nothing.values)


class _Noting(DrawnParts):
    """Parts that note which functions of samples are added up, and release zeros."""

    @cached_property
    def noted(self) -> list[Any]:
        return []

    def total(self, once: Any, of_people: Any) -> Any:
        self.noted.append(of_people)
        return np.zeros(once.aggregator.shape)


def test_many_passes_cost_what_was_reserved_and_not_a_pass_more() -> None:
    mode = mode_of(made(horizon=8, method="passes", privacy=Privacy(1000.0, 1e-6)))
    view = viewed(mode)
    charge = mode.plan.steps(0).charge
    view.release({}, {}, nobody(view), Door(seeded_bits(1, 0), charge, 0))
    from discreet.errors import BudgetError

    with pytest.raises(BudgetError):
        view.release({}, {}, nobody(view), Door(seeded_bits(1, 0), charge * 0.999, 0))


def test_few_samples_are_read_once_and_many_again_and_again() -> None:
    assert made(horizon=200, method="passes").facts["method"] == "one-shot"
    many = made(horizon=20_000, method="passes").facts
    assert (many["method"], many["passes"], many["second_moments"]) == ("passes", 20, 2)
    assert made(loss=LogisticLoss(), horizon=200, method="passes").facts["second_moments"] == 0
    assert made(loss=LogisticLoss(), horizon=20_000, method="passes").facts["second_moments"] == 1


@pytest.mark.parametrize(
    "settings",
    [
        {"method": "passes"},
        {"method": "passes", "loss": LogisticLoss(), "domain": LpBall(4), "intercept": True},
        {"mode": "leader", "block": 4, "loss": SoftmaxLoss(2), "domain": LpBall(6)},
        {"mode": "whitened", "block": 4, "domain": LpBall(4), "intercept": True},
    ],
)
def test_one_person_changes_what_meets_the_door_by_no_more_than_is_charged(
    settings: dict[str, Any],
) -> None:
    """The ways that are no cases of their own: once honest, once with aggregators that state
    half.
    """

    def make(**more: Any) -> Any:
        return made(**(settings | more))

    low = 0.0 if "loss" in settings else -1.0

    def person(generator: np.random.Generator) -> Any:
        return np.array([generator.choice([-1.0, 1.0]), 0.0, 0.0]), float(
            generator.choice([low, 1.0])
        )

    case = Case("streaming", make, person)
    assert 0.3 < audit_transcript(case, pairs=12, seed=1).largest_cost_over_charge <= 1.0
    with weakened():
        found = measured_costs(case, pairs=60, seed=0, enough=1 + 1e-6)
    assert found.largest_cost_over_charge > 1 + 1e-6


@pytest.mark.parametrize("kind", [OneChoice, Gram, Rows])
def test_one_release_of_many_in_a_turn_with_too_little_noise_is_caught(
    kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Added up over a turn of many passes, half the noise of its small parts would not show."""

    def make(**more: Any) -> Any:
        return made(**({"method": "passes", "privacy": Privacy(1000.0, 1e-6)} | more))

    def person(generator: np.random.Generator) -> Any:
        return np.array([generator.choice([-1.0, 1.0]), 0.0, 0.0]), float(
            generator.choice([-1.0, 1.0])
        )

    case, honest = Case("streaming", make, person), kind.unit_sensitivity
    assert audit_transcript(case, pairs=3, seed=1).largest_cost_over_charge > 0.99
    monkeypatch.setattr(kind, "unit_sensitivity", lambda self, norm: honest(self, norm) / 2)
    found = measured_costs(case, pairs=20, seed=1, enough=1 + 1e-6)
    assert found.largest_cost_over_charge > 1.1
    with pytest.raises(AssertionError, match="times what is charged"):
        audit_transcript(case, pairs=found.pairs, seed=1)


# --- one sample among many


@pytest.mark.parametrize(
    "row",
    [["x", 0.1, 0.1], [0.1, 0.1], None, [10**400, 0.1, 0.1]],
    ids=["text", "short", "none", "huge"],
)
def test_a_malformed_sample_in_a_stream_drops_nobody_else(row: Any) -> None:
    generator = np.random.default_rng(3)
    features, targets = (
        generator.uniform(-0.5, 0.5, size=(40, 3)),
        generator.uniform(-1, 1, size=40),
    )

    def learned(*stream: Any) -> list[float]:
        learner = made(horizon=40, seed=1, mode="leader", privacy=Privacy(100.0, 1e-6))
        learner.observe_stream(*stream)
        return learner.coefficients.tolist()  # type: ignore[no-any-return]

    listed = features.tolist()
    expected = learned(features, np.where(np.arange(40) == 7, np.nan, targets))
    assert expected != learned(features, targets)
    assert learned([*listed[:7], row, *listed[8:]], targets.tolist()) == expected
    assert learned(features, [*targets[:7], "x", *targets[8:]]) == expected
    assert (
        learned(features.astype(str), [*targets[:7].tolist(), "x", *targets[8:].tolist()])
        == expected
    )
    assert learned(features, targets, [*[1.0] * 7, row, *[1.0] * 32]) == expected
    for shares in ([1.0] * 39, np.ones((40, 1))):
        with pytest.raises(OutOfBounds, match="one number a round"):
            learned(features, targets, shares)


# --- worth having


@pytest.mark.parametrize(("kind", "most"), [("correlated", 0.06), ("short", 0.05)])
def test_features_that_go_together_or_are_far_shorter_than_declared_are_learned(
    kind: str, most: float
) -> None:
    world = Regression.varied(kind, 20_000, 20, 2.0, seed=1)
    found = {}
    for mode in (None, "leader", "passes"):
        learner = made(world.domain, horizon=20_000, mode=mode, seed=1)
        learner.observe_stream(world.features, world.targets)
        found[mode or "auto"] = world.suboptimality(learner.coefficients)
    assert found["auto"] < most
    assert found["passes"] < 0.02
    assert found["leader"] > 0.06


def test_a_classifier_learns_directions_that_go_together() -> None:
    generator = np.random.default_rng(5)
    common = generator.normal(size=(20_000, 1))
    features = (common + 0.15 * generator.normal(size=(20_000, 4))) / 5
    labels = (features @ [8.0, -8.0, 4.0, -4.0] > 0).astype(float)
    scores = {}
    for mode in ("whitened", "passes", "leader"):
        learner = made(LpBall(4, 2.0, 100.0), LogisticLoss(), 20_000, mode=mode, seed=1)
        learner.observe_stream(features, labels)
        scores[mode] = np.mean((features @ learner.coefficients > 0) == (labels > 0.5))
    assert scores["passes"] > 0.97
    assert scores["whitened"] > 0.95
    assert scores["leader"] < scores["whitened"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"mode": "whitened", "domain": Simplex(3)},
        {"mode": "whitened", "horizon": 1},
        {"mode": "whitened", "horizon": 2},
        {"method": "passes", "privacy": Privacy(1.0)},
        {"method": "passes", "loss": lambda coefficients, x, y: x},
        {"method": "passes", "loss": GeneralisedLinearLoss("log")},
        {"method": "frank-wolfe", "loss": SoftmaxLoss(3)},
        {"mode": "leader", "loss": SoftmaxLoss(2)},
        {"method": "passes", "horizon": 2**31 - 1, "domain": LpBall(1000)},
    ],
)
def test_what_a_method_cannot_do_is_refused_with_the_remedy(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"leave out|ask for|multiple"):
        made(**wrong)
