"""The papers rerun: errata, verdicts, shares, and Table 3 over its printed figures.

Prints one JSON line. `table3_ratio` is our run in the authors' setting, with noise drawn by Lemma
3.2, over what is printed for p = 1.5; `epsilon` is what each algorithm gives as printed where 1 is
claimed; `shares` are at ε = 1; `quick_seconds` is the time of `discreet reproduce all --quick` from
an empty folder.
"""

import tempfile
from pathlib import Path
from typing import Any

from rich.console import Console

from discreet.papers.printed.catalogue import CATALOGUE
from discreet.papers.reproduce import EXPERIMENTS, reproduce
from discreet.papers.reproduce.shares import PROBLEMS
from report import write


def shares_of(name: str, runs: list[dict[str, Any]]) -> dict[str, float]:
    """Return the share of each method at ε = 1, for the middle number of people."""
    people = PROBLEMS[name].quick[1]
    chosen = [run for run in runs if run["people"] == people and run["epsilon"] == 1]
    return {"people": people} | {run["who"]: round(run["share"], 3) for run in chosen}


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        found = reproduce(list(EXPERIMENTS), Path(folder), console=Console(stderr=True), quick=True)
    report = {
        "algorithms": len(CATALOGUE),
        "errata_shown": found["errata"]["errata_shown"],
        "epsilon": {
            name: verdict["epsilon"] for name, verdict in found["errata"]["verdicts"].items()
        },
        "shares": {name: shares_of(name, runs) for name, runs in found["value"].items()},
        "table3_ratio": found["sco-tables"]["authors_over_printed"],
        "quick_seconds": found["seconds"],
    }
    write(report)


if __name__ == "__main__":
    main()
