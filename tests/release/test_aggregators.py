"""If these fail, one person can move a sum farther than stated, and every charge is too low."""

from collections.abc import Iterable
from itertools import product
from math import inf, nan, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from discreet.errors import ConfigError
from discreet.release.aggregators import (
    Aggregate,
    Aggregator,
    HeldRows,
    OneChoice,
    PublicCells,
    Rows,
)

HOSTILE = [nan, inf, -inf, 1e308, -1e308, 5e-324, -5e-324, -0.0]
"""Numbers that a person may send to break a sum."""


def changes_of(people: Iterable[np.ndarray]) -> np.ndarray:
    """The changes of the sum for all pairs of single people; one of a pair may be missing."""
    sums = list(people)
    distinct = np.unique([np.zeros_like(sums[0]), *sums], axis=0)
    return np.asarray(distinct[:, None] - distinct[None]).reshape(len(distinct) ** 2, -1)


def largest(changes: np.ndarray) -> dict[str, float]:
    """The largest norms, the longest interval and the most cells over all changes of the sum."""
    with_still = np.concatenate([changes, np.zeros((len(changes), 1), dtype=np.int64)], axis=1)
    return {
        "l1": float(np.abs(changes).sum(axis=1).max()),
        "l2": float(np.sqrt((changes.astype(float) ** 2).sum(axis=1).max())),
        "span": float(np.ptp(with_still, axis=1).max()),
        "cells": float((changes != 0).sum(axis=1).max()),
    }


def stated(aggregator: Aggregator) -> dict[str, float]:
    """The bounds that an aggregator states on these quantities."""
    return {
        "l1": aggregator.sensitivity(1),
        "l2": aggregator.sensitivity(2),
        "span": float(aggregator.span),
        "cells": float(aggregator.cells),
    }


def assert_bounds(aggregator: Aggregator, people: Iterable[np.ndarray], *tight: str) -> None:
    """The stated bounds hold for all pairs, and some pair attains those that are `tight`."""
    measured = largest(changes_of(people))
    bounds = stated(aggregator)
    case = (aggregator, measured, bounds)
    assert all(measured[name] <= bounds[name] * (1 + 1e-12) for name in measured), case
    assert all(measured[name] == pytest.approx(bounds[name]) for name in tight), case


# --- whole rows


def row_of(aggregator: Rows, person: Iterable[float]) -> np.ndarray:
    """The integers of one person."""
    alone = aggregator.empty()
    aggregator.add(alone, np.array([list(person)]))
    return alone.values.reshape(-1)


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("norm", [1, 2, inf])
@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize("levels", [1, 2, 3])
def test_no_two_rows_are_farther_apart_than_stated(
    size: int, norm: float, nonnegative: bool, levels: int
) -> None:
    """Every vector in half steps up to beyond the bound, and every hostile one."""
    rows = Rows((size,), length=0.7, norm=norm, nonnegative=nonnegative, levels=levels)
    reach = 2 * levels + 1 if size < 3 else levels + 1
    values = [
        *HOSTILE,
        *(0.7 / levels * step / (2 if size < 3 else 1) for step in range(-reach, reach + 1)),
    ]
    people = [row_of(rows, person) for person in product(values, repeat=size)]
    tight = {"l2", "cells"} if norm == inf or levels > 1 or size == 1 else {"l2"}
    tight |= {"l1"} if norm != 2 or size == 1 else set()
    tight |= {"span"} if size > 1 and (norm == inf or nonnegative) else set()
    tight -= {"cells"} if norm != inf and levels < size else set()
    assert_bounds(rows, people, *tight)


