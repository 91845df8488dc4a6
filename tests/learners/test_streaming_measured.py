"""If these fail, measured or held samples are revealed, or measuring them has no value."""

from functools import cached_property, partial
from math import inf, nan, sqrt
from typing import Any

import numpy as np
import pytest

from discreet import ConfigError, Privacy, StreamingLearner
from discreet.arrays import Floats
from discreet.audit import Case, audit_transcript, weakened
from discreet.audit.transcript import measured_costs
from discreet.domains import LpBall, Simplex
from discreet.engine.coins import Coins
from discreet.engine.flat_state import flat
from discreet.engine.problem import Problem
from discreet.engine.request import EMPTY_REQUEST, Batch
from discreet.errors import BudgetError, OutOfBounds
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
    domain: Any = None, loss: Any = None, horizon: Any = 12, privacy: Any = USUAL, **more: Any
) -> Any:
    """Return a learner with these settings; `mode` forces a mode."""
    domain = LpBall(3) if domain is None else domain
    loss = SquaredLoss() if loss is None else loss
    mode = more.pop("mode", None)
    make: Any = StreamingLearner if mode is None else partial(forced, StreamingLearner, mode)
    return make(domain, loss, horizon, privacy, **(BOUNDS | more))


def plan_of(mode: Any) -> Any:
    """Return the plan of a mode, whose steps are known."""
    return Problem(mode).plan


def mode_of(learner: StreamingLearner) -> Any:
    return StreamingLearner.problem_for(learner.settings).mode


def viewed(mode: Any, index: int = 0) -> Any:
    """Return the view of the block before release `index`, with the first public state."""
    return Problem(mode).view(flat(Problem(mode).start()[0]), index, 0, COINS)


def batch_of(samples: Any) -> Batch:
    """Return a batch of these samples."""
    return Batch(np.arange(len(samples)), samples, EMPTY_REQUEST)


# --- disjoint samples of each phase


def test_every_sample_pays_for_one_phase_and_no_more_than_the_budget() -> None:
    learner = made(horizon=20_000, mode="whitened", domain=LpBall(20))
    plan = plan_of(mode_of(learner))
    begin = 0
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
def test_people_with_several_contributions_pay_in_one_measure(
    horizon: int, mode: str | None, block: Any
) -> None:
    """With few releases a pure charge needs less noise, but charges of two measures do not add."""
    privacy = Privacy(1.0, 1e-6, contributions=3)
    learner = made(horizon=horizon, mode=mode, block=block, privacy=privacy, seed=1)
    plan = plan_of(mode_of(learner))
    charges = [plan.steps(index).charge for index in range(plan.releases)]
    assert {charge.measure for charge in charges} == {"zcdp"}
    budget = privacy.budget.amount * (1 + 1e-9)
    phases = len(mode_of(learner).preparation)
    assert all(charge.amount <= budget for charge in charges[:phases])
    assert sum(charge.amount for charge in charges[phases:]) <= budget
    learner.observe_stream(np.full((horizon, 3), 0.1), np.full(horizon, 0.1))
    assert learner.guarantee.epsilon <= 1.0


def test_measured_bounds_are_functions_of_released_counts() -> None:
    mode = mode_of(made(mode="whitened", horizon=800, domain=LpBall(3)))
    counts = np.zeros((2, 20))
    counts[0, 2] = 1000
    counts[1, 5] = 1000
    measured = viewed(mode).phase.bounded(counts.reshape(-1))
    assert (measured.length, measured.target, measured.moments.spikes) == (0.25, 2.0**-5, 0)
    unmeasured = viewed(mode).phase.bounded(np.zeros(40))
    assert (unmeasured.length, unmeasured.target) == (1.0, 1.0)


