"""Sources of people: if these fail, the choice depends on their form, or people count twice."""

import os
import warnings
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

from discreet import ConfigError, Partitions, Privacy, SetSelector, StateError
from discreet.arrays import Floats
from discreet.domains import UniformMatroid
from discreet.functions import (
    ClickModel,
    ConcaveOverModular,
    FacilityLocation,
    Nearby,
    SetFunction,
    Types,
    WeightedCoverage,
)
from discreet.functions.chains import PersonFunctionsChain, PresentChain
from discreet.functions.person import reading
from discreet.learners.set_selector import partitions
from discreet.learners.set_selector.records import RecordReader, Source
from discreet.release.aggregators import HeldRows
from discreet.release.aggregators.gain_path import GainPath
from discreet.release.aggregators.partitions import HeldPart, in_place
from discreet.release.door import Door
from discreet.release.sampled_path import SecretCoins

BOTH = Privacy(1.0, 1e-6)
NAMES = ["ale", "bun", "cod", "dip", "egg", "fig"]
LIKES = (np.random.default_rng(0).random((3000, 6)) < np.linspace(0.05, 0.4, 6)).astype(np.float64)


def choice(people: Any, columns: Any = None, **more: Any) -> dict[str, Any]:
    """Return the choice for these people, as plain data."""
    usual: dict[str, Any] = {"function": ClickModel, "report": 0.2, "seed": 4}
    selector = SetSelector(UniformMatroid(6, 3), BOTH, labels=NAMES, **(usual | more))
    return selector.fit(people, columns=columns).as_plain()


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    """The choice for the rows of an array."""
    return choice(LIKES)


def frame() -> polars.DataFrame:
    """Return a frame with the columns of the items in another order, and two more columns."""
    shuffled = [3, 1, 0, 5, 4, 2]
    return polars.DataFrame(
        {"id": np.arange(3000)}
        | {NAMES[item]: LIKES[:, item] for item in shuffled}
        | {"note": ["x"] * 3000}
    )


# --- one choice for all forms of people -----------------------------------------------------------


def test_partitions_lists_and_iterators_give_the_choice_of_an_array(
    expected: dict[str, Any],
) -> None:
    assert choice(LIKES.tolist()) == expected
    assert choice(iter(LIKES.tolist())) == expected
    assert choice(Partitions.of([LIKES[:1000], LIKES[1000:1001], LIKES[1001:]])) == expected
    made = Partitions(3, lambda number: LIKES[1000 * number : 1000 * (number + 1)])
    assert choice(made) == expected
    nested = [Partitions.of([LIKES[:700]]), Partitions(1, lambda number: LIKES[700:])]
    assert choice(nested) == expected


def test_frames_are_read_by_the_labels_of_items(expected: dict[str, Any]) -> None:
    assert choice(frame()) == expected
    assert choice([frame()[:999], frame()[999:]]) == expected
    renamed = frame().rename({name: name.upper() for name in NAMES})
    assert choice(renamed, columns=[name.upper() for name in NAMES]) == expected
    with pytest.raises(ConfigError, match="a row has 6 numbers, and the log 8 columns"):
        choice(renamed)
    with pytest.raises(ConfigError, match="lacks the columns ALE"):
        choice(frame(), columns=["ALE", *NAMES[1:]])
    with pytest.raises(ConfigError, match="have no names"):
        choice(LIKES, columns=NAMES)


def test_pandas_frames_are_read_by_the_labels_of_items(expected: dict[str, Any]) -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    people = pandas.DataFrame({name: frame()[name].to_numpy() for name in frame().columns})
    assert choice(people) == expected
    assert choice([people[:10], people[10:]]) == expected
    assert choice(pandas.DataFrame(LIKES)) == expected  # columns without names, in order


def test_files_are_read_where_they_are(tmp_path: Path, expected: dict[str, Any]) -> None:
    frame()[:1200].write_parquet(tmp_path / "first.parquet")
    frame()[1200:].write_csv(tmp_path / "second.csv")
    paths = [tmp_path / "first.parquet", tmp_path / "second.csv"]
    assert choice(paths) == choice(Partitions.of([str(path) for path in paths])) == expected
    with pytest.raises(ConfigError, match=r"partition 1 \(third.parquet\): .* does not exist"):
        choice([*paths[:1], tmp_path / "third.parquet"])
    (tmp_path / "third.parquet").write_text("something else")
    with pytest.raises(ConfigError, match=r"partition 1 \(third.parquet\): .*nothing was spent"):
        choice([*paths[:1], tmp_path / "third.parquet"])


