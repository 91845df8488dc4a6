"""If these fail, two kinds of tables with the same rows teach different things, or refuse badly."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pandas
import polars
import pyarrow
import pytest

from discreet import Columns, ConfigError, HorizonReached, Privacy, StreamingLearner
from discreet.domains import LpBall
from discreet.losses import SquaredLoss
from discreet.records import sources
from discreet.records.files import open_table
from records.kinds_of_tables import KINDS

COLUMNS = Columns(
    features=("carat", "cut", "sold", "depth"),
    target="price",
    bounds={"carat": (0, 5), "price": (0, 1000), "depth": (40, 80), "sold": (0, 800)},
    categories={"cut": ("Fair", "Good", "Ideal")},
    dates={"sold": "days since 2020-01-01"},
    fill={"depth": 61.8},
    other={"cut": "Good"},
)
ROWS = 60


def frame() -> polars.DataFrame:
    """Return rows with empty cells, an unknown category and a column that is not read."""
    generator = np.random.default_rng(3)
    depth = generator.uniform(50, 70, ROWS).tolist()
    carat: list[float | None] = list(generator.uniform(0, 6, ROWS))
    cut: list[str | None] = list(generator.choice(["Fair", "Good", "Ideal", "Odd"], ROWS))
    carat[5] = cut[9] = depth[11] = depth[12] = None
    sold = [datetime(2020, 3, 1) + timedelta(days=int(n)) for n in range(ROWS)]
    return polars.DataFrame(
        {
            "beside": ["x"] * ROWS,
            "carat": carat,
            "cut": cut,
            "sold": sold,
            "depth": depth,
            "price": generator.uniform(0, 1000, ROWS),
        },
        schema_overrides={"depth": polars.Float64},
    )


def learner(horizon: int = ROWS) -> StreamingLearner:
    return StreamingLearner(
        LpBall, SquaredLoss, horizon, Privacy(5.0, 1e-6), columns=COLUMNS, seed=1
    )


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_table_gives_the_same_coefficients(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = learner()
    expected.observe_stream(frame())
    monkeypatch.setattr(sources, "ROWS", 8)
    found = learner()
    found.observe_stream(KINDS[kind](frame(), tmp_path))
    np.testing.assert_array_equal(found.coefficients, expected.coefficients)
    assert found.clock == ROWS


def test_rows_of_people_as_dictionaries_are_read_like_a_table() -> None:
    table = frame()
    expected = learner()
    expected.observe_stream(table)
    found = learner()
    found.replay(table.to_dicts())
    found.release_if_due()
    np.testing.assert_array_equal(found.coefficients, expected.coefficients)


ODD_CELLS = [
    "",
    "x",
    '"',
    "1e999",
    "1_000",
    "true",
    "\x1c",
    "2020-02-31",
    "[1]",
    "9" * 400,
    "Ideal",
]


@pytest.mark.parametrize("kind", ["CSV", "JSON lines", "pandas", "Polars", "iterator"])
@pytest.mark.parametrize("column", ["carat", "cut", "sold", "depth", "price"])
def test_one_persons_cells_leave_the_rows_of_others_bit_for_bit(
    kind: str, column: str, tmp_path: Path
) -> None:
    """Every cell is a text, and one row has another one: the rest must read the same."""
    texts = frame().with_columns(polars.all().cast(polars.String))
    names = COLUMNS.read

    def samples(table: polars.DataFrame) -> np.ndarray:
        rows = open_table(KINDS[kind](table, tmp_path)).whole(names)
        read = COLUMNS.samples(rows, shifts=True)
        return np.column_stack([read.features, read.targets])

    before = samples(texts)
    for cell in ODD_CELLS:
        row = polars.int_range(polars.len()) == 30
        changed = texts.with_columns(
            polars.when(row).then(polars.lit(cell)).otherwise(polars.col(column)).alias(column)
        )
        after = samples(changed)
        others = np.arange(ROWS) != 30
        np.testing.assert_array_equal(before[others], after[others])


def test_a_number_among_texts_of_json_lines_leaves_the_texts_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "table.jsonl"
    texts = ['{"a": "1_000"}', '{"a": "true"}', '{"a": "\\u001c"}', '{"a": "2.5"}']
    found = []
    for last in ('{"a": "3"}', '{"a": 3.0}', '{"a": [3]}', "no object", '{"a": 1e400}'):
        file.write_text("\n".join([*texts, last]))
        rows = open_table(file).whole(["a"])
        found.append((rows.numbers(["a"])[:4].tolist(), rows.is_missing("a")[:4].tolist()))
    assert all(repr(each) == repr(found[0]) for each in found)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "JSON lines"])
def test_a_table_without_the_named_columns_is_refused_by_their_names(
    kind: str, tmp_path: Path
) -> None:
    table = KINDS[kind](frame().drop("cut", "depth"), tmp_path)
    model = learner()
    with pytest.raises(ConfigError, match="lacks the columns cut, depth"):
        model.observe_stream(table)
    assert model.clock == 0
    assert model.releases == 0


def test_files_whose_typed_schemas_differ_are_refused_by_file_and_column(tmp_path: Path) -> None:
    frame().write_parquet(tmp_path / "a.parquet")
    frame().with_columns(polars.col("price").cast(polars.String)).write_parquet(
        tmp_path / "b.parquet"
    )
    with pytest.raises(ConfigError, match=r"b\.parquet has another type of column price than .*a"):
        learner().observe_stream(tmp_path)


def test_a_damaged_file_a_missing_one_and_an_empty_glob_are_one_line_each(tmp_path: Path) -> None:
    whole = tmp_path / "whole.parquet"
    frame().write_parquet(whole)
    (tmp_path / "cut.parquet").write_bytes(whole.read_bytes()[:-100])
    (tmp_path / "empty").mkdir()
    for path, message in (
        (tmp_path / "cut.parquet", r"cut\.parquet cannot be read .*make the file again"),
        (tmp_path / "none.parquet", r"none\.parquet does not exist"),
        (tmp_path / "day-*.parquet", r"day-\*\.parquet matches no file"),
        (tmp_path / "empty", "has no files that end in"),
        ("x" * 5000, "cannot be read: its name is not that of a file"),
    ):
        model = learner()
        with pytest.raises(ConfigError, match=message) as caught:
            model.observe_stream(path)
        assert "\n" not in str(caught.value)
        assert model.clock == 0


def test_what_is_no_table_is_refused_by_its_type() -> None:
    with pytest.raises(ConfigError, match=r"a table must be a frame .* got int"):
        open_table(5)
    with pytest.raises(ConfigError, match="got list"):
        open_table(iter([[1, 2], [3, 4]]))
    with pytest.raises(ConfigError, match="two columns of the same name"):
        open_table(pandas.DataFrame([[1, 2]], columns=["a", "a"])).batches(["a"]).__next__()
    doubled = pyarrow.table([pyarrow.array([1]), pyarrow.array([2])], names=["a", "a"])
    with pytest.raises(ConfigError, match="two columns of the same name"):
        open_table(doubled)


def test_a_table_longer_than_the_horizon_spends_nothing_if_its_length_is_known() -> None:
    known = learner(ROWS - 1)
    with pytest.raises(HorizonReached, match="60 rows, but 59 of the planned rounds are left"):
        known.observe_stream(frame())
    assert known.clock == 0
    unknown = learner(ROWS - 1)
    with pytest.raises(HorizonReached, match="more rows than the 59 that were left"):
        unknown.observe_stream(frame().to_arrow().to_reader())
    assert unknown.clock == ROWS - 1


def test_an_error_in_the_operators_query_does_not_quote_a_cell() -> None:
    lazy = frame().lazy().with_columns(polars.col("cut").cast(polars.Int64))
    with pytest.raises(ConfigError, match=r"the table cannot be read \(\w+\)") as caught:
        learner().observe_stream(lazy)
    assert "Ideal" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_wide_tables_are_read_fewer_rows_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "NUMBERS", 12)
    sizes = [len(rows) for rows in open_table(frame()).batches(["carat", "depth", "price"])]
    assert sizes == [4] * 15


def test_persons_are_a_column_of_the_table() -> None:
    table = frame().with_columns(polars.Series("who", [n // 2 for n in range(ROWS)]))

    def keyed() -> StreamingLearner:
        return StreamingLearner(
            LpBall,
            SquaredLoss,
            ROWS,
            Privacy(5.0, 1e-6, contributions=2, keyed=True),
            columns=COLUMNS,
            seed=1,
        )

    by_column = keyed()
    by_column.observe_stream(table, persons="who")
    batches: Iterator[object] = iter([table[:31], table[31:]])
    by_batches = keyed()
    by_batches.observe_stream(batches, persons="who")
    np.testing.assert_array_equal(by_column.coefficients, by_batches.coefficients)
    with pytest.raises(ConfigError, match="persons of a table must be a column"):
        keyed().observe_stream(table, persons=[1, 2])
