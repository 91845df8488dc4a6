"""Seeded choices of one set: every method of SetSelector, from every kind of record."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from discreet import Privacy, SetSelector
from discreet.domains import Knapsack, PartitionMatroid, UniformMatroid
from discreet.functions import (
    ClickModel,
    ConcaveOverModular,
    FacilityLocation,
    Nearby,
    SetFunction,
    Types,
    WeightedCoverage,
)
from measures.equality.trace import Trace

ITEMS, PEOPLE = 6, 400
NAN = float("nan")


def _told(chosen: Any) -> dict[str, Any]:
    """Return the result of a choice; versions up to 0.5 also had a point."""
    plain: dict[str, Any] = chosen.as_plain()
    plain.pop("point", None)
    return plain


@dataclass(frozen=True, kw_only=True)
class Selection:
    """One choice: the constructor of the selector, and the records."""

    name: str
    mode: str
    make: Callable[..., Any]
    people: Callable[[], Any]
    columns: tuple[str, ...] | None = None
    kept: bool = False
    """Whether the choice is committed to a file, and read back by a second selector."""

    def run(self, trace: Trace) -> str:
        """Choose once; return the mode, as "SetSelector mode"."""
        with TemporaryDirectory() as folder:
            more: dict[str, Any] = {"journal": Path(folder) / "choice"} if self.kept else {}
            trace.note("chosen", _told(self.make(**more).fit(self.people(), columns=self.columns)))
            if self.kept:
                trace.step = "read back"
                again = self.make(**more).fit(self.people(), columns=self.columns)
                trace.note("chosen", _told(again))
        return f"SetSelector {self.mode}"


def selections() -> Iterator[Selection]:
    """Return both methods with rows, lists, frames and callables, quotas, budgets, reports."""
    yield from _sampled()
    yield from _histograms()


def _sampled() -> Iterator[Selection]:
    covers = WeightedCoverage(
        tuple(tuple(int(j in (i, (i + 1) % 6)) for j in range(6)) for i in range(6))
    )
    functions: list[tuple[str, Any]] = [
        ("clicks", ClickModel()),
        ("facility location", FacilityLocation()),
        ("concave", ConcaveOverModular()),
    ]
    for name, function in functions:
        yield _selection("sampled", name, function, _rows)
    yield _selection("sampled", "coverage", covers, lambda: _rows() / ITEMS)
    yield _selection("sampled", "callables", SetFunction, _callables)
    yield _selection("sampled", "malformed rows", ClickModel(), _ragged)
    yield _selection("sampled", "report", ClickModel(), _rows, report=0.3)
    yield _selection(
        "sampled", "approximate", FacilityLocation(), _rows, privacy=Privacy(1.0, 1e-6)
    )
    quotas = PartitionMatroid((0, 0, 0, 1, 1, 1), (1, 1))
    yield _selection("sampled", "quotas", ClickModel(), _rows, domain=quotas, labels=list("abcdef"))
    prices = Knapsack((1.0, 1.0, 2.0, 2.5, 1.0, 0.5), 3.0)
    yield _selection("sampled", "knapsack", ClickModel(), _rows, domain=prices, report=0.2)
    yield _selection("sampled", "frame", ClickModel(), _frame, labels=list("abcdef"))
    yield _selection("sampled", "kept", ClickModel(), _rows, kept=True)
    yield _selection(
        "sampled", "two contributions", ClickModel(), _rows, privacy=Privacy(2.0, contributions=2)
    )


def _histograms() -> Iterator[Selection]:
    sites = tuple((x / 2, float(y)) for x in range(3) for y in range(2))
    near = Nearby(sites, 0.4, ((0.0, 1.0), (0.0, 1.0)))
    types = Types(tuple(tuple(float(i == j) for j in range(ITEMS)) for i in range(ITEMS)))
    for name, privacy in (("pure", Privacy(1.0)), ("approximate", Privacy(1.0, 1e-6))):
        yield _selection("histogram", f"nearby, {name}", near, _homes, privacy=privacy)
        yield _selection("histogram", f"types, {name}", types, _types, privacy=privacy)
    yield _selection("histogram", "nearby, report", near, _homes, report=0.3)
    yield _selection(
        "histogram", "malformed homes", near, lambda: [*_homes().tolist(), [NAN, 0.1], "abc"]
    )
    yield _selection("histogram", "kept", near, _homes, kept=True)
    prices = Knapsack((1.0, 1.0, 2.0, 2.5, 1.0, 0.5), 3.0)
    yield _selection("histogram", "knapsack", types, _types, domain=prices)
    yield _selection("sampled", "nearby", near, _homes, forced_mode="sampled")


def _selection(
    mode: str,
    name: str,
    function: Any,
    people: Callable[[], Any],
    *,
    kept: bool = False,
    **settings: Any,
) -> Selection:
    from discreet.learners.forced import forced

    forced_mode = settings.pop("forced_mode", "auto")
    shape = {"domain": UniformMatroid(ITEMS, 3), "privacy": Privacy(1.0), "seed": 1} | settings

    def make(**more: Any) -> Any:
        return forced(SetSelector, forced_mode, function=function, **shape, **more)

    return Selection(
        name=f"SetSelector {mode}, {name}", mode=mode, make=make, people=people, kept=kept
    )


def _rows() -> Any:
    return np.random.default_rng(3).beta(1, 3, size=(PEOPLE, ITEMS))


def _ragged() -> Any:
    return [*_rows().tolist(), [0.5], "abc", None, [NAN] * ITEMS, [2.0] * ITEMS]


def _frame() -> Any:
    import polars

    return polars.DataFrame(_rows(), schema=list("abcdef"))


def _callables() -> Any:
    def voice(worth: Any) -> Callable[[Any], float]:
        return lambda chosen: float(worth[chosen].max(initial=0.0))

    return [voice(row) for row in _rows()]


def _homes() -> Any:
    return np.random.default_rng(3).uniform(0, 1, size=(PEOPLE, 2))


def _types() -> Any:
    return np.random.default_rng(3).integers(ITEMS, size=(PEOPLE, 1)).astype(float)
