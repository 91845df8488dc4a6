"""If these fail, a log says more about somebody than was promised, or something wrong about a
policy.
"""

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
from discreet.records.table import LogTable
from discreet.runs.evaluate import Policy, evaluate_log, policy_from, weighted
from discreet.runs.run import run_log

POLICY = Policy(("tea", "milk"), items=4)


def x(policy: Policy = POLICY, propensity: str = "chance", **columns: list[Any]) -> list[float]:
    """What rows add, unclipped."""
    answer = "click" if "click" in columns else "reward"
    frame = polars.DataFrame(columns, strict=False)
    return weighted(policy, LogTable(frame), answer, propensity).tolist()


# --- what a row adds


def test_a_click_counts_where_the_policy_has_its_item() -> None:
    slates = [
        "tea milk",
        "milk tea",
        "tea soap",
        "soap milk",
        '["tea", "milk"]',
        "tea",
        "",
        "tea milk",
        None,
    ]
    clicks = ["tea", "tea", "tea", "milk", "milk", "milk", "tea", None, "tea"]
    added = x(slate=slates, click=clicks, chance=["0.5"] * 9)
    assert added == [2.0, 0.0, 2.0, 2.0, 2.0, 0.0, 0.0, 0.0, 0.0]


def test_chances_are_one_for_all_places_or_one_for_each() -> None:
    slates = ["tea milk"] * 8
    chances = ["0.5 0.25", "[0.5, 0.25]", "0.1", "0", "-1", "nan", "[", "2"]
    assert x(slate=slates, click=["milk"] * 8, chance=chances) == [
        4.0,
        4.0,
        10.0,
        0.0,
        0.0,
        0.0,
        0.0,
        0.0,
    ]
    lists = x(slate=[["tea", "milk"]], click=["milk"], chance=[[0.5, 0.2]])
    assert lists == [5.0]


def test_a_reward_counts_for_the_whole_slate_only_and_within_its_range() -> None:
    slates = ["tea milk", "milk tea", "tea milk", "tea milk", "tea milk", "tea"]
    rewards = ["0.5", "1", "7", "-1", "much", "1"]
    assert x(slate=slates, reward=rewards, chance=["0.5"] * 6) == [1.0, 0.0, 2.0, 0.0, 0.0, 0.0]
    assert x(slate=slates[:1], reward=["1"], chance=["0.5 0.5"]) == [
        0.0
    ]  # of places: not of the slate
    assert x(slate=slates[:1], reward=["1"], propensity="uniform") == [12.0]


def test_whole_numbers_are_the_same_items_in_any_column() -> None:
    policy = Policy(("101", "205"), items=3)
    assert x(policy, "uniform", slate=["101 205", "[101, 205]"], click=[205.0, 101.0]) == [3.0, 3.0]


# --- what is published


def written(folder: Path, **columns: list[Any]) -> Path:
    polars.DataFrame(columns).write_parquet(folder / "log.parquet")
    return folder / "log.parquet"


@pytest.fixture
def shop(tmp_path: Path) -> tuple[Path, float]:
    """A uniform log of two out of four items, and what tea and milk are worth there."""
    generator = np.random.default_rng(3)
    names = np.array(["tea", "milk", "soap", "rope"])
    likes = np.array([0.3, 0.2, 0.1, 0.0])
    shown = np.argsort(generator.random((40_000, 4)), axis=1)[:, :2]
    lots = generator.random(40_000)
    first = lots < likes[shown[:, 0]]
    second = ~first & (lots < likes[shown[:, 0]] + 0.5 * likes[shown[:, 1]])
    clicks = np.where(first, names[shown[:, 0]], np.where(second, names[shown[:, 1]], None))
    slates = [" ".join(names[row]) for row in shown]
    return written(tmp_path, slate=slates, click=clicks.tolist()), 0.3 + 0.5 * 0.2


def test_the_value_of_a_policy_is_found_within_its_stated_error(shop: tuple[Path, float]) -> None:
    log, worth = shop
    found = evaluate_log(POLICY, log, Privacy(1.0), propensity="uniform", seed=1)
    error = sqrt(found["noise_standard_deviation"] ** 2 + found["sampling_standard_deviation"] ** 2)
    assert abs(found["estimate"] - worth) < 4 * error < 0.03
    assert found["noise_standard_deviation"] == pytest.approx(sqrt(2) * 4 / 40_000, rel=0.01)
    assert found["sampling_standard_deviation"] < found["sampling_standard_deviation_at_most"]
    assert found["sampling_standard_deviation_at_most"] == pytest.approx(2 / 200)
    assert (found["clip"], found["rows"], found["answer"]) == (4.0, 40_000, "click")
    worse = evaluate_log(
        Policy(("rope", "soap"), 4), log, Privacy(1.0), propensity="uniform", seed=1
    )
    assert worse["estimate"] < 0.1


