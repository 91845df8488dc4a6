"""One report of many experiments: Markdown, HTML, pictures and numbers from the same chapters.

A chapter consists of text, tables, pictures and numbers, none of which is formatted twice.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from discreet import pictures
from discreet.tasks import ResultStore
from discreet.texts import escaped

if TYPE_CHECKING:
    from matplotlib.figure import Figure


WORDY = 24
"""A cell with more characters than this holds words, not a number."""
STYLE = """
body { font: 16px/1.5 Georgia, serif; color: #222; }
body { max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2 { font-family: system-ui, sans-serif; line-height: 1.2; }
h2 { margin-top: 3rem; border-top: 1px solid #ddd; padding-top: 1rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font: 13px/1.4 system-ui, sans-serif; margin: 1rem 0; }
caption { text-align: left; font-weight: 600; padding: .3rem 0; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid #e5e5e5; }
th, td { text-align: right; vertical-align: top; }
th:first-child, td:first-child, td.words { text-align: left; }
figure { margin: 1.5rem 0; } img { max-width: 100%; } figcaption { font-size: 13px; color: #555; }
"""


@dataclass(frozen=True)
class Grid:
    """A table: a caption, headings, and rows of text."""

    caption: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    brief: Sequence[int] | None = None
    """Columns that a console shows; None: all."""


@dataclass(frozen=True)
class Picture:
    """A figure, the name of its file without extension, and its caption."""

    name: str
    figure: "Figure"
    caption: str


Part = str | Grid | Picture


@dataclass(frozen=True)
class Chapter:
    """The report of one experiment: text, tables and pictures, and its numbers."""

    name: str
    title: str
    parts: Sequence[Part]
    numbers: Mapping[str, object]


@dataclass(frozen=True)
class Ask:
    """How to run an experiment: its size, and the store of finished runs."""

    quick: bool = False
    seeds: int | None = None
    """Number of runs per setting; None: the experiment's own number."""
    store: ResultStore | None = None
    workers: int = 2

    def runs(self, usual: int, quick: int) -> int:
        """Return the number of runs per setting."""
        if self.seeds is not None:
            return self.seeds
        return quick if self.quick else usual


Experiment = Callable[[Ask], Chapter]


def write_report(chapters: Sequence[Chapter], folder: Path, title: str) -> list[Path]:
    """Write report.md, report.html, report.json and all pictures; return the written files."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn = [part for chapter in chapters for part in chapter.parts if isinstance(part, Picture)]
    for picture in drawn:
        pictures.save(picture.figure, folder / f"{picture.name}.png")
    numbers = {chapter.name: chapter.numbers for chapter in chapters}
    written = {
        "report.md": as_markdown(chapters, title),
        "report.html": as_html(chapters, title),
        "report.json": json.dumps(numbers, indent=2) + "\n",
    }
    for name, text in written.items():
        (folder / name).write_text(text)
    return [folder / name for name in (*written, *(f"{picture.name}.png" for picture in drawn))]


def print_chapter(chapter: Chapter, console: Console) -> None:
    """Print the text and the tables of a chapter on a console."""
    console.rule(chapter.title, align="left")
    for part in chapter.parts:
        if isinstance(part, Grid):
            console.print(_console_table(part))
        elif isinstance(part, str):
            console.print(part, soft_wrap=True, markup=False)


def _console_table(grid: Grid) -> Table:
    table = Table(title=grid.caption, box=SIMPLE_HEAD, title_justify="left", padding=(0, 1, 0, 0))
    columns = range(len(grid.headings)) if grid.brief is None else grid.brief
    for column in columns:
        words = column == 0 or any(len(row[column]) > WORDY for row in grid.rows)
        table.add_column(grid.headings[column], justify="left" if words else "right")
    for row in grid.rows:
        table.add_row(*(row[column] for column in columns))
    return table


def as_markdown(chapters: Sequence[Chapter], title: str) -> str:
    """Return the report as Markdown; pictures are separate files.

    >>> grid = Grid("Errors", ["case", "error"], [["p = 2", "0.1"]])
    >>> print(as_markdown([Chapter("x", "An experiment", ["It ran.", grid], {})], "Report"))
    # Report
    <BLANKLINE>
    ## An experiment
    <BLANKLINE>
    It ran.
    <BLANKLINE>
    **Errors**
    <BLANKLINE>
    | case | error |
    |---|---|
    | p = 2 | 0.1 |
    <BLANKLINE>
    """
    blocks = [f"# {title}"]
    for chapter in chapters:
        blocks.append(f"## {chapter.title}")
        for part in chapter.parts:
            if isinstance(part, str):
                blocks.append(part)
            elif isinstance(part, Picture):
                blocks.append(f"![{part.caption}]({part.name}.png)")
            else:
                blocks += [f"**{part.caption}**", _markdown_table(part)]
    return "\n\n".join(blocks) + "\n"


def _markdown_table(grid: Grid) -> str:
    lines = [_markdown_row(grid.headings), "|---" * len(grid.headings) + "|"]
    return "\n".join([*lines, *map(_markdown_row, grid.rows)])


def _markdown_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def as_html(chapters: Sequence[Chapter], title: str) -> str:
    """Return the report as one HTML page; pictures are separate files."""
    links = "".join(
        f'<li><a href="#{chapter.name}">{escaped(chapter.title)}</a></li>' for chapter in chapters
    )
    body = [f"<h1>{escaped(title)}</h1><ul>{links}</ul>"]
    for chapter in chapters:
        body.append(f'<h2 id="{chapter.name}">{escaped(chapter.title)}</h2>')
        body += map(_html_part, chapter.parts)
    head = f'<meta charset="utf-8"><title>{escaped(title)}</title><style>{STYLE}</style>'
    return (
        f'<!doctype html>\n<html lang="en"><head>{head}</head><body>\n'
        + "\n".join(body)
        + "\n</body></html>\n"
    )


def _html_part(part: Part) -> str:
    if isinstance(part, str):
        return f"<p>{escaped(part)}</p>"
    if isinstance(part, Picture):
        caption = escaped(part.caption)
        image = f'<img src="{part.name}.png" alt="{caption}">'
        return f"<figure>{image}<figcaption>{caption}</figcaption></figure>"
    heading = "".join(f"<th>{escaped(cell)}</th>" for cell in part.headings)
    rows = "".join(f"<tr>{''.join(map(_html_cell, row))}</tr>" for row in part.rows)
    caption = f"<caption>{escaped(part.caption)}</caption>"
    return f'<div class="wide"><table>{caption}<tr>{heading}</tr>{rows}</table></div>'


def _html_cell(cell: str) -> str:
    wordy = ' class="words"' if len(cell) > WORDY else ""
    return f"<td{wordy}>{escaped(cell)}</td>"
