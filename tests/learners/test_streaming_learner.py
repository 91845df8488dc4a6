"""If these fail, a sample is given away, or coefficients are not worth publishing."""

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
from discreet.audit.lower_bound import audit, through_doors
from discreet.domains import Box, LpBall, Simplex
from discreet.engine.coins import Coins
from discreet.engine.flat_state import flat
from discreet.engine.request import EMPTY_REQUEST, Batch
from discreet.learners.forced import forced
from discreet.losses import HuberLoss, LogisticLoss, Samples, SquaredLoss
from discreet.release.door import Door
from discreet.release.noise import DiscreteGaussian
from discreet.simulate.problems.regression import Regression
from laws import FEW_ORDERS, epsilon_of, selection_law, zcdp_of

USUAL, PURE = Privacy(1.0, 1e-6), Privacy(1.0)
COINS = Coins(bytes(16))


def made(
    domain: Any = None, loss: Any = None, horizon: int = 100, privacy: Privacy = USUAL, **more: Any
) -> Any:
    bounds = {"feature_bound": 1.0, "target_bound": 1.0} | more
    domain, loss = LpBall(3) if domain is None else domain, SquaredLoss() if loss is None else loss
    mode = bounds.pop("mode", None)
    make: Any = StreamingLearner if mode is None else partial(forced, StreamingLearner, mode)
    return make(domain, loss, horizon, privacy, **bounds)


def mode_of(learner: StreamingLearner) -> Any:
    return StreamingLearner.problem_for(learner.settings)


def viewed(mode: Any, public: Any = None, index: int = 0) -> Any:
    """The block before release `index`, with this typed public state."""
    public = mode.start()[0] if public is None else public
    return mode.view(flat(public), index, 0, COINS)


def rows_of(mode: Any) -> Any:
    """The aggregator that gradients go through."""
    return viewed(mode).aggregators()["gradient"]


def fed(mode: Any, sample: Any, public: Any = None, index: int = 0) -> Any:
    """What one sample adds to an empty block, by the shipped aggregator."""
    view, block = viewed(mode, public, index), {"gradient": rows_of(mode).empty()}
    samples = Samples([sample[0]], [sample[1]])
    view.gather(block, view.read(Batch(np.array([0]), samples, EMPTY_REQUEST)))
    return block["gradient"]


def at(public: Any, here: Any, before: Any) -> Any:
    """The same state with gradients that are computed at these points."""
    if hasattr(public, "memory"):
        return replace(public, coefficients=here, memory=replace(public.memory, point=here))
    return replace(public, coefficients=here, before=before)


# --- no sample is given away

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
    learner, generator = made(**method), np.random.default_rng(seed)
    mode = mode_of(learner)
    points = [learner.settings.domain.project(generator.normal(size=3)) for _ in range(2)]
    public = at(mode.start()[0], *points)
    moved = (fed(mode, here, public, index).values - fed(mode, there, public, index).values).astype(
        float
    )
    rows = rows_of(mode)
    if learner.settings.domain.corners and "method" in method:
        assert np.abs(moved).max() <= 2 * rows.levels
        assert mode.corners.selection(0).span == rows.span == 4 * rows.levels
    else:
        norm = 1 if learner.settings.privacy.pure else 2
        assert np.linalg.norm(moved, norm) <= rows.sensitivity(norm)


@pytest.mark.parametrize(
    "bounds",
    [
        {"feature_bound": 1e-8, "target_bound": 1e8},
        {"feature_bound": 1e-6},
        {"feature_bound": 1e8},
    ],
)
@pytest.mark.parametrize(
    "domain", [LpBall(3), LpBall(3, 1), LpBall(3, 1.5), LpBall(3, 3), Box(3)], ids=repr
)
@pytest.mark.parametrize("intercept", [False, True])
def test_huge_and_tiny_samples_weigh_no_more_than_others(
    bounds: dict[str, float], domain: Any, intercept: bool
) -> None:
    """Rows whose squares, or whose shrinking factors' squares, leave what floats can hold."""
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
    kept = np.zeros(3)

    def reusing(coefficients: Any, x: Any, y: float) -> Any:
        np.multiply(x, 2 * (x @ coefficients - y), out=kept)
        return kept

    def failing(coefficients: Any, x: Any, y: float) -> Any:
        if y == 0.5:
            raise ArithmeticError("secret")
        return 2 * (x @ coefficients - y) * x

    features = np.random.default_rng(0).uniform(-0.5, 0.5, size=(9, 3))
    targets, sums = np.linspace(-1, 1, 9), []
    for gradient in (
        reusing,
        lambda c, x, y: 2 * (x @ c - y) * x,
        failing,
        lambda c, x, y: 2 * (x @ c - y) * x * (y != 0.5),
    ):
        learner = made(loss=gradient, block=50)
        learner.observe_many((features, targets))
        assert learner.clock == 9
        sums.append(learner.snapshot().block["gradient"])
    assert np.array_equal(sums[0], sums[1])
    assert np.array_equal(sums[2], sums[3])


