"""If these fail, draws in every slot reveal more about a person than draws in one slot."""

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cache
from itertools import permutations, product
from math import inf, log, nan, prod, sqrt
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

from discreet.budget.privacy import Charge, pure, zcdp
from discreet.errors import BudgetError, ConfigError
from discreet.release import kernels
from discreet.release.aggregators import Aggregate, ChosenRows, Rows
from discreet.release.door import Door
from discreet.release.noise import DiscreteGaussian, DiscreteLaplace
from discreet.release.randomness import seeded_bits
from discreet.release.selection import INTEGER_SLACK, Selection
from laws import ORDERS, epsilon_of, selection_law, zcdp_of

ALPHA = 1e-6
HOSTILE = [nan, inf, -inf, 1e308, -1e308, 5e-324, -0.0]


def alone(chosen: ChosenRows, row: Iterable[float], slot: int) -> np.ndarray:
    """The integers of one person."""
    person = chosen.empty()
    chosen.add(person, np.array([list(row)], dtype=np.float64), np.array([slot]))
    return person.values


# --- the sensitivity of the table


def changes_of(tables: list[np.ndarray]) -> np.ndarray:
    """The changes of the table for all pairs of people."""
    distinct = np.unique(tables, axis=0)
    return np.asarray(distinct[:, None] - distinct[None]).reshape(-1, *distinct.shape[1:])


def interval(changes: np.ndarray) -> np.ndarray:
    """The length of the interval that holds all changes of a row, and 0."""
    return np.asarray(np.maximum(changes.max(axis=-1), 0) - np.minimum(changes.min(axis=-1), 0))


def assert_stated(chosen: ChosenRows, changes: np.ndarray) -> None:
    """All stated bounds hold: one row moves by the span, or two rows by half of it each."""
    flat = changes.reshape(len(changes), -1)
    assert np.abs(flat).sum(axis=1).max() <= chosen.sensitivity(1)
    assert (flat**2).sum(axis=1).max() <= round(chosen.sensitivity(2) ** 2)
    assert (flat != 0).sum(axis=1).max() <= chosen.cells
    moved = (changes != 0).any(axis=2).sum(axis=1)
    assert moved.max() <= 2
    assert interval(changes).max() <= chosen.span
    assert interval(changes[moved == 2]).max(initial=0) <= chosen.span / 2
    assert interval(flat).max() <= chosen.span


@pytest.mark.parametrize("shape", [(1, 1), (1, 2), (2, 1), (2, 2), (3, 2)])
@pytest.mark.parametrize("levels", [1, 2, 3])
def test_no_two_people_move_the_table_farther_than_stated(
    shape: tuple[int, int], levels: int
) -> None:
    """All pairs: other numbers, another slot, both, or nobody; and every bound is attained."""
    chosen = ChosenRows(shape, levels)
    numbers = [*HOSTILE, *(step / (2 * levels) for step in range(-2 * levels - 1, 2 * levels + 2))]
    rows = product(numbers, repeat=shape[1])
    tables = [alone(chosen, row, slot) for row, slot in product(rows, range(-1, shape[0] + 1))]
    changes = changes_of([chosen.empty().values, *tables])
    assert_stated(chosen, changes)
    flat = changes.reshape(len(changes), -1)
    assert np.abs(flat).sum(axis=1).max() == chosen.sensitivity(1)
    assert sqrt((flat**2).sum(axis=1).max()) == pytest.approx(chosen.sensitivity(2), rel=1e-12)
    assert (flat != 0).sum(axis=1).max() == chosen.cells
    if shape[1] > 1:
        assert interval(flat).max() == chosen.span


@pytest.mark.parametrize("levels", [1, 7, 2**30])
def test_hostile_numbers_are_clipped_or_count_as_zero(levels: int) -> None:
    chosen = ChosenRows((2, 7), levels)
    assert alone(chosen, HOSTILE, 1).tolist() == [[0] * 7, [0, 0, 0, levels, -levels, 0, 0]]
    edges = [1.0, -1.0, 1 + 2**-52, -1 - 2**-52, 1e300, 0.0, 1 - 2**-53]
    assert np.abs(alone(chosen, edges, 0)).max() == levels


