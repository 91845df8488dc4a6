"""If these fail, many open rounds make answers and checkpoints slow, or lose their requests."""

from typing import Any

import numpy as np

from discreet import Privacy, RunningSum
from discreet.engine import state_file
from discreet.engine.request import EMPTY_REQUEST, Request
from discreet.engine.snapshot import OpenRounds
from discreet.engine.waiting import MOST_JOINED, Waiting


def restored(waiting: Waiting) -> dict[int, Any]:
    """Return the context of each round that waits, from the state for the journal."""
    by_round: dict[int, Any] = {}
    for part in waiting.state():
        contexts = [None] * len(part.rounds) if part.context is None else part.context.tolist()
        by_round.update(zip(part.rounds.tolist(), contexts, strict=True))
    return by_round


def request(*rounds: int) -> Request:
    """Return a request in which the context of each round is its own number."""
    return Request(np.array(rounds, dtype=np.float64)[:, None])


def test_answers_in_random_order_leave_few_entries_in_the_state() -> None:
    """Otherwise each answer searches all entries, and each checkpoint writes them all."""
    sums = RunningSum(1, 40_000, Privacy(1.0), bound=1.0, block=20_000)
    tickets = sums.open_many(4_000)
    for place in np.random.default_rng(1).permutation(4_000)[:2_000]:
        sums.close(tickets[int(place)], [1.0])
    opened = sums.snapshot().rounds.open
    assert len(opened) <= 4
    assert sum(len(part.rounds) for part in opened) == 2_000


def test_rounds_opened_one_by_one_take_few_bytes_and_few_entries_in_a_checkpoint() -> None:
    sums = RunningSum(1, 40_000, Privacy(1.0), bound=1.0, block=20_000)
    empty = len(state_file.encode(sums.snapshot()))
    tickets = [sums.open() for _ in range(8_000)]
    for ticket in tickets[::3]:
        sums.close(ticket, [1.0])
    snapshot = sums.snapshot()
    assert len(snapshot.rounds.open) <= 8_000 // MOST_JOINED + 1
    assert len(state_file.encode(snapshot)) - empty < 20 * 8_000


def test_small_groups_are_joined_in_the_state() -> None:
    waiting = Waiting()
    for first in range(0, 40_000, 2_000):
        rounds = np.arange(first, first + 2_000)
        waiting.add_many(rounds, request(*rounds.tolist()))
        waiting.take_many(rounds[:-1])
    assert restored(waiting) == {round: [float(round)] for round in range(1_999, 40_000, 2_000)}
    assert len(waiting.state()) == 1


def test_a_request_stays_with_its_round() -> None:
    """Rounds are opened and taken alone and together, put back and stored, in any order."""
    chance = np.random.default_rng(3)
    waiting = Waiting()
    model = set[int]()
    clock = 0
    for _ in range(600):
        what = chance.integers(6)
        here = [int(round) for round in chance.permutation(sorted(model))[: chance.integers(1, 9)]]
        if what == 0:
            waiting.add(clock, request(clock))
            model.add(clock)
            clock += 1
        elif what == 1:
            count = int(chance.integers(1, 40))
            waiting.add_many(np.arange(clock, clock + count), request(*range(clock, clock + count)))
            model.update(range(clock, clock + count))
            clock += count + int(chance.integers(2))  # some rounds never wait
        elif what == 2:
            waiting = Waiting(waiting.state())
        elif here and what == 3:
            taken = waiting.take(here[0])
            assert taken is not None
            assert taken.context is not None
            assert taken.context.tolist() == [[here[0]]]
            if chance.random() < 0.5:
                waiting.put_back(here[0], taken)
            else:
                model.remove(here[0])
        elif here:
            # Rounds that do not wait, and those that come twice, are left out.
            asked = [-5, *here, clock, *here[:1], clock + 7]
            waited, found = waiting.take_many(np.array(asked))
            assert waited.tolist() == [False] + [True] * len(here) + [False] * (
                len(asked) - len(here) - 1
            )
            assert found.context is not None
            assert found.context[:, 0].tolist() == here
            if chance.random() < 0.5:
                waiting.put_back_many(np.array(here))
            else:
                model.difference_update(here)
        assert waiting.take(clock) is None
        assert not waiting.take_many(np.array([clock, clock + 1])).waited.any()
        assert clock not in waiting
        assert all(round in waiting for round in here if round in model)
    assert restored(waiting) == {round: [float(round)] for round in model}


def test_rounds_with_and_without_a_mask_wait_together() -> None:
    mask = np.array([True, False, True])
    waiting = Waiting()
    waiting.add_many(np.arange(3), EMPTY_REQUEST)
    waiting.add(3, Request(None, mask))
    masks = waiting.take_many(np.array([3, 1])).request.available
    assert masks is not None
    assert masks.tolist() == [mask.tolist(), [True, True, True]]


def test_runs_of_rounds_are_stored_as_edges() -> None:
    rounds = np.array([0, 1, 2, 7, 9, 10])
    part = OpenRounds.of(rounds)
    assert part.edges.tolist() == [0, 3, 7, 8, 9, 11]
    assert np.array_equal(part.rounds, rounds)
