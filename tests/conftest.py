"""People and worlds that many tests share."""

import numpy as np
import pytest

import discreet


@pytest.fixture(scope="session", autouse=True)
def compiled_kernels() -> None:
    """Compile once, so that no test's duration hides it."""
    discreet.warm_up()


@pytest.fixture
def crowd() -> np.random.Generator:
    """Where made-up people come from: always the same ones."""
    return np.random.default_rng(20260101)