def test_partitions_that_do_not_fit_are_read_again_at_every_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parts = Partitions(3, lambda number: LIKES[1000 * number : 1000 * (number + 1)])
    held = choice(parts)
    monkeypatch.setattr(partitions, "HELD_BYTES", 0)
    assert choice(parts) == held


def test_an_iterator_of_points_is_counted_like_an_array_of_them() -> None:
    city = Nearby(((0.2, 0.2), (0.8, 0.2), (0.5, 0.8)), 0.4, ((0.0, 1.0), (0.0, 1.0)))
    points = np.random.default_rng(1).normal([0.8, 0.2], 0.1, size=(500, 2))
    whole, once = (
        SetSelector(UniformMatroid(3, 1), BOTH, function=city, seed=1).fit(people).as_plain()
        for people in (points, iter(points))
    )
    assert whole == once
    assert whole["trace"][0]["worth"] == pytest.approx(whole["value"]["mean"])


# --- callables ------------------------------------------------------------------------------------


def test_callables_give_the_choice_of_equivalent_rows() -> None:
    rows = LIKES[:600]

    def callable_of(row: Floats) -> Callable[[Any], float]:
        return lambda chosen: float(row[chosen].max(initial=0.0))

    people: list[Any] = [callable_of(row) for row in rows]
    by_callables = choice(people, function=SetFunction)
    assert choice(map(SetFunction, people), function=SetFunction) == by_callables
    assert by_callables == choice(rows, function=FacilityLocation)
    people[3] = people[5] = "no callable"
    rows = rows.copy()
    rows[[3, 5]] = 0.0
    assert choice(people, function=SetFunction) == choice(rows, function=FacilityLocation)


def test_a_callable_with_changing_values_gains_no_more_than_one() -> None:
    """Returned values are stored, so gains telescope along every path."""
    generator = np.random.default_rng(0)
    for _ in range(30):
        person = partitions.callables_of([lambda chosen: float(generator.uniform(-0.5, 1.5))])
        held = HeldRows((1, 1), elsewhere=True)
        people = held.empty()
        held.stay(people, person.staying(), person.run)
        walk = GainPath(people, PersonFunctionsChain(5), np.ones(5), 2**16)
        walk.begin(np.array([True]))
        total = 0
        for item in generator.permutation(5).tolist():
            total += int(walk.scores()[item])
            walk.take(item)
        assert 0 <= total <= 2**16


# --- partitions that fail or change ---------------------------------------------------------------


class Twice(Executor):
    """Runs every task twice, as a cluster may after the loss of a worker."""

    def __init__(self) -> None:
        self.threads = ThreadPoolExecutor(2)

    def submit(self, fn: Any, /, *args: Any, **named: Any) -> Future[Any]:
        self.threads.submit(fn, *args, **named).result()
        return self.threads.submit(fn, *args, **named)


def test_a_task_that_runs_twice_counts_once(expected: dict[str, Any]) -> None:
    assert choice(Partitions.of([LIKES[:1000], LIKES[1000:]]), engine=Twice()) == expected


