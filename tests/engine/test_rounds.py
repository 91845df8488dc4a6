"""If these fail, a person counts twice or not at all, or a refused call spends budget."""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet import (
    ConfigError,
    HorizonReached,
    OutOfBounds,
    Privacy,
    RunningSum,
    SetMaximizer,
    StateError,
)
from discreet.engine.request import Batch
from discreet.engine.state_file import encode
from discreet.engine.tickets import Ticket, Tickets
from discreet.errors import DiscreetError
from discreet.learners.base import Learner
from discreet.learners.running_sum.prefixes import PrefixPhase
from engine.sums import counted_people as people

USUAL = Privacy(1.0, 1e-6)


def counting(block: int = 10, horizon: int | None = 40, **more: Any) -> RunningSum:
    """Return a running sum with blocks of ten people."""
    return RunningSum(1, horizon, USUAL, bound=1.0, nonnegative=True, block=block, **more)


def state(learner: Learner) -> bytes:
    """Return the whole state of a learner as bytes."""
    return encode(learner.snapshot())


ONE = [[1.0]]


# --- tickets


def test_a_ticket_of_another_learner_is_refused() -> None:
    here = counting()
    there = counting()
    ticket = there.open()
    tickets = there.open_many(2)
    here.open_many(3)
    before = state(here)
    for attempt in (
        lambda: here.close(ticket, [1.0]),
        lambda: here.close_many(tickets, ONE * 2),
        lambda: here.close(None, [1.0]),  # type: ignore[arg-type]
        lambda: here.close("ticket", [1.0]),  # type: ignore[arg-type]
    ):
        with pytest.raises(StateError, match="of another learner"):
            attempt()
    assert state(here) == before


def test_the_wrong_kind_of_ticket_is_refused_like_a_wrong_ticket() -> None:
    sums = counting()
    tickets = sums.open_many(3)
    before = state(sums)
    for attempt in (
        lambda: sums.close(tickets, [1.0]),  # type: ignore[arg-type]
        lambda: sums.close_many(tickets[0], ONE),  # type: ignore[arg-type]
        lambda: sums.close_many(None, []),  # type: ignore[arg-type]
        lambda: sums.close_many(None, ONE),  # type: ignore[arg-type]
        lambda: sums.close_many(5, ONE),  # type: ignore[arg-type]
    ):
        with pytest.raises(DiscreetError):
            attempt()
    assert state(sums) == before


def test_a_ticket_from_before_a_load_is_refused(tmp_path: Path) -> None:
    """Its round may have been given to another person meanwhile."""
    sums = counting(journal=tmp_path / "state")
    stale = sums.open()
    many = sums.open_many(2)
    sums.save(tmp_path / "state")
    sums.detach()
    loaded = discreet.load(tmp_path / "state")
    before = state(loaded)
    for attempt in (lambda: loaded.close(stale, [1.0]), lambda: loaded.close_many(many, ONE * 2)):
        with pytest.raises(StateError, match="before the state was loaded"):
            attempt()
    assert state(loaded) == before


def test_one_round_counts_once_however_it_is_closed() -> None:
    sums = counting()
    tickets = sums.open_many(4)
    assert sums.close_many(tickets[[0, 1, 0]], ONE * 3).tolist() == [True, True, False]
    assert people(sums) == 2
    assert not sums.close_many(tickets[:2], ONE * 2).any()
    assert sums.close(tickets[0], [1.0]) is False
    assert sums.close_many(tickets[[1, 2]], ONE * 2).tolist() == [False, True]
    assert people(sums) == 3
    assert sums.close_many(tickets[3:], ONE).all()
    assert people(sums) == 4


def test_a_round_that_was_never_opened_cannot_be_closed() -> None:
    sums = counting()
    ticket = sums.open()
    for round in (-1, 1, 9, 2**62):
        forged = replace(ticket, round=round)
        with suppress(HorizonReached):
            assert sums.close(forged, [1.0]) is False
        alone = Tickets(
            ticket.learner, ticket.epoch, ticket.index, np.array([round]), np.zeros((1, 1))
        )
        with suppress(HorizonReached):
            assert sums.close_many(alone, ONE).tolist() == [False]
    assert people(sums) == 0
    assert sums.close(ticket, [1.0]) is True


