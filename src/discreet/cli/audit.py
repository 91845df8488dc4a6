"""`discreet audit`: guarantees put to the test."""

import json
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console

from discreet.cli.app import Json, app


@app.command()
def audit(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="What to audit; without names, everything."),
    ] = None,
    size: Annotated[
        Literal["minute", "night"],
        typer.Option(help="How thoroughly: for a minute, or for a night."),
    ] = "minute",
    pairs: Annotated[
        int | None, typer.Option(help="Neighbouring streams of each, for the exact audit.", min=1)
    ] = None,
    runs: Annotated[
        int | None, typer.Option(help="Lives of two of them, for the attack on outputs.", min=8)
    ] = None,
    epsilon: Annotated[float, typer.Option(help="The guarantee that is put to the test.")] = 3.0,
    delta: Annotated[float, typer.Option(help="The probability with which it may fail.")] = 1e-6,
    seed: Annotated[int, typer.Option(help="Of the made-up people.")] = 0,
    out: Annotated[
        Path,
        typer.Option(help="Where to write what was found; the same command again goes on there."),
    ] = Path("audit"),
    engine: Annotated[
        str | None,
        typer.Option(help="A Dask cluster's address, such as tcp://host:8786; else two processes."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Put guarantees to the test: neighbouring streams, and what everything published tells about
    them.

    Exit code 1 if something tells more than was promised.
    """
    from discreet.audit.report import SIZES, Size, run_audit

    console = Console(quiet=as_json)
    usual = SIZES[size]
    asked = Size(usual.pairs if pairs is None else pairs, usual.runs if runs is None else runs)
    found = run_audit(
        list(names or []),
        size=asked,
        epsilon=epsilon,
        delta=delta,
        seed=seed,
        out=out,
        console=console,
        engine=engine,
    )
    if as_json:
        typer.echo(json.dumps(found))
    if not found["ok"]:
        raise typer.Exit(1)
