"""If these fail, something else than the engine opens a door, draws, or says what one person can
move.
"""

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


def test_doors_are_made_by_the_engine_by_warming_up_and_by_audits_only() -> None:
    makers = set()
    for path in FILES:
        for node in nodes(path):
            made = (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id == "Door"
            )
            opened = (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr == "_door"
            )
            kin = isinstance(node, ast.ClassDef) and any(
                ast.unparse(base) == "Door" for base in node.bases
            )
            if made or opened or kin:
                makers.add(named(path))
    elsewhere = {path for path in makers if not path.startswith("audit/")}
    assert elsewhere == {"engine/engine.py", "learners/warm_up.py"}


def test_no_learner_states_what_a_person_can_move() -> None:
    """Aggregators do: `sensitivity`, `span` and `touched` are nobody else's to say."""
    stated = re.compile(r"\b(sensitivity|span|touched)\s*=(?!=)")
    assert not [
        named(path)
        for path in (SOURCE / "learners").rglob("*.py")
        if stated.search(path.read_text())
    ]


def test_only_gatherings_make_what_a_door_takes() -> None:
    makers = {
        named(path)
        for path in FILES
        for node in nodes(path)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "Aggregate"
    }
    assert all(path.startswith("release/aggregators/") for path in makers)


def test_noise_is_drawn_from_keyed_words_in_release_only() -> None:
    """Public coins (engine/coins.py) and keys of files are no noise; simulations and audits draw
    their own.
    """
    drawing = re.compile(r"AESCounter|system_bits\(|seeded_bits\(|random_raw\(")
    drawers = {named(path) for path in FILES if drawing.search(path.read_text())}
    product = {
        path
        for path in drawers
        if not path.startswith(("release/", "simulate/", "papers/", "audit/"))
    }
    assert product == {"engine/engine.py", "learners/warm_up.py", "runs/doctor.py"}


def test_the_citation_names_this_version() -> None:
    citation = (Path(__file__).parent.parent / "CITATION.cff").read_text()
    assert f"\nversion: {discreet.__version__}\n" in citation
