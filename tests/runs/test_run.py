"""If these fail, a run over a log learns something else than the log says, or cannot go on after
a kill.
"""

import builtins
import io
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from rich.console import Console

import discreet
from discreet import (
    ConfigError,
    Hedge,
    Privacy,
    RunningSum,
    SetMaximizer,
    SetMinimizer,
    StateError,
    StreamingLearner,
)
from discreet.domains import LpBall
from discreet.learners.log_adapter import log_adapter_of
from discreet.learners.registry import HOMES
from discreet.losses import SquaredLoss
from discreet.records.table import LogTable, read_log
from discreet.runs.decisions import Decisions
from discreet.runs.run import run_log
from discreet.runs.status import status_of

PRIVACY = Privacy(1.0, 1e-6)
BASE = "epsilon = 1.0\ndelta = 1e-6\nseed = 1\n"
SHOP = BASE + 'horizon = 600\nitems = ["tea", "milk", "soap"]\nslots = 2\n'


def run(
    folder: Path,
    settings: str,
    log: polars.DataFrame,
    *,
    parquet: bool = False,
    console: Console | None = None,
) -> dict[str, Any]:
    """What is decided after a run over this log."""
    folder.mkdir(exist_ok=True)
    path = folder / ("log.parquet" if parquet else "log.csv")
    if parquet:
        log.write_parquet(path)
    else:
        log.write_csv(path)
    (folder / "run.toml").write_text(settings)
    return run_log(folder / "run.toml", path, folder / "out", console or Console(quiet=True))


# --- every learner over a log


def test_whole_preferences_are_read_by_the_names_of_items_in_any_order(
    tmp_path: Path, crowd: np.random.Generator
) -> None:
    tastes = crowd.random((600, 3)) * [0.3, 0.9, 0.6]
    shop = SetMaximizer(["tea", "milk", "soap"], 2, 600, PRIVACY, seed=1)
    shop.replay(tastes)
    columns = {
        "day": np.arange(600),
        "soap": tastes[:, 2],
        "tea": tastes[:, 0],
        "milk": tastes[:, 1],
    }
    report = run(tmp_path, SHOP, polars.DataFrame(columns))
    assert report["slate"] == shop.decision["slate"]
    assert report["visitors"] == 600
    assert report["guarantee"] == str(shop.guarantee)


@pytest.mark.parametrize("parquet", [False, True])
@pytest.mark.parametrize("feedback", ["bandit", "clicks"])
@pytest.mark.parametrize("items", [["tea", "milk", "soap"], [101, 205, 309], 3])
def test_a_log_of_what_was_shown_teaches_what_showing_it_taught(
    tmp_path: Path, crowd: np.random.Generator, feedback: Any, items: Any, parquet: bool
) -> None:
    shop = SetMaximizer(items, 2, 600, PRIVACY, feedback=feedback, stream="iid", seed=1)
    slates, answers = [], []
    for _ in range(600):
        slate = np.asarray(shop.act()).tolist()
        wanted = [item for item in slate if crowd.random() < 0.5]
        answer = float(len(wanted) > 0) if feedback == "bandit" else wanted[0] if wanted else None
        shop.observe(answer)
        slates.append(slate)
        answers.append(answer)
    shop.release_if_due()
    shown = slates if parquet else [" ".join(map(str, slate)) for slate in slates]
    log = polars.DataFrame({"slate": shown, "reward" if feedback == "bandit" else "click": answers})
    settings = (
        BASE
        + f'horizon = 600\nitems = {items}\nslots = 2\nfeedback = "{feedback}"\nstream = "iid"\n'
    )
    settings += 'slates = "decided"\n'
    report = run(tmp_path, settings, log, parquet=parquet)
    assert report["releases"] == shop.releases > 1
    assert report["slate"] == shop.decision["slate"]
    kept = [
        json.loads(line) for line in (tmp_path / "out" / "decisions.jsonl").read_text().splitlines()
    ]
    assert kept[-1]["slate"] == shop.decision["slate"]


