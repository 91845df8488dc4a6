"""If these fail, a reader can no longer tell from a mode's file what it measures and publishes.

Code outside its room makes doors, draws noise or states a sensitivity, or a learner makes what
should follow from its declarations.
"""

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import discreet
from discreet import extend
from discreet.engine.mode import Mode
from discreet.engine.phase import Phase
from discreet.engine.problem import Problem
from discreet.engine.view import View

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


# --- the vocabulary of modes, and what follows from it --------------------------------------------

MOST_NAMES = 20
"""Largest number of public names of `Mode` and `Phase` together: an author's whole vocabulary."""
THE_ENGINES = ("plan", "start", "view", "step", "aggregators", "release", "layout")
"""What follows from declarations; the engine computes it."""
OF_STATISTICS = ("charge", "spent", "cohort", "sensitivity")
"""What statistics and aggregators state; no mode does."""
MOST_KEPT = 7
KEPT_BY_LEARNERS = {
    "ExactTotal.start",  # a statistic of its own: the exact sum is hidden state
    "ExactTotal.release",
    "ShownMasks.start",  # counts of masks, a declaration of a phase
    "Unread.start",
    "ReleasedPath.start",  # released totals that a public state keeps
}
"""Methods of that name that learners have, none of them in a mode or a phase."""
MOST_LINES = 80
"""Largest number of lines of a learner of one's own."""
POLL = SOURCE.parent.parent / "examples" / "poll.py"


def public_names(base: type) -> set[str]:
    """Return the public names that a base class defines or annotates."""
    names = {*vars(base), *vars(base).get("__annotations__", {})}
    return {name for name in names if not name.startswith("_")}


def names_in(body: list[ast.stmt]) -> set[str]:
    """Return the names that the body of a class defines, annotated ones without a value apart."""
    names = set()
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and node.value and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return names


def classes_below(folder: str) -> Iterator[type]:
    """Return all classes that the modules below a folder of the library define."""
    for path in sorted((SOURCE / folder).rglob("*.py")):
        module = import_module(".".join(("discreet", *Path(named(path)).with_suffix("").parts)))
        for kind in vars(module).values():
            if isinstance(kind, type) and kind.__module__ == module.__name__:
                yield kind


def test_an_author_learns_twenty_names_at_most() -> None:
    assert len(public_names(Mode)) + len(public_names(Phase)) <= MOST_NAMES


def test_the_guide_has_a_sentence_for_each_of_these_names() -> None:
    guide = (SOURCE.parent.parent / "docs" / "develop" / "learner.md").read_text()
    for base in (Mode, Phase):
        table = guide[guide.index(f"| of `{base.__name__}` |") :].split("\n\n")[0]
        rows = re.findall(r"^\| `(\w+)(?:\(.*?\))?` \|", table, re.MULTILINE)
        assert sorted(rows) == sorted(public_names(base)), base


def test_no_learner_makes_what_follows_from_its_declarations() -> None:
    kept = {
        f"{node.name}.{name}"
        for path in (SOURCE / "learners").rglob("*.py")
        for node in nodes(path)
        if isinstance(node, ast.ClassDef)
        for name in names_in(node.body).intersection(THE_ENGINES)
    }
    assert kept == KEPT_BY_LEARNERS
    assert len(kept) <= MOST_KEPT


def test_no_mode_or_phase_makes_what_follows_from_its_declarations() -> None:
    kinds = [kind for kind in classes_below("learners") if issubclass(kind, Mode | Phase)]
    assert len(kinds) > 30
    theirs = (*THE_ENGINES, *OF_STATISTICS)
    assert not [kind for kind in kinds if any(hasattr(kind, name) for name in theirs)]


def test_a_problem_and_a_view_are_the_engines_alone() -> None:
    """Both are final; no class derives from them at run time either."""
    assert not Problem.__subclasses__()
    assert not View.__subclasses__()


def test_a_learner_of_ones_own_fits_on_one_screen_and_needs_one_import() -> None:
    text = POLL.read_text()
    assert len(text.splitlines()) <= MOST_LINES
    imported = {
        f"{node.module}.{alias.name}" if isinstance(node, ast.ImportFrom) else alias.name
        for node in nodes(POLL)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    ours = {name for name in imported if name.partition(".")[0] == "discreet"}
    assert ours == {"discreet.Privacy", "discreet.extend"}
    used = set(re.findall(r"\bextend\.(\w+)", text))
    assert len(used) > 10
    assert used <= set(extend.__all__)


def test_what_an_author_imports_is_all_there() -> None:
    statistics = {"OneRelease", "RunningTotal", "DisjointPaths", "Interactive", "Report"}
    assert statistics | {"Mode", "Phase", "Scheduled", "Adaptive"} <= set(extend.__all__)
    assert all(hasattr(extend, name) for name in extend.__all__)