@pytest.mark.parametrize("rows", [[], ONE, ONE * 2, ONE * 4, np.ones((2, 1)), np.ones((4, 1))])
def test_the_wrong_number_of_rows_closes_nothing(rows: Any) -> None:
    sums = counting()
    tickets = sums.open_many(3)
    before = state(sums)
    with pytest.raises(StateError, match="3 tickets, but"):
        sums.close_many(tickets, rows)
    assert state(sums) == before


@pytest.mark.parametrize("rows", [None, 5, 2.5, object(), (row for row in ONE * 3), "abc"])
def test_feedback_that_has_no_rows_is_refused_and_closes_nothing(rows: Any) -> None:
    sums = counting()
    tickets = sums.open_many(3)
    before = state(sums)
    for attempt in (lambda: sums.close_many(tickets, rows), lambda: sums.observe_many(rows)):
        try:
            attempt()
        except DiscreetError:
            assert state(sums) == before
        else:
            assert people(sums) == 0  # three letters are three malformed rows
            before = state(sums)


class Swollen:
    """Feedback of length one that converts to fifty rows."""

    def __len__(self) -> int:
        return 1

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.ones((50, 1))


def test_one_row_cannot_add_fifty_people() -> None:
    sums = counting()
    with pytest.raises(OutOfBounds):
        sums.observe_many(Swollen())
    with pytest.raises(OutOfBounds):
        sums.close_many(sums.open_many(1), Swollen())
    assert people(sums) == 0
    assert sums.clock == 1


def test_slices_of_tickets_are_tickets() -> None:
    sums = counting()
    tickets = sums.open_many(6)
    assert len(tickets[2:4]) == 2
    assert tickets[[5, 0]].rounds.tolist() == [5, 0]
    assert tickets[np.arange(6) % 2 == 0].rounds.tolist() == [0, 2, 4]
    assert isinstance(tickets[-1], Ticket)
    assert [ticket.round for ticket in tickets] == list(range(6))
    assert not len(tickets[:0])
    assert sums.close_many(tickets[:0], []).tolist() == []
    assert sums.close_many(tickets[1::2], ONE * 3).all()
    assert people(sums) == 3


def test_tickets_survive_being_sent() -> None:
    shop = SetMaximizer(5, 2, 1000, USUAL, feedback="clicks", explore=0.5, seed=1)
    tickets = shop.open_many(4)
    again = Tickets.from_plain(json.loads(json.dumps(tickets.as_plain())))
    assert np.array_equal(again.rounds, tickets.rounds)
    assert np.array_equal(again.decisions, tickets.decisions)
    assert again.decisions.dtype == tickets.decisions.dtype
    assert [ticket.decision.tolist() for ticket in again] == [
        ticket.decision.tolist() for ticket in tickets
    ]
    assert shop.close_many(again[1:3], [None, None]).all()
    assert not len(Tickets.from_plain(tickets[:0].as_plain()))


@pytest.mark.parametrize(
    "change",
    [
        {"rounds": None}, {"rounds": ["x"]}, {"rounds": [0, 1, 2]}, {"rounds": {}},
        {"decisions": None}, {"decisions": []},
        {"decisions": 5}, {"epoch": "new"}, {"epoch": None}, {"index": []}, {"index": 0.5},
    ],
)  # fmt: skip
def test_malformed_tickets_are_refused(change: dict[str, Any]) -> None:
    plain = counting().open_many(2).as_plain()
    with pytest.raises(ConfigError, match="tickets"):
        Tickets.from_plain(plain | change)
    incomplete = {name: value for name, value in plain.items() if name not in change}
    with pytest.raises(ConfigError, match="tickets"):
        Tickets.from_plain(incomplete)
    wrong: list[Any] = [None, [], "tickets", 3]
    for other in wrong:
        with pytest.raises(ConfigError, match="tickets"):
            Tickets.from_plain(other)


def test_single_decisions_are_trimmed_and_tables_of_them_are_padded() -> None:
    shop = SetMaximizer(5, 3, 100, USUAL, seed=1)
    few = np.array([True, False, True, False, False])
    assert sorted(shop.open(available=few).decision.tolist()) == [0, 2]
    tickets = shop.open_many(2, available=few)
    assert tickets.decisions.shape == (2, 3)
    assert tickets.decisions[:, 2].tolist() == [-1, -1]
    assert sorted(tickets[0].decision.tolist()) == [0, 2]


# --- questions


