"""Output of both demos: tables and guarantees on a console, a picture and numbers in a folder."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Column, Table

from discreet import pictures
from discreet.budget.privacy import Privacy

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def show(
    console: Console,
    folder: Path,
    parts: Sequence[object],
    figure: "Figure",
    report: dict[str, object],
) -> dict[str, object]:
    """Print tables and texts, write demo.png and demo.json, and return the report."""
    for part in parts:
        console.print(part, soft_wrap=isinstance(part, str))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "demo.json").write_text(json.dumps(report, indent=2) + "\n")
    pictures.save(figure, folder / "demo.png")
    written = f"Wrote {folder / 'demo.json'} and {folder / 'demo.png'}"
    console.print(f"{written} in {report['seconds']:.0f} s", soft_wrap=True)
    return report


def table_of(title: str, first: str, *others: str) -> Table:
    """Return a table whose first column holds text and whose other columns hold numbers."""
    return Table(
        first,
        *(Column(heading, justify="right") for heading in others),
        title=title,
        min_width=max(map(len, title.splitlines())),
    )


def stated(privacy: Privacy) -> str:
    """Return the privacy parameters as text, for the title of a table.

    >>> stated(Privacy(1.0, 1e-6))
    'epsilon = 1, delta = 1e-06'
    """
    return f"epsilon = {privacy.epsilon:g}, delta = {privacy.delta:g}"
