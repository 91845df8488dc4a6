"""If these fail, what is said to reproduce, or not to, was not what was run."""

import json
from io import StringIO
from math import inf
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from discreet.lab import sco_tables
from discreet.lab.stories import sco_tables as showing


@pytest.fixture
def one_small_case(monkeypatch: pytest.MonkeyPatch) -> None:
    def few(p: float) -> dict[str, Any]:
        leaders = [("leader", {"pace": 0.01}), ("leader", {})]  # the first hardly moves
        printed = [("published", {"pace": 1.0})]
        return {column: printed if "published" in column else leaders for column in sco_tables.COLUMNS}

    monkeypatch.setattr(sco_tables, "CASES", [(1.5, 1000, 5)])
    monkeypatch.setattr(sco_tables, "grids", few)


@pytest.mark.usefixtures("one_small_case")
def test_the_best_of_a_grid_is_kept_and_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def computed(seeds: int, **options: Any) -> sco_tables.ScoTables:
        return sco_tables.compute_sco_tables(seeds, workers=1)

    monkeypatch.setattr(showing, "compute_sco_tables", computed)
    paper = StringIO()
    report = showing.reproduce_sco_tables(tmp_path, seeds=2, console=Console(file=paper, width=120))
    row = report["table"]["p1.5_T1000_d5"]
    assert row["leader"]["mean"] < 0.05 < row["published"]["mean"]
    assert "do not reproduce" in paper.getvalue()
    assert json.loads((tmp_path / "sco-tables.json").read_text())["table"] == report["table"]
    assert "| p1.5_T1000_d5 | 0.017 | 0.52 |" in (tmp_path / "sco-tables.md").read_text()
    assert (tmp_path / "sco-tables.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("p", [1.5, inf])
def test_every_column_has_something_to_try(p: float) -> None:
    assert list(sco_tables.grids(p)) == list(sco_tables.COLUMNS)
    assert {sco_tables.case_name(*case) for case in sco_tables.CASES} == set(sco_tables.PRINTED)


@pytest.mark.parametrize(
    "method", ["published", "published_with_slip", "phased_sgd", "sufficient_statistics"]
)
def test_rivals_reproduce_with_their_seed(method: str) -> None:
    case = (1.5, 300, 4)
    first = sco_tables.suboptimality(case, method, {"pace": 1.0}, 3)
    assert first == sco_tables.suboptimality(case, method, {"pace": 1.0}, 3)


def test_the_slip_makes_far_less_noise() -> None:
    case = (1.5, 500, 5)
    errors = [
        sum(sco_tables.suboptimality(case, method, {"pace": 1.0, "unit": True}, seed) for seed in range(10))
        / 10
        for method in ("published_with_slip", "published")
    ]
    assert errors[0] < 0.4 < errors[1]
