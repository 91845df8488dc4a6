"""If these fail, `discreet run` or `evaluate` misreads the log of a site, or a run loses rows."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from rich.console import Console
from typer.testing import CliRunner

from discreet import ConfigError, Privacy
from discreet.cli import app
from discreet.runs.evaluate import Policy, evaluate_log
from discreet.runs.run import run_log
from discreet.runs.settings import log_settings_in

NAMES = ["tea", "milk", "soap", "rope"]
SHOP = f"""
epsilon = 1.0
delta = 1e-6
seed = 1
horizon = 400
items = {NAMES}
slots = 2
stream = "iid"
feedback = "clicks"
"""
OWN = 'slates = "decided"\n'
OTHERS = 'propensity = "p"\nleast_propensity = 0.1\n'
POSITIONS = '[rename]\nitem_id = "item"\n[layout]\nkind = "positions"\nrequest = "id"\n'
EVENTS = """[layout]
kind = "events"
request = "id"
event = "event"
impression = "view"
click = "click"
time = "time"
wait = "1 hour"
"""


@pytest.fixture
def slates() -> polars.DataFrame:
    """A log with one row per slate; slates are uniform, and clicks are on soap or rope."""
    generator = np.random.default_rng(5)
    shown = np.argsort(generator.random((300, 4)), axis=1)[:, :2]
    clicks = [next((NAMES[item] for item in slate if item >= 2), None) for slate in shown]
    rows = [" ".join(NAMES[item] for item in slate) for slate in shown]
    return polars.DataFrame({"slate": rows, "click": clicks, "p": ["0.25 0.25"] * 300})


def as_positions(slates: polars.DataFrame) -> polars.DataFrame:
    """Return the log with one row per position, the last position first."""
    rows = [
        {
            "id": f"r{number}",
            "item_id": item,
            "position": 2 - place,
            "click": int(item == row["click"]),
            "p": 0.25,
        }
        for number, row in enumerate(slates.iter_rows(named=True))
        for place, item in enumerate(reversed(row["slate"].split()))
    ]
    return polars.DataFrame(rows)


def as_events(slates: polars.DataFrame) -> polars.DataFrame:
    """Return the log as events: all views, then all clicks."""
    views = [
        {"id": number, "event": "view", "time": number, "slate": row["slate"], "p": row["p"]}
        for number, row in enumerate(slates.iter_rows(named=True))
    ]
    clicks = [
        {"id": number, "event": "click", "time": number + 60, "item": item}
        for number, item in enumerate(slates["click"])
        if item is not None
    ]
    return polars.DataFrame([*views, *clicks], infer_schema_length=None)


def run(folder: Path, settings: str, log: polars.DataFrame, out: str = "out") -> dict[str, Any]:
    log.write_csv(folder / "log.csv")
    (folder / "run.toml").write_text(settings)
    return run_log(folder / "run.toml", folder / "log.csv", folder / out, Console(quiet=True))


def decisions(folder: Path, out: str = "out") -> list[Any]:
    lines = (folder / out / "decisions.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("declared", [OWN, OTHERS], ids=["own", "others"])
def test_a_log_teaches_the_same_in_every_layout(
    declared: str, slates: polars.DataFrame, tmp_path: Path
) -> None:
    report = run(tmp_path, SHOP + declared, slates, "rows")
    report.pop("notices", None)  # only a log without a layout knows its length in advance
    assert run(tmp_path, SHOP + declared + POSITIONS, as_positions(slates), "places") == report
    assert run(tmp_path, SHOP + declared + EVENTS, as_events(slates), "events") == report
    assert decisions(tmp_path, "places") == decisions(tmp_path, "events")
    assert decisions(tmp_path, "places") == decisions(tmp_path, "rows")
    assert report.get("warm_start_rows", report["visitors"]) == 300


def test_rewards_are_read_from_positions(slates: polars.DataFrame, tmp_path: Path) -> None:
    settings = SHOP.replace("clicks", "bandit") + OTHERS
    rows = slates.with_columns(reward=polars.col("click").is_not_null().cast(polars.Float64))
    report = run(tmp_path, settings, rows, "rows")
    places = as_positions(slates).rename({"click": "reward"})
    assert run(tmp_path, settings + POSITIONS, places, "places") == report


@pytest.mark.parametrize("read", [1, 120, 121, 599, 600])
def test_a_run_over_positions_goes_on_where_it_stopped(
    read: int, slates: polars.DataFrame, tmp_path: Path
) -> None:
    """Also where the log ended within a request: that request was read, and counts once."""
    log = as_positions(slates)
    whole = run(tmp_path, SHOP + OWN + POSITIONS, log, "whole")
    first = run(tmp_path, SHOP + OWN + POSITIONS, log.head(read))
    assert first["visitors"] == (read + 1) // 2
    report = run(tmp_path, SHOP + OWN + POSITIONS, log)
    assert report["visitors"] == 300
    if read % 2 == 0:
        assert report == whole
        assert decisions(tmp_path) == decisions(tmp_path, "whole")
    with pytest.raises(ConfigError, match="the log has 60 rows, but 300 were read before"):
        run(tmp_path, SHOP + OWN + POSITIONS, log.head(120))


def test_a_run_over_events_goes_on_where_it_stopped(
    slates: polars.DataFrame, tmp_path: Path
) -> None:
    whole = run(tmp_path, SHOP + OWN + EVENTS, as_events(slates), "whole")
    run(tmp_path, SHOP + OWN + EVENTS, as_events(slates.head(77)))
    assert run(tmp_path, SHOP + OWN + EVENTS, as_events(slates)) == whole
    assert decisions(tmp_path) == decisions(tmp_path, "whole")


def test_a_later_run_with_another_layout_is_refused(
    slates: polars.DataFrame, tmp_path: Path
) -> None:
    run(tmp_path, SHOP + OWN + POSITIONS, as_positions(slates))
    for settings, log in [(OWN, slates), (OWN + EVENTS, as_events(slates))]:
        with pytest.raises(
            ConfigError, match=r"reads a log with layout = .'kind': 'positions', 'r"
        ):
            run(tmp_path, SHOP + settings, log)
    assert run(tmp_path, SHOP + OWN + POSITIONS, as_positions(slates))["visitors"] == 300


def test_a_run_without_a_layout_goes_on_without_one(
    slates: polars.DataFrame, tmp_path: Path
) -> None:
    run(tmp_path, SHOP + OWN, slates)
    with pytest.raises(ConfigError, match="reads a log with layout = one row per slate: go on"):
        run(tmp_path, SHOP + OWN + POSITIONS, as_positions(slates))
    assert run(tmp_path, SHOP + OWN, slates)["visitors"] == 300


def test_a_warm_start_and_the_runs_own_log_may_have_different_layouts(
    slates: polars.DataFrame, tmp_path: Path
) -> None:
    run(tmp_path, SHOP + OTHERS + POSITIONS, as_positions(slates))
    assert run(tmp_path, SHOP + OWN, slates)["visitors"] == 300
    with pytest.raises(ConfigError, match="reads a log with layout = one row per slate: go on"):
        run(tmp_path, SHOP + OWN + EVENTS, as_events(slates))
    with pytest.raises(ConfigError, match=r"with warm_start_layout = .'kind': 'positions'"):
        run(tmp_path, SHOP + OTHERS, slates)


# --- evaluations ----------------------------------------------------------------------------------


def evaluated(folder: Path, log: polars.DataFrame, settings: str, **named: Any) -> Any:
    log.write_csv(folder / "log.csv")
    (folder / "log.toml").write_text(settings)
    return evaluate_log(
        Policy(("soap", "rope"), items=4),
        folder / "log.csv",
        Privacy(1.0),
        propensity="p",
        log=log_settings_in(folder / "log.toml"),
        seed=1,
        **named,
    )


def test_an_evaluation_is_the_same_in_every_layout(
    slates: polars.DataFrame, tmp_path: Path
) -> None:
    result = evaluated(tmp_path, slates, "")
    assert evaluated(tmp_path, as_positions(slates), POSITIONS) == result
    assert evaluated(tmp_path, as_events(slates), EVENTS) == result
    of_a_run = SHOP + OTHERS + POSITIONS
    assert evaluated(tmp_path, as_positions(slates), of_a_run) == result
    assert result["rows"] == 300


def test_a_reward_is_not_weighted_by_the_propensities_of_places(
    slates: polars.DataFrame, tmp_path: Path
) -> None:
    """It would be estimated as 0: no row has the propensity of its slate."""
    places = as_positions(slates).with_columns(reward=polars.col("click"))
    with pytest.raises(
        ConfigError, match="p has a propensity per position, and a reward needs that"
    ):
        evaluated(tmp_path, places, POSITIONS, answer="reward")
    assert evaluated(tmp_path, places, POSITIONS, answer="click")["answer"] == "click"


def test_json_lines_have_no_header_so_the_answer_is_an_option(
    slates: polars.DataFrame, tmp_path: Path
) -> None:
    slates.write_ndjson(tmp_path / "log.jsonl")
    policy = Policy(("soap", "rope"), items=4)
    with pytest.raises(ConfigError, match="may have both: choose with --answer"):
        evaluate_log(policy, tmp_path / "log.jsonl", Privacy(1.0), propensity="p")
    result = evaluate_log(
        policy, tmp_path / "log.jsonl", Privacy(1.0), propensity="p", answer="click", seed=1
    )
    assert result == evaluated(tmp_path, slates, "")


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "settings", "message"),
    [
        (
            "run",
            SHOP + OWN + POSITIONS.replace("positions", "events"),
            "run.toml: layout: events l",
        ),
        (
            "run",
            SHOP + OWN + POSITIONS.replace("positions", "slots"),
            "layout must be positions or events, got 'slots'",
        ),
        (
            "run",
            SHOP + OWN + POSITIONS.replace('"id"', '"no"'),
            "log.csv lacks the columns no; [re",
        ),
        ("run", SHOP + OWN + POSITIONS.replace("layout", "layuot"), "did you mean layout?"),
        (
            "run",
            SHOP + OWN + POSITIONS.replace('request = "id"', ""),
            "every row is a slate of one",
        ),
        (
            "run",
            SHOP.replace("clicks", "full") + POSITIONS,
            'run.toml: layout is for slates: feedback = "clicks" or "bandit"',
        ),
        ("evaluate", POSITIONS.replace("positions", "position"), "did you mean positions?"),
        ("evaluate", "layuot = 1", "did you mean layout?"),
        ("evaluate", "", "the log lacks the columns slate; --log names other columns and layouts"),
        ("evaluate", POSITIONS + "\n[", "is not TOML"),
    ],
)
def test_a_layout_that_does_not_fit_is_refused_in_one_line(
    command: str, settings: str, message: str, slates: polars.DataFrame, tmp_path: Path
) -> None:
    as_positions(slates).write_csv(tmp_path / "log.csv")
    config = tmp_path / "run.toml"
    config.write_text(settings)
    if command == "run":
        options = [str(config), "--out", str(tmp_path / "out")]
    else:
        (tmp_path / "policy.toml").write_text('slate = ["soap", "rope"]')
        options = [str(tmp_path / "policy.toml"), "--propensity", "p", "--log", str(config)]
    result = CliRunner().invoke(app, [command, *options, "--data", str(tmp_path / "log.csv")])
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1), result.output
    assert message in result.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "log.csv is empty: its first line must have the names of the columns"),
        (b"id,item_id,position,click,p\n", "log.csv has no rows: a warm start needs some"),
        (b"id,item_id,position,click,p,caf\xe9\n", "is not UTF-8: convert the file, for instance"),
    ],
)
def test_a_log_that_cannot_be_read_is_refused_in_one_line(
    content: bytes, message: str, tmp_path: Path
) -> None:
    (tmp_path / "log.csv").write_bytes(content)
    (tmp_path / "run.toml").write_text(SHOP + OTHERS + POSITIONS)
    arguments = ["run", str(tmp_path / "run.toml"), "--data", str(tmp_path / "log.csv")]
    result = CliRunner().invoke(app, [*arguments, "--out", str(tmp_path / "out")])
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1), result.output
    assert message in result.stderr
