"""Compilation of kernels: cached on disk, without the global lock, imported on first use.

Kernels that call each other are in ONE file, because Numba's cache does not notice a change of a
callee in another file. Functions of other files enter a kernel by `called_by_kernels`, which makes
their code a part of the cache's key. Importing a file of kernels imports Numba; `OnFirstUse` delays
that until a kernel is called.
"""

import warnings
from collections.abc import Callable
from importlib import import_module
from types import FunctionType
from typing import ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)

_warned = False


class Statistics(Protocol):
    """Numba's statistics of a compiled function."""

    @property
    def cache_path(self) -> str | None:
        """The folder of the compiled code, if one is writable."""


class Compiled(Protocol[P, R_co]):
    """A function that Numba compiles; it has the signature of the Python function."""

    @property
    def stats(self) -> Statistics:
        """Numba's statistics of this function."""

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> R_co: ...


def compiled(
    function: Callable[P, R_co], *, fastmath: frozenset[str] = frozenset()
) -> Compiled[P, R_co]:
    """Compile a function, with a cache on disk if a directory is writable."""
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
    """Compile a function whose long sums of floats may be added in another order, vectorised."""
    return compiled(function, fastmath=frozenset({"reassoc"}))


def called_by_kernels(law: Callable[P, R_co]) -> Callable[P, R_co]:
    """Return a copy of a plain function that a compiled closure can call.

    The function calls NumPy and nothing else. Numba finds a closure in its cache by the variables
    that it captures: a function of a module by its name alone, a copy by its code. So every later
    process finds the kernel, and it is compiled again after the function has changed.
    """
    from numba.extending import register_jitable

    assert isinstance(law, FunctionType)
    parts = (law.__code__, law.__globals__, law.__name__, law.__defaults__, law.__closure__)
    made: Callable[P, R_co] = register_jitable(FunctionType(*parts))
    return made


class OnFirstUse:
    """A stand-in for a module of kernels, which is imported when the first kernel is called.

    Type checkers see the module itself:

        if TYPE_CHECKING:
            from discreet.release import kernels
        else:
            kernels = OnFirstUse("discreet.release.kernels")
    """

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> object:
        kernel: object = getattr(import_module(self._module), name)
        setattr(self, name, kernel)  # the next access does not call this method
        return kernel
