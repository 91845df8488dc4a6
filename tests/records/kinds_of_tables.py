"""The same rows in every kind of table that `open_table` reads."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import polars
import pyarrow
import pyarrow.parquet

TableMaker = Callable[[polars.DataFrame, Path], object]


def parquet_folder(frame: polars.DataFrame, folder: Path) -> object:
    """Return a folder with the rows in three files."""
    third = -(-frame.height // 3)
    for part in range(3):
        frame[part * third : (part + 1) * third].write_parquet(folder / f"part-{part}.parquet")
    return folder


def text_file(frame: polars.DataFrame, folder: Path) -> object:
    """Return the path of a CSV file."""
    frame.write_csv(folder / "table.csv")
    return folder / "table.csv"


def json_lines(frame: polars.DataFrame, folder: Path) -> object:
    """Return the path of a file with one JSON object per line."""
    lines = [json.dumps(row, default=str) for row in frame.to_dicts()]
    (folder / "table.jsonl").write_text("\n".join(lines) + "\n")
    return folder / "table.jsonl"


def arrow_file(frame: polars.DataFrame, folder: Path) -> object:
    """Return the path of an Arrow file."""
    frame.write_ipc(folder / "table.arrow")
    return folder / "table.arrow"


def large_groups(frame: polars.DataFrame, folder: Path) -> object:
    """Return a Parquet file that pyarrow wrote."""
    pyarrow.parquet.write_table(frame.to_arrow(), folder / "table.parquet")
    return str(folder / "*.parquet")


def batches(frame: polars.DataFrame, folder: Path) -> Iterator[object]:
    """Yield batches of several kinds."""
    yield frame[:7]
    yield frame[7:20].to_pandas()
    yield frame[20:].to_arrow()


KINDS: dict[str, TableMaker] = {
    "Polars": lambda frame, folder: frame,
    "lazy Polars": lambda frame, folder: frame.lazy(),
    "pandas": lambda frame, folder: frame.to_pandas(),
    "pyarrow": lambda frame, folder: frame.to_arrow(),
    "pyarrow reader": lambda frame, folder: frame.to_arrow().to_reader(max_chunksize=11),
    "DuckDB": lambda frame, folder: duckdb.sql("select * from frame"),
    "Parquet folder": parquet_folder,
    "Parquet glob": large_groups,
    "Arrow file": arrow_file,
    "CSV": text_file,
    "JSON lines": json_lines,
    "iterator": batches,
}
