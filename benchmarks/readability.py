"""Counts that show how the source reads: types, dense functions, docstrings, long lines.

    python benchmarks/readability.py --against ../before

None of these is a limit to obey; each shows a direction. Counted by `ast`, in src/discreet:

* `any_annotations`: the name `Any` in the code, imports aside
* `untyped_reads`: subscripts and `.get` of a name `public`, in learners/
* `isinstance_assertions`: assertions about a type, which a type could have carried
* `densest_functions`: different names in one function, itself and its inner functions
* `docstring_share`: lines of docstrings over all lines that are not blank
* `over_100_columns`: lines longer than that
* `frame_definitions`: methods of learners that the engine derives from statistics today
* `poll_lines`: lines of examples/poll.py, a learner of one's own

Counted by a profiler, with `SetMaximizer` and clicks: `entered` has the files and the functions of
the package that run in one call of `act`, of `observe`, of a release and of the constructor.
"""

import argparse
import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from report import write

HERE = Path(__file__).resolve().parent.parent
DENSEST = 5
"""Functions that are listed."""
FRAME = ("plan", "start", "view", "step", "aggregators", "release", "layout")
"""Methods by which modes once stated what follows from what they measure."""
ENTERED = """
import json, os, sys
import discreet
from discreet import Privacy, SetMaximizer

root = os.path.dirname(discreet.__file__)

def entered(call):
    seen = set()
    def note(frame, event, argument):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(root):
            seen.add((code.co_filename, code.co_firstlineno))
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return {"files": len({file for file, _ in seen}), "functions": len(seen)}

def made():
    return SetMaximizer(100, 5, 100_000, Privacy(1.0, 1e-6), feedback="clicks", stream="iid")

def finish_block(shop):
    shop.open_many(shop.rounds_until_release)

shop = made()
shop.observe(int(shop.act()[0]))
found = {"act": entered(shop.act)}
click = int(shop.act()[0])
found["observe"] = entered(lambda: shop.observe(click))
finish_block(shop)
shop.release_if_due()
finish_block(shop)
found["release"] = entered(shop.release_if_due)
found["constructor"] = entered(made)
print(json.dumps(found))
"""
WIDE = 100

Documented = ast.Module | ast.ClassDef | ast.FunctionDef


def modules_of(checkout: Path) -> Iterator[tuple[str, str, ast.Module]]:
    """Yield the name, text and tree of every module of the package."""
    root = checkout / "src" / "discreet"
    for path in sorted(root.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        yield str(path.relative_to(root)), text, ast.parse(text)


def untyped_reads(tree: ast.Module) -> int:
    """Count reads of a public state by a key."""
    found = 0
    for node in ast.walk(tree):
        is_read = isinstance(node, ast.Subscript) and _is_public(node.value)
        is_get = isinstance(node, ast.Attribute) and node.attr == "get" and _is_public(node.value)
        found += is_read or is_get
    return found


def _is_public(node: ast.expr) -> bool:
    name = (
        node.id
        if isinstance(node, ast.Name)
        else node.attr
        if isinstance(node, ast.Attribute)
        else ""
    )
    return name == "public"


def names_in(function: ast.FunctionDef) -> int:
    """Count the different names in a function: variables, attributes, parameters."""
    names: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.Attribute):
            names.add(node.attr)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
    return len(names)


def docstring_lines(tree: ast.Module) -> int:
    """Count the lines of docstrings, those of attributes included."""
    return sum(_length(node) for node in ast.walk(tree) if _is_text(node))


def _is_text(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _length(node: Any) -> int:
    return int(node.end_lineno - node.lineno + 1)


def entered_by(checkout: Path) -> Any:
    """Return the numbers of files and functions that run in calls, in a process of its own."""
    environment = os.environ | {"PYTHONPATH": str(checkout / "src")}
    command = [sys.executable, "-c", ENTERED]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def frame_definitions(tree: ast.Module) -> int:
    """Count the methods and functions whose name says that they are part of the frame."""
    return sum(isinstance(node, ast.FunctionDef) and node.name in FRAME for node in ast.walk(tree))


def measured(checkout: Path) -> dict[str, Any]:
    """Return all numbers of a checkout."""
    anys = reads = assertions = texts = lines = wide = frames = 0
    dense: list[tuple[int, str]] = []
    for name, text, tree in modules_of(checkout):
        nodes = list(ast.walk(tree))
        anys += sum(isinstance(node, ast.Name) and node.id == "Any" for node in nodes)
        if name.startswith("learners/"):
            reads += untyped_reads(tree)
            frames += frame_definitions(tree)
        assertions += sum(isinstance(node, ast.Assert) and _tests_type(node) for node in nodes)
        functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
        dense += [(names_in(function), f"{name}:{function.name}") for function in functions]
        texts += docstring_lines(tree)
        lines += sum(bool(line.strip()) for line in text.splitlines())
        wide += sum(len(line) > WIDE for line in text.splitlines())
    dense.sort(reverse=True)
    return {
        "any_annotations": anys,
        "untyped_reads": reads,
        "isinstance_assertions": assertions,
        "densest_functions": {name: count for count, name in dense[:DENSEST]},
        "docstring_share": round(texts / lines, 3),
        "over_100_columns": wide,
        "lines": lines,
        "frame_definitions": frames,
        "poll_lines": len((checkout / "examples" / "poll.py").read_text().splitlines()),
        "entered": entered_by(checkout),
    }


def _tests_type(node: ast.Assert) -> bool:
    return any(
        isinstance(part, ast.Name) and part.id == "isinstance" for part in ast.walk(node.test)
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--against", type=Path, default=None, help="another checkout to count in")
    arguments = parser.parse_args()
    before = None if arguments.against is None else measured(arguments.against.resolve())
    write({"now": measured(HERE), "before": before})


if __name__ == "__main__":
    main()
