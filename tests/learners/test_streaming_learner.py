"""If these fail, a sample is given away, or coefficients are not worth publishing."""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet import ConfigError, HorizonReached, OutOfBounds, Privacy, StreamingLearner
from discreet.arrivals import HuberLoss, LogisticLoss, SquaredLoss
from discreet.arrivals.losses import Samples
from discreet.domains import Box, LpBall, Simplex
from discreet.lab.audit import audit, through_doors
from discreet.lab.regression import Regression
from discreet.lab.streaming_rivals import RIVALS
from discreet.release.door import Door
from discreet.release.noise import DiscreteGaussian
from discreet.release.turn import Batch
from laws import epsilon_of, selection_law, zcdp_of

APPROXIMATE, PURE = Privacy(1.0, 1e-6), Privacy(1.0)


def made(
    domain: Any = None, loss: Any = None, horizon: int = 100, privacy: Privacy = APPROXIMATE, **more: Any
) -> StreamingLearner:
    settings = {"feature_bound": 1.0, "target_bound": 1.0} | more
    return StreamingLearner(
        LpBall(3) if domain is None else domain,
        SquaredLoss() if loss is None else loss,
        horizon,
        privacy,
        **settings,
    )


def fed(learner: StreamingLearner, sample: Any, public: Any = None, index: int = 0) -> np.ndarray:
    """The sum after one sample, by the shipped entrance."""
    first, secret = learner.start()
    secret = learner.digest(
        first if public is None else public, secret, Batch(index, [0], Samples([sample[0]], [sample[1]]))
    )
    return np.asarray(secret.get("gradient", secret.get("sum")))


numbers = st.floats(-1e6, 1e6) | st.floats(-2, 2) | st.floats(allow_nan=True, allow_infinity=True)
samples = st.tuples(st.lists(numbers, min_size=3, max_size=3), numbers)
METHODS: list[dict[str, Any]] = [
    {"method": "leader"},
    {"method": "leader", "privacy": PURE, "domain": Box(3)},
    {"method": "frank-wolfe", "domain": LpBall(3, inf)},
    {"method": "frank-wolfe", "domain": LpBall(3, 1.5), "privacy": PURE},
    {"method": "frank-wolfe", "domain": LpBall(3, 1)},
    {"method": "frank-wolfe", "domain": Simplex(3), "privacy": PURE},
    {"method": "leader", "loss": lambda c, x, y: (x @ c - y) * x * 9},
]


@settings(max_examples=60)
@given(samples, samples, st.sampled_from(METHODS), st.integers(0, 6), st.integers(0, 10**6))
def test_one_sample_moves_the_sum_by_no_more_than_calibrated(
    here: Any, there: Any, method: dict[str, Any], index: int, seed: int
) -> None:
    """Any two samples, at any two points of the domain, in any block."""
    learner, generator = made(**method), np.random.default_rng(seed)
    points = [learner._setting.domain.project(generator.normal(size=3)) for _ in range(2)]
    public = learner.start()[0] | {"coefficients": points[0], "before": points[1], "point": points[0]}
    moved = (fed(learner, here, public, index) - fed(learner, there, public, index)).astype(float)
    entrance = learner._mode.gradients.entrance
    if "sum" in learner.start()[1]:
        assert np.abs(moved).max() <= 2 * entrance.levels
        assert learner._mode.selection(0).span == 4 * entrance.levels  # type: ignore[attr-defined]
    else:
        norm = 1 if learner.config.privacy.pure else 2
        sums = learner._mode.sums  # type: ignore[attr-defined]
        assert (
            np.linalg.norm(moved, norm)
            <= entrance.sensitivity(norm)
            == sums.levels * sums.stream.unit_sensitivity(norm)
        )


