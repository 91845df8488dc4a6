"""If these fail, a table teaches a learner something else than the array of its rows."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

from discreet import (
    ConfigError,
    ContextualBandit,
    ContinuousMaximizer,
    Hedge,
    HorizonReached,
    OutOfBounds,
    Privacy,
    RunningSum,
    SetMaximizer,
    SetMinimizer,
    SetSelector,
    StateError,
    StreamingLearner,
)
from discreet.domains import LpBall, UniformMatroid
from discreet.functions import ClickModel, GraphCut, Nearby
from discreet.learners.base import Learner
from discreet.learners.set_selector.records import RecordReader, Source, SourcePart
from discreet.losses import SquaredLoss
from discreet.records.columns import Columns

PRIVACY = Privacy(1.0, 1e-6)
KEYED = Privacy(1.0, 1e-6, keyed=True)
ITEMS = ["tea", "milk", "soap"]
ROUNDS = 400
EDGES = ((0, 1), (1, 2), (0, 2))
CITY = Nearby(((0.2, 0.2), (0.8, 0.8)), reach=0.3, box=((0.0, 1.0), (0.0, 1.0)))


# --- kinds of tables ------------------------------------------------------------------------------


def as_pandas(frame: polars.DataFrame, folder: Path) -> Any:
    """Return a frame of pandas."""
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    return pandas.DataFrame({name: frame[name].to_list() for name in frame.columns})


def as_reader(frame: polars.DataFrame, folder: Path) -> Any:
    """Return a stream of batches, which can be read once."""
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    return frame.to_arrow().to_reader(100)


def as_relation(frame: polars.DataFrame, folder: Path) -> Any:
    """Return a query of DuckDB."""
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")
    return duckdb.sql("SELECT * FROM frame")


def as_parquet(frame: polars.DataFrame, folder: Path) -> Path:
    """Return the path of a file."""
    frame.write_parquet(folder / "rows.parquet")
    return folder / "rows.parquet"


def as_folder(frame: polars.DataFrame, folder: Path) -> Path:
    """Return a folder with two CSV files."""
    (folder / "rows").mkdir(exist_ok=True)
    frame[:150].write_csv(folder / "rows" / "a.csv")
    frame[150:].write_csv(folder / "rows" / "b.csv")
    return folder / "rows"


def as_batches(frame: polars.DataFrame, folder: Path) -> Iterator[polars.DataFrame]:
    """Return an iterator of frames."""
    return iter([frame[:150], frame[150:]])


KINDS: dict[str, Callable[[polars.DataFrame, Path], Any]] = {
    "polars": lambda frame, folder: frame,
    "lazy": lambda frame, folder: frame.lazy(),
    "pandas": as_pandas,
    "pyarrow": as_reader,
    "duckdb": as_relation,
    "parquet": as_parquet,
    "folder": as_folder,
    "iterator": as_batches,
}
EVERY_KIND = pytest.mark.parametrize("kind", KINDS)


# --- whole answers --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Whole:
    """A learner of whole answers, and the names of their numbers."""

    make: Callable[..., Learner]
    names: list[str]
    has_labels: bool = True


def hedge(privacy: Privacy = PRIVACY) -> Hedge:
    return Hedge(ITEMS, horizon=ROUNDS, privacy=privacy, seed=1)


def maximizer(privacy: Privacy = PRIVACY, **more: Any) -> SetMaximizer:
    return SetMaximizer(ITEMS, 2, ROUNDS, privacy, seed=1, **more)


def minimizer(privacy: Privacy = PRIVACY, **more: Any) -> SetMinimizer:
    return SetMinimizer(ITEMS, ROUNDS, privacy, seed=1, **more)


def bandit(privacy: Privacy = PRIVACY) -> ContextualBandit:
    return ContextualBandit(["low", "high"], ["age", "pay"], ROUNDS, privacy, seed=1)


def regression(privacy: Privacy = PRIVACY) -> StreamingLearner:
    bounds = {"age": (0.0, 1.0), "pay": (0.0, 1.0), "rent": (0.0, 1.0)}
    columns = Columns(features=("age", "pay"), target="rent", bounds=bounds)
    return StreamingLearner(LpBall, SquaredLoss(), ROUNDS, privacy, columns=columns, seed=1)


WHOLE = {
    "RunningSum": Whole(
        lambda privacy=PRIVACY: RunningSum(3, ROUNDS, privacy, bound=2.0, block=50, seed=1),
        ["c", "b", "a"],
        has_labels=False,
    ),
    "Hedge": Whole(hedge, ITEMS),
    "SetMaximizer": Whole(maximizer, ITEMS),
    "SetMinimizer": Whole(
        lambda privacy=PRIVACY: minimizer(privacy, function=GraphCut(EDGES)), ITEMS
    ),
    "ContinuousMaximizer": Whole(
        lambda privacy=PRIVACY: ContinuousMaximizer(
            UniformMatroid(3, rank=1), ROUNDS, privacy, labels=ITEMS, seed=1
        ),
        ITEMS,
    ),
    "StreamingLearner": Whole(regression, ["age", "pay", "rent"]),
}
EVERY_LEARNER = pytest.mark.parametrize("name", WHOLE)


def frame_of(rows: np.ndarray, whole: Whole, **more: Any) -> polars.DataFrame:
    """Return rows as a frame: with labels in another order, and beside a column of no use."""
    frame = polars.DataFrame(dict(zip(whole.names, rows.T, strict=True)) | more)
    return frame.select([*reversed(frame.columns)]) if whole.has_labels else frame


def answers_of(rows: np.ndarray, name: str) -> Any:
    """Return rows as the learner of this name takes arrays."""
    return (rows[:, :-1], rows[:, -1]) if name == "StreamingLearner" else rows


def learned(learner: Learner) -> Any:
    """Return all that a learner has learned: its decision, and the sums of the open block."""
    sums = {name: part.values.tolist() for name, part in learner._engine.block.items()}
    return learner.clock, learner.releases, learner.decision, sums


@EVERY_KIND
@EVERY_LEARNER
def test_a_table_is_replayed_like_its_array(
    name: str, kind: str, tmp_path: Path, generator: np.random.Generator
) -> None:
    rows = generator.random((300, 3))
    whole = WHOLE[name]
    by_array, by_table = whole.make(), whole.make()
    expected = by_array.replay(answers_of(rows, name))
    decisions = by_table.replay(KINDS[kind](frame_of(rows, whole), tmp_path))
    assert np.array_equal(np.asarray(decisions, object), np.asarray(expected, object))
    assert learned(by_table) == learned(by_array)


@EVERY_LEARNER
def test_tables_are_observed_and_closed_like_their_arrays(
    name: str, generator: np.random.Generator
) -> None:
    whole = WHOLE[name]
    by_array, by_table = whole.make(), whole.make()
    for learner in (by_array, by_table):
        learner.replay(answers_of(np.full((120, 3), 0.25), name))
    count = min(6, by_array.rounds_until_release - 1) // 2
    rows = generator.random((2 * count, 3))
    first, second = rows[:count], rows[count:]
    by_array.observe_many(answers_of(first, name))
    by_array.close_many(by_array.open_many(count), answers_of(second, name))
    by_table.observe_many(frame_of(first, whole))
    by_table.close_many(by_table.open_many(count), frame_of(second, whole))
    assert learned(by_table) == learned(by_array)


@EVERY_KIND
@pytest.mark.parametrize("name", [name for name, whole in WHOLE.items() if whole.has_labels])
def test_a_missing_column_is_named_and_nothing_is_opened(
    name: str, kind: str, tmp_path: Path
) -> None:
    whole = WHOLE[name]
    learner = whole.make()
    before = learned(learner)
    lacking = frame_of(np.zeros((20, 3)), whole).drop(whole.names[1])
    calls = [learner.replay, learner.observe_many, learner.check]
    for call in calls:
        with pytest.raises(ConfigError, match=f"lacks the columns {whole.names[1]}:"):
            call(KINDS[kind](lacking, tmp_path))
    assert learned(learner) == before


def test_without_labels_columns_are_read_in_order_if_their_number_fits() -> None:
    learner = WHOLE["RunningSum"].make()
    with pytest.raises(ConfigError, match="a row has 3 numbers, and the log 4 columns"):
        learner.replay(frame_of(np.zeros((20, 3)), WHOLE["RunningSum"], day=np.zeros(20)))
    assert learner.clock == 0


@EVERY_LEARNER
def test_the_people_of_a_table_are_a_column(name: str, generator: np.random.Generator) -> None:
    rows = generator.random((200, 3))
    people = generator.integers(40, size=200)
    whole = WHOLE[name]
    by_array, by_table = whole.make(KEYED), whole.make(KEYED)
    by_array.replay(answers_of(rows, name), persons=people)
    by_table.replay(frame_of(rows, whole, who=people), persons="who")
    assert learned(by_table) == learned(by_array)
    refused = whole.make(KEYED)
    frame = frame_of(rows, whole)
    with pytest.raises(ConfigError, match="lacks the columns who"):
        refused.replay(frame, persons="who")
    with pytest.raises(ConfigError, match="persons of a table must be a column, got 'list'"):
        refused.replay(frame, persons=list(people))
    with pytest.raises(ConfigError, match="every round must name its person"):
        refused.replay(frame)
    assert refused.clock == 0


def test_one_persons_odd_name_in_a_batch_of_a_table_refuses_nobody() -> None:
    learner = hedge(KEYED)
    names = polars.Series("who", [1, 2, [3]], dtype=polars.Object)
    frame = polars.DataFrame({name: [0.5] * 3 for name in ITEMS})
    learner.replay(iter([frame[:2].with_columns(names[:2]), frame[2:].with_columns(names[2:])]),
                   persons="who")  # fmt: skip
    assert learner.clock == 3


def test_one_persons_odd_name_refuses_no_context_either() -> None:
    learner = bandit(KEYED)
    odd = polars.Series("who", [[3]], dtype=polars.Object)
    frame = polars.DataFrame({"age": [0.5], "pay": [0.5]}).with_columns(odd)
    assert len(learner.open_many(frame, persons="who")) == 1


def test_a_typed_column_that_cannot_name_people_is_refused_by_its_schema() -> None:
    frame = polars.DataFrame({name: [0.5] for name in ITEMS} | {"who": [date(2020, 1, 1)]})
    learner = hedge(KEYED)
    with pytest.raises(ConfigError, match="column who must name people by texts or whole numbers"):
        learner.replay(frame, persons="who")
    assert learner.clock == 0


@pytest.mark.parametrize("kind", ["polars", "duckdb", "iterator"])
def test_more_rows_than_rounds_are_refused_before_any_is_learned(kind: str, tmp_path: Path) -> None:
    learner = hedge()
    table = frame_of(np.zeros((ROUNDS + 1, 3)), WHOLE["Hedge"])
    with pytest.raises(HorizonReached, match="nothing was learned"):
        learner.replay(KINDS[kind](table, tmp_path))
    with pytest.raises(StateError, match="until the next release"):
        learner.observe_many(KINDS[kind](table, tmp_path))
    assert learner.clock == 0


def test_texts_lists_and_series_stay_rows_of_people() -> None:
    learner = RunningSum(1, ROUNDS, PRIVACY, bound=1.0, block=100, seed=1)
    for rows in (polars.Series([0.5, 0.25]), ["0.5", "log.parquet"], ("0.5", 0.25)):
        learner.observe_many(rows)
    assert learner.clock == 6
    with pytest.raises(OutOfBounds, match="one entry or row per round"):
        learner.observe_many("log.parquet")


def test_a_frame_of_features_is_read_by_the_names_of_columns(
    generator: np.random.Generator,
) -> None:
    rows = generator.random((300, 3))
    by_array, by_frame = regression(), regression()
    by_array.observe_stream(rows[:, :2], rows[:, 2])
    frame = polars.DataFrame({"pay": rows[:, 1], "age": rows[:, 0]})
    by_frame.observe_stream(frame, rows[:, 2])
    assert learned(by_frame) == learned(by_array)


def test_items_that_may_come_later_need_no_column(generator: np.random.Generator) -> None:
    rows = generator.random((300, 3))
    by_array, by_table = (maximizer(max_items=5) for _ in range(2))
    by_array.replay(np.pad(rows, ((0, 0), (0, 2))))
    by_table.replay(frame_of(rows, WHOLE["SetMaximizer"]))
    assert learned(by_table) == learned(by_array)


# --- answers to decisions -------------------------------------------------------------------------


@EVERY_KIND
@pytest.mark.parametrize("feedback", ["clicks", "bandit"])
def test_clicks_and_rewards_are_columns(
    feedback: Any, kind: str, tmp_path: Path, generator: np.random.Generator
) -> None:
    by_array, by_table = (maximizer(feedback=feedback, stream="iid") for _ in range(2))
    count = min(300, by_array.rounds_until_release)
    tickets = by_array.open_many(count)
    clicks = [str(slate[0]) if generator.random() < 0.5 else None for slate in tickets.decisions]
    rewards = generator.random(count)
    by_array.close_many(tickets, clicks if feedback == "clicks" else rewards)
    frame = polars.DataFrame({"reward": rewards, "day": range(count), "click": clicks})
    by_table.close_many(by_table.open_many(count), KINDS[kind](frame, tmp_path))
    assert learned(by_table) == learned(by_array)


def test_costs_are_a_column(generator: np.random.Generator) -> None:
    by_array, by_table = (minimizer(feedback="bandit") for _ in range(2))
    count = by_array.rounds_until_release
    costs = generator.uniform(-1, 1, count)
    by_array.close_many(by_array.open_many(count), costs)
    tickets = by_table.open_many(count)
    with pytest.raises(ConfigError, match="lacks the columns cost"):
        by_table.close_many(tickets, polars.DataFrame({"reward": costs}))
    by_table.close_many(tickets, polars.DataFrame({"day": range(count), "cost": costs}))
    assert learned(by_table) == learned(by_array)


def test_a_table_with_fewer_or_more_rows_than_tickets_is_refused() -> None:
    learner = minimizer(feedback="bandit")
    tickets = learner.open_many(3)
    for count in (2, 4):
        with pytest.raises(StateError, match="pass one per ticket"):
            learner.close_many(tickets, polars.DataFrame({"cost": [0.0] * count}))
    assert learner.close_many(tickets, polars.DataFrame({"cost": [0.0] * 3})).all()


@EVERY_KIND
def test_contexts_masks_and_scores_are_read_by_name(
    kind: str, tmp_path: Path, generator: np.random.Generator
) -> None:
    by_array, by_table = bandit(), bandit()
    count = min(300, by_array.rounds_until_release)
    contexts = generator.uniform(-1, 1, (count, 2))
    masks = generator.random((count, 2)) < 0.7
    masks[~masks.any(axis=1)] = True
    rewards = generator.random(count)
    frame = polars.DataFrame({"pay": contexts[:, 1], "reward": rewards, "age": contexts[:, 0]})
    allowed = polars.DataFrame({"high": masks[:, 1], "low": masks[:, 0]})
    tickets = by_array.open_many(contexts, masks)
    by_array.close_many(tickets, rewards)
    again = by_table.open_many(KINDS[kind](frame, tmp_path), allowed)
    by_table.close_many(again, KINDS[kind](frame, tmp_path))
    assert again.decisions.tolist() == tickets.decisions.tolist()
    assert learned(by_table) == learned(by_array)


def test_a_table_without_a_feature_or_an_arm_opens_nothing() -> None:
    learner = bandit()
    frame = polars.DataFrame({"age": [0.5], "pay": [0.5]})
    with pytest.raises(ConfigError, match="lacks the columns pay"):
        learner.open_many(frame.drop("pay"))
    with pytest.raises(ConfigError, match="lacks the columns low"):
        learner.open_many(frame, polars.DataFrame({"high": [True]}))
    with pytest.raises(ConfigError, match="needs a context for every round"):
        learner.replay(frame)
    with pytest.raises(ConfigError, match="does not use contexts"):
        hedge().open_many(frame)
    assert learner.clock == 0


def test_an_odd_cell_of_a_table_of_masks_is_its_own_persons() -> None:
    learner = bandit()
    frame = polars.DataFrame({"age": [0.5] * 3, "pay": [0.5] * 3})
    cells = polars.Series("low", [False, "x", True], dtype=polars.Object)
    masks = polars.DataFrame({"high": [True, True, False]}).with_columns(cells)
    decisions = learner.open_many(frame, masks).decisions.tolist()
    assert (decisions[0], decisions[2]) == ("high", "low")


# --- warm starts ----------------------------------------------------------------------------------


@EVERY_KIND
@pytest.mark.parametrize("feedback", ["clicks", "bandit"])
def test_a_table_warms_up_like_its_rows(
    feedback: Any, kind: str, tmp_path: Path, generator: np.random.Generator
) -> None:
    slates = [generator.permutation(ITEMS)[:2].tolist() for _ in range(300)]
    clicks = [slate[0] if generator.random() < 0.3 else None for slate in slates]
    rewards = generator.random(300).tolist()
    chances = generator.uniform(0.1, 1.0, 300)
    answers = clicks if feedback == "clicks" else rewards
    by_rows, by_table = (maximizer(feedback=feedback, stream="iid") for _ in range(2))
    by_rows.warm_start(
        list(zip(slates, answers, strict=True)), chances.tolist(), least_propensity=0.1
    )
    frame = polars.DataFrame(
        {"p": chances, "slate": [" ".join(slate) for slate in slates],
         "click" if feedback == "clicks" else "reward": answers}
    )  # fmt: skip
    table = KINDS[kind](frame, tmp_path)
    by_table.warm_start(table, "p", least_propensity=0.1)
    assert learned(by_table) == learned(by_rows)
    assert by_table.log_rows == 300


def test_a_table_of_another_policy_that_cannot_be_read_spends_nothing() -> None:
    shop = maximizer(feedback="clicks", stream="iid")
    frame = polars.DataFrame({"slate": ["tea milk"], "click": ["tea"], "p": [0.123]})
    with pytest.raises(ConfigError, match="lacks the columns click"):
        shop.warm_start(frame.drop("click"))
    with pytest.raises(ConfigError, match="lacks the columns q"):
        shop.warm_start(frame, "q", least_propensity=0.1)
    with pytest.raises(ConfigError, match="lack least_propensity"):
        shop.warm_start(frame, "p")
    with pytest.raises(ConfigError, match="propensity of a table must be a column") as refused:
        shop.warm_start(frame, [0.123], least_propensity=0.1)
    assert "0.123" not in str(refused.value)
    assert (shop.clock, shop.releases, shop.log_rows) == (0, 0, 0)


# --- one selection --------------------------------------------------------------------------------


@EVERY_KIND
@pytest.mark.parametrize("function", [ClickModel, CITY], ids=["held", "cells"])
def test_a_set_is_selected_from_a_table_like_from_its_array(
    function: Any, kind: str, tmp_path: Path, generator: np.random.Generator
) -> None:
    rows = generator.random((300, 2)) * [0.3, 0.9]
    table = KINDS[kind](polars.DataFrame({"x": rows[:, 0], "y": rows[:, 1]}), tmp_path)
    chosen = [
        SetSelector(UniformMatroid(2, rank=1), PRIVACY, function=function, seed=1).fit(people)
        for people in (rows, table)
    ]
    assert chosen[0].as_plain() == chosen[1].as_plain()


def test_a_file_that_grows_during_a_selection_is_refused(tmp_path: Path) -> None:
    path = as_parquet(polars.DataFrame({"x": [0.5] * 30, "y": [0.5] * 30}), tmp_path)
    reader = RecordReader(ClickModel(), 2)
    part = SourcePart(Source(path), reader, 0, 29, None)
    with pytest.raises(ConfigError, match="it changed during the selection"):
        list(part.held())


def test_an_error_of_an_iterator_of_frames_is_refused_without_its_text() -> None:
    def frames() -> Iterator[polars.DataFrame]:
        yield polars.DataFrame({"x": [0.5], "y": [0.5]})
        raise ValueError("ann is 42")

    selector = SetSelector(UniformMatroid(2, rank=1), PRIVACY, function=ClickModel)
    with pytest.raises(ConfigError, match="the iterator of people stopped") as refused:
        selector.fit(frames())
    assert "ann" not in str(refused.value)
