"""`discreet demo` and `discreet plan`: what privacy costs, before anything is spent."""

from collections.abc import Callable
from inspect import Signature, signature
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from typer.core import TyperGroup

from discreet.cli.app import Delta, Epsilon, Json, answer, app, refuse

EXAMPLES = ("bundle", "dosing", "sites", "totals")
"""Stories of earlier versions, by the name of the script that took their place."""


@app.command()
def demo(
    story: Annotated[
        str,
        typer.Option(
            help="display: what to show a million visitors; regression: what drives a price."
        ),
    ] = "display",
    people: Annotated[
        int | None, typer.Option(help="How many visitors (1,000,000) or sellers (100,000).")
    ] = None,
    epsilon: Epsilon = 1.0,
    delta: Delta = 1e-6,
    out: Annotated[Path, typer.Option(help="Where to write demo.png and demo.json.")] = Path(
        "demo"
    ),
    seed: Annotated[
        int | None, typer.Option(help="Reproduce a run; it is then a simulation, not private.")
    ] = None,
    as_json: Json = False,
) -> None:
    """A shop learns what to show, without giving any visitor away; or a town what drives prices.

    A table and a picture show how little that costs.
    """
    from discreet.budget.privacy import Privacy
    from discreet.simulate.demo.display import tell_display
    from discreet.simulate.demo.regression import tell_regression

    stories = {"display": (tell_display, 1_000_000), "regression": (tell_regression, 100_000)}
    if story in EXAMPLES:
        refuse(f"the story {story!r} is an example now: python examples/{story}.py")
    if story not in stories:
        refuse(f"story must be display or regression, got {story!r}")
    tell, usual = stories[story]
    asked, console = Privacy(epsilon, delta), Console(quiet=as_json)
    answer(
        tell(usual if people is None else people, asked, out, seed=seed, console=console), as_json
    )


class Plans(TyperGroup):
    """The problems that can be planned, each with its own options."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse options before the problem, as they were written in earlier versions."""
        if args and args[0].startswith("-") and args[0] != "--help":
            words = [word.removeprefix("--problem=") for word in args if word != "--problem"]
            problem = next(
                (name for name in self.commands if name in words), "|".join(self.commands)
            )
            rest = " ".join(word for word in words if word != problem)
            refuse(f"the problem comes first: discreet plan {problem} {rest}")
        return super().parse_args(ctx, args)


plan = typer.Typer(cls=Plans, no_args_is_help=True)
app.add_typer(
    plan,
    name="plan",
    help="What a budget buys, before it is spent: schedule, noise, the value kept, and what 90 % "
    "would take.",
)
Rounds = Annotated[int, typer.Option(help="How many people (visitors, samples) are expected.")]
Items = Annotated[int, typer.Option(help="How many items there are.")]
Slots = Annotated[int, typer.Option(help="How many items are chosen.")]
Stream = Annotated[
    Literal["drifting", "iid", "adversarial"],
    typer.Option(
        help="iid if visitors are alike over time; adversarial if they may react to decisions: "
        "what is "
        "simulated is calm, so that the answer is what the word costs."
    ),
]
Minutes = Annotated[
    float,
    typer.Option(help="How long to simulate at most; more gives surer answers about more people."),
]
Contributions = Annotated[int, typer.Option(help="In how many rounds one person may take part.")]


Declared = Callable[..., None]
"""A function of no body: its arguments are the options of a command, its docstring is the help."""


def _shared(
    epsilon: Epsilon = 1.0,
    delta: Delta = 1e-6,
    contributions: Contributions = 1,
    minutes: Minutes = 1.0,
    as_json: Json = False,
) -> None:
    """The options that all problems share."""


def planned(name: str, kind: str) -> Callable[[Declared], Declared]:
    """Make a command of a declaration; its options are the settings of a case of
    planning/cases.py.
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
            from discreet.simulate.planning import cases
            from discreet.simulate.planning.search import make_plan, print_plan

            privacy = Privacy(epsilon, delta, contributions=contributions)
            case = getattr(cases, kind)(privacy=privacy, **settings)
            answer(make_plan(case, Console(quiet=as_json), minutes), as_json, print_plan)

        options = [
            *signature(declared).parameters.values(),
            *signature(_shared).parameters.values(),
        ]
        vars(command)["__signature__"] = Signature(options)
        command.__annotations__ = {option.name: option.annotation for option in options}
        plan.command(name, help=declared.__doc__)(command)
        return declared

    return register


@planned("display", "DisplayCase")
def plan_display(
    items: Items,
    slots: Slots,
    rounds: Rounds,
    feedback: Annotated[
        Literal["full", "bandit", "clicks"],
        typer.Option(
            help="What the site sees: whole preferences, whether a slate was clicked, or which "
            "item."
        ),
    ] = "full",
    stream: Stream = "drifting",
    click_rate: Annotated[
        float | None, typer.Option(help="The mean chance that a visitor clicks an item.")
    ] = None,
) -> None:
    """Which items to show, visitor after visitor."""


@planned("costs", "CostsCase")
def plan_costs(
    items: Items,
    rounds: Rounds,
    feedback: Annotated[
        Literal["full", "bandit"],
        typer.Option(help="What is seen: whole costs, or the cost of the chosen set."),
    ] = "full",
    stream: Stream = "drifting",
) -> None:
    """The set of least cost, visitor after visitor."""


@planned("regression", "RegressionCase")
def plan_regression(
    features: Annotated[int, typer.Option(help="How many numbers a sample has.")],
    rounds: Rounds,
    once: Annotated[
        bool, typer.Option("--once", help="Publish once, at the end, instead of again and again.")
    ] = False,
) -> None:
    """Coefficients of a linear model."""


def _number_or_word(text: str) -> int | str:
    """A whole number as such; the case refuses other words than it knows."""
    return int(text) if text.isdecimal() else text


@planned("contextual", "ContextualCase")
def plan_contextual(
    arms: Annotated[int, typer.Option(help="How many arms there are.")],
    features: Annotated[int, typer.Option(help="How many numbers a context has.")],
    rounds: Rounds,
    relevant: Annotated[
        Any,
        typer.Option(
            parser=_number_or_word, metavar="<str>", help="How many features an arm needs, or all."
        ),
    ] = None,
) -> None:
    """Which arm for whom, given their context."""


@planned("selection", "SelectionCase")
def plan_selection(items: Items, slots: Slots, rounds: Rounds) -> None:
    """One set, once, from people's records."""


@planned("continuous", "ContinuousCase")
def plan_continuous(
    items: Items, slots: Slots, rounds: Rounds, stream: Stream = "drifting"
) -> None:
    """Sets of a fractional point that moves."""
