"""The command line: `discreet demo`, `plan`, `run`, `status`, `evaluate`, `select`, `audit` and so on.

What goes wrong is one clear line and an exit code: 2 for bad input, 130 for Ctrl-C. A traceback, if there is
a bug, shows no variables: they may be people's.
"""

import json
import os
import platform
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

import typer
from rich.console import Console
from rich.table import Table
from typer.core import TyperGroup

from discreet import __version__
from discreet.errors import DiscreetError

__all__ = ["app", "main"]

EXTRAS = {"dp_accounting": "accounting", "matplotlib": "lab", "polars": "lab", "sklearn": "sklearn"}
"""Which extra brings a package that is not always installed."""


class Commands(TyperGroup):
    """The commands, with what may go wrong in each."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command; a mistake is one line and exit code 2, never a traceback."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            typer.echo("discreet: stopped", err=True)
            raise typer.Exit(130) from None
        except BrokenPipeError:  # whoever read the output has seen enough
            raise
        except DiscreetError as error:
            _refuse(str(error))
        except UnicodeDecodeError as error:
            _refuse(f"a file that should be text is not ({error.encoding})")
        except OSError as error:
            _refuse(f"{error.filename or 'a file'}: {error.strerror or type(error).__name__}")
        except ModuleNotFoundError as error:
            package = (error.name or "").partition(".")[0]
            if package not in EXTRAS:
                raise
            _refuse(f"{package} is missing: pip install 'discreet[{EXTRAS[package]}]'")


def _refuse(reason: str) -> NoReturn:
    typer.echo(f"discreet: {reason}", err=True)
    raise typer.Exit(2) from None


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Decisions from a stream of people, without giving any of them away.",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"discreet {__version__}")
        raise typer.Exit


@app.callback()
def about(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Which discreet this is."),
    ] = False,
) -> None:
    """Decisions from a stream of people, without giving any of them away."""


Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]


class Story(StrEnum):
    """What `discreet demo` can tell."""

    display = "display"
    bundle = "bundle"
    totals = "totals"
    dosing = "dosing"
    sites = "sites"
    regression = "regression"


@app.command()
def demo(
    story: Annotated[
        Story,
        typer.Option(
            help="display: what to show a million visitors; bundle: what to bundle; totals: running sums; "
            "dosing: which dose for whom; sites: which sites to open; regression: what drives a price."
        ),
    ] = Story.display,
    people: Annotated[
        int | None, typer.Option(help="How many visitors, shoppers, patients or sellers.")
    ] = None,
    epsilon: Annotated[float, typer.Option(help="Smaller is stricter.")] = 1.0,
    delta: Annotated[float, typer.Option(help="The probability with which the guarantee may fail.")] = 1e-6,
    out: Annotated[Path, typer.Option(help="Where to write demo.png and demo.json.")] = Path("demo"),
    seed: Annotated[
        int | None, typer.Option(help="Reproduce a run; it is then a simulation, not private.")
    ] = None,
    as_json: Json = False,
) -> None:
    """A shop learns what to show, or a clinic whom to give what, without giving anybody away.

    A table and a picture show how little that costs.
    """
    from discreet.budget.privacy import Privacy
    from discreet.lab.stories.bundle import tell_bundle
    from discreet.lab.stories.display import tell_display
    from discreet.lab.stories.dosing import tell_dosing
    from discreet.lab.stories.regression import tell_regression
    from discreet.lab.stories.sites import tell_sites
    from discreet.lab.stories.totals import tell_totals

    console = Console(quiet=as_json)
    stories = {
        Story.display: (tell_display, 1_000_000),
        Story.bundle: (tell_bundle, 300_000),
        Story.totals: (tell_totals, 50_000),
        Story.dosing: (tell_dosing, 100_000),
        Story.sites: (tell_sites, 5_000),
        Story.regression: (tell_regression, 100_000),
    }
    tell, usual = stories[story]
    count = usual if people is None else people
    report = tell(count, Privacy(epsilon, delta), out, seed=seed, console=console)
    if as_json:
        typer.echo(json.dumps(report))


@app.command()
def plan(
    rounds: Annotated[int, typer.Option(help="How many people are expected.")],
    problem: Annotated[
        Literal["display", "costs", "regression", "contextual", "selection", "continuous"],
        typer.Option(
            help="display: which items to show; costs: the set of least cost; regression: coefficients; "
            "contextual: which arm, given the context; selection: one set, once; continuous: sets of "
            "a point that moves."
        ),
    ] = "display",
    items: Annotated[
        int | None, typer.Option(help="Display, costs, selection, continuous: how many items there are.")
    ] = None,
    slots: Annotated[
        int | None, typer.Option(help="Display, selection, continuous: how many are chosen.")
    ] = None,
    feedback: Annotated[
        Literal["full", "bandit", "clicks"] | None,
        typer.Option(help="Display, costs: what the site gets to see; full by default."),
    ] = None,
    stream: Annotated[
        Literal["drifting", "iid"] | None,
        typer.Option(help="Display, continuous: iid if visitors are alike over time."),
    ] = None,
    click_rate: Annotated[
        float | None, typer.Option(help="Display: the mean chance that a visitor clicks an item.")
    ] = None,
    arms: Annotated[int | None, typer.Option(help="Contextual: how many arms there are.")] = None,
    features: Annotated[
        int | None, typer.Option(help="Contextual, regression: how many numbers a context or sample has.")
    ] = None,
    relevant: Annotated[
        str | None, typer.Option(help="Contextual: how many features an arm needs, or all.")
    ] = None,
    method: Annotated[
        Literal["stream", "batch"] | None,
        typer.Option(help="Regression: published again and again (default), or once after many passes."),
    ] = None,
    epsilon: Annotated[float, typer.Option(help="Smaller is stricter.")] = 1.0,
    delta: Annotated[float, typer.Option(help="The probability with which the guarantee may fail.")] = 1e-6,
    contributions: Annotated[int, typer.Option(help="In how many rounds one person may take part.")] = 1,
    as_json: Json = False,
) -> None:
    """What a budget buys, before it is spent: schedule, noise, the value kept, and what 90 % would take."""
    from discreet.budget.privacy import Privacy
    from discreet.lab.planning import make_plan, print_plan
    from discreet.lab.plans import asked_case

    options: dict[str, Any] = {"items": items, "slots": slots, "feedback": feedback, "stream": stream}
    options |= {"arms": arms, "features": features, "relevant": relevant, "method": method}
    options["click_rate"] = click_rate
    privacy = Privacy(epsilon, delta, contributions=contributions)
    found = make_plan(asked_case(problem, rounds, privacy, options), Console(quiet=as_json))
    if as_json:
        typer.echo(json.dumps(found))
    else:
        print_plan(found, Console())


@app.command()
def run(
    config: Annotated[Path, typer.Argument(help="Settings of the learner, TOML; `learner` names it.")],
    data: Annotated[Path, typer.Option(help="The event log, CSV or Parquet.")],
    out: Annotated[
        Path, typer.Option(help="Where decisions, report and state go. Run again to go on after a kill.")
    ] = Path("run"),
    as_json: Json = False,
) -> None:
    """Run a learner over an event log: decisions and a report, resumable at any point."""
    from discreet.service.run import run_log

    report = run_log(config, data, out, Console(quiet=as_json))
    if as_json:
        typer.echo(json.dumps(report))


@app.command()
def status(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")],
    as_json: Json = False,
) -> None:
    """How far a run is, what it has spent and what it decides now; also while it is going on."""
    from discreet.service.status import show_status, status_of

    found = status_of(folder)
    if as_json:
        typer.echo(json.dumps(found))
    else:
        show_status(found, Console())


@app.command()
def change(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run that shows items.")],
    add: Annotated[list[str] | None, typer.Option(help="An item that comes, or comes back.")] = None,
    retire: Annotated[list[str] | None, typer.Option(help="An item that is never shown again.")] = None,
    extend: Annotated[int | None, typer.Option(help="So many more visitors.")] = None,
    as_json: Json = False,
) -> None:
    """Change the catalogue of a run, or for how many visitors it goes on: public events, which cost nothing.

    Whether and when must not depend on what visitors did.
    """
    from discreet.service.change import change_run

    found = change_run(folder, add=add or (), retire=retire or (), extend=extend)
    if as_json:
        typer.echo(json.dumps(found))
        return
    console = Console()
    coming = (
        f"; from the next block on also {', '.join(map(str, found['coming']))}" if found["coming"] else ""
    )
    console.print(f"{len(found['living'])} items may be shown{coming}", soft_wrap=True)
    console.print(f"{found['horizon']:,} visitors are planned", soft_wrap=True)


@app.command()
def evaluate(
    policy: Annotated[Path, typer.Argument(help="The folder of a run, or TOML with a `slate`.")],
    data: Annotated[Path, typer.Option(help="A log with slate, and click or reward: CSV or Parquet.")],
    propensity: Annotated[
        str,
        typer.Option(help="The column with the chance of what was shown, or uniform."),
    ],
    epsilon: Annotated[float, typer.Option(help="Smaller is stricter.")] = 1.0,
    delta: Annotated[float, typer.Option(help="The probability with which the guarantee may fail.")] = 0.0,
    contributions: Annotated[int, typer.Option(help="How many rows one person may have.")] = 1,
    clip: Annotated[
        float | None, typer.Option(help="The most a row may weigh; 10, or what uniform slates need.")
    ] = None,
    as_json: Json = False,
) -> None:
    """What a slate would have earned, from a log of what others were shown: one release, with its error."""
    from discreet.budget.privacy import Privacy
    from discreet.service.evaluate import evaluate_log, policy_from, show_evaluation

    privacy = Privacy(epsilon, delta, contributions=contributions)
    found = evaluate_log(policy_from(policy), data, privacy, propensity=propensity, clip=clip)
    if as_json:
        typer.echo(json.dumps(found))
    else:
        show_evaluation(found, Console())


@app.command()
def select(
    config: Annotated[Path, typer.Argument(help="Domain, function and budget, TOML.")],
    data: Annotated[list[Path], typer.Option(help="People's records, CSV or Parquet; again for more files.")],
    out: Annotated[
        Path, typer.Option(help="Where the choice goes. The same command again reads it back.")
    ] = Path("selected"),
    engine: Annotated[
        str | None, typer.Option(help="A Dask cluster that reads the files: tcp://host:8786.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Choose one set, once, from people's records: which sites to open, which titles to stock."""
    from discreet.service.select import select_from

    chosen = select_from(config, data, out, Console(quiet=as_json), engine=engine)
    if as_json:
        typer.echo(json.dumps(chosen))


