"""`discreet reproduce`: the papers' experiments, repeated."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from discreet.cli.app import Json, app
from discreet.cli.completion import completed

NAMES = ("all", "sco-tables", "rates", "value", "errata")
"""What can be repeated; the experiments themselves are imported when one runs."""


@app.command(epilog="Example: discreet reproduce errata --quick")
def reproduce(
    name: Annotated[
        str,
        typer.Argument(
            metavar="|".join(NAMES),
            autocompletion=completed(*NAMES),
            help="Which experiment to run. sco-tables: streaming regression in l_p geometry; "
            "rates: growth of the regret with the number of rounds; value: share of the value "
            "kept by the printed algorithms, by those with sound noise, and by discreet; "
            "errata: the corrections that the printed statements need.",
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            help="Folder to which the report is written; the same command again goes on there."
        ),
    ] = Path("reproduced"),
    quick: Annotated[
        bool, typer.Option("--quick", help="Use fewer seeds and shorter streams.")
    ] = False,
    seeds: Annotated[int | None, typer.Option(help="Number of runs per setting.", min=1)] = None,
    workers: Annotated[int, typer.Option(help="Number of processes that run at once.", min=1)] = 2,
    as_json: Json = False,
) -> None:
    """Repeat the papers' experiments: the printed numbers, the repeated ones, and discreet's.

    The command needs no data. It writes report.md, report.json and pictures.
    """
    from discreet import require
    from discreet.papers.reproduce import EXPERIMENTS
    from discreet.papers.reproduce import reproduce as repeat

    require.one_of("name", name, ("all", *EXPERIMENTS))
    names = list(EXPERIMENTS) if name == "all" else [name]
    report = repeat(
        names, out, console=Console(quiet=as_json), quick=quick, seeds=seeds, workers=workers
    )
    if as_json:
        typer.echo(json.dumps(report))
