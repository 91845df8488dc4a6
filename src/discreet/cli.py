"""The command line: `discreet demo`, `plan`, `run`, `status`, `evaluate`, `select`, `audit` and so on.

What goes wrong is one clear line and an exit code: 2 for bad input, 130 for Ctrl-C. A traceback, if there is
a bug, shows no variables: they may be people's.
"""

import json
import sys
import warnings
from collections.abc import Callable
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

import typer
from rich.console import Console
from typer.core import TyperGroup

from discreet import __version__
from discreet.errors import DiscreetError
from discreet.runs.doctor import examine, extra_with

__all__ = ["app", "main"]


class Commands(TyperGroup):
    """The commands, with what may go wrong in each."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command; a mistake is one line and exit code 2, never a traceback."""
        if isinstance(sys.stdout, TextIOWrapper):  # names of files need not be text
            sys.stdout.reconfigure(errors="backslashreplace")
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
            extra = extra_with(package)
            if extra is None:
                raise
            _refuse(f"{package} is missing: pip install 'discreet[{extra}]'")


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
Epsilon = Annotated[float, typer.Option(help="Smaller is stricter.")]
Delta = Annotated[float, typer.Option(help="The probability with which the guarantee may fail.")]


def _answer(
    found: dict[str, Any], as_json: bool, show: Callable[[dict[str, Any], Console], None] | None = None
) -> None:
    """Print what was found: as JSON, or by `show`, where it was not shown on the way."""
    if as_json:
        typer.echo(json.dumps(found))
    elif show is not None:
        show(found, Console())


EXAMPLES = ("bundle", "dosing", "sites", "totals")
"""Stories of earlier versions, by the name of the script that took their place."""


@app.command()
def demo(
    story: Annotated[
        str,
        typer.Option(help="display: what to show a million visitors; regression: what drives a price."),
    ] = "display",
    people: Annotated[
        int | None, typer.Option(help="How many visitors (1,000,000) or sellers (100,000).")
    ] = None,
    epsilon: Epsilon = 1.0,
    delta: Delta = 1e-6,
    out: Annotated[Path, typer.Option(help="Where to write demo.png and demo.json.")] = Path("demo"),
    seed: Annotated[
        int | None, typer.Option(help="Reproduce a run; it is then a simulation, not private.")
    ] = None,
    as_json: Json = False,
) -> None:
    """A shop learns what to show, without giving any visitor away; or a town what drives prices.

    A table and a picture show how little that costs.
    """
    from discreet.budget.privacy import Privacy
    from discreet.simulate.stories.display import tell_display
    from discreet.simulate.stories.regression import tell_regression

    stories = {"display": (tell_display, 1_000_000), "regression": (tell_regression, 100_000)}
    if story in EXAMPLES:
        _refuse(f"the story {story!r} is an example now: python examples/{story}.py")
    if story not in stories:
        _refuse(f"story must be display or regression, got {story!r}")
    tell, usual = stories[story]
    asked, console = Privacy(epsilon, delta), Console(quiet=as_json)
    _answer(tell(usual if people is None else people, asked, out, seed=seed, console=console), as_json)


class Plans(TyperGroup):
    """The problems that can be planned, each with its own options."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse options before the problem, as they were written in earlier versions."""
        if args and args[0].startswith("-") and args[0] != "--help":
            words = [word.removeprefix("--problem=") for word in args if word != "--problem"]
            problem = next((name for name in self.commands if name in words), "|".join(self.commands))
            rest = " ".join(word for word in words if word != problem)
            _refuse(f"the problem comes first: discreet plan {problem} {rest}")
        return super().parse_args(ctx, args)


