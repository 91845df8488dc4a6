"""`discreet audit`: every way of learning put to the test, exactly and from outside, and weak
copies caught.

The exact transcript audit (discreet/audit/transcript.py) bounds what one person can cost from
above, the attack on outputs (discreet/audit/black_box.py) bounds ε from below: the truth lies
between.
"""

import json
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.table import Table

from discreet import pictures, require
from discreet.audit import Case
from discreet.audit.black_box import allowed_misses, attack
from discreet.audit.cases.learners import cases, keyed_cases, long_cases
from discreet.audit.cases.selections import choices
from discreet.audit.transcript import ROUNDING, measured_costs
from discreet.audit.weakened import (
    AGGREGATORS,
    FACTOR,
    LEAKS,
    Weak,
    gatherings_of,
    pairs_to_catch,
    understated,
)
from discreet.budget.privacy import Privacy
from discreet.errors import ConfigError
from discreet.learners.executors import executor_of
from discreet.learners.registry import HOMES
from discreet.progress import bars_on
from discreet.tasks import ResultStore, repeat

if TYPE_CHECKING:
    from matplotlib.figure import Figure


WEAK_PAIRS = 40
"""So many pairs may pass before a weakened copy counts as not caught."""


@dataclass(frozen=True)
class Size:
    """How thoroughly to audit."""

    pairs: int
    """Neighbouring streams of each way of learning, for the exact audit."""
    runs: int
    """Lives of either stream, for the attack on outputs."""


SIZES: Mapping[str, Size] = {"minute": Size(10, 60), "night": Size(200, 4000)}
"""What fits a coffee, and what fits an hour or two, on two cores.

Half of the pairs are searched for what they move, so 200 tell more than thousands of drawn ones.
"""


def everything(epsilon: float, delta: float) -> list[Case]:
    """All that is audited."""
    online = [*cases(epsilon, delta), *long_cases(epsilon, delta), *keyed_cases(epsilon, delta)]
    return [*online, *choices(epsilon, delta)]


def audit_case(
    name: str, epsilon: float, delta: float, pairs: int, runs: int, seed: int
) -> dict[str, Any]:
    """One row: what one person cost at most over what was charged, and what an attacker could
    show.
    """
    case = next(case for case in everything(epsilon, delta) if case.name == name)
    learner = case.make()
    asked = learner.settings.privacy
    found = measured_costs(case, pairs=pairs, seed=seed)
    shown = attack(case, asked, runs=runs, pair=found.worst, seed=seed)
    return {
        "learner": type(learner).__name__,
        "mode": case.name,
        "measure": found.measure,
        "claim": found.claim,
        "pairs": found.pairs,
        "largest_cost_over_charge": found.largest_cost_over_charge,
        "pairs_to_catch": understated_caught(case, seed),
        "epsilon": asked.epsilon,
        "delta": asked.delta,
        "attack": asdict(shown),
    }


def understated_caught(case: Case, seed: int = 0) -> dict[str, int | None]:
    """How many pairs show that an aggregator understates what a person moves, for each that a
    case releases.
    """
    return {
        aggregator: pairs_to_catch(case, understated(aggregator), most=WEAK_PAIRS, seed=seed)
        for aggregator in gatherings_of(case, seed)
    }


