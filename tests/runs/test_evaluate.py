"""If these fail, an evaluation leaks a person of the log, or misstates the value of a policy."""

import json
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from rich.console import Console
from typer.testing import CliRunner

from discreet import ConfigError, Privacy, RunningSum
from discreet.cli import app
from discreet.engine.problem import view_of
from discreet.records.table import LogTable
from discreet.release.aggregators import Rows
from discreet.runs.evaluate import Policy, evaluate_log, policy_from, weighted
from discreet.runs.run import run_log

POLICY = Policy(("tea", "milk"), items=4)


def weights(
    policy: Policy = POLICY, propensity: str = "chance", **columns: list[Any]
) -> list[float]:
    """What rows of a log with these columns add, before they are clipped."""
    answer = "click" if "click" in columns else "reward"
    frame = polars.DataFrame(columns, strict=False)
    return list(weighted(policy, LogTable(frame), answer, propensity))


# --- the weight of a row --------------------------------------------------------------------------


def test_a_click_counts_where_the_policy_has_its_item() -> None:
    rows = [
        ("tea milk", "tea", 2.0),
        ("milk tea", "tea", 0.0),
        ("tea soap", "tea", 2.0),
        ("soap milk", "milk", 2.0),
        ('["tea", "milk"]', "milk", 2.0),
        ("tea", "milk", 0.0),
        ("", "tea", 0.0),
        ("tea milk", None, 0.0),
        (None, "tea", 0.0),
    ]
    slates, clicks, expected = map(list, zip(*rows, strict=True))
    assert weights(slate=slates, click=clicks, chance=["0.5"] * 9) == expected


