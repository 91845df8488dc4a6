"""`discreet run`: a learner over an event log, resumable after a kill.

The log is a CSV or Parquet file, one visitor a row, in order of time:

* SetMaximizer and SetMinimizer with `feedback = "full"`: one numeric column for each number of a row, named by its item, or in order;
* rewards, clicks and costs: columns `slate` (the shown items, separated by spaces) and `reward`, `click` (empty for none) or `cost`. A row
  counts if its slate is the one that was decided; otherwise it is a blank;
* StreamingLearner: columns named by `features` in the settings, and `target`.

Every release is committed to `state` before its decision is written to `decisions.jsonl`. After a kill, run
the same command again: the state says how many rows were counted for good, the log is read again from there,
and the newest decision is written if it was not. A log that has grown since the last run is read on from
where that one stopped.
"""

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars
from rich.console import Console
from rich.progress import Progress

from discreet.arrivals.losses import Samples
from discreet.errors import ConfigError, OutOfBounds
from discreet.learners.set_maximizer import SetMaximizer
from discreet.learners.set_minimizer import SetMinimizer
from discreet.learners.streaming_learner import StreamingLearner

__all__ = ["run_log"]

CHUNK = 20_000
LEARNERS = {"SetMaximizer": SetMaximizer, "SetMinimizer": SetMinimizer, "StreamingLearner": StreamingLearner}
NEEDED = {
    "SetMaximizer": ("epsilon", "delta", "horizon", "items", "slots"),
    "SetMinimizer": ("epsilon", "delta", "horizon", "items"),
    "StreamingLearner": (
        "epsilon",
        "delta",
        "horizon",
        "domain",
        "features",
        "target",
        "feature_bound",
        "target_bound",
    ),
}
Runner = SetMaximizer | SetMinimizer | StreamingLearner


def run_log(config: Path, data: Path, out: Path, console: Console) -> dict[str, Any]:
    """Feed the log from where the state left off; write decisions.jsonl and report.json."""
    learner, columns = _learner(config, out)
    log = _read(data)
    decisions = out / "decisions.jsonl"
    try:
        first = (
            learner._clock
        )  # as many rows as were counted for good; after a kill, those before the last release
        total = min(len(log), learner.config.horizon or len(log))
        _note(learner, columns, decisions)
        with Progress(console=console, transient=True) as progress:
            bar = progress.add_task("visitors", total=total, completed=first)
            while first < total:
                count = min(learner.rounds_until_release, CHUNK, total - first)
                rows = log[first : first + count]
                learner.observe_many(
                    _samples(rows, columns) if columns else _feedback(learner, rows, learner.preview(count))
                )
                first += count
                if learner.turn():
                    _note(learner, columns, decisions)
                progress.advance(bar, count)
        learner.save(out / "state")
        final = _decision(learner, columns)
    finally:
        learner.detach()
    report = {
        "visitors": first,
        "releases": learner.guarantee.releases,
        "epsilon": learner.guarantee.epsilon,
        "delta": learner.guarantee.delta,
        **final,
        "guarantee": str(learner.guarantee),
    }
    (out / "report.json").write_text(json.dumps(report, indent=2) + "\n")
    shown = "; ".join(f"{name}: {_plain(value)}" for name, value in final.items())
    console.print(f"{first:,} visitors, {report['releases']} releases; now {shown}", soft_wrap=True)
    console.print(report["guarantee"], soft_wrap=True)
    console.print(f"Wrote {decisions}, {out / 'report.json'} and {out / 'state'} (which is not private)")
    return report


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {number:.4g}" for name, number in value.items())
    return ", ".join(value)


def _learner(config: Path, out: Path) -> tuple[Runner, list[str]]:
    """The learner, and for StreamingLearner the log's columns: features, then target."""
    try:
        settings = tomllib.loads(config.read_text())
    except OSError as error:
        raise ConfigError(f"{config} cannot be read: {error.strerror}") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{config} is not TOML: {error}") from None
    kind = settings.pop("learner", "SetMaximizer")
    if kind not in LEARNERS:
        raise ConfigError(f"learner must be one of {', '.join(LEARNERS)}, got {kind!r}")
    missing = [name for name in NEEDED[kind] if name not in settings]
    if missing:
        raise ConfigError(f"{config} lacks {', '.join(missing)}")
    columns: list[str] = []
    if kind == "StreamingLearner":
        features = settings.pop("features")
        if not isinstance(features, list) or not all(isinstance(name, str) for name in features):
            raise ConfigError(f"features must be a list of columns, got {features!r}")
        columns = [*features, str(settings.pop("target"))]
        if len(set(columns)) != len(columns):
            raise ConfigError("features and target must be different columns")
        settings["dimension"] = len(features) + bool(settings.get("intercept", False))
    elif isinstance(settings.get("items"), list):
        settings |= {"labels": settings["items"], "items": len(settings["items"])}
    out.mkdir(parents=True, exist_ok=True)
    known = out / "columns.json"
    if columns and known.exists() and json.loads(known.read_text()) != columns:
        raise ConfigError(
            f"{known} says that this run reads the columns {', '.join(json.loads(known.read_text()))}: go on with those"
        )
    if columns:
        known.write_text(json.dumps(columns) + "\n")
    learner_type: Any = LEARNERS[kind]
    return learner_type.from_config(learner_type.configuration.from_plain(settings), out / "state"), columns


