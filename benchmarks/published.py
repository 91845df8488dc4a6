"""The papers, run again: how many algorithms, which slips show, Table 3 beside its print, and in what time.

Prints one JSON line. `table3_ratio` is our run in the authors' setting, with the slip of Lemma 3.2, over what
is printed for p = 1.5; `quick_seconds` is the time of `discreet reproduce all --quick` from an empty folder.
"""

import tempfile
from pathlib import Path

from rich.console import Console

from discreet.lab.published.catalogue import CATALOGUE
from discreet.lab.reproduce import EXPERIMENTS, reproduce
from report import write


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        found = reproduce(list(EXPERIMENTS), Path(folder), console=Console(stderr=True), quick=True)
    report = {
        "algorithms": len(CATALOGUE),
        "slips_shown": found["slips"]["slips_shown"],
        "table3_ratio": found["sco-tables"]["authors_slip_over_printed"],
        "quick_seconds": found["seconds"],
    }
    write(report)


if __name__ == "__main__":
    main()