@pytest.mark.parametrize("phase", [0, 1])
@pytest.mark.parametrize("share", [0.0, nan, -1.0])
def test_a_sample_without_a_share_adds_nothing_in_any_phase(phase: int, share: float) -> None:
    mode = mode_of(made(mode="whitened", horizon=800, domain=LpBall(3)))
    view = viewed(mode, index=phase)
    features = np.full((4, 3), 0.3)
    targets = np.array([0.1, 0.5, -0.2, nan])

    def measured(shares: Any) -> Any:
        block = view.empty_block()
        samples = mode.answer.streamed(features, targets, shares)
        view.count(block, batch_of(samples))
        (aggregate,) = block.values()
        return aggregate.values

    assert measured(None).any()
    assert not measured([share] * 4).any()
    assert np.array_equal(
        measured([1.0, share, share, 1.0]) + measured([0.0, 1.0, 1.0, 0.0]), measured(None)
    )


@pytest.mark.parametrize("sizes", [[0.0, 1.0], [np.nan, 0.3], [inf, 0.26], [5e-324, 1e300]])
def test_a_replaced_sample_moves_two_counts_of_the_histogram_and_noise_covers_that(
    sizes: list[float],
) -> None:
    histogram = Sizes(bins=4)
    choices = OneChoice((4,), levels=1)
    here = choices.empty()
    there = choices.empty()
    choices.add(here, histogram.cells(np.array([0.7, sizes[0]]), 1.0))
    choices.add(there, histogram.cells(np.array([0.7, sizes[1]]), 1.0))
    moved = int(np.abs(here.values - there.values).sum())
    assert moved <= 2
    # Exact law of integer Laplace noise in two cells: likelihoods differ by at most
    # e^(moved/scale).
    noise = DiscreteLaplace(3)
    outcomes = np.arange(-40, 41)
    law = np.exp(-np.abs(outcomes) / 3)
    ratios = np.abs(np.log(np.roll(law, 1)[1:] / law[1:]))
    assert moved * ratios.max() <= noise.charge(choices.sensitivity(1)).amount + 1e-12


def test_samples_measured_one_by_one_give_the_result_of_a_batch() -> None:
    world = Regression.varied("correlated", 60, 5, 1.5, seed=1)
    learners = [made(world.domain, horizon=60, mode="whitened", block=10, seed=3) for _ in range(2)]
    learners[0].observe_stream(world.features, world.targets)
    for x, y in zip(world.features, world.targets, strict=True):
        learners[1].act()
        learners[1].observe((x, float(y)))
    learners[1].release_if_due()
    assert np.array_equal(learners[0].coefficients, learners[1].coefficients)


# --- whitening


def test_whitened_rows_have_equal_moments_except_where_noise_hides_them() -> None:
    generator = np.random.default_rng(0)
    directions = np.linalg.qr(generator.normal(size=(6, 6)))[0]
    matrix = directions @ np.diag([50.0, 8.0, 1.0, 1.0, 1.0, 1.0]) @ directions.T
    covariance = SpikedCovariance.read(matrix, noise=0.2)
    assert covariance.spikes == 2
    whole = np.stack([covariance.times(column, -0.5) for column in np.eye(6)])
    assert np.allclose(whole @ matrix @ whole, np.eye(6), atol=1e-9)
    rows = generator.normal(size=(7, 6))
    out = np.empty((7, 6))
    factors = covariance.values**-0.5
    whiten_rows(rows, 0.0, 2.0, 1e9, covariance.vectors, factors, covariance.rest**-0.5, out)
    assert np.allclose(out, rows @ whole)
    assert SpikedCovariance.read(np.eye(6), noise=0.2).spikes == 0


def test_the_projection_in_the_norm_of_second_moments_is_the_nearest_point() -> None:
    covariance = SpikedCovariance(np.eye(3)[:1], np.array([10.0]), 1.0)
    point = np.array([2.0, 1.0, 0.0])
    nearest = covariance.nearest(point, 1.0)
    matrix = np.diag([10.0, 1.0, 1.0])
    angles = np.linspace(0, 2 * np.pi, 2001)
    circle = np.stack([np.cos(angles), np.sin(angles), np.zeros(2001)], axis=1) - point
    best = np.einsum("ij,jk,ik->i", circle, matrix, circle).min()
    assert np.linalg.norm(nearest) <= 1 + 1e-9
    assert (nearest - point) @ matrix @ (nearest - point) <= best + 1e-6
    assert np.array_equal(covariance.nearest(point / 10, 1.0), point / 10)