def _read(data: Path) -> polars.DataFrame:
    try:
        return (
            polars.read_parquet(data)
            if data.suffix == ".parquet"
            else polars.read_csv(data, infer_schema=False)
        )
    except FileNotFoundError:
        raise ConfigError(f"{data} does not exist") from None
    except (OSError, polars.exceptions.PolarsError) as error:
        raise ConfigError(
            f"{data} cannot be read as {data.suffix or 'CSV'} ({type(error).__name__})"
        ) from None


def _samples(rows: polars.DataFrame, columns: list[str]) -> Samples:
    """Features and targets; what is missing or no number counts as nothing."""
    numbers = _numbers(rows, columns)
    return Samples(numbers[:, :-1], numbers[:, -1])


def _numbers(rows: polars.DataFrame, columns: list[str]) -> Any:
    if not set(columns) <= set(rows.columns):
        raise ConfigError(f"the log lacks the columns {', '.join(sorted(set(columns) - set(rows.columns)))}")
    try:
        return rows.select(columns).cast(polars.Float64, strict=False).fill_null(float("nan")).to_numpy()
    except polars.exceptions.PolarsError:
        raise OutOfBounds("the log's columns must be numbers") from None


def _feedback(learner: Any, rows: polars.DataFrame, slates: Any) -> Any:
    config = learner.config
    if config.feedback == "full":
        if learner._setting.functions is None:
            raise ConfigError("a log holds numbers: set function to a family of discreet.arrivals")
        width = learner._setting.functions.width(config.items)
        names = config.labels if config.labels is not None and len(config.labels) == width else rows.columns
        if len(names) != width or not set(names) <= set(rows.columns):
            raise ConfigError(
                f"the log needs {width} columns, named like the items if those have names, and has {len(rows.columns)}"
            )
        return _numbers(rows, list(names))
    column = (
        "click" if config.feedback == "clicks" else "cost" if isinstance(learner, SetMinimizer) else "reward"
    )
    if not {"slate", column} <= set(rows.columns):
        raise ConfigError(f"the log needs the columns slate and {column}")
    names = [str(label) for label in learner.labels]
    shown = [" ".join(names[item] for item in slate if item >= 0) for slate in slates]
    try:
        logged = rows["slate"].cast(polars.String).fill_null("").to_list()
        rewards = (
            rows[column].cast(polars.Float64, strict=False).fill_null(0.0).to_numpy()
            if column != "click"
            else None
        )
    except polars.exceptions.PolarsError:
        raise OutOfBounds(f"the log's column slate must be text, and {column} numbers") from None
    matches = [one == two for one, two in zip(logged, shown, strict=True)]
    if rewards is not None:
        return np.where(matches, rewards, 0.0)
    values = rows[column].to_list()
    numbers = {name: number for number, name in enumerate(names)}
    return np.array(
        [numbers.get(str(value), -1) if match else -1 for match, value in zip(matches, values, strict=True)]
    )


def _decision(learner: Runner, columns: list[str]) -> dict[str, Any]:
    """What is decided now: a slate, each item's chance to be chosen, or coefficients."""
    if isinstance(learner, StreamingLearner):
        names = [*columns[:-1], *(["intercept"] if learner.config.intercept else [])]
        found = learner.coefficients
        if learner.config.intercept:
            found[-1] *= learner.config.feature_bound  # in the log's own units
        return {"coefficients": dict(zip(names, found.tolist(), strict=True))}
    labels = [str(label) for label in learner.labels]
    if isinstance(learner, SetMinimizer):
        return {"chances": dict(zip(labels, learner.point.tolist(), strict=True))}
    return {
        "slate": [labels[item] for item in learner._mode.decide(learner._turn.public, learner._clock, None)]
    }


def _note(learner: Runner, columns: list[str], path: Path) -> None:
    """Append the current decision, unless it is there already."""
    index = learner._turn.index
    if index in set(_noted(path)):
        return
    torn = path.exists() and not path.read_text().endswith(
        "\n"
    )  # half a line, from a process that was killed
    line = {"release": index, "from_visitor": learner._turn.rounds} | _decision(learner, columns)
    with path.open("a") as file:
        file.write("\n" * torn + json.dumps(line) + "\n")


def _noted(path: Path) -> Iterator[int]:
    if path.exists():
        for line in path.read_text().splitlines():
            try:
                yield int(json.loads(line)["release"])
            except ValueError:
                continue  # half a line: it was never shown whole
