"""If these fail, `import discreet` is slow, or a public name is missing."""

import subprocess
import sys

import pytest

import discreet


def test_every_public_name_exists() -> None:
    for name in discreet.__all__:
        assert getattr(discreet, name).__doc__
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        discreet.Nothing
    with pytest.raises(AttributeError, match=r"is now discreet\.functions and "):
        discreet.arrivals


def test_importing_discreet_loads_numpy_at_most() -> None:
    heavy = (
        "scipy",
        "numba",
        "dp_accounting",
        "typer",
        "randomgen",
        "matplotlib",
        "fastapi",
        "sklearn",
        "polars",
        "logging",
    )
    program = (
        "import sys, discreet; from discreet import Privacy, Guarantee; Privacy(1.0); "
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "[]"
