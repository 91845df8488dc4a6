"""`discreet doctor`: what this machine lacks."""

import json

import typer

from discreet import __version__
from discreet.cli.app import Json, app
from discreet.runs.doctor import examine


@app.command()
def doctor(as_json: Json = False) -> None:
    """Check that discreet works on this machine; every line says OK, or what to do.

    Exit code 1 if something essential is broken.
    """
    findings = examine()
    sound = all(finding.fine for finding in findings if finding.essential)
    if as_json:
        typer.echo(
            json.dumps({"ok": sound, "findings": [finding._asdict() for finding in findings]})
        )
    else:
        typer.echo(f"discreet {__version__} on this machine")
        for finding in findings:
            state = "OK" if finding.fine else "broken" if finding.essential else "to do"
            typer.echo(f"{state:7} {finding.name:16}  {finding.says}")
    if not sound:
        raise typer.Exit(1)