def test_norms_of_huge_rows_are_finite_and_those_of_invalid_rows_are_nan() -> None:
    rows = np.array([[3.0, -4.0], [np.nan, 1.0], [1e300, 1e300], [0.0, 0.0]])
    lengths = np.empty(4)
    out = np.empty((4, 3))
    row_lengths(rows, 0.0, 2.0, lengths)
    assert lengths[0] == pytest.approx(5.0)
    assert np.isnan(lengths[1])
    assert lengths[2] == pytest.approx(sqrt(2) * 1e300)
    whiten_rows(rows, 0.5, 2.0, 1.0, np.empty((0, 3)), np.empty(0), 1.0, out)
    assert out[0] == pytest.approx([0.6, -0.8, 0.5])
    assert np.isnan(out[1]).all()
    assert out[2] == pytest.approx([sqrt(0.5), sqrt(0.5), 0.5])


# --- many passes


@pytest.mark.parametrize("loss", [SquaredLoss(), HuberLoss(0.5), LogisticLoss(), SoftmaxLoss(2)])
@pytest.mark.parametrize("epsilon", [1.0, 1000.0])
def test_each_pass_reads_samples_one_by_one(loss: Any, epsilon: float) -> None:
    """A total is the sum of the totals of single samples, so one sample moves one addend."""
    generator = np.random.default_rng(3)
    domain = LpBall(6 if isinstance(loss, SoftmaxLoss) else 3)
    mode = mode_of(made(domain, loss, 8, Privacy(epsilon, 1e-6), method="passes"))
    view = viewed(mode)
    features = generator.uniform(-0.5, 0.5, size=(8, 3))
    targets = np.array([0.0, 1, 0, 1, 1, 0, np.nan, 0.4])
    held = view.aggregators()["held"]
    full = held.empty()
    view.count({"held": full}, batch_of(Samples(features, targets)))
    for part in mode.passes.parts:
        of_people = _function_of_samples(mode, part, full)

        def totals(aggregate: Any, of_people: Any = of_people, part: Any = part) -> Any:
            def of_numbers(numbers: Floats) -> Any:
                return of_people(mode.samples_held.decoded(numbers))

            return held.total(aggregate, of_numbers, part.aggregator).values

        total = totals(full)
        without = totals(held.empty())
        alone = np.zeros_like(total)
        for place in range(8):
            one = held.empty()
            one.values[place] = full.values[place]
            alone += totals(one) - without
        assert np.array_equal(total, alone + without)


def _function_of_samples(mode: Any, part: Any, full: Any) -> Any:
    """Return the function of samples whose values this part of a release adds up."""
    transform = np.diag([1.0, 2.0, 0.5])
    here = np.full(mode.settings.domain.dimension, 0.1)
    door = Door(seeded_bits(1, 0), plan_of(mode).steps(0).charge, 0)
    parts = _RecordingParts(mode.settings, mode.loss, mode.passes, mode.samples_held, full, door)
    if part in mode.passes.steps:
        parts.gradient(part, transform, here, 0.3)
    elif part in mode.passes.grams:
        parts.refined(part, transform, 1.0)
    elif part in mode.passes.clips:
        parts.clip(part, transform, here)
    elif part is mode.passes.lengths:
        parts.usual_length()
    else:
        Descent(parts).regress_once(part, transform)
    return parts.functions[0]


class _RecordingParts(DrawnParts):
    """Parts that record the functions of samples that are added up, and release zeros."""

    @cached_property
    def functions(self) -> list[Any]:
        return []

    def total(self, calibrated: Any, of_people: Any) -> Any:
        self.functions.append(of_people)
        return np.zeros(calibrated.aggregator.shape)


