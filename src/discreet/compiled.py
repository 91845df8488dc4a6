"""How kernels are compiled: with a cache on disk, releasing the lock, imported on first use only.

Kernels that call each other stand in ONE file, because Numba's cache does not notice when a callee
in another file changes. Importing such a file imports Numba; `OnFirstUse` puts that off until a
kernel is called.
"""

import warnings
from collections.abc import Callable
from importlib import import_module
from typing import ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)

_warned = False


class Statistics(Protocol):
    """What Numba knows of a compiled function."""

    @property
    def cache_path(self) -> str | None:
        """The folder in which compiled code is kept, if one can be written."""


class Compiled(Protocol[P, R_co]):
    """A function that Numba compiles: it is called like the Python function that it was made of."""

    @property
    def stats(self) -> Statistics:
        """What Numba knows of it."""

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> R_co: ...


def compiled(
    function: Callable[P, R_co], *, fastmath: frozenset[str] = frozenset()
) -> Compiled[P, R_co]:
    """Compile with a cache on disk; where no directory is writable, without one."""
    from numba import njit

    global _warned
    options = {"nogil": True, **({"fastmath": set(fastmath)} if fastmath else {})}
    made: Compiled[P, R_co]
    try:
        made = njit(cache=True, **options)(function)
    except RuntimeError:
        if not _warned:
            warnings.warn(
                "no writable cache directory: discreet compiles its kernels in every process",
                stacklevel=2,
            )
            _warned = True
        made = njit(**options)(function)
    return made


def compiled_sums(function: Callable[P, R_co]) -> Compiled[P, R_co]:
    """The same, for long sums of floats whose order does not matter: they may be added several
    at a time.
    """
    return compiled(function, fastmath=frozenset({"reassoc"}))


class OnFirstUse:
    """A module of kernels that is imported when the first of them is called.

    Type checkers are told of the module itself:

        if TYPE_CHECKING:
            from discreet.release import kernels
        else:
            kernels = OnFirstUse("discreet.release.kernels")
    """

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> object:
        found: object = getattr(import_module(self._module), name)
        setattr(self, name, found)  # from now on it is found without asking
        return found
