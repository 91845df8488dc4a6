"""The display story, told: a table, a guarantee, and a picture of what is earned and what privacy costs."""

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from discreet import pictures
from discreet.budget.privacy import Privacy
from discreet.lab.stories.display.results import (
    CURVES,
    EPSILONS,
    ITEMS,
    PLAIN,
    SLOTS,
    WORLDS,
    DisplayResult,
    compute_display,
)
from discreet.lab.stories.page import Page, a_person, asked, percent, table_of

__all__ = ["draw_display", "tell_display"]

COLOURS = {
    "published constants": pictures.GREY,
    "discreet, rewards only, drifting": pictures.SAND,
    "discreet, rewards only, i.i.d.": pictures.RED,
    "discreet, clicks, i.i.d.": pictures.PURPLE,
    "discreet, whole preferences, drifting": pictures.GREEN,
    "discreet, whole preferences, i.i.d.": pictures.BLUE,
    PLAIN: pictures.BLACK,
}


def tell_display(
    visitors: int, privacy: Privacy, folder: Path, *, seed: int | None, console: Console
) -> dict[str, Any]:
    """Let all contenders meet the same visitors; print a table, write demo.png and demo.json."""
    page = Page.opened(folder, "demo", console)
    result = compute_display(visitors, privacy, seed=seed, bar=page.bar)
    return page.show(result.report(), [_table(result), str(result.guarantee)], draw_display(result))


def _table(result: DisplayResult) -> Table:
    title = f"{result.visitors:,} visitors, {ITEMS} items, {SLOTS} slots, {asked(result.privacy)}"
    table = table_of(title, "who chooses", "clicks", "share kept", "epsilon spent")
    table.add_row("random slates", f"{result.random:,.0f}", percent(0.0), "0")
    shares = result.shares
    for name, run in result.runs.items():
        spent = f"{result.spent[name]:.2f}" if name in result.spent else "-"
        table.add_row(name, f"{run.value:,.0f}", percent(shares[name]), spent)
    table.add_row("best fixed slate, in hindsight", f"{result.hindsight:,.0f}", percent(1.0), "-")
    return table


def draw_display(result: DisplayResult) -> Any:
    """Left: value a visitor over time; right: share kept against ε."""
    figure, (left, right) = pictures.panels(2, (13, 4.8))
    _draw_earnings(left, result)
    _draw_shares(right, result)
    return figure


def _draw_earnings(axes: Any, result: DisplayResult) -> None:
    for name, run in result.runs.items():
        people, clicks = a_person(run.visitors, run.earned, parts=100)
        style = "--" if name == PLAIN else "-"
        axes.plot(people, clicks, color=COLOURS[name], linewidth=1.7, label=name, linestyle=style)
    low, high = result.random / result.visitors, result.hindsight / result.visitors
    pictures.mark_level(axes, low, "random\nslates")
    pictures.mark_level(axes, high, "best in\nhindsight")
    axes.set(
        xlabel="visitors",
        ylabel="clicks a visitor",
        title="What the shop earns while it learns",
        ylim=(0, high * 1.1),
    )
    pictures.add_legend(axes, loc="lower right")
    pictures.count_people(axes)
    pictures.open_frame(axes)


def _draw_shares(axes: Any, result: DisplayResult) -> None:
    colours = (pictures.GREEN, pictures.BLUE, pictures.PURPLE)
    for name, colour, shares in zip(CURVES, colours, result.curves, strict=True):
        middle, spread = shares.mean(axis=1), shares.std(axis=1)
        axes.plot(EPSILONS, middle, color=colour, marker="o", linewidth=1.7, label=name)
        axes.fill_between(EPSILONS, middle - spread, middle + spread, color=colour, alpha=0.15, linewidth=0)
    axes.set(
        xscale="log",
        ylim=(0, 1.02),
        xlabel="epsilon",
        ylabel="share of the value kept",
        title=f"What privacy costs ({result.curve_visitors:,} visitors, {len(WORLDS)} worlds)",
    )
    axes.set_xticks(EPSILONS, [f"{epsilon:g}" for epsilon in EPSILONS])
    axes.minorticks_off()
    pictures.add_legend(axes, loc="lower right")
    pictures.open_frame(axes)
