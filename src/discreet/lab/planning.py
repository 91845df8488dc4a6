"""What a budget buys, before it is spent: facts of the plan, and a quick simulation in a made-up world."""

from typing import Any

from rich.console import Console
from rich.table import Table

from discreet.lab.display import World, run_display
from discreet.lab.repeat import repeat
from discreet.learners.set_maximizer import SetMaximizer
from discreet.release.privacy import Privacy

__all__ = ["make_plan", "print_plan"]

GOAL = 0.9
MOST_VISITORS = 2_000_000
NAMES = {
    "expert": "learns by",
    "block": "visitors between releases (first block)",
    "releases": "releases",
    "rate": "learning rate",
    "explore": "share of rounds that explore",
    "noise_in_visitors": "noise, in visitors",
    "first_views_of_an_item": "views of an item in the first race",
    "tries_of_an_item": "tries of an item, in all",
    "warning": "warning",
}


def simulated_share(items: int, slots: int, rounds: int, epsilon: float, delta: float, settings: dict[str, Any]) -> float:
    """The share kept in a made-up world with visitor types like those of the demo."""
    world = World.drawn(rounds, items=items, seed=3)
    learner = SetMaximizer(items, slots, rounds, Privacy(epsilon, delta), **settings)
    return world.share(run_display(learner, world).value, slots)


def make_plan(items: int, slots: int, rounds: int, privacy: Privacy, settings: dict[str, Any], console: Console) -> dict[str, Any]:
    """Facts, the expected share, and what would be needed to keep 90 %."""
    learner = SetMaximizer(items, slots, rounds, privacy, **settings)
    visitors = sorted({max(slots, int(rounds * 2.0**power)) for power in range(-6, 8) if rounds * 2.0**power <= max(rounds, MOST_VISITORS)})
    epsilons = [privacy.epsilon * 2.0**power for power in range(-6, 6)]
    published = {"calibration": "published", "block": max(1, rounds // 1000)}
    tasks = [(items, slots, rounds, privacy.epsilon, privacy.delta, settings)]
    tasks += [(items, slots, count, privacy.epsilon, privacy.delta, settings) for count in visitors]
    tasks += [(items, slots, rounds, epsilon, privacy.delta, settings) for epsilon in epsilons]
    if not privacy.pure:
        tasks.append((items, slots, rounds, privacy.epsilon, privacy.delta, published))
    shares = repeat(simulated_share, tasks, label="simulating", console=console)
    by_visitors = dict(zip(visitors, shares[1:], strict=False))
    by_epsilon = dict(zip(epsilons, shares[1 + len(visitors) :], strict=False))
    return {
        "facts": learner._plan.facts | {"charge": learner._plan.total.amount, "measure": learner._plan.total.measure},
        "expected_share": shares[0],
        "visitors_for_90_percent": next((count for count, share in by_visitors.items() if share >= GOAL), None),
        "epsilon_for_90_percent": next((epsilon for epsilon, share in by_epsilon.items() if share >= GOAL), None),
        "published_share": None if privacy.pure else shares[-1],
    }


def print_plan(plan: dict[str, Any], console: Console) -> None:
    """The plan as a table."""
    table = Table(show_header=False, title="What this budget buys")
    for name, value in plan["facts"].items():
        if name in NAMES:
            table.add_row(
                NAMES[name], f"{value:,.4g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
            )
    table.add_row("privacy spent in the end", f"{plan['facts']['charge']:.4g} ({plan['facts']['measure']})")
    table.add_row("share of the value kept (simulated)", f"{max(plan['expected_share'], 0):.1%}")
    visitors, epsilon = plan["visitors_for_90_percent"], plan["epsilon_for_90_percent"]
    table.add_row("visitors for 90 % at this epsilon", f"about {visitors:,}" if visitors else "more than was tried")
    table.add_row("epsilon for 90 % with these visitors", f"about {epsilon:g}" if epsilon else "more than was tried")
    if plan["published_share"] is not None:
        table.add_row("published constants, whole preferences", f"{max(plan['published_share'], 0):.1%}")
    console.print(table)