def test_people_without_a_slot_add_nothing() -> None:
    chosen = ChosenRows((2, 2), 5)
    for slot in (-1, 2, -(2**63), 2**63 - 1):
        assert not alone(chosen, [1.0, 1.0], slot).any()
    with pytest.raises(ConfigError, match="one row and one slot"):
        chosen.add(chosen.empty(), np.ones((2, 2)), np.zeros(1, dtype=np.int64))
    for shape in (3, (3,), (1, 2, 3)):
        with pytest.raises(ConfigError, match=r"\(slots, numbers per row\)"):
            ChosenRows(shape)  # type: ignore[arg-type]


def test_people_on_many_machines_equal_people_on_one(generator: np.random.Generator) -> None:
    chosen = ChosenRows((3, 4), 1000)
    rows = generator.normal(size=(40, 4))
    slots = generator.integers(-1, 4, size=40)
    rows[generator.random((40, 4)) < 0.1] = nan
    merged = chosen.empty()
    for part in np.array_split(generator.permutation(40), 5):
        people = chosen.empty()
        chosen.add(people, rows[part], slots[part])
        merged = chosen.merge(people, merged)
    expected = np.zeros((3, 4), dtype=np.int64)
    for row, slot in zip(np.nan_to_num(rows), slots, strict=True):
        if 0 <= slot < 3:
            expected[slot] += np.floor(np.clip(row, -1, 1) * 1000 + 0.5).astype(np.int64)
    assert np.array_equal(merged.values, expected)


def test_magnitudes_move_no_farther_than_sums(generator: np.random.Generator) -> None:
    """Other people move the sums to either side of zero."""
    chosen = ChosenRows((2, 2), 2)
    people = [
        alone(chosen, row, slot)
        for row in product([-1, -0.5, 0, 1], repeat=2)
        for slot in (-1, 0, 1)
    ]
    for _ in range(20):
        others = generator.integers(-3, 4, size=(2, 2))
        tables = [chosen.magnitudes(chosen.holding(others + person)) for person in people]
        assert all(table.aggregator == chosen for table in tables)
        assert all(
            (table.values == np.abs(others + one)).all()
            for table, one in zip(tables, people, strict=True)
        )
        assert_stated(chosen, changes_of([table.values for table in tables]))


def test_picked_columns_move_less_far(generator: np.random.Generator) -> None:
    chosen = ChosenRows((2, 4), 3)
    people = [alone(chosen, row, slot) for row in product([-1, 1], repeat=4) for slot in (-1, 0, 1)]
    for _ in range(5):
        columns = np.array([generator.permutation(4)[:2] for _ in range(2)])
        tables = [chosen.picked(chosen.holding(person), columns) for person in people]
        fewer = tables[0].aggregator
        assert fewer == ChosenRows((2, 2), 3)
        assert fewer.sensitivity(2) == pytest.approx(chosen.sensitivity(2) / sqrt(2))
        changes = changes_of([table.values for table in tables])
        assert isinstance(fewer, ChosenRows)
        assert_stated(fewer, changes)
        assert (changes**2).sum(axis=(1, 2)).max() == round(fewer.sensitivity(2) ** 2)
    values = np.arange(8).reshape(2, 4)
    assert chosen.picked(chosen.holding(values), np.array([[3, 0], [1, 1]])).values.tolist() == [
        [3, 0],
        [5, 5],
    ]


def test_a_slot_is_picked_once() -> None:
    """One slot picked five times would be five rows, stated as one."""
    one = ChosenRows((1, 4), 10)
    with pytest.raises(ConfigError, match="one row for each of 1 slots"):
        one.picked(one.holding(np.full((1, 4), 10)), np.zeros((5, 2), dtype=np.int64))


@pytest.mark.parametrize(
    "derive",
    [
        lambda chosen, sums: chosen.magnitudes(sums),
        lambda chosen, sums: chosen.picked(sums, np.zeros((2, 1), dtype=np.int64)),
    ],
    ids=["magnitudes", "picked"],
)
def test_sums_of_another_grid_are_refused(
    derive: Callable[[ChosenRows, Aggregate], Aggregate],
) -> None:
    """Sums on a grid of 100 steps, stated as sums of one step, would get 1/100 of the noise."""
    fine = ChosenRows((2, 2), 100)
    coarse = ChosenRows((2, 2), 1)
    with pytest.raises(ConfigError):
        derive(coarse, fine.empty())


