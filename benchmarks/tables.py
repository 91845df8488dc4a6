"""How tables of any kind are read: alike, fast, in bounded memory; and what a table teaches.

    python benchmarks/tables.py            all figures, about 10 minutes
    python benchmarks/tables.py --quick    a tenth of the rows, and fewer seeds

    equal                   whether every kind of table gives the same coefficients, bit for bit
    arrow_over_numpy        rows per second of an Arrow stream over those of the same array
    csv_over_polars         rows per second of a CSV file over those of polars.read_csv
    megabytes_1e7_rows      peak memory of reading 10⁷ rows of 20 numbers, above that of the imports
    megabytes_1e7_over_1e6  the same over that of 10⁶ rows
    diamonds_r2_fit         share of the R² of least squares that `fit` keeps, on a held-out fifth
    diamonds_r2_run         the same for the coefficients that `discreet run` publishes
    diamonds_r2_run_passes  the same with method = "passes": one release at the end

Diamonds come with plotnine (`pip install --group peers`).
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import numpy as np
import polars
from rich.console import Console

from discreet import Columns, Privacy, StreamingLearner
from discreet.domains import LpBall
from discreet.losses import SquaredLoss
from discreet.records.files import open_table
from report import write

FEATURES = 20
ROWS = 1_000_000
SEED = 7
REPEATS = 5
NAMES = [f"x{number}" for number in range(FEATURES)]
KEPT = 5
"""One row of this many is held out."""

BOUNDS = {
    "carat": (0.0, 5.1),
    "depth": (43.0, 80.0),
    "table": (43.0, 95.0),
    "x": (0.0, 11.0),
    "y": (0.0, 11.0),
    "z": (0.0, 7.0),
    "price": (0.0, 20_000.0),
}
"""Public bounds of the columns of diamonds: rounded, and not read from the data."""
CATEGORIES = {
    "cut": ("Fair", "Good", "Very Good", "Premium", "Ideal"),
    "color": ("D", "E", "F", "G", "H", "I", "J"),
    "clarity": ("I1", "SI2", "SI1", "VS2", "VS1", "VVS2", "VVS1", "IF"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument("--seeds", type=int, default=10, help="seeds for the diamonds")
    options = parser.parse_args()
    rows = ROWS // 10 if options.quick else ROWS
    seeds = 2 if options.quick else options.seeds
    with TemporaryDirectory() as folder:
        figures = {
            "settings": {"rows": rows, "features": FEATURES, "seed": SEED, "splits": seeds},
            **equality(Path(folder)),
            "arrow_over_numpy": arrow_over_numpy(rows),
            "csv_over_polars": csv_over_polars(rows, Path(folder)),
            **memory(rows, Path(folder)),
            **diamonds(seeds, Path(folder)),
        }
    write(figures)


# --- alike ----------------------------------------------------------------------------------------


def frame_of(rows: int, seed: int = SEED) -> polars.DataFrame:
    """Return rows of features in [−1, 1], and a target that depends on them."""
    generator = np.random.default_rng(seed)
    features = generator.uniform(-1, 1, size=(rows, FEATURES))
    targets = features @ generator.normal(size=FEATURES) / FEATURES
    columns = dict(zip(NAMES, features.T, strict=True)) | {"target": targets}
    return polars.DataFrame(columns)


def columns_of(*, bounds: bool) -> Columns:
    """Return the columns, with bounds or as they are."""
    limits = dict.fromkeys([*NAMES, "target"], (-1.0, 1.0)) if bounds else {}
    return Columns(features=NAMES, target="target", bounds=limits)


def learner_of(rows: int, columns: Columns) -> StreamingLearner:
    """Return a learner of columns with bounds, from which its other settings follow."""
    return StreamingLearner(
        LpBall, SquaredLoss, rows, Privacy(1.0, 1e-6), columns=columns, seed=SEED
    )


def unscaled_learner(rows: int, columns: Columns | None) -> StreamingLearner:
    """Return a learner of features as they are."""
    return StreamingLearner(
        LpBall(FEATURES, 2.0, 3.0),
        SquaredLoss,
        rows,
        Privacy(1.0, 1e-6),
        columns=columns,
        feature_bound=5.0,
        target_bound=1.0,
        seed=SEED,
    )


def equality(folder: Path) -> dict[str, Any]:
    """Return whether all kinds of tables give the coefficients of the arrays."""
    rows = 50_000
    frame = frame_of(rows)
    frame.write_csv(folder / "equal.csv")
    frame.write_ndjson(folder / "equal.jsonl")
    frame.write_ipc(folder / "equal.arrow")
    (folder / "parts").mkdir()
    for part in range(4):
        quarter = rows // 4
        frame[part * quarter : (part + 1) * quarter].write_parquet(
            folder / "parts" / f"{part}.parquet"
        )
    kinds: dict[str, object] = {
        "pandas": frame.to_pandas(),
        "Polars": frame,
        "lazy Polars": frame.lazy(),
        "DuckDB": duckdb.sql("select * from frame"),
        "pyarrow reader": frame.to_arrow().to_reader(max_chunksize=7_777),
        "Parquet folder": folder / "parts",
        "Arrow file": folder / "equal.arrow",
        "CSV": folder / "equal.csv",
        "JSON lines": folder / "equal.jsonl",
    }
    columns = columns_of(bounds=True)
    arrays = learner_of(rows, columns)
    arrays.observe_stream(frame.select(NAMES).to_numpy(), frame["target"].to_numpy())
    differing = []
    for kind, table in kinds.items():
        learner = learner_of(rows, columns)
        learner.observe_stream(table)
        if learner.coefficients.tobytes() != arrays.coefficients.tobytes():
            differing.append(kind)
    return {"equal": not differing, "kinds": ["NumPy", *kinds], "differing": differing}


# --- fast -----------------------------------------------------------------------------------------


def best_seconds(run: Callable[[], object], repeats: int = REPEATS) -> float:
    """Return the shortest time of several runs."""
    return min(_seconds(run) for _ in range(repeats))


def _seconds(run: Callable[[], object]) -> float:
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def arrow_over_numpy(rows: int) -> dict[str, float]:
    """Return rows per second of an Arrow stream over those of the array: as they are, and scaled.

    The array is read without `columns`; with bounds, the stream is scaled to the unit box as well.
    """
    frame = frame_of(rows)
    features = frame.select(NAMES).to_numpy(order="c")
    targets = frame["target"].to_numpy()
    table = frame.to_arrow()

    def of_array() -> None:
        unscaled_learner(rows, None).observe_stream(features, targets)

    def of_stream(*, bounds: bool) -> None:
        make = learner_of if bounds else unscaled_learner
        make(rows, columns_of(bounds=bounds)).observe_stream(table.to_reader())

    array = best_seconds(of_array)
    return {
        "as_it_is": array / best_seconds(lambda: of_stream(bounds=False)),
        "scaled": array / best_seconds(lambda: of_stream(bounds=True)),
        "array_rows_per_second": rows / array,
    }


def csv_over_polars(rows: int, folder: Path) -> float:
    """Return rows per second of our reader over those of Polars, both into an array."""
    path = folder / "speed.csv"
    frame_of(rows).select(NAMES).write_csv(path)

    def ours() -> None:
        for batch in open_table(path).batches(NAMES):
            batch.numbers(NAMES)

    polars_alone = best_seconds(lambda: polars.read_csv(path).to_numpy(order="c"))
    return polars_alone / best_seconds(ours)


# --- memory ---------------------------------------------------------------------------------------


def memory(rows: int, folder: Path) -> dict[str, Any]:
    """Return the peak memory of reading `rows` and ten times as many, per kind of file."""
    few: dict[str, float] = {}
    many: dict[str, float] = {}
    for found, count in ((few, rows), (many, 10 * rows)):
        path = folder / "memory.parquet"
        _write_parquet(path, count)
        found["Parquet"] = _megabytes(path, count)
        csv = folder / "memory.csv"
        polars.scan_parquet(path).sink_csv(csv)
        path.unlink()
        found["CSV"] = _megabytes(csv, count)
        csv.unlink()
    return {
        "megabytes_1e6_rows": few,
        "megabytes_1e7_rows": many,
        "megabytes_1e7_over_1e6": {kind: many[kind] / few[kind] for kind in many},
    }


def _write_parquet(path: Path, rows: int) -> None:
    """Write a Parquet file with row groups of 2²⁰ rows, the largest that writers make unasked."""
    import pyarrow.parquet

    piece = 2**20
    schema = frame_of(1).to_arrow().schema
    with pyarrow.parquet.ParquetWriter(path, schema) as writer:
        for first in range(0, rows, piece):
            part = frame_of(min(piece, rows - first), SEED + first)
            writer.write_table(part.to_arrow().cast(schema))


def _megabytes(path: Path, rows: int) -> float:
    """Return the median peak memory of processes that learn from the file, above their imports."""
    return float(np.median([_megabytes_once(path, rows) for _ in range(REPEATS)]))


def _megabytes_once(path: Path, rows: int) -> float:
    done = subprocess.run(
        [sys.executable, "-m", "measures.table_memory", path, str(rows)],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout)


# --- diamonds -------------------------------------------------------------------------------------


def diamonds(seeds: int, folder: Path) -> dict[str, Any]:
    """Return the share of the R² of least squares that `fit` and `discreet run` keep."""
    table = _diamonds()
    features = [name for name in BOUNDS if name != "price"]
    columns = Columns(
        features=(*features, *CATEGORIES), target="price", bounds=BOUNDS, categories=CATEGORIES
    )
    fits: list[float] = []
    runs: list[float] = []
    late: list[float] = []
    for seed in range(seeds):
        order = np.random.default_rng(seed).permutation(table.height)
        held_out = table[order[: table.height // KEPT]]
        kept = table[order[table.height // KEPT :]]
        least_squares = _r2(_least_squares(kept, held_out, columns), held_out)
        fits.append(_r2(_fitted(kept, held_out, columns, seed), held_out) / least_squares)
        for found, method in ((runs, "auto"), (late, "passes")):
            published = _run(kept, held_out, columns, seed, folder, method)
            found.append(_r2(published, held_out) / least_squares)
    return {
        "diamonds_rows": table.height,
        "diamonds_r2_fit": _summary(fits),
        "diamonds_r2_run": _summary(runs),
        "diamonds_r2_run_passes": _summary(late),
    }


def _diamonds() -> polars.DataFrame:
    from plotnine.data import diamonds as data

    return polars.DataFrame(
        {
            name: data[name].astype(str).tolist() if name in CATEGORIES else data[name].to_numpy()
            for name in (*BOUNDS, *CATEGORIES)
        }
    )


def _summary(shares: list[float]) -> dict[str, float]:
    spread = float(np.std(shares, ddof=1))
    return {"mean": float(np.mean(shares)), "sd": spread, "least": min(shares)}


def _r2(predictions: np.ndarray, held_out: polars.DataFrame) -> float:
    """Return R² of predictions that are clipped to the range of prices."""
    prices = held_out["price"].to_numpy().astype(float)
    errors = prices - np.clip(predictions, *BOUNDS["price"])
    return float(1 - np.square(errors).sum() / np.square(prices - prices.mean()).sum())


def _encoded(table: polars.DataFrame, columns: Columns) -> np.ndarray:
    """Return the features in their own units, one column per coefficient."""
    parts = []
    for name in columns.features:
        cells = table[name]
        if name in CATEGORIES:
            parts += [(cells == category).to_numpy() for category in CATEGORIES[name]]
        else:
            parts.append(cells.to_numpy())
    return np.column_stack([part.astype(float) for part in parts])


def _least_squares(
    kept: polars.DataFrame, held_out: polars.DataFrame, columns: Columns
) -> np.ndarray:
    design = np.column_stack([_encoded(kept, columns), np.ones(kept.height)])
    weights = np.linalg.lstsq(design, kept["price"].to_numpy().astype(float), rcond=None)[0]
    return np.asarray(_encoded(held_out, columns) @ weights[:-1] + weights[-1])


def _fitted(
    kept: polars.DataFrame, held_out: polars.DataFrame, columns: Columns, seed: int
) -> np.ndarray:
    from discreet.estimators import PrivateStreamingRegressor

    model = PrivateStreamingRegressor(1.0, 1e-6, columns=columns, seed=seed).fit(kept)
    return np.asarray(_encoded(held_out, columns) @ model.coef_ + model.intercept_)


def _run(
    kept: polars.DataFrame,
    held_out: polars.DataFrame,
    columns: Columns,
    seed: int,
    folder: Path,
    method: str,
) -> np.ndarray:
    """Return predictions by the report of `discreet run` over a CSV file."""
    from discreet.runs.run import run_log

    kept.write_csv(folder / "diamonds.csv")
    lists = {name: list(bounds) for name, bounds in BOUNDS.items()}
    config = folder / "diamonds.toml"
    config.write_text(
        f'learner = "StreamingLearner"\ndomain = "LpBall"\nhorizon = {kept.height}\n'
        f'epsilon = 1.0\ndelta = 1e-6\nseed = {seed}\nmethod = "{method}"\n'
        f'features = {json.dumps(columns.features)}\ntarget = "price"\n'
        + "[bounds]\n"
        + "\n".join(f"{name} = {limits}" for name, limits in lists.items())
        + "\n[categories]\n"
        + "\n".join(f"{name} = {json.dumps(listed)}" for name, listed in CATEGORIES.items())
        + "\n"
    )
    out = folder / f"run-{method}-{seed}"
    published = run_log(config, folder / "diamonds.csv", out, Console(quiet=True))
    weights = np.array([published["coefficients"][name] for name in columns.names])
    return np.asarray(_encoded(held_out, columns) @ weights + published["intercept"])


if __name__ == "__main__":
    main()
