"""If these fail, `discreet check` spends, writes, leaks, or counts other rows than a run loses."""

import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from typer.testing import CliRunner

from discreet import ConfigError, ContextualBandit, Hedge, RunningSum, SetMaximizer, SetSelector
from discreet.cli import app
from discreet.domains import UniformMatroid
from discreet.functions import ClickModel
from discreet.records.array_table import ArrayTable
from discreet.records.check import NOT_PRIVATE
from discreet.records.columns import Columns
from discreet.records.table import LogTable
from discreet.runs.check import check_log
from runs.logs import BASE, PRIVACY, SHOP, run

QUIET = Console(quiet=True)
DIAMONDS = (
    BASE
    + """
learner = "StreamingLearner"
domain = "LpBall"
loss = "SquaredLoss"
horizon = 1000
features = ["carat", "cut", "sold", "depth"]
target = "price"
bounds = { carat = [0, 5], price = [0, 20000], sold = [0, 5000], depth = [0, 100] }
categories = { cut = ["Fair", "Ideal"] }
dates = { sold = "days since 2020-01-01" }
"""
)
GOOD = "0.5,Ideal,2021-02-03,61,3000,x"
STONES = f"""carat,cut,sold,depth,price,note
{GOOD}
heavy,Ideal,2021-02-03,61,3000,x
0.5,Superb,2021-02-03,61,3000,x
0.5,Ideal,soon,61,3000,x
0.5,Ideal,2021-02-03,,3000,x
"0.5,Ideal
heavy,Superb,2021-02-03,61,3000,x
{GOOD}
"""


def checked(folder: Path, settings: str, log: str, name: str = "log.csv") -> Any:
    """Write the settings and the log, and check the log."""
    (folder / "run.toml").write_text(settings)
    (folder / name).write_text(log)
    return check_log(folder / "run.toml", folder / name, QUIET)


# --- what is counted ------------------------------------------------------------------------------


def test_rows_are_counted_under_the_rule_that_they_break(tmp_path: Path) -> None:
    found = checked(tmp_path, DIAMONDS, STONES)
    assert found.by_rule == {
        "line: not UTF-8, cannot be split, or all cells are empty": 1,
        "carat: no number": 2,
        "cut: none of the listed categories": 2,
        "sold: no date such as 2026-01-31": 1,
        "depth: empty": 1,
    }
    assert (found.rows, found.unreadable) == (8, 6)
    lines = str(found).splitlines()
    assert lines[0] == NOT_PRIVATE
    assert "carat: no number (2 rows)" in lines
    assert lines[-1] == "rows that cannot be read, in all: 6 of 8"


def test_filled_cells_and_other_categories_can_be_read(tmp_path: Path) -> None:
    rules = '\nfill = { depth = 60 }\nother = { cut = "Fair" }\n'
    found = checked(tmp_path, DIAMONDS + rules, STONES)
    assert "depth: empty" not in found.by_rule
    assert "cut: none of the listed categories" not in found.by_rule


CELLS = st.one_of(
    st.none(), st.text(max_size=3), st.floats(), st.sampled_from(["Fair", "Ideal", "2021-02-03"])
)


@given(st.lists(st.tuples(*[CELLS] * 4), max_size=8), st.booleans())
def test_a_check_names_the_rows_that_reading_blanks(rows: list[Any], fills: bool) -> None:
    more: dict[str, Any] = {"fill": {"carat": 1.0, "cut": "Fair"}} if fills else {}
    columns = Columns(
        features=("carat", "cut", "sold"),
        target="price",
        bounds={"carat": (0, 5), "sold": (0, 5000), "price": (0, 9)},
        categories={"cut": ("Fair", "Ideal")},
        dates={"sold": "days since 2020-01-01"},
        **more,
    )
    cells = list(zip(*rows, strict=True)) or [()] * 4
    table = {
        name: polars.Series(column, dtype=polars.Object)
        for name, column in zip(columns.read, cells, strict=True)
    }
    for read in (LogTable(polars.DataFrame(table)), ArrayTable.of_rows(rows, columns.read)):
        samples = columns.samples(read, shifts=True)
        fine = np.isfinite(samples.features).all(axis=1) & np.isfinite(samples.targets)
        unread = np.zeros(len(rows), dtype=np.bool_)
        for named in columns.unreadable(read).values():
            unread |= named
        assert (unread == ~fine).all()


def test_slates_clicks_and_propensities_have_rules_of_their_own(tmp_path: Path) -> None:
    settings = SHOP + 'feedback = "clicks"\npropensity = "p"\nleast_propensity = 0.1\n'
    log = """slate,click,p
tea milk,tea,0.5
tea rope,tea,0.5
tea milk,soap,0.5
tea milk,,2
tea milk,,0.5 0.4
,tea,0.5
"""
    assert checked(tmp_path, settings, log).by_rule == {
        "slate: no items": 1,
        "slate: an item that is not in the catalogue": 1,
        "click: not a shown item": 2,
        "p: no probability": 1,
    }


