"""If these fail, a sample is revealed, or released coefficients have little value."""

from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product
from math import inf, nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet import ConfigError, HorizonReached, OutOfBounds, Privacy, StateError, StreamingLearner
from discreet.arrays import Floats
from discreet.audit.lower_bound import audit, through_doors
from discreet.domains import Box, LpBall, Simplex
from discreet.engine.coins import Coins
from discreet.engine.flat_state import flat
from discreet.engine.problem import Problem
from discreet.engine.request import EMPTY_REQUEST, Batch
from discreet.learners.forced import forced
from discreet.losses import HuberLoss, LogisticLoss, Samples, SquaredLoss
from discreet.release.door import Door
from discreet.release.noise import DiscreteGaussian
from discreet.simulate.problems.regression import Regression
from laws import FEW_ORDERS, epsilon_of, selection_law, zcdp_of

USUAL = Privacy(1.0, 1e-6)
PURE = Privacy(1.0)
COINS = Coins(bytes(16))


def made(
    domain: Any = None, loss: Any = None, horizon: Any = 100, privacy: Any = USUAL, **more: Any
) -> Any:
    """Return a learner with these settings; `mode` forces a mode."""
    settings = {"feature_bound": 1.0, "target_bound": 1.0} | more
    domain = LpBall(3) if domain is None else domain
    loss = SquaredLoss() if loss is None else loss
    mode = settings.pop("mode", None)
    make: Any = StreamingLearner if mode is None else partial(forced, StreamingLearner, mode)
    return make(domain, loss, horizon, privacy, **settings)


def mode_of(learner: StreamingLearner) -> Any:
    return StreamingLearner.problem_for(learner.settings).mode


def viewed(mode: Any, public: Any = None, index: int = 0) -> Any:
    """Return the view of the block before release `index`, with this public state."""
    public = Problem(mode).start()[0] if public is None else public
    return Problem(mode).view(flat(public), index, 0, COINS)


def rows_of(mode: Any) -> Any:
    """Return the aggregator of gradients."""
    return viewed(mode).aggregators()["gradient"]


def fed(mode: Any, sample: Any, public: Any = None, index: int = 0) -> Any:
    """Return the aggregate of a block with one sample."""
    view = viewed(mode, public, index)
    block = {"gradient": rows_of(mode).empty()}
    samples = Samples([sample[0]], [sample[1]])
    view.count(block, Batch(np.array([0]), samples, EMPTY_REQUEST))
    return block["gradient"]


def at(public: Any, here: Any, before: Any) -> Any:
    """Return the public state with gradients computed at these points."""
    if hasattr(public, "memory"):
        return replace(public, coefficients=here, memory=replace(public.memory, point=here))
    return replace(public, coefficients=here, before=before)


# --- no sample is revealed

numbers = st.floats(-1e6, 1e6) | st.floats(-2, 2) | st.floats(allow_nan=True, allow_infinity=True)
samples = st.tuples(st.lists(numbers, min_size=3, max_size=3), numbers)
METHODS: list[dict[str, Any]] = [
    {"mode": "leader"},
    {"mode": "leader", "privacy": PURE, "domain": Box(3)},
    {"method": "frank-wolfe", "domain": LpBall(3, inf)},
    {"method": "frank-wolfe", "domain": LpBall(3, 1.5), "privacy": PURE},
    {"method": "frank-wolfe", "domain": LpBall(3, 1)},
    {"method": "frank-wolfe", "domain": Simplex(3), "privacy": PURE},
    {"mode": "leader", "loss": lambda c, x, y: (x @ c - y) * x * 9},
    {"method": "frank-wolfe", "loss": lambda c, x, y: (x @ c - y) * x * 9},
]


@settings(max_examples=80)
@given(samples, samples, st.sampled_from(METHODS), st.integers(0, 6), st.integers(0, 10**6))
def test_one_sample_moves_the_sum_by_no_more_than_calibrated(
    here: Any, there: Any, method: dict[str, Any], index: int, seed: int
) -> None:
    """Any two samples, at any two points of the domain, in any block."""
    learner = made(**method)
    mode = mode_of(learner)
    rows = rows_of(mode)
    generator = np.random.default_rng(seed)
    points = [learner.settings.domain.project(generator.normal(size=3)) for _ in range(2)]
    public = at(mode.first, *points)

    first = fed(mode, here, public, index).values
    second = fed(mode, there, public, index).values

    moved = (first - second).astype(float)
    if learner.settings.domain.corners and "method" in method:
        assert np.abs(moved).max() <= 2 * rows.levels
        assert mode.corners.gradient.selection(0).span == rows.span == 4 * rows.levels
    else:
        norm = 1 if learner.settings.privacy.pure else 2
        assert np.linalg.norm(moved, norm) <= rows.sensitivity(norm)


