"""`discreet run`: a learner over an event log, resumable after a kill.

The log has one visitor or sample per row, in order of time: a file (Parquet, Arrow, CSV, TSV, JSON
lines), a folder of such files, or a glob. It is read in batches. The columns that a learner needs
are in its `log_adapter.py`; `[rename]` in the settings gives columns of the log the names that the
learner knows; `[layout]` reads a log of slates that has one row per position or per event;
`person` names the column with the person of each row. The folder of a run has these files:

    state             the learner; not private
    columns.json      the columns that are read, written once, before the first row is read
    decisions.jsonl   one line per release
    report.json       the end of the last run; with `report`, the earned value per release
    earned.png        with `report`, a curve of the earned value

Every release is committed to `state` before its decision is written to `decisions.jsonl`, and that
line is on disk before the next release. After a kill or a power cut, run the same command again:
the state has the number of rows that were counted for good, the log is read again from there, and
the newest decision is written if it is missing. Rows since the last release or checkpoint (10
seconds) are read again; nothing else is lost. If the log has grown since the last run, reading goes
on where that run stopped.

The earned value is a mean over all rows of a block. Where the log has the decisions of another
policy, and the propensity is declared, the rows that agree with the learner's decisions stand for
all (`LogAdapter.estimated`): the value is an estimate of what those decisions would have earned,
with its error. A log of slates that another policy showed is read at once, by a warm start before
the first visitor; the run goes on with a log of its own decisions, or from Python. The settings say
which kind of log it is: the number of rows that agree with the decisions is people's data, so it is
not used.
"""

import json
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from rich.console import Console

from discreet.engine import logs
from discreet.engine.readings import Report
from discreet.errors import ConfigError
from discreet.learners.abilities import Publishes, WarmStarts
from discreet.learners.base import Learner
from discreet.learners.log_adapter import LogAdapter, OfAnotherPolicy
from discreet.learners.log_reader import LogReader
from discreet.learners.registry import learner_named
from discreet.pictures import require_matplotlib
from discreet.progress import bar, shown
from discreet.records.table import LogTable
from discreet.runs.columns import LAYOUT, WARM_START_LAYOUT, LogReading, store_reading
from discreet.runs.decisions import Decisions
from discreet.runs.earned import PICTURE, as_entries, write_picture
from discreet.runs.files import make_folder, write_whole
from discreet.runs.log_settings import LogSettings
from discreet.runs.settings import configured

CHECKPOINT = timedelta(seconds=10)
"""Time between two checkpoints of the open block."""


@dataclass(frozen=True)
class _Source(LogReader):
    """A log, and how its rows are read throughout a run."""

    settings: LogSettings = field(default_factory=LogSettings)

    @property
    def reading(self) -> LogReading:
        """The columns and settings that a later run must not change."""
        person = [] if self.person is None else [self.person]
        lasting = dict(self.adapter.lasting)
        if self.adapter.slots is not None:
            # A log of another policy is read once: the run's own log may have another layout.
            key = WARM_START_LAYOUT if self.adapter.warm_starts else LAYOUT
            lasting[key] = self.settings.described
        return LogReading(self.columns + person, lasting)


def run_log(config: Path, data: Path, out: Path, console: Console) -> dict[str, Any]:
    """Run a learner over a log, from where the state left off.

    Parameters
    ----------
    config
        A TOML file with the learner's settings; `learner` is its name.
    data
        The log: a file, a folder of files, or a glob.
    out
        The folder of the run.
    console
        Shows the progress and the result.

    Returns
    -------
    The content of report.json.

    Raises
    ------
    ConfigError
        If the settings or the names of columns are refused, or differ from those of the run.
    StateError
        If the files of the run are damaged, or in use.
    """
    with shown(console):
        return _run_log(config, data, out, console)