# --- draws in slots: the law

SCORES = ChosenRows((2, 3), 1)
SELECTION = Selection.at_rate(0.3, SCORES.span)
EVERYTHING = np.ones((2, 3), dtype=bool)


@cache
def row_law(
    selection: Selection, scores: tuple[int, ...], available: tuple[bool, ...], draws: int
) -> dict[tuple[int, ...], Fraction]:
    """The probability of every order in which candidates of one row can be drawn."""
    law = {}
    for order in permutations(np.flatnonzero(available).tolist(), draws):
        remaining = list(available)
        chance = Fraction(1)
        for candidate in order:
            chance *= selection_law(selection, list(scores), remaining)[candidate]
            remaining[candidate] = False
        law[order] = chance
    return law


def table_law(
    selection: Selection, table: np.ndarray, available: np.ndarray, draws: int
) -> dict[tuple[tuple[int, ...], ...], Fraction]:
    """The probability of every order in which candidates of all rows can be drawn."""
    rows = [
        row_law(selection, tuple(scores), tuple(mask), draws)
        for scores, mask in zip(table.tolist(), available.tolist(), strict=True)
    ]
    return {
        orders: prod(
            (law[order] for law, order in zip(rows, orders, strict=True)), start=Fraction(1)
        )
        for orders in product(*rows)
    }


class ScriptedDoor(Door):
    """A door with prescribed draws, which multiplies their probabilities."""

    def __init__(self, reserved: Charge, script: list[int]) -> None:
        super().__init__(seeded_bits(1, 0), reserved, 0)
        self.script = list(script)
        self.chance = Fraction(1)

    def draw(self, selection: Selection, scores: np.ndarray, available: np.ndarray) -> int:
        candidate = self.script.pop(0)
        self.chance *= selection_law(selection, scores.tolist(), available.tolist())[candidate]
        return candidate


def door(reserved: Charge) -> Door:
    return Door(seeded_bits(5, 0), reserved, 0)


def price(selection: Selection, draws: int, measure: str = "pure") -> Charge:
    return selection.charge(measure) * draws


@pytest.mark.parametrize("mask", [EVERYTHING, np.array([[True, False, True], [True, True, False]])])
@pytest.mark.parametrize("draws", [1, 2])
def test_the_door_draws_by_the_law_that_is_enumerated(mask: np.ndarray, draws: int) -> None:
    """For every order of draws, the door draws each candidate among the rest of its own row."""
    table = SCORES.holding(np.array([[0, 4, 1], [2, 2, -5]]))
    law = table_law(SELECTION, table.values, mask, draws)
    for orders, chance in law.items():
        script = [candidate for order in orders for candidate in order]
        scripted = ScriptedDoor(price(SELECTION, draws), script)
        drawn = scripted.select_in_slots(SELECTION, table, mask, draws=draws)
        assert drawn.tolist() == [list(order) for order in orders]
        assert scripted.chance == chance
    assert sum(law.values()) == 1


@pytest.mark.statistical
def test_draws_in_slots_follow_their_law() -> None:
    """A χ² test at level α of 4000 draws of two candidates in each of two rows."""
    table = SCORES.holding(np.array([[0, 4, 1], [2, 2, -5]]))
    count = 4000
    law = table_law(SELECTION, table.values, EVERYTHING, 2)
    paid = door(price(SELECTION, 2) * (count + 1))
    drawn = [paid.select_in_slots(SELECTION, table, EVERYTHING, draws=2) for _ in range(count)]
    seen = [tuple(map(tuple, each.tolist())) for each in drawn]
    expected = [float(chance) * count for chance in law.values()]
    assert stats.chisquare([seen.count(orders) for orders in law], expected).pvalue > ALPHA


# --- draws in slots: the price


