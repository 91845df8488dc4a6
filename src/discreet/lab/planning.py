"""What a budget buys, before it is spent: facts of the plan, and a quick simulation in a made-up world."""

from typing import Any

from rich.console import Console
from rich.table import Table

from discreet.lab.bundle import BundleWorld, run_bundle
from discreet.lab.display import World, run_display
from discreet.lab.published_costs import cost_as_published
from discreet.lab.repeat import repeat
from discreet.learners.set_maximizer import SetMaximizer
from discreet.learners.set_minimizer import SetMinimizer
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
    "tries_of_a_set": "tries of each set of a chain, in all",
    "warning": "warning",
}


def simulated_share(items: int, slots: int | None, rounds: int, epsilon: float, delta: float, settings: dict[str, Any]) -> float:
    """The share kept in a made-up world like those of the demos: best k of n, or without slots the set of least cost."""
    privacy = Privacy(epsilon, delta)
    if slots is not None:
        world = World.drawn(rounds, items=items, seed=3)
        return world.share(run_display(SetMaximizer(items, slots, rounds, privacy, **settings), world).value, slots)
    bundles = BundleWorld.drawn(rounds, items=items, seed=3)
    bandit = settings["feedback"] == "bandit"
    if settings.get("calibration") == "published":
        cost = cost_as_published(bundles, epsilon=epsilon, bandit=bandit)
    else:
        function = None if bandit else bundles.function
        cost = run_bundle(SetMinimizer(items, rounds, privacy, function=function, **settings), bundles).cost
    return (bundles.naive - cost) / (bundles.naive - bundles.cost_of(bundles.best))


def make_plan(items: int, slots: int | None, rounds: int, privacy: Privacy, settings: dict[str, Any], console: Console) -> dict[str, Any]:
    """Facts, the expected share, and what would be needed to keep 90 %. Without slots: for the set of least cost."""
    if slots is None:
        facts = SetMinimizer(items, rounds, privacy, **settings)._plan
        published: dict[str, Any] = settings | {"calibration": "published"}
    else:
        facts = SetMaximizer(items, slots, rounds, privacy, **settings)._plan
        published = {"calibration": "published", "block": max(1, rounds // 1000)}
    least = slots or items
    visitors = sorted({max(least, int(rounds * 2.0**power)) for power in range(-6, 8) if rounds * 2.0**power <= max(rounds, MOST_VISITORS)})
    epsilons = [privacy.epsilon * 2.0**power for power in range(-6, 6)]
    tasks = [(items, slots, rounds, privacy.epsilon, privacy.delta, settings)]
    tasks += [(items, slots, count, privacy.epsilon, privacy.delta, settings) for count in visitors]
    tasks += [(items, slots, rounds, epsilon, privacy.delta, settings) for epsilon in epsilons]
    if not privacy.pure:
        tasks.append((items, slots, rounds, privacy.epsilon, privacy.delta, published))
    shares = repeat(simulated_share, tasks, label="simulating", console=console)
    by_visitors = dict(zip(visitors, shares[1:], strict=False))
    by_epsilon = dict(zip(epsilons, shares[1 + len(visitors) :], strict=False))
    return {
        "facts": facts.facts | {"charge": facts.total.amount, "measure": facts.total.measure},
        "expected_share": shares[0],
        "visitors_for_90_percent": next((count for count, share in by_visitors.items() if share >= GOAL), None),
        "epsilon_for_90_percent": next((epsilon for epsilon, share in by_epsilon.items() if share >= GOAL), None),
        "published_share": None if privacy.pure else shares[-1],
        "published_is_sound": slots is not None,
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
        remark = "whole preferences" if plan["published_is_sound"] else "not private as printed"
        table.add_row(f"published constants, {remark}", f"{max(plan['published_share'], 0):.1%}")
    console.print(table)
