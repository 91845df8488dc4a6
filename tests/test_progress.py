"""If these fail, people wait without knowing how long, or a bar shows where none was asked for."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from discreet import Hedge, Privacy, SetMaximizer, SetSelector, StreamingLearner, progress, warm_up
from discreet.domains import LpBall, UniformMatroid
from discreet.estimators import PrivateStreamingRegressor
from discreet.functions import Types
from discreet.losses import SquaredLoss
from discreet.progress import Report
from discreet.simulate.planning.cases import DisplayCase
from discreet.simulate.planning.search import make_plan
from discreet.tasks import repeat

BOTH = Privacy(1.0, 1e-6)
ROWS = np.full((100, 2), 0.5)
GOODS = ["tea", "milk"]

Opened = list[tuple[str, int | None, list[float]]]
"""Bars by label and total, with the counts that were reported."""


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Opened:
    """All bars that are opened while bars are shown."""
    found: Opened = []

    @contextmanager
    def bar(label: str, total: int | None) -> Iterator[Report]:
        counts: list[float] = []
        found.append((label, total, counts))
        yield counts.append

    monkeypatch.setattr(progress, "_bars_on", lambda console: bar)
    return found


def _replay(folder: Path) -> None:
    Hedge(2, 1000, BOTH).replay(ROWS)


def _replay_file(folder: Path) -> None:
    path = folder / "log.csv"
    path.write_text("tea,milk\n" + "0.5,0.5\n" * 100)
    Hedge(GOODS, 1000, BOTH).replay(path)


def _check(folder: Path) -> None:
    path = folder / "log.csv"
    path.write_text("tea,milk\n" + "0.5,0.5\n" * 100)
    Hedge(GOODS, 1000, BOTH).check(path)


def _observe(folder: Path) -> None:
    model = StreamingLearner(
        LpBall(2), SquaredLoss(), 1000, BOTH, feature_bound=1.0, target_bound=1.0
    )
    model.observe_stream(ROWS, ROWS[:, 0])


def _fit(folder: Path) -> None:
    ranges = {"feature_range": [(0.0, 1.0)] * 2, "target_range": (0.0, 1.0)}
    PrivateStreamingRegressor(1.0, 1e-6, **ranges).fit(ROWS, ROWS[:, 0])  # type: ignore[arg-type]


def _select(folder: Path) -> None:
    types = Types(((1.0, 0.0), (0.0, 1.0)))
    SetSelector(UniformMatroid(2, 1), BOTH, function=types).fit(np.zeros((100, 1)))


def _warm_start(folder: Path) -> None:
    shop = SetMaximizer(GOODS, 1, 1000, BOTH, feedback="clicks", stream="iid")
    shop.warm_start([(["tea"], None)] * 100)


@pytest.mark.parametrize(
    ("call", "label"),
    [
        (_replay, "rounds"),
        (_replay_file, "rounds"),
        (_check, "rows"),
        (_observe, "samples"),
        (_fit, "samples"),
        (_select, "people"),
    ],
)
def test_a_long_call_counts_all_its_rows(
    call: Callable[[Path], None], label: str, opened: Opened, tmp_path: Path
) -> None:
    with progress.shown():
        call(tmp_path)
    bars = {name: (total, sum(counts)) for name, total, counts in opened}
    assert bars[label] == (100, 100)


def test_a_warm_start_and_warming_up_have_bars(opened: Opened, tmp_path: Path) -> None:
    with progress.shown():
        _warm_start(tmp_path)
        warm_up(Hedge(2, 1000, BOTH))
    assert [(name, total) for name, total, _ in opened] == [("log", None), ("learners", 1)]


def _replay_times(people: int, seed: int) -> None:
    Hedge(2, 1000, BOTH, seed=seed).replay(ROWS[:people])


def test_repeated_tasks_are_counted_and_have_no_bars_of_their_own(opened: Opened) -> None:
    with progress.shown():
        repeat(_replay_times, [(50, 1), (50, 2)], label="replays", workers=1)
    assert opened == [("replays", 2, [0, 1, 1])]


def test_a_plan_counts_its_seconds_and_has_one_bar(opened: Opened) -> None:
    case = DisplayCase(300, Privacy(1.0, 1e-6), items=5, slots=2)
    with progress.shown():
        make_plan(case, minutes=0.01)
    ((label, total, counts),) = opened
    assert label == "simulating"
    assert total is not None
    assert sum(counts) == pytest.approx(total, rel=0.1)


def test_the_bars_of_a_decorated_function_end_with_it(opened: Opened, tmp_path: Path) -> None:
    progress.shown()(_replay)(tmp_path)
    assert [label for label, _, _ in opened] == ["rounds"]
    _replay(tmp_path)
    assert len(opened) == 1


def test_no_bar_opens_unless_it_is_asked_for(opened: Opened, tmp_path: Path) -> None:
    with progress.shown():
        pass
    _replay(tmp_path)
    assert not opened


def test_bars_are_shown_one_inside_another_and_disappear() -> None:
    text = StringIO()
    console = Console(file=text, force_terminal=True, width=60)
    with progress.shown(console):
        for _ in range(2):  # bars open again after the first has closed
            with progress.bar("samples", 2) as report, progress.bar("passes", 3):
                report(1)
    shown = text.getvalue()
    assert "samples" in shown
    assert "passes" in shown
    assert "\x1b[2K" in shown.rpartition("passes")[2], "the bars are not erased"


class Gone(StringIO):
    """A terminal that was closed."""

    def __init__(self, error: type[OSError]) -> None:
        super().__init__()
        self.error = error

    def write(self, text: str) -> int:
        raise self.error


@pytest.mark.parametrize("error", [OSError, BrokenPipeError])
def test_a_closed_terminal_stops_no_release_that_has_bars(error: type[OSError]) -> None:
    """The bar of the passes opens after noise was drawn: an error there would end the learner."""
    model = StreamingLearner(
        LpBall(2), SquaredLoss(), 1000, BOTH, feature_bound=1.0, target_bound=1.0, method="passes"
    )
    rows = np.full((1000, 2), 0.5)
    with progress.shown(Console(file=Gone(error), force_terminal=True)):
        model.observe_many(list(zip(rows, rows[:, 0], strict=True)))
        assert model.release_if_due()
    assert model.releases == 1


def test_output_that_goes_into_a_file_has_no_trace_of_bars() -> None:
    text = StringIO()
    with progress.shown(Console(file=text)), progress.bar("rows", 2) as report:
        report(2)
    assert text.getvalue() == ""
