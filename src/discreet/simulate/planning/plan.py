"""The result of `discreet plan`: facts that are fixed beforehand, and simulated shares of value."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from discreet import html, svg
from discreet.texts import percent

TITLE = "The value that this budget keeps"
GOAL = 0.9
"""The share of the value that a plan aims for."""
NAMES = {
    "method": "method",
    "why": "reason for the method",
    "block": "{who} until the first release",
    "releases": "number of releases",
    "rate": "learning rate",
    "explore": "share of rounds that explore",
    "noise_in_visitors": "noise of a release, in visitors",
    "noise_in_people": "noise of a release, in people",
    "noise_in_samples": "noise of a release, in samples",
    "noise_of_report": "noise of a block's reported value",
    "preparation": "samples used for preparation",
    "passes": "passes over the data",
    "error_in_people": "error of the choice, in people",
    "first_views_of_an_item": "views of an item in the first block",
    "tries_of_an_item": "tries of an item, in all",
    "tries_of_a_set": "tries of each set",
    "warning": "warning",
}

Rows = list[tuple[str, str]]
"""What is planned: names, each with its value in words."""


class Share(NamedTuple):
    """Mean share of the value over worlds, at an epsilon and a number of people."""

    epsilon: float
    people: int
    share: float
    standard_error: float | None
    """Standard error over worlds; None with one world."""

    def __str__(self) -> str:
        return _kept(self.share, self.standard_error)


@dataclass(frozen=True)
class Plan:
    """What a budget buys: public facts of a plan, and shares of the value in simulated worlds."""

    facts: dict[str, Any]
    """Facts that are fixed beforehand, by name."""
    in_words: str
    """The guarantee in plain words."""
    world: str
    """The simulated people, in a few words."""
    worlds: int
    who: str
    """Name of the people: visitors, samples."""
    value: str
    """The value of which a share is stated, in a few words."""
    people: int
    people_simulated: int
    minutes_for_all_people: int | None
    """Minutes that would simulate all people; None if they are simulated, or are too many."""
    expected_share: float
    standard_error: float | None
    """Standard error of the expected share over worlds; None with one world."""
    share_by_epsilon: list[Share]
    share_by_people: list[Share]
    epsilon_for_90_percent: float | None
    """The least ε tried that reaches 90 % of the value; None if none does."""
    people_for_90_percent: int | None
    """The smallest number of people tried with which 90 % is reached; None if none is."""
    minutes_for_more_people: int | None
    """Minutes that would simulate more people; None if that is not needed, or they are too many."""

    def as_plain(self) -> dict[str, Any]:
        """Return the plan as plain data, as `discreet plan --json` prints it."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        for name in ("share_by_epsilon", "share_by_people"):
            plain[name] = [share._asdict() for share in plain[name]]
        return plain

    def fixed(self) -> Rows:
        """Return the facts that are fixed beforehand, in words."""
        facts = self.facts
        rows = [
            (NAMES[name].format(who=self.who), _shown(value))
            for name, value in facts.items()
            if name in NAMES
        ]
        failing = f" at delta = {facts['delta']:g}" if facts["delta"] else ""
        rows.append(("privacy spent in all", f"epsilon = {facts['epsilon']:.4g}{failing}"))
        rows.append(("in plain words", self.in_words))
        if facts["contributions"] > 1:
            rounds = f"up to {facts['contributions']}, all of them together"
            rows.append(("rounds of one person", rounds))
        return rows

    def simulated(self, option: str = "minutes=") -> Rows:
        """Return what was simulated, in words; `option` is how longer simulations are asked for."""
        expected = Share(0.0, 0, self.expected_share, self.standard_error)
        people = f"{self.people_simulated:,} {self.who} in {self.worlds} worlds: {self.world}"
        rows = [
            ("share of the value", str(expected)),
            ("100 % is", self.value),
            ("simulated", people),
        ]
        if self.people_simulated < self.people:
            remedy = _remedy(self.minutes_for_all_people, option)
            rows.append(("", f"all {self.people:,}: {remedy}"))
        rows.append(("epsilon needed for 90 %", self._enough_epsilon()))
        rows.append((f"{self.who} needed for 90 %", self._enough_people(option)))
        return rows

    def _enough_epsilon(self) -> str:
        """The least ε that reaches the goal, or the share that the largest trial reaches."""
        trials = [trial.epsilon for trial in self.share_by_epsilon]
        if self.epsilon_for_90_percent is not None:
            return _least(self.epsilon_for_90_percent, trials)
        last = max(self.share_by_epsilon, key=lambda trial: trial.epsilon)
        return f"none: {_rounded(last.epsilon)} gives {_kept(last.share)}"

    def _enough_people(self, option: str) -> str:
        """The fewest people who reach the goal, or the share that the most reach, and a remedy."""
        trials = [trial.people for trial in self.share_by_people]
        if self.people_for_90_percent is not None:
            return _least(self.people_for_90_percent, trials)
        last = max(self.share_by_people, key=lambda trial: trial.people)
        remedy = _remedy(self.minutes_for_more_people, option)
        reached = f"more than {_rounded(last.people)}, which give {_kept(last.share)}"
        return f"{reached}; to try more: {remedy}"

    def _repr_html_(self) -> str:
        """Return the facts and the simulated shares as a table and two curves, for notebooks."""
        by_people = [(trial.people, trial) for trial in self.share_by_people]
        by_epsilon = [(trial.epsilon, trial) for trial in self.share_by_epsilon]
        return html.block(
            html.facts([*self.fixed(), *self.simulated()]),
            _curve(f"Share of the value by number of {self.who}", self.who, by_people),
            _curve("Share of the value by epsilon", "epsilon", by_epsilon),
            title=TITLE,
        )


