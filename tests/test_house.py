"""Rules of the house that a linter does not know."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import discreet

SOURCE = Path(discreet.__file__).parent
REPOSITORY = SOURCE.parent.parent


def test_importing_discreet_loads_numpy_at_most() -> None:
    program = (
        "import sys, discreet; from discreet import Privacy, Guarantee; Privacy(1.0); "
        "print([name for name in ('scipy', 'numba', 'dp_accounting', 'typer', 'randomgen', 'matplotlib') if name in sys.modules])"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        ).stdout.strip()
        == "[]"
    )


def test_doors_are_made_in_release_and_in_audits_only() -> None:
    makers = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Door":
                makers.add(path.relative_to(SOURCE).as_posix())
    assert makers == {"release/turning.py", "lab/audit.py"}


def test_every_public_name_exists() -> None:
    for name in discreet.__all__:
        assert getattr(discreet, name).__doc__
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        discreet.Nothing


def test_every_proof_that_a_docstring_names_exists() -> None:
    for path in SOURCE.rglob("*.py"):
        for page in re.findall(r"docs/guarantees/\w+\.md", path.read_text()):
            assert (REPOSITORY / page).exists(), f"{path.name} names {page}"


def test_every_theorem_that_a_docstring_names_is_on_its_page() -> None:
    for path in SOURCE.rglob("*.py"):
        for page, rest in re.findall(r"(docs/guarantees/\w+\.md)((?:,| \()[^\n]*)", path.read_text()):
            for kind, number in re.findall(r"(Theorem|Lemma)s? (\d)", rest):
                assert re.search(rf"\*\*{kind} {number}\b", (REPOSITORY / page).read_text()), (
                    f"{path.name}: {page} has no {kind} {number}"
                )


def test_the_examples_in_the_readme_run() -> None:
    import doctest

    failures, tried = doctest.testfile(
        str(REPOSITORY / "README.md"), module_relative=False, optionflags=doctest.ELLIPSIS
    )
    assert tried > 3
    assert not failures
