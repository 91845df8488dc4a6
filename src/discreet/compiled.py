"""How kernels are compiled: with a cache on disk, releasing the lock, imported on first use only.

Kernels that call each other stand in ONE file, because Numba's cache does not notice when a callee in another
file changes.
"""

import warnings
from collections.abc import Callable
from typing import Any

from numba import njit

__all__ = ["compiled", "compiled_sums"]

_warned = False


def compiled(function: Callable[..., Any], **options: Any) -> Any:
    """Compile with a cache on disk; where no directory is writable, without one."""
    global _warned
    try:
        return njit(cache=True, nogil=True, **options)(function)
    except RuntimeError:
        if not _warned:
            warnings.warn(
                "no writable cache directory: discreet compiles its kernels in every process", stacklevel=2
            )
            _warned = True
        return njit(nogil=True, **options)(function)


def compiled_sums(function: Callable[..., Any]) -> Any:
    """The same, for long sums of floats whose order does not matter: they may be added several at a time."""
    return compiled(function, fastmath={"reassoc"})
