"""Random bits: AES in counter mode, keyed by the operating system.

Each thread of each process has a generator of its own, and a forked child discards its parent's:
two processes that shared one would repeat each other's noise, and differences of their outputs
would carry none. A generator is never saved, pickled or copied.

`seeded_bits` is for simulation: the bits of release `index` are a function of (seed, index), so
that a reloaded run continues as if it had not stopped. The seed reveals the noise.

Guarantee   docs/guarantees/noise.md, Random bits
References  randomgen's AESCounter; NIST SP 800-38A (counter mode)
"""

import os
import threading
from hashlib import blake2b
from typing import TYPE_CHECKING, NoReturn

from discreet.errors import StateError

if TYPE_CHECKING:
    import numpy as np


class RandomBits:
    """A stream of random 64-bit integers that compiled kernels can read.

    Kernels receive `address`, the C function that returns the next integer, and `state`, its
    argument.
    """

    __slots__ = ("_generator", "address", "state")

    def __init__(self, key: bytes) -> None:
        import ctypes

        import numpy as np
        from randomgen import AESCounter

        self._generator = AESCounter(key=int.from_bytes(key, "little"))
        interface = self._generator.ctypes
        self.address = np.uint64(ctypes.cast(interface.next_uint64, ctypes.c_void_p).value or 0)
        self.state = np.uint64(interface.state_address)

    def key(self) -> bytes:
        """Return the next 256 bits, for use as the key of a pseudo-random function."""
        key: bytes = self._generator.random_raw(4).astype("<u8").tobytes()
        return key

    def floats(self) -> "np.random.Generator":
        """Return a NumPy generator over these bits, for simulations in floating point."""
        import numpy as np

        return np.random.Generator(self._generator)

    def __reduce__(self) -> NoReturn:
        raise StateError("random bits cannot be copied or pickled: a copy would repeat the noise")


_own = threading.local()
FORKS = [0]
"""Number of forks between the first process and this one."""


def this_process() -> tuple[int, int]:
    """Return the process id and the number of forks that led to it, which tell forks apart.

    Neither is enough alone: an id may be used again, and a fork made in C is not counted.
    """
    return os.getpid(), FORKS[0]


def _count_fork() -> None:
    """Count a fork, in the child."""
    FORKS[0] += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count_fork)


def system_bits() -> RandomBits:
    """Return this thread's generator, keyed with 128 bits from the operating system."""
    process = this_process()
    if getattr(_own, "process", None) != process:
        _own.bits = RandomBits(os.urandom(16))
        _own.process = process
    bits: RandomBits = _own.bits
    return bits


def seeded_bits(seed: int, index: int) -> RandomBits:
    """Return the random bits of release `index` in the simulation with this seed."""
    return RandomBits(blake2b(f"discreet words {seed} {index}".encode(), digest_size=16).digest())
