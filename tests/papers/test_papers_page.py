"""If these fail, docs/papers states other numbers than were computed and measured."""

import json
from pathlib import Path
from typing import Any

import pytest

from discreet.papers.errata import ERRATA
from discreet.papers.printed.catalogue import CATALOGUE
from discreet.papers.reproduce.claims import CLAIMS
from discreet.papers.reproduce.shares import PROBLEMS
from pages.text import fixed

HOUSE = Path(__file__).parents[2]
MEASURED: dict[str, Any] = json.loads((HOUSE / "benchmarks/results/published.json").read_text())
PAGES = HOUSE / "docs" / "papers"
PAGE = (PAGES / "algorithms.md").read_text() + (PAGES / "errata.md").read_text()
INDEX = (PAGES / "index.md").read_text()
ROWS = {
    cells[0]: cells[1:]
    for line in PAGE.splitlines()
    if line.startswith("| ")
    for cells in [[cell.strip() for cell in line.replace("\\|", "¦").strip("|").split("|")]]
}


def shown(share: float | None) -> str:
    return "–" if share is None else fixed(share, 2)


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_algorithm_has_its_verdict_and_its_shares(name: str) -> None:
    algorithm = CATALOGUE[name]
    where, private, epsilon, _, *shares = ROWS[name]
    assert where == f"{algorithm.paper}, {algorithm.printed_as}"
    assert private == ("yes" if algorithm.verdict.private else "no")
    measured = MEASURED["epsilon"][name]
    assert epsilon == ("∞" if measured == "infinite" else f"{measured:.3g}")
    assert measured == "infinite" or measured == pytest.approx(algorithm.verdict.epsilon)
    (row,) = [
        MEASURED["shares"][problem] for problem, about in PROBLEMS.items() if about.printed == name
    ] or [{}]
    people = f"{row['people']:,}" if row else "–"
    assert shares == [people, *(shown(row.get(who)) for who in ("printed", "sound", "discreet"))]


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_algorithm_is_found_and_repeated_as_the_index_says(name: str) -> None:
    algorithm = CATALOGUE[name]
    (row,) = [line for line in INDEX.splitlines() if line.startswith(f"| {name} |")]
    _, where, file, experiments, _ = [cell.strip() for cell in row.strip("|").split("|")]
    places = dict.fromkeys([algorithm.printed_as, algorithm.theorem])
    assert where == f"{algorithm.paper}, {'; '.join(places)}"
    assert file == f"`{algorithm.module.__name__.rpartition('.')[2]}.py`"
    assert ("`value`" in experiments) == any(about.printed == name for about in PROBLEMS.values())
    assert ("`rates`" in experiments) == (name in CLAIMS)
    assert "`errata`" in experiments


def test_every_erratum_is_listed_as_computed() -> None:
    assert set(MEASURED["errata_shown"]) == set(ERRATA)
    for name, show in ERRATA.items():
        erratum = show()
        row = [erratum.paper, erratum.claim.replace("|", "¦"), erratum.needs.replace("|", "¦")]
        assert ROWS[name.replace("-", " ")] == row
