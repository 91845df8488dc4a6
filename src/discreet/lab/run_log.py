"""`discreet run`: a learner over an event log, resumable after a kill.

The log is a CSV or Parquet file, one visitor a row, in order of time:

* whole preferences (`feedback = "full"`): one numeric column for each item, named by its label, or in the order of items;
* rewards and clicks: columns `slate` (the shown items, separated by spaces) and `reward` or `click` (empty for none). A row counts if
  its slate is the one that was decided; otherwise it is a blank.

Every release is committed to `state` before its slate is written to `decisions.jsonl`. After a kill, run the same command again: the
state says how many rows were counted for good, the log is read again from there, and the newest slate is written if it was not. A log
that has grown since the last run is read on from where that one stopped.
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

from discreet.errors import ConfigError, OutOfBounds
from discreet.learners.set_maximizer import SetMaximizer, SetMaximizerConfig

__all__ = ["run_log"]

CHUNK = 20_000


def run_log(config: Path, data: Path, out: Path, console: Console) -> dict[str, Any]:
    """Feed the log from where the state left off; write decisions.jsonl and report.json."""
    learner = _learner(config, out)
    log = _read(data)
    decisions = out / "decisions.jsonl"
    try:
        first = learner._clock  # as many rows as were counted for good; after a kill, those before the last release
        total = min(len(log), learner.config.horizon or len(log))
        _note(learner, decisions)
        with Progress(console=console, transient=True) as progress:
            bar = progress.add_task("visitors", total=total, completed=first)
            while first < total:
                count = min(learner.rounds_until_release, CHUNK, total - first)
                slates = learner.preview(count)
                learner.observe_many(_feedback(learner, log[first : first + count], slates))
                first += count
                if learner.turn():
                    _note(learner, decisions)
                progress.advance(bar, count)
        learner.save(out / "state")
        final = [str(learner.labels[item]) for item in learner.act()]
    finally:
        learner.detach()
    report = {
        "visitors": first,
        "releases": learner.guarantee.releases,
        "epsilon": learner.guarantee.epsilon,
        "delta": learner.guarantee.delta,
        "epsilon_spent": learner.guarantee.epsilon_spent,
        "slate": final,
        "guarantee": str(learner.guarantee),
    }
    (out / "report.json").write_text(json.dumps(report, indent=2) + "\n")
    console.print(f"{first:,} visitors, {report['releases']} releases; shown now: {', '.join(final)}")
    console.print(report["guarantee"], soft_wrap=True)
    console.print(f"Wrote {decisions}, {out / 'report.json'} and {out / 'state'} (which is not private)")
    return report


def _learner(config: Path, out: Path) -> SetMaximizer:
    try:
        settings = tomllib.loads(config.read_text())
    except OSError as error:
        raise ConfigError(f"{config} cannot be read: {error.strerror}") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{config} is not TOML: {error}") from None
    if (kind := settings.pop("learner", "SetMaximizer")) != "SetMaximizer":
        raise ConfigError(f"learner must be 'SetMaximizer', got {kind!r}")
    if isinstance(settings.get("items"), list):
        settings |= {"labels": settings["items"], "items": len(settings["items"])}
    missing = [name for name in ("epsilon", "delta", "horizon", "items", "slots") if name not in settings]
    if missing:
        raise ConfigError(f"{config} lacks {', '.join(missing)}")
    out.mkdir(parents=True, exist_ok=True)
    learner = SetMaximizer.from_config(SetMaximizerConfig.from_plain(settings), out / "state")
    assert isinstance(learner, SetMaximizer)
    return learner


def _read(data: Path) -> polars.DataFrame:
    try:
        return polars.read_parquet(data) if data.suffix == ".parquet" else polars.read_csv(data, infer_schema=False)
    except FileNotFoundError:
        raise ConfigError(f"{data} does not exist") from None
    except (OSError, polars.exceptions.PolarsError) as error:
        raise ConfigError(f"{data} cannot be read as {data.suffix or 'CSV'} ({type(error).__name__})") from None


def _feedback(learner: SetMaximizer, rows: polars.DataFrame, slates: Any) -> Any:
    config = learner.config
    if config.feedback == "full":
        width = learner._setting.width
        names = config.labels if config.labels is not None and len(config.labels) == width else rows.columns
        if len(names) != width or not set(names) <= set(rows.columns):
            raise ConfigError(f"the log needs {width} columns, named like the items if those have names, and has {len(rows.columns)}")
        try:
            return rows.select(names).cast(polars.Float64, strict=False).fill_null(float("nan")).to_numpy()
        except polars.exceptions.PolarsError:
            raise OutOfBounds("the log's columns must be numbers") from None
    column = "reward" if config.feedback == "bandit" else "click"
    if not {"slate", column} <= set(rows.columns):
        raise ConfigError(f"the log needs the columns slate and {column}")
    names = [str(label) for label in learner.labels]
    shown = [" ".join(names[item] for item in slate if item >= 0) for slate in slates]
    matches = [one == two for one, two in zip(rows["slate"].cast(polars.String).to_list(), shown, strict=True)]
    if config.feedback == "bandit":
        rewards = rows[column].cast(polars.Float64, strict=False).fill_null(0.0).to_numpy()
        return np.where(matches, rewards, 0.0)
    values = rows[column].to_list()
    numbers = {name: number for number, name in enumerate(names)}
    return np.array([numbers.get(str(value), -1) if match else -1 for match, value in zip(matches, values, strict=True)])


def _note(learner: SetMaximizer, path: Path) -> None:
    """Append the current slate, unless it is there already."""
    index = learner._turn.index
    if index in set(_noted(path)):
        return
    slate = [str(learner.labels[item]) for item in learner._mode.decide(learner._turn.public, learner._clock, None)]
    torn = path.exists() and not path.read_text().endswith("\n")  # half a line, from a process that was killed
    with path.open("a") as file:
        file.write("\n" * torn + json.dumps({"release": index, "from_visitor": learner._turn.rounds, "slate": slate}) + "\n")


def _noted(path: Path) -> Iterator[int]:
    if path.exists():
        for line in path.read_text().splitlines():
            try:
                yield int(json.loads(line)["release"])
            except ValueError:
                continue  # half a line: it was never shown whole
