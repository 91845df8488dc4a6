"""People who are out to move as much as they can: the extremes of whatever an ordinary person brings."""

from typing import Any

import numpy as np

from discreet.arrays import Floats

__all__ = ["STRANGE", "complement", "extreme_row", "hostile", "opposite"]

STRANGE: tuple[Any, ...] = (
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
"""What nobody should bring."""


def hostile(feedback: Any, decision: Any, generator: np.random.Generator) -> Any:
    """Something in the place of an ordinary person's feedback that gatherings must bound all the same.

    Where feedback is a choice, it is one of what the person was shown.
    """
    if generator.random() < 0.05:
        return STRANGE[int(generator.integers(len(STRANGE)))]
    if isinstance(feedback, tuple) and len(feedback) == 2:
        return hostile(feedback[0], decision, generator), hostile(feedback[1], decision, generator)
    if feedback is None or isinstance(feedback, int):
        shown = np.asarray(decision).reshape(-1)
        if not shown.size or shown.dtype.kind != "i":
            return feedback
        if generator.random() < 0.3:  # several at once
            return generator.permutation(shown)[: generator.integers(1, shown.size + 1)].tolist()
        return int(generator.choice(shown))
    if callable(feedback):
        return _function(feedback, generator)
    if isinstance(feedback, np.ndarray | list):
        return extreme_row(np.asarray(feedback, dtype=np.float64), generator)
    if isinstance(feedback, float):
        return float(extreme_row(np.array([feedback]), generator)[0])
    return feedback


def opposite(feedback: Any) -> Any:
    """What pulls the other way: the farthest neighbour of many."""
    if isinstance(feedback, tuple) and len(feedback) == 2:
        return feedback[0], opposite(feedback[1])
    if isinstance(feedback, np.ndarray | float):
        return -feedback
    return None


def complement(feedback: Any) -> Any:
    """What wants all that this person does not want, and nothing else; None where there is no such thing."""
    if isinstance(feedback, tuple) and len(feedback) == 2:
        return complement(feedback[0]), feedback[1]
    return np.where(feedback > 0, 0.0, 1.0) if isinstance(feedback, np.ndarray) else None


def extreme_row(row: Floats, generator: np.random.Generator) -> Floats:
    """One entry, one half, or all of it at an end of the range or far beyond."""
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


def _function(function: Any, generator: np.random.Generator) -> Any:
    """A callable that fails, jumps between extremes, or gives what is no number."""
    table = generator.choice([0.0, 1.0, -1.0, 5.0, -5.0, 1e308], size=256)
    code = int(generator.integers(6))

    def jumps(chosen: Any) -> float:
        return float(table[sum(1 << (int(item) % 8) for item in chosen)])

    def fails(chosen: Any) -> float:
        raise SystemExit("0.777") if len(chosen) % 2 else ValueError("0.777")

    def odd(chosen: Any) -> Any:
        return "0.777" if len(chosen) == 1 else float("nan")

    return (jumps, jumps, jumps, fails, odd, function)[code]
