"""If these fail, a log of arms is read wrongly, or a file shows the arm of a patient."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from rich.console import Console
from typer.testing import CliRunner

from discreet import ConfigError, ContextualBandit, Privacy
from discreet.cli import app
from discreet.learners.contextual_bandit.log_adapter import ContextualBanditLogAdapter
from discreet.records import sources
from discreet.runs import run as service
from discreet.runs.run import run_log

DOSES = ("low", "high")
FEATURES = ("age", "weight")
PATIENTS = 6000
CLINIC = f"""
learner = "ContextualBandit"
epsilon = 8.0
delta = 1e-6
seed = 1
horizon = {PATIENTS}
arms = ["low", "high"]
features = ["age", "weight"]
"""
UNIFORM = 'propensity = "uniform"\n'
LOGGED = 'propensity = "p"\nleast_propensity = 0.2\n'


def patients(generator: np.random.Generator, *, uniform: bool) -> polars.DataFrame:
    """A log of another policy: uniform doses, or high ones more often to older patients."""
    people = generator.uniform(-1, 1, size=(PATIENTS, 2))
    chances = np.full(PATIENTS, 0.5) if uniform else 0.5 + 0.3 * people[:, 0]
    high = generator.random(PATIENTS) < chances
    works = np.where(high, 0.5 + 0.4 * people[:, 0], 0.5 - 0.4 * people[:, 0])
    return polars.DataFrame(
        {
            "weight": people[:, 1],
            "arm": np.where(high, "high", "low"),
            "reward": (generator.random(PATIENTS) < works).astype(int),
            "age": people[:, 0],
            "p": np.where(high, chances, 1 - chances),
        }
    )


def run(
    folder: Path, settings: str, log: polars.DataFrame, console: Console | None = None
) -> dict[str, Any]:
    folder.mkdir(exist_ok=True)
    log.write_csv(folder / "log.csv")
    (folder / "run.toml").write_text(settings)
    return run_log(
        folder / "run.toml", folder / "log.csv", folder / "out", console or Console(quiet=True)
    )


def decisions_in(folder: Path) -> list[str]:
    return (folder / "out" / "decisions.jsonl").read_text().splitlines()


# --- what is learned ------------------------------------------------------------------------------


def test_uniform_doses_teach_from_the_rows_that_agree_with_the_decision(
    tmp_path: Path, generator: np.random.Generator
) -> None:
    log = patients(generator, uniform=True)
    report = run(tmp_path, CLINIC + UNIFORM, log)
    clinic = ContextualBandit(DOSES, FEATURES, PATIENTS, Privacy(8.0, 1e-6), seed=1)
    contexts = log.select(FEATURES).to_numpy()
    logged = (log["arm"] == "high").to_numpy().astype(int)
    first = 0
    while first < PATIENTS:
        clinic.release_if_due()
        part = slice(first, first + clinic.rounds_until_release)
        tickets = clinic.open_many(contexts[part])
        rewards = np.where(tickets.numbers == logged[part], log["reward"].to_numpy()[part], np.nan)
        clinic.close_many(tickets, rewards)
        first += len(tickets)
    clinic.release_if_due()
    assert report["weights"] == clinic.decision["weights"]
    assert report["releases"] == clinic.releases > 5
    assert report["weights"]["high"]["age"] > 0.2 > -0.2 > report["weights"]["low"]["age"]


def test_a_policy_with_preferences_teaches_the_same(
    tmp_path: Path, generator: np.random.Generator
) -> None:
    report = run(tmp_path, CLINIC + LOGGED, patients(generator, uniform=False))
    weights = report["weights"]
    assert weights["high"]["age"] > 0.2 > -0.2 > weights["low"]["age"]
    assert all(abs(report["offsets"][dose] - 0.5) < 0.12 for dose in DOSES)


# --- kills ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [UNIFORM, LOGGED])
def test_a_run_that_is_stopped_anywhere_decides_as_if_it_had_not_been(
    tmp_path: Path, generator: np.random.Generator, monkeypatch: pytest.MonkeyPatch, settings: str
) -> None:
    """The run stops in the middle of blocks; rows since the last checkpoint are read again."""
    log = patients(generator, uniform=settings == UNIFORM)
    run(tmp_path / "whole", CLINIC + settings, log)
    monkeypatch.setattr(sources, "ROWS", 97)
    monkeypatch.setattr(service, "CHECKPOINT", 1)
    honest = ContextualBanditLogAdapter.feedback
    for stop in (1, 5, 20, 40):
        left = [stop]

        def stops(*arguments: Any, left: list[int] = left) -> Any:
            left[0] -= 1
            if not left[0]:
                raise KeyboardInterrupt
            return honest(*arguments)

        monkeypatch.setattr(ContextualBanditLogAdapter, "feedback", stops)
        with pytest.raises(KeyboardInterrupt):
            run(tmp_path / "stopped", CLINIC + settings, log)
    monkeypatch.setattr(ContextualBanditLogAdapter, "feedback", honest)
    run(tmp_path / "stopped", CLINIC + settings, log)
    assert decisions_in(tmp_path / "stopped") == decisions_in(tmp_path / "whole")


# --- files and refusals ---------------------------------------------------------------------------


def test_no_file_shows_the_dose_of_a_patient(
    tmp_path: Path, generator: np.random.Generator
) -> None:
    report = run(tmp_path, CLINIC + UNIFORM, patients(generator, uniform=True))
    lines = [json.loads(line) for line in decisions_in(tmp_path)]
    assert [line["release"] for line in lines] == list(range(report["releases"] + 1))
    for line in lines:
        assert set(line) == {"release", "from_visitor", "offsets", "weights"}
        assert set(line["weights"]) == set(DOSES)
        assert all(set(row) <= {*FEATURES} for row in line["weights"].values())
    assert set(report) == {
        "visitors", "releases", "epsilon", "delta", "offsets", "weights", "guarantee",
    }  # fmt: skip


def test_the_number_of_weights_is_printed_instead_of_weights(
    tmp_path: Path, generator: np.random.Generator
) -> None:
    paper = StringIO()
    run(
        tmp_path,
        CLINIC + UNIFORM,
        patients(generator, uniform=True),
        Console(file=paper, width=100),
    )
    first = paper.getvalue().strip().splitlines()[0]
    assert first.endswith("; weights: 2 arms, 2 features with weights")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("", "run.toml: the settings lack propensity"),
        ('propensity = "p"\n', "run.toml: the settings lack least_propensity"),
        ('propensity = "q"\nleast_propensity = 0.1\n', "the log lacks the columns q"),
        (UNIFORM + "least_propensity = 0.1\n", "least_propensity is for a column"),
        (UNIFORM + 'context = ["age"]\n', "context names 1 columns"),
    ],
)
def test_a_log_without_propensities_is_refused_before_anything_is_spent(
    tmp_path: Path, generator: np.random.Generator, settings: str, message: str
) -> None:
    log = patients(generator, uniform=True).head(5)
    with pytest.raises(ConfigError, match=message):
        run(tmp_path, CLINIC + settings, log)
    assert not (tmp_path / "out").exists()
    command = ["run", str(tmp_path / "run.toml"), "--data", str(tmp_path / "log.csv")]
    result = CliRunner().invoke(app, [*command, "--out", str(tmp_path / "out")])
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)


def test_a_run_cannot_go_on_with_other_propensities(
    tmp_path: Path, generator: np.random.Generator
) -> None:
    log = patients(generator, uniform=False)
    run(tmp_path, CLINIC + LOGGED, log.head(500))
    with pytest.raises(
        ConfigError, match="reads the columns age, weight, arm, reward, p: go on with those"
    ):
        run(tmp_path, CLINIC + UNIFORM, log)