def losses(
    selection: Selection, tables: list[np.ndarray], available: np.ndarray, draws: int
) -> tuple[float, float]:
    """The largest pure ε and ρ of zCDP over all pairs of tables, from the exact laws."""
    laws = [table_law(selection, table, available, draws).values() for table in tables]
    logs = np.array(
        [[log(chance.numerator) - log(chance.denominator) for chance in law] for law in laws]
    )
    most_pure = max(np.abs(logs - here).max() for here in logs)
    most_zcdp = 0.0
    for order in ORDERS[::4]:
        for here in logs:
            divergences = logsumexp(order * here + (1 - order) * logs, axis=1) / (order - 1)
            most_zcdp = max(most_zcdp, float(divergences.max()) / order)
    return float(most_pure), most_zcdp


OTHERS = [[[0, 0, 0], [0, 0, 0]], [[0, 9, -3], [4, 0, 1]], [[0, 200, 60], [400, 0, 398]]]
"""Tables of all other people: all alike, somewhat apart, and with weights on the floor."""


@pytest.mark.parametrize("others", OTHERS)
@pytest.mark.parametrize("rate", [0.01, 0.3, 1.0])
@pytest.mark.parametrize("draws", [1, 2])
@pytest.mark.parametrize("magnitudes", [False, True])
def test_no_person_changes_draws_in_all_slots_by_more_than_the_charge(
    others: list[list[int]], rate: float, draws: int, magnitudes: bool
) -> None:
    """All pairs of people, in one slot, in two, or in none: two rows cost as much as one."""
    selection = Selection.at_rate(rate, SCORES.span)
    rows = [*product([-1, 1], repeat=3), (0, 1, -1)]
    people = [alone(SCORES, row, slot) for row in rows for slot in (0, 1)] + [SCORES.empty().values]
    tables = [SCORES.holding(np.array(others) + person) for person in people]
    if magnitudes:
        tables = [SCORES.magnitudes(table) for table in tables]
    most_pure, most_zcdp = losses(selection, [table.values for table in tables], EVERYTHING, draws)
    assert most_pure <= price(selection, draws).amount * (1 + 1e-9)
    assert most_zcdp <= price(selection, draws, "zcdp").amount * (1 + 1e-9)


def test_masks_do_not_raise_the_price_of_draws() -> None:
    mask = np.array([[True, True, False], [False, True, True]])
    people = [alone(SCORES, row, slot) for row in product([-1, 0, 1], repeat=3) for slot in (0, 1)]
    tables = [np.array(OTHERS[1]) + person for person in people]
    most_pure, most_zcdp = losses(SELECTION, tables, mask, 2)
    assert most_pure <= price(SELECTION, 2).amount
    assert most_zcdp <= price(SELECTION, 2, "zcdp").amount


def test_a_person_who_changes_slots_can_cost_the_whole_pure_charge() -> None:
    """The checks above can fail: one row, and two rows by half each, nearly attain the charge.

    The likeliest candidates lose a step, unlikely ones gain one, and those are drawn.
    """
    scores = ChosenRows((2, 4), 1)
    selection = Selection.at_rate(0.2, scores.span)
    others = np.array([[80, 40, 0, 0], [80, 40, 0, 0]])
    up = np.array([-1, -1, 1, 1])
    everything = np.ones((2, 4), dtype=bool)
    here, there, elsewhere = (np.zeros((2, 4), dtype=np.int64) for _ in range(3))
    here[0] = up
    there[0] = -up
    elsewhere[1] = -up

    def law_of(selection: Selection, table: np.ndarray, draws: int) -> list[Fraction]:
        return list(table_law(selection, table, everything, draws).values())

    for other in (there, elsewhere):
        loss = epsilon_of(law_of(selection, others + here, 2), law_of(selection, others + other, 2))
        assert 0.99 < loss / price(selection, 2).amount <= 1
    gentle = Selection.at_rate(0.02, scores.span)
    loss = zcdp_of(law_of(gentle, here, 1), law_of(gentle, there, 1))
    assert 0.98 < loss / price(gentle, 1, "zcdp").amount <= 1


