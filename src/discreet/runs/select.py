"""`discreet select`: choose one set, once, from files of people's records.

The settings are a TOML file:

    epsilon = 1.0
    columns = ["x", "y"]

    [domain]
    kind = "UniformMatroid"
    items = 300
    rank = 10

    [function]
    kind = "Nearby"
    sites = [[0.1, 0.2], …]
    reach = 0.15
    box = [[0.0, 1.0], [0.0, 1.0]]

The folder of a selection has these files:

    state          the choice, committed before it is shown; the same command again reads it back
    chosen.json    the choice, the reason for the method, and the guarantee
    report.md      a page with the same content
    picture.png    for points, a map of the sites; it shows public values only

Each file of records is a partition. Without `--engine` it is read here, otherwise by the workers of
the cluster.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from discreet.errors import ConfigError
from discreet.functions.places import Nearby
from discreet.learners.log_adapter import list_of_columns
from discreet.learners.set_selector import Chosen, SetSelector, SetSelectorSettings
from discreet.pictures import BLUE, GREY, open_frame, panels, require_matplotlib, save
from discreet.runs.files import make_folder, read_toml, write_whole


def select_from(
    config: Path, data: Sequence[Path], out: Path, console: Console, *, engine: str | None = None
) -> dict[str, Any]:
    """Choose a set from the records in files; write chosen.json, report.md and picture.png.

    Parameters
    ----------
    config
        A TOML file with the domain, the function and the budget; `columns` names the columns.
    data
        The files of records, CSV or Parquet.
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
    settings, columns = _configured(config)
    is_map = isinstance(settings.function, Nearby) and len(settings.function.box) == 2
    if is_map:
        require_matplotlib()  # before the budget is spent
    was_chosen = (out / "state").exists()
    selector = SetSelector.from_settings(settings, out / "state", engine=engine)
    make_folder(out)
    chosen = selector.fit(list(data), columns=columns)
    plain = chosen.as_plain()
    write_whole(out / "chosen.json", json.dumps(plain, indent=2) + "\n")
    write_whole(out / "report.md", _page(chosen))
    if is_map:
        _draw(settings, chosen, out / "picture.png")
    _show(chosen, console)
    if was_chosen:
        console.print(
            f"{out} has this choice from before: it is shown again, and no budget was spent."
        )
    written = ["chosen.json", "report.md", *(["picture.png"] if is_map else [])]
    names = ", ".join(str(out / name) for name in written)
    console.print(f"Wrote {names} and {out / 'state'} (which is not private)", soft_wrap=True)
    return plain


def _configured(config: Path) -> tuple[SetSelectorSettings, list[str] | None]:
    """Return the settings, and the names of the columns where the file has them."""
    plain = read_toml(config)
    columns = plain.pop("columns", None)
    if columns is not None:
        list_of_columns("columns", columns)
    try:
        return SetSelectorSettings.from_plain({"delta": 0.0} | plain), columns
    except ConfigError as error:
        raise ConfigError(f"{config}: {error}") from None


def _show(chosen: Chosen, console: Console) -> None:
    table = Table(title=f"Chosen, by {chosen.method}")
    table.add_column("number", justify="right")
    table.add_column("item")
    for number, item in zip(chosen.numbers, chosen.items, strict=True):
        table.add_row(str(number), str(item))
    console.print(table)
    if chosen.value is not None:
        console.print(f"Worth {chosen.value[0]:.0f} ± {chosen.value[1]:.0f} people, all together.")
    console.print(f"Why this way: {chosen.why}.", soft_wrap=True)
    console.print(str(chosen.guarantee), soft_wrap=True)


def _page(chosen: Chosen) -> str:
    lines = [
        f"# {len(chosen.items)} items, chosen for {chosen.people:,} people",
        "",
        f"By *{chosen.method}*: {chosen.why}.",
        "",
    ]
    lines += ["| number | item |", "|---|---|"]
    lines += [
        f"| {number} | {item} |" for number, item in zip(chosen.numbers, chosen.items, strict=True)
    ]
    if chosen.value is not None:
        lines += ["", f"Worth {chosen.value[0]:.1f} ± {chosen.value[1]:.1f} people, all together."]
    return "\n".join([*lines, "", str(chosen.guarantee), ""])


def _draw(settings: SetSelectorSettings, chosen: Chosen, path: Path) -> None:
    """Draw all sites, and the chosen ones with their reach."""
    function = settings.function
    assert isinstance(function, Nearby)
    (left, right), (bottom, top) = function.box
    figure, (axes,) = panels(1, (6.0, 6.0 * min(2.0, max(0.5, (top - bottom) / (right - left)))))
    from matplotlib.patches import Circle

    across, up = zip(*function.sites, strict=True)
    axes.scatter(across, up, s=6, color=GREY, label="sites")
    for number, item in zip(chosen.numbers, chosen.items, strict=True):
        x, y = function.sites[number]
        axes.add_patch(Circle((x, y), function.reach, color=BLUE, alpha=0.12, linewidth=0))
        axes.plot([x], [y], "o", color=BLUE, markersize=7)
        axes.annotate(
            str(item), (x, y), textcoords="offset points", xytext=(6, 5), fontsize=8, color=BLUE
        )
    axes.set_xlim(left, right)
    axes.set_ylim(bottom, top)
    axes.set_aspect("equal")
    axes.set_title(
        f"{len(chosen.items)} of {len(function.sites)} sites, with their reach", fontsize=10
    )
    open_frame(axes)
    save(figure, path)