def test_propensities_are_one_per_slate_or_one_per_position() -> None:
    chances = ["0.5 0.25", "[0.5, 0.25]", "0.1", "0", "-1", "nan", "[", "2"]
    added = weights(slate=["tea milk"] * 8, click=["milk"] * 8, chance=chances)
    assert added == [4.0, 4.0, 10.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    lists = weights(slate=[["tea", "milk"]], click=["milk"], chance=[[0.5, 0.2]])
    assert lists == [5.0]


def test_a_reward_counts_for_the_whole_slate_only_and_within_its_range() -> None:
    slates = ["tea milk", "milk tea", "tea milk", "tea milk", "tea milk", "tea"]
    rewards = ["0.5", "1", "7", "-1", "much", "1"]
    added = weights(slate=slates, reward=rewards, chance=["0.5"] * 6)
    assert added == [1.0, 0.0, 2.0, 0.0, 0.0, 0.0]
    # Two propensities are those of positions, not that of the slate.
    assert weights(slate=slates[:1], reward=["1"], chance=["0.5 0.5"]) == [0.0]
    assert weights(slate=slates[:1], reward=["1"], propensity="uniform") == [12.0]


def test_whole_numbers_are_the_same_items_in_any_column() -> None:
    policy = Policy(("101", "205"), items=3)
    slates = ["101 205", "[101, 205]"]
    assert weights(policy, "uniform", slate=slates, click=[205.0, 101.0]) == [3.0, 3.0]


# --- the release ----------------------------------------------------------------------------------


def written(folder: Path, **columns: list[Any]) -> Path:
    polars.DataFrame(columns).write_parquet(folder / "log.parquet")
    return folder / "log.parquet"


@pytest.fixture
def shop(tmp_path: Path) -> tuple[Path, float]:
    """A log of uniform slates of two out of four items, and the value of tea and milk there."""
    generator = np.random.default_rng(3)
    names = np.array(["tea", "milk", "soap", "rope"])
    likes = np.array([0.3, 0.2, 0.1, 0.0])
    shown = np.argsort(generator.random((40_000, 4)), axis=1)[:, :2]
    lots = generator.random(40_000)
    first = lots < likes[shown[:, 0]]
    second = ~first & (lots < likes[shown[:, 0]] + 0.5 * likes[shown[:, 1]])
    clicks = [
        names[slate[0]] if at_first else names[slate[1]] if at_second else None
        for slate, at_first, at_second in zip(shown, first, second, strict=True)
    ]
    slates = [" ".join(names[row]) for row in shown]
    return written(tmp_path, slate=slates, click=clicks), 0.3 + 0.5 * 0.2


def test_the_value_of_a_policy_is_estimated_within_its_stated_error(
    shop: tuple[Path, float],
) -> None:
    log, worth = shop
    evaluation = evaluate_log(POLICY, log, Privacy(1.0), propensity="uniform", seed=1)
    error = sqrt(
        evaluation["noise_standard_deviation"] ** 2 + evaluation["sampling_standard_deviation"] ** 2
    )
    assert abs(evaluation["estimate"] - worth) < 4 * error < 0.03
    assert evaluation["noise_standard_deviation"] == pytest.approx(sqrt(2) * 4 / 40_000, rel=0.01)
    assert (
        evaluation["sampling_standard_deviation"]
        < evaluation["sampling_standard_deviation_at_most"]
    )
    assert evaluation["sampling_standard_deviation_at_most"] == pytest.approx(2 / 200)
    assert (evaluation["clip"], evaluation["rows"], evaluation["answer"]) == (4.0, 40_000, "click")
    worse = evaluate_log(
        Policy(("rope", "soap"), 4), log, Privacy(1.0), propensity="uniform", seed=1
    )
    assert worse["estimate"] < 0.1


def test_a_row_moves_the_release_by_its_clip_at_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tiny propensities give weights that the only sum clips; it is released once."""
    sums: list[RunningSum] = []
    honest = RunningSum.release_if_due

    def watched(self: RunningSum) -> bool:
        sums.append(self)
        snapshot = self.snapshot()
        problem = RunningSum.problem_for(self.settings)
        (aggregator,) = view_of(problem, snapshot).aggregators().values()
        (total,) = snapshot.block.values()
        assert isinstance(aggregator, Rows)
        assert 0 <= int(total[0]) <= 3 * aggregator.levels
        assert aggregator.sensitivity(1) == aggregator.levels
        assert aggregator.bound == 5.0
        return honest(self)

    monkeypatch.setattr(RunningSum, "release_if_due", watched)
    log = written(
        tmp_path, slate=["tea milk"] * 3, click=["tea"] * 3, chance=["1e-300", "0.0001", "1e400"]
    )
    evaluation = evaluate_log(POLICY, log, Privacy(1.0), propensity="chance", clip=5.0)
    assert len(sums) == sums[0].releases == 1
    assert sums[0].guarantee.epsilon_spent == pytest.approx(1.0, rel=1e-6)
    assert sums[0].guarantee.epsilon_spent <= 1.0
    assert not sums[0].guarantee.simulated
    assert evaluation["guarantee"] == str(sums[0].guarantee)


def test_replacing_one_row_shifts_the_release_by_epsilon_of_its_scale(
    tmp_path: Path,
) -> None:
    """The release has a discrete Laplace law, shifted by at most ε times its scale."""
    shifts = []
    for number, answer in enumerate(["tea", ""]):
        (tmp_path / str(number)).mkdir()
        log = written(tmp_path / str(number), slate=["tea milk"] * 2, click=["tea", answer])
        # Both logs get the same noise.
        evaluation = evaluate_log(POLICY, log, Privacy(0.5), propensity="uniform", seed=9)
        shifts.append(evaluation["estimate"] * 2)
        scale = evaluation["noise_standard_deviation"] * 2 / sqrt(2)
    assert shifts[0] - shifts[1] == pytest.approx(4.0)
    assert 0.999 * 0.5 < (shifts[0] - shifts[1]) / scale <= 0.5 * (1 + 1e-6)


def test_more_rows_per_person_need_more_noise(shop: tuple[Path, float]) -> None:
    log, _ = shop
    once = Privacy(1.0)
    thrice = Privacy(1.0, contributions=3)
    one = evaluate_log(POLICY, log, once, propensity="uniform", seed=1)
    three = evaluate_log(POLICY, log, thrice, propensity="uniform", seed=1)
    assert three["noise_standard_deviation"] == pytest.approx(
        3 * one["noise_standard_deviation"], rel=1e-3
    )
    assert "3 rounds of one person" in three["guarantee"]


def test_the_slate_of_a_run_is_evaluated_and_both_guarantees_are_added(
    tmp_path: Path, shop: tuple[Path, float]
) -> None:
    (tmp_path / "run.toml").write_text("""
        epsilon = 1.0
        delta = 1e-6
        seed = 1
        horizon = 300
        items = ["tea", "milk", "soap", "rope"]
        slots = 2
    """)
    tastes = np.random.default_rng(0).random((300, 4)) * [0.9, 0.8, 0.1, 0.1]
    polars.DataFrame(tastes, schema=["tea", "milk", "soap", "rope"]).write_csv(
        tmp_path / "tastes.csv"
    )
    report = run_log(
        tmp_path / "run.toml", tmp_path / "tastes.csv", tmp_path / "run", Console(quiet=True)
    )
    policy = policy_from(tmp_path / "run")
    assert list(policy.slate) == report["slate"]
    assert policy.items == 4
    options = ["--data", str(shop[0]), "--propensity", "uniform"]
    arguments = ["evaluate", str(tmp_path / "run"), *options]
    evaluation = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).output)
    assert evaluation["together_with_the_run"]["epsilon"] == pytest.approx(2.0, rel=1e-3)
    assert evaluation["together_with_the_run"]["guarantee"].startswith(
        "SIMULATED"
    )  # the run had a seed
    assert not evaluation["guarantee"].startswith("SIMULATED")
    printed = CliRunner().invoke(app, arguments).output
    assert "would have earned" in printed
    assert "clicks per person" in printed
    assert "they add up" in printed


# --- refusals -------------------------------------------------------------------------------------


def test_no_row_can_make_a_log_refused(tmp_path: Path) -> None:
    log = written(tmp_path, slate=["[" * 2000, "soap"], reward=["?", ""], chance=["[" * 2000, "{}"])
    assert evaluate_log(POLICY, log, Privacy(1.0), propensity="chance", seed=1)["rows"] == 2


@pytest.mark.parametrize(
    ("policy", "columns", "options", "message"),
    [
        (
            "slate = []",
            ["slate", "click"],
            "uniform",
            "slate must be a list of items, got an empty list",
        ),
        ("items = 4", ["slate", "click"], "uniform", "slate must be a list of items, got None"),
        ('slate = ["a", "a"]', ["slate", "click"], "uniform", "slate must have different items"),
        (
            'slate = ["a"]',
            ["slate", "click"],
            "uniform",
            "uniform slates need the number of items",
        ),
        ('slate = ["a", "b"]\nitems = 1', ["slate", "click"], "uniform", "items must be"),
        (
            'slate = ["a"]\nitems = ["b"]',
            ["slate", "click"],
            "uniform",
            "slate has a, which items does not name",
        ),
        (
            'slate = ["a"]\nslots = 2',
            ["slate", "click"],
            "uniform",
            "unknown key 'slots', did you mean slate?",
        ),
        ("slate = [", ["slate", "click"], "uniform", "is not TOML: "),
        ('slate = ["a"]', ["slate"], "p", "a column click or a column reward, and has neither"),
        (
            'slate = ["a"]',
            ["slate", "click", "reward"],
            "p",
            "and may have both: choose with --answer",
        ),
        ('slate = ["a"]', ["click"], "p", "the log lacks the columns slate, p"),
        (
            'slate = ["a"]\nitems = 9',
            ["slate", "click"],
            "uniform --clip 5",
            "clip = 5 is below 9, the weight",
        ),
        ('slate = ["a"]', ["slate", "click", "p"], "p --clip 0.5", "clip must be"),
        ('slate = ["a"]', ["slate", "click", "p"], "p --epsilon 0", "epsilon must be"),
    ],
)
def test_a_policy_or_log_that_does_not_fit_is_refused_in_one_line(
    tmp_path: Path, policy: str, columns: list[str], options: str, message: str
) -> None:
    (tmp_path / "policy.toml").write_text(policy)
    log = written(tmp_path, **{name: ["a"] for name in columns})
    arguments = ["evaluate", str(tmp_path / "policy.toml"), "--data", str(log), "--propensity"]
    result = CliRunner().invoke(app, [*arguments, *options.split()])
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1), result.output
    assert message in result.stderr


def test_a_log_without_rows_is_refused(tmp_path: Path) -> None:
    log = written(tmp_path, slate=[], click=[])
    with pytest.raises(ConfigError, match="has no rows: an evaluation needs some"):
        evaluate_log(POLICY, log, Privacy(1.0), propensity="uniform")