def test_rounded_weights_lose_no_more_in_two_rows_than_in_one() -> None:
    """Next to the floor, weights are rounded by up to 2⁻⁴⁰ of themselves, in either row.

    Ranges of half the span plus the slack, added up, would exceed the charge; the losses themselves
    do not. These rates and gaps are the worst of a search over thousands.
    """
    worst = [(241960623105, 24770898), (656027744049668, 9136), (366878309249367, 16336)]
    excess = []
    with mpmath.workprec(200):
        for units, gap in worst:
            selection = Selection(units, SCORES.span)
            here = weights_of(selection, [0, -gap])
            there = weights_of(selection, [-1, 1 - gap])
            one_row = mpmath.log(
                mpmath.mpf(there[1]) * sum(here) / (mpmath.mpf(here[1]) * sum(there))
            )
            exact = mpmath.mpf(units) / 2**57 * SCORES.span
            assert 2 * one_row <= exact + INTEGER_SLACK
            assert 2 * one_row <= selection.charge("pure").amount
            excess.append(float((2 * one_row - exact) / INTEGER_SLACK))
    assert max(excess) > 0.95


def weights_of(selection: Selection, scores: list[int]) -> list[int]:
    """The integer weights of these scores."""
    high, low = selection.weights(np.array(scores, dtype=np.int64))
    return [(int(top) << 64) + int(bottom) for top, bottom in zip(high, low, strict=True)]


def test_the_exponential_is_four_times_as_good_above_the_floor(
    generator: np.random.Generator,
) -> None:
    """Theorem 3 of docs/guarantees/selection.md relies on it; on the floor weights are exact."""
    last = int(60 * log(2) * 2**57)
    around = [int(kernels.LN2) * times + off for times in (1, 30, 60) for off in (-1, 0, 1)]
    with mpmath.workprec(200):
        for units in [0, 1, 2**50 - 1, last, *around, *generator.integers(0, last, 3000).tolist()]:
            mantissa, halvings = kernels.exponential(np.uint64(units))
            computed = mpmath.mpf(int(mantissa)) * mpmath.mpf(2) ** (-62 - int(halvings))
            assert abs(computed / mpmath.exp(-mpmath.mpf(units) / 2**57) - 1) <= 2.0**-51


def test_at_the_lowest_rate_two_rows_cost_no_more_than_one() -> None:
    """At the lowest rate that the door accepts, two squared half ranges are within the whole."""
    least = 2 * INTEGER_SLACK
    assert 2 * (least / 2 + INTEGER_SLACK) ** 2 <= (least + INTEGER_SLACK) ** 2
    too_low = Selection.at_rate(0.9 * least / SCORES.span, SCORES.span)
    with pytest.raises(ConfigError, match="below its rounding"):
        door(pure(1.0)).select_in_slots(too_low, SCORES.empty(), EVERYTHING, draws=1)
    accepted = Selection.at_rate(1.1 * least / SCORES.span, SCORES.span)
    drawn = door(pure(1.0)).select_in_slots(accepted, SCORES.empty(), EVERYTHING, draws=1)
    assert drawn.shape == (2, 1)


# --- draws in slots: what the door accepts


@pytest.mark.parametrize("measure", ["pure", "zcdp"])
def test_many_slots_are_paid_like_one_and_before_anything_is_drawn(measure: str) -> None:
    scores = ChosenRows((6, 4), 1)
    due = price(SELECTION, 3, measure)
    everything = np.ones((6, 4), dtype=bool)
    drawn = door(due).select_in_slots(SELECTION, scores.empty(), everything, draws=3)
    assert drawn.shape == (6, 3)
    assert all(len(set(row)) == 3 for row in drawn.tolist())
    short = ScriptedDoor(Charge(due.measure, due.amount * (1 - 1e-12)), [])
    with pytest.raises(BudgetError, match="reserve it in the plan"):
        short.select_in_slots(SELECTION, scores.empty(), everything, draws=3)
    assert not short.opened
    spent = door(due)
    spent.select_in_slots(SELECTION, scores.empty(), everything, draws=3)
    with pytest.raises(BudgetError, match="reserve it in the plan"):
        spent.select_in_slots(SELECTION, scores.empty(), everything, draws=1)