def test_more_rounds_than_the_block_has_are_refused_and_none_is_opened() -> None:
    sums = counting()
    sums.open_many(4)
    before = state(sums)
    for count in (7, 10**9):
        with pytest.raises(StateError, match=f"{count} rounds, but 6 until the next release"):
            sums.open_many(count)
        with pytest.raises(StateError, match="until the next release"):
            sums.preview(count)
    with pytest.raises(StateError, match="until the next release"):
        sums.observe_many(ONE * 7)
    assert state(sums) == before
    assert len(sums.open_many(6)) == 6
    assert sums.rounds_until_release == 10  # one is due, so these are before the next one


@pytest.mark.parametrize(
    "refused",
    [
        lambda sums: sums.open_many(10**6),
        lambda sums: sums.preview(10**6),
        lambda sums: sums.observe_many(np.ones((3, 2))),
        lambda sums: sums.observe_many(ONE * 11),
        lambda sums: sums.replay(np.ones((3, 2))),
        lambda sums: sums.replay(np.ones((30, 2))),
    ],
)
def test_a_refused_call_does_not_make_the_release_that_is_due(
    refused: Callable[[Any], Any],
) -> None:
    """The release would spend for nothing, and lose later answers."""
    sums = counting()
    tickets = sums.open_many(10)
    before = state(sums)
    spent = sums.guarantee.spent
    with pytest.raises(DiscreetError):
        refused(sums)
    assert sums.releases == 0
    assert sums.guarantee.spent == spent
    assert state(sums) == before
    assert sums.close_many(tickets, ONE * 10).all()
    assert people(sums) == 10


def test_a_mask_that_leaves_nothing_does_not_make_the_release_that_is_due() -> None:
    """A mask that leaves an item of the next block is accepted."""
    shop = SetMaximizer(4, 1, 1000, USUAL, max_items=5, block=10, seed=1)
    shop.open_many(10)
    shop.retire(0)
    shop.add_item()
    gone = np.arange(5) == 0
    new = np.arange(5) == 4
    before = state(shop)
    for attempt in (lambda: shop.open(available=gone), lambda: shop.open_many(2, available=gone)):
        with pytest.raises(ConfigError, match="not retired"):
            attempt()
    assert state(shop) == before
    assert shop.open(available=new).decision.tolist() == [4]
    assert shop.releases == 1


def test_a_sum_without_end_knows_its_next_block_before_the_release() -> None:
    sums = counting(horizon=None)
    sums.open_many(sums.rounds_until_release)
    assert sums.rounds_until_release > 1
    assert len(sums.open_many(sums.rounds_until_release)) > 1


def test_a_release_that_decides_the_next_blocks_length_must_be_made_first() -> None:
    shop = SetMaximizer(5, 2, 2000, USUAL, feedback="clicks", explore=0.9, seed=1)
    shop.open_many(shop.rounds_until_release)
    before = state(shop)
    with pytest.raises(StateError, match=r"release_if_due\(\) first"):
        shop.open_many(2)
    assert state(shop) == before
    assert shop.release_if_due()
    assert len(shop.open_many(2)) == 2


def test_opening_the_next_block_makes_the_release_that_is_due() -> None:
    sums = counting()
    sums.close_many(sums.open_many(10), ONE * 10)
    assert sums.releases == 0
    late = sums.open_many(10)
    assert sums.releases == 1
    assert late.index == 1
    assert len(sums.open_many(0)) == 0


@pytest.mark.parametrize("what", [-1, 2.5, "x", None, True, [1.0], np.ones((2, 3)), [[1.0]]])
def test_a_learner_without_contexts_takes_a_number_of_rounds(what: Any) -> None:
    sums = counting()
    with pytest.raises(ConfigError):
        sums.open_many(what)
    assert sums.clock == 0


def test_contexts_and_masks_that_are_not_used_are_refused() -> None:
    sums = counting()
    for attempt in (
        lambda: sums.open(context=[1.0]),
        lambda: sums.act(context={"name": "Ann"}),
        lambda: sums.open(available=[True]),
        lambda: sums.open_many(2, available=[True]),
    ):
        with pytest.raises(ConfigError, match="leave it out"):
            attempt()
    assert sums.clock == 0


