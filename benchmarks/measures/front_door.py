"""The figures of the front door: the README, pages whose code runs, links, import, and the site.

Pages are counted by the test that runs them, so that a page counts here exactly if the test accepts
it; links by `tools/links.py`. A figure without a value says why.
"""

import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, NamedTuple
from xml.etree import ElementTree

REPOSITORY = Path(__file__).resolve().parents[2]
README_BYTES = 6000
SITE_SECONDS = 60
IMPORT_MILLISECONDS = 2.0
"""Three times what an idle machine takes: other processes interfere, a heavy import costs more."""
REPEATS = 7
TESTS = "tests/test_docs.py"
RUNS = "test_the_examples_of_a_page_run"
"""The test that runs the code of a page, once per page."""
GENERATOR = REPOSITORY / ".venv" / "docs" / "ready"
"""Marks the environment of the site's generator, which `make docs` sets up."""


class Figure(NamedTuple):
    """One figure: its value, and what it must be; `met` is None if it was not measured."""

    name: str
    value: Any
    goal: str
    met: bool | None
    note: str = ""


def figures() -> list[Figure]:
    """Measure all figures."""
    return [readme(), *pages(), links(), importing(), site()]


def readme() -> Figure:
    """Return the size of the README."""
    size = len((REPOSITORY / "README.md").read_bytes())
    return Figure("readme_bytes", size, f"at most {README_BYTES}", size <= README_BYTES)


def pages() -> list[Figure]:
    """Return the number of pages with code, and of those whose code runs."""
    passed = _passed()
    failed = ", ".join(sorted(page for page, runs in passed.items() if not runs))
    return [
        Figure("pages_with_code", len(passed), "at least 1", bool(passed)),
        Figure("pages_that_run", sum(passed.values()), "all", all(passed.values()), failed),
    ]


def links() -> Figure:
    """Return the number of links of Markdown pages that lead nowhere."""
    command = [sys.executable, "tools/links.py"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    if not (counted := re.search(r"^(\d+) broken links$", done.stdout, re.MULTILINE)):
        raise SystemExit(f"tools/links.py failed: {done.stderr.strip()}")
    return Figure("broken_links", int(counted[1]), "0", counted[1] == "0")


def _passed() -> dict[str, bool]:
    """Return whether the code of each page runs."""
    with TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", TESTS, "-k", RUNS, "-n", "2"]
        subprocess.run(
            [*command, f"--junitxml={report}"], cwd=REPOSITORY, capture_output=True, check=False
        )
        if not report.exists():
            raise SystemExit(f"pytest could not run {TESTS}: `{' '.join(command)}` shows why")
        cases = list(ElementTree.parse(report).getroot().iter("testcase"))
    return {
        case.attrib["name"].removeprefix(f"{RUNS}[").removesuffix("]"): len(case) == 0
        for case in cases
    }


def importing() -> Figure:
    """Return milliseconds of `import discreet` after `import numpy`, the least of several runs."""
    command = [sys.executable, "-X", "importtime", "-c", "import numpy; import discreet"]
    runs = [
        subprocess.run(command, capture_output=True, text=True, check=True).stderr
        for _ in range(REPEATS)
    ]
    least = round(min(map(_milliseconds, runs)), 2)
    goal = f"at most {IMPORT_MILLISECONDS:g}"
    return Figure("import_milliseconds", least, goal, least <= IMPORT_MILLISECONDS)


def _milliseconds(log: str) -> float:
    """Return the cumulative time of the line "import time: self | cumulative | discreet"."""
    found = re.search(r"\| +(\d+) \| discreet$", log, re.MULTILINE)
    assert found is not None
    return int(found[1]) / 1000


def site() -> Figure:
    """Return the seconds of `make docs`, or why it was not built."""
    goal = f"under {SITE_SECONDS}"
    if not GENERATOR.exists():
        reason = "Zensical is not installed: run `make docs` once"
        return Figure("site_seconds", None, goal, None, reason)
    began = perf_counter()
    done = subprocess.run(
        ["make", "docs"], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    seconds = perf_counter() - began
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        return Figure("site_seconds", None, goal, False, f"`make docs` failed: {reason}")
    return Figure("site_seconds", round(seconds, 1), goal, seconds < SITE_SECONDS)
