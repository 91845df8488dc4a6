"""`discreet doctor`: a check of this machine."""

import json

import typer
from rich.console import Console

from discreet import __version__
from discreet.cli.app import Json, app
from discreet.runs.doctor import BRINGS, Finding, examine


@app.command(epilog="Example: discreet doctor")
def doctor(as_json: Json = False) -> None:
    """Check that discreet works on this machine; each line has OK or the remedy.

    The command takes seconds and writes no file. It ends with exit code 1 if something essential is
    broken.
    """
    with Console(stderr=True).status("checking …") as status:
        findings = examine(lambda name: status.update(f"checking {name} …"))
    sound = all(finding.fine for finding in findings if finding.essential)
    if as_json:
        plain = [finding._asdict() | {"brings": BRINGS.get(finding.name)} for finding in findings]
        typer.echo(json.dumps({"ok": sound, "findings": plain}))
    else:
        typer.echo(f"discreet {__version__} on this machine")
        for finding in findings:
            brings = f" ({BRINGS[finding.name]})" if finding.name in BRINGS else ""
            typer.echo(f"{_state(finding):7} {finding.name:16}  {finding.says}{brings}")
    if not sound:
        raise typer.Exit(1)


def _state(finding: Finding) -> str:
    if finding.fine:
        return "OK"
    return "broken" if finding.essential else "to do"