@pytest.mark.parametrize(
    "bounds",
    [
        {"feature_bound": 1e-8, "target_bound": 1e8, "bound": 1e-8},
        {"feature_bound": 1e-6},
        {"feature_bound": 1e8},
    ],
)
@pytest.mark.parametrize("domain", [LpBall(3), LpBall(3, 1), LpBall(3, 1.5), LpBall(3, 3), Box(3)])
@pytest.mark.parametrize("intercept", [False, True])
def test_huge_and_tiny_samples_weigh_no_more_than_others(
    bounds: dict[str, float], domain: Any, intercept: bool
) -> None:
    """Rows whose squares, or whose shrinking factors' squares, leave what floats can hold."""
    learner = made(domain, method="leader", intercept=intercept, **bounds)
    size = 2 if intercept else 3
    for length in (1e-320, 1e-160, 1e-8, 1.0, 1e8, 1e100, 1e150, 1e154, 1e200, 1e307):
        for y in (1e8, -1e308, 1e-300):
            for row in (
                np.full(size, length),
                np.array([length, *[1.0] * (size - 1)]),
                np.array([length, *[0.0] * (size - 1)]),
            ):
                moved = fed(learner, (row, y)).astype(float)
                assert np.linalg.norm(moved) <= learner._mode.gradients.entrance.levels


def test_a_gradient_that_reuses_its_array_or_wants_to_stop_counts_for_its_own_sample_only() -> None:
    kept = np.zeros(3)

    def reusing(coefficients: Any, x: Any, y: float) -> Any:
        np.multiply(x, 2 * (x @ coefficients - y), out=kept)
        return kept

    def stopping(coefficients: Any, x: Any, y: float) -> Any:
        if y == 0.5:
            raise SystemExit("secret")
        return 2 * (x @ coefficients - y) * x

    features, targets = np.random.default_rng(0).uniform(-0.5, 0.5, size=(9, 3)), np.linspace(-1, 1, 9)
    sums = []
    for gradient in (
        reusing,
        lambda c, x, y: 2 * (x @ c - y) * x,
        stopping,
        lambda c, x, y: 2 * (x @ c - y) * x * (y != 0.5),
    ):
        learner = made(loss=gradient, block=50)
        learner.observe_many((features, targets))
        assert learner._clock == 9
        sums.append(learner._secret["gradient"])
    assert np.array_equal(sums[0], sums[1])
    assert np.array_equal(sums[2], sums[3])


def test_a_round_that_was_asked_for_gets_the_first_sample_of_a_stream() -> None:
    features, targets = np.random.default_rng(0).uniform(-0.5, 0.5, size=(10, 3)), np.linspace(-1, 1, 10)
    asked, plain = made(horizon=10, block=5, seed=1), made(horizon=10, block=5, seed=1)
    plain.observe_stream(features, targets)
    asked.observe_stream(features[:4], targets[:4])
    asked.act()  # the last round of a block
    asked.observe_stream(features[4:], targets[4:])
    assert np.array_equal(asked.coefficients, plain.coefficients)


def test_more_samples_than_planned_are_refused_before_the_first() -> None:
    learner = made(horizon=10, block=5)
    with pytest.raises(HorizonReached, match="nothing was learned"):
        learner.observe_stream(np.zeros((11, 3)), np.zeros(11))
    assert learner._clock == 0


@pytest.mark.parametrize("privacy", [Privacy(4.0, 1e-3), Privacy(4.0)])
@pytest.mark.parametrize("allocation", ["anytime", "final"])
def test_drawn_corners_lose_no_more_than_their_budget(privacy: Privacy, allocation: Any) -> None:
    """The exact joint law of two draws on every path, for all pairs of streams of two samples that differ in one."""
    learner = made(
        LpBall(2, 1),
        horizon=2,
        privacy=privacy,
        method="frank-wolfe",
        block=1,
        allocation=allocation,
        bound=0.5,
    )
    mode: Any = learner._mode
    people = [([1.0, 0.0], 1.0), ([1.0, 0.0], -1.0), ([0.0, -1.0], 1.0), ([0.0, 0.0], 0.0)]

    def law(stream: Any) -> list[Fraction]:
        public, secret = learner.start()
        secret = learner.digest(public, secret, Batch(0, [0], Samples([stream[0][0]], [stream[0][1]])))
        found = []
        for corner, chance in enumerate(selection_law(mode.selection(0), scores(secret["sum"]))):
            from discreet.learners.streaming.frank_wolfe import towards

            after = towards(mode.setting.domain.corner_at(corner), public, 1.0, 0)
            later = learner.digest(
                after, {"sum": secret["sum"].copy()}, Batch(1, [1], Samples([stream[1][0]], [stream[1][1]]))
            )
            found += [chance * other for other in selection_law(mode.selection(1), scores(later["sum"]))]
        return found

    def scores(total: np.ndarray) -> list[int]:
        return np.concatenate([-total, total]).tolist()

    laws = [
        (stream, law(stream))
        for stream in product(range(4), repeat=2)
        for stream in [tuple(people[number] for number in stream)]
    ]
    worst = 0.0
    for (here, first), (there, second) in product(laws, repeat=2):
        if sum(a is not b for a, b in zip(here, there, strict=True)) == 1:
            loss = (
                epsilon_of(first, second)
                if privacy.pure
                else zcdp_of(first, second, orders=np.array([1.01, 2.0, 6.0]))
            )
            worst = max(worst, loss)
    assert 0.2 * learner._plan.total.amount <= worst <= learner._plan.total.amount <= privacy.budget.amount


