"""If these fail, a wrong setting ends in a traceback, in a page of text, or shows people's rows."""

import copy
import inspect
import pickle
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import discreet
from discreet import (
    ConfigError,
    ContextualBandit,
    ContinuousMaximizer,
    DiscreetError,
    FileJournal,
    Hedge,
    Partitions,
    Privacy,
    RunningSum,
    SetMaximizer,
    SetMinimizer,
    SetSelector,
    StateError,
    StreamingLearner,
    domains,
    functions,
    require,
)
from discreet.cli import app
from discreet.domains import LpBall, UniformMatroid
from discreet.errors import LONGEST
from discreet.functions import ClickModel
from discreet.losses import SquaredLoss

PRIVACY = Privacy(1.0, 1e-6)
USUAL: dict[type[Any], dict[str, Any]] = {
    SetMaximizer: {"items": 4, "slots": 2, "horizon": 5000},
    SetMinimizer: {"items": 4, "horizon": 5000},
    Hedge: {"actions": 4, "horizon": 5000},
    RunningSum: {"dimension": 2, "horizon": 5000, "bound": 1.0, "block": 10},
    StreamingLearner: {
        "domain": LpBall(2),
        "loss": SquaredLoss(),
        "horizon": 5000,
        "feature_bound": 1.0,
        "target_bound": 1.0,
    },
    ContextualBandit: {"arms": 3, "features": 2, "horizon": 5000},
    ContinuousMaximizer: {"domain": UniformMatroid(4, 2), "horizon": 5000},
    SetSelector: {"domain": UniformMatroid(4, 2), "function": ClickModel()},
}
ARGUMENTS: dict[str, Any] = {
    "rank": 2,
    "items": 4,
    "groups": (0, 0, 1, 1),
    "quotas": (1, 1),
    "dimension": 3,
    "costs": (1.0, 1.0),
    "budget": 1.0,
    "sites": ((0.0, 0.0), (1.0, 1.0)),
    "reach": 0.5,
    "box": ((0.0, 1.0), (0.0, 1.0)),
    "covers": ((1.0, 0.0), (0.0, 1.0)),
    "table": ((0.1, 0.2), (0.3, 0.4)),
    "family": ((0, 1),),
    "edges": ((0, 1), (1, 2)),
    "vertices": 3,
}
"""Valid arguments of domains and families of functions."""


class Odd:
    """An object whose length is negative and whose text cannot be made."""

    def __len__(self) -> int:
        return -5

    def __repr__(self) -> str:
        raise RuntimeError


ODD: list[Any] = [
    *(None, True, -1, 5, 10**400, 2**63, 1.5, float("nan"), 1j, np.float32(2.0)),
    *("", "x", "a\nb", "y" * 200_000, "\ud800", b"z", Path("\ud800")),
    *([], [1, 1], [[1], [2, 3]], [None], ["\ud800\n"], {"a": 1}, {1, 2}, range(3), iter([1, 2])),
    *(np.array(1.0), np.array(3), np.array("x"), np.zeros(0), np.zeros((2, 3))),
    np.array([object()]),
    *(object(), Odd(), int, PRIVACY, Privacy, lambda *arguments: 1),
]


def tried(call: Callable[[], Any]) -> Any:
    """Return the result of a call, or None; a refusal must be one line that can be printed."""
    try:
        return call()
    except DiscreetError as error:
        text = str(error)
        assert text.isprintable()
        assert len(text.encode()) <= 2 * LONGEST
        return None


def detached(made: Any) -> None:
    with suppress(AttributeError):
        made.detach()


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder of the test, where files may be written."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("learner", USUAL, ids=lambda learner: learner.__name__)
def test_odd_settings_are_refused_in_one_line(learner: type[Any]) -> None:
    usual = USUAL[learner] | {"privacy": PRIVACY, "seed": 1}
    for name in list(inspect.signature(learner).parameters):
        for odd in ODD:
            made = tried(lambda: learner(**(usual | {name: odd})))  # noqa: B023
            detached(made)
            assert made is None or isinstance(repr(made), str)


