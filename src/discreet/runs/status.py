"""`discreet status`: the progress of a run, its spent budget, and its present decision.

It reads the newest snapshot that was committed to the run's state. The file is replaced as a whole,
so nothing is locked, and a run under way is not disturbed. Only the public part of the snapshot is
used: the settings, the clock, the ledger, and the released values.
"""

from pathlib import Path
from typing import Any, NotRequired, TypedDict

from rich.console import Console
from rich.table import Table

from discreet.engine.engine import guarantee_of
from discreet.engine.journal import FileJournal
from discreet.engine.problem import Problem, view_of
from discreet.engine.snapshot import Snapshot
from discreet.engine.state_check import check_calibration, check_fits
from discreet.engine.view import View
from discreet.errors import ConfigError, StateError
from discreet.learners.log_adapter import LogAdapter, log_adapter_of
from discreet.learners.registry import is_known, learner_named
from discreet.runs.columns import COLUMNS, stored_reading
from discreet.runs.run import in_words


class Earned(TypedDict):
    """The newest entry of a run's report."""

    what: str
    means: str
    visitors: int
    value: float
    standard_deviation: float


class Status(TypedDict):
    """The public part of a run, as `discreet status --json` prints it."""

    learner: str
    rounds: int
    horizon: int | None
    releases: int
    planned_releases: int | None
    finished: bool
    failed: bool
    log_rows: int
    epsilon_spent: float
    epsilon: float
    delta: float
    simulated: bool
    decision: dict[str, Any]
    earned: NotRequired[Earned]
    notices: list[str]
    guarantee: str


class CommittedRun:
    """The public part of a run, as of its newest commit.

    Parameters
    ----------
    folder
        The folder of the run.

    Raises
    ------
    ConfigError
        If the folder has no run.
    StateError
        If another version of discreet wrote the state, or the state is damaged.
    """

    def __init__(self, folder: Path) -> None:
        reading = stored_reading(folder)
        if reading is None:
            raise _no_run(folder, f"it has no {COLUMNS}")
        self._reading = reading
        snapshot = FileJournal(folder / "state").latest()
        if snapshot is None:
            raise _no_run(folder, "it has no state")
        if not is_known(snapshot.kind):
            raise ConfigError(
                f"{folder} holds a {snapshot.kind}, which no `discreet run` made: "
                "give the folder of a run"
            )
        self._snapshot: Snapshot = snapshot
        learner = learner_named(snapshot.kind)
        try:
            settings = learner.settings_type.from_plain(snapshot.settings)
        except ConfigError as error:
            raise StateError(f"the settings in {folder / 'state'} are refused: {error}") from None
        self.problem: Problem = learner.problem_for(settings)
        check_calibration(self.problem, snapshot)
        check_fits(self.problem, snapshot)
        self._view = view_of(self.problem, snapshot)
        self.guarantee = guarantee_of(self.problem, snapshot)

    @property
    def view(self) -> View:
        """The view of the public state."""
        return self._view

    @property
    def decision(self) -> dict[str, Any]:
        """The present decision, with the names of the log."""
        return self._adapter.named(self._view.phase.readings().plain, self._reading.columns)

    @property
    def _adapter(self) -> LogAdapter:
        return log_adapter_of(self._snapshot.kind)(self.problem.settings, self._reading.log)

    def as_plain(self) -> Status:
        """Return the public part of the run as plain data."""
        snapshot = self._snapshot
        guarantee = self.guarantee
        horizon = self._view.horizon
        rounds = snapshot.rounds.clock
        earned = self._earned
        status: Status = {
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
            "notices": list(self._view.phase.readings().notices.values()),
            "guarantee": str(guarantee),
        }
        if earned is not None:
            status["earned"] = earned
        return status

    @property
    def _earned(self) -> Earned | None:
        """The newest entry of the report, if the run has one."""
        if not self.problem.settings.report:
            return None
        adapter = self._adapter
        report = adapter.estimated(self._view.report())
        if report is None or not len(report.rounds):
            return None
        return {
            "what": report.what,
            "means": adapter.meaning,
            "visitors": int(report.rounds[-1]),
            "value": float(report.value[-1]),
            "standard_deviation": float(report.standard_deviation[-1]),
        }

    @property
    def _is_due(self) -> bool:
        """Whether the release after the last round is not made yet."""
        view = self._view
        return (
            view.step is not None
            and view.end is not None
            and self._snapshot.rounds.clock >= view.end
        )


def status_of(folder: Path) -> Status:
    """Return the public part of the run in a folder, as plain data.

    Parameters
    ----------
    folder
        The folder of the run, which may be under way.

    Raises
    ------
    ConfigError
        If the folder has no run.
    StateError
        If another version of discreet wrote the state, or the state is damaged.
    """
    return CommittedRun(folder).as_plain()


def show_status(status: Status, console: Console) -> None:
    """Print the status of a run as a table, with its guarantee."""
    table = Table(show_header=False, title=f"A run of {status['learner']}")
    table.add_row("rounds so far", _of_total(status["rounds"], status["horizon"]))
    table.add_row("releases", _of_total(status["releases"], status["planned_releases"]))
    spent = f"epsilon = {status['epsilon_spent']:.3g} of {status['epsilon']:.3g}"
    delta = f" at delta = {status['delta']:.3g}" if status["delta"] else ""
    table.add_row("privacy spent", spent + delta)
    for name, value in status["decision"].items():
        table.add_row(f"now: {name}", in_words(value))
    if "earned" in status:
        table.add_row("earned in the last block", _earned_in_words(status["earned"]))
    for notice in status["notices"]:
        table.add_row("note", notice)
    table.add_row("state", _state_in_words(status))
    console.print(table)
    console.print(status["guarantee"], soft_wrap=True)


def _of_total(count: int, total: int | None) -> str:
    return f"{count:,} of {total:,}" if total else f"{count:,}"


def _earned_in_words(entry: Earned) -> str:
    noise = 2 * entry["standard_deviation"]
    block = f"{entry['what']} of the block up to visitor {entry['visitors']:,}"
    return f"{entry['value']:.4g} ± {noise:.2g} ({block})"


def _state_in_words(status: Status) -> str:
    if status["failed"]:
        return "a release failed after its noise was drawn: start a new run"
    if status["finished"]:
        return "finished: nothing more can be learned"
    if status["log_rows"] and not status["rounds"]:
        return (
            'warm-started: go on with slates = "decided" and a log of its decisions, or from Python'
        )
    return "not finished: the same `discreet run` goes on with more of the log"


def _no_run(folder: Path, why: str) -> ConfigError:
    return ConfigError(f"{folder} is not the folder of a run ({why}): `discreet run` makes one")
