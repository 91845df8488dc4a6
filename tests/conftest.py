"""People and worlds that many tests share."""

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
