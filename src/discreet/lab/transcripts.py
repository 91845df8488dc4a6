"""`discreet audit`: the transcript audit of every way of learning, and of weakened copies to be caught."""

import json
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from discreet.checks import Case, weakened
from discreet.checks.transcript import ROUNDING, measured_costs
from discreet.errors import ConfigError
from discreet.lab.cases import cases
from discreet.lab.choices import choices

__all__ = ["audit_case", "run_audit"]


def audit_case(case: Case, *, pairs: int, seed: int) -> dict[str, Any]:
    """One row: what one person cost at most over what was charged, and whether half the noise was noticed."""
    found = measured_costs(case, pairs=pairs, seed=seed)
    with weakened():
        weak = measured_costs(case, pairs=max(pairs, 200), seed=seed, enough=1 + 1e-6)
    return {
        "learner": type(case.make()).__name__,
        "mode": case.name,
        "measure": found.measure,
        "claim": found.claim,
        "pairs": found.pairs,
        "largest_cost_over_charge": found.largest_cost_over_charge,
        "weakened_caught": weak.largest_cost_over_charge > 1 + 1e-6,
    }


def run_audit(
    names: list[str], *, pairs: int, epsilon: float, delta: float, seed: int, out: Path, console: Console
) -> dict[str, Any]:
    """Audit the cases that `names` begin to name (all without any), and write audit.json."""
    everything = [*cases(epsilon, delta), *choices(epsilon, delta)]
    chosen = [case for case in everything if not names or _is_named(case, names)]
    if not chosen:
        known = "; ".join(case.name for case in everything)
        raise ConfigError(f"nothing is called {' or '.join(names)}: name a learner or one of {known}")
    rows = []
    with Progress(console=console, transient=True) as progress:
        bar = progress.add_task("neighbouring streams", total=len(chosen))
        for case in chosen:
            rows.append(audit_case(case, pairs=pairs, seed=seed))
            progress.advance(bar)
    ok = all(row["largest_cost_over_charge"] <= 1 + ROUNDING and row["weakened_caught"] for row in rows)
    report = {"epsilon": epsilon, "delta": delta, "seed": seed, "rows": rows, "ok": ok}
    out.mkdir(parents=True, exist_ok=True)
    (out / "audit.json").write_text(json.dumps(report, indent=2) + "\n")
    _show(report, console)
    console.print(f"Wrote {out / 'audit.json'}")
    return report


def _is_named(case: Case, names: list[str]) -> bool:
    learner = type(case.make()).__name__.lower()
    return any(name.lower() == learner or case.name.startswith(name.lower()) for name in names)


def _show(report: dict[str, Any], console: Console) -> None:
    table = Table(title=f"What one person can cost, over what is charged (epsilon = {report['epsilon']:g})")
    for heading in ("learner", "mode", "measure"):
        table.add_column(heading)
    for heading in ("claim", "pairs", "largest cost / charge"):
        table.add_column(heading, justify="right")
    table.add_column("half the noise")
    for row in report["rows"]:
        table.add_row(
            row["learner"],
            row["mode"],
            row["measure"],
            f"{row['claim']:.4g}",
            str(row["pairs"]),
            f"{row['largest_cost_over_charge']:.4f}",
            "caught" if row["weakened_caught"] else "NOT CAUGHT",
        )
    console.print(table)
    fine, wrong = "no cost exceeds its charge", "SOMETHING COSTS MORE THAN IS CHARGED, or was not caught"
    verdict = fine if report["ok"] else wrong
    console.print(f"{len(report['rows'])} ways of learning: {verdict}.")
