"""`discreet schema`: the JSON schema of TOML files, for editors."""

import json
from typing import Annotated

import typer

from discreet.cli.app import app
from discreet.cli.completion import completed
from discreet.learners.homes import HOMES

COMMANDS = ("run", "check", "select", "evaluate")
"""The commands that read TOML files."""


@app.command(epilog="Example: discreet schema SetMaximizer > shop.schema.json")
def schema(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="A command that reads TOML (run, check, select, evaluate), or a learner, such as "
            "SetMaximizer; without it, all files.",
            autocompletion=completed(*COMMANDS, *HOMES),
        ),
    ] = None,
) -> None:
    """Print the JSON schema of the TOML files that commands read.

    Editors (VS Code with Even Better TOML, or any with Taplo) complete and check keys by it. Save
    it beside your TOML, and make the first line of the TOML `#:schema ./shop.schema.json`. The
    schema of one learner gives the clearest messages. The command writes nothing.
    """
    from discreet.runs.schema import schema_for

    typer.echo(json.dumps(schema_for(name), indent=2, ensure_ascii=False))
