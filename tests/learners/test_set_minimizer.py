"""If these fail, a visitor's costs are revealed, or nothing is learned from them."""

from dataclasses import fields, replace
from functools import cached_property
from itertools import product
from math import inf, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import ConfigError, Privacy, SetMaximizer, SetMinimizer, StateError
from discreet.audit.lower_bound import audit, through_doors
from discreet.engine.coins import Coins
from discreet.engine.flat_state import flat
from discreet.engine.problem import Problem, view_of
from discreet.engine.request import EMPTY_REQUEST, Batch, Block, Request
from discreet.engine.statistics import RunningTotal
from discreet.engine.view import View
from discreet.functions import ConcaveOverModular, GraphCut, MinusModular
from discreet.learners.set_minimizer.pairwise_search.public import Public, TrialsPlan
from discreet.release.aggregators import Rows
from discreet.release.door import Door
from discreet.release.noise import DiscreteGaussian, DiscreteLaplace
from discreet.release.sums.disjoint import DisjointSum
from discreet.simulate.problems.costs import BundleWorld, run_bundle

USUAL = Privacy(1.0, 1e-6)
PURE = Privacy(1.0)
PAIRS = MinusModular(GraphCut(((0, 1), (2, 3))))


def mode_of(learner: SetMinimizer) -> Any:
    return SetMinimizer.problem_for(learner.settings).mode


def first_view(mode: Any) -> View:
    """Return the view of the first block."""
    view: View = Problem(mode).view(flat(Problem(mode).start()[0]), 0, 0, Coins(bytes(16)))
    return view


def fed(mode: Any, people: Any, rounds: Any = (0,), request: Request = EMPTY_REQUEST) -> Block:
    """Return the aggregate of the first block after these people."""
    view = first_view(mode)
    block = view.empty_block()
    view.count(block, Batch(np.array(rounds), mode.answer.rows(people), request))
    return block


# --- privacy of visitors

anything = st.lists(
    st.floats(-1e6, 1e6) | st.floats(-2, 2) | st.sampled_from([nan, inf, 1e308, 5e-324]),
    min_size=6,
    max_size=6,
)


@settings(max_examples=150)
@given(anything, anything, st.sampled_from([USUAL, PURE]))
def test_one_visitor_moves_the_gradient_by_no_more_than_calibrated(
    here: Any, there: Any, privacy: Privacy
) -> None:
    mode = mode_of(SetMinimizer(4, 100, privacy, function=PAIRS))
    norm = mode.gradient.aggregator.norm
    moved = fed(mode, [here])["gradient"].values - fed(mode, [there])["gradient"].values
    assert np.linalg.norm(moved.astype(float), norm) <= mode.gradient.aggregator.sensitivity(norm)


@pytest.mark.parametrize("privacy", [USUAL, PURE])
@pytest.mark.parametrize("stream", ["drifting", "iid"])
@pytest.mark.parametrize("items", [1, 2, 4])
def test_one_visitor_moves_the_sums_of_tried_sets_by_no_more_than_calibrated(
    privacy: Privacy, stream: Any, items: int
) -> None:
    """Every round of the first block, every pair of costs; the worst pair attains the bound."""
    learner = SetMinimizer(
        items, 300, privacy, feedback="bandit", stream=stream, bound=2.0, explore=0.3
    )
    mode = mode_of(learner)
    norm = 1 if privacy.pure else 2
    largest = 0.0
    aggregator = first_view(mode).aggregators()["costs"]
    for round in range(learner.rounds_until_release):
        answers = (-9.0, -2.0, 0.1, 2.0, nan, inf, 1e308, -0.0)
        sums = [fed(mode, [cost], [round])["costs"].values for cost in answers]
        moves = [one - two for one, two in product(sums, repeat=2)]
        lengths = [float(np.linalg.norm(move.astype(float), norm)) for move in moves]
        largest = max(largest, *lengths)
        assert max(np.count_nonzero(move) for move in moves) <= aggregator.cells
    assert largest == pytest.approx(aggregator.sensitivity(norm), rel=1e-9)


def outputs(learner: SetMinimizer, cost: float, claim: Any, seed: int, weak: bool) -> np.ndarray:
    """Return first releases as an attacker sees them when only one visitor has a cost.

    Each is the total along the direction in which the visitor moves it.
    """
    mode = mode_of(learner)
    direction = np.array([1.0, -1.0])
    if weak:
        mode.gradient = WeakTotal.copied_from(mode.gradient)
    view = first_view(mode)
    hidden = Problem(mode).start()[1]
    block = fed(mode, [lambda chosen: cost * (len(chosen) == 1)])

    def passage(door: Door) -> float:
        after, _ = view.release({}, dict(hidden), block, door)
        return float(after.learned.memory.total @ direction)

    # The weak copy charges more than the claim: doors let it pass, so that the audit can notice.
    reserved = claim * 100 if weak else claim
    trials = 1_500 if claim.measure == "zcdp" else 4_000
    return through_doors(passage, reserved, trials=trials, seed=seed)


