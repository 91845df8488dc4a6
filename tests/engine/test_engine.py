"""If these fail, stored blocks are lost, or learners share identities, coins or locks."""

from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet import (
    StateError,
)
from discreet.engine.engine import Engine
from discreet.engine.problem import Problem
from discreet.engine.request import EMPTY_REQUEST
from discreet.engine.rounds import Rounds
from engine.counting import Counting, settings
from engine.sums import sum_of


def test_a_checkpoint_stores_the_open_block_and_releases_nothing(tmp_path: Path) -> None:
    path = tmp_path / "state"
    problem: Any = Problem(Counting(settings()))
    engine = Engine(problem, "Counting", path)
    rounds = Rounds(engine)
    ticket = rounds.open(EMPTY_REQUEST)
    rounds.observe_many([1])
    engine.checkpoint(rounds.state())
    engine.detach()
    again = Engine(Problem(Counting(settings())), "Counting", path)
    assert again.block["votes"].values[1] == problem.mode.votes.aggregator.levels
    assert Rounds(again).waits(ticket.round)
    assert again.committed.index == 0


def test_decisions_cannot_be_changed_from_outside() -> None:
    sums = sum_of()
    sums.add([1.0])
    with pytest.raises(ValueError, match="read-only"):
        sums.open().decision[0] = 5.0
    with pytest.raises(ValueError, match="read-only"):
        sums.open_many(1).decisions[0, 0] = 5.0
    sums.total[0] = 5.0
    assert sums.total[0] != 5.0


@pytest.mark.parametrize("seed", [None, 3])
def test_no_two_blocks_of_a_learner_share_their_coins(seed: int | None) -> None:
    """A key that was shown with one block must not determine the coins of the next."""
    sums = sum_of(seed=seed)
    keys = [sums.snapshot().coin_key]
    for _ in range(8):
        sums.add([1.0])
        keys.append(sums.snapshot().coin_key)
    assert len(set(keys)) == 9


def test_two_learners_never_share_an_identity_or_a_coin() -> None:
    snapshots = [sum_of().snapshot() for _ in range(50)]
    assert len({snapshot.identity for snapshot in snapshots}) == 50
    assert len({snapshot.coin_key for snapshot in snapshots}) == 50
    seeded = [sum_of(seed=3).snapshot() for _ in range(2)]
    assert seeded[0].coin_key == seeded[1].coin_key
    assert seeded[0].coin_key != sum_of(seed=4).snapshot().coin_key


def test_a_refused_state_does_not_stay_locked(tmp_path: Path) -> None:
    path = tmp_path / "state"
    sum_of(path).detach()
    with pytest.raises(StateError, match="other settings"):
        sum_of(path, block=2)
    assert discreet.load(path).releases == 0
