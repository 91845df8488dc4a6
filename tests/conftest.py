"""People and worlds that many tests share."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

import discreet

# The same examples every time, and no stop-watch: a slow machine is not a bug.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")


@pytest.fixture(scope="session", autouse=True)
def compiled_kernels() -> None:
    """Compile once, so that no test's duration hides it."""
    discreet.warm_up()


@pytest.fixture
def crowd() -> np.random.Generator:
    """Where made-up people come from: always the same ones."""
    return np.random.default_rng(20260101)


@pytest.fixture
def memory_path() -> Iterator[Path]:
    """A folder in memory, where there is one: a killed process, unlike a power cut, needs no
    disk.
    """
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield Path(folder)
