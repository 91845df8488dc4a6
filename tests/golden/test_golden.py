"""If these fail, this version does not read a state or a run of an earlier version as it was.

Every format since 0.7.0 has a folder here. For each file: what it says is as recorded, the learner
goes on, and what it writes has the present format.
"""

import json
import shutil
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import discreet
from discreet import SetSelector
from discreet.engine import state_file
from discreet.engine.formats import FORMATS
from discreet.engine.state_file import START
from discreet.errors import DiscreetError
from discreet.learners.base import Learner
from discreet.learners.homes import HOMES
from discreet.learners.registry import learner_named
from discreet.runs.run import run_log
from discreet.runs.status import status_of
from golden.make import EXPECTED, GOLDEN, RUN_ROWS, chosen, reading

pytestmark = pytest.mark.filterwarnings("ignore:delta = ")
REMEDY = (
    "every state since 0.7.0 is read for ever: write an upgrader (discreet/engine/formats.py); "
    "until 0.7.0 is tagged, `python tests/golden/make.py` makes the files of format 7 again"
)
FOLDERS = sorted(GOLDEN.glob("format_*"))


def expected(folder: Path, what: str) -> Any:
    return json.loads((folder / EXPECTED).read_text())[what]


def files(what: str) -> list[Any]:
    """Return the files of all formats, each with what is expected of it."""
    return [
        pytest.param(folder / name, facts, id=f"{folder.name}/{name}")
        for folder in FOLDERS
        for name, facts in expected(folder, what).items()
    ]


def with_remedy(test: Callable[..., None]) -> Callable[..., None]:
    """Return the test with the way out in the text of its failure."""

    @wraps(test)
    def told(*arguments: Any, **named: Any) -> None:
        try:
            test(*arguments, **named)
        except (AssertionError, DiscreetError) as error:
            raise AssertionError(f"{error}\n{REMEDY}") from error

    return told


def equal(one: Any, two: Any) -> None:
    """Assert that two plain values are the same, but for the last digits of numbers."""
    if isinstance(one, dict):
        assert {str(key) for key in one} == set(two)
        for key, value in one.items():
            equal(value, two[str(key)])
    elif isinstance(one, list | tuple):
        assert len(one) == len(two)
        for value, other in zip(one, two, strict=True):
            equal(value, other)
    elif isinstance(one, float):
        assert one == pytest.approx(two, rel=1e-9, abs=1e-12)
    else:
        assert one == two


def format_of(path: Path) -> int:
    number: int = START.unpack(path.read_bytes()[: START.size])[1]
    return number


def go_on(learner: Learner, blocks: list[dict[str, Any]]) -> None:
    """Open the recorded rounds with the recorded answers, across a release."""
    for block in blocks:
        learner.release_if_due()
        what = block["what"] if isinstance(block["what"], int) else np.array(block["what"])
        persons = {"persons": block["persons"]} if "persons" in block else {}
        tickets = learner.open_many(what, **persons)
        assert learner.close_many(tickets, block["answers"]).all()
    learner.release_if_due()


@with_remedy
def test_every_mode_has_a_golden_file_of_the_present_format() -> None:
    newest = GOLDEN / f"format_{FORMATS.newest}"
    assert len(FOLDERS) == FORMATS.newest - FORMATS.first + 1
    recorded = expected(newest, "states").values()
    has = {(facts["learner"], facts["mode"]) for facts in recorded}
    assert {(name, mode) for name in HOMES for mode in learner_named(name).modes} <= has
    assert {facts["mode"] for facts in expected(newest, "choices").values()} == set(
        SetSelector.modes
    )


@with_remedy
@pytest.mark.parametrize(("golden", "facts"), files("states"))
def test_a_state_of_every_format_reads_as_it_was_and_goes_on(
    golden: Path, facts: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "state"
    shutil.copy(golden, path)
    content = path.read_bytes()
    state_file.read(path)
    assert path.read_bytes() == content  # reading changes nothing; the first commit does
    learner = discreet.load(path)
    blocks = facts.pop("after")
    equal(reading(learner), facts)
    go_on(learner, blocks)
    given = learner.guarantee
    assert learner.releases > facts["releases"]
    assert facts["guarantee"]["spent"] <= given.epsilon_spent <= given.epsilon * (1 + 1e-9)
    learner.save(path)
    assert format_of(path) == FORMATS.newest
    after = reading(learner)
    learner.detach()
    with discreet.load(path) as again:
        equal(reading(again), after)


@with_remedy
@pytest.mark.parametrize(("golden", "facts"), files("choices"))
def test_a_choice_of_every_format_is_read_back(
    golden: Path, facts: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "state"
    shutil.copy(golden, path)
    choice = chosen(facts.pop("settings"), facts.pop("records"), path)
    equal(choice, facts)
    assert format_of(path) == FORMATS.newest


@with_remedy
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_run_of_every_format_is_shown_and_goes_on(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "run", tmp_path / "run")
    run, out = tmp_path / "run", tmp_path / "run" / "out"
    status = {**status_of(out)}
    facts = expected(folder, "run")
    texts = ("guarantee", "notices")  # their wording may change
    equal(*({name: of[name] for name in of if name not in texts} for of in (status, facts)))
    assert status["rounds"] == RUN_ROWS
    lines = (out / "decisions.jsonl").read_text()
    report = run_log(run / "run.toml", run / "log.csv", out, Console(quiet=True))
    assert report["visitors"] == 60
    assert (out / "decisions.jsonl").read_text().startswith(lines)
    assert report["releases"] > facts["releases"]
    assert format_of(out / "state") == FORMATS.newest
    assert json.loads((out / "columns.json").read_text())["format"] == FORMATS.newest