def _run_log(config: Path, data: Path, out: Path, console: Console) -> dict[str, Any]:
    name, source = prepared(config, data)
    if source.adapter.settings.report:
        require_matplotlib()  # before budget is spent on the curve
    make_folder(out)
    learner = learner_named(name).from_settings(source.adapter.settings, out / "state", CHECKPOINT)
    # Items may have changed since the settings were written.
    adapter = source.adapter.with_labels(learner.labels)
    source = replace(source, adapter=adapter)
    try:
        # From here on the state is locked: no other process writes to this folder.
        begun = learner.clock > 0 or learner.releases > 0
        word = "resumed" if begun else "started"
        logs.record(logs.INFO, "run in %s: %s, over %s", out, word, source.log.name)
        others = _others(source)  # refused before the way of reading is settled
        store_reading(out, source.reading, begun=begun)
        takes_delta = learner.guarantee.total.takes_delta
        notices = source.notices(learner.horizon, takes_delta=takes_delta)
        for notice in notices:  # before the first release, so that a mistake costs nothing
            console.print(f"Note: {notice}", soft_wrap=True)
        with Decisions(out / "decisions.jsonl", learner.releases) as decisions:
            if others is None:
                _feed(learner, source, decisions)
            else:
                _warm(learner, source, others, decisions)
        learner.save(out / "state")
        earned = adapter.estimated(learner.report()) if adapter.settings.report else None
        pictures = _pictures(earned, adapter, out)
    finally:
        learner.detach()
    notices += learner.notices.values()
    report = _report(learner, source, earned, notices)
    write_whole(out / "report.json", json.dumps(report, indent=2) + "\n")
    logs.record(logs.INFO, "run in %s: finished after %d rows", out, learner.clock)
    _show(learner, source, decisions, console)
    names = ", ".join(str(out / name) for name in ("decisions.jsonl", "report.json", *pictures))
    console.print(f"Wrote {names} and {out / 'state'} (which is not private)", soft_wrap=True)
    return report


def prepared(config: Path, data: Path) -> tuple[str, _Source]:
    """Return the learner's name, and the log with the way in which it is read."""
    name, adapter, person, settings = configured(config)
    propensity = next(iter(adapter.beside), None)
    log = settings.opened(data, slots=adapter.slots or 1, propensity=propensity)
    reader = _Source.opened(adapter, log, person, adapter.columns)
    return name, replace(reader, settings=settings)


def _others(source: _Source) -> OfAnotherPolicy | None:
    """Return the whole log if another policy decided it; None if it has the run's decisions."""
    if not source.adapter.warm_starts:
        return None
    others = source.adapter.of_another_policy(source.whole(), source.columns)
    if not others.rows:
        raise ConfigError(
            f"{source.log.name} has no rows: a warm start needs some; with a layout of events, "
            "see whether impression names their kind"
        )
    return others


def _pictures(earned: Report | None, adapter: LogAdapter, out: Path) -> list[str]:
    """Draw the earned value, if a report was released; return the names of the files."""
    if earned is None or not len(earned.rounds):
        return []
    write_picture(earned, adapter, out)
    return [PICTURE]


def _report(
    learner: Learner, source: _Source, earned: Report | None, notices: list[str]
) -> dict[str, object]:
    """Return the content of report.json."""
    adapter = source.adapter
    decision = adapter.named(learner.decision, source.columns)
    return {
        **_log_of(learner),
        f"{adapter.row}s": learner.clock,
        "releases": learner.releases,
        "epsilon": learner.guarantee.epsilon,
        "delta": learner.guarantee.delta,
        **decision,
        **_errors_of(learner, decision),
        **({} if earned is None else {"earned": {"means": adapter.meaning} | as_entries(earned)}),
        **({"notices": notices} if notices else {}),
        "guarantee": str(learner.guarantee),
    }


