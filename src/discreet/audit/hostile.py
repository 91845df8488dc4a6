"""Hostile people: feedback and contexts at the extremes, which move sums as far as possible."""

from collections.abc import Callable

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.audit.hostile_tables import extreme_cells, hostile_cells, mutated_cells

Function = Callable[[Integers], float]
"""A person's value of a set of items."""

STRANGE: tuple[object, ...] = (
    None,
    "0.777",
    10**400,
    object(),
    b"",
    [],
    {},
    [[1.0], [2.0, 3.0]],
    float("nan"),
    float("inf"),
    2.5,
    True,
)
"""Malformed feedback."""

LARGE = 1e3
"""A number far beyond any range, which is clipped to its bound."""
MOST_PAIRS = 64
"""Largest number of pairs of features and targets that are tried."""


def hostile(feedback: object, decision: object, generator: np.random.Generator) -> object:
    """Return hostile feedback in place of an ordinary person's; aggregators must clip it.

    Where feedback is a choice, it is one of the shown items.
    """
    if generator.random() < 0.05:
        return STRANGE[int(generator.integers(len(STRANGE)))]
    if isinstance(feedback, dict):
        return hostile_cells(feedback, generator)
    if isinstance(feedback, tuple) and len(feedback) == 2:
        return hostile(feedback[0], decision, generator), hostile(feedback[1], decision, generator)
    if feedback is None or isinstance(feedback, int):
        shown = np.asarray(decision).reshape(-1)
        if not shown.size or shown.dtype.kind != "i":
            return feedback
        if generator.random() < 0.3:  # several items
            return generator.permutation(shown)[: generator.integers(1, shown.size + 1)].tolist()
        return int(generator.choice(shown))
    if callable(feedback):
        return _function(feedback, generator)
    if isinstance(feedback, np.ndarray | list):
        return extreme_row(np.asarray(feedback, dtype=np.float64), generator)
    if isinstance(feedback, float):
        return float(extreme_row(np.array([feedback]), generator)[0])
    return feedback


def extremes(feedback: object, decision: object, generator: np.random.Generator) -> list[object]:
    """Return feedback at the corners of the range between which ordinary feedback lies."""
    if isinstance(feedback, dict):
        return extreme_cells(feedback, generator)
    if isinstance(feedback, tuple) and len(feedback) == 2:
        rows, targets = (extremes(part, decision, generator) for part in feedback)
        pairs = [(row, target) for row in rows for target in targets]
        return [pairs[place] for place in generator.permutation(len(pairs))[:MOST_PAIRS]]
    if feedback is None or isinstance(feedback, int):
        shown = np.asarray(decision).reshape(-1)
        return [None, *shown.tolist()] if shown.dtype.kind == "i" else [feedback]
    if callable(feedback):
        return _corner_functions(feedback, generator)
    if isinstance(feedback, np.ndarray | list):
        return [*extreme_rows(np.asarray(feedback, dtype=np.float64), generator)]
    if isinstance(feedback, float):
        return [0.0, 1.0, -1.0, 0.5, LARGE, -LARGE]
    return [feedback]


def extreme_rows(row: Floats, generator: np.random.Generator) -> list[Floats]:
    """Return rows at the corners of the range, and this row."""
    return [*_corners(row.size, generator), row]