@pytest.mark.parametrize(
    ("size", "norm", "nonnegative", "measured", "pair"),
    [
        (1, 2, True, 2, ([1.0], [0.0])),
        (1, 1, False, 1, ([1.0], [-1.0])),
        (2, 2, True, 2, ([1.0, 0.0], [0.0, 1.0])),
        (2, 2, False, 2, ([1.0, 0.0], [-1.0, 0.0])),
        (2, 1, True, 1, ([1.0, 0.0], [0.0, 1.0])),
        (4, inf, True, 2, ([1.0] * 4, [0.0] * 4)),
        (4, inf, False, 1, ([1.0] * 4, [-1.0] * 4)),
        (4, 2, False, 1, ([0.5] * 4, [-0.5] * 4)),
        (4, 2, True, 1, ([0.5**0.5] * 2 + [0.0] * 2, [0.0] * 2 + [0.5**0.5] * 2)),
    ],
)
def test_the_stated_sensitivity_of_rows_is_attained(
    size: int, norm: float, nonnegative: bool, measured: int, pair: tuple[list[float], list[float]]
) -> None:
    rows = Rows((size,), norm=norm, nonnegative=nonnegative, levels=2**20)
    distance = np.linalg.norm(np.subtract(*(row_of(rows, person) for person in pair)), measured)
    assert distance == pytest.approx(rows.sensitivity(measured), rel=1e-5)
    assert distance <= rows.sensitivity(measured)


anything = st.floats(allow_nan=True, allow_infinity=True, width=64)


@given(
    arrays(np.float64, st.tuples(st.just(1), st.integers(1, 12)), elements=anything),
    st.sampled_from([1, 2, inf]),
    st.integers(1, 2**24),
    st.floats(1e-6, 1e6) | st.sampled_from([1e-280, 1e280]),
    st.booleans(),
)
def test_no_person_exceeds_the_bound_in_integers(
    row: np.ndarray, norm: float, levels: int, length: float, nonnegative: bool
) -> None:
    rows = Rows((row.shape[1],), length, norm, nonnegative, levels)
    whole = [int(value) for value in row_of(rows, row[0])]
    size = {
        1: sum(map(abs, whole)),
        2: sqrt(sum(value**2 for value in whole)),
        inf: max(map(abs, whole)),
    }
    assert size[norm] <= levels
    if nonnegative:
        assert min(whole) >= 0
    if not np.isfinite(row).all():
        assert not any(whole)


@given(arrays(np.float64, (1, 4), elements=st.floats(-0.4, 0.4)))
def test_people_inside_the_bound_are_only_rounded(row: np.ndarray) -> None:
    whole = row_of(Rows((4,), levels=2**20), row[0])
    assert np.array_equal(whole, np.floor(row[0] * 2**20 + 0.5).astype(np.int64))


def test_people_outside_the_bound_keep_their_direction(generator: np.random.Generator) -> None:
    direction = generator.normal(size=30)
    whole = row_of(Rows((30,), length=5.0, levels=2**20), direction * 1e200)
    assert np.linalg.norm(whole) == pytest.approx(2**20, rel=1e-4)
    assert np.allclose(
        whole / np.linalg.norm(whole), direction / np.linalg.norm(direction), atol=1e-4
    )


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("nonnegative", [False, True])
def test_scores_of_least_corners_have_the_span_of_the_sum(both: bool, nonnegative: bool) -> None:
    rows = Rows((2,), norm=inf, nonnegative=nonnegative, levels=2)
    people = []
    for person in product([*HOSTILE, -1.0, -0.5, 0.0, 0.5, 1.0], repeat=2):
        alone = rows.empty()
        rows.add(alone, np.array([person]))
        people.append(rows.opposites(alone, both=both).values)
    span = largest(changes_of(people))["span"]
    assert span == rows.span if both or nonnegative else span <= rows.span


@pytest.mark.parametrize(
    ("length", "norm", "levels"),
    [
        (0, 2, 9), (-1, 2, 9), (nan, 2, 9), (inf, 2, 9), (1e300, 2, 9), (1e-300, 2, 9),
        (1, 3, 9), (1, 0, 9), (1, 2, 0), (1, 2, 2**31),
    ],
)  # fmt: skip
def test_impossible_rows_are_refused(length: float, norm: float, levels: int) -> None:
    with pytest.raises(ConfigError, match="got"):
        Rows((2,), length, norm, levels=levels)


# --- numbers in public cells

RANGES = [(0.0, 1.0), (-1.0, 1.0), (-1.0, 0.0), (-0.5, 1.0), (0.25, 1.0), (-2.0, -1.0), (-0.3, 0.7)]