def _errors_of(learner: Learner, decision: dict[str, object]) -> dict[str, object]:
    """Return the standard errors of coefficients, by the names that the log uses."""
    names = decision.get("coefficients")
    if not isinstance(learner, Publishes) or not isinstance(names, dict):
        return {}
    errors = learner.published.errors()
    own = dict(zip(names, errors.values(), strict=False))
    has_intercept = "intercept" in decision
    return {"standard_errors": own | ({"intercept": errors["intercept"]} if has_intercept else {})}


def _show(learner: Learner, source: _Source, decisions: Decisions, console: Console) -> None:
    """Print the result of the run."""
    adapter = source.adapter
    final = adapter.named(learner.decision, source.columns)
    shown = "; ".join(f"{what}: {in_words(value)}" for what, value in final.items())
    for rows in _log_of(learner).values():
        console.print(
            f"Warm start from {rows:,} people who saw slates of another policy", soft_wrap=True
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


def _feed(learner: Learner, source: _Source, decisions: Decisions) -> None:
    """Read rows into the learner, from where it left off; write a line per release."""
    adapter = source.adapter
    first = learner.clock  # after a kill: the number of rows that were counted for good
    count = source.count
    if count is not None and count < first:
        raise ConfigError(
            f"the log has {count} rows, but {first} were read before: it must begin with those"
        )
    most = learner.horizon or count
    total = most if count is None or most is None else min(most, count)
    _note(learner, source, decisions)
    if learner.release_if_due():  # a run was killed before this release
        _note(learner, source, decisions)
    with bar(f"{adapter.row}s", total) as report:
        report(first)
        for rows in source.log.batches(source.names, first):
            read = 0
            while read < len(rows) and (total is None or first < total):
                left = len(rows) - read if total is None else min(len(rows) - read, total - first)
                size = min(learner.rounds_until_release, learner.most_at_once, left)
                _answer(learner, source, rows[read : read + size])
                first += size
                read += size
                report(size)
                if learner.release_if_due():
                    _note(learner, source, decisions)
            if total is not None and first >= total:
                break


def _answer(learner: Learner, source: _Source, rows: LogTable) -> None:
    """Open one round per row, and answer it with the row."""
    adapter = source.adapter
    contexts = adapter.contexts(rows, source.columns)
    what = len(rows) if contexts is None else contexts
    tickets = learner.open_many(what, persons=source.people(rows))
    learner.close_many(tickets, adapter.feedback(rows, source.columns, tickets))


def _warm(learner: Learner, source: _Source, others: OfAnotherPolicy, decisions: Decisions) -> None:
    """Warm-start the learner from the log of another policy, once; after a kill go on with it."""
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
            f"{len(others.rows)}: a run is warm-started once; "
            'go on with slates = "decided"'
        )
    _note(learner, source, decisions)


def _note(learner: Learner, source: _Source, decisions: Decisions) -> None:
    """Write the present decision as a line; the line after a warm start has its rows."""
    adapter = source.adapter
    about = {"release": learner.releases, f"from_{adapter.row}": learner.rounds_before_release}
    warm = _log_of(learner) if learner.releases == 1 else {}
    decisions.note(about | warm | adapter.named(learner.decision, source.columns))


def _log_of(learner: Learner) -> dict[str, int]:
    """Return the number of rows of a warm start, as an entry of reports; empty without one."""
    rows = learner.log_rows if isinstance(learner, WarmStarts) else 0
    return {"warm_start_rows": rows} if rows else {}


def in_words(value: object) -> str:
    """Return a decision as one line of text."""
    if isinstance(value, dict) and any(isinstance(inner, dict) for inner in value.values()):
        return _weights_in_words(value)
    if isinstance(value, dict):
        return ", ".join(f"{name} {number:.4g}" for name, number in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _weights_in_words(weights: dict[str, dict[str, float]]) -> str:
    """Return the numbers of arms and features that have weights; the weights are in the files."""
    features = set().union(*weights.values())
    return f"{len(weights)} arms, {len(features) or 'no'} features with weights"
