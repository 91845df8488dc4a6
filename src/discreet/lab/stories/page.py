"""The page that a story is written on: a folder for its picture and its numbers, a console for its tables."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from discreet import pictures
from discreet.arrays import Floats, Integers
from discreet.budget.privacy import Privacy
from discreet.lab.progress import Bar, bars_on

__all__ = ["Page", "a_person", "asked", "percent", "table_of"]


@dataclass(frozen=True)
class Page:
    """Where a story goes."""

    folder: Path
    name: str
    """Of its files, without their endings."""
    console: Console

    @classmethod
    def opened(cls, folder: Path, name: str, console: Console) -> "Page":
        """A page that can be written; refused before anything is computed if pictures cannot be drawn."""
        pictures.require_matplotlib()
        return cls(folder, name, console)

    @property
    def bar(self) -> Bar:
        """Progress bars on the console."""
        return bars_on(self.console)

    def show(
        self, report: dict[str, Any], said: Sequence[object], figure: Any, *, text: str | None = None
    ) -> dict[str, Any]:
        """Print tables and texts; write numbers, picture and perhaps a text, as .json, .png and .md."""
        for each in said:
            self.console.print(each, soft_wrap=isinstance(each, str))
        self.folder.mkdir(parents=True, exist_ok=True)
        places = [self.folder / f"{self.name}.{ending}" for ending in ("json", "png", "md")]
        numbers, picture, words = places
        numbers.write_text(json.dumps(report, indent=2) + "\n")
        pictures.save(figure, picture)
        if text is not None:
            words.write_text(text)
        written = [str(place) for place in (places if text is not None else places[:2])]
        listed = f"{', '.join(written[:-1])} and {written[-1]}"
        self.console.print(f"Wrote {listed} in {report['seconds']:.0f} s", soft_wrap=True)
        return report


def table_of(title: str, first: str, *others: str, **looks: Any) -> Table:
    """A table whose first column holds words and whose others hold numbers."""
    table = Table(title=title, **looks)
    table.add_column(first, justify="left", no_wrap=bool(looks))
    for heading in others:
        table.add_column(heading, justify="right", no_wrap=bool(looks))
    return table


def asked(privacy: Privacy) -> str:
    """What was asked for, in the title of a table.

    >>> asked(Privacy(1.0, 1e-6))
    'epsilon = 1, delta = 1e-06'
    """
    return f"epsilon = {privacy.epsilon:g}, delta = {privacy.delta:g}"


def percent(share: float) -> str:
    """A share as it is printed.

    >>> percent(0.1234)
    '12.3 %'
    """
    return f"{100 * share:.1f} %"


def a_person(people: Integers, totals: Floats, parts: int) -> tuple[Floats, Floats]:
    """What a running total gained per person, in equal parts of the stream: where parts end, and the gains.

    >>> a_person(np.array([0, 10, 20]), np.array([0.0, 5.0, 20.0]), parts=2)
    (array([10., 20.]), array([0.5, 1.5]))
    """
    edges = np.linspace(0, people[-1], parts + 1)
    gains = np.diff(np.interp(edges, people, totals)) / np.diff(edges)
    return edges[1:], gains