plan = typer.Typer(cls=Plans, no_args_is_help=True)
app.add_typer(
    plan,
    name="plan",
    help="What a budget buys, before it is spent: schedule, noise, the value kept, and what 90 % would take.",
)
Rounds = Annotated[int, typer.Option(help="How many people (visitors, samples) are expected.")]
Items = Annotated[int, typer.Option(help="How many items there are.")]
Slots = Annotated[int, typer.Option(help="How many items are chosen.")]
Stream = Annotated[
    Literal["drifting", "iid", "adversarial"],
    typer.Option(
        help="iid if visitors are alike over time; adversarial if they may react to decisions: what is "
        "simulated is calm, so that the answer is what the word costs."
    ),
]
Minutes = Annotated[
    float, typer.Option(help="How long to simulate at most; more gives surer answers about more people.")
]
Contributions = Annotated[int, typer.Option(help="In how many rounds one person may take part.")]


@plan.command("display")
def plan_display(
    items: Items,
    slots: Slots,
    rounds: Rounds,
    feedback: Annotated[
        Literal["full", "bandit", "clicks"],
        typer.Option(
            help="What the site sees: whole preferences, whether a slate was clicked, or which item."
        ),
    ] = "full",
    stream: Stream = "drifting",
    click_rate: Annotated[
        float | None, typer.Option(help="The mean chance that a visitor clicks an item.")
    ] = None,
    epsilon: Epsilon = 1.0,
    delta: Delta = 1e-6,
    contributions: Contributions = 1,
    minutes: Minutes = 1.0,
    as_json: Json = False,
) -> None:
    """Which items to show, visitor after visitor."""
    terms = items, slots, feedback, stream, click_rate
    _plan("DisplayCase", rounds, epsilon, delta, contributions, minutes, as_json, *terms)


@plan.command("costs")
def plan_costs(
    items: Items,
    rounds: Rounds,
    feedback: Annotated[
        Literal["full", "bandit"],
        typer.Option(help="What is seen: whole costs, or the cost of the chosen set."),
    ] = "full",
    stream: Stream = "drifting",
    epsilon: Epsilon = 1.0,
    delta: Delta = 1e-6,
    contributions: Contributions = 1,
    minutes: Minutes = 1.0,
    as_json: Json = False,
) -> None:
    """The set of least cost, visitor after visitor."""
    _plan("CostsCase", rounds, epsilon, delta, contributions, minutes, as_json, items, feedback, stream)


@plan.command("regression")
def plan_regression(
    features: Annotated[int, typer.Option(help="How many numbers a sample has.")],
    rounds: Rounds,
    once: Annotated[
        bool, typer.Option("--once", help="Publish once, at the end, instead of again and again.")
    ] = False,
    epsilon: Epsilon = 1.0,
    delta: Delta = 1e-6,
    contributions: Contributions = 1,
    minutes: Minutes = 1.0,
    as_json: Json = False,
) -> None:
    """Coefficients of a linear model."""
    _plan("RegressionCase", rounds, epsilon, delta, contributions, minutes, as_json, features, once)


@plan.command("contextual")
def plan_contextual(
    arms: Annotated[int, typer.Option(help="How many arms there are.")],
    features: Annotated[int, typer.Option(help="How many numbers a context has.")],
    rounds: Rounds,
    relevant: Annotated[str | None, typer.Option(help="How many features an arm needs, or all.")] = None,
    epsilon: Epsilon = 1.0,
    delta: Delta = 1e-6,
    contributions: Contributions = 1,
    minutes: Minutes = 1.0,
    as_json: Json = False,
) -> None:
    """Which arm for whom, given their context."""
    needed = int(relevant) if relevant is not None and relevant.isdecimal() else relevant
    _plan("ContextualCase", rounds, epsilon, delta, contributions, minutes, as_json, arms, features, needed)


@plan.command("selection")
def plan_selection(
    items: Items,
    slots: Slots,
    rounds: Rounds,
    epsilon: Epsilon = 1.0,
    delta: Delta = 1e-6,
    contributions: Contributions = 1,
    minutes: Minutes = 1.0,
    as_json: Json = False,
) -> None:
    """One set, once, from people's records."""
    _plan("SelectionCase", rounds, epsilon, delta, contributions, minutes, as_json, items, slots)


