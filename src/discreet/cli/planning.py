"""`discreet demo` and `discreet plan`: the value that privacy costs, before any budget is spent."""

from collections.abc import Callable
from inspect import Signature, signature
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from typer.core import TyperGroup

from discreet.cli.app import Delta, Epsilon, Json, answer, app, refuse
from discreet.cli.completion import completed


@app.command(epilog="Example: discreet demo --people 100000 --epsilon 0.5")
def demo(
    story: Annotated[
        str,
        typer.Option(
            help="display: a shop learns which items to show; regression: a town publishes how "
            "features of flats affect their prices.",
            autocompletion=completed("display", "regression"),
        ),
    ] = "display",
    people: Annotated[
        int | None,
        typer.Option(help="Number of visitors (default 1,000,000) or sellers (100,000)."),
    ] = None,
    epsilon: Epsilon = 1.0,
    delta: Delta = 1e-6,
    out: Annotated[
        Path, typer.Option(help="Folder to which demo.png and demo.json are written.")
    ] = Path("demo"),
    seed: Annotated[
        int | None,
        typer.Option(help="Seed that makes the run repeatable: a simulation, not private."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show on simulated people the value that privacy costs, in a table and in a picture.

    The command needs no data. It writes demo.png and demo.json.
    """
    from discreet.budget.privacy import Privacy
    from discreet.simulate.demo.display import tell_display
    from discreet.simulate.demo.regression import tell_regression

    stories = {"display": (tell_display, 1_000_000), "regression": (tell_regression, 100_000)}
    if story not in stories:
        refuse(f"story must be display or regression, got {story!r}")
    tell, usual = stories[story]
    count = usual if people is None else people
    privacy = Privacy(epsilon, delta)
    console = Console(quiet=as_json)
    answer(tell(count, privacy, out, seed=seed, console=console), as_json)


class Plans(TyperGroup):
    """The group of problems that can be planned, each with its own options."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse options in front of the problem, with the command in its right order."""
        if args and args[0].startswith("-") and args[0] != "--help":
            named = next((name for name in self.commands if name in args), None)
            problem = named or "|".join(self.commands)
            rest = " ".join(word for word in args if word != named)
            refuse(f"the problem comes first: discreet plan {problem} {rest}")
        return super().parse_args(ctx, args)


plan = typer.Typer(cls=Plans, no_args_is_help=True)
app.add_typer(
    plan,
    name="plan",
    help="Simulate the value that a budget keeps, before it is spent.\n\nA plan has the number of "
    "releases, their noise, the share of the value that is kept, and the epsilon and the number "
    "of people that would keep 90 %. The command reads no data and writes no file.",
)
Rounds = Annotated[int, typer.Option(help="Number of people (visitors, samples) expected.")]
Items = Annotated[int, typer.Option(help="Number of items to choose from.")]
Slots = Annotated[int, typer.Option(help="Number of items chosen per round.")]
Stream = Annotated[
    Literal["drifting", "iid", "adversarial"],
    typer.Option(
        help="iid: visitors are alike over time. drifting: tastes may change. adversarial: "
        "visitors may react to decisions. The simulated visitors are alike over time in all three "
        "cases, so that plans show the cost of the weaker assumption."
    ),
]
Minutes = Annotated[
    float,
    typer.Option(help="Longest time to simulate; a longer time gives more accurate answers."),
]
Contributions = Annotated[
    int, typer.Option(help="Largest number of rounds in which one person takes part.")
]

Declared = Callable[..., None]
"""A function without a body: its parameters are a command's options, its docstring the help."""


def _shared(
    epsilon: Epsilon = 1.0,
    delta: Delta = 1e-6,
    contributions: Contributions = 1,
    minutes: Minutes = 1.0,
    as_json: Json = False,
) -> None:
    """Declare the options that all problems share."""


def planned(name: str, kind: str, example: str) -> Callable[[Declared], Declared]:
    """Make a command of a declaration; its options are the settings of the case named `kind`.

    `example` has the options of an example.
    The cases are in `discreet.simulate.planning.cases`.
    """

    def register(declared: Declared) -> Declared:
        def command(
            epsilon: float,
            delta: float,
            contributions: int,
            minutes: float,
            as_json: bool,
            **settings: Any,
        ) -> None:
            from discreet.budget.privacy import Privacy
            from discreet.progress import shown
            from discreet.simulate.planning import cases
            from discreet.simulate.planning.plan import print_plan
            from discreet.simulate.planning.search import make_plan

            privacy = Privacy(epsilon, delta, contributions=contributions)
            case = getattr(cases, kind)(privacy=privacy, **settings)
            console = Console(quiet=as_json)
            with shown(console):
                found = make_plan(case, minutes=minutes)
            print_plan(found, console)
            answer(found.as_plain(), as_json)

        options = [
            *signature(declared).parameters.values(),
            *signature(_shared).parameters.values(),
        ]
        vars(command)["__signature__"] = Signature(options)
        command.__annotations__ = {option.name: option.annotation for option in options}
        epilog = f"Example: discreet plan {name} {example}"
        plan.command(name, help=declared.__doc__, epilog=epilog)(command)
        return declared

    return register


@planned("display", "DisplayCase", "--items 100 --slots 5 --rounds 100000 --stream iid")
def plan_display(
    items: Items,
    slots: Slots,
    rounds: Rounds,
    feedback: Annotated[
        Literal["full", "bandit", "clicks"],
        typer.Option(
            help="full: each visitor's whole preferences are observed. bandit: one reward per "
            "slate. clicks: the clicked item."
        ),
    ] = "full",
    stream: Stream = "drifting",
    click_rate: Annotated[
        float | None, typer.Option(help="Mean probability that a visitor clicks an item.")
    ] = None,
) -> None:
    """Plan a SetMaximizer: which items to show to each visitor."""


@planned("costs", "CostsCase", "--items 20 --rounds 10000")
def plan_costs(
    items: Items,
    rounds: Rounds,
    feedback: Annotated[
        Literal["full", "bandit"],
        typer.Option(
            help="full: each person's whole cost function is observed. bandit: the cost of the "
            "chosen set."
        ),
    ] = "full",
    stream: Stream = "drifting",
) -> None:
    """Plan a SetMinimizer: the set of least cost for each person."""


@planned("regression", "RegressionCase", "--features 10 --rounds 20000")
def plan_regression(
    features: Annotated[int, typer.Option(help="Number of features per sample.")],
    rounds: Rounds,
    once: Annotated[
        bool, typer.Option("--once", help="Publish once, at the end, instead of after each block.")
    ] = False,
) -> None:
    """Plan a StreamingLearner: the coefficients of a linear model."""


def _number_or_word(text: str) -> int | str:
    """Return the text as a whole number if it is one; the case refuses words it does not know."""
    return int(text) if text.isdecimal() else text


@planned("contextual", "ContextualCase", "--arms 3 --features 20 --rounds 100000")
def plan_contextual(
    arms: Annotated[int, typer.Option(help="Number of arms.")],
    features: Annotated[int, typer.Option(help="Number of features per context.")],
    rounds: Rounds,
    relevant: Annotated[
        Any,
        typer.Option(
            parser=_number_or_word,
            metavar="<str>",
            help="Number of features on which an arm's reward depends, or `all`.",
        ),
    ] = None,
) -> None:
    """Plan a ContextualBandit: which arm for each person, given the person's features."""


@planned("selection", "SelectionCase", "--items 100 --slots 5 --rounds 10000")
def plan_selection(items: Items, slots: Slots, rounds: Rounds) -> None:
    """Plan a SetSelector: one set, chosen once from people's records."""


@planned("continuous", "ContinuousCase", "--items 20 --slots 3 --rounds 100000")
def plan_continuous(
    items: Items, slots: Slots, rounds: Rounds, stream: Stream = "drifting"
) -> None:
    """Plan a ContinuousMaximizer: a set under quotas for each person."""