def test_a_refused_draw_in_slots_uses_no_randomness() -> None:
    """The next draw is the same with and without a refusal before it."""
    table = SCORES.holding(np.array([[0, 1, 1], [2, 2, 1]]))
    expected = door(price(SELECTION, 2)).select_in_slots(SELECTION, table, EVERYTHING, draws=2)
    refusing = door(price(SELECTION, 2))
    with pytest.raises(BudgetError):
        refusing.select_in_slots(SELECTION, table, EVERYTHING, draws=3)
    assert not refusing.opened
    assert np.array_equal(refusing.select_in_slots(SELECTION, table, EVERYTHING, draws=2), expected)
    assert refusing.opened


def test_unavailable_candidates_are_never_drawn() -> None:
    table = SCORES.holding(np.array([[1000, 0, 0], [0, 1000, 0]]))
    mask = np.array([[False, True, True], [True, False, True]])
    before = mask.copy()
    for seed in range(20):
        seeded = Door(seeded_bits(seed, 0), price(SELECTION, 2), 0)
        drawn = seeded.select_in_slots(SELECTION, table, mask, draws=2)
        assert [sorted(row) for row in drawn.tolist()] == [[1, 2], [0, 2]]
    assert np.array_equal(mask, before)


@pytest.mark.parametrize(
    "mask",
    [
        np.array([[True, True, True], [True, False, False]]),
        np.zeros((2, 3), dtype=bool),
        np.ones((3, 2), dtype=bool),
        np.ones((1, 3), dtype=bool),
        np.ones(3, dtype=bool),
    ],
    ids=["too few in one", "none", "transposed", "one row", "flat"],
)
def test_every_slot_needs_its_candidates(mask: np.ndarray) -> None:
    unopened = door(price(SELECTION, 2))
    with pytest.raises(ConfigError, match="2 available candidates"):
        unopened.select_in_slots(SELECTION, SCORES.empty(), mask, draws=2)
    assert not unopened.opened


def test_draws_in_slots_need_one_slot_per_person() -> None:
    """A whole table of numbers per person would cost every row."""
    table = Rows((2, 3), norm=inf, levels=1)
    assert table.span == SCORES.span
    unopened = door(price(SELECTION, 1))
    with pytest.raises(ConfigError, match="one slot per person"):
        unopened.select_in_slots(SELECTION, table.empty(), EVERYTHING, draws=1)
    with pytest.raises(ConfigError, match="span"):
        unopened.select_in_slots(SELECTION, ChosenRows((2, 3), 2).empty(), EVERYTHING, draws=1)
    secrets: list[Any] = [np.zeros((2, 3), dtype=np.int64), None, [[0, 0, 0], [0, 0, 0]]]
    for secret in secrets:
        with pytest.raises(ConfigError, match="takes aggregates only"):
            unopened.select_in_slots(SELECTION, secret, EVERYTHING, draws=1)
    assert not unopened.opened


def test_picked_sums_are_released_with_noise_for_the_picked_only() -> None:
    """After the draws, the noise depends on the number of columns drawn, not on their total."""
    scores = ChosenRows((2, 100), 10)
    table = scores.holding(np.arange(200).reshape(2, 100))
    columns = np.array([[3, 99], [0, 7]])
    picked = scores.picked(table, columns)
    noise = DiscreteGaussian(1000)
    due = noise.charge(2 * sqrt(2) * 10)
    assert due.amount < noise.charge(scores.sensitivity(2)).amount / 49
    noisy = door(due).add_noise(noise, picked)
    empty = door(due).add_noise(noise, picked.aggregator.empty())
    assert (noisy - empty).tolist() == [[3, 99], [100, 107]]
    assert isinstance(picked, Aggregate)
    with pytest.raises(BudgetError):
        door(due).add_noise(noise, table)
    pure_due = DiscreteLaplace(1000).charge(picked.aggregator.sensitivity(1))
    assert pure_due.amount == pytest.approx(2 * 2 * 10 / 1000)


def test_a_plan_for_draws_in_slots_spends_its_budget() -> None:
    scores = ChosenRows((5, 40), 2**16)
    selection = Selection.for_budget(zcdp(0.01), scores, draws=7)
    drawn = door(zcdp(0.01)).select_in_slots(
        selection, scores.empty(), np.ones((5, 40), dtype=bool), draws=7
    )
    assert drawn.shape == (5, 7)
    assert 0.0099 < price(selection, 7, "zcdp").amount <= 0.01
