"""`discreet audit`: tests of guarantees."""

import json
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console

from discreet.cli.app import Json, app
from discreet.cli.completion import completed
from discreet.learners.homes import HOMES


@app.command(epilog="Example: discreet audit Hedge --size minute")
def audit(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME",
            help="Learners or single cases to audit, such as Hedge or clicks; without names, all.",
            autocompletion=completed(*HOMES),
        ),
    ] = None,
    size: Annotated[
        Literal["minute", "night"],
        typer.Option(help="Duration of the audit; a longer audit compares more streams."),
    ] = "minute",
    pairs: Annotated[
        int | None,
        typer.Option(help="Pairs of neighbouring streams per case, in the exact audit.", min=1),
    ] = None,
    runs: Annotated[
        int | None,
        typer.Option(help="Runs per stream of a pair, in the attack on outputs.", min=8),
    ] = None,
    epsilon: Annotated[
        float, typer.Option(help="Privacy budget of the audited learners, per person.")
    ] = 3.0,
    delta: Annotated[
        float, typer.Option(help="Probability with which their guarantee may fail.")
    ] = 1e-6,
    seed: Annotated[int, typer.Option(help="Seed of the simulated people.")] = 0,
    out: Annotated[
        Path,
        typer.Option(
            help="Folder to which the report is written; the same command again goes on there."
        ),
    ] = Path("audit"),
    engine: Annotated[
        str | None,
        typer.Option(
            help="Address of a Dask cluster, such as tcp://host:8786; without one, two processes."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Test guarantees: run learners on neighbouring streams and compare their output.

    The command writes audit.json and audit.png. It ends with exit code 1 if some output reveals
    more about one person than the guarantee allows.
    """
    from discreet.audit.report import SIZES, Size, run_audit

    console = Console(quiet=as_json)
    usual = SIZES[size]
    wanted = Size(
        pairs=usual.pairs if pairs is None else pairs,
        runs=usual.runs if runs is None else runs,
    )
    report = run_audit(
        list(names or []),
        size=wanted,
        epsilon=epsilon,
        delta=delta,
        seed=seed,
        out=out,
        console=console,
        engine=engine,
    )
    if as_json:
        typer.echo(json.dumps(report))
    if not report["ok"]:
        raise typer.Exit(1)
