"""Items by number or by name."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from discreet.errors import ConfigError

__all__ = ["labelled"]


def labelled(items: Any) -> tuple[int, list[str] | None]:
    """How many items there are, and their labels if they have any.

    >>> labelled(3), labelled(["tea", "milk"])
    ((3, None), (2, ['tea', 'milk']))
    """
    if isinstance(items, int | np.integer):
        return int(items), None
    if isinstance(items, str) or not isinstance(items, Iterable):
        raise ConfigError(f"items must be a whole number or a list of labels, got {items!r}")
    labels = [str(label) for label in items]
    return len(labels), labels