@pytest.mark.parametrize("learner", USUAL, ids=lambda learner: learner.__name__)
def test_odd_arguments_are_refused_in_one_line(learner: type[Any]) -> None:
    usual = USUAL[learner] | {"privacy": PRIVACY, "seed": 1}
    rows = np.zeros((2, 2 if learner is ContextualBandit else 4))
    contextual = learner is ContextualBandit
    usual_arguments: dict[str, Callable[[Any], Any]] = {
        "ticket": lambda made: made.open(rows[0] if contextual else None),
        "tickets": lambda made: made.open_many(rows if contextual else 2),
        "what": lambda made: 2,
    }
    for name, method in inspect.getmembers(learner, inspect.isfunction):
        if name.startswith("_"):
            continue
        _, *parameters = inspect.signature(method).parameters.values()
        needed = [entry.name for entry in parameters if entry.default is entry.empty]
        for entry in parameters:
            for odd in ODD:
                made = learner(**usual)
                rest = {
                    key: usual_arguments[key](made) if key in usual_arguments else rows
                    for key in needed
                }
                tried(lambda: method(made, **(rest | {entry.name: odd})))  # noqa: B023
                detached(made)


@pytest.mark.parametrize("home", [domains, functions], ids=lambda home: home.__name__)
def test_odd_domains_and_functions_are_refused_in_one_line(home: Any) -> None:
    for kind in (getattr(home, name) for name in home.__all__):
        if not inspect.isclass(kind) or getattr(kind, "_is_protocol", False):
            continue
        parameters = inspect.signature(kind).parameters.values()
        usual = {
            entry.name: ARGUMENTS.get(entry.name, 1)
            for entry in parameters
            if entry.default is entry.empty
        }
        for entry in parameters:
            for odd in ODD:
                tried(lambda: kind(**(usual | {entry.name: odd})))  # noqa: B023


def test_odd_arguments_of_functions_are_refused_in_one_line() -> None:
    for odd in ODD:
        for call in (discreet.load, FileJournal, Partitions.of, discreet.warm_up):
            tried(lambda: call(odd))  # noqa: B023
        tried(lambda: Partitions(odd, odd))  # noqa: B023
        tried(lambda: discreet.together(odd, odd))  # noqa: B023
        selector = SetSelector(UniformMatroid(4, 2), PRIVACY, function=ClickModel)
        tried(lambda: selector.fit(np.zeros((5, 4)), columns=odd))  # noqa: B023
        for name in ("epsilon", "delta", "contributions", "keyed"):
            tried(lambda: Privacy(**({"epsilon": 1.0} | {name: odd})))  # noqa: B023


def test_people_in_place_of_a_setting_are_not_quoted() -> None:
    rows = [[0.777, 0.25], [0.5, 0.125]]
    misuses: list[Callable[[Any], object]] = [
        lambda people: RunningSum(1, 10, people, bound=1.0),
        lambda people: RunningSum(people, 10, PRIVACY, bound=1.0),
        lambda people: RunningSum(1, people, PRIVACY, bound=1.0),
        lambda people: Privacy(people),
        lambda people: SetSelector(people, PRIVACY, function=ClickModel),
        lambda people: SetMaximizer(4, people, 100, PRIVACY),
    ]
    for people in (rows, np.array(rows), {"Jane": 0.777}, tuple(rows)):
        for misuse in misuses:
            with pytest.raises(ConfigError) as refusal:
                misuse(people)
            assert "0.777" not in str(refusal.value)
            assert "Jane" not in str(refusal.value)


def test_a_long_error_keeps_its_beginning_and_its_remedy() -> None:
    columns = ", ".join(f"column{place}" for place in range(10**5))
    text = str(ConfigError(f"the log lacks {columns}: name it"))
    assert len(text) < LONGEST + 10
    assert text.startswith("the log lacks column0")
    assert text.endswith(": name it")
    assert str(ConfigError("\x1b[31m\ud800\r\nred")) == "\\x1b[31m\\ud800 red"


