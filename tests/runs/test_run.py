"""If these fail, a run over a log learns other values than the log has, or refuses good logs."""

import io
import json
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
from discreet.learners.homes import HOMES
from discreet.learners.log_adapter import log_adapter_of
from discreet.losses import SquaredLoss
from discreet.records.files import open_table
from discreet.records.table import LogTable
from discreet.runs.status import status_of
from runs.logs import BASE, PRIVACY, SHOP, run

# --- every learner over a log ---------------------------------------------------------------------


def test_whole_preferences_are_read_by_the_names_of_items_in_any_order(
    tmp_path: Path, generator: np.random.Generator
) -> None:
    tastes = generator.random((600, 3)) * [0.3, 0.9, 0.6]
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


def test_operators_see_in_their_logs_that_a_run_starts_resumes_and_finishes(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "discreet")
    tastes = polars.DataFrame({name: [0.5] * 100 for name in ("tea", "milk", "soap")})
    for _ in range(2):
        run(tmp_path, SHOP, tastes)
    texts = [record.getMessage() for record in caplog.records if record.name == "discreet"]
    of_runs = [text.partition(": ")[2].partition(",")[0] for text in texts if "run in" in text]
    assert of_runs == ["started", "finished after 100 rows", "resumed", "finished after 100 rows"]


@pytest.mark.parametrize("parquet", [False, True])
@pytest.mark.parametrize("feedback", ["bandit", "clicks"])
@pytest.mark.parametrize("items", [["tea", "milk", "soap"], [101, 205, 309], 3])
def test_a_log_of_shown_slates_teaches_as_much_as_showing_them(
    tmp_path: Path, generator: np.random.Generator, feedback: Any, items: Any, parquet: bool
) -> None:
    shop = SetMaximizer(items, 2, 600, PRIVACY, feedback=feedback, stream="iid", seed=1)
    slates = []
    answers: list[Any] = []
    for _ in range(600):
        slate = np.asarray(shop.act()).tolist()
        wanted = [item for item in slate if generator.random() < 0.5]
        clicked = wanted[0] if wanted else None
        answer = float(len(wanted) > 0) if feedback == "bandit" else clicked
        shop.observe(answer)
        slates.append(slate)
        answers.append(answer)
    shop.release_if_due()
    shown = slates if parquet else [" ".join(map(str, slate)) for slate in slates]
    log = polars.DataFrame({"slate": shown, "reward" if feedback == "bandit" else "click": answers})
    settings = f"""
        {BASE}
        horizon = 600
        items = {items}
        slots = 2
        feedback = "{feedback}"
        stream = "iid"
        slates = "decided"
    """
    report = run(tmp_path, settings, log, parquet=parquet)
    assert report["releases"] == shop.releases > 1
    assert report["slate"] == shop.decision["slate"]
    lines = (tmp_path / "out" / "decisions.jsonl").read_text().splitlines()
    assert json.loads(lines[-1])["slate"] == shop.decision["slate"]


def test_a_row_with_another_slate_than_the_decided_one_adds_nothing(tmp_path: Path) -> None:
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
    tmp_path: Path, generator: np.random.Generator
) -> None:
    site = SetMinimizer(["a", "b", "c"], 600, PRIVACY, feedback="bandit", seed=1)
    lines = []
    for _ in range(600):
        chosen = site.act()
        cost = float(generator.random() - 0.8 * ("b" in chosen))
        site.observe(cost)
        lines.append((" ".join(reversed(chosen)), cost))
    site.release_if_due()
    log = polars.DataFrame(lines, schema=["slate", "cost"], orient="row")
    settings = f"""
        {BASE}
        learner = "SetMinimizer"
        horizon = 600
        items = ["a", "b", "c"]
        feedback = "bandit"
        slates = "decided"
    """
    report = run(tmp_path, settings, log)
    assert report["chances"] == site.decision["chances"]
    assert report["releases"] == site.releases > 1


