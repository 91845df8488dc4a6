"""`discreet status`: how far a run is, what it has spent, and what it decides now.

It reads the newest turn that was committed to the folder's state, as one snapshot: the file is
replaced as a whole, so nothing is locked and a run that is going on does not notice. Of that turn
only what is public is looked at: the settings, the clock, the ledger, and what releases produced.
"""

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from discreet.engine.engine import guarantee_of
from discreet.engine.journal import FileJournal
from discreet.engine.problem import Problem, view_of
from discreet.engine.snapshot import Snapshot
from discreet.engine.state_check import check_fits
from discreet.engine.view import View
from discreet.errors import ConfigError, StateError
from discreet.learners.log_adapter import LogAdapter, log_adapter_of
from discreet.learners.registry import is_known, learner_named
from discreet.runs.columns import COLUMNS, kept_reading
from discreet.runs.earned import newest
from discreet.runs.run import in_words


class CommittedRun:
    """What is public of a run, as of its newest commit."""

    def __init__(self, folder: Path) -> None:
        reading = kept_reading(folder)
        if reading is None:
            raise _no_run(folder, f"it has no {COLUMNS}")
        self._reading = reading
        snapshot = FileJournal(folder / "state").latest()
        if snapshot is None:
            raise _no_run(folder, "it has no state")
        if not is_known(snapshot.kind):
            raise ConfigError(
                f"{folder} holds a {snapshot.kind}, which is no run of a learner over a log"
            )
        self._snapshot: Snapshot = snapshot
        learner = learner_named(snapshot.kind)
        try:
            settings = learner.settings_type.from_plain(snapshot.settings)
        except ConfigError as error:
            raise StateError(f"the settings in {folder / 'state'} are refused: {error}") from None
        self.problem: Problem = learner.problem_for(settings)
        if snapshot.calibration != self.problem.plan.calibration:
            raise StateError(
                f"{folder / 'state'} was calibrated by another version of discreet or its parts: "
                "ask that version"
            )
        check_fits(self.problem, snapshot)
        self._view = view_of(self.problem, snapshot)
        self.guarantee = guarantee_of(self.problem, snapshot)

    @property
    def learning(self) -> View[Any]:
        """What releases and public events led to, without a report around it."""
        return self._view.learning

    @property
    def decision(self) -> dict[str, Any]:
        """What is decided now, in the words of the log."""
        return self._adapter.named(self._view.plain(), self._reading.columns)

    @property
    def _adapter(self) -> LogAdapter:
        return log_adapter_of(self._snapshot.kind)(self.problem.settings, self._reading.log)

    def as_plain(self) -> dict[str, Any]:
        """All of it as plain data."""
        snapshot, guarantee = self._snapshot, self.guarantee
        horizon = self._view.horizon
        rounds = snapshot.rounds.clock
        return {
            "learner": snapshot.kind,
            "rounds": rounds,
            "horizon": horizon,
            "releases": guarantee.releases,
            "planned_releases": guarantee.planned,
            "finished": horizon is not None and rounds >= horizon and not self._is_due,
            "failed": snapshot.failed,
            "log_rows": self._view.log_rows,
            "epsilon_spent": guarantee.epsilon_spent,
            "epsilon": guarantee.epsilon,
            "delta": guarantee.delta,
            "simulated": guarantee.simulated,
            "decision": self.decision,
            **self._earned,
            "notices": list(self._view.noticed().values()),
            "guarantee": str(guarantee),
        }

    @property
    def _earned(self) -> dict[str, Any]:
        """The newest entry of the report, if one is paid for and made."""
        if not self.problem.settings.report:
            return {}
        adapter = self._adapter
        report = adapter.estimated(self._view.report())
        entry = None if report is None else newest(report)
        if report is None or entry is None:
            return {}
        return {"earned": {"what": report.what, "means": adapter.meaning} | entry}

    @property
    def _is_due(self) -> bool:
        """Whether the release after the last round is still to be made."""
        view = self._view
        return (
            view.step is not None
            and view.end is not None
            and self._snapshot.rounds.clock >= view.end
        )


def status_of(folder: Path) -> dict[str, Any]:
    """What is public of the run in this folder, as plain data."""
    return CommittedRun(folder).as_plain()


def show_status(status: dict[str, Any], console: Console) -> None:
    """The same as a table."""
    table = Table(show_header=False, title=f"A run of {status['learner']}")
    horizon, planned = status["horizon"], status["planned_releases"]
    table.add_row(
        "rounds so far", f"{status['rounds']:,}" + (f" of {horizon:,}" if horizon else "")
    )
    table.add_row("releases", f"{status['releases']:,}" + (f" of {planned:,}" if planned else ""))
    spent = f"epsilon = {status['epsilon_spent']:.3g} of {status['epsilon']:.3g}"
    table.add_row(
        "privacy spent", spent + (f" at delta = {status['delta']:.3g}" if status["delta"] else "")
    )
    for name, value in status["decision"].items():
        table.add_row(f"now: {name}", in_words(value))
    if "earned" in status:
        table.add_row("earned lately", _earned_in_words(status["earned"]))
    for notice in status["notices"]:
        table.add_row("note", notice)
    table.add_row("state", _state_in_words(status))
    console.print(table)
    console.print(status["guarantee"], soft_wrap=True)


def _earned_in_words(entry: dict[str, Any]) -> str:
    value, noise = entry["value"], 2 * entry["standard_deviation"]
    return f"{value:.4g} ± {noise:.2g} ({entry['what']} of the block up to visitor {entry['visitors']:,})"


def _state_in_words(status: dict[str, Any]) -> str:
    if status["failed"]:
        return "a release failed after its noise was drawn: start a new run"
    if status["finished"]:
        return "finished: nothing more can be learned"
    if status["log_rows"] and not status["rounds"]:
        return 'warm-started: go on with slates = "decided" and a log of what it decides, or from Python'
    return "not finished: the same `discreet run` goes on with more of the log"


def _no_run(folder: Path, why: str) -> ConfigError:
    return ConfigError(f"{folder} is not the folder of a run ({why}): `discreet run` makes one")