@pytest.mark.statistical
def test_the_worst_pair_of_samples_keeps_the_charge_and_half_the_noise_does_not() -> None:
    """Targets of 1 and −1 at the same features: gradients as far apart as any two. α = 10⁻⁶."""
    privacy = Privacy(3.0, 1e-3)
    claim = made(horizon=100, privacy=privacy, block=50)._plan.charge(0)

    def outputs(target: float, seed: int, weak: bool) -> np.ndarray:
        learner = made(horizon=100, privacy=privacy, block=50)
        mode: Any = learner._mode
        public, secret = learner.start()
        secret = learner.digest(public, secret, Batch(0, [0], Samples([[1.0, 0.0, 0.0]], [target])))
        if weak:
            mode.__dict__["sums"] = replace(mode.sums, noise=DiscreteGaussian(mode.sums.noise.sigma // 2))

        def passage(door: Door) -> float:
            door.index, door._left = (
                0,
                2**120,
            )  # the weak copy charges more than was reserved: let it pass, to see whether it is noticed
            return float(
                mode.release(public, {"gradient": secret["gradient"].copy()}, door)[0]["sum.prefix"][0]
            )

        return through_doors(passage, claim, trials=6_000, seed=seed)

    honest = audit(outputs(1.0, 61, False), outputs(-1.0, 62, False), claim)
    assert not honest.caught
    assert honest.shown > 0.2 * claim.amount
    assert audit(outputs(1.0, 63, True), outputs(-1.0, 64, True), claim).caught


@pytest.mark.parametrize("p", [1, 1.5, 2, inf])
@pytest.mark.parametrize(("method", "worst"), [("leader", 0.05), ("frank-wolfe", 0.6)])
def test_a_regression_is_learned_in_every_geometry(p: float, method: Any, worst: float) -> None:
    world = Regression.drawn(4000, 5, p, seed=3)
    learner = made(world.domain, horizon=4000, method=method, seed=1)
    learner.observe_stream(world.features, world.targets)
    assert world.suboptimality(learner.coefficients) < worst
    assert np.allclose(world.domain.project(learner.coefficients), learner.coefficients, atol=1e-9)


def test_a_sparse_model_in_many_dimensions_is_learned() -> None:
    world = Regression.drawn(20_000, 300, 1, support=5, seed=1)
    learner = made(world.domain, horizon=20_000, seed=1)
    learner.observe_stream(world.features, world.targets)
    assert world.suboptimality(learner.coefficients) < 0.5


def test_other_losses_an_intercept_and_a_callable() -> None:
    generator = np.random.default_rng(0)
    features = generator.uniform(-1, 1, size=(8000, 2)) / np.sqrt(2)
    targets = (generator.random(8000) < 1 / (1 + np.exp(-(features @ [4.0, -2.0] + 0.5)))).astype(float)
    classifier = made(LpBall(3, 2, 5.0), LogisticLoss(), horizon=8000, intercept=True, seed=1)
    classifier.observe_stream(features, targets)
    found = classifier.coefficients
    assert np.mean((features @ found[:2] + found[2] > 0) == (features @ [4.0, -2.0] + 0.5 > 0)) > 0.9
    straight = features @ [0.5, -0.5]
    huber = made(LpBall(2), HuberLoss(0.5), horizon=8000, seed=1)
    huber.observe_stream(features, straight)
    own = made(
        LpBall(2), lambda c, x, y: 2 * (x @ c - y) * x, horizon=8000, bound=0.25, curvature=0.25, seed=1
    )
    own.observe_stream(features, straight)
    built_in = made(LpBall(2), SquaredLoss(), horizon=8000, bound=0.25, curvature=0.25, seed=1)
    built_in.observe_stream(features, straight)
    assert np.allclose(own.coefficients, built_in.coefficients, atol=1e-3)
    assert np.abs(huber.coefficients - [0.5, -0.5]).max() < 0.1


def test_sparse_matrices_and_single_samples_are_the_same_samples() -> None:
    from scipy.sparse import csr_matrix

    generator = np.random.default_rng(0)
    features, targets = generator.uniform(-0.5, 0.5, size=(100, 3)), generator.uniform(-1, 1, size=100)
    dense, sparse, single = (made(seed=3, block=30) for _ in range(3))
    dense.observe_stream(features, targets)
    sparse.observe_stream(csr_matrix(features), targets)
    for x, y in zip(features, targets, strict=True):
        single.act()
        single.observe((csr_matrix(x[None]), float(y)))
    single.turn()
    assert np.array_equal(dense.coefficients, sparse.coefficients)
    assert np.array_equal(dense.coefficients, single.coefficients)


def test_a_callable_loss_is_not_kept_in_a_file(tmp_path: Path) -> None:
    learner = made(loss=lambda c, x, y: x, journal=tmp_path / "state")
    learner.detach()
    with pytest.raises(ConfigError, match="callable is not kept"):
        discreet.load(tmp_path / "state")
    again = made(loss=lambda c, x, y: x, journal=tmp_path / "state")
    again.detach()


def test_what_is_published_is_an_average_in_the_domain_and_rivals_run() -> None:
    world = Regression.drawn(200, 3, 1.5, seed=1)
    for name, rival in RIVALS.items():
        found = rival(world, 1.0, 1e-3, 1.0, 0)
        assert np.isfinite(found).all(), name
    assert world.suboptimality(RIVALS["non_private"](world, 1.0, 1e-3, 1.0, 0)) < 0.05
    assert world.suboptimality(np.zeros(3)) == pytest.approx(1.0)
    assert world.suboptimality(world.truth) == pytest.approx(0.0)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"feature_bound": 0.0}, "feature_bound"),
        ({"target_bound": -1.0}, "target_bound"),
        ({"target_bound": inf}, "target_bound"),
        ({"bound": 0.0}, "bound"),
        ({"bound": "large"}, "bound"),
        ({"method": "sgd"}, "method"),
        ({"curvature": -1.0}, "curvature"),
        ({"pace": 0.0}, "pace"),
        ({"allocation": "never"}, "allocation"),
        ({"block": 0}, "block"),
        ({"horizon": 0}, "horizon"),
        ({"calibration": "published"}, "not private"),
        ({"domain": LpBall(1), "intercept": True}, "intercept"),
        ({"domain": "ball"}, "domain"),
        ({"domain": LpBall(2, radius=1e300)}, "radius"),
        ({"loss": "squared"}, "loss"),
        ({"intercept": -1}, "intercept"),
        ({"intercept": "no"}, "intercept"),
        ({"domain": Box(2, 0.0, 1e-200)}, "apart"),
        ({"domain": Simplex(3, 1e-200)}, "radius"),
        ({"curvature": 1e-300}, "curvature"),
        ({"domain": LpBall(2, 1), "method": "frank-wolfe", "horizon": 2**40, "block": 1}, "draws"),
        ({"privacy": Privacy(1e-9, 1e-6), "domain": LpBall(10**5)}, "too many"),
    ],
)
def test_configuration_errors_name_the_setting(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        made(**wrong)


@pytest.mark.parametrize(
    "rows",
    [(np.ones((3, 2)), np.ones(3)), (np.ones((3, 3)), np.ones(2)), "abc", 5, [(1, 2, 3)], [([1.0], 2.0)]],
)
def test_rows_of_the_wrong_width_are_refused_and_nothing_changes(rows: Any) -> None:
    learner = made()
    with pytest.raises(OutOfBounds):
        learner.observe_many(rows)
    assert learner._clock == 0