def numbers_around(low: float, high: float, levels: int) -> list[float]:
    bound = max(abs(low), abs(high))
    steps = [bound / levels * step / 2 for step in range(-2 * levels - 3, 2 * levels + 4)]
    return [*HOSTILE, low, high, np.nextafter(low, -inf), np.nextafter(high, inf), *steps]


def is_whole(low: float, high: float, levels: int) -> bool:
    """Whether both ends of the range lie on the grid, so that rounding inwards loses nothing."""
    bound = max(abs(low), abs(high))
    return all(float(end / bound * levels).is_integer() for end in (min(low, 0.0), max(high, 0.0)))


@pytest.mark.parametrize(("low", "high"), RANGES)
@pytest.mark.parametrize("copies", [1, 2, 3])
@pytest.mark.parametrize("levels", [1, 2, 7])
def test_no_two_numbers_in_public_cells_are_farther_apart_than_stated(
    low: float, high: float, copies: int, levels: int
) -> None:
    """Every choice of cells, which both neighbours share, and every pair of numbers."""
    aggregator = PublicCells((3,), low, high, copies=copies, levels=levels)
    distinct = {}
    for number in numbers_around(low, high, levels):
        distinct[int(added(aggregator, [0], number)[0])] = number
    assert distinct[0] is not None
    every = [cells for cells in product(range(-1, 3), repeat=copies) if _different(cells)]
    changes = [
        changes_of([added(aggregator, list(cells), number) for number in distinct.values()])
        for cells in every
    ]
    measured = largest(np.concatenate(changes))
    bounds = stated(aggregator)
    assert all(measured[name] <= bounds[name] * (1 + 1e-12) for name in measured), measured
    if is_whole(low, high, levels):
        assert measured == pytest.approx(bounds)


@pytest.mark.parametrize("bound", [1.0, 0.1, 3.0, 49.0, 1e-100, 1e100])
@pytest.mark.parametrize("levels", [1, 3, 1000])
def test_a_number_at_the_end_of_its_range_counts_in_full(bound: float, levels: int) -> None:
    """49 · (1/49) is a little less than 1 in floats, and must not become 0 steps of 1."""
    both = PublicCells((1,), -bound, bound, levels=levels)
    assert [int(added(both, [0], end)[0]) for end in (-bound, bound)] == [-levels, levels]
    choice = OneChoice((2,), high=bound, levels=levels)
    clicked = choice.empty()
    choice.add(clicked, np.array([1]))
    assert clicked.values.tolist() == [0, levels]


def added(aggregator: PublicCells, cells: list[int], number: float) -> np.ndarray:
    """The integers of one person."""
    alone = aggregator.empty()
    aggregator.add(alone, np.array([cells]), np.array([number]))
    return alone.values


def _different(cells: tuple[int, ...]) -> bool:
    """Whether no cell appears twice."""
    there = [cell for cell in cells if cell >= 0]
    return len(set(there)) == len(there)


def test_cells_out_of_range_are_left_out_and_numbers_out_of_range_are_clipped() -> None:
    aggregator = PublicCells((2, 2), -1.0, 1.0, levels=10)
    people = aggregator.empty()
    aggregator.add(
        people, np.array([[0], [1], [2], [-1], [4]]), np.array([0.5, 7.0, -inf, 1.0, 1.0])
    )
    assert people.values.tolist() == [[5, 10], [0, 0]]


def test_a_person_cannot_add_to_one_cell_twice_or_to_more_cells_than_stated() -> None:
    aggregator = PublicCells((4,), copies=2)
    for cells in ([[1, 1]], [[0, 1, 2]], [0, 1], [[0], [1]]):
        with pytest.raises(ConfigError, match="cells"):
            aggregator.add(aggregator.empty(), np.array(cells), np.array([1.0]))


@pytest.mark.parametrize(("low", "high"), [(0.0, 0.0), (1.0, 0.0), (0.0, inf), (nan, 1.0)])
def test_empty_and_infinite_ranges_are_refused(low: float, high: float) -> None:
    for kind in (PublicCells, OneChoice):
        with pytest.raises(ConfigError, match="range"):
            kind((3,), low, high)