def test_samples_are_read_and_coefficients_named(
    tmp_path: Path, generator: np.random.Generator
) -> None:
    features = generator.uniform(-0.5, 0.5, size=(600, 2))
    targets = features @ [0.6, -0.4]
    model = StreamingLearner(
        LpBall(2, p=1.5), SquaredLoss(), 600, PRIVACY, feature_bound=1.0, target_bound=1.0, seed=1
    )
    model.observe_stream(features, targets)
    settings = f"""
        {BASE}
        learner = "StreamingLearner"
        horizon = 600
        features = ["age", "income"]
        target = "spent"
        feature_bound = 1.0
        target_bound = 1.0
        [domain]
        kind = "LpBall"
        p = 1.5
    """
    log = polars.DataFrame({"spent": targets, "income": features[:, 1], "age": features[:, 0]})
    report = run(tmp_path, settings, log, parquet=True)
    assert report["coefficients"] == dict(
        zip(["age", "income"], model.coefficients.tolist(), strict=True)
    )


def regression_of_the_guide() -> str:
    guide = (Path(__file__).parents[2] / "docs" / "guides" / "regression.md").read_text()
    blocks = [block.split("```")[0] for block in guide.split("```toml\n")[1:]]
    return next(block for block in blocks if "StreamingLearner" in block).replace("100000", "20000")


def test_the_regression_of_the_guide_learns_and_a_narrow_domain_gives_notice(
    tmp_path: Path, generator: np.random.Generator
) -> None:
    count = 20_000
    age = generator.uniform(18, 100, count)
    region = generator.choice(["north", "south", "west"], count)
    days = generator.integers(0, 7000, count)
    spent = 1000 + 20 * age + 500 * (region == "south") + 0.1 * days
    spent += generator.normal(0, 300, count)
    joined = np.datetime64("2005-01-01") + days.astype("timedelta64[D]")
    log = polars.DataFrame({"age": age, "region": region, "joined": joined, "spent": spent})
    settings = "seed = 1\n" + regression_of_the_guide().replace("100000", str(count))
    console = Console(record=True, width=200, file=io.StringIO())
    report = run(tmp_path / "wide", settings, log, console=console)
    weights = report["coefficients"]
    learned = weights["age"] * age + weights["joined"] * days / 365.25 + report["intercept"]
    learned += np.array([weights[f"region={name}"] for name in region])
    assert np.var(spent - learned) < 0.3 * np.var(spent)  # the noise of targets alone leaves 0.19
    assert weights["age"] == pytest.approx(20, abs=4 * report["standard_errors"]["age"])
    assert report["standard_errors"].keys() == {*weights, "intercept"}
    assert "notices" not in report
    assert "visitor" not in console.export_text() + json.dumps(report)
    ball = 'domain = { kind = "LpBall", radius = 300.0 }'
    narrow = settings.replace('domain = "LpBall"', ball)
    report = run(tmp_path / "narrow", narrow, log, console=console)
    assert report["notices"] == [
        "the coefficients lie on the boundary of the domain: enlarge radius"
    ]
    assert f"Note: {report['notices'][0]}" in console.export_text()
    assert status_of(tmp_path / "narrow" / "out")["notices"] == report["notices"]


def test_coefficients_of_classes_are_named_row_by_row(
    tmp_path: Path, generator: np.random.Generator
) -> None:
    features = generator.uniform(-0.5, 0.5, size=(600, 2))
    settings = f"""
        {BASE}
        learner = "StreamingLearner"
        horizon = 600
        features = ["age", "income"]
        target = "kind"
        feature_bound = 1.0
        target_bound = 1.0
        method = "passes"
        domain = "LpBall"
        [loss]
        kind = "SoftmaxLoss"
        classes = 3
    """
    kinds = generator.integers(3, size=600)
    log = polars.DataFrame({"kind": kinds, "income": features[:, 1], "age": features[:, 0]})
    coefficients = run(tmp_path, settings, log)["coefficients"]
    assert [list(row) for row in coefficients] == [["age", "income"]] * 3


def test_experts_and_sums_name_their_columns(
    tmp_path: Path, generator: np.random.Generator
) -> None:
    rows = generator.random((400, 2)) * [0.2, 0.9]
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


def test_every_learner_has_a_log_adapter() -> None:
    assert {log_adapter_of(name).settings_type.__name__ for name in HOMES} == {
        f"{name}Settings" for name in HOMES
    }