def test_a_row_whose_slate_was_not_decided_counts_as_nobody(tmp_path: Path) -> None:
    settings = SHOP + 'feedback = "bandit"\nslates = "decided"\n'
    others = run(
        tmp_path / "others",
        settings,
        polars.DataFrame({"slate": ["rope"] * 600, "reward": [1.0] * 600}),
    )
    nobody = SetMaximizer(["tea", "milk", "soap"], 2, 600, PRIVACY, feedback="bandit", seed=1)
    while nobody.clock < 600:
        tickets = nobody.open_many(nobody.rounds_until_release)
        nobody.close_many(tickets, [None] * len(tickets))
    nobody.release_if_due()
    assert others["slate"] == nobody.decision["slate"]
    assert others["releases"] == nobody.releases > 1


def test_costs_of_chosen_sets_are_read_in_any_order(
    tmp_path: Path, crowd: np.random.Generator
) -> None:
    site = SetMinimizer(["a", "b", "c"], 600, PRIVACY, feedback="bandit", seed=1)
    lines = []
    for _ in range(600):
        chosen = site.act()
        cost = float(crowd.random() - 0.8 * ("b" in chosen))
        site.observe(cost)
        lines.append((" ".join(reversed(chosen)), cost))
    site.release_if_due()
    log = polars.DataFrame(lines, schema=["slate", "cost"], orient="row")
    settings = (
        BASE
        + 'learner = "SetMinimizer"\nhorizon = 600\nitems = ["a", "b", "c"]\nfeedback = "bandit"\n'
    ) + 'slates = "decided"\n'
    report = run(tmp_path, settings, log)
    assert report["chances"] == site.decision["chances"]
    assert report["releases"] == site.releases > 1


def test_samples_are_read_and_coefficients_named(
    tmp_path: Path, crowd: np.random.Generator
) -> None:
    features = crowd.uniform(-0.5, 0.5, size=(600, 2))
    targets = features @ [0.6, -0.4]
    model = StreamingLearner(
        LpBall(2, p=1.5), SquaredLoss(), 600, PRIVACY, feature_bound=1.0, target_bound=1.0, seed=1
    )
    model.observe_stream(features, targets)
    settings = (
        BASE
        + 'learner = "StreamingLearner"\nhorizon = 600\nfeatures = ["age", "income"]\ntarget = "spent"\n'
    )
    settings += 'feature_bound = 1.0\ntarget_bound = 1.0\n[domain]\nkind = "LpBall"\np = 1.5\n'
    log = polars.DataFrame({"spent": targets, "income": features[:, 1], "age": features[:, 0]})
    report = run(tmp_path, settings, log, parquet=True)
    assert report["coefficients"] == dict(
        zip(["age", "income"], model.coefficients.tolist(), strict=True)
    )


def regression_of_the_readme() -> str:
    readme = (Path(__file__).parents[2] / "README.md").read_text()
    blocks = [block.split("```")[0] for block in readme.split("```toml\n")[1:]]
    return next(block for block in blocks if "StreamingLearner" in block).replace("100000", "20000")


def test_the_regression_of_the_readme_learns_and_a_narrow_domain_gives_notice(
    tmp_path: Path, crowd: np.random.Generator
) -> None:
    features = crowd.uniform(-0.7, 0.7, size=(20_000, 2))
    targets = 0.3 + features @ [0.5, -0.4] + crowd.normal(0, 0.1, size=20_000)
    log = polars.DataFrame({"age": features[:, 0], "income": features[:, 1], "spent": targets})
    settings = "seed = 1\n" + regression_of_the_readme()
    console = Console(record=True, width=200, file=io.StringIO())
    report = run(tmp_path / "wide", settings, log, console=console)
    weights = [report["coefficients"][name] for name in ("age", "income")]
    left = np.var(targets - features @ weights - report["intercept"]) / np.var(targets)
    assert left < 0.2  # of 0.11 that noise leaves
    assert "notices" not in report
    assert "visitor" not in console.export_text() + json.dumps(report)
    narrow = settings.replace("radius = 3.0", "radius = 0.3")
    report = run(tmp_path / "narrow", narrow, log, console=console)
    assert report["notices"] == [
        "the coefficients lie on the boundary of the domain: enlarge radius"
    ]
    assert f"Note: {report['notices'][0]}" in console.export_text()
    assert status_of(tmp_path / "narrow" / "out")["notices"] == report["notices"]


