"""`discreet audit`: all modes of all learners are audited, and weakened copies must be caught.

The exact transcript audit (discreet/audit/transcript.py) bounds the cost of one person from above;
the attack on outputs (discreet/audit/black_box.py) bounds ε from below. The truth lies between.
"""

import json
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.table import Table

from discreet import pictures, require
from discreet.audit.black_box import allowed_misses, attack
from discreet.audit.cases.case import Case
from discreet.audit.cases.learners import cases, keyed_cases, long_cases
from discreet.audit.cases.selections import choices
from discreet.audit.transcript import ROUNDING, measured_costs
from discreet.audit.weakened import (
    AGGREGATORS,
    FACTOR,
    LEAKS,
    Weak,
    aggregators_of,
    pairs_to_catch,
    understated,
)
from discreet.budget.privacy import Privacy
from discreet.errors import ConfigError
from discreet.learners.executors import executor_of
from discreet.learners.homes import HOMES
from discreet.progress import shown
from discreet.tasks import ResultStore, repeat
from discreet.texts import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Row = dict[str, Any]
"""The audit of one case, as plain data."""

POINTS_OF_LIMIT = 1001
"""Number of points of the curve that (ε, δ) allows."""
WEAK_PAIRS = 40
"""Number of pairs after which a weakened copy counts as not caught."""


@dataclass(frozen=True)
class Size:
    """How thorough an audit is."""

    pairs: int
    """Pairs of neighbouring streams per case, for the exact audit."""
    runs: int
    """Lives per stream of a pair, for the attack on outputs."""


SIZES: Mapping[str, Size] = {
    "minute": Size(pairs=10, runs=60),
    "night": Size(pairs=200, runs=4000),
}
"""Sizes that take about a minute, and an hour or two, on two cores.

Half of the pairs are searched for large costs, so 200 show more than thousands of drawn ones.
"""


def everything(epsilon: float, delta: float) -> list[Case]:
    """Return all cases that are audited."""
    online = [*cases(epsilon, delta), *long_cases(epsilon, delta), *keyed_cases(epsilon, delta)]
    return [*online, *choices(epsilon, delta)]


def audit_case(name: str, epsilon: float, delta: float, pairs: int, runs: int, seed: int) -> Row:
    """Return the row of one case: the largest cost over charge, and the ε of the attack."""
    case = next(case for case in everything(epsilon, delta) if case.name == name)
    learner = case.make()
    privacy = learner.settings.privacy
    audited = measured_costs(case, pairs=pairs, seed=seed)
    attacked = attack(case, privacy, runs=runs, pair=audited.worst, seed=seed)
    return {
        "learner": type(learner).__name__,
        "mode": case.name,
        "measure": audited.measure,
        "claim": audited.claim,
        "pairs": audited.pairs,
        "largest_cost_over_charge": audited.largest_cost_over_charge,
        "pairs_to_catch": understated_caught(case, seed),
        "epsilon": privacy.epsilon,
        "delta": privacy.delta,
        "attack": asdict(attacked),
    }


def understated_caught(case: Case, seed: int = 0) -> dict[str, int | None]:
    """Return how many pairs catch an understated sensitivity, per aggregator of a case."""
    return {
        aggregator: pairs_to_catch(case, understated(aggregator), most=WEAK_PAIRS, seed=seed)
        for aggregator in aggregators_of(case, seed)
    }


CASE_OF_LEAK = {
    "report() of the open block": "rewards, report",
    "active items that depend on data": "clicks",
}
"""The cases in which leaks are tried that Hedge cannot have."""
CASE_OF_AGGREGATOR = {
    "ChosenRows": "arms, screen",
    "GainPath": "choice, sampled",
    "Gram": "streaming, whitened",
    "Moments": "arms",
    "OneChoice": "clicks",
    "PublicCells": "rewards",
    "PublicRows": "rewards",
    "Rows": "hedge",
    "Spread": "arms",
}
"""A case per aggregator that releases it."""


