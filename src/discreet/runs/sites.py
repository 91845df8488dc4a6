"""Candidate sites from a file: `sites = "sites.csv"` in the settings of `discreet select`.

Sites are public, unlike records, so a row that is no site is refused by its number.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from discreet import require
from discreet.errors import ConfigError
from discreet.records.files import open_table
from discreet.records.sources import check_present
from discreet.records.table import LogTable

FROM_SITES: Mapping[str, object] = {"Nearby.sites": str}
"""Fields of described values that may name the file of sites."""


def with_sites(
    plain: dict[str, Any], columns: Sequence[str] | None, folder: Path
) -> dict[str, Any]:
    """Return the settings of a selection with the sites that a file has.

    Parameters
    ----------
    plain
        The settings as plain data. If the `sites` of the function are the path of a file, `labels`
        may be its column with the sites' names. A domain of kind UniformMatroid may leave out
        `items`, which is the number of sites.
    columns
        The columns with the coordinates, in the file as in the records.
    folder
        The folder to which the path is relative: that of the settings.

    Raises
    ------
    ConfigError
        If the file cannot be read, lacks a column, or has a row that is no site.
    """
    function = plain.get("function")
    if not isinstance(function, dict) or function.get("kind") != "Nearby":
        return plain
    sites = function.get("sites")
    if isinstance(sites, str):
        label = plain.get("labels")
        names = [label] if isinstance(label, str) else []
        name = sites
        table = _table(folder / name, columns, names)
        sites = _points(table, columns or (), name)
        plain = plain | {"function": function | {"sites": sites}}
        if names:
            plain["labels"] = _names(table, names[0], name)
    domain = plain.get("domain")
    is_uniform = isinstance(domain, dict) and domain.get("kind") == "UniformMatroid"
    if is_uniform and isinstance(sites, list):
        plain = plain | {"domain": {"items": len(sites)} | plain["domain"]}
    return plain


def _table(path: Path, columns: Sequence[str] | None, names: list[str]) -> LogTable:
    """Return the columns of a file of sites."""
    if columns is None:
        raise ConfigError(
            f"sites = {require.shown(path.name)} needs columns: the names of its coordinates"
        )
    source = open_table(path)
    wanted = list(dict.fromkeys([*columns, *names]))
    check_present(source.columns, wanted, source.name)
    return source.whole(wanted)


def _points(table: LogTable, columns: Sequence[str], name: str) -> list[list[float]]:
    """Return one point per row; refuse a row whose coordinates are no numbers."""
    points = table.numbers(columns)
    odd = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if len(odd):
        raise ConfigError(
            f"{name}: site {odd[0] + 1} must have numbers in the columns {', '.join(columns)}"
        )
    return [list(map(float, point)) for point in points]


def _names(table: LogTable, column: str, name: str) -> list[object]:
    """Return the names of the sites: texts, or whole numbers where a typed file has them."""
    empty = np.flatnonzero(table.is_missing(column))
    if len(empty):
        raise ConfigError(f"{name}: site {empty[0] + 1} must have a name in the column {column}")
    return [
        value if isinstance(value, int) else text
        for value, text in zip(table.values(column), table.texts(column), strict=True)
    ]
