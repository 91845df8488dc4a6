"""`discreet demo` and `discreet plan`: what privacy costs, before anything is spent."""

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
    from discreet.simulate.demo.display import tell_display
    from discreet.simulate.demo.regression import tell_regression

    stories = {"display": (tell_display, 1_000_000), "regression": (tell_regression, 100_000)}
    if story in EXAMPLES:
        refuse(f"the story {story!r} is an example now: python examples/{story}.py")
    if story not in stories:
        refuse(f"story must be display or regression, got {story!r}")
    tell, usual = stories[story]
    asked, console = Privacy(epsilon, delta), Console(quiet=as_json)
    answer(tell(usual if people is None else people, asked, out, seed=seed, console=console), as_json)


class Plans(TyperGroup):
    """The problems that can be planned, each with its own options."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse options before the problem, as they were written in earlier versions."""
        if args and args[0].startswith("-") and args[0] != "--help":
            words = [word.removeprefix("--problem=") for word in args if word != "--problem"]
            problem = next((name for name in self.commands if name in words), "|".join(self.commands))
            rest = " ".join(word for word in words if word != problem)
            refuse(f"the problem comes first: discreet plan {problem} {rest}")
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
    from discreet.simulate.planning import cases
    from discreet.simulate.planning.search import make_plan, print_plan

    case = getattr(cases, kind)(rounds, Privacy(epsilon, delta, contributions=contributions), *terms)
    answer(make_plan(case, Console(quiet=as_json), minutes), as_json, print_plan)
