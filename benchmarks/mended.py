"""Measure what users stumbled over: coverage of intervals, speed of masked and labelled rounds, audits.

Prints one JSON line. Each key is measured by one function of `benchmarks/measures/`; its docstring says
what the figure means.
Name keys to measure these alone: `python benchmarks/mended.py masked_round_over_plain`.
"""

import sys
from collections.abc import Callable
from typing import Any

from discreet import warm_up
from measures.audit import audit_pairs_to_catch, audit_weakened_names
from measures.labels import bulk_with_labels_over_without
from report import write

MEASURES: dict[str, Callable[[], Any]] = {
    "audit_pairs_to_catch": audit_pairs_to_catch,
    "audit_weakened": audit_weakened_names,
    "bulk_with_labels_over_without": bulk_with_labels_over_without,
}


def main() -> None:
    """Measure and print."""
    warm_up()
    names = [name for name in MEASURES if len(sys.argv) < 2 or name in sys.argv[1:]]
    report = {name: MEASURES[name]() for name in names}
    write(report, "mended" if len(names) == len(MEASURES) else "mended-part")


if __name__ == "__main__":
    main()