@pytest.mark.parametrize("privacy", [Privacy(4.0, 1e-3), Privacy(4.0)])
def test_drawn_corners_lose_no_more_than_their_budget(privacy: Privacy) -> None:
    """The exact joint law of two draws on every path, for all neighbouring streams of two
    samples.
    """
    learner = made(LpBall(2, 1), horizon=2, privacy=privacy, method="frank-wolfe", block=1)
    mode = mode_of(learner)
    rows = rows_of(mode)
    people = [([1.0, 0.0], 1.0), ([1.0, 0.0], -1.0), ([0.0, -1.0], 1.0), ([0.0, 0.0], 0.0)]

    def draw_law(index: int, total: Any) -> list[Fraction]:
        return selection_law(
            mode.corners.selection(index), rows.opposites(total, both=True).values.tolist()
        )

    def law(stream: Any) -> list[Fraction]:
        public, first, found = mode.start()[0], fed(mode, stream[0]), []
        for corner, chance in enumerate(draw_law(0, first)):
            start = public.coefficients
            moved = start + (learner.settings.domain.corner_at(corner) - start) / 2
            after = at(public, moved, start)
            both = rows.merge(first, fed(mode, stream[1], after, index=1))
            found += [chance * other for other in draw_law(1, both)]
        return found

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
    claim = mode_of(made(horizon=400, privacy=privacy, block=2, mode="leader")).plan.steps(0).charge
    assert claim.measure == "zcdp"

    def outputs(target: float, seed: int, weak: bool) -> np.ndarray:
        mode = mode_of(made(horizon=400, privacy=privacy, block=2, mode="leader"))
        public, kept = mode.start()
        block = {"gradient": fed(mode, ([1.0, 0.0, 0.0], target))}
        sums = mode.gradient.sum
        if weak:
            mode.gradient.__dict__["sum"] = replace(
                sums, noise=DiscreteGaussian(sums.noise.sigma // 2)
            )

        def passage(door: Door) -> float:
            door._left = (
                2**120
            )  # the weak copy charges more than was reserved: let it pass, to see it noticed
            released = viewed(mode, public).release({}, dict(kept), block, door)[0]
            return float(released.gradient["prefix"][0])

        return through_doors(passage, claim, trials=1_500, seed=seed)

    honest = audit(outputs(1.0, 61, False), outputs(-1.0, 62, False), claim)
    assert not honest.caught
    assert honest.shown > 0.1 * claim.amount
    assert audit(outputs(1.0, 63, True), outputs(-1.0, 64, True), claim).caught


# --- coefficients are worth publishing


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
def test_the_leader_is_taken_for_a_pure_guarantee_over_corners(domain: Any) -> None:
    """Frank–Wolfe lost nearly everything here: SubOpt .94 where the leader has .2."""
    assert made(domain, horizon=20_000, privacy=PURE).facts["method"] == "leader"
    many = {LpBall: LpBall(1000, 1), Simplex: Simplex(1000)}[type(domain)]
    assert (
        made(many, horizon=200_000, privacy=PURE).facts["method"] == "frank-wolfe"
    )  # where corners do pay


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
    found, intercept = classifier.coefficients, classifier.intercept
    assert np.mean((features @ found + intercept > 0) == (chances > 0.5)) > 0.9
    assert classifier.decision == {"coefficients": found.tolist(), "intercept": intercept}
    straight = features @ [0.5, -0.5]
    huber = made(LpBall(2), HuberLoss(0.5), horizon=8000, seed=1)
    huber.observe_stream(features, straight)
    assert np.abs(huber.coefficients - [0.5, -0.5]).max() < 0.1
    same = {"horizon": 8000, "mode": "frank-wolfe", "seed": 1}
    own = made(LpBall(2), lambda c, x, y: 2 * (x @ c - y) * x, bound=0.5, **same)
    built_in = made(LpBall(2), SquaredLoss(), **same)
    for learner in (own, built_in):
        learner.observe_stream(features, straight)
    assert np.allclose(own.coefficients, built_in.coefficients, atol=1e-3)


def test_a_constant_feature_as_large_as_the_others_gives_an_intercept_in_the_targets_units() -> (
    None
):
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
    features, targets = (
        generator.uniform(-0.5, 0.5, size=(100, 3)),
        generator.uniform(-1, 1, size=100),
    )
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


def test_a_round_that_was_asked_for_keeps_its_sample_and_the_stream_goes_on_after_it() -> None:
    """The asked round is one of its own: unanswered, it adds nothing."""
    features, targets = (
        np.random.default_rng(0).uniform(-0.5, 0.5, size=(10, 3)),
        np.linspace(-1, 1, 10),
    )
    request, plain = made(horizon=10, block=5, seed=1), made(horizon=10, block=5, seed=1)
    request.observe_stream(features[:4], targets[:4])
    request.act()  # the last round of a block
    request.observe((features[4], float(targets[4])))
    request.observe_stream(features[5:], targets[5:])
    plain.observe_stream(features, targets)
    assert np.array_equal(request.coefficients, plain.coefficients)


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
        assert (
            not learner.snapshot().block["gradient"].any()
        )  # three letters are three samples of nothing


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
    learner, plain = made(block=50), made(block=50)
    learner.observe_many([one, *strange, one])
    plain.observe_many([one, one])
    assert learner.clock == len(strange) + 2
    assert np.array_equal(learner.snapshot().block["gradient"], plain.snapshot().block["gradient"])
    assert plain.snapshot().block["gradient"].any()


def test_two_samples_as_a_pair_of_pairs_are_two_samples() -> None:
    pairs = (([0.5, 0.0, 0.0], 1.0), ([0.0, 0.5, 0.0], -1.0))
    two, listed = made(block=50), made(block=50)
    two.observe_many(pairs)
    listed.observe_many(list(pairs))
    assert two.clock == listed.clock == 2
    assert np.array_equal(two.snapshot().block["gradient"], listed.snapshot().block["gradient"])


# --- the rest


def test_a_callable_loss_is_not_kept_in_a_file(tmp_path: Path) -> None:
    def gradient(coefficients: Any, x: Any, y: float) -> Any:
        return x

    learner = made(loss=gradient, journal=tmp_path / "state")
    learner.detach()
    with pytest.raises(StateError, match="callable is not kept"):
        discreet.load(tmp_path / "state")
    again = made(loss=gradient, journal=tmp_path / "state")
    assert again.releases == 0
    again.detach()


def test_what_is_published_is_in_the_domain_from_the_first_release_on() -> None:
    for domain, mode in product(
        [LpBall(3, 1.5), Box(3, -0.2, 0.1), Simplex(3)], ["leader", "frank-wolfe"]
    ):
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
        ({"bound": 0.5}, "bound is for a loss that is a callable: leave it out"),
        ({"method": "sgd"}, "method"),
        (
            {"method": "leader"},
            "method='leader' cannot be chosen, it is used where it is best: leave it out",
        ),
        ({"method": "passes", "block": 5}, "publishes once"),
        ({"curvature": 0.0}, "curvature is no setting"),
        ({"pace": 2.0}, "pace is no setting"),
        ({"allocation": "final"}, "allocation is no setting"),
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
def test_coefficients_on_the_boundary_of_the_domain_are_given_notice_of(
    mode: str, domain: Any, wider: Any, remedy: str, crowd: np.random.Generator
) -> None:
    features = crowd.uniform(-0.5, 0.5, size=(8000, 3))
    targets = features @ [1.2, -0.9, 0.6] + crowd.normal(0, 0.05, size=8000)
    for where, found in (
        (domain, [f"the coefficients lie on the boundary of the domain: {remedy}"]),
        (wider, []),
    ):
        learner = made(where, horizon=8000, mode=mode, feature_bound=1.5, target_bound=2.0, seed=1)
        assert learner.notices == {}
        learner.observe_stream(features, targets)
        assert list(learner.notices.values()) == found
        assert learner.facts.get("boundary") == (found[0] if found else None)


def test_notices_read_released_values_alone(crowd: np.random.Generator) -> None:
    learner = made(horizon=4000, seed=1)
    learner.observe_stream(np.full((3000, 3), 0.5), np.ones(3000))
    before, more = learner.notices, learner.rounds_until_release
    learner.observe_many((crowd.uniform(-0.5, 0.5, size=(more, 3)), np.zeros(more)))
    assert before == learner.notices
