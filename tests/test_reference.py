"""If these fail, a page of the reference says something else than the code."""

import json

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import make_reference
from discreet.cli import app
from discreet.runs.schema import OF_COMMANDS, schema_for


@pytest.mark.parametrize("page", make_reference.PAGES)
def test_the_pages_are_those_that_the_code_makes(page: str) -> None:
    made = make_reference.PAGES[page]()
    is_same = (make_reference.REFERENCE / page).read_text(encoding="utf-8") == made
    assert is_same, "run tools/make_reference.py"


def test_every_command_says_what_it_does_what_it_writes_and_how() -> None:
    groups = {"plan"}
    for name, command in get_command(app).commands.items():  # type: ignore[attr-defined]
        assert "write" in command.help, name
        assert name in groups or command.epilog.strip().startswith(f"Example: discreet {name}")
        assert all(option.help for option in command.params), name


def test_the_schema_is_printed_as_json() -> None:
    for arguments in ([], *([name] for name in OF_COMMANDS), ["Hedge"]):
        result = CliRunner().invoke(app, ["schema", *arguments])
        assert result.exit_code == 0, result.output
        assert json.loads(result.output) == json.loads(json.dumps(schema_for(*arguments)))


def test_a_misspelt_schema_is_one_line() -> None:
    result = CliRunner().invoke(app, ["schema", "SetMaximiser"])
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert result.stderr.endswith("did you mean SetMaximizer?\n")