def test_arms_contexts_and_rewards_have_rules_of_their_own(tmp_path: Path) -> None:
    settings = (
        BASE
        + """
learner = "ContextualBandit"
horizon = 100
arms = ["low", "high"]
features = ["age"]
propensity = "p"
least_propensity = 0.1
"""
    )
    log = "age,arm,reward,p\n1,low,1,1\nold,low,1,1\n1,mid,1,1\n1,,1,1\n1,low,,1\n1,high,1,0\n"
    assert checked(tmp_path, settings, log).by_rule == {
        "age: no number": 1,
        "reward: empty": 1,
        "arm: empty": 1,
        "arm: none of the arms": 1,
        "p: no probability": 1,
    }


def test_costs_of_sets_and_json_lines_are_checked(tmp_path: Path) -> None:
    settings = (
        BASE
        + """
learner = "SetMinimizer"
horizon = 100
items = ["a", "b"]
feedback = "bandit"
slates = "decided"
"""
    )
    log = '{"slate": ["a"], "cost": 1}\n{"slate": "a c", "cost": "x"}\n{"slate": []}\nnone\n'
    found = checked(tmp_path, settings, log, "log.jsonl")
    assert found.by_rule == {
        "line: no JSON object with these keys": 1,
        "cost: empty": 1,
        "cost: no number": 1,
        "slate: an item that is not in the catalogue": 1,
    }
    assert found.unreadable == 3


def test_people_without_a_name_are_counted_where_rounds_must_name_them(tmp_path: Path) -> None:
    settings = SHOP + 'keyed = true\nperson = "who"\n'
    log = "who,tea,milk,soap\nann,1,1,1\n,1,1,1\nann,1,1,1\n"
    assert checked(tmp_path, settings, log).by_rule == {"who: no name": 1}


# --- learners in Python ---------------------------------------------------------------------------


def test_answers_in_lists_and_arrays_are_checked() -> None:
    hedge = Hedge(["tea", "milk"], horizon=100, privacy=PRIVACY)
    rows: list[Any] = [[0.1, 0.2], None, [0.1], ["x", 0.2], [0.1, None]]
    assert hedge.check(rows).by_rule == {
        "row: all cells are empty": 2,
        "tea: no number": 1,
        "milk: empty": 1,
    }
    assert hedge.check(np.ones((5, 2))).unreadable == 0
    clicks = SetMaximizer(["a", "b"], 1, 100, PRIVACY, feedback="clicks")
    found = clicks.check(["a", "c", None])
    assert found.by_rule == {"click: an item that is not in the catalogue": 1}


def test_a_check_in_python_reads_the_columns_that_a_table_has() -> None:
    arms = ContextualBandit(2, 1, 100, PRIVACY)
    frame = polars.DataFrame({"x": [0.5, None], "reward": ["1", "much"]})
    assert arms.check(frame).by_rule == {"x: empty": 1, "reward: no number": 1}
    assert arms.check(frame.drop("reward")).by_rule == {"row: all cells are empty": 1}
    shop = SetMaximizer(["a", "b"], 1, 100, PRIVACY, feedback="bandit")
    log = polars.DataFrame({"slate": ["a", "c"], "reward": [1.0, 2.0], "p": [1.5, 0.5]})
    assert shop.check(log.drop("slate")).unreadable == 0
    assert shop.check(log, propensity="p", least_propensity=0.1).by_rule == {
        "slate: an item that is not in the catalogue": 1,
        "p: no probability": 1,
    }


def test_records_of_a_selection_are_checked_and_nothing_is_spent() -> None:
    selector = SetSelector(UniformMatroid(2, rank=1), PRIVACY, function=ClickModel, seed=1)
    frame = polars.DataFrame({"a": ["0.5", "x", None], "b": [0.5, 0.5, None], "c": [1, 1, None]})
    found = selector.check(frame, columns=["a", "b"])
    assert found.by_rule == {"row: all cells are empty": 1, "a: no number": 1}
    assert selector.check([[0.5, 0.5], [0.5, "x"]]).by_rule == {"1: no number": 1}
    assert selector.fit(np.ones((20, 2))).people == 20


def test_a_check_leaves_the_learner_its_ledger_and_its_files_untouched(tmp_path: Path) -> None:
    total = RunningSum(2, 1000, PRIVACY, bound=1.0, block=10, journal=tmp_path / "state")
    total.observe_many(np.ones((10, 2)))
    before = (tmp_path / "state").read_bytes(), total.clock, total.releases, total.guarantee
    rows = polars.DataFrame({"a": [1.0, None], "b": [1.0, 1.0]})
    assert total.check(rows).unreadable == 1
    after = (tmp_path / "state").read_bytes(), total.clock, total.releases, total.guarantee
    assert after == before


