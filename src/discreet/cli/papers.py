"""`discreet reproduce`: the papers' experiments, run again."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from discreet.cli.app import Json, app, refuse


@app.command()
def reproduce(
    name: Annotated[
        str,
        typer.Argument(
            metavar="all|sco-tables|rates|value|errata",
            help="sco-tables: streaming regression in l_p geometry; rates: how regret grows; "
            "value: what is "
            "kept as printed, with sound noise and by discreet; errata: what the print needs to "
            "hold.",
        ),
    ],
    out: Annotated[
        Path, typer.Option(help="Where the report goes; the same command again goes on there.")
    ] = Path("reproduced"),
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer seeds and shorter streams.")
    ] = False,
    seeds: Annotated[int | None, typer.Option(help="Runs of each setting.", min=1)] = None,
    workers: Annotated[int, typer.Option(help="Processes that run at once.", min=1)] = 2,
    as_json: Json = False,
) -> None:
    """Run the papers' experiments again: what was printed, what comes out, and what discreet
    gets.
    """
    from discreet import require
    from discreet.papers.reproduce import EXPERIMENTS
    from discreet.papers.reproduce import reproduce as run_again

    if name == "slips":
        refuse("slips are called errata now: discreet reproduce errata")
    require.one_of("name", name, ("all", *EXPERIMENTS))
    names = list(EXPERIMENTS) if name == "all" else [name]
    report = run_again(
        names, out, console=Console(quiet=as_json), quick=quick, seeds=seeds, workers=workers
    )
    if as_json:
        typer.echo(json.dumps(report))