# --- numbers in a cell that the person chooses


@pytest.mark.parametrize(("low", "high"), RANGES)
@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("levels", [1, 2, 7])
def test_no_two_choices_are_farther_apart_than_stated(
    low: float, high: float, size: int, levels: int
) -> None:
    """Every pair of people: another number, another cell, both, or no answer."""
    aggregator = OneChoice((size,), low, high, levels=levels)
    people = []
    for cell, number in product(range(-1, size + 1), numbers_around(low, high, levels)):
        alone = aggregator.empty()
        aggregator.add(alone, np.array([cell]), np.array([number]))
        people.append(alone.values)
    for cell in range(-1, size):
        alone = aggregator.empty()
        aggregator.add(alone, np.array([cell]))
        people.append(alone.values)
    tight = ("l1", "l2", "cells") if is_whole(low, high, levels) else ("cells",)
    assert_bounds(aggregator, people, *tight)
    if size > 1 and low == -high:
        assert_bounds(aggregator, people, "span")


def test_a_count_counts() -> None:
    clicks = OneChoice((3,), levels=5)
    people = clicks.empty()
    clicks.add(people, np.array([0, 2, 2, -1, 3, -7]))
    assert people.values.tolist() == [5, 0, 10]
    with pytest.raises(ConfigError, match="one cell and one number"):
        clicks.add(people, np.array([0, 1]), np.array([1.0]))


# --- rows held for one release


def test_held_rows_are_clipped_to_numbers_between_0_and_1() -> None:
    held = HeldRows((4, 3))
    people = held.empty()
    rows = np.array([[nan, inf, -inf], [1e308, -1e308, 5e-324], [-0.0, 0.5, 1.0], [1.0, 1.0, 1.0]])
    held.add(people, np.array([0, 2, 3, 9]), rows)
    half = 2**15
    assert people.values.tolist() == [[0, 0, 0], [0, 0, 0], [2**16 - 1, 0, 0], [0, half, 2**16 - 1]]


def test_held_rows_state_no_sensitivity() -> None:
    held = HeldRows((4, 3))
    for read in (lambda: held.sensitivity(1), lambda: held.span):
        with pytest.raises(ConfigError, match="cannot be released"):
            read()


@pytest.mark.parametrize("norm", [1, 2, inf])
@pytest.mark.parametrize(
    "of_rows",
    [
        lambda rows: rows,
        lambda rows: rows * [[1.0, -1.0]],
        lambda rows: rows * 1e308,
        lambda rows: np.where(rows > 0.5, nan, rows),
        lambda rows: rows / (rows.sum(axis=1, keepdims=True) + 1e-300),
    ],
)
def test_one_held_row_moves_every_total_by_no_more_than_stated(norm: float, of_rows: Any) -> None:
    """For any function of a row, the total obeys the bounds that `Rows` states."""
    held = HeldRows((3, 2))
    onto = Rows((2,), norm=norm, levels=3)
    people = held.empty()
    held.add(people, np.array([0, 2]), np.array([[0.3, 0.9], [1.0, 0.1]]))
    totals = []
    for person in product([*HOSTILE, 0.0, 0.2, 0.5, 0.51, 0.8, 1.0], repeat=2):
        held.add(people, np.array([1]), np.array([person]))
        totals.append(held.total(people, of_rows, onto).values)
    missing = held.empty()
    held.add(missing, np.array([0, 2]), np.array([[0.3, 0.9], [1.0, 0.1]]))
    totals.append(held.total(missing, of_rows, onto).values)
    measured = largest(changes_of(np.array(totals) - totals[-1]))
    bounds = stated(onto)
    assert all(measured[name] <= bounds[name] * (1 + 1e-12) for name in measured)