def audit_weakened(names: list[str] | None = None) -> dict[str, bool]:
    """Return whether the audit catches weakened copies: those of these names, or all.

    The copies show people past the door (`LEAKS`), or understate the sensitivity of an aggregator
    by a factor of 1.3. Each is audited in one case that has it.

    >>> audit_weakened(["a ledger that is never charged"])
    {'a ledger that is never charged': True}
    """
    known = {case.name: case for case in everything(1.0, 1e-6)}
    copies: dict[str, tuple[Case, Weak]] = {
        name: (known[CASE_OF_LEAK.get(name, "hedge")], weaken) for name, weaken in LEAKS.items()
    }
    for aggregator in AGGREGATORS:
        name = f"{aggregator} understated by {FACTOR}"
        copies[name] = known[CASE_OF_AGGREGATOR[aggregator]], partial(understated, aggregator)
    return {
        name: pairs_to_catch(case, weaken(), most=WEAK_PAIRS) is not None
        for name, (case, weaken) in copies.items()
        if names is None or name in names
    }


def run_audit(
    names: list[str],
    *,
    size: Size,
    epsilon: float,
    delta: float,
    seed: int,
    out: Path,
    console: Console,
    engine: object = None,
    workers: int = 2,
) -> dict[str, Any]:
    """Audit learners, and write audit.json and audit.png.

    Rows that an earlier audit wrote to the same folder are not computed again.

    Parameters
    ----------
    names
        Learners, or beginnings of the names of cases; without names, all cases are audited.
    size
        The number of pairs and of runs.
    epsilon, delta
        The guarantee of the audited learners.
    seed
        The seed of the people.
    out
        The folder to which the report is written.
    console
        Shows the progress and the table.
    engine
        A Dask client or address, or an executor; without one, `workers` processes.
    workers
        The number of processes.

    Returns
    -------
    The content of audit.json; `ok` says whether no cost exceeds its charge and all weakened copies
    are caught.

    Raises
    ------
    ConfigError
        If a name is neither a learner nor the beginning of a case.
    """
    pictures.require_matplotlib()
    chosen = _chosen(names, everything(epsilon, delta))
    with shown(console), nullcontext() if engine is None else executor_of(engine) as executor:
        rows = repeat(
            audit_case,
            [(case.name, epsilon, delta, size.pairs, size.runs, seed) for case in chosen],
            label="modes",
            workers=workers,
            store=ResultStore(out / "done.jsonl"),
            executor=executor,
        )
    report = {
        "epsilon": epsilon,
        "delta": delta,
        "seed": seed,
        **asdict(size),
        "rows": rows,
        "ok": all(map(_is_fine, rows)),
    }
    (out / "audit.json").write_text(json.dumps(report, indent=2) + "\n")
    # Some cases are audited at a looser guarantee, which the picture does not show.
    usual = [row for row in rows if row["epsilon"] == epsilon]
    pictures.save(draw_trade_offs(usual or rows), out / "audit.png")
    _show(report, console)
    console.print(f"Wrote {out / 'audit.json'} and {out / 'audit.png'}", soft_wrap=True)
    return report


def _chosen(names: list[str], known: list[Case]) -> list[Case]:
    """Return the cases of these names; refuse a name that no case has."""
    for name in names:
        if not any(_is_named(case, [name]) for case in known):
            raise ConfigError(
                f"nothing is called {require.shown(name)}: name a learner ({', '.join(HOMES)}) or "
                f"a case of it{require.nearest(name, [*HOMES, *(case.name for case in known)])}"
            )
    return [case for case in known if not names or _is_named(case, names)]


def _is_fine(row: Row) -> bool:
    bounded = row["largest_cost_over_charge"] <= 1 + ROUNDING
    caught = all(pairs is not None for pairs in row["pairs_to_catch"].values())
    return bool(bounded and caught and not row["attack"]["caught"])


def _is_named(case: Case, names: list[str]) -> bool:
    learner = type(case.make()).__name__.lower()
    return any(name.lower() == learner or case.name.startswith(name.lower()) for name in names)