def test_a_number_in_an_array_without_dimensions_is_a_number() -> None:
    four: Any = np.array(4)
    three: Any = np.array(3)
    fraction: Any = np.array(1.0)
    assert SetMaximizer(four, 2, 100, PRIVACY).settings.items == 4
    assert ContextualBandit(three, 2, 100, PRIVACY).settings.arms == 3
    with pytest.raises(
        ConfigError, match=r"items must be a whole number or a list of labels, got 1\.0"
    ):
        SetMaximizer(fraction, 2, 100, PRIVACY)


def test_a_wrong_value_is_shown_in_a_few_words() -> None:
    assert require.shown("y" * 10**5) == f"'{'y' * 60}'… (of 100000)"
    assert require.shown(10**400) == "a whole number of 1329 bits"
    assert require.shown([]) == "an empty list"
    assert require.shown(Odd()) == "an Odd"
    assert require.shown(int) == "the class int"


def test_decisions_that_would_not_fit_into_memory_are_refused_before_anything_changes() -> None:
    shop = SetMinimizer(10**5, 10**10, Privacy(1.0, 1e-12), block=10**6)
    for call in (shop.open_many, shop.preview):
        with pytest.raises(
            StateError, match="do not fit into memory: ask for at most 1342 at once"
        ):
            call(50_000)
    assert shop.clock == 0
    assert len(shop.open_many(10)) == 10
    ended = Hedge(3, 2, PRIVACY)
    ended.replay(np.zeros((2, 3)))
    with pytest.raises(StateError, match="do not fit into memory"):
        ended.open_many(10**12)  # after the horizon there is no block to end


def test_odd_files_and_names_of_files_are_refused_in_one_line(tmp_path: Path) -> None:
    good = tmp_path / "run.toml"
    log = tmp_path / "log.csv"
    good.write_text("""
        learner = "RunningSum"
        epsilon = 1.0
        delta = 0.0
        horizon = 10
        bound = 1.0
        dimension = 1
    """)
    log.write_text("cups\n1\n")
    configurations = []
    broken = ("a = " + "[" * 20_000, "epsilon = " + "9" * 5000, "a = 1\na = 2", "\0")
    for number, text in enumerate(broken):
        path = tmp_path / f"{number}.toml"
        path.write_text(text)
        configurations.append(path)
    odd = [tmp_path / "\udcff", tmp_path / "\ud800", tmp_path / "a\nb", tmp_path / ("x" * 300)]
    commands: list[list[Any]] = [["status", path] for path in odd]
    for path in configurations + odd:
        commands.append(["run", path, "--data", log, "--out", tmp_path / "out"])
        commands.append(["select", path, "--data", log, "--out", tmp_path / "out"])
        commands.append(["evaluate", path, "--data", log, "--propensity", "uniform"])
    commands += [["run", good, "--data", path, "--out", tmp_path / "out"] for path in odd]
    for command in commands:
        result = CliRunner().invoke(app, [str(argument) for argument in command])
        assert result.exit_code == 2, ascii(command)
        assert "Usage" in result.stderr or result.stderr.count("\n") == 1
    for path in (tmp_path / "\udcff", tmp_path / "a\nb"):  # valid names of folders
        result = CliRunner().invoke(app, ["run", str(good), "--data", str(log), "--out", str(path)])
        assert result.exit_code == 0, result.stderr
        assert (path / "report.json").exists()


def test_a_selector_is_not_copied() -> None:
    selector = SetSelector(UniformMatroid(4, 2), PRIVACY, function=ClickModel)
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(StateError, match="two copies would spend one budget twice"):
            copied(selector)


@pytest.mark.parametrize("engine", ["anything", 5, object(), int, ""])
def test_an_object_that_is_no_engine_is_refused_at_once(engine: Any) -> None:
    with pytest.raises(ConfigError, match="engine must be None, a Dask client or an address"):
        SetSelector(UniformMatroid(4, 2), PRIVACY, function=ClickModel, engine=engine)
