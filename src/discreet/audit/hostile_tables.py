"""Rows of tables as the audit sees them: any cell, line or person may be malformed.

A person is a dictionary of cells by column. Some people together are handed in as one table
(`TABLES`), whose kind must not let one of them decide how the others are read.
"""

import json
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import polars

Cells = dict[str, object]
"""The cells of one person, by column."""
Maker = Callable[[list[Cells], Sequence[str]], object]
"""Returns a table of people with columns of these names."""

LARGE = 1e3
"""A number far beyond any bound, which is clipped to it."""
ENDS: tuple[float, ...] = (1.0, -1.0, LARGE, -LARGE, 0.0)
ODD_CELLS: tuple[object, ...] = (
    None, "", " ", "x", '"', '"1', '1"2', ",", ";", "\t", "\r", "\x00", "\x1c", "\ufeff1", "1_000",
    "true", "TRUE", "1e400", "-1e308", "nan", "inf", "0x1", "١", "2024-02-30", "0001-01-01",
    "9999-12-31T23:59:59+00:00", "2024-01-01T00:00:00-23:59", "[1]", "{", "9" * 400, "k" * 5000,
    10**400, -(10**20), True, float("nan"), float("inf"), 1e308, -0.0, b"\xff", [1.0], {"a": 1},
)  # fmt: skip
"""Malformed and odd cells."""
MOST_ROWS = 64
"""The largest number of rows at the ends of the range that are tried."""


def hostile_cells(person: Cells, generator: np.random.Generator) -> Cells:
    """Return the row with some cells odd, or at the ends of the range."""
    changed = dict(person)
    for name, cell in person.items():
        drawn = generator.random()
        if drawn < 0.2:
            changed[name] = ODD_CELLS[int(generator.integers(len(ODD_CELLS)))]
        elif drawn < 0.7 and isinstance(cell, float):
            changed[name] = float(generator.choice(ENDS))
    return changed


def extreme_cells(person: Cells, generator: np.random.Generator) -> list[object]:
    """Return rows whose numbers are at the ends of the range."""
    rows: list[object] = [person]
    for _ in range(MOST_ROWS - 1):
        ends = generator.choice(ENDS, size=len(person)).tolist()
        rows.append(
            {
                name: end if isinstance(cell, float) else cell
                for (name, cell), end in zip(person.items(), ends, strict=True)
            }
        )
    return rows


def mutated_cells(person: Cells, generator: np.random.Generator) -> Cells:
    """Return the row with one number changed."""
    numbers = [name for name, cell in person.items() if isinstance(cell, float)]
    if not numbers:
        return person
    name = str(generator.choice(numbers))
    return person | {name: float(generator.choice([*ENDS, generator.uniform(-1, 1)]))}


# --- tables of several people ---------------------------------------------------------------------


def tables(names: Sequence[str]) -> tuple[Callable[[list[object]], object], ...]:
    """Return functions that put people into a table with these columns, one per kind."""
    makers: tuple[Maker, ...] = (_objects, _texts, _iterator, _json_lines, _csv)
    return tuple(partial(_table, make, names) for make in makers)


def _table(make: Maker, names: Sequence[str], people: list[object]) -> object:
    return make([_cells(person, names) for person in people], names)


def _cells(person: object, names: Sequence[str]) -> Cells:
    """Return the cells of a person; empty ones for a person without a row."""
    known = person if isinstance(person, dict) else {}
    return {name: known.get(name) for name in names}


def _objects(people: list[Cells], names: Sequence[str]) -> "polars.DataFrame":
    """Return a frame in which every cell is a separate object."""
    import polars

    return polars.DataFrame(
        [
            polars.Series(name, [person[name] for person in people], dtype=polars.Object)
            for name in names
        ]
    )


def _texts(people: list[Cells], names: Sequence[str]) -> "polars.DataFrame":
    """Return a frame of texts."""
    import polars

    cells = {name: [_text(person[name]) for person in people] for name in names}
    return polars.DataFrame(cells, schema=dict.fromkeys(names, polars.String))


def _iterator(people: list[Cells], names: Sequence[str]) -> object:
    """Return an iterator of frames, one person per frame, of two kinds."""
    makers: tuple[Maker, ...] = (_objects, _texts)
    return iter([makers[place % 2]([person], names) for place, person in enumerate(people)])


def _json_lines(people: list[Cells], names: Sequence[str]) -> object:
    """Return the path of a file with one JSON object per line; some lines are no JSON."""
    lines = [_json(person) for person in people]
    return _written("people.jsonl", "\n".join(lines).encode(errors="replace"))


def _csv(people: list[Cells], names: Sequence[str]) -> object:
    """Return the path of a CSV file whose cells are not quoted."""
    header = ",".join(names)
    lines = [",".join(_text(person[name]) or "" for name in names) for person in people]
    # A newline ends a row: the lines of a file are the operator's.
    content = "\n".join([header, *(line.replace("\n", " ") for line in lines)]) + "\n"
    return _written("people.csv", content.encode(errors="replace"))


def _json(person: Cells) -> str:
    try:
        return json.dumps(person)
    except (TypeError, ValueError):  # bytes, which JSON cannot hold
        return "{" + repr(person).replace("\n", " ")


def _text(cell: object) -> str | None:
    if cell is None:
        return None
    return cell.decode("latin-1") if isinstance(cell, bytes) else str(cell)


@cache
def _folder() -> TemporaryDirectory[str]:
    """The folder of files that are read at once; it goes with the process."""
    return TemporaryDirectory()


def _written(name: str, content: bytes) -> Path:
    path = Path(_folder().name, name)
    path.write_bytes(content)
    return path