@pytest.mark.parametrize(
    "bounds",
    [
        {"feature_bound": 1e-15, "target_bound": 1e15},
        {"feature_bound": 1e-6},
        {"feature_bound": 1e15},
        {"feature_bound": 1e15, "target_bound": 1e15},
    ],
)
@pytest.mark.parametrize(
    "domain", [LpBall(3), LpBall(3, 1), LpBall(3, 1.5), LpBall(3, 3), Box(3)], ids=repr
)
@pytest.mark.parametrize("intercept", [False, True])
def test_huge_and_tiny_samples_stay_within_the_clip(
    bounds: dict[str, Any], domain: Any, intercept: bool
) -> None:
    """Squares of rows, or of the factors that shrink them, are beyond the range of floats."""
    mode = mode_of(made(domain, mode="leader", intercept=intercept, **bounds))
    size = 2 if intercept else 3
    for length in (1e-320, 1e-160, 1e-8, 1.0, 1e8, 1e100, 1e150, 1e154, 1e200, 1e307):
        shapes = (
            np.full(size, length),
            np.array([length, *[1.0] * (size - 1)]),
            np.eye(size)[0] * length,
        )
        for row, y in product(shapes, (1e8, -1e308, 1e-300)):
            moved = fed(mode, (row, y)).values.astype(float)
            assert np.linalg.norm(moved) <= rows_of(mode).levels


def test_a_gradient_that_reuses_its_array_or_fails_counts_for_its_own_sample_only() -> None:
    buffer = np.zeros(3)

    def reusing(coefficients: Any, x: Any, y: float) -> Any:
        np.multiply(x, 2 * (x @ coefficients - y), out=buffer)
        return buffer

    def failing(coefficients: Any, x: Any, y: float) -> Any:
        if y == 0.5:
            raise ArithmeticError("secret")
        return 2 * (x @ coefficients - y) * x

    features = np.random.default_rng(0).uniform(-0.5, 0.5, size=(9, 3))
    targets = np.linspace(-1, 1, 9)
    gradients: list[Any] = [
        reusing,
        lambda c, x, y: 2 * (x @ c - y) * x,
        failing,
        lambda c, x, y: 2 * (x @ c - y) * x * (y != 0.5),
    ]
    sums = []
    for gradient in gradients:
        learner = made(loss=gradient, block=50)
        learner.observe_many((features, targets))
        assert learner.clock == 9
        sums.append(learner.snapshot().block["gradient"])
    assert np.array_equal(sums[0], sums[1])
    assert np.array_equal(sums[2], sums[3])


@pytest.mark.parametrize("privacy", [Privacy(4.0, 1e-3), Privacy(4.0)])
def test_drawn_corners_lose_no_more_than_their_budget(privacy: Privacy) -> None:
    """The joint law of two draws is exact, for all neighbouring streams of two samples."""
    learner = made(LpBall(2, 1), horizon=2, privacy=privacy, method="frank-wolfe", block=1)
    mode = mode_of(learner)
    rows = rows_of(mode)
    people = [([1.0, 0.0], 1.0), ([1.0, 0.0], -1.0), ([0.0, -1.0], 1.0), ([0.0, 0.0], 0.0)]

    def draw_law(index: int, total: Any) -> list[Fraction]:
        return selection_law(
            mode.corners.gradient.selection(index), rows.opposites(total, both=True).values.tolist()
        )

    def law(stream: Any) -> list[Fraction]:
        public = mode.first
        first = fed(mode, stream[0])
        joint = []
        for corner, chance in enumerate(draw_law(0, first)):
            start = public.coefficients
            moved = start + (learner.settings.domain.corner_at(corner) - start) / 2
            after = at(public, moved, start)
            both = rows.merge(first, fed(mode, stream[1], after, index=1))
            joint += [chance * second for second in draw_law(1, both)]
        return joint

    laws = [
        (numbers, law([people[number] for number in numbers]))
        for numbers in product(range(4), repeat=2)
    ]
    worst = 0.0
    for (here, first), (there, second) in product(laws, repeat=2):
        if sum(a != b for a, b in zip(here, there, strict=True)) == 1:
            loss = epsilon_of(first, second) if privacy.pure else zcdp_of(first, second, FEW_ORDERS)
            worst = max(worst, loss)
    claim = learner.guarantee.total.everyone.amount
    assert 0.2 * claim <= worst <= claim <= privacy.budget.amount