WHERE = {
    "report() of the open block": "rewards, report",
    "active items that depend on data": "clicks",
}
"""Which cases have what Hedge has not."""
RELEASING = {
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
"""A case that releases each aggregator."""


def audit_weakened(names: list[str] | None = None) -> dict[str, bool]:
    """Whether the audit catches each weakened copy of these names (all without any), in one case
    that has it.

    Copies are those that tell of people past the door (`LEAKS`), and aggregators that understate
    what a person moves by a factor of 1.3.

    >>> audit_weakened(["a ledger that is never charged"])
    {'a ledger that is never charged': True}
    """
    known = {case.name: case for case in everything(1.0, 1e-6)}
    copies: dict[str, tuple[Case, Weak]] = {
        name: (known[WHERE.get(name, "hedge")], make) for name, make in LEAKS.items()
    }
    for aggregator in AGGREGATORS:
        name = f"{aggregator} understated by {FACTOR}"
        copies[name] = known[RELEASING[aggregator]], partial(understated, aggregator)
    return {
        name: pairs_to_catch(case, make(), most=WEAK_PAIRS) is not None
        for name, (case, make) in copies.items()
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
    engine: Any = None,
    workers: int = 2,
) -> dict[str, Any]:
    """Audit the cases that `names` begin to name (all without any); write audit.json and audit.png.

    What was done before in the same folder is not done again. `engine` is a Dask client or address,
    or an executor; without one, there are so many processes.
    """
    pictures.require_matplotlib()
    known_cases = everything(epsilon, delta)
    for name in names:
        if not any(_is_named(case, [name]) for case in known_cases):
            near = get_close_matches(name, [*HOMES, *(case.name for case in known_cases)], 3, 0.4)
            raise ConfigError(
                f"nothing is called {require.shown(name)}: name a learner ({', '.join(HOMES)}) or "
                "a way of it" + (f"; did you mean {' or '.join(near)}?" if near else "")
            )
    chosen = [case for case in known_cases if not names or _is_named(case, names)]
    with nullcontext() if engine is None else executor_of(engine) as executor:
        rows = repeat(
            audit_case,
            [(case.name, epsilon, delta, size.pairs, size.runs, seed) for case in chosen],
            label="ways of learning",
            bar=bars_on(console),
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
    usual = [
        row for row in rows if row["epsilon"] == epsilon
    ] or rows  # some are audited at a looser one
    pictures.save(draw_trade_offs(usual), out / "audit.png")
    _show(report, console)
    console.print(f"Wrote {out / 'audit.json'} and {out / 'audit.png'}", soft_wrap=True)
    return report


def _is_fine(row: dict[str, Any]) -> bool:
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
    table.add_column(f"a sensitivity / {FACTOR}")
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
    fine, wrong = (
        "no cost exceeds its charge",
        "SOMETHING COSTS MORE THAN IS CHARGED, or was not caught",
    )
    console.print(f"{len(report['rows'])} ways of learning: {fine if report['ok'] else wrong}.")


def _caught(pairs: dict[str, int | None]) -> str:
    missed = [name for name, count in pairs.items() if count is None]
    if missed:
        return f"NOT CAUGHT: {', '.join(missed)}"
    return f"caught by pair {max(filter(None, pairs.values()), default=0)}"


def draw_trade_offs(rows: list[dict[str, Any]]) -> "Figure":
    """One panel a learner: how often an attacker is wrong either way, and how seldom that may
    be.
    """
    learners = sorted({row["learner"] for row in rows})
    figure, panels = pictures.panel_grid(len(learners), columns=4, size=3.2)
    alarms = np.linspace(0, 1, 201)
    for axes, learner in zip(panels, learners, strict=True):
        own = [row for row in rows if row["learner"] == learner]
        privacy = Privacy(max(row["epsilon"] for row in own), max(row["delta"] for row in own))
        allowed = allowed_misses(alarms, privacy)
        axes.fill_between(alarms, allowed, color=pictures.RED, alpha=0.15, linewidth=0)
        axes.plot(alarms, allowed, color=pictures.RED, linewidth=1.5, label="allowed: never below")
        axes.plot(
            alarms,
            1 - alarms,
            color=pictures.GREY,
            linewidth=0.8,
            linestyle=":",
            label="a blind guess",
        )
        for number, row in enumerate(own):
            attacked = row["attack"]
            label = "reached, one line a mode" if number == 0 else None
            axes.plot(
                attacked["false_alarms"],
                attacked["misses"],
                color=pictures.BLUE,
                linewidth=0.9,
                label=label,
            )
        axes.set(title=learner, xlim=(0, 1), ylim=(0, 1), xlabel="false alarms", ylabel="misses")
        pictures.open_frame(axes)
    pictures.add_legend(panels[0], loc="upper right")
    return figure
