"""If these fail, a visitor's costs are given away, or nothing is learned from them."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import ConfigError, Privacy, SetMaximizer, SetMinimizer, StateError
from discreet.arrivals import ConcaveOverModular, GraphCut, MinusModular
from discreet.lab.audit import audit, through_doors
from discreet.lab.bundle import BundleWorld, run_bundle
from discreet.release.door import Door
from discreet.release.noise import DiscreteGaussian
from discreet.release.turn import Batch

APPROXIMATE, PURE = Privacy(1.0, 1e-6), Privacy(1.0)
PAIRS = MinusModular(GraphCut(((0, 1), (2, 3))))


def fed(learner: SetMinimizer, person: Any, round: int = 0) -> Any:
    """What the first block adds up to after one person, by the shipped entrance."""
    public, secret = learner.start()
    return learner.digest(public, secret, Batch(0, [round], [person]))


anything = st.lists(st.floats(-1e6, 1e6) | st.floats(-2, 2), min_size=6, max_size=6)


@settings(max_examples=150)
@given(anything, anything, st.sampled_from([APPROXIMATE, PURE]), st.sampled_from(["auto", 0.01, 2.8]))
def test_one_visitor_moves_the_gradient_by_no_more_than_calibrated(
    here: Any, there: Any, privacy: Privacy, clip: Any
) -> None:
    learner = SetMinimizer(4, 100, privacy, function=PAIRS, clip=clip)
    moved = fed(learner, here)["gradient"] - fed(learner, there)["gradient"]
    mode, norm = learner._mode, 1 if privacy.pure else 2
    allowed = mode.entrance.sensitivity(norm)  # type: ignore[attr-defined]
    assert np.linalg.norm(moved.astype(float), norm) <= allowed
    assert allowed == mode.sums.levels * mode.sums.stream.unit_sensitivity(norm)  # type: ignore[attr-defined]


@pytest.mark.parametrize("privacy", [APPROXIMATE, PURE])
@pytest.mark.parametrize("stream", ["any", "iid"])
@pytest.mark.parametrize("items", [1, 2, 4])
def test_one_visitor_moves_the_trials_by_no_more_than_calibrated(
    privacy: Privacy, stream: Any, items: int
) -> None:
    """Every round of the first block, every cost and every other cost; and the worst pair is as bad as it is paid for."""
    learner = SetMinimizer(items, 300, privacy, feedback="bandit", stream=stream, bound=2.0, explore=0.3)
    sums, norm, largest = learner._mode.sums, 1 if privacy.pure else 2, 0.0  # type: ignore[attr-defined]
    allowed = sums.levels * sums.stream.unit_sensitivity(norm)
    for round in range(learner.rounds_until_release):
        found = [fed(learner, cost, round)["costs"] for cost in (-9.0, -2.0, 0.1, 2.0, np.nan)]
        moves = [one - two for one, two in product(found, repeat=2)]
        largest = max(largest, *(np.linalg.norm(move.astype(float), norm) for move in moves))
        assert max(np.count_nonzero(move) for move in moves) <= sums.stream.cells
    assert largest == pytest.approx(allowed, rel=1e-9)


def test_rounds_that_are_no_trials_are_not_read_and_all_sets_are_tried_equally_often() -> None:
    learner = SetMinimizer(3, 3000, APPROXIMATE, feedback="bandit", explore=0.2)
    public, _ = learner.start()
    length = learner.rounds_until_release
    places, tried = learner._mode._trials(public, range(length))  # type: ignore[attr-defined]
    assert len(set(np.bincount(tried, minlength=4))) == 1
    for round in set(range(length)) - set(places.tolist()):
        assert not fed(learner, 1.0, round)["costs"].any()
    played = learner.preview(length)
    sizes = (played[places] >= 0).sum(axis=1)
    assert sizes.tolist() == tried.tolist()


def test_a_cycle_of_trials_adds_up_to_the_subgradient() -> None:
    """Costs that depend on the set alone: after whole cycles the sum is the number of cycles times the slope along the chain."""
    learner = SetMinimizer(3, 3000, APPROXIMATE, feedback="bandit", explore=0.2)
    public, secret = learner.start()
    sets = learner.preview(learner.rounds_until_release)
    cost = {
        0: 0.5,
        1: -0.25,
        2: -0.5,
        3: 1.0,
    }  # of the sets {}, {0}, {0, 1}, {0, 1, 2}: all coordinates of the first point are equal
    costs = [cost[int((chosen >= 0).sum())] for chosen in sets]
    found = learner.digest(public, secret, Batch(0, range(len(costs)), np.array(costs)))["costs"]
    mode = learner._mode
    cycles = len(public["trials"]) // 4
    assert np.allclose(found / mode.sums.levels / cycles, [-0.75, -0.25, 1.5], atol=1e-5)  # type: ignore[attr-defined]


def outputs(learner: SetMinimizer, cost: float, claim: Any, seed: int, weak: bool) -> np.ndarray:
    """What an attacker sees of the first release when only one visitor has a cost: the total along the direction that it moves."""
    public, _ = learner.start()
    mode = learner._mode
    if learner.config.feedback == "bandit":
        round = int(public["trials"][np.flatnonzero(public["tried"] == 1)[0]])  # moves two items' totals
        secret, direction = fed(learner, cost, round), np.array([1.0, -1.0])
    else:
        secret, direction = fed(learner, lambda chosen: cost * (len(chosen) == 1)), np.array([1.0, -1.0])
    if weak:
        sums = mode.sums  # type: ignore[attr-defined]
        mode.__dict__["sums"] = replace(sums, noise=DiscreteGaussian(sums.noise.sigma // 2))

    def passage(door: Door) -> float:
        door.index = 0
        door._left = (
            2**120
        )  # the weak copy charges more than was reserved: let it pass, to see whether the audit notices
        after, _ = mode.release(public, {name: value.copy() for name, value in secret.items()}, door)
        return float(after["total"] @ direction)

    return through_doors(passage, claim, trials=6_000, seed=seed)


@pytest.mark.statistical
@pytest.mark.parametrize("settings", [{"block": 50}, {"feedback": "bandit", "stream": "iid", "explore": 0.5}])
def test_the_worst_pair_of_visitors_keeps_the_charge_and_half_the_noise_does_not(
    settings: dict[str, Any],
) -> None:
    """Costs of 1 and −1 for the first item alone: subgradients (c, −c) and (−c, c), as far apart as any two. α = 10⁻⁶."""
    privacy = Privacy(3.0, 1e-3)

    def attacked(cost: float, seed: int, weak: bool) -> np.ndarray:
        learner = SetMinimizer(2, 100, privacy, **settings)
        return outputs(learner, cost, privacy.budget, seed, weak)

    claim = SetMinimizer(2, 100, privacy, **settings)._plan.charge(0)
    honest = audit(attacked(1.0, 51, False), attacked(-1.0, 52, False), claim)
    assert not honest.caught
    assert honest.shown > 0.2 * claim.amount
    assert audit(attacked(1.0, 53, True), attacked(-1.0, 54, True), claim).caught


@pytest.mark.parametrize("changes", [{}, {"privacy": Privacy(3.0)}, {"clip": 2.8}])
def test_full_information_finds_the_best_bundle(changes: dict[str, Any]) -> None:
    world = BundleWorld.drawn(30_000, items=12, seed=8)
    learner = SetMinimizer(
        12, 30_000, function=world.function, seed=1, **({"privacy": APPROXIMATE} | changes)
    )
    run = run_bundle(learner, world)
    best = world.cost_of(world.best)
    assert run.cost <= world.naive + 0.8 * (best - world.naive)
    assert world.cost_of(np.flatnonzero(learner.point > 0.5)) <= 0.95 * best


@pytest.mark.parametrize("stream", ["any", "iid"])
def test_the_cost_of_what_was_played_is_enough(stream: Any) -> None:
    world = BundleWorld.drawn(300_000, items=4, seed=2)
    learner = SetMinimizer(4, 300_000, APPROXIMATE, feedback="bandit", stream=stream, seed=1)
    run = run_bundle(learner, world)
    assert run.cost <= world.naive + 0.5 * (world.cost_of(world.best) - world.naive)
    assert set(np.flatnonzero(learner.point > 0.5)) == set(world.best)


def test_a_built_in_function_and_a_callable_for_the_same_costs_learn_the_same() -> None:
    generator = np.random.default_rng(0)
    rows = generator.random((60, 8)) / 8
    functions = MinusModular(ConcaveOverModular("sqrt"))

    def person(row: np.ndarray) -> Any:
        return lambda chosen: float(np.sqrt(row[:4][chosen].sum() / 4) - row[4:][chosen].sum())

    built_in = SetMinimizer(4, 60, APPROXIMATE, function=functions, block=10, seed=2)
    plain = SetMinimizer(4, 60, APPROXIMATE, block=10, seed=2)
    built_in.replay(rows)
    plain.replay([person(row) for row in rows])
    assert np.allclose(built_in.point, plain.point, atol=1e-5)


def test_unavailable_items_are_left_out_and_labels_name_the_rest() -> None:
    learner = SetMinimizer(["a", "b", "c", "d"], 1000, APPROXIMATE, function=PAIRS, seed=1)
    learner.replay(np.tile([0.0, 0.0, 0.5, 0.5, 0.5, -0.5], (999, 1)))
    assert learner.labels[learner.open(available=[False, True, True, True]).decision].tolist() == ["b", "c"]
    with pytest.raises(ConfigError, match="yes or no"):
        learner.open(available=[True])


def test_a_short_horizon_warns_in_the_plan() -> None:
    assert "too short" in SetMinimizer(10, 500, APPROXIMATE, feedback="bandit")._plan.facts["warning"]
    assert "warning" not in SetMinimizer(10, 10**6, APPROXIMATE, feedback="bandit")._plan.facts
    assert SetMinimizer(10, 3, APPROXIMATE, feedback="bandit").act().size <= 10


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"items": 0}, "items"),
        ({"items": ["a", "a"]}, "different"),
        ({"horizon": 0}, "horizon"),
        ({"bound": 0.0}, "bound"),
        ({"bound": float("nan")}, "bound"),
        ({"feedback": "clicks"}, "feedback"),
        ({"stream": "iid"}, "bandit"),
        ({"calibration": "published"}, "not private"),
        ({"explore": 0.1}, "explore"),
        ({"feedback": "bandit", "explore": 1.5}, "explore"),
        ({"feedback": "bandit", "block": 5}, "block"),
        ({"feedback": "bandit", "function": PAIRS}, "function"),
        ({"function": MinusModular(GraphCut(((0, 7),)))}, "edges"),
        ({"function": len}, "function"),
        ({"clip": 0.0}, "clip"),
        ({"regulariser": "none"}, "regulariser"),
        ({"block": 0}, "block"),
        ({"items": None}, "items"),
        ({"bound": "x"}, "bound"),
        ({"feedback": "bandit", "explore": 5e-324}, "explore"),
        ({"feedback": "bandit", "explore": "x"}, "explore"),
        ({"function": MinusModular(MinusModular(ConcaveOverModular()))}, "MinusModular"),
        ({"function": MinusModular(None)}, "MinusModular"),  # type: ignore[arg-type]
        ({"function": GraphCut(((0.9, 1.9),))}, "edges"),  # type: ignore[arg-type]
    ],
)
def test_configuration_errors_name_the_setting(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        SetMinimizer(**({"items": 4, "horizon": 10, "privacy": APPROXIMATE} | wrong))


def test_cuts_cannot_be_maximised_and_bandits_not_replayed() -> None:
    with pytest.raises(ConfigError, match="SetMinimizer"):
        SetMaximizer(4, 2, 10, APPROXIMATE, function=PAIRS)
    with pytest.raises(StateError, match="replay"):
        SetMinimizer(4, 10, APPROXIMATE, feedback="bandit").replay([0.1])


def test_a_callable_that_wants_to_stop_everything_stops_nothing_but_itself() -> None:
    def leave(chosen: Any) -> float:
        raise SystemExit

    def interrupt(chosen: Any) -> float:
        raise KeyboardInterrupt

    people = [lambda chosen: 0.2 * len(chosen)] * 9
    blank, left, interrupted = (SetMinimizer(3, 100, APPROXIMATE, seed=1) for _ in range(3))
    blank.observe_many([*people[:4], lambda chosen: 0.0, *people[4:]])
    left.observe_many([*people[:4], leave, *people[4:]])
    with pytest.raises(KeyboardInterrupt):  # the operator's, once everyone is counted
        interrupted.observe_many([*people[:4], interrupt, *people[4:]])
    for learner in (left, interrupted):
        assert learner._clock == 10
        assert np.array_equal(learner._secret["gradient"], blank._secret["gradient"])


def test_a_round_asked_for_before_a_replay_keeps_its_set() -> None:
    rows = np.random.default_rng(0).random((50, 6)) / 6
    learner = SetMinimizer(4, 100, APPROXIMATE, function=PAIRS, seed=1)
    first = learner.act()
    sets = learner.replay(rows)
    assert sets.shape == (50, 4)
    assert np.array_equal(sets[0][sets[0] >= 0], first)


def test_huge_horizons_are_refused_or_planned_in_bounds() -> None:
    with pytest.raises(ConfigError, match="trials a block"):
        SetMinimizer(10, 10**11, APPROXIMATE, feedback="bandit", explore=0.5)
    learner = SetMinimizer(3, 2**40, APPROXIMATE, feedback="bandit", explore=1e-4)
    trials = learner.start()[0]["trials"]
    assert (np.diff(trials) > 0).all()
    assert 0 <= trials[0] < trials[-1] < learner.rounds_until_release
