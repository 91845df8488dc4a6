"""Measure coverage of intervals, speed of masked and labelled rounds, and audits.

Prints one JSON line. Each key is measured by one function of `benchmarks/measures/`; its docstring
says what the figure means. Name keys to measure these alone: `python benchmarks/mended.py
masked_round_over_plain`.
"""

import sys
from collections.abc import Callable
from typing import Any

from discreet import warm_up
from measures import engine
from measures.audit import audit_pairs_to_catch, audit_weakened_names
from measures.coverage import coverage_of_95
from measures.labels import bulk_with_labels_over_without
from measures.masks import masked_round_over_plain, other_masked_rounds_over_plain
from measures.predictions import prediction_bias
from report import write

MEASURES: dict[str, Callable[[], Any]] = {
    "coverage_of_95": coverage_of_95,
    "prediction_bias": prediction_bias,
    "masked_round_over_plain": masked_round_over_plain,
    "other_masked_rounds_over_plain": other_masked_rounds_over_plain,
    "audit_pairs_to_catch": audit_pairs_to_catch,
    "audit_weakened": audit_weakened_names,
    "bulk_with_labels_over_without": bulk_with_labels_over_without,
    "answers_one_by_one_1e4_seconds_over_2e3": engine.answers_one_by_one,
    "checkpoint_16000_open_over_100": engine.checkpoint_with_many_open,
}


def main() -> None:
    """Measure and print."""
    warm_up()
    names = [name for name in MEASURES if len(sys.argv) < 2 or name in sys.argv[1:]]
    report = {name: MEASURES[name]() for name in names}
    write(report, "mended" if len(names) == len(MEASURES) else "mended-part")


if __name__ == "__main__":
    main()