def test_past_the_horizon_decisions_are_free_and_feedback_is_refused() -> None:
    sums = counting(block=10, horizon=20)
    sums.replay(ONE * 20)
    sums.release_if_due()
    before = state(sums)
    spent = sums.guarantee.spent
    ticket = sums.open()
    tickets = sums.open_many(1000)
    assert len(tickets) == 1000
    assert np.array_equal(tickets.decisions[0], sums.total)
    assert np.array_equal(sums.act(), sums.total)
    assert len(sums.preview(50)) == 50
    for attempt in (
        lambda: sums.close(ticket, [1.0]),
        lambda: sums.observe_many(ONE),
        lambda: sums.observe([1.0]),
        lambda: sums.replay(ONE),
        lambda: sums.add([1.0]),
    ):
        with pytest.raises(HorizonReached):
            attempt()
    assert not sums.close_many(tickets, ONE * 1000).any()
    assert state(sums) == before
    assert sums.guarantee.spent == spent


def test_a_log_that_is_too_long_is_refused_before_its_first_row() -> None:
    sums = counting(block=10, horizon=20)
    sums.observe_many(ONE * 5)
    before = state(sums)
    with pytest.raises(HorizonReached, match="16 rows, but 15"):
        sums.replay(ONE * 16)
    assert state(sums) == before
    sums.replay(ONE * 15)


# --- rounds in any order


@settings(max_examples=60)
@given(
    st.lists(st.integers(0, 6), min_size=1, max_size=6),
    st.permutations(range(36)),
    st.lists(st.integers(1, 7), min_size=1, max_size=30),
)
def test_rounds_opened_together_can_be_closed_in_any_order_and_in_any_parts(
    opened: list[int], order: list[int], parts: list[int]
) -> None:
    """Zero opens one round alone; any other number opens that number of rounds together."""
    sums = counting(block=40)
    tickets: list[Ticket] = []
    for count in opened:
        tickets += [sums.open()] if count == 0 else list(sums.open_many(count))
    total = len(tickets)
    assert sums.clock == total
    waiting = [tickets[place] for place in order if place < total]
    expected = 0.0
    position = 0
    for size in parts:
        part = waiting[position : position + size]
        if not part:
            break
        position += size
        values = [[0.25 * (ticket.round % 5)] for ticket in part]
        rounds = np.array([ticket.round for ticket in part])
        together = Tickets(part[0].learner, 0, 0, rounds, np.zeros((len(part), 1)))
        if size == 1:
            assert sums.close(part[0], values[0]) is True
        else:
            assert sums.close_many(together, values).all()
        expected += sum(value[0] for value in values)
        assert people(sums) == pytest.approx(expected, abs=1e-3)
    for ticket in waiting[:position]:
        assert sums.close(ticket, [1.0]) is False
    left = {ticket.round for ticket in waiting[position:]}
    still_open = sums.snapshot().rounds.open
    assert {round for part_open in still_open for round in part_open.rounds.tolist()} == left


def test_a_refused_row_leaves_open_rounds_as_they_were() -> None:
    sums = counting()
    tickets = sums.open_many(5)
    before = state(sums)
    for wrong in ("abc", [float("nan")], [1.0, 2.0]):
        with pytest.raises(OutOfBounds):
            sums.close(tickets[2], wrong)
        assert state(sums) == before
    with pytest.raises(OutOfBounds):
        sums.close_many(tickets, np.ones((5, 3)))
    assert state(sums) == before
    assert sums.close_many(tickets, [[1.0], "abc", [float("nan")], None, [1.0]]).all()
    assert people(sums) == 2


def test_late_answers_are_reported_and_timely_ones_count() -> None:
    sums = counting()
    first = sums.open_many(10)
    second = sums.open_many(10)
    before = state(sums)
    assert not sums.close_many(first[2:], ONE * 8).any()
    assert sums.close(first[0], [1.0]) is False
    assert state(sums) == before
    assert sums.close_many(second, ONE * 10).all()