@pytest.mark.statistical
def test_the_worst_pair_of_samples_keeps_the_charge_and_half_the_noise_does_not() -> None:
    """Targets of 1 and −1 at the same features: gradients as far apart as any two. α = 10⁻⁶."""
    privacy = Privacy(20.0, 1e-3)
    claim = mode_of(made(horizon=400, privacy=privacy, block=2, mode="leader")).gradient.charge(0)
    assert claim.measure == "zcdp"

    def outputs(target: float, seed: int, weak: bool) -> Floats:
        mode = mode_of(made(horizon=400, privacy=privacy, block=2, mode="leader"))
        public, hidden = Problem(mode).start()
        block = {"gradient": fed(mode, ([1.0, 0.0, 0.0], target))}
        sums = mode.gradient.sum
        if weak:
            mode.gradient.__dict__["sum"] = replace(
                sums, noise=DiscreteGaussian(sums.noise.sigma // 2)
            )

        def passage(door: Door) -> float:
            released = viewed(mode, public).release({}, dict(hidden), block, door)[0]
            return float(released.states["gradient"]["prefix"][0])

        # Half the noise costs four times the charge: the door must not refuse it before the audit.
        reserved = claim * 8.0 if weak else claim
        return through_doors(passage, reserved, trials=1_500, seed=seed)

    honest = audit(outputs(1.0, 61, False), outputs(-1.0, 62, False), claim)
    assert not honest.caught
    assert honest.shown > 0.1 * claim.amount
    assert audit(outputs(1.0, 63, True), outputs(-1.0, 64, True), claim).caught


# --- released coefficients have value


@pytest.mark.parametrize("p", [1, 1.5, 2, inf])
@pytest.mark.parametrize(("mode", "worst"), [("leader", 0.05), ("frank-wolfe", 0.6)])
def test_a_regression_is_learned_in_every_geometry(p: float, mode: str, worst: float) -> None:
    world = Regression.drawn(4000, 5, p, seed=3)
    learner = made(world.domain, horizon=4000, mode=mode, seed=1)
    learner.observe_stream(world.features, world.targets)
    assert world.suboptimality(learner.coefficients) < worst
    assert np.allclose(world.domain.project(learner.coefficients), learner.coefficients, atol=1e-9)


def test_a_sparse_model_in_many_dimensions_is_learned() -> None:
    world = Regression.drawn(20_000, 300, 1, support=5, seed=1)
    learner = made(world.domain, horizon=20_000, seed=1)
    learner.observe_stream(world.features, world.targets)
    assert world.suboptimality(learner.coefficients) < 0.5


@pytest.mark.parametrize("domain", [LpBall(50, 1), Simplex(50)])
def test_the_leader_is_used_for_a_pure_guarantee_over_corners(domain: Any) -> None:
    """Frank–Wolfe has a relative suboptimality of .94 here, the leader of .2."""
    assert made(domain, horizon=20_000, privacy=PURE).facts["method"] == "leader"
    many = {LpBall: LpBall(1000, 1), Simplex: Simplex(1000)}[type(domain)]
    # With these numbers drawing corners pays.
    assert made(many, horizon=200_000, privacy=PURE).facts["method"] == "frank-wolfe"


def test_a_pure_regression_over_an_l1_ball_is_learned() -> None:
    world = Regression.drawn(20_000, 50, 1, support=10, seed=1)
    learner = made(world.domain, horizon=20_000, privacy=PURE, seed=1)
    learner.observe_stream(world.features, world.targets)
    assert world.suboptimality(learner.coefficients) < 0.4


def test_other_losses_an_intercept_and_a_callable() -> None:
    generator = np.random.default_rng(0)
    features = generator.uniform(-1, 1, size=(8000, 2)) / np.sqrt(2)
    chances = 1 / (1 + np.exp(-(features @ [4.0, -2.0] + 0.5)))
    targets = (generator.random(8000) < chances).astype(float)
    classifier = made(LpBall(3, 2, 5.0), LogisticLoss(), horizon=8000, intercept=True, seed=1)
    classifier.observe_stream(features, targets)
    coefficients = classifier.coefficients
    intercept = classifier.intercept
    assert np.mean((features @ coefficients + intercept > 0) == (chances > 0.5)) > 0.9
    assert classifier.decision == {"coefficients": coefficients.tolist(), "intercept": intercept}
    straight = features @ [0.5, -0.5]
    huber = made(LpBall(2), HuberLoss(0.5), horizon=8000, seed=1)
    huber.observe_stream(features, straight)
    assert np.abs(huber.coefficients - [0.5, -0.5]).max() < 0.1
    same: dict[str, Any] = {"horizon": 8000, "mode": "frank-wolfe", "seed": 1}
    own = made(LpBall(2), lambda c, x, y: 2 * (x @ c - y) * x, bound=0.5, **same)
    built_in = made(LpBall(2), SquaredLoss(), **same)
    for learner in (own, built_in):
        learner.observe_stream(features, straight)
    assert np.allclose(own.coefficients, built_in.coefficients, atol=1e-3)


def test_an_intercept_is_in_the_units_of_the_target() -> None:
    """The constant feature is as large as the bound of the others."""
    features = np.random.default_rng(0).uniform(-10, 10, size=(6000, 1))
    learner = made(
        LpBall(2),
        horizon=6000,
        feature_bound=10.0,
        privacy=Privacy(50.0, 1e-6),
        intercept=True,
        seed=1,
    )
    learner.observe_stream(features, 0.05 * features[:, 0] + 0.4)
    assert learner.intercept == pytest.approx(0.4, abs=0.1)


# --- samples


def test_sparse_matrices_and_single_samples_are_the_same_samples() -> None:
    from scipy.sparse import csr_matrix

    generator = np.random.default_rng(0)
    features = generator.uniform(-0.5, 0.5, size=(100, 3))
    targets = generator.uniform(-1, 1, size=100)
    dense, sparse, single, listed = (made(seed=3, block=30) for _ in range(4))
    dense.observe_stream(features, targets)
    sparse.observe_stream(csr_matrix(features), targets)
    for x, y in zip(features, targets, strict=True):
        single.act()
        single.observe((csr_matrix(x[None]), float(y)))
    single.release_if_due()
    listed.replay([(x, float(y)) for x, y in zip(features, targets, strict=True)])
    listed.release_if_due()
    for other in (sparse, single, listed):
        assert np.array_equal(dense.coefficients, other.coefficients)


def test_single_rounds_between_streams_count_like_a_part_of_one_stream() -> None:
    features = np.random.default_rng(0).uniform(-0.5, 0.5, size=(10, 3))
    targets = np.linspace(-1, 1, 10)
    mixed = made(horizon=10, block=5, seed=1)
    plain = made(horizon=10, block=5, seed=1)
    mixed.observe_stream(features[:4], targets[:4])
    mixed.act()  # the last round of a block
    mixed.observe((features[4], float(targets[4])))
    mixed.observe_stream(features[5:], targets[5:])
    plain.observe_stream(features, targets)
    assert np.array_equal(mixed.coefficients, plain.coefficients)


def test_more_samples_than_planned_are_refused_before_the_first() -> None:
    learner = made(horizon=10, block=5)
    with pytest.raises(HorizonReached, match="nothing was learned"):
        learner.observe_stream(np.zeros((11, 3)), np.zeros(11))
    assert learner.clock == 0


@pytest.mark.parametrize(
    "rows", [(np.ones((3, 2)), np.ones(3)), (np.ones((3, 3)), np.ones(2)), "abc", 5, None, object()]
)
def test_rows_of_the_wrong_width_are_refused_and_nothing_changes(rows: Any) -> None:
    learner = made()
    try:
        learner.observe_many(rows)
    except OutOfBounds:
        assert learner.clock == 0
    else:
        # Three letters are three malformed samples.
        assert not learner.snapshot().block["gradient"].any()


def test_malformed_pairs_among_many_add_nothing_and_use_up_their_rounds() -> None:
    one = ([0.5, 0.0, 0.0], 1.0)
    strange = [
        (1, 2, 3),
        ([1.0], 2.0),
        None,
        "x",
        ([nan] * 3, 0.1),
        ([0.1] * 3, nan),
        ([0.1] * 3, [1.0, 2.0]),
        object(),
    ]
    learner = made(block=50)
    plain = made(block=50)
    learner.observe_many([one, *strange, one])
    plain.observe_many([one, one])
    assert learner.clock == len(strange) + 2
    assert np.array_equal(learner.snapshot().block["gradient"], plain.snapshot().block["gradient"])
    assert plain.snapshot().block["gradient"].any()


def test_two_samples_as_a_pair_of_pairs_are_two_samples() -> None:
    pairs = (([0.5, 0.0, 0.0], 1.0), ([0.0, 0.5, 0.0], -1.0))
    two = made(block=50)
    listed = made(block=50)
    two.observe_many(pairs)
    listed.observe_many(list(pairs))
    assert two.clock == listed.clock == 2
    assert np.array_equal(two.snapshot().block["gradient"], listed.snapshot().block["gradient"])


# --- the rest


def test_a_callable_loss_is_not_stored_in_a_file(tmp_path: Path) -> None:
    def gradient(coefficients: Any, x: Any, y: float) -> Any:
        return x

    learner = made(loss=gradient, journal=tmp_path / "state")
    learner.detach()
    with pytest.raises(StateError, match="callable loss is not stored"):
        discreet.load(tmp_path / "state")
    again = made(loss=gradient, journal=tmp_path / "state")
    assert again.releases == 0
    again.detach()


def test_released_coefficients_are_in_the_domain_from_the_first_release_on() -> None:
    domains: list[Any] = [LpBall(3, 1.5), Box(3, -0.2, 0.1), Simplex(3)]
    for domain, mode in product(domains, ["leader", "frank-wolfe"]):
        learner = made(domain, horizon=60, block=10, mode=mode, seed=1)
        for _ in range(6):
            learner.observe_many((np.ones((10, 3)), np.ones(10)))
            learner.release_if_due()
            assert np.allclose(
                domain.project(learner.coefficients), learner.coefficients, atol=1e-9
            )
        assert learner.guarantee.releases == learner.guarantee.planned == 6


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"feature_bound": 0.0}, "feature_bound"),
        ({"target_bound": -1.0}, "target_bound"),
        ({"target_bound": inf}, "target_bound"),
        ({"bound": 0.0}, "bound"),
        ({"bound": "large"}, "bound"),
        ({"bound": 0.5}, "bound is for a callable loss: leave it out"),
        ({"method": "sgd"}, "method"),
        (
            {"method": "leader"},
            "method='leader' cannot be chosen, it is used where it is best: leave it out",
        ),
        ({"method": "passes", "block": 5}, "releases once"),
        ({"block": 0}, "block"),
        ({"horizon": 0}, "horizon"),
        ({"domain": LpBall(1), "intercept": True}, "intercept"),
        ({"intercept": -1}, "intercept"),
        ({"intercept": "no"}, "intercept"),
        ({"domain": "ball"}, "domain"),
        ({"domain": LpBall(2, radius=1e100)}, "radius"),
        ({"domain": Box(2, 0.0, 1e-100)}, "high"),
        ({"domain": Simplex(3, 1e-100)}, "radius"),
        ({"loss": "squared"}, "loss"),
        ({"domain": LpBall(2, 1), "method": "frank-wolfe", "horizon": 2**40, "block": 1}, "draws"),
        ({"privacy": Privacy(1e-9, 1e-6), "domain": LpBall(10**5)}, "too many"),
    ],
)
def test_configuration_errors_name_the_setting(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        made(**wrong)


@pytest.mark.parametrize("mode", ["whitened", "leader", "passes"])
@pytest.mark.parametrize(
    ("domain", "wider", "remedy"),
    [
        (LpBall(3), LpBall(3, radius=3.0), "enlarge radius"),
        (Box(3, -0.5, 0.5), Box(3, -3.0, 3.0), "widen low and high"),
    ],
)
def test_coefficients_on_the_boundary_of_the_domain_cause_a_notice(
    mode: str, domain: Any, wider: Any, remedy: str, generator: np.random.Generator
) -> None:
    features = generator.uniform(-0.5, 0.5, size=(8000, 3))
    targets = features @ [1.2, -0.9, 0.6] + generator.normal(0, 0.05, size=8000)
    notice = f"the coefficients lie on the boundary of the domain: {remedy}"
    for tried, expected in ((domain, notice), (wider, None)):
        learner = made(tried, horizon=8000, mode=mode, feature_bound=1.5, target_bound=2.0, seed=1)
        assert learner.notices == {}
        learner.observe_stream(features, targets)
        assert list(learner.notices.values()) == ([] if expected is None else [expected])
        assert learner.facts.get("boundary") == expected


def test_notices_depend_on_released_values_only(generator: np.random.Generator) -> None:
    learner = made(horizon=4000, seed=1)
    learner.observe_stream(np.full((3000, 3), 0.5), np.ones(3000))
    before = learner.notices
    more = learner.rounds_until_release
    learner.observe_many((generator.uniform(-0.5, 0.5, size=(more, 3)), np.zeros(more)))
    assert before == learner.notices
