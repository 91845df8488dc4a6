"""Fixtures that many tests share."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

import discreet

# The same examples in every run, and no deadline: a slow machine is not a bug.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")


@pytest.fixture(scope="session", autouse=True)
def compiled_kernels() -> None:
    """Compile all kernels once, so that no test's duration includes it."""
    discreet.warm_up()


@pytest.fixture
def generator() -> np.random.Generator:
    """A seeded generator of synthetic people."""
    return np.random.default_rng(20260101)


@pytest.fixture
def memory_path() -> Iterator[Path]:
    """A folder in memory, if there is one: tests of killed processes need no disk."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield Path(folder)