# --- logs that are refused ------------------------------------------------------------------------

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
            "slates must be decided, got 'random'",
        ),
        (
            SHOP + 'slates = "decided"',
            'slates is for feedback = "bandit" or "clicks", got \'full\'',
        ),
        (SHOP + 'function = "AnyFunction"', "a log holds numbers"),
        (SHOP + 'columns = ["tea", "tea", "price"]', "columns must be different columns"),
        (SHOP + 'columns = ["tea", "price"]', "a row has 3 numbers, but `columns` names 2"),
        (SHOP + "columns = 3", "columns must be a list, got 3"),
        (
            SHOP.replace('["tea", "milk", "soap"]', "3"),
            "a row has 3 numbers, and the log 2 columns",
        ),
        (MINIMIZER, "a log holds numbers"),
        (
            MINIMIZER + 'feedback = "bandit"\nslates = "decided"',
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


def test_texts_are_missing_numbers_and_a_column_of_lists_is_refused_without_being_quoted() -> None:
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
    for name, content, message in (
        ("log.csv", b"", "is empty: its first line must have the names of the columns"),
        ("log.parquet", b"a,b\n1,2,Jane 77.75\n", r"log\.parquet cannot be read"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ConfigError, match=message) as caught:
            open_table(tmp_path / name)
        assert "77.75" not in str(caught.value)
        assert caught.value.__cause__ is None


def test_one_broken_line_of_a_log_leaves_the_others_as_they_are(tmp_path: Path) -> None:
    for line, wanted in (
        (b"1,2,Jane", [np.nan, np.nan]),
        (b"\xff,2", [np.nan, np.nan]),
        (b"1", [np.nan, np.nan]),
        (b'"1,2', [np.nan, np.nan]),
        (b"1,2", [1, 2]),
    ):
        (tmp_path / "log.csv").write_bytes(b"a,b\n3,4\n" + line + b"\n5,6\n")
        found = open_table(tmp_path / "log.csv").whole().numbers(["a", "b"])
        assert np.array_equal(found, [[3, 4], wanted, [5, 6]], equal_nan=True)


def test_columns_of_any_type_are_read_entry_by_entry_and_never_quoted() -> None:
    odd = polars.DataFrame({"a": polars.Series([1.0, "0.5", object(), True], dtype=polars.Object)})
    assert np.array_equal(LogTable(odd).numbers(["a"])[:, 0], [1, 0.5, np.nan, 1], equal_nan=True)
    for kind in (polars.Enum(["Jane 77.75", "0.5"]), polars.Categorical, polars.Binary):
        texts = polars.Series(["0.5", "Jane 77.75"]).cast(kind)
        found = LogTable(polars.DataFrame({"a": texts})).numbers(["a"])[:, 0]
        assert np.array_equal(found, [0.5, np.nan], equal_nan=True)
    with pytest.raises(ConfigError, match=r"got Struct$"):
        LogTable(polars.DataFrame({"a": [{"Jane 77.75": 1}]})).numbers(["a"])


# --- rows that name their person ------------------------------------------------------------------

KEYED = SHOP + 'person = "visitor"\nkeyed = true\ncontributions = 3\nblock = 50\n'


@pytest.mark.parametrize("parquet", [False, True])
def test_rows_name_their_person_and_a_row_without_one_adds_nothing(
    tmp_path: Path, generator: np.random.Generator, parquet: bool
) -> None:
    tastes = generator.random((600, 3))
    visitors: list[int | None] = generator.integers(40, size=600).tolist()
    visitors[5] = None
    returning = Privacy(1.0, 1e-6, contributions=3, keyed=True)
    shop = SetMaximizer(["tea", "milk", "soap"], 2, 600, returning, block=50, seed=1)
    shop.replay(tastes, persons=visitors)
    table: dict[str, Any] = {"visitor": visitors}
    table |= dict(zip(["tea", "milk", "soap"], tastes.T, strict=True))
    report = run(tmp_path, KEYED, polars.DataFrame(table), parquet=parquet)
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
            KEYED.replace('"visitor"', '"day"'),
            polars.DataFrame(table | {"day": visitors}),
        )


def test_the_column_of_persons_is_no_feature_and_must_exist(tmp_path: Path) -> None:
    rows = polars.DataFrame({"who": ["ann", "bob", "ann"], "x": [1.0, 1.0, 1.0]})
    settings = BASE + 'learner = "RunningSum"\nhorizon = 3\ndimension = 1\nbound = 1.0\nblock = 3\n'
    run(tmp_path / "one", settings + 'person = "who"\n', rows)
    for wrong, complaint in (
        ('person = "whose"\n', "lacks the columns whose"),
        ("person = 3\n", "person must be the name of the column"),
        ("keyed = true\n", "person must be the name of the column"),
    ):
        with pytest.raises(ConfigError, match=complaint):
            run(tmp_path / "two", settings + wrong, rows)
