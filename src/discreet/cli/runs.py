"""`discreet run`, `check`, `status`, `change`, `evaluate` and `select`: learners on logs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from discreet.cli.app import Delta, Epsilon, Json, answer, app

if TYPE_CHECKING:
    from discreet.runs.change import Catalogue


@app.command(epilog="Example: discreet run shop.toml --data log.csv --out shop")
def run(
    config: Annotated[
        Path,
        typer.Argument(
            metavar="CONFIG", help="TOML file with the learner's settings; `learner` is its name."
        ),
    ],
    data: Annotated[
        Path,
        typer.Option(
            help="Log: a file, a folder of files or a glob (Parquet, Arrow, CSV, JSON lines). It "
            "has one row per person, in order of time, or the rows that `layout` in the settings "
            "describes."
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            help="Folder of the run; a repeated command resumes the run there, also after a kill."
        ),
    ] = Path("run"),
    as_json: Json = False,
) -> None:
    """Run a learner over a log; the run can be stopped and resumed at any point.

    `discreet schema` describes the keys of the TOML file. The command writes decisions.jsonl (one
    line per release), report.json and the learner's state. The state is not private: protect it
    like the log.
    """
    from discreet.runs.run import run_log

    answer(run_log(config, data, out, Console(quiet=as_json)), as_json)


@app.command(epilog="Example: discreet check shop.toml --data log.csv")
def check(
    config: Annotated[
        Path,
        typer.Argument(
            metavar="CONFIG", help="TOML file with the learner's settings, as for `run`."
        ),
    ],
    data: Annotated[Path, typer.Option(help="Log that a run would read.")],
    as_json: Json = False,
) -> None:
    """Count the rows of a log that a run could not read, by rule, before any budget is spent.

    The output is NOT private: keep it where the data is. Settings that you choose after reading it
    depend on people's data, which the guarantee does not cover. The command writes nothing.
    """
    from discreet.runs.check import check_log

    found = check_log(config, data, Console(stderr=True, quiet=as_json))
    answer(found.as_plain(), as_json, lambda plain, console: typer.echo(str(found)))


@app.command(epilog="Example: discreet status shop")
def status(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.")],
    as_json: Json = False,
) -> None:
    """Print the progress, the spent budget and the present decision of a run.

    The run may be under way: the command only reads, and writes nothing.
    """
    from discreet.runs.status import show_status, status_of

    answer(status_of(folder), as_json, show_status)


@app.command(epilog="Example: discreet change shop --add rope --retire milk --extend 100000")
def change(
    folder: Annotated[
        Path, typer.Argument(metavar="RUN", help="Folder of a run that shows items.")
    ],
    add: Annotated[
        list[str] | None,
        typer.Option(help="Item to add, or to show again; repeat the option for more items."),
    ] = None,
    retire: Annotated[
        list[str] | None,
        typer.Option(help="Item to retire; repeat the option for more items."),
    ] = None,
    extend: Annotated[
        int | None, typer.Option(help="Number of further visitors to plan for.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Add or retire items of a run, or extend its horizon; changes cost no budget.

    Changes are public events: whether and when they happen must not depend on what visitors did.
    The command writes the run's state; the next `discreet run` goes on from there.
    """
    from discreet.runs.change import change_run

    answer(
        change_run(folder, add=add or (), retire=retire or (), extend=extend), as_json, _show_change
    )


def _show_change(catalogue: "Catalogue", console: Console) -> None:
    active = len(catalogue["active"])
    pending = ", ".join(map(str, catalogue["pending"]))
    later = f"; from the next block on also {pending}" if pending else ""
    console.print(f"{active} items may be shown{later}", soft_wrap=True)
    console.print(f"{catalogue['horizon']:,} visitors are planned", soft_wrap=True)


@app.command(epilog="Example: discreet evaluate shop --data log.csv --propensity uniform")
def evaluate(
    policy: Annotated[
        Path,
        typer.Argument(
            metavar="POLICY",
            help="Folder of a run, or a TOML file with a `slate`, and with `items` if slates were "
            "drawn uniformly.",
        ),
    ],
    data: Annotated[
        Path,
        typer.Option(
            help="Log (a file, a folder or a glob) with columns slate and click or reward."
        ),
    ],
    propensity: Annotated[
        str,
        typer.Option(
            help="Column with the probability of the shown slate, or `uniform` for slates drawn "
            "uniformly."
        ),
    ],
    epsilon: Epsilon = 1.0,
    delta: Delta = 0.0,
    contributions: Annotated[int, typer.Option(help="Largest number of rows per person.")] = 1,
    clip: Annotated[
        float | None,
        typer.Option(
            help="Largest weight of a row; by default 10, or the weight that uniform slates have."
        ),
    ] = None,
    log: Annotated[
        Path | None,
        typer.Option(
            help="TOML file with `rename` and `layout` of the log, such as that of a run."
        ),
    ] = None,
    column: Annotated[
        str | None,
        typer.Option(
            "--answer", help="`click` or `reward`: needed if the log may have both columns."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Estimate what a slate would have earned, from a log of slates that another policy showed.

    The command prints one private estimate with its error and writes nothing. Each evaluation
    spends its own budget.
    """
    from discreet.budget.privacy import Privacy
    from discreet.progress import shown
    from discreet.runs.evaluate import evaluate_log, policy_from, show_evaluation
    from discreet.runs.settings import log_settings_in

    privacy = Privacy(epsilon, delta, contributions=contributions)
    with shown(Console(stderr=True, quiet=as_json)):
        evaluation = evaluate_log(
            policy_from(policy),
            data,
            privacy,
            propensity=propensity,
            clip=clip,
            log=None if log is None else log_settings_in(log),
            answer=column,
        )
    answer(evaluation, as_json, show_evaluation)


SITES = """
Example: discreet select sites.toml --data homes.csv --out selected

Settings that open 10 of the sites in sites.csv, which has the columns name, longitude, latitude:

epsilon = 1.0
columns = ["longitude", "latitude"]
labels = "name"

\\[domain]
kind = "UniformMatroid"
rank = 10

\\[function]
kind = "Nearby"
sites = "sites.csv"
reach = 0.02
box = [[13.3, 13.5], [52.4, 52.6]]
"""
"""The example of `select` and its settings; Rich takes a bracket as markup unless it is escaped."""


@app.command(epilog=SITES)
def select(
    config: Annotated[
        Path,
        typer.Argument(
            metavar="CONFIG", help="TOML file with the domain, the function and the budget."
        ),
    ],
    data: Annotated[
        list[Path],
        typer.Option(
            help="People's records: a file, a folder or a glob of files (CSV, Parquet, Arrow, JSON "
            "lines); repeat the option for more."
        ),
    ],
    out: Annotated[
        Path, typer.Option(help="Folder of the choice; a repeated command prints the same choice.")
    ] = Path("selected"),
    engine: Annotated[
        str | None,
        typer.Option(help="Address of a Dask cluster that reads the files: tcp://host:8786."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Choose one set, once, from people's records: which sites to open, which titles to stock.

    The command writes chosen.json, report.md, for points picture.png, and the state, which is not
    private.
    """
    from discreet.runs.select import select_from

    answer(select_from(config, data, out, Console(quiet=as_json), engine=engine), as_json)
