"""Frames of results, made with Polars, which is imported on first use."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ConfigError

if TYPE_CHECKING:
    import polars

FrameColumn = Sequence[object] | np.ndarray
"""The cells of a column."""


def frame_of(columns: Mapping[str, FrameColumn]) -> "polars.DataFrame":
    """Return a Polars frame with these columns; texts and numbers in one column become texts."""
    try:
        import polars
    except ImportError:
        raise ConfigError("frames need Polars: pip install 'discreet[tables]'") from None
    return polars.DataFrame({name: _of_one_type(column) for name, column in columns.items()})


def _of_one_type(column: FrameColumn) -> FrameColumn:
    """The column; labels that are both texts and numbers, or very large, as texts."""
    if isinstance(column, np.ndarray):
        return column
    are_whole = [isinstance(cell, int) for cell in column]
    fit = all(abs(cell) < 2**63 for cell in column if isinstance(cell, int))
    is_mixed = any(are_whole) and any(isinstance(cell, str) for cell in column)
    return [str(cell) for cell in column] if is_mixed or not fit else column