@app.command()
def audit(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="What to audit; without names, everything."),
    ] = None,
    size: Annotated[
        Literal["minute", "night"], typer.Option(help="How thoroughly: for a minute, or for a night.")
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
        Path, typer.Option(help="Where to write what was found; the same command again goes on there.")
    ] = Path("audit"),
    engine: Annotated[
        str | None,
        typer.Option(help="A Dask cluster's address, such as tcp://host:8786; else two processes."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Put guarantees to the test: neighbouring streams, and what everything published tells about them.

    Exit code 1 if something tells more than was promised.
    """
    from discreet.lab.transcripts import SIZES, Size, run_audit

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


@app.command()
def reproduce(
    name: Annotated[
        str,
        typer.Argument(
            metavar="all|sco-tables|rates|value|errata",
            help="sco-tables: streaming regression in l_p geometry; rates: how regret grows; value: what is "
            "kept as printed, with sound noise and by discreet; errata: what the print needs to hold.",
        ),
    ],
    out: Annotated[
        Path, typer.Option(help="Where the report goes; the same command again goes on there.")
    ] = Path("reproduced"),
    quick: Annotated[bool, typer.Option("--quick", help="Fewer seeds and shorter streams.")] = False,
    seeds: Annotated[int | None, typer.Option(help="Runs of each setting.", min=1)] = None,
    as_json: Json = False,
) -> None:
    """Run the papers' experiments again: what was printed, what comes out, and what discreet gets."""
    from discreet import require
    from discreet.lab.reproduce import EXPERIMENTS
    from discreet.lab.reproduce import reproduce as run_again

    if name == "slips":
        _refuse("slips are called errata now: discreet reproduce errata")
    require.one_of("name", name, ("all", *EXPERIMENTS))
    names = list(EXPERIMENTS) if name == "all" else [name]
    report = run_again(names, out, console=Console(quiet=as_json), quick=quick, seeds=seeds)
    if as_json:
        typer.echo(json.dumps(report))


@app.command()
def doctor(as_json: Json = False) -> None:
    """Check that discreet works on this machine: compile, draw, and time the exact samplers."""
    report = _examine()
    if as_json:
        typer.echo(json.dumps(report))
        return
    table = Table(title="discreet on this machine", show_header=False)
    for name, value in report.items():
        table.add_row(name.replace("_", " "), str(value))
    Console().print(table)


def _examine() -> dict[str, Any]:
    from importlib.metadata import version
    from time import perf_counter

    import numba

    from discreet import warm_up
    from discreet.release.noise import DiscreteGaussian
    from discreet.release.randomness import system_words

    began = perf_counter()
    warm_up()
    compiled = perf_counter() - began
    began = perf_counter()
    DiscreteGaussian(2**24).draw(100_000, system_words())
    return {
        "discreet": __version__,
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "numba": numba.__version__,
        "randomgen": version("randomgen"),
        "cores": os.cpu_count(),
        "seconds_to_compile_or_load_kernels": round(compiled, 2),
        "nanoseconds_per_exact_gaussian": round((perf_counter() - began) * 1e4),
        "file_locks": "yes" if sys.platform != "win32" else "no: file journals need a POSIX system",
    }


def main() -> None:
    """Run a command."""
    app()
