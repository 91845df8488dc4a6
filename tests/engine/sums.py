"""Running sums, and the people whose contributions their state still holds."""

from typing import Any

from discreet import Privacy, RunningSum


def sum_of(journal: Any = None, **more: Any) -> RunningSum:
    """Return a running sum of ten people, with one release per person."""
    return RunningSum(1, 10, Privacy(1.0), bound=1.0, journal=journal, **more)


def levels_of(sums: RunningSum) -> int:
    """Return the number of integer steps that a person of value 1 adds."""
    problem: Any = RunningSum.problem_for(sums.settings).mode
    return int(problem.total.sum_of(0).aggregator.levels)


def counted_people(sums: RunningSum) -> float:
    """Return the sum of the people who were counted since the last release."""
    return float(sums.snapshot().block["sum"].sum()) / levels_of(sums)


def exact_people(sums: RunningSum) -> int:
    """Return the exact sum of all people in a tree, in steps: its nodes and the open block."""
    snapshot = sums.snapshot()
    nodes = int(snapshot.hidden["sum"]["nodes"].sum()) if snapshot.index else 0
    return nodes + int(snapshot.block["sum"][0])