def print_plan(plan: Plan, console: Console) -> None:
    """Print a plan as a table: the simulated numbers first, then the facts."""
    table = Table(show_header=False, title=TITLE)
    for name, words in plan.simulated("--minutes "):
        table.add_row(name, words)
    table.add_section()
    for name, words in plan.fixed():
        table.add_row(name, words)
    console.print(table)


def _curve(title: str, what: str, trials: Sequence[tuple[float, Share]]) -> html.Html:
    """The shares of trials in a band of two standard errors; nothing for a single trial."""
    if len(trials) < 2:
        return html.Html()
    shares = [max(trial.share, 0.0) for _, trial in trials]
    errors = [2 * (trial.standard_error or 0.0) for _, trial in trials]
    band = svg.Band(
        [share - error for share, error in zip(shares, errors, strict=True)],
        [share + error for share, error in zip(shares, errors, strict=True)],
    )
    picture = svg.curves(
        [svg.Line([size for size, _ in trials], shares, band=band), svg.Level(GOAL, "90 %")],
        title=title,
        note="simulated worlds; band: ± 2 standard errors over worlds",
        x=svg.Axis(what, logarithmic=True),
        y=svg.Axis(percent=True, within=(0.0, 1.0)),
        height=240,
    )
    return html.Html(picture)


def _remedy(minutes: int | None, option: str) -> str:
    """The option that would simulate enough people."""
    return "too many to simulate" if minutes is None else f"takes {option}{minutes}"


def _kept(share: float, error: float | None = None) -> str:
    """The share of the value that is kept: not less than none."""
    return percent(max(share, 0.0)) + ("" if error is None else f" ± {percent(error)}")


def _least(least: float, trials: Sequence[float]) -> str:
    """The least number that reaches the goal."""
    return f"{'at most' if least <= min(trials) else 'about'} {_rounded(least)}"


def _rounded(value: float) -> str:
    """Return a number as text: whole numbers (people) to two digits, others (epsilon) to three."""
    return f"{float(f'{value:.2g}'):,.0f}" if isinstance(value, int) else f"{value:.3g}"


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