def test_coefficients_of_classes_are_named_row_by_row(
    tmp_path: Path, crowd: np.random.Generator
) -> None:
    features = crowd.uniform(-0.5, 0.5, size=(600, 2))
    settings = BASE + 'learner = "StreamingLearner"\nhorizon = 600\nfeatures = ["age", "income"]\n'
    settings += 'target = "kind"\nfeature_bound = 1.0\ntarget_bound = 1.0\nmethod = "passes"\n'
    settings += 'domain = "LpBall"\n[loss]\nkind = "SoftmaxLoss"\nclasses = 3\n'
    kinds = crowd.integers(3, size=600)
    log = polars.DataFrame({"kind": kinds, "income": features[:, 1], "age": features[:, 0]})
    found = run(tmp_path, settings, log)["coefficients"]
    assert [list(row) for row in found] == [["age", "income"]] * 3


def test_experts_and_sums_name_their_columns(tmp_path: Path, crowd: np.random.Generator) -> None:
    rows = crowd.random((400, 2)) * [0.2, 0.9]
    log = polars.DataFrame({"north": rows[:, 0], "note": ["x"] * 400, "south": rows[:, 1]})
    named = 'horizon = 400\ncolumns = ["north", "south"]\n'
    experts = Hedge(2, 400, PRIVACY, seed=1)
    experts.replay(rows)
    report = run(tmp_path / "experts", BASE + 'learner = "Hedge"\n' + named, log)
    assert list(report["chances"]) == ["north", "south"]
    assert list(report["chances"].values()) == list(experts.decision["chances"].values())
    assert report["chances"]["south"] > 0.9
    total = RunningSum(2, 400, PRIVACY, bound=1.0, block=100, seed=1)
    total.replay(rows)
    total.release_if_due()
    report = run(
        tmp_path / "sum", BASE + 'learner = "RunningSum"\nbound = 1.0\nblock = 100\n' + named, log
    )
    assert report["total"] == dict(zip(["north", "south"], total.total.tolist(), strict=True))


def test_every_learner_has_a_wire() -> None:
    assert {log_adapter_of(name).settings_type.__name__ for name in HOMES} == {
        f"{name}Settings" for name in HOMES
    }


# --- what is wrong with a log is said before anything is spent

