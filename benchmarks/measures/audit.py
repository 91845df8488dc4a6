"""The audit: weakened copies that it catches, and pairs needed for a small understatement."""

from typing import Any

from discreet.audit.report import WEAK_PAIRS, audit_weakened, everything, understated_caught


def audit_weakened_names() -> dict[str, Any]:
    """Return the weakened copies that the audit catches, and those that it misses (none)."""
    found = audit_weakened()
    return {
        "caught": [name for name, caught in found.items() if caught],
        "missed": [name for name, caught in found.items() if not caught],
    }


def audit_pairs_to_catch() -> dict[str, int]:
    """Return the largest number of pairs that reveal a sensitivity understated by 1.3.

    An aggregator that is missed in some case within 40 pairs counts 41.
    """
    most: dict[str, int] = {}
    for case in everything(1.0, 1e-6):
        for aggregator, pairs in understated_caught(case).items():
            count = WEAK_PAIRS + 1 if pairs is None else pairs
            most[aggregator] = max(most.get(aggregator, 0), count)
    return dict(sorted(most.items()))
