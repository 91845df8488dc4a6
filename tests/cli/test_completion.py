"""If these fail, a shell completes nothing, or takes seconds for it."""

import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import discreet
from discreet.cli import app

PROGRAM = """
import sys
from discreet.cli import main
try:
    main()
finally:
    heavy = ("numpy", "polars", "scipy")
    print([name for name in heavy if name in sys.modules], file=sys.stderr)
"""


def asked(*words: str) -> dict[str, str]:
    """Return the environment in which bash asks for completions of the last word."""
    place = str(len(words))
    line = " ".join(["discreet", *words])
    return {"_DISCREET_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": place}


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        (["do"], ["doctor"]),
        (["schema", "Set"], ["SetMaximizer", "SetMinimizer"]),
        (["schema", "e"], ["evaluate"]),
        (["audit", "Hedge", "Run"], ["RunningSum"]),
        (["plan", "co"], ["costs", "contextual", "continuous"]),
        (["reproduce", "err"], ["errata"]),
        (["demo", "--story", "reg"], ["regression"]),
        (["evaluate", "--prop"], ["--propensity"]),
    ],
)
def test_commands_names_and_options_are_completed(words: list[str], completed: list[str]) -> None:
    result = CliRunner().invoke(app, [], env=asked(*words), prog_name="discreet")
    assert result.output.split() == completed


def test_completion_loads_no_numbers() -> None:
    env = os.environ | asked("schema", "Hed")
    command = [sys.executable, "-c", PROGRAM]
    ran = subprocess.run(command, env=env, capture_output=True, text=True)
    assert (ran.stdout.strip(), ran.stderr.strip()) == ("Hedge", "[]")


def test_the_package_is_the_command_line() -> None:
    command = [sys.executable, "-m", "discreet", "--version"]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ran.stdout == f"discreet {discreet.__version__}\n"