# --- the command ----------------------------------------------------------------------------------


def test_the_command_finds_rows_exits_with_zero_and_writes_nothing(tmp_path: Path) -> None:
    checked(tmp_path, DIAMONDS, STONES)
    files = {path: path.read_bytes() for path in tmp_path.rglob("*")}
    arguments = ["check", str(tmp_path / "run.toml"), "--data", str(tmp_path / "log.csv")]
    shown = CliRunner().invoke(app, arguments)
    assert shown.exit_code == 0
    assert shown.stdout.splitlines()[0] == NOT_PRIVATE
    assert "sold: no date such as 2026-01-31 (1 row)" in shown.stdout
    for value in ("heavy", "Superb", "soon", "3000", "20000"):
        assert value not in shown.output
    plain = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).stdout)
    assert next(iter(plain)) == "warning"
    assert plain["unreadable"] == 6
    assert {path: path.read_bytes() for path in tmp_path.rglob("*")} == files


@pytest.mark.parametrize("data", ["gone.csv", "log.csv"])
def test_a_log_that_run_refuses_is_refused_with_the_same_line(tmp_path: Path, data: str) -> None:
    (tmp_path / "run.toml").write_text(SHOP)
    (tmp_path / "log.csv").write_text("tea,soap\n1,1\n")
    named = [str(tmp_path / "run.toml"), "--data", str(tmp_path / data)]
    by_check = CliRunner().invoke(app, ["check", *named])
    by_run = CliRunner().invoke(app, ["run", *named, "--out", str(tmp_path / "out")])
    assert by_check.exit_code == by_run.exit_code == 2
    assert by_check.stderr == by_run.stderr
    assert len(by_check.stderr.splitlines()) == 1


def test_a_typed_list_where_a_number_should_be_is_refused_before_a_run_begins(
    tmp_path: Path,
) -> None:
    log = polars.DataFrame({"tea": [[0.5]], "milk": [0.5], "soap": [0.5]})
    with pytest.raises(ConfigError, match="column tea must hold numbers, got List"):
        run(tmp_path, SHOP, log, parquet=True)
    assert not (tmp_path / "out").exists()


# --- what is public -------------------------------------------------------------------------------


def tastes(count: int, **more: Any) -> polars.DataFrame:
    """Return a log of whole preferences."""
    return polars.DataFrame({name: [0.5] * count for name in ("tea", "milk", "soap")} | more)


@pytest.mark.parametrize(
    ("settings", "log", "notice"),
    [
        (SHOP, tastes(700), "the log has 700 rows, and horizon is 600: the rest is not read"),
        (
            SHOP,
            tastes(100),
            "the log has 100 rows, and horizon is 600: the plan has room for 500 more",
        ),
        (
            SHOP,
            tastes(600, milk=["0.5"] * 600),
            "the schema of the log says that milk holds text: cells that spell no number add "
            "nothing",
        ),
    ],
)
def test_public_facts_are_noted_before_the_first_release(
    tmp_path: Path, settings: str, log: polars.DataFrame, notice: str
) -> None:
    shown = Console(file=io.StringIO(), width=300)
    report = run(tmp_path, settings, log, parquet=True, console=shown)
    assert report["notices"] == [notice]
    printed = shown.file.getvalue()  # type: ignore[attr-defined]
    assert printed.startswith(f"Note: {notice}\n")
    found = check_log(tmp_path / "run.toml", tmp_path / "log.parquet", QUIET)
    assert found.notices == (notice,)
    assert f"Note: {notice}" in str(found)


def test_a_delta_above_one_over_the_rows_is_noted(tmp_path: Path) -> None:
    settings = SHOP.replace("1e-6", "1e-2")
    with pytest.warns(UserWarning, match="is more than 1/600"):
        report = run(tmp_path, settings, tastes(150))
    assert "delta = 0.01 is more than 1/150, one over the number of people" in str(
        report["notices"]
    )


def test_texts_of_a_csv_file_are_never_noted(tmp_path: Path) -> None:
    assert "notices" not in run(tmp_path, SHOP, tastes(600, milk=["much"] * 600))


def test_a_run_prints_no_count_that_depends_on_cells(tmp_path: Path) -> None:
    """Rows that cannot be read differ in number; with a seed, all else is alike."""
    printed = []
    for number, unreadable in enumerate((0, 7, 599)):
        log = tastes(600, milk=["0.5"] * (600 - unreadable) + ["much"] * unreadable)
        shown = Console(file=io.StringIO(), width=300)
        run(tmp_path / str(number), SHOP, log, console=shown)
        text = shown.file.getvalue()  # type: ignore[attr-defined]
        assert NOT_PRIVATE not in text
        text = re.sub(r"now slate: .*", "", text.replace(str(tmp_path / str(number)), ""))
        printed.append(re.findall(r"\d[\d,.]*", text))
    assert printed[0] == printed[1] == printed[2]
