"""If these fail, `import discreet` is slow, or a public name is missing."""

import ast
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from itertools import chain
from pathlib import Path

import pytest

import discreet

REPOSITORY = Path(__file__).parents[1]


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


def test_what_the_package_imports_is_declared() -> None:
    """A library that another one brings along today may be gone from it tomorrow."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    distributions = {re.split(r"[\[<>=~! ]", one)[0].lower().replace("-", "_") for one in declared}
    known = packages_distributions()
    for path in (REPOSITORY / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            for name in {name.partition(".")[0] for name in names} - {"discreet"}:
                if name in sys.stdlib_module_names or name in ("typing_extensions", "_typeshed"):
                    continue  # these are read by type checkers alone
                homes = {home.lower().replace("-", "_") for home in known.get(name, [name])}
                assert homes & distributions, f"{path.name} imports {name}, which is not declared"
