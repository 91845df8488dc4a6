"""If these fail, operators cannot follow a learner in their logs, or logs tell of people."""

import logging
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from discreet import Hedge, Privacy, SetMaximizer, StateError, load
from discreet.audit.visible import logged
from discreet.engine.logs import LOGGER
from discreet.records import sources, text

BOTH = Privacy(1.0, 1e-6)


def messages(caplog: pytest.LogCaptureFixture) -> list[str]:
    """The texts of all records so far, without the identity that every learner draws."""
    return [record.getMessage() for record in caplog.records if record.name == "discreet"]


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.DEBUG, "discreet")
    return caplog


def test_operators_follow_a_learner_from_its_making_to_its_last_release(
    told: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    path = tmp_path / "hedge"
    with Hedge(2, 12, BOTH, block=4, seed=1, journal=path) as learner:
        learner.replay([[0.1, 0.9]] * 4)
        learner.release_if_due()
    with load(path) as again:
        again.observe_many([[0.1, 0.9]] * 4)
        again.release_if_due()
    whose = f"Hedge {learner.snapshot().identity}"
    assert messages(told) == [
        f"{whose}: made with method softmax, horizon 12, epsilon 1, delta 1e-06, file {path}",
        f"{whose}: release 1 after 4 rounds, epsilon spent 1 of 1",
        f"{whose}: loaded after 1 releases and 4 rounds from {path}",
        f"{whose}: release 2 after 8 rounds, epsilon spent 1 of 1",
        f"{whose}: the plan is complete after 8 rounds, no release follows",
    ]


def test_operators_see_public_events_and_the_log_of_a_warm_start(
    told: pytest.LogCaptureFixture,
) -> None:
    goods = ["tea", "milk", "soap"]
    shop = SetMaximizer(
        goods, 1, 10_000, BOTH, feedback="clicks", stream="iid", max_items=5, seed=1
    )
    shop.add_item("rope")
    shop.warm_start([(["tea"], None)] * 200)
    events = [message.partition(": ")[2] for message in messages(told)[1:]]
    assert events[0] == "public event Change(extend=0, add=['rope'], retire=[])"
    assert events[1].startswith("announced LogFacts(rows=200, ")
    assert events[2].startswith("release 1 after 0 rounds")


def test_operators_see_a_state_file_that_another_learner_uses(
    told: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    path = tmp_path / "hedge"
    with Hedge(2, 8, BOTH, journal=path), pytest.raises(StateError, match="in use"):
        load(path)
    assert (told.records[-1].levelname, messages(told)[-1]) == (
        "WARNING",
        f"{path} is in use by another learner",
    )


def test_logs_are_equal_whether_people_answer_or_not(tmp_path: Path) -> None:
    """Checkpoints follow answers, so they are not logged either."""

    def records(answers: list[object], path: Path) -> list[str]:
        with logged() as found:
            learner = Hedge(2, 12, BOTH, block=4, seed=1, journal=path, checkpoint=1)
            for _ in range(2):
                learner.close_many(learner.open_many(4), answers)
                learner.release_if_due()
            learner.detach()
        return [record.replace(str(path), "") for record in found]

    nobody = records([None] * 4, tmp_path / "nobody")
    everyone = records([[0.1, 0.9], [np.nan, 1.0], "x", [0.5, 0.5]], tmp_path / "everyone")
    assert len(nobody) == 4, nobody
    assert nobody == everyone


def test_files_are_logged_by_path_and_number_of_rows_and_cells_are_not(
    told: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    path = tmp_path / "log.csv"
    path.write_text("tea,milk\n0.1,0.9\n0.123,much\n,\n")
    learner = Hedge(["tea", "milk"], 100, BOTH, block=10, seed=1)
    learner.replay(path)
    assert messages(told)[1:] == [f"{path}: opened", f"{path}: rows from 0 on"]


def test_records_of_a_text_file_do_not_follow_the_length_of_cells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A text file is read block by block: a longer cell moves the ends of blocks."""
    monkeypatch.setattr(text, "BLOCK", 64)
    monkeypatch.setattr(sources, "ROWS", 20)

    def records(cell: str) -> list[str]:
        path = tmp_path / "log.csv"
        path.write_text("tea,milk\n" + "0.5,0.5\n" * 3 + f"{cell},0.5\n" + "0.5,0.5\n" * 96)
        with logged() as found:
            Hedge(["tea", "milk"], 1000, BOTH, block=30, seed=1).replay(path)
        return [record.rpartition("/")[2] for record in found]

    short = records("0.5")
    assert [record for record in short if "rows from" in record] == [
        f"log.csv: rows from {first} on" for first in range(0, 100, 20)
    ]
    assert records("0.50000000000000000000000001") == short


class Broken(logging.Handler):
    """A handler of an application that raises for each record; it may call a learner back."""

    def __init__(self, call: Callable[[], object] | None = None) -> None:
        super().__init__()
        self.call = call

    def emit(self, record: logging.LogRecord) -> None:
        if self.call is not None:
            self.call()
        raise OSError("the log server is gone")


def test_a_handler_that_raises_stops_no_release_and_loses_no_round(
    told: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    broken = Broken()
    LOGGER.addHandler(broken)
    try:
        with Hedge(2, 12, BOTH, block=4, seed=1, journal=tmp_path / "hedge") as learner:
            assert len(learner.replay([[0.1, 0.9]] * 12)) == 12
        shop = SetMaximizer(
            ["tea", "milk"], 1, 10_000, BOTH, feedback="clicks", stream="iid", max_items=3, seed=1
        )
        shop.add_item("rope")
        shop.warm_start([(["tea"], None)] * 200)
    finally:
        LOGGER.removeHandler(broken)
    assert (learner.clock, learner.releases) == (12, 2)
    assert (shop.labels, shop.log_rows) == (["tea", "milk", "rope"], 200)
    assert "OSError: the log server is gone" in capsys.readouterr().err


def test_a_handler_that_calls_the_learner_back_stops_no_release(
    told: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging, "raiseExceptions", False)
    learner = Hedge(2, 12, BOTH, block=4, seed=1)
    back = Broken(learner.act)
    LOGGER.addHandler(back)
    try:
        learner.replay([[0.1, 0.9]] * 12)
    finally:
        LOGGER.removeHandler(back)
    assert (learner.clock, learner.releases) == (12, 2)


def test_an_application_without_a_logging_setup_sees_no_log_records() -> None:
    program = (
        "from discreet import Hedge, Privacy, StateError, load\n"
        "import tempfile\n"
        "path = tempfile.mkdtemp() + '/hedge'\n"
        "learner = Hedge(2, 8, Privacy(1.0), journal=path)\n"
        "try:\n    load(path)\nexcept StateError:\n    pass\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert (run.stdout, run.stderr) == (b"", b"")


def test_an_audit_leaves_the_logger_as_it_was() -> None:
    before = (LOGGER.level, LOGGER.propagate, list(LOGGER.handlers))
    with logged() as records:
        LOGGER.debug("one")
    assert records == ["DEBUG: one"]
    assert (LOGGER.level, LOGGER.propagate, list(LOGGER.handlers)) == before
