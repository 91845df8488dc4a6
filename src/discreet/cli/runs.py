"""`discreet run`, `status`, `change`, `evaluate` and `select`: learners over logs and records."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from discreet.cli.app import Delta, Epsilon, Json, answer, app


@app.command()
def run(
    config: Annotated[
        Path, typer.Argument(help="Settings of the learner, TOML; `learner` names it.")
    ],
    data: Annotated[Path, typer.Option(help="The event log, CSV or Parquet.")],
    out: Annotated[
        Path,
        typer.Option(help="Where decisions, report and state go. Run again to go on after a kill."),
    ] = Path("run"),
    as_json: Json = False,
) -> None:
    """Run a learner over an event log: decisions and a report, resumable at any point."""
    from discreet.runs.run import run_log

    answer(run_log(config, data, out, Console(quiet=as_json)), as_json)


@app.command()
def status(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")],
    as_json: Json = False,
) -> None:
    """How far a run is, what it has spent and what it decides now; also while it is going on."""
    from discreet.runs.status import show_status, status_of

    answer(status_of(folder), as_json, show_status)


@app.command()
def change(
    folder: Annotated[
        Path, typer.Argument(metavar="RUN", help="The folder of a run that shows items.")
    ],
    add: Annotated[
        list[str] | None, typer.Option(help="An item that comes, or comes back.")
    ] = None,
    retire: Annotated[
        list[str] | None, typer.Option(help="An item that is never shown again.")
    ] = None,
    extend: Annotated[int | None, typer.Option(help="So many more visitors.")] = None,
    as_json: Json = False,
) -> None:
    """Change the catalogue of a run, or for how many visitors it goes on: public events, which cost
    nothing.

    Whether and when must not depend on what visitors did.
    """
    from discreet.runs.change import change_run

    answer(
        change_run(folder, add=add or (), retire=retire or (), extend=extend), as_json, _show_change
    )


def _show_change(found: dict[str, Any], console: Console) -> None:
    pending = (
        f"; from the next block on also {', '.join(map(str, found['pending']))}"
        if found["pending"]
        else ""
    )
    console.print(f"{len(found['active'])} items may be shown{pending}", soft_wrap=True)
    console.print(f"{found['horizon']:,} visitors are planned", soft_wrap=True)


@app.command()
def evaluate(
    policy: Annotated[Path, typer.Argument(help="The folder of a run, or TOML with a `slate`.")],
    data: Annotated[
        Path, typer.Option(help="A log with slate, and click or reward: CSV or Parquet.")
    ],
    propensity: Annotated[
        str,
        typer.Option(help="The column with the chance of what was shown, or uniform."),
    ],
    epsilon: Epsilon = 1.0,
    delta: Delta = 0.0,
    contributions: Annotated[int, typer.Option(help="How many rows one person may have.")] = 1,
    clip: Annotated[
        float | None,
        typer.Option(help="The most a row may weigh; 10, or what uniform slates need."),
    ] = None,
    as_json: Json = False,
) -> None:
    """What a slate would have earned, from a log of what others were shown: one release, with
    its error.
    """
    from discreet.budget.privacy import Privacy
    from discreet.runs.evaluate import evaluate_log, policy_from, show_evaluation

    privacy = Privacy(epsilon, delta, contributions=contributions)
    found = evaluate_log(policy_from(policy), data, privacy, propensity=propensity, clip=clip)
    answer(found, as_json, show_evaluation)


@app.command()
def select(
    config: Annotated[Path, typer.Argument(help="Domain, function and budget, TOML.")],
    data: Annotated[
        list[Path], typer.Option(help="People's records, CSV or Parquet; again for more files.")
    ],
    out: Annotated[
        Path, typer.Option(help="Where the choice goes. The same command again reads it back.")
    ] = Path("selected"),
    engine: Annotated[
        str | None, typer.Option(help="A Dask cluster that reads the files: tcp://host:8786.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Choose one set, once, from people's records: which sites to open, which titles to stock."""
    from discreet.runs.select import select_from

    answer(select_from(config, data, out, Console(quiet=as_json), engine=engine), as_json)
