"""`discreet run`: a learner over an event log, resumable after a kill.

The log is a CSV or Parquet file, one visitor or sample per row, in order of time. Which columns it
needs is said by the file `adapter.py` of each learner; `person` in the settings names a column that
says whose each row is. In the folder of a run are

    state             the learner; not private
    columns.json      which columns it reads: written once, before anyone is read
    decisions.jsonl   one line per release
    report.json       how the last run ended, and with `report` what was earned, release by release
    earned.png        with `report`, the same as a curve

Every release is committed to `state` before its decision is written to `decisions.jsonl`, and that
line is on disk before the next release. After a kill or a power cut, run the same command again:
the state says how many rows were counted for good, the log is read again from there, and the newest
decision is written if it was not. Rows since the last release or checkpoint (10 seconds) are read
again, nothing else is lost. A log that has grown since the last run is read on from where that one
stopped.

What was earned is a mean over all rows of a block. Where the log has what others decided, and the
propensity is declared, the rows that agree with the learner's decisions stand for all
(`LogAdapter.estimated`): what is said is what those decisions would have earned, with the error of
that estimate. A log of slates that another policy showed is read at once, by a warm start before
the first visitor; the run goes on with a log of what it then decided, or from Python. Whether a log
is one or the other is said by the settings: how many rows agree with what was decided is people's
data, and nobody is told.
"""

import json
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

from discreet import require
from discreet.engine.readings import Report
from discreet.errors import ConfigError
from discreet.learners.abilities import WarmStarts
from discreet.learners.base import Learner
from discreet.learners.log_adapter import LogAdapter, OfAnotherPolicy, log_adapter_of, present
from discreet.learners.registry import learner_named
from discreet.pictures import require_matplotlib
from discreet.records.table import LogTable, read_log
from discreet.runs.columns import LogReading, keep_reading
from discreet.runs.decisions import Decisions
from discreet.runs.earned import PICTURE, as_entries, write_picture
from discreet.runs.files import make_folder, read_toml, write_whole

CHUNK = 20_000
"""How many rows are read at once, at most."""
CHECKPOINT = timedelta(seconds=10)
"""How often what came in since the last release is saved."""


@dataclass(frozen=True)
class _Source:
    """A log, and how its rows are read."""

    adapter: LogAdapter
    log: LogTable
    columns: list[str]
    """That the learner reads."""
    person: str | None
    """The column that says whose a row is."""

    @property
    def reading(self) -> LogReading:
        """What a later run must read alike."""
        whose = [] if self.person is None else [self.person]
        return LogReading(self.columns + whose, self.adapter.lasting)


def run_log(config: Path, data: Path, out: Path, console: Console) -> dict[str, Any]:
    """Feed the log from where the state left off; write decisions.jsonl and report.json."""
    name, source = _prepared(config, data)
    make_folder(out)
    learner = learner_named(name).from_settings(source.adapter.settings, out / "state", CHECKPOINT)
    # Items may have changed since the settings were written.
    adapter = source.adapter.with_labels(learner.labels)
    source = replace(source, adapter=adapter)
    try:
        # From here on the state is locked: nobody else writes to this folder.
        begun = learner.clock > 0 or learner.releases > 0
        keep_reading(out, source.reading, begun=begun)
        with Decisions(out / "decisions.jsonl", learner.releases) as decisions:
            _read(learner, source, decisions, console)
        learner.save(out / "state")
        earned = adapter.estimated(learner.report()) if adapter.settings.report else None
        pictures = _pictures(earned, adapter, out)
    finally:
        learner.detach()
    report = _report(learner, source, earned)
    write_whole(out / "report.json", json.dumps(report, indent=2) + "\n")
    _tell(learner, source, decisions, console)
    names = ", ".join(str(out / name) for name in ("decisions.jsonl", "report.json", *pictures))
    console.print(f"Wrote {names} and {out / 'state'} (which is not private)", soft_wrap=True)
    return report


def _prepared(config: Path, data: Path) -> tuple[str, _Source]:
    """Return the learner's name, and the log as its settings say that it is read."""
    name, adapter, person = _configured(config)
    if adapter.settings.report:
        require_matplotlib()  # before anything is spent on the curve
    log = read_log(data)
    if person is not None:
        present(log.columns, [person])
    columns = adapter.columns([column for column in log.columns if column != person])
    return name, _Source(adapter, log, columns, person)


def _read(learner: Learner, source: _Source, decisions: Decisions, console: Console) -> None:
    """Feed the learner the log: of its own decisions, or of another policy."""
    others = source.adapter.of_another_policy(source.log, source.columns)
    if others is None:
        _feed(learner, source, decisions, console)
    else:
        _warm(learner, source, others, decisions)


def _pictures(earned: Report | None, adapter: LogAdapter, out: Path) -> list[str]:
    """Draw what was earned, if a report was released; give the names of the files."""
    if earned is None or not len(earned.rounds):
        return []
    write_picture(earned, adapter, out)
    return [PICTURE]


