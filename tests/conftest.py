"""Fixtures that many tests share, and the order of tests."""

import random
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


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--order SEED`, which runs the tests in a random order."""
    parser.addoption("--order", type=int, metavar="SEED", help="run tests in this random order")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Shuffle the tests if `--order` is given: no test may rest on what another one leaves."""
    seed = config.getoption("--order")
    if seed is not None:
        random.Random(seed).shuffle(items)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print the seed of the order, so that a failure can be repeated."""
    seed = config.getoption("--order")
    if seed is not None:
        terminalreporter.write_line(f"tests ran in a random order: --order {seed}")


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