MINIMIZER = BASE + 'learner = "SetMinimizer"\nhorizon = 9\nitems = 2\n'
STREAM = 'learner = "StreamingLearner"\nhorizon = 9\nfeature_bound = 1.0\ntarget_bound = 1.0\n'


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (SHOP, r"the log lacks the columns milk, soap: this learner reads tea, milk, soap"),
        (
            SHOP + 'feedback = "clicks"\nslates = "decided"',
            "the log lacks the columns slate, click",
        ),
        (SHOP + 'feedback = "clicks"\ncolumns = ["tea"]', "columns is for feedback"),
        (
            SHOP + 'feedback = "clicks"',
            'slates = "decided", if the log has what this run decided; or',
        ),
        (
            SHOP + 'feedback = "clicks"\nslates = "random"',
            "slates must be one of decided, got 'random'",
        ),
        (
            SHOP + 'slates = "decided"',
            'slates is for feedback = "bandit" or "clicks", got \'full\'',
        ),
        (SHOP + 'function = "AnyFunction"', "a log holds numbers"),
        (SHOP + 'columns = ["tea", "tea", "price"]', "columns must be different columns"),
        (SHOP + 'columns = ["tea", "price"]', "a row has 3 numbers, but `columns` names 2"),
        (SHOP + "columns = 3", "columns must be a list of columns, got 3"),
        (
            SHOP.replace('["tea", "milk", "soap"]', "3"),
            "a row has 3 numbers, and the log 2 columns",
        ),
        (BASE + 'learner = "SetMinimizer"\nhorizon = 9\nitems = 2', "a log holds numbers"),
        (
            BASE
            + 'learner = "SetMinimizer"\nhorizon = 9\nitems = 2\nfeedback = "bandit"\nslates = "decided"',
            "lacks the columns slate, cost",
        ),
        (
            BASE + 'learner = "RunningSum"\nbound = 1.0\ncolumns = ["cup"]',
            "the log lacks the columns cup",
        ),
        (BASE + 'learner = "RunningSum"\nbound = 1.0', "the settings lack dimension"),
        (BASE + 'learner = "Hedge"\nactions = 3', "a row has 3 numbers, and the log 2 columns"),
        (BASE + STREAM, "the settings lack features, target, domain"),
        (
            BASE + STREAM + 'features = ["tea"]\ntarget = "tea"\ndomain = "LpBall"',
            "target must be a column, and none of",
        ),
        (
            BASE + STREAM + 'features = "tea"\ntarget = "price"\ndomain = "LpBall"',
            "features must be a list of columns",
        ),
        (
            BASE + STREAM + 'features = ["tea"]\ntarget = "spent"\ndomain = "LpBall"',
            "the log lacks the columns spent",
        ),
        (
            BASE + STREAM + 'features = ["tea"]\ntarget = "price"\ndomain = "Ball"',
            "domain must be LpBall or Box or Simplex",
        ),
        (
            BASE
            + STREAM
            + 'features = ["tea"]\ntarget = "price"\ndomain = {kind = "LpBall", dimension = 4}',
            "dimension must be 1 with these features, got 4",
        ),
    ],
)
def test_a_log_that_does_not_fit_is_refused_before_anything_is_written(
    tmp_path: Path, settings: str, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        run(tmp_path, settings, polars.DataFrame({"tea": [0.5], "price": [77.75]}))
    assert not (tmp_path / "out").exists()


def test_a_log_that_is_shorter_than_what_was_read_is_refused(tmp_path: Path) -> None:
    log = polars.DataFrame({"tea": [0.5] * 50, "milk": [0.1] * 50, "soap": [0.2] * 50})
    run(tmp_path, SHOP, log)
    with pytest.raises(ConfigError, match="the log has 49 rows, but 50 were read before"):
        run(tmp_path, SHOP, log.head(49))


def test_columns_without_names_must_stay_in_their_order(tmp_path: Path) -> None:
    settings = (
        BASE + 'learner = "RunningSum"\ndimension = 2\nbound = 1.0\nblock = 10\nhorizon = 100\n'
    )
    log = polars.DataFrame({"north": [0.5] * 20, "south": [0.1] * 20})
    run(tmp_path, settings, log)
    with pytest.raises(ConfigError, match="reads the columns north, south: go on with those"):
        run(tmp_path, settings, log.select("south", "north"))


def test_two_runs_in_one_folder_are_refused(tmp_path: Path) -> None:
    log = polars.DataFrame({"tea": [0.5] * 50, "milk": [0.1] * 50, "soap": [0.2] * 50})
    run(tmp_path, SHOP, log)
    (tmp_path / "out" / "columns.json").unlink()
    settings = log_adapter_of("SetMaximizer").from_plain(tomllib.loads(SHOP)).settings
    other = SetMaximizer.from_settings(settings, tmp_path / "out" / "state")
    with pytest.raises(StateError, match="in use"):
        run(tmp_path, SHOP, log)
    assert not (tmp_path / "out" / "columns.json").exists()
    other.detach()


def test_what_is_no_number_says_nothing_and_a_column_of_lists_is_refused_without_its_contents() -> (
    None
):
    table = LogTable(
        polars.DataFrame({"a": [" 0.5", "Jane", None], "b": [1, None, 3], "c": [[77.75], None, []]})
    )
    assert np.array_equal(
        table.numbers(["b", "a"]), [[1, 0.5], [np.nan, np.nan], [3, np.nan]], equal_nan=True
    )
    assert table.texts("c") == ["[77.75]", "", "[]"]
    with pytest.raises(ConfigError, match=r"column c must hold numbers, got List$") as caught:
        table.numbers(["c"])
    assert "77.75" not in str(caught.value)


def test_a_log_that_is_broken_is_not_quoted(tmp_path: Path) -> None:
    for name, content in (("log.csv", b""), ("log.parquet", b"a,b\n1,2,Jane 77.75\n")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ConfigError, match=r"cannot be read as \.") as caught:
            read_log(tmp_path / name)
        assert "77.75" not in str(caught.value)
        assert caught.value.__cause__ is None


def test_one_broken_line_of_a_log_leaves_the_others_as_they_are(tmp_path: Path) -> None:
    for line, wanted in (
        (b"1,2,Jane", [1, 2]),
        (b"\xff,2", [np.nan, 2]),
        (b"1", [1, np.nan]),
        (b"1,2", [1, 2]),
    ):
        (tmp_path / "log.csv").write_bytes(b"a,b\n3,4\n" + line + b"\n5,6\n")
        found = read_log(tmp_path / "log.csv").numbers(["a", "b"])
        assert np.array_equal(found, [[3, 4], wanted, [5, 6]], equal_nan=True)


def test_columns_of_anything_are_read_entry_by_entry_and_their_fields_are_not_quoted() -> None:
    odd = polars.DataFrame({"a": polars.Series([1.0, "0.5", object(), True], dtype=polars.Object)})
    assert np.array_equal(LogTable(odd).numbers(["a"])[:, 0], [1, 0.5, np.nan, 1], equal_nan=True)
    for kind in (polars.Enum(["Jane 77.75", "0.5"]), polars.Categorical, polars.Binary):
        texts = polars.Series(["0.5", "Jane 77.75"]).cast(kind)
        found = LogTable(polars.DataFrame({"a": texts})).numbers(["a"])[:, 0]
        assert np.array_equal(found, [0.5, np.nan], equal_nan=True)
    with pytest.raises(ConfigError, match=r"got Struct$"):
        LogTable(polars.DataFrame({"a": [{"Jane 77.75": 1}]})).numbers(["a"])


# --- kills


@pytest.mark.parametrize(("before", "every"), [("nothing", "3"), ("short.csv", "3")])
def test_a_run_that_is_killed_at_any_line_goes_on_as_if_it_had_not_been(
    tmp_path: Path, before: str, every: str
) -> None:
    """Also in the middle of writing columns.json, at the first start and at later ones."""
    (tmp_path / "shop.toml").write_text(
        BASE + 'horizon = 20\nitems = ["tea", "milk"]\nslots = 1\nblock = 10\n'
    )
    (tmp_path / "log.csv").write_text("tea,milk\n" + "0.5,0.2\n" * 12)
    (tmp_path / "short.csv").write_text("tea,milk\n" + "0.5,0.2\n" * 5)
    program = Path(__file__).with_name("killing.py")
    result = subprocess.run(
        [sys.executable, program, tmp_path, before, every],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["broken"] == [], result.stderr
    assert found["killed"] > 50
    assert found["ways"] > 5


def test_columns_json_is_never_rewritten(tmp_path: Path) -> None:
    log = polars.DataFrame({"tea": [0.5] * 50, "milk": [0.1] * 50, "soap": [0.2] * 50})
    run(tmp_path, SHOP, log.head(20))
    columns = tmp_path / "out" / "columns.json"
    first = columns.stat()
    run(tmp_path, SHOP, log)
    second = columns.stat()
    assert (first.st_ino, first.st_mtime_ns) == (second.st_ino, second.st_mtime_ns)
    columns.write_text("")
    with pytest.raises(ConfigError, match="is not what a run wrote"):
        run(tmp_path, SHOP, log)


def test_decisions_are_read_once_a_run_however_many_releases_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = (
        BASE + 'learner = "RunningSum"\ndimension = 1\nbound = 1.0\nblock = 5\nhorizon = 600\n'
    )
    log = polars.DataFrame({"cups": [1.0] * 600})
    run(tmp_path, settings, log.head(300))
    opened: list[str] = []
    true_open = io.open

    def counting(file: Any, *arguments: Any, **named: Any) -> Any:
        opened.append(str(file))
        return true_open(file, *arguments, **named)

    monkeypatch.setattr(io, "open", counting)
    monkeypatch.setattr(builtins, "open", counting)
    assert run(tmp_path, settings, log)["releases"] == 120
    assert sum(name.endswith("decisions.jsonl") for name in opened) == 1
    monkeypatch.undo()
    lines = (tmp_path / "out" / "decisions.jsonl").read_text().splitlines()
    assert [json.loads(line)["release"] for line in lines] == list(range(121))


def test_half_a_line_is_written_again_whole(tmp_path: Path) -> None:
    path = tmp_path / "decisions.jsonl"
    path.write_text('{"release": 0}\n{"release": 1, "sla')
    with Decisions(path, 1) as decisions:
        for release in range(3):
            decisions.note({"release": release})
    assert path.read_text() == '{"release": 0}\n{"release": 1}\n{"release": 2}\n'


SUMS = BASE + 'learner = "RunningSum"\ndimension = 1\nbound = 1.0\nblock = 5\nhorizon = 60\n'
CUPS = polars.DataFrame({"cups": [1.0] * 60})


def damaged(content: bytes, how: str) -> bytes:
    """decisions.jsonl of four releases, damaged."""
    lines = content.splitlines(keepends=True)
    return {
        "a line is lost": b"".join(lines[:2] + lines[3:]),
        "the first is lost": b"".join(lines[1:]),
        "a line is twice": b"".join(lines[:2] + lines[1:]),
        "two are exchanged": b"".join([lines[1], lines[0], *lines[2:]]),
        "no number": content.replace(b'"release": 2', b'"release": "2"'),
        "a float": content.replace(b'"release": 2', b'"release": 2.0'),
        "true": content.replace(b'"release": 1,', b'"release": true,'),
        "one more": content + b'{"release": 5}\n',
        "not text": content.replace(b'"release": 2', b"\xff\x00"),
        "deep": b"".join(lines[:2]) + b"[" * 10**5 + b"\n" + b"".join(lines[3:]),
        "a false gap": b"".join(
            [*lines[:2], lines[3].replace(b"{", b'{"missing_releases": [1, 2], ')]
        ),
        "empty lines": content.replace(b"\n", b"\n\n"),
    }[how]


@pytest.mark.parametrize(
    "how",
    [
        *(
            "a line is lost",
            "the first is lost",
            "a line is twice",
            "two are exchanged",
            "no number",
            "a float",
        ),
        *("true", "one more", "not text", "deep", "a false gap", "empty lines"),
    ],
)
def test_decisions_that_are_damaged_are_refused_in_one_line(tmp_path: Path, how: str) -> None:
    run(tmp_path, SUMS, CUPS.head(20))
    path, state = tmp_path / "out" / "decisions.jsonl", tmp_path / "out" / "state"
    whole = path.read_bytes()
    path.write_bytes(damaged(whole, how))
    before = json.loads((tmp_path / "out" / "report.json").read_text())
    with pytest.raises(
        StateError, match=r"restore the file, or move it away|restore the newest state"
    ) as caught:
        run(tmp_path, SUMS, CUPS)
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == damaged(whole, how)  # as it was found
    learner = discreet.load(state)
    assert learner.releases == before["releases"]  # nothing was learned meanwhile
    learner.detach()
    path.write_bytes(whole)
    assert run(tmp_path, SUMS, CUPS)["releases"] == 12
    assert [json.loads(line)["release"] for line in path.read_text().splitlines()] == list(
        range(13)
    )


def test_the_newest_line_that_a_power_cut_took_is_written_again(tmp_path: Path) -> None:
    run(tmp_path, SUMS, CUPS.head(20))
    path = tmp_path / "out" / "decisions.jsonl"
    whole = path.read_bytes()
    for left in (whole[: whole.rindex(b"{")], whole[:-7], whole[: whole.rindex(b"{")] + bytes(30)):
        path.write_bytes(left)
        run(tmp_path, SUMS, CUPS.head(20))
        assert path.read_bytes() == whole


def test_releases_that_no_run_saw_are_named(tmp_path: Path) -> None:
    run(tmp_path, SUMS, CUPS.head(20))
    path = tmp_path / "out" / "decisions.jsonl"
    elsewhere = discreet.load(tmp_path / "out" / "state")
    for _ in range(3):
        elsewhere.observe_many([[1.0]] * 5)
        assert elsewhere.release_if_due()
    elsewhere.detach()
    run(tmp_path, SUMS, CUPS)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["release"] for line in lines] == [0, 1, 2, 3, 4, *range(7, 13)]
    assert lines[5]["missing_releases"] == [5, 6]
    assert all("missing_releases" not in line for line in lines[:5] + lines[6:])
    path.unlink()
    assert run(tmp_path, SUMS, CUPS)["releases"] == 12
    assert json.loads(path.read_text())["missing_releases"] == [0, 11]


def test_a_line_is_on_disk_before_the_next_release_and_folders_are_flushed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Modelled: what was not flushed is lost in a power cut, files and names of files alike."""
    events: list[str] = []
    true_sync, true_replace, true_mkdir = os.fsync, os.replace, Path.mkdir

    def sync(descriptor: int) -> None:
        events.append(f"flush {os.readlink(f'/proc/self/fd/{descriptor}')}")
        true_sync(descriptor)

    def replace(source: Any, target: Any) -> None:
        events.append(f"replace {target}")
        true_replace(source, target)

    def mkdir(path: Path, *arguments: Any, **named: Any) -> None:
        if not path.exists():
            events.append(f"make {path}")
        true_mkdir(path, *arguments, **named)

    (tmp_path / "run.toml").write_text(SUMS)
    CUPS.write_csv(tmp_path / "log.csv")
    out = tmp_path / "runs" / "first" / "out"
    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(os, "replace", replace)
    monkeypatch.setattr(Path, "mkdir", mkdir)
    run_log(tmp_path / "run.toml", tmp_path / "log.csv", out, Console(quiet=True))
    monkeypatch.undo()
    for folder in (out, out.parent, out.parent.parent):
        made = events.index(f"make {folder}")
        assert f"flush {folder.parent}" in events[made : made + 2]
    for place, event in enumerate(events):
        if event.startswith("replace "):
            assert events[place + 1] == f"flush {Path(event.removeprefix('replace ')).parent}"
    commits = [place for place, event in enumerate(events) if event == f"replace {out / 'state'}"]
    lines = [
        place for place, event in enumerate(events) if event == f"flush {out / 'decisions.jsonl'}"
    ]
    assert len(lines) == 13
    releases = commits[-13:-1]  # the last one saves what no release has read
    for line, commit in zip(lines[1:], releases, strict=True):
        assert commit < line
    for line, following in zip(lines[1:-1], releases[1:], strict=True):
        assert line < following


# --- columns.json


@pytest.mark.parametrize(
    "content",
    [b"", b"[" * 10**5, b"{}", b'{"columns": 5, "log": {}, "check": ""}', b"\xff", b"[1]"],
)
def test_columns_that_are_damaged_are_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    run(tmp_path, SUMS, CUPS.head(20))
    path = tmp_path / "out" / "columns.json"
    whole = path.read_bytes()
    for wrong in (content, whole.replace(b"cups", b"cupz")):
        path.write_bytes(wrong)
        for call in (lambda: run(tmp_path, SUMS, CUPS), lambda: status_of(tmp_path / "out")):
            with pytest.raises(
                ConfigError, match=r"columns\.json is not what a run wrote"
            ) as caught:
                call()
            assert "\n" not in str(caught.value)
    path.write_bytes(whole)
    assert run(tmp_path, SUMS, CUPS)["releases"] == 12


def test_columns_that_are_lost_are_not_guessed(tmp_path: Path) -> None:
    """A log whose columns stand in another order would be added to the same sums."""
    settings = SUMS.replace("dimension = 1", "dimension = 2")
    log = polars.DataFrame({"north": [0.5] * 60, "south": [0.1] * 60})
    run(tmp_path, settings, log.head(20))
    (tmp_path / "out" / "columns.json").unlink()
    with pytest.raises(ConfigError, match=r"columns\.json is missing.* restore it"):
        run(tmp_path, settings, log.select("south", "north"))


def test_columns_of_an_older_version_are_read(tmp_path: Path) -> None:
    run(tmp_path, SUMS, CUPS.head(20))
    path = tmp_path / "out" / "columns.json"
    whole = path.read_bytes()
    path.write_text('["cups"]\n')
    run(tmp_path, SUMS, CUPS)
    assert path.read_bytes() == whole
    path.write_text('["mugs"]\n')
    with pytest.raises(ConfigError, match="go on with those"):
        run(tmp_path, SUMS, CUPS)


# --- whose a row is


WHOSE = SHOP + 'person = "visitor"\nkeyed = true\ncontributions = 3\nblock = 50\n'


@pytest.mark.parametrize("parquet", [False, True])
def test_a_column_says_whose_each_row_is_and_a_row_of_nobody_adds_nothing(
    tmp_path: Path, crowd: np.random.Generator, parquet: bool
) -> None:
    tastes, visitors = crowd.random((600, 3)), crowd.integers(40, size=600).tolist()
    visitors[5] = None
    returning = Privacy(1.0, 1e-6, contributions=3, keyed=True)
    shop = SetMaximizer(["tea", "milk", "soap"], 2, 600, returning, block=50, seed=1)
    shop.replay(tastes, persons=visitors)
    table = {"visitor": visitors} | {
        name: tastes[:, place] for place, name in enumerate(shop.labels)
    }
    report = run(tmp_path, WHOSE, polars.DataFrame(table), parquet=parquet)
    assert report["slate"] == shop.decision["slate"]
    assert report["guarantee"] == str(shop.guarantee)
    state: Any = discreet.load(tmp_path / "out" / "state")
    assert np.array_equal(
        state.snapshot().public["gains.prefix"], shop.snapshot().public["gains.prefix"]
    )
    state.detach()
    with pytest.raises(ConfigError, match="go on with those"):
        run(
            tmp_path,
            WHOSE.replace('"visitor"', '"day"'),
            polars.DataFrame(table | {"day": visitors}),
        )


def test_the_column_of_people_is_no_feature_and_must_be_there(tmp_path: Path) -> None:
    rows = polars.DataFrame({"who": ["ann", "bob", "ann"], "x": [1.0, 1.0, 1.0]})
    settings = BASE + 'learner = "RunningSum"\nhorizon = 3\ndimension = 1\nbound = 1.0\nblock = 3\n'
    run(tmp_path / "one", settings + 'person = "who"\n', rows)
    for wrong, complaint in (
        ('person = "whose"\n', "lacks the columns whose"),
        ("person = 3\n", "person must be the column"),
        ("keyed = true\n", "person must be the column"),
    ):
        with pytest.raises(ConfigError, match=complaint):
            run(tmp_path / "two", settings + wrong, rows)
