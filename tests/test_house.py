"""Rules of the house that a linter does not know."""

import ast
import doctest
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import discreet

SOURCE = Path(discreet.__file__).parent
REPOSITORY = SOURCE.parent.parent
FILES = sorted(SOURCE.rglob("*.py"))


def named(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def nodes(path: Path) -> Iterator[ast.AST]:
    return ast.walk(ast.parse(path.read_text()))


def lines_with(pattern: str, files: list[Path]) -> list[str]:
    """Where something stands: file, line, text."""
    found = []
    for path in files:
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if re.search(pattern, line):
                found.append(f"{named(path)}:{number}: {line.strip()}")
    return found


# --- what is secret stays secret


def test_doors_are_made_by_the_engine_by_warming_up_and_by_audits_only() -> None:
    makers = set()
    for path in FILES:
        for node in nodes(path):
            made = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Door"
            opened = (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr == "_door"
            )
            kin = isinstance(node, ast.ClassDef) and any(ast.unparse(base) == "Door" for base in node.bases)
            if made or opened or kin:
                makers.add(named(path))
    elsewhere = {path for path in makers if not path.startswith("checks/")}
    assert "turn/engine.py" in makers
    assert elsewhere <= {"turn/engine.py", "learners/warm_up.py", "lab/audit.py", "lab/black_box.py"}


def test_no_learner_states_what_a_person_can_move() -> None:
    """Gatherings do: `sensitivity`, `span` and `touched` are nobody else's to say."""
    learners = sorted((SOURCE / "learners").rglob("*.py"))
    assert not lines_with(r"\b(sensitivity|span|touched)\s*=(?!=)", learners)


def test_nobody_reads_another_objects_underscore() -> None:
    """`self._engine.problem` is a learner's own engine; `engine._journal` would be a look in its pockets."""
    whose = r"\b(learner|engine|rounds|problem|mode|turn|door|journal)\._[a-z]"
    owners = {
        "learner": "learners/learner.py", "engine": "turn/engine.py", "rounds": "turn/rounds.py",
        "problem": "turn/problem.py", "turn": "turn/record.py", "door": "release/door.py",
        "journal": "turn/journal.py",
    }  # fmt: skip
    found = []
    for line in lines_with(whose, FILES):
        kind = re.search(whose, line.split(": ", 1)[1])
        if kind is not None and owners.get(kind.group(1)) != line.split(":")[0]:
            found.append(line)
    assert not found


def test_only_gatherings_make_what_a_door_takes() -> None:
    makers = {
        named(path)
        for path in FILES
        for node in nodes(path)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Gathered"
    }
    assert all(path.startswith("release/gathering/") for path in makers)


def test_no_state_is_pickled() -> None:
    """A pickle runs whatever it was told to; problems are shipped by whoever ships them."""
    importers = {
        named(path)
        for path in FILES
        for node in nodes(path)
        if isinstance(node, ast.Import | ast.ImportFrom) and "pickle" in ast.unparse(node)
    }
    assert all(path.startswith("checks/") for path in importers)


# --- what a reader is owed


def test_every_class_says_what_it_is() -> None:
    silent = []
    for path in FILES:
        for node in nodes(path):
            if isinstance(node, ast.ClassDef):
                said = ast.get_docstring(node) or ""
                if not said or said.lower().startswith("see "):
                    silent.append(f"{named(path)}: {node.name}")
    assert not silent


def test_every_module_says_what_it_is_for() -> None:
    assert not [named(path) for path in FILES if not ast.get_docstring(ast.parse(path.read_text()))]


def test_every_public_name_exists() -> None:
    for name in discreet.__all__:
        assert getattr(discreet, name).__doc__
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        discreet.Nothing


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
    )
    program = (
        "import sys, discreet; from discreet import Privacy, Guarantee; Privacy(1.0); "
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


# --- proofs


def test_every_proof_that_a_docstring_names_exists() -> None:
    missing = []
    for path in FILES:
        for page in re.findall(r"docs/guarantees/\w+\.md", path.read_text()):
            if not (REPOSITORY / page).exists():
                missing.append(f"{named(path)} names {page}")
    assert not missing


def test_every_theorem_that_a_docstring_names_is_on_its_page() -> None:
    missing = []
    for path in FILES:
        text = re.sub(r"\n\s+", " ", path.read_text())
        for page, rest in re.findall(r"(docs/guarantees/\w+\.md)((?:, | \()(?:Theorem|Lemma)[^.\"]*)", text):
            if not (REPOSITORY / page).exists():
                continue  # said by the test above
            proof = (REPOSITORY / page).read_text()
            for kind, numbers in re.findall(
                r"(Theorem|Lemma)s? ((?:\d+(?:, | and | to )?)+)", rest.split("docs/")[0]
            ):
                for number in re.findall(r"\d+", numbers):
                    if not re.search(rf"\*\*{kind} {number}\b", proof):
                        missing.append(f"{named(path)}: {page} has no {kind} {number}")
    assert not missing


def test_every_guarantee_names_a_page() -> None:
    """What a learner prints as its proof is there to be read."""
    pages = set()
    for path in FILES:
        pages |= set(re.findall(r'^    proof = "(\w+\.md)"', path.read_text(), re.MULTILINE))
    assert len(pages) >= 4
    assert all((REPOSITORY / "docs" / "guarantees" / page).exists() for page in pages)


def test_the_examples_in_the_readme_run() -> None:
    readme = str(REPOSITORY / "README.md")
    failures, tried = doctest.testfile(readme, module_relative=False, optionflags=doctest.ELLIPSIS)
    assert tried > 3
    assert not failures