class WeakTotal(RunningTotal[Rows]):
    """A running total with half the noise that its budget pays for."""

    @classmethod
    def copied_from(cls, total: RunningTotal[Rows]) -> "WeakTotal":
        return cls(**{field.name: getattr(total, field.name) for field in fields(total)})

    @cached_property
    def sum(self) -> Any:
        calibrated: Any = super().sum
        if isinstance(calibrated, DisjointSum):
            noise: Any = calibrated.calibrated.noise
            weak = DiscreteLaplace(noise.scale // 2)
            return replace(calibrated, calibrated=replace(calibrated.calibrated, noise=weak))
        return replace(calibrated, noise=DiscreteGaussian(calibrated.noise.sigma // 2))


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("privacy", "measure", "more"),
    [
        (Privacy(20.0, 1e-3), "zcdp", {"block": 2}),
        (Privacy(2.0), "pure", {"block": 2}),
    ],
)
def test_the_worst_pair_of_visitors_stays_within_the_charge_and_half_the_noise_does_not(
    privacy: Privacy, measure: str, more: dict[str, Any]
) -> None:
    """Costs ±1 for the first item alone have subgradients (c, −c) and (−c, c), the most distant.

    α = 10⁻⁶; half the noise costs twice (pure) or four times (zCDP) as much, and that is noticed.
    """

    def made() -> SetMinimizer:
        return SetMinimizer(2, 400, privacy, **more)

    claim = mode_of(made()).gradient.charge(0)
    assert claim.measure == measure

    def attacked(cost: float, seed: int, weak: bool) -> np.ndarray:
        return outputs(made(), cost, claim, seed, weak)

    honest = audit(attacked(1.0, 51, False), attacked(-1.0, 52, False), claim)
    assert not honest.caught
    assert honest.shown > 0.1 * claim.amount
    assert audit(attacked(1.0, 53, True), attacked(-1.0, 54, True), claim).caught


# --- trials


def test_more_items_than_bandit_feedback_can_handle_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"at most 1000 items, got 1001: .*feedback='full'"):
        SetMinimizer(1001, 10_000, USUAL, feedback="bandit")
    assert SetMinimizer(1001, 10_000, USUAL).horizon == 10_000


@pytest.mark.parametrize("stream", ["drifting", "iid"])
@pytest.mark.parametrize("explore", [0.02, 0.2])
def test_no_more_visitors_meet_trials_than_explore_allows(stream: Any, explore: float) -> None:
    """Trials are sets other than the incumbent, which most rounds of a block play."""
    world = BundleWorld.drawn(20_000, items=6, seed=2)
    learner = SetMinimizer(
        6, 20_000, USUAL, feedback="bandit", stream=stream, explore=explore, seed=1
    )
    tried = 0
    while learner.clock < 20_000:
        learner.release_if_due()
        count = learner.rounds_until_release
        public = view_of(Problem(mode_of(learner)), learner.snapshot()).public
        assert isinstance(public, Public)
        plan = public.phase
        of_incumbent = int(plan.counts[0]) if isinstance(plan, TrialsPlan) else count
        is_screening = learner.releases == 0
        tried += count if is_screening else count - of_incumbent
        rows = world.rows(learner.clock, learner.clock + count)
        chosen = np.zeros((count, 7))
        np.put_along_axis(chosen, learner.preview(count), 1.0, axis=1)
        learner.observe_many(world.costs(rows, chosen[:, :-1]))
    assert 0 < tried <= explore * 20_000


def test_a_short_horizon_warns_in_the_plan() -> None:
    assert "too short" in SetMinimizer(10, 500, USUAL, feedback="bandit").facts["warning"]
    assert "warning" not in SetMinimizer(10, 10**6, USUAL, feedback="bandit").facts
    assert SetMinimizer(10, 3, USUAL, feedback="bandit").act().size <= 10


# --- learning


@pytest.mark.parametrize("changes", [{}, {"privacy": Privacy(3.0)}])
def test_full_information_finds_the_best_bundle(changes: dict[str, Any]) -> None:
    world = BundleWorld.drawn(30_000, items=12, seed=8)
    learner = SetMinimizer(
        12, 30_000, function=world.function, seed=1, **({"privacy": USUAL} | changes)
    )
    cost = run_bundle(learner, world)
    best = world.cost_of(world.best)
    assert cost <= world.naive + 0.8 * (best - world.naive)
    assert world.cost_of(np.flatnonzero(learner.point > 0.5)) <= 0.95 * best


@pytest.mark.parametrize("stream", ["drifting", "iid"])
def test_the_cost_of_what_was_played_is_enough(stream: Any) -> None:
    world = BundleWorld.drawn(50_000, items=4, seed=2)
    learner = SetMinimizer(4, 50_000, USUAL, feedback="bandit", stream=stream, seed=1)
    cost = run_bundle(learner, world)
    assert cost <= world.naive + 0.5 * (world.cost_of(world.best) - world.naive)
    assert set(np.flatnonzero(learner.point > 0.5)) == set(world.best)


def test_a_built_in_function_and_a_callable_for_the_same_costs_learn_the_same() -> None:
    rows = np.random.default_rng(0).random((60, 8)) / 8
    functions = MinusModular(ConcaveOverModular("sqrt"))

    def person(row: np.ndarray) -> Any:
        return lambda chosen: float(np.sqrt(row[:4][chosen].sum() / 4) - row[4:][chosen].sum())

    built_in = SetMinimizer(4, 60, USUAL, function=functions, block=10, seed=2)
    plain = SetMinimizer(4, 60, USUAL, block=10, seed=2)
    built_in.replay(rows)
    plain.replay([person(row) for row in rows])
    assert np.allclose(built_in.point, plain.point, atol=1e-5)


# --- sets


@pytest.mark.parametrize(("horizon", "block"), [(10, 1), (9, 4), (7, 3), (1, 1)])
def test_a_log_gives_one_padded_set_per_row(horizon: int, block: int) -> None:
    """Blocks, and the rest of the last block, may be single rounds."""
    learner = SetMinimizer(4, horizon, USUAL, function=PAIRS, block=block, seed=1)
    sets = learner.replay(np.random.default_rng(0).random((horizon, 6)) / 6)
    assert sets.shape == (horizon, 4)
    for row in sets:
        shown = row[row >= 0]
        assert (np.diff(shown) > 0).all()
        assert (row[len(shown) :] == -1).all()


def test_one_set_or_many_at_once_are_the_same_sets() -> None:
    learner = SetMinimizer(4, 100, USUAL, function=PAIRS, block=20, seed=1)
    shown = learner.preview(20)
    assert learner.preview(1).shape == (1, 4)
    assert learner.open_many(1).decisions.shape == (1, 4)
    tickets = learner.open_many(19)
    assert np.array_equal(tickets.decisions, shown[1:])
    assert [ticket.decision.tolist() for ticket in tickets] == [
        row[row >= 0].tolist() for row in shown[1:]
    ]


def test_unavailable_items_are_left_out_and_labels_name_the_rest() -> None:
    learner = SetMinimizer(["a", "b", "c", "d"], 1000, USUAL, function=PAIRS, seed=1)
    learner.replay(np.tile([0.0, 0.0, 0.5, 0.5, 0.5, -0.5], (999, 1)))
    assert learner.open(available=[False, True, True, True]).decision == ["b", "c"]
    assert list(learner.decision["chances"]) == ["a", "b", "c", "d"]
    with pytest.raises(ConfigError, match="yes or no"):
        learner.open(available=[True])


def test_sets_with_masks_are_in_order_and_padded_at_the_end() -> None:
    learner = SetMinimizer(5, 100, USUAL, block=50, seed=1)
    masks = np.random.default_rng(0).random((50, 5)) < 0.6
    masks[~masks.any(axis=1), 0] = True
    plain = learner.preview(50)
    masked = learner.open_many(50, masks).decisions
    for before, after, mask in zip(plain, masked, masks, strict=True):
        expected = [item for item in before if item >= 0 and mask[item]]
        assert after.tolist() == expected + [-1] * (5 - len(expected))


# --- settings


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"items": 0}, "items"),
        ({"items": ["a", "a"]}, "different"),
        ({"items": None}, "items"),
        ({"horizon": 0}, "horizon"),
        ({"bound": 0.0}, "bound"),
        ({"bound": nan}, "bound"),
        ({"bound": "x"}, "bound"),
        ({"feedback": "clicks"}, "feedback"),
        ({"stream": "iid"}, "bandit"),
        ({"explore": 0.1}, "explore"),
        ({"feedback": "bandit", "explore": 1.5}, "explore"),
        ({"feedback": "bandit", "explore": 5e-324}, "explore"),
        ({"feedback": "bandit", "explore": "x"}, "explore"),
        ({"feedback": "bandit", "function": PAIRS}, "function"),
        ({"function": MinusModular(GraphCut(((0, 7),)))}, "edges"),
        ({"function": len}, "function"),
        ({"block": 0}, "block"),
    ],
)
def test_configuration_errors_name_the_setting(wrong: dict[str, Any], message: str) -> None:
    usual: dict[str, Any] = {"items": 4, "horizon": 10, "privacy": USUAL}
    with pytest.raises(ConfigError, match=message):
        SetMinimizer(**usual | wrong)


def test_edges_join_whole_numbers() -> None:
    for wrong in (((0.9, 1.9),), ((0, "b"),), "ab", None, ((0, 1, 2),)):
        with pytest.raises(ConfigError, match="edges"):
            SetMinimizer(4, 10, USUAL, function=GraphCut(wrong))  # type: ignore[arg-type]


def test_families_do_not_nest_more_than_once() -> None:
    for inner in (MinusModular(ConcaveOverModular()), None, ConcaveOverModular):
        with pytest.raises(ConfigError, match="MinusModular"):
            MinusModular(inner)  # type: ignore[arg-type]


def test_cuts_cannot_be_maximised_and_bandits_not_replayed() -> None:
    with pytest.raises(ConfigError, match="function must be"):
        SetMaximizer(4, 2, 10, USUAL, function=PAIRS)  # type: ignore[arg-type]
    with pytest.raises(StateError, match="replay"):
        SetMinimizer(4, 10, USUAL, feedback="bandit").replay([0.1])
