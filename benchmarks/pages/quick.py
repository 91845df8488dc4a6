"""The section of the front door's figures."""

from typing import Any

from pages.text import NOT_MEASURED, blocks, load, prose, source, table

WORDS = {
    "readme_bytes": "bytes of README.md",
    "pages_with_code": "pages with code",
    "pages_that_run": "– whose code runs",
    "broken_links": "links and anchors that lead nowhere",
    "import_milliseconds": "`import discreet` after NumPy, ms",
    "site_seconds": "`make docs`, s",
}


def quick() -> str:
    """Return the section of `benchmarks/run.py --quick`."""
    report = load("front")
    return blocks(
        "## The front door (`benchmarks/run.py --quick`)",
        prose("""
            Pages are counted by the test that runs them, in a process of their own each
            (`tests/test_docs.py`), links by `tools/links.py`. The time of the import is the least
            of seven, by `python -X importtime`.
        """),
        table(("figure", "measured", "goal", ""), [_line(report[name]) for name in WORDS]),
        source("front"),
    )


def _line(figure: dict[str, Any]) -> tuple[str, ...]:
    value = NOT_MEASURED if figure["value"] is None else f"{figure['value']:g}"
    outcome = {True: "", False: "missed", None: "not measured"}[figure["met"]]
    note = "" if figure["met"] else figure["note"]
    return (WORDS[figure["name"]], value, figure["goal"], ": ".join(filter(None, [outcome, note])))