def test_a_partition_that_changes_between_steps_is_refused_and_nothing_is_shown(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Gains telescope only if each person has the same row at every step."""
    monkeypatch.setattr(partitions, "HELD_BYTES", 0)
    readings = iter(range(100))

    def changing(number: int) -> Floats:
        return LIKES if next(readings) < 2 else LIKES[::-1]

    def selector() -> SetSelector:
        journal = tmp_path / "state"
        return SetSelector(UniformMatroid(6, 3), BOTH, function=ClickModel, journal=journal)

    first = selector()
    with pytest.raises(ConfigError, match="partition 0: it changed"):
        first.fit(Partitions(1, changing))
    with pytest.raises(StateError, match="failed after its noise was drawn"):  # the budget is spent
        first.fit(LIKES)
    with pytest.raises(StateError, match="failed after its noise was drawn"):
        selector().fit(LIKES)


def test_an_iterator_that_fails_is_refused_without_its_text_and_nothing_is_spent() -> None:
    def people() -> Any:
        yield LIKES[0]
        raise ValueError("0.777")

    selector = SetSelector(UniformMatroid(6, 3), BOTH, function=ClickModel)
    with pytest.raises(ConfigError, match="ValueError") as refusal:
        selector.fit(people())
    assert "0.777" not in str(refusal.value)
    assert selector.fit(LIKES).people == 3000


@pytest.mark.parametrize(
    "empty", [[], iter([]), Partitions(2, lambda number: LIKES[:0]), np.zeros((0, 6))]
)
def test_a_selection_without_people_is_refused(empty: Any) -> None:
    with pytest.raises(ConfigError, match="no people"):
        choice(empty)


# --- coins ----------------------------------------------------------------------------------------


def test_the_coin_of_a_person_does_not_depend_on_the_partition() -> None:
    coins = SecretCoins(bytes(range(32)), 20_000)
    whole = coins.sampled(0, 5000)
    for first, count in ((0, 1), (1023, 2), (1024, 1024), (3000, 2000), (4999, 1), (77, 0)):
        assert np.array_equal(coins.sampled(first, count), whole[first : first + count])
    assert "key" not in repr(coins)


@pytest.mark.statistical
def test_coins_sample_the_share_of_people_that_the_charge_assumes() -> None:
    """Coins of neighbouring people, and of two keys, are independent. α < 1e-6 (5 deviations)."""
    keep = 20_000
    people = 400_000
    chance = keep / 2**16
    sampled = SecretCoins(b"k" * 32, keep).sampled(0, people)
    assert abs(sampled.mean() - chance) < 5 * np.sqrt(chance * (1 - chance) / people)
    both = (sampled[1:] & sampled[:-1]).mean()
    assert abs(both - chance**2) < 10 * np.sqrt(chance**2 / people)
    other = SecretCoins(b"l" * 32, keep).sampled(0, people)
    assert abs((sampled & other).mean() - chance**2) < 5 * np.sqrt(chance**2 / people)


def test_every_choice_has_a_different_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """One key for two choices would break the guarantee: differences reveal who was sampled."""
    keys: list[bytes] = []
    original = Door.coins

    def recording(door: Door, keep: int) -> SecretCoins:
        coins = original(door, keep)
        keys.append(coins.key)
        return coins

    monkeypatch.setattr(Door, "coins", recording)
    for seed in (None, None, 7, 7, 8):
        choice(LIKES[:100], seed=seed)
    assert keys[2] == keys[3]  # a seeded run is reproducible, and has no privacy
    assert len(set(keys)) == 4
    assert all(len(key) == 32 for key in keys)


# --- results do not depend on the machine ---------------------------------------------------------


def families() -> list[Any]:
    """Return one family of set functions of each kind, over nine items."""
    generator = np.random.default_rng(1)
    covers = tuple(map(tuple, generator.integers(0, 2, size=(9, 16)).tolist()))
    sites = tuple(map(tuple, generator.random((9, 2)).tolist()))
    table = tuple(map(tuple, generator.random((7, 9)).tolist()))
    return [
        ClickModel(),
        FacilityLocation(),
        ConcaveOverModular("sqrt"),
        ConcaveOverModular("cap"),
        WeightedCoverage(covers),
        Nearby(sites, 0.4, ((0.0, 1.0), (0.0, 2.0))),
        Types(table),
    ]


@pytest.mark.parametrize("family", families(), ids=lambda family: type(family).__name__)
def test_the_worth_of_one_item_is_bit_for_bit_its_column_of_all_worths(family: Any) -> None:
    """Lemma 11 assumes that the worth after a step equals the worth in the scores."""
    generator = np.random.default_rng(2)
    chain = PresentChain(family)
    if isinstance(family, Types):
        raw = generator.integers(0, 7, size=(211, 1)).astype(float)
    else:
        raw = generator.random((211, family.width(9)))
    marks = generator.integers(0, 2, (211, 1))
    rows = np.concatenate([marks, family.admit(raw, 9)[0]], axis=1)
    state = chain.begin(rows)
    for item in generator.permutation(9).tolist():
        worths = chain.worths(rows, state)
        for other in range(9):
            assert np.array_equal(worths[:, other], chain.worth(rows, state, other))
        state = chain.take(rows, state, item)


@pytest.mark.parametrize("family", families(), ids=lambda family: type(family).__name__)
def test_scores_of_partitions_add_up_to_those_of_all_people(family: Any) -> None:
    generator = np.random.default_rng(3)
    width = family.width(9) + 1
    values: Any = generator.integers(0, 2**16, size=(2500, width)).astype(np.uint16)
    local = HeldRows((2500, width))
    all_held = local.empty()
    all_held.values[...] = values
    cuts = [0, 1, 700, 1024, 2500]
    parts = [HeldPart(values[first:last], first) for first, last in pairwise(cuts)]
    remote = HeldRows((2500, width), elsewhere=True)
    partitioned = remote.empty()
    remote.stay(partitioned, parts[::-1], lambda task, parts: [task(part) for part in parts])
    walks = [
        GainPath(people, PresentChain(family), np.linspace(0.2, 1, 9), 2**16)
        for people in (all_held, partitioned)
    ]
    for walk in walks:
        walk.begin(SecretCoins(bytes(32), 30_000))
    for item in (4, 0, 8):
        here, there = (walk.scores() for walk in walks)
        assert np.array_equal(here, there)
        assert here.any()
        for walk in walks:
            walk.take(item)


# --- one person does not change how other people are read -----------------------------------------


def test_one_text_in_a_column_of_pandas_drops_one_person_only() -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    lines = [",".join(NAMES), *(",".join(map(str, row)) for row in LIKES[:400].tolist())]
    lines[8] = "x," + lines[8].partition(",")[2]
    truths = [line.replace("1.0", "True").replace("0.0", "False") for line in lines]
    rows = LIKES[:400].copy()
    rows[7] = np.nan
    for text in (lines, truths):
        people = pandas.read_csv(StringIO("\n".join(text)))
        assert choice(people) == choice(rows)
        assert choice(people.to_numpy().tolist()) == choice(rows)
        assert choice(people.to_numpy().astype("U5")) == choice(rows)


def test_arrays_in_a_list_are_records() -> None:
    """One ragged row makes an array of objects one-dimensional."""
    regular = np.array(LIKES[:50].tolist(), dtype=object)
    ragged = np.array([*LIKES[:49].tolist(), [1.0]], dtype=object)
    assert (regular.ndim, ragged.ndim) == (2, 1)
    assert choice([regular, regular])["people"] == 2
    assert choice([regular, ragged])["people"] == 2
    two_regular = choice(Partitions.of([regular, regular]))
    one_ragged = choice(Partitions.of([regular, ragged]))
    assert two_regular["people"] == one_ragged["people"]
    rows = np.concatenate([LIKES[:50], LIKES[:49], np.full((1, 6), np.nan)])
    assert one_ragged == choice(rows)


def test_every_choice_has_a_different_key_of_the_checksum() -> None:
    """Without a key, a person could prepare rows with equal checksums: CRCs are linear."""
    parts = Partitions.of([LIKES])
    reader = RecordReader(ClickModel(), 6)
    first, second = (
        partitions.partitioned_people(
            parts, reader, in_place, is_local=True, has_cells=False
        ).parts[0]
        for _ in range(2)
    )
    assert len(first.key) == 16
    assert first.key != second.key
    assert first.check != second.check
    assert "key" not in repr(first)
    # Unchanged rows are accepted.
    assert sum(part.values[:, 0].sum() > 0 for part in first.held()) == 1
    changed = replace(first, source=Source(np.where(np.arange(3000)[:, None] == 1234, 1.0, LIKES)))
    with pytest.raises(ConfigError, match="it changed"):
        list(changed.held())


def test_people_without_a_callable_add_nothing() -> None:
    callables: list[Any] = [lambda chosen: 0.1 * len(chosen)] * 20
    without = choice([None, None, *callables], function=SetFunction)
    assert choice([object(), "0.777", *callables], function=SetFunction) == without


def test_texts_in_a_list_are_records_and_not_paths() -> None:
    """The text of a person must not be opened as a file, or be quoted in an error."""
    empty = choice([[0.0] * 6] * 3)
    assert choice(["0", "1", "x"]) == empty
    assert choice(["people-0.parquet", "people-1.csv", "x.csv"]) == empty


class Iterated:
    """An iterable that fails after the first person."""

    def __iter__(self) -> Any:
        yield lambda chosen: 0.0
        raise ValueError("0.777")


@pytest.mark.parametrize("function", [ClickModel, SetFunction])
@pytest.mark.parametrize("make", [Iterated, lambda: iter(Iterated())])
def test_the_error_of_an_iterator_is_not_quoted(function: Any, make: Callable[[], Any]) -> None:
    with pytest.raises(ConfigError, match="stopped \\(ValueError\\)") as refusal:
        choice(make(), function=function)
    assert "0.777" not in str(refusal.value)
    assert refusal.value.__cause__ is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_selector_is_refused() -> None:
    for selector in (
        SetSelector(UniformMatroid(6, 3), BOTH, function=ClickModel),
        SetSelector.from_settings(
            SetSelector(UniformMatroid(6, 3), BOTH, function=ClickModel).settings
        ),
    ):
        child = os.fork()
        if child == 0:
            refused = False
            with suppress(BaseException):
                try:
                    selector.fit(LIKES[:20])
                except StateError as error:
                    refused = "forked" in str(error)
            os._exit(0 if refused else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


class Panic(BaseException):
    """An error that is no `Exception`, as libraries in Rust raise."""


@pytest.mark.parametrize("error", [Panic, ValueError])
@pytest.mark.parametrize("count", [1, 3])
def test_the_error_of_a_partition_is_not_quoted_and_spends_nothing(
    error: type[BaseException], count: int
) -> None:
    def read(number: int) -> Any:
        raise error("0.777")

    selector = SetSelector(UniformMatroid(6, 3), BOTH, function=ClickModel)
    with pytest.raises(ConfigError) as refusal:
        selector.fit(Partitions(count, read))
    assert f"partition 0: it cannot be read ({error.__name__})" in str(refusal.value)
    assert "0.777" not in str(refusal.value)
    assert refusal.value.__cause__ is None
    assert selector.fit(LIKES[:100]).people == 100


@pytest.mark.parametrize("odd", [np.inf, -np.inf, np.nan, 1e308, -1e308])
@pytest.mark.filterwarnings("error")
def test_values_of_a_callable_are_clipped_without_a_warning(odd: float) -> None:
    callables: list[Any] = [lambda chosen: 0.1 * len(chosen)] * 20
    clipped = min(max(odd, 0.0), 1.0) if np.isfinite(odd) else 0.0
    chosen = choice([*callables, lambda chosen: odd], function=SetFunction)
    assert chosen == choice([*callables, lambda chosen: clipped], function=SetFunction)


def test_threads_do_not_change_the_filters_of_warnings() -> None:
    """The filters belong to the process: one thread would reset those of another."""

    def inside() -> bool:
        before = warnings.filters
        with reading():
            return warnings.filters is before

    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(inside).result()


def test_threads_that_read_people_show_no_warning() -> None:
    def loud(number: int) -> Any:
        warnings.warn("0.777", stacklevel=1)
        return np.log(LIKES[:10] - 0.5)

    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        choice(Partitions(3, loud))
        with ThreadPoolExecutor(1) as thread:
            thread.submit(choice, Partitions(3, lambda number: np.log(LIKES[:10] - 0.5))).result()
    assert not shown


def test_people_in_partitions_cannot_be_compared_by_an_audit() -> None:
    held = HeldRows((2, 3), elsewhere=True)
    people = held.empty()
    rows: Any = np.ones((2, 3), dtype=np.uint16)
    held.stay(people, [HeldPart(rows)], in_place)
    walk = GainPath(people, PresentChain(ClickModel()), np.ones(2), 2**16)
    for attempt in (walk.copied, lambda: walk.differs(walk)):
        with pytest.raises(ConfigError, match="stay in partitions"):
            attempt()