def _show(report: dict[str, Any], console: Console) -> None:
    title = (
        f"What one person can cost, and what an attacker can show (epsilon = {report['epsilon']:g})"
    )
    table = Table(title=title)
    for heading in ("learner", "mode", "measure"):
        table.add_column(heading)
    for heading in ("largest cost / charge", "epsilon shown"):
        table.add_column(heading, justify="right")
    table.add_column(f"sensitivity / {FACTOR}")
    for row in report["rows"]:
        table.add_row(
            row["learner"],
            row["mode"],
            row["measure"],
            f"{row['largest_cost_over_charge']:.4f}",
            f"{row['attack']['epsilon']:.2f} of {row['epsilon']:g}",
            _caught(row["pairs_to_catch"]),
        )
    console.print(table)
    verdict = "SOMETHING COSTS MORE THAN IS CHARGED, or was not caught"
    if report["ok"]:
        verdict = "no cost exceeds its charge"
    console.print(f"{len(report['rows'])} modes: {verdict}.")


def _caught(pairs: dict[str, int | None]) -> str:
    missed = [name for name, count in pairs.items() if count is None]
    if missed:
        return f"NOT CAUGHT: {', '.join(missed)}"
    return f"caught by pair {max(filter(None, pairs.values()), default=0)}"


def draw_trade_offs(rows: list[Row]) -> "Figure":
    """Draw one panel per learner: the errors of the attack, and the curve that (ε, δ) allows.

    A panel has the mode of its learner in which the attack is right most often.
    """
    learners = sorted({row["learner"] for row in rows})
    figure, panels = pictures.panel_grid(len(learners), columns=4, size=3.4)
    for number, (axes, learner) in enumerate(zip(panels, learners, strict=True)):
        own = [row for row in rows if row["learner"] == learner]
        worst = max(own, key=_right)
        _draw_trade_off(axes, worst)
        many = f", the worst of {len(own)} modes" if len(own) > 1 else ""
        note = f"{worst['mode']}{many}"
        pictures.state_point(axes, learner, note, size=pictures.NAME_SIZE)
        axes.set_ylabel("" if number % 4 else "missed, share of runs")
    pictures.state_point_of_all(figure, _point(rows))
    lines, names = panels[0].get_legend_handles_labels()
    pictures.add_common_legend(
        figure, dict(zip(names, lines, strict=True)), columns=min(len(learners), 3)
    )
    return figure


def _right(row: Row) -> float:
    """Return how often the attack on a case is right, if both streams are as likely."""
    attacked = row["attack"]
    return 1 - float(np.add(attacked["false_alarms"], attacked["misses"]).min()) / 2


def _point(rows: list[Row]) -> str:
    """Return the point of the picture as a sentence with its numbers."""
    worst = max(rows, key=_right)
    reached = percent(_right(worst), 0)
    alarms = np.linspace(0, 1, POINTS_OF_LIMIT)
    limit = allowed_misses(alarms, Privacy(worst["epsilon"], worst["delta"]))
    allowed = 1 - float((alarms + limit).min()) / 2
    attacker = "An attacker who knows everybody else tells two people apart"
    if any(row["attack"]["caught"] for row in rows):
        return f"{attacker} MORE OFTEN THAN IS ALLOWED: in {reached} of the runs"
    if _right(worst) > allowed:
        return f"{attacker} in {reached} of the runs, by luck: {percent(allowed, 0)} is allowed"
    return (
        f"{attacker} in at most {reached} of the runs; the guarantee allows "
        f"{percent(allowed, 0)}, and a guess is right in 50 %"
    )


def _draw_trade_off(axes: "Axes", row: Row) -> None:
    """Draw the errors of one attack, of blind guesses, and those that (ε, δ) allows."""
    attacked = row["attack"]
    alarms = np.linspace(0, 1, POINTS_OF_LIMIT)
    allowed = allowed_misses(alarms, Privacy(row["epsilon"], row["delta"]))
    axes.fill_between(alarms, allowed, color=pictures.RED, alpha=0.15, linewidth=0)
    axes.plot(alarms, allowed, color=pictures.RED, linewidth=1.5, label="limit of the guarantee")
    axes.plot(alarms, 1 - alarms, color=pictures.GREY, linestyle=":", label="a blind guess")
    axes.plot(
        attacked["false_alarms"],
        attacked["misses"],
        color=pictures.BLUE,
        linewidth=1.8,
        label="the attack",
    )
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="false alarms, share of runs")
    pictures.open_frame(axes)