def test_totals_do_not_depend_on_the_chunks_they_are_added_in(
    generator: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = HeldRows((50, 4))
    onto = Rows((4,), norm=1, levels=1000)
    people = held.empty()
    held.add(people, np.arange(50), generator.random((50, 4)))
    whole = held.total(people, lambda rows: rows**2, onto).values
    monkeypatch.setattr("discreet.release.aggregators.partitions.CHUNK", 7)
    assert np.array_equal(held.total(people, lambda rows: rows**2, onto).values, whole)


# --- all of them

ROWS = Rows((2, 2), length=2.0, levels=999)
CELLS = PublicCells((4,), -1.0, 1.0, copies=2, levels=77)
CHOICES = OneChoice((4,), -1.0, 1.0, levels=77)
HELD = HeldRows((12, 3))


def aggregate(aggregator: Aggregator, people: list[int], seed: int) -> Aggregate:
    """The aggregate of some of twelve people, whose data is a function of the seed."""
    generator = np.random.default_rng(seed)
    numbers = generator.normal(size=(12, 4)) * generator.choice([0.1, 1.0, 1e6], size=(12, 1))
    numbers[generator.random((12, 4)) < 0.1] = nan
    cells = np.array([generator.permutation(5)[:2] - 1 for _ in range(12)])
    total = aggregator.empty()
    some = np.array(people, dtype=np.int64)
    if isinstance(aggregator, Rows):
        aggregator.add(total, numbers[some].reshape(-1, 2, 2))
    elif isinstance(aggregator, PublicCells):
        aggregator.add(total, cells[some], numbers[some, 0])
    elif isinstance(aggregator, OneChoice):
        aggregator.add(total, cells[some, 0], numbers[some, 0])
    elif isinstance(aggregator, HeldRows):
        aggregator.add(total, some, numbers[some, :3])
    return total


@settings(max_examples=60)
@given(
    st.sampled_from([ROWS, CELLS, CHOICES, HELD]),
    st.lists(st.integers(0, 3), min_size=12, max_size=12),
    st.permutations(range(12)),
    st.integers(0, 10**6),
)
def test_people_aggregated_on_many_machines_and_merged_equal_people_on_one(
    aggregator: Aggregator, machine: list[int], order: list[int], seed: int
) -> None:
    """Any four machines, in any order, yield the same integers bit for bit."""
    whole = aggregate(aggregator, order, seed)
    merged = aggregator.empty()
    for number in range(4):
        some = [person for person in order if machine[person] == number]
        part = aggregate(aggregator, some, seed)
        merged = aggregator.merge(part, merged) if number % 2 else aggregator.merge(merged, part)
    assert merged.values.dtype == whole.values.dtype
    assert np.array_equal(merged.values, whole.values)


@pytest.mark.parametrize(
    "aggregator", [ROWS, CELLS, CHOICES, HELD], ids=lambda value: type(value).__name__
)
def test_an_empty_aggregate_is_zero_and_a_state_with_another_shape_is_refused(
    aggregator: Aggregator,
) -> None:
    empty = aggregator.empty()
    assert not empty.values.any()
    assert np.array_equal(aggregator.holding(empty.values).values, empty.values)
    for wrong in (
        empty.values.astype(np.float64),
        empty.values.astype(np.int32),
        empty.values[:1],
        empty.values.tolist(),
        None,
    ):
        with pytest.raises(ConfigError, match="must be integers of shape"):
            aggregator.holding(wrong)


def test_only_aggregates_of_the_same_aggregator_are_merged() -> None:
    for other in (ROWS.on_grid(998), CELLS, CHOICES):
        with pytest.raises(ConfigError, match="only aggregates of the same Rows"):
            ROWS.merge(ROWS.empty(), other.empty())


def test_a_finer_grid_changes_nothing_but_the_grid() -> None:
    for aggregator in (ROWS, CELLS, CHOICES):
        finer = aggregator.on_grid(2**20)
        assert finer.levels == 2**20
        assert finer.bound == aggregator.bound
        assert finer.unit_sensitivity(2) == aggregator.unit_sensitivity(2)
        assert finer.grid == aggregator.bound / 2**20


def test_an_aggregate_does_not_print_its_values() -> None:
    people = aggregate(ROWS, list(range(12)), seed=1)
    assert str(int(people.values[0, 0])) not in repr(people)
    assert people.part(1).values.tolist() == people.values[1].tolist()