def test_many_passes_cost_what_was_reserved_and_not_a_pass_more() -> None:
    mode = mode_of(made(horizon=8, method="passes", privacy=Privacy(1000.0, 1e-6)))
    view = viewed(mode)
    charge = plan_of(mode).steps(0).charge
    view.release({}, {}, view.empty_block(), Door(seeded_bits(1, 0), charge, 0))
    with pytest.raises(BudgetError):
        view.release({}, {}, view.empty_block(), Door(seeded_bits(1, 0), charge * 0.999, 0))


def test_few_samples_are_read_once_and_many_samples_in_many_passes() -> None:
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
def test_one_person_changes_inputs_of_the_door_by_no_more_than_is_charged(
    settings: dict[str, Any],
) -> None:
    """Modes that have no audit case of their own; half the sensitivity must be detected."""

    def make(**more: Any) -> Any:
        return made(**(settings | more))

    low = 0.0 if "loss" in settings else -1.0

    def person(generator: np.random.Generator) -> Any:
        features = np.array([generator.choice([-1.0, 1.0]), 0.0, 0.0])
        return features, float(generator.choice([low, 1.0]))

    case = Case("streaming", make, person)
    assert 0.3 < audit_transcript(case, pairs=12, seed=1).largest_cost_over_charge <= 1.0
    with weakened():
        costs = measured_costs(case, pairs=60, seed=0, enough=1 + 1e-6)
    assert costs.largest_cost_over_charge > 1 + 1e-6


@pytest.mark.parametrize("kind", [OneChoice, Gram, Rows])
def test_one_total_of_many_with_too_little_noise_is_caught(
    kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the sum over all totals, half the noise of a small one would not be visible."""

    def make(**more: Any) -> Any:
        return made(**({"method": "passes", "privacy": Privacy(1000.0, 1e-6)} | more))

    def person(generator: np.random.Generator) -> Any:
        features = np.array([generator.choice([-1.0, 1.0]), 0.0, 0.0])
        return features, float(generator.choice([-1.0, 1.0]))

    case = Case("streaming", make, person)
    honest = kind.unit_sensitivity
    assert audit_transcript(case, pairs=3, seed=1).largest_cost_over_charge > 0.99
    monkeypatch.setattr(kind, "unit_sensitivity", lambda self, norm: honest(self, norm) / 2)
    costs = measured_costs(case, pairs=20, seed=1, enough=1 + 1e-6)
    assert costs.largest_cost_over_charge > 1.1
    with pytest.raises(AssertionError, match="times what is charged"):
        audit_transcript(case, pairs=costs.pairs, seed=1)


# --- one sample among many


@pytest.mark.parametrize(
    "row",
    [["x", 0.1, 0.1], [0.1, 0.1], None, [10**400, 0.1, 0.1]],
    ids=["text", "short", "none", "huge"],
)
def test_a_malformed_sample_in_a_stream_drops_no_other_sample(row: Any) -> None:
    generator = np.random.default_rng(3)
    features = generator.uniform(-0.5, 0.5, size=(40, 3))
    targets = generator.uniform(-1, 1, size=40)

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
        with pytest.raises(OutOfBounds, match="one number per round"):
            learned(features, targets, shares)


# --- value


@pytest.mark.parametrize(("kind", "most"), [("correlated", 0.06), ("short", 0.05)])
def test_correlated_features_and_rows_far_below_their_bound_are_learned(
    kind: str, most: float
) -> None:
    world = Regression.varied(kind, 20_000, 20, 2.0, seed=1)
    suboptimality = {}
    for mode in (None, "leader", "passes"):
        learner = made(world.domain, horizon=20_000, mode=mode, seed=1)
        learner.observe_stream(world.features, world.targets)
        suboptimality[mode or "auto"] = world.suboptimality(learner.coefficients)
    assert suboptimality["auto"] < most
    assert suboptimality["passes"] < 0.02
    assert suboptimality["leader"] > 0.06


def test_a_classifier_learns_from_correlated_features() -> None:
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
def test_settings_that_a_method_cannot_serve_are_refused_with_the_remedy(
    wrong: dict[str, Any],
) -> None:
    with pytest.raises(ConfigError, match=r"leave out|ask for|multiple"):
        made(**wrong)