def test_open_rounds_and_their_masks_survive_being_saved(tmp_path: Path) -> None:
    """The rounds can be closed after loading, with tickets of the new epoch."""
    shop = SetMaximizer(5, 2, 2000, USUAL, feedback="bandit", explore=0.9, seed=1)
    masks = np.array(
        [[True, True, False, True, True], [True, False, True, True, False], [True] * 5]
    )
    tickets = shop.open_many(3, available=masks)
    shop.close(tickets[1], 0.5)
    shop.open_many(4)
    shop.open(available=masks[0])
    shop.save(tmp_path / "state")
    shop.detach()
    loaded = discreet.load(tmp_path / "state")
    assert loaded.clock == 8
    snapshot = loaded.snapshot()
    (opened,) = snapshot.rounds.open
    assert opened.rounds.tolist() == [0, 2, 3, 4, 5, 6, 7]
    assert opened.available is not None
    assert np.array_equal(opened.available[[0, 1, 6]], masks[[0, 2, 0]])
    assert opened.available[2:6].all()
    current = Tickets(
        snapshot.identity, snapshot.epoch, snapshot.index, np.array([2, 0, 5]), np.zeros((3, 2))
    )
    assert loaded.close_many(current, [0.5, 1.0, 0.5]).all()
    assert loaded.open().round == 8


def test_a_mask_belongs_to_its_round_whatever_calls_come_between() -> None:
    """Rounds come with masks, without any, and with one for all; they are closed in two ways."""
    masks = np.array([[True, True, False, True, True], [False, True, True, True, False]])

    def opened(shop: SetMaximizer) -> list[Ticket]:
        many = shop.open_many(2, available=masks)
        alone = shop.open(available=masks[1])
        unmasked = shop.open_many(3)
        same = shop.open_many(2, available=masks[0])
        return [*many, alone, *unmasked, *same]

    one, other = (
        SetMaximizer(5, 2, 2000, USUAL, feedback="bandit", explore=0.9, seed=1) for _ in range(2)
    )
    answers = np.linspace(0, 1, 8)
    for ticket, answer in zip(opened(one), answers, strict=True):
        one.close(ticket, float(answer))
    tickets = opened(other)
    order = [7, 2, 0, 5, 3, 1, 6, 4]
    together = Tickets(
        tickets[0].learner,
        0,
        0,
        np.array([tickets[place].round for place in order]),
        np.zeros((8, 2)),
    )
    other.close_many(together, answers[order])
    assert np.array_equal(one.snapshot().block["found"], other.snapshot().block["found"])
    assert one.snapshot().block["found"].any()


def test_an_interrupt_after_counting_does_not_let_a_person_count_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sums = counting()
    real = PrefixPhase.gather

    def interrupted(self: Any, *arguments: Any) -> None:
        real(self, *arguments)
        raise KeyboardInterrupt

    ticket = sums.open()
    tickets = sums.open_many(2)
    monkeypatch.setattr(PrefixPhase, "gather", interrupted)
    for attempt in (
        lambda: sums.close(ticket, [1.0]),
        lambda: sums.close_many(tickets, ONE * 2),
        lambda: sums.observe_many(ONE),
    ):
        with pytest.raises(KeyboardInterrupt):
            attempt()
    monkeypatch.undo()
    assert sums.close(ticket, [1.0]) is False
    assert not sums.close_many(tickets, ONE * 2).any()
    assert people(sums) == 4
    assert sums.clock == 4


@pytest.mark.parametrize(
    "of_shop",
    [{"feedback": "clicks"}, {"feedback": "bandit"}, {"stream": "adversarial"}],
    ids=str,
)
def test_the_kept_decision_of_a_round_is_what_would_be_decided_again(
    of_shop: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With masks, with events between a question and its answer, and across releases."""
    compared = []

    def decided_twice(batch: Batch) -> np.ndarray:
        assert batch.decide is not None
        again = batch.decide(batch.rounds, batch.request)
        if batch.kept is not None:
            assert np.array_equal(batch.kept, again)
            compared.append(batch.rounds)
        return again

    monkeypatch.setattr(Batch, "decisions", property(decided_twice))
    shop = SetMaximizer(6, 2, 2000, Privacy(4.0, 1e-6), max_items=9, seed=1, **of_shop)
    chance = np.random.default_rng(0)
    waiting: list[Ticket] = []
    for round in range(400):
        mask = chance.random(9) < 0.7
        mask[:3] = True
        waiting.append(shop.open(None, mask if round % 3 else None))
        if round % 40 == 20:
            with suppress(DiscreetError):
                shop.change(add=[None])
                shop.retire(3 + round // 40)
        ticket = waiting.pop(int(chance.integers(len(waiting))) if round % 5 == 0 else -1)
        answer: Any = {"clicks": ticket.decision[0], "bandit": 0.5}.get(
            str(of_shop.get("feedback")), chance.uniform(0, 0.3, size=9)
        )
        shop.close(ticket, answer)
    assert shop.releases > 1
    assert len(compared) > 300