def test_a_row_moves_what_is_published_by_its_clip_at_most(
    tmp_path: Path, monkeypatch: Any
) -> None:
    """The numbers that reach the only sum, under hostile chances: clipped there, and one
    release.
    """
    sums: list[RunningSum] = []
    real = RunningSum.release_if_due

    def watched(self: RunningSum) -> bool:
        sums.append(self)
        (aggregate,) = self._engine.block.values()
        assert 0 <= int(aggregate.values[0]) <= 3 * aggregate.aggregator.levels
        assert aggregate.aggregator.sensitivity(1) == aggregate.aggregator.levels
        assert aggregate.aggregator.bound == 5.0
        return real(self)

    monkeypatch.setattr(RunningSum, "release_if_due", watched)
    log = written(
        tmp_path, slate=["tea milk"] * 3, click=["tea"] * 3, chance=["1e-300", "0.0001", "1e400"]
    )
    found = evaluate_log(POLICY, log, Privacy(1.0), propensity="chance", clip=5.0)
    assert len(sums) == sums[0].releases == 1
    assert sums[0].guarantee.epsilon_spent == pytest.approx(1.0, rel=1e-6)
    assert sums[0].guarantee.epsilon_spent <= 1.0
    assert not sums[0].guarantee.simulated
    assert found["guarantee"] == str(sums[0].guarantee)


def test_two_logs_that_differ_in_one_row_are_told_apart_as_little_as_was_promised(
    tmp_path: Path,
) -> None:
    """The law of what is published: discrete Laplace, shifted by at most ε of its scale."""
    shifts = []
    for number, answer in enumerate(["tea", ""]):
        (tmp_path / str(number)).mkdir()
        log = written(tmp_path / str(number), slate=["tea milk"] * 2, click=["tea", answer])
        found = evaluate_log(
            POLICY, log, Privacy(0.5), propensity="uniform", seed=9
        )  # the same noise
        shifts.append(found["estimate"] * 2)
        scale = found["noise_standard_deviation"] * 2 / sqrt(2)
    assert shifts[0] - shifts[1] == pytest.approx(4.0)
    assert 0.999 * 0.5 < (shifts[0] - shifts[1]) / scale <= 0.5 * (1 + 1e-6)


def test_more_rows_a_person_take_more_noise(shop: tuple[Path, float]) -> None:
    one, three = (
        evaluate_log(POLICY, shop[0], Privacy(1.0, contributions=c), propensity="uniform", seed=1)
        for c in (1, 3)
    )
    assert three["noise_standard_deviation"] == pytest.approx(
        3 * one["noise_standard_deviation"], rel=1e-3
    )
    assert "3 rounds of one person" in three["guarantee"]


def test_the_policy_of_a_run_is_its_newest_slate_and_both_together_are_told(
    tmp_path: Path, shop: tuple[Path, float]
) -> None:
    settings = 'epsilon = 1.0\nseed = 1\ndelta = 1e-6\nhorizon = 300\nitems = ["tea", "milk", "soap", "rope"]\n'
    (tmp_path / "run.toml").write_text(settings + "slots = 2\n")
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
    arguments = [
        "evaluate",
        str(tmp_path / "run"),
        "--data",
        str(shop[0]),
        "--propensity",
        "uniform",
    ]
    found = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).output)
    assert found["together_with_the_run"]["epsilon"] == pytest.approx(2.0, rel=1e-3)
    assert found["together_with_the_run"]["guarantee"].startswith("SIMULATED")  # the run had a seed
    assert not found["guarantee"].startswith("SIMULATED")
    told = CliRunner().invoke(app, arguments).output
    assert "would have earned" in told
    assert "clicks a person" in told
    assert "they add up" in told


# --- what is refused, and what must not be


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
            "uniform slates need to know of how many items",
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
            "a policy has `slate` and `items`, not slots",
        ),
        ("slate = [", ["slate", "click"], "uniform", "is not TOML: "),
        ('slate = ["a"]', ["slate"], "p", "a column click or a column reward, and has neither"),
        ('slate = ["a"]', ["slate", "click", "reward"], "p", "and has both"),
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
def test_what_is_refused_is_refused_in_one_line_from_public_facts(
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
    with pytest.raises(ConfigError, match="the number of rows must be"):
        evaluate_log(POLICY, log, Privacy(1.0), propensity="uniform")
