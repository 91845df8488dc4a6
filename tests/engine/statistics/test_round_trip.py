"""If these fail, a statistic that was stored between two releases goes on from another state."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import Privacy, RunningSum
from discreet.budget.privacy import pure
from discreet.engine import state_file
from discreet.engine.flat_state import Published
from discreet.engine.plan import State
from discreet.engine.schedule import EqualBlocks, Segments
from discreet.engine.statistics import (
    Interactive,
    OneRelease,
    Report,
    RunningTotal,
    Statistic,
    Units,
)
from discreet.release.aggregators import OneChoice, PublicCells
from engine.statistics.blocks import Costing, next_release

USUAL = Privacy(1.0, 1e-6)
UNITS = Units(low=-1.0, high=1.0)
CELLS = PublicCells((3,), -1.0, 1.0)
BLOCKS = EqualBlocks(120, 10)
SNAPSHOT = RunningSum(1, 10, Privacy(1.0), bound=1.0).snapshot()


def total(schedule: Any, method: str, name: str = "total", wanted: Any = CELLS) -> Any:
    return RunningTotal(name, wanted, schedule, USUAL, people=10, method=method)


def report(schedule: Any, method: str) -> Report:
    return Report(UNITS, total(schedule, method, "earned", UNITS.number))


KINDS: dict[str, Statistic[Any, Any]] = {
    "one release": OneRelease.for_budget("total", pure(0.5), CELLS),
    "interactive": Interactive("held", OneChoice((3,)), (Costing(pure(0.5)),)),
    "tree": total(BLOCKS, "honaker"),
    "factorisation": total(BLOCKS, "toeplitz"),
    "disjoint": total(BLOCKS, "disjoint"),
    "segments of trees": total(Segments(20, 10), "honaker"),
    "segments of two mechanisms": total(Segments(10, 10), "auto"),
    "report of blocks": Report.of_blocks(pure(0.5), UNITS),
    "report of a tree": report(BLOCKS, "honaker"),
    "report of segments of two mechanisms": report(Segments(10, 10), "auto"),
}


@dataclass(frozen=True)
class Learned:
    """What a mode publishes beside its statistics; the names of its entries begin alike."""

    total: float
    totals: int


LEARNED = Learned(0.25, 7)


def adding(people: list[float]) -> Callable[[Any, Any], None]:
    """Return a function that adds these people to a block: one number each, in a cell by turns."""

    def add(aggregator: Any, aggregate: Any) -> None:
        if not isinstance(aggregator, PublicCells):
            return
        cells = np.arange(len(people))[:, None] % aggregator.size
        aggregator.add(aggregate, cells, np.array(people))

    return add


def stored(statistic: Statistic[Any, Any], public: State, hidden: State) -> tuple[State, State]:
    """Return the state after it was written to a file, beside that of another, and read again."""
    name = statistic.name
    beside: State = {"other": {"steps": 3}, f"{name}s": {"steps": 4}}
    states: dict[str, State] = {name: public} if public else {}
    snapshot = replace(
        SNAPSHOT,
        public=Published(LEARNED, states).flat(),
        hidden={name: hidden} | beside if hidden else beside,
    )
    read = state_file.decode(state_file.encode(snapshot), "state")
    published = Published.of_flat(Learned, [name, "other"], read.public)
    assert published.learned == LEARNED
    assert set(published.states) == set(states)
    own = read.hidden.pop(name, {})
    assert read.hidden == beside
    return published.states.get(name, {}), own


def same(one: State, other: State) -> bool:
    """Return whether two states have equal entries of equal types."""
    return one.keys() == other.keys() and all(
        np.array_equal(one[key], other[key])
        and np.asarray(one[key]).dtype == np.asarray(other[key]).dtype
        and np.shape(one[key]) == np.shape(other[key])
        for key in one
    )


people = st.lists(st.lists(st.floats(-1, 1), max_size=6), min_size=1, max_size=9)


@pytest.mark.parametrize("kind", KINDS)
@given(people)
def test_a_statistic_goes_on_from_a_file_as_if_it_had_not_stopped(
    kind: str, blocks: list[list[float]]
) -> None:
    """After every release: the state is that of the layout, and the next release is the same."""
    statistic = KINDS[kind]
    public, hidden = statistic.start()
    for number, block in enumerate(blocks):
        read_public, read_hidden = stored(statistic, public, hidden)
        assert same(read_public, public)
        assert same(read_hidden, hidden)
        layout = statistic.layout(number)
        assert (public.keys(), hidden.keys()) == (layout[0].keys(), layout[1].keys())
        _, after_public, after_hidden = next_release(
            statistic, number, read_public, read_hidden, adding(block)
        )
        _, public, hidden = next_release(statistic, number, public, hidden, adding(block))
        assert same(after_public, public)
        assert same(after_hidden, hidden)


@pytest.mark.parametrize("kind", KINDS)
def test_a_release_changes_no_state_in_place(kind: str) -> None:
    """An interrupt discards a release; the state before it is used again."""
    statistic = KINDS[kind]
    public, hidden = statistic.start()
    for number in range(3):
        before = [{key: np.copy(value) for key, value in each.items()} for each in (public, hidden)]
        after = next_release(statistic, number, public, hidden, adding([0.5, -0.5, 1.0]))
        for each, kept in zip((public, hidden), before, strict=True):
            assert each.keys() == kept.keys()
            assert all(np.array_equal(each[key], kept[key]) for key in each)
        _, public, hidden = after