@plan.command("continuous")
def plan_continuous(
    items: Items,
    slots: Slots,
    rounds: Rounds,
    stream: Stream = "drifting",
    epsilon: Epsilon = 1.0,
    delta: Delta = 1e-6,
    contributions: Contributions = 1,
    minutes: Minutes = 1.0,
    as_json: Json = False,
) -> None:
    """Sets of a fractional point that moves."""
    _plan("ContinuousCase", rounds, epsilon, delta, contributions, minutes, as_json, items, slots, stream)


def _plan(
    kind: str,
    rounds: int,
    epsilon: float,
    delta: float,
    contributions: int,
    minutes: float,
    as_json: bool,
    *terms: Any,
) -> None:
    from discreet.budget.privacy import Privacy
    from discreet.simulate import plans
    from discreet.simulate.planning import make_plan, print_plan

    case = getattr(plans, kind)(rounds, Privacy(epsilon, delta, contributions=contributions), *terms)
    _answer(make_plan(case, Console(quiet=as_json), minutes), as_json, print_plan)


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
    from discreet.runs.run import run_log

    _answer(run_log(config, data, out, Console(quiet=as_json)), as_json)


@app.command()
def status(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")],
    as_json: Json = False,
) -> None:
    """How far a run is, what it has spent and what it decides now; also while it is going on."""
    from discreet.runs.status import show_status, status_of

    _answer(status_of(folder), as_json, show_status)


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
    from discreet.runs.change import change_run

    _answer(change_run(folder, add=add or (), retire=retire or (), extend=extend), as_json, _show_change)


def _show_change(found: dict[str, Any], console: Console) -> None:
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
    epsilon: Epsilon = 1.0,
    delta: Delta = 0.0,
    contributions: Annotated[int, typer.Option(help="How many rows one person may have.")] = 1,
    clip: Annotated[
        float | None, typer.Option(help="The most a row may weigh; 10, or what uniform slates need.")
    ] = None,
    as_json: Json = False,
) -> None:
    """What a slate would have earned, from a log of what others were shown: one release, with its error."""
    from discreet.budget.privacy import Privacy
    from discreet.runs.evaluate import evaluate_log, policy_from, show_evaluation

    privacy = Privacy(epsilon, delta, contributions=contributions)
    found = evaluate_log(policy_from(policy), data, privacy, propensity=propensity, clip=clip)
    _answer(found, as_json, show_evaluation)


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
    from discreet.runs.select import select_from

    _answer(select_from(config, data, out, Console(quiet=as_json), engine=engine), as_json)


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
    workers: Annotated[int, typer.Option(help="Processes that run at once.", min=1)] = 2,
    as_json: Json = False,
) -> None:
    """Run the papers' experiments again: what was printed, what comes out, and what discreet gets."""
    from discreet import require
    from discreet.papers.reproduce import EXPERIMENTS
    from discreet.papers.reproduce import reproduce as run_again

    if name == "slips":
        _refuse("slips are called errata now: discreet reproduce errata")
    require.one_of("name", name, ("all", *EXPERIMENTS))
    names = list(EXPERIMENTS) if name == "all" else [name]
    report = run_again(names, out, console=Console(quiet=as_json), quick=quick, seeds=seeds, workers=workers)
    if as_json:
        typer.echo(json.dumps(report))


@app.command()
def doctor(as_json: Json = False) -> None:
    """Check that discreet works on this machine; every line says OK, or what to do.

    Exit code 1 if something essential is broken.
    """
    findings = examine()
    sound = all(finding.fine for finding in findings if finding.essential)
    if as_json:
        typer.echo(json.dumps({"ok": sound, "findings": [finding._asdict() for finding in findings]}))
    else:
        typer.echo(f"discreet {__version__} on this machine")
        for finding in findings:
            state = "OK" if finding.fine else "broken" if finding.essential else "to do"
            typer.echo(f"{state:7} {finding.name:16}  {finding.says}")
    if not sound:
        raise typer.Exit(1)


def main() -> None:
    """Run a command; warnings are one line each, too."""
    warnings.showwarning = _warn
    app()


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    typer.echo(f"discreet: {message}", err=True)