def _report(learner: Learner, source: _Source, earned: Report | None) -> dict[str, Any]:
    """What the run has led to, as plain data."""
    adapter = source.adapter
    notices = list(learner.notices.values())
    return {
        **_log_of(learner),
        f"{adapter.row}s": learner.clock,
        "releases": learner.releases,
        "epsilon": learner.guarantee.epsilon,
        "delta": learner.guarantee.delta,
        **adapter.named(learner.decision, source.columns),
        **({} if earned is None else {"earned": {"means": adapter.meaning} | as_entries(earned)}),
        **({"notices": notices} if notices else {}),
        "guarantee": str(learner.guarantee),
    }


def _tell(learner: Learner, source: _Source, decisions: Decisions, console: Console) -> None:
    """Print what the run has led to."""
    adapter = source.adapter
    final = adapter.named(learner.decision, source.columns)
    shown = "; ".join(f"{what}: {in_words(value)}" for what, value in final.items())
    for rows in _log_of(learner).values():
        console.print(
            f"Warm start from {rows:,} people whom another policy showed slates", soft_wrap=True
        )
    for begin, end in decisions.missing:
        console.print(f"decisions.jsonl has no lines of releases {begin} to {end}: no run saw them")
    console.print(
        f"{learner.clock:,} {adapter.row}s, {learner.releases} releases; now {shown}",
        soft_wrap=True,
    )
    for notice in learner.notices.values():
        console.print(f"Note: {notice}", soft_wrap=True)
    console.print(str(learner.guarantee), soft_wrap=True)


def _configured(config: Path) -> tuple[str, LogAdapter, str | None]:
    """The learner's name, its wire with the settings, and the column that says whose a row is."""
    plain = read_toml(config)
    name, person = plain.pop("learner", "SetMaximizer"), plain.pop("person", None)
    try:
        adapter = log_adapter_of(name).from_plain(plain)
        if not (person is None or isinstance(person, str)) or (
            adapter.settings.keyed and person is None
        ):
            raise ConfigError(
                f"person must be the column that says whose a row is, got {require.shown(person)}"
            )
        return name, adapter, person
    except ConfigError as error:
        raise ConfigError(f"{config}: {error}") from None


def _feed(learner: Learner, source: _Source, decisions: Decisions, console: Console) -> None:
    """Rows into the learner, block after block, from where it left off; every release is noted."""
    adapter, log, columns, person = source.adapter, source.log, source.columns, source.person

    def note() -> None:
        _note(learner, source, decisions)

    first = learner.clock  # after a kill: those who were counted for good
    if len(log) < first:
        raise ConfigError(
            f"the log has {len(log)} rows, but {first} were read before: it must begin with those"
        )
    total = min(len(log), learner.horizon or len(log))
    note()
    if learner.release_if_due():  # due since a run that was killed before it
        note()
    with Progress(console=console, transient=True) as progress:
        bar = progress.add_task(f"{adapter.row}s", total=total, completed=first)
        while first < total:
            count = min(learner.rounds_until_release, CHUNK, learner.most_at_once, total - first)
            rows = log[first : first + count]
            contexts = adapter.contexts(rows, columns)
            whose = None if person is None else rows.people(person)
            tickets = learner.open_many(count if contexts is None else contexts, persons=whose)
            learner.close_many(tickets, adapter.feedback(rows, columns, tickets))
            first += count
            if learner.release_if_due():
                note()
            progress.advance(bar, count)


def _warm(learner: Learner, source: _Source, others: OfAnotherPolicy, decisions: Decisions) -> None:
    """A log of another policy into the learner, once: by the same command after a kill, or never
    again.
    """
    if not isinstance(learner, WarmStarts):
        raise ConfigError(
            f"a {type(learner).__name__} has no warm start: leave the log of another policy out"
        )
    _note(learner, source, decisions)
    if not learner.log_rows:
        learner.warm_start(others.rows, others.propensity, least_propensity=others.least_propensity)
    elif learner.log_rows != len(others.rows):
        raise ConfigError(
            f"a log of {learner.log_rows} rows was read before, and this one has "
            f"{len(others.rows)}: "
            'a run is warm-started once; go on with slates = "decided"'
        )
    _note(learner, source, decisions)


def _note(learner: Learner, source: _Source, decisions: Decisions) -> None:
    """What is decided now, in a line; the one after a warm start says so."""
    adapter = source.adapter
    about = {"release": learner.releases, f"from_{adapter.row}": learner.rounds_before_release}
    warm = _log_of(learner) if learner.releases == 1 else {}
    decisions.note(about | warm | adapter.named(learner.decision, source.columns))


def _log_of(learner: Learner) -> dict[str, int]:
    """How many rows of another policy's log the learner was warm-started with, if it was."""
    rows = learner.log_rows if isinstance(learner, WarmStarts) else 0
    return {"warm_start_rows": rows} if rows else {}


def in_words(value: Any) -> str:
    """A decision in a line."""
    if isinstance(value, dict) and any(isinstance(inner, dict) for inner in value.values()):
        return _weights_in_words(value)
    if isinstance(value, dict):
        return ", ".join(f"{name} {number:.4g}" for name, number in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _weights_in_words(weights: dict[str, dict[str, float]]) -> str:
    """Of how many arms and features there are weights; the numbers themselves are in the files."""
    features = set().union(*weights.values())
    return f"{len(weights)} arms, {len(features) or 'no'} features with weights"
