"""If these fail, code outside its room makes doors, draws noise, or states a sensitivity."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import discreet

SOURCE = Path(discreet.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))


def named(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def nodes(path: Path) -> Iterator[ast.AST]:
    return ast.walk(ast.parse(path.read_text()))


def calls(node: ast.AST, name: str) -> bool:
    """Return whether a node is a call of a function of this name."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def makes_door(node: ast.AST) -> bool:
    """Return whether a node makes a door, or derives a class from `Door`."""
    if isinstance(node, ast.ClassDef):
        return any(ast.unparse(base) == "Door" for base in node.bases)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr == "_door"
    return calls(node, "Door")


def test_only_the_engine_warming_up_and_audits_make_doors() -> None:
    makers = {named(path) for path in FILES if any(map(makes_door, nodes(path)))}
    elsewhere = {path for path in makers if not path.startswith("audit/")}
    assert elsewhere == {"engine/engine.py", "learners/warm_up.py"}


def test_no_learner_states_a_sensitivity() -> None:
    """Only aggregators assign `sensitivity`, `span` and `touched`."""
    stated = re.compile(r"\b(sensitivity|span|touched)\s*=(?!=)")
    assert not [
        named(path)
        for path in (SOURCE / "learners").rglob("*.py")
        if stated.search(path.read_text())
    ]


def test_only_aggregators_make_aggregates() -> None:
    makers = {
        named(path) for path in FILES if any(calls(node, "Aggregate") for node in nodes(path))
    }
    assert all(path.startswith("release/aggregators/") for path in makers)


def test_noise_is_drawn_from_random_bits_in_release_only() -> None:
    """Public coins (engine/coins.py) and keys of files are no noise.

    Simulations and audits draw their own.
    """
    drawing = re.compile(r"AESCounter|system_bits\(|seeded_bits\(|random_raw\(")
    drawers = {named(path) for path in FILES if drawing.search(path.read_text())}
    product = {
        path
        for path in drawers
        if not path.startswith(("release/", "simulate/", "papers/", "audit/"))
    }
    assert product == {"engine/engine.py", "learners/warm_up.py", "runs/doctor.py"}
