"""`discreet select`: choose one set, once, from files of people's records.

    discreet select sites.toml --data homes.csv --out selected

The settings are a TOML file. This one opens two of the sites in sites.csv, which has the columns
name, longitude and latitude; homes.csv has the columns longitude and latitude:

    epsilon = 1.0
    columns = ["longitude", "latitude"]   # of the records, and of the file of sites
    labels = "name"                       # the column of the sites' names; may be left out

    [domain]
    kind = "UniformMatroid"
    rank = 2                              # the number of sites to open

    [function]
    kind = "Nearby"
    sites = "sites.csv"                   # or a list of points: [[13.38, 52.52], [13.41, 52.49]]
    reach = 0.02                          # the distance from which on a site is worth nothing
    box = [[13.3, 13.5], [52.4, 52.6]]    # a public range per column; points outside move to it

Sites are public. Their file is found from the folder of the settings. If its columns have other
names than those of the records, `[rename]` gives columns of the records the names of `columns`:

    [rename]
    home_lon = "longitude"
    home_lat = "latitude"

Records are files (Parquet, Arrow, CSV, TSV, JSON lines), folders or globs. Each file is a
partition. Without `--engine` it is read here, otherwise by the workers of the cluster. The folder
of a selection has these files:

    state          the choice, committed before it is shown; the same command again reads it back
    chosen.json    the choice, the reason for the method, and the guarantee
    report.md      a page with the same content
    picture.png    for points in the plane, a map (site_map.py); it shows public values only
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

from rich.console import Console
from rich.table import Table

from discreet import require
from discreet.engine.labels import Label
from discreet.engine.settings import refuse_foreign
from discreet.errors import ConfigError
from discreet.functions.places import Nearby
from discreet.learners.log_adapter import list_of_columns
from discreet.learners.set_selector import Chosen, SetSelector, SetSelectorSettings
from discreet.pictures import require_matplotlib
from discreet.progress import shown
from discreet.records.renamed import checked_names
from discreet.runs.files import make_folder, read_toml, write_whole
from discreet.runs.site_map import PICTURE, write_map
from discreet.runs.sites import with_sites

WORTH = "Sum of the worths to all people, with its standard deviation"


def select_from(
    config: Path, data: Sequence[Path], out: Path, console: Console, *, engine: str | None = None
) -> dict[str, Any]:
    """Choose a set from the records in files; write chosen.json, report.md and picture.png.

    Parameters
    ----------
    config
        A TOML file with the domain, the function and the budget; `columns` names the columns.
    data
        The records: files, folders of files, or globs.
    out
        The folder to which the choice is written; a choice that it has is shown again.
    console
        Shows the choice.
    engine
        The address of a Dask cluster; None: the files are read here.

    Returns
    -------
    The content of chosen.json.

    Raises
    ------
    ConfigError
        If the settings or the names of columns are refused.

    Guarantee   docs/guarantees/selector.md
    """
    settings, columns, of_records = configured_selection(config)
    function = settings.function
    places = function if isinstance(function, Nearby) and len(function.box) == 2 else None
    if places is not None:
        require_matplotlib()  # before the budget is spent
    was_chosen = (out / "state").exists()
    selector = SetSelector.from_settings(settings, out / "state", engine=engine)
    make_folder(out)
    with shown(console):
        chosen = selector.fit(list(data), columns=of_records)
    plain = chosen.as_plain()
    write_whole(out / "chosen.json", json.dumps(plain, indent=2) + "\n")
    write_whole(out / "report.md", _page(chosen))
    if places is not None:
        write_map(places, columns, chosen, out)
    _show(chosen, console)
    if was_chosen:
        console.print(
            f"{out} has this choice already: the command prints it again and spends no budget."
        )
    written = ["chosen.json", "report.md", *([] if places is None else [PICTURE])]
    names = ", ".join(str(out / name) for name in written)
    console.print(f"Wrote {names} and {out / 'state'} (which is not private)", soft_wrap=True)
    return plain


class SelectionKeys(TypedDict, total=False):
    """Keys of a selection's TOML beside the settings of `SetSelector`.

    Parameters
    ----------
    columns
        The columns of the records, and of the file of sites; without it, all columns of the
        records.
    rename
        Columns of the records with the names that `columns` lists.
    labels
        The names of the items; or the column of the file of sites that has them.
    """

    columns: Sequence[str]
    rename: Mapping[str, str]
    labels: str | Sequence[Label]


class Selection(NamedTuple):
    """The settings of a selection, and the names of the columns where the file has them."""

    settings: SetSelectorSettings
    columns: list[str] | None
    of_records: list[str] | None
    """The names of these columns in the records, which `rename` may change."""


def configured_selection(config: Path) -> Selection:
    """Read the settings, and the file of sites that they name."""
    plain = read_toml(config)
    known = [*SelectionKeys.__annotations__, *SetSelectorSettings.written()]
    unknown = [name for name in plain if name not in known]
    columns = plain.pop("columns", None)
    rename = plain.pop("rename", None)
    try:
        refuse_foreign(SetSelectorSettings.foreign, unknown)
        require.known_keys(unknown, known)
        if columns is not None:
            list_of_columns("columns", columns)
        of_records = _of_records(columns, rename)
        plain = with_sites({"delta": 0.0} | plain, columns, config.parent)
        return Selection(SetSelectorSettings.from_plain(plain), columns, of_records)
    except ConfigError as error:
        raise ConfigError(f"{config}: {error}") from None


def _of_records(columns: list[str] | None, rename: object) -> list[str] | None:
    """Return the names that the columns have in the records, before they are renamed."""
    if rename is None:
        return columns
    names = checked_names(rename)
    listed = columns or []
    original = {present: name for name, present in names.items()}
    unknown = next((present for present in original if present not in listed), None)
    if unknown is not None:
        raise ConfigError(
            f"rename must give names that `columns` lists, got {require.shown(unknown)}"
            f"{require.nearest(unknown, listed)}"
        )
    if len(original) < len(names):
        raise ConfigError("rename gives two columns the same name")
    return [original.get(name, name) for name in listed]


def _show(chosen: Chosen, console: Console) -> None:
    table = Table(title=f"Chosen items (method: {chosen.method})")
    table.add_column("place", justify="right")
    table.add_column("number", justify="right")
    table.add_column("item")
    for place, (number, item) in enumerate(zip(chosen.numbers, chosen.items, strict=True), 1):
        table.add_row(str(place), str(number), str(item))
    console.print(table)
    if chosen.value is not None:
        console.print(f"{WORTH}: {chosen.value[0]:.0f} ± {chosen.value[1]:.0f}.")
    console.print(f"Reason for the method: {chosen.why}.", soft_wrap=True)
    console.print(str(chosen.guarantee), soft_wrap=True)


def _page(chosen: Chosen) -> str:
    lines = [
        f"# {len(chosen.items)} items, chosen for {chosen.people:,} people",
        "",
        f"Method: *{chosen.method}*, because {chosen.why}.",
        "",
    ]
    lines += ["| place | number | item |", "|---|---|---|"]
    lines += [
        f"| {place} | {number} | {item} |"
        for place, (number, item) in enumerate(zip(chosen.numbers, chosen.items, strict=True), 1)
    ]
    if chosen.value is not None:
        lines += ["", f"{WORTH}: {chosen.value[0]:.1f} ± {chosen.value[1]:.1f}."]
    return "\n".join([*lines, "", str(chosen.guarantee), ""])