def _corners(size: int, generator: np.random.Generator) -> list[Floats]:
    """Return rows with one, half or all entries at an end of the range, or far beyond it."""
    units, ones = np.eye(size), np.ones(size)
    signs = generator.choice([-1.0, 1.0], size=(4, size))
    some = generator.choice([0.0, 1.0], size=(4, size))
    half = np.where(np.arange(size) < (size + 1) // 2, 1.0, 0.0)
    rows = [
        np.zeros(size),
        ones,
        -ones,
        half,
        1 - half,
        *units,
        *-units,
        *(1 - units),
        *signs,
        *some,
    ]
    small = [size * ones for size in (0.1, 0.3, 0.5)]
    large = [LARGE * row for row in rows[1:]]
    different = {row.tobytes(): row for row in [*rows, *small, *large]}
    return list(different.values())


def mutated(feedback: object, generator: np.random.Generator) -> object:
    """Return feedback with a small change: see `mutated_row`."""
    if isinstance(feedback, dict):
        return mutated_cells(feedback, generator)
    if isinstance(feedback, tuple) and len(feedback) == 2:
        first, second = feedback
        return mutated(first, generator), second
    if not isinstance(feedback, np.ndarray | list):
        return feedback
    return mutated_row(np.array(feedback, dtype=np.float64), generator)


def mutated_row(row: Floats, generator: np.random.Generator) -> Floats:
    """Return the row with one entry changed, or with all entries scaled."""
    row = row.copy()
    if generator.random() < 0.3:
        return row * generator.uniform(0.3, 1.5)
    row[generator.integers(row.size)] = generator.choice([0.0, 1.0, -1.0, generator.uniform()])
    return row


def _corner_functions(ordinary: object, generator: np.random.Generator) -> list[object]:
    """Return functions of sets with large jumps: at the first item, at one, at each, at random."""
    tables = generator.choice([0.0, 0.5, 1.0], size=(16, 256))

    def table(row: Floats) -> Function:
        return lambda chosen: float(row[sum(1 << (int(item) % 8) for item in chosen)])

    def alternating(sign: float) -> Function:
        return lambda chosen: sign * (-1.0) ** len(chosen)

    def has(item: int, size: float) -> Function:
        return lambda chosen: size if item in map(int, chosen) else 0.0

    def is_empty(size: float) -> Function:
        return lambda chosen: 0.0 if len(chosen) else size

    def any_of(size: float) -> Function:
        return lambda chosen: size if len(chosen) else 0.0

    sizes = (1.0, -1.0, LARGE, -LARGE)
    jumps = [make(size) for size in sizes for make in (alternating, is_empty, any_of)]
    jumps += [has(item, size) for item in range(3) for size in sizes]
    return [*jumps, *map(table, tables), ordinary]


def opposite(feedback: object) -> object:
    """Return feedback that pulls the other way; None where there is none."""
    if isinstance(feedback, dict):
        return {name: -cell if isinstance(cell, float) else cell for name, cell in feedback.items()}
    if isinstance(feedback, tuple) and len(feedback) == 2:
        return feedback[0], opposite(feedback[1])
    if isinstance(feedback, np.ndarray | float):
        return -feedback
    return None


def complement(feedback: object) -> object:
    """Return feedback that wants exactly what this one does not; None where there is none."""
    if isinstance(feedback, tuple) and len(feedback) == 2:
        return complement(feedback[0]), feedback[1]
    return np.where(feedback > 0, 0.0, 1.0) if isinstance(feedback, np.ndarray) else None


def extreme_row(row: Floats, generator: np.random.Generator) -> Floats:
    """Draw a row with one, half or all entries at an end of the range, or far beyond it."""
    size = float(generator.choice([1.0, -1.0, 1e3, -1e3, 1e308, -1e308, 1e-310, 0.5]))
    shapes = (
        np.eye(row.size)[generator.integers(row.size)],
        np.ones(row.size),
        np.where(np.arange(row.size) < (row.size + 1) // 2, 1.0, -1.0),
        np.where(np.arange(row.size) < (row.size + 1) // 2, 1.0, 0.0),
        generator.choice([-1.0, 0.0, 1.0], size=row.size),
        row.reshape(-1),
        np.zeros(row.size),
    )
    made = np.array(shapes[int(generator.integers(len(shapes)))] * size)
    if generator.random() < 0.5:
        made = made[generator.permutation(row.size)]
    if generator.random() < 0.1:
        made[generator.integers(row.size)] = generator.choice([np.nan, np.inf, -np.inf, -0.0])
    return made.reshape(row.shape)


def _function(function: object, generator: np.random.Generator) -> object:
    """Draw a function that fails, jumps between extremes, or returns no number."""
    table = generator.choice([0.0, 1.0, -1.0, 5.0, -5.0, 1e308], size=256)
    code = int(generator.integers(6))

    def jumps(chosen: Integers) -> float:
        return float(table[sum(1 << (int(item) % 8) for item in chosen)])

    def fails(chosen: Integers) -> float:
        raise SystemExit("0.777") if len(chosen) % 2 else ValueError("0.777")

    def odd(chosen: Integers) -> object:
        return "0.777" if len(chosen) == 1 else float("nan")

    return (jumps, jumps, jumps, fails, odd, function)[code]
