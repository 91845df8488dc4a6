"""If these fail, people plan with numbers that do not hold."""

from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from discreet import Privacy
from discreet.lab import planning
from discreet.lab.planning import Case, make_plan, print_plan, share_of

USUAL = Privacy(1.0, 1e-6)


def printed(plan: dict[str, Any]) -> str:
    paper = StringIO()
    print_plan(plan, Console(file=paper, width=120))
    return paper.getvalue()


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Shares that grow with visitors and epsilon, without any simulation; and what was asked for."""
    asked: list[Any] = []

    def instead(experiment: Any, tasks: Any, **options: Any) -> list[float]:
        asked.extend(tasks)
        return [
            0.01 if published else min(1.0, case.rounds * case.privacy.epsilon / 4000)
            for case, published in tasks
        ]

    monkeypatch.setattr(planning, "repeat", instead)
    return asked


def test_a_plan_says_what_is_spent_in_epsilon(simulated: list[Any]) -> None:
    plan = make_plan(20, 3, 2000, USUAL, {"feedback": "full", "stream": "iid"}, Console(quiet=True))
    assert 0.9 < plan["facts"]["epsilon"] <= 1.0
    text = printed(plan)
    assert "privacy spent in the end" in text
    assert "epsilon = 1 at delta = 1e-06" in text
    assert "rho" not in text
    assert "published constants, whole preferences" in text


def test_a_plan_finds_the_least_that_keeps_ninety_per_cent(simulated: list[Any]) -> None:
    plan = make_plan(20, 3, 2000, USUAL, {"feedback": "full", "stream": "iid"}, Console(quiet=True))
    assert plan["expected_share"] == 0.5
    assert plan["visitors_for_90_percent"] == 4000
    assert plan["epsilon_for_90_percent"] == 2.0
    assert plan["published_share"] == 0.01
    assert plan["published_is_sound"] is True
    assert [published for _, published in simulated].count(True) == 1


def test_a_pure_plan_has_no_published_constants(simulated: list[Any]) -> None:
    plan = make_plan(8, None, 3000, Privacy(1.0), {"feedback": "full", "stream": "any"}, Console(quiet=True))
    assert plan["published_share"] is None
    assert plan["published_is_sound"] is False
    assert "published" not in printed(plan)
    assert "delta" not in printed(plan)


@pytest.mark.parametrize(
    ("slots", "rounds", "feedback"), [(3, 4_000, "full"), (None, 4_000, "full"), (None, 30_000, "bandit")]
)
def test_our_share_beats_the_published_one(slots: int | None, rounds: int, feedback: str) -> None:
    settings = {"feedback": feedback, "stream": "any", "seed": 1}
    case = Case(6, slots, rounds, USUAL, settings)
    assert share_of(case, False) > share_of(case, True) + 0.1


def test_a_case_that_cannot_be_keeps_nothing() -> None:
    case = Case(20, 9, 5, USUAL, {"feedback": "clicks", "stream": "iid"})
    assert share_of(case, False) == -float("inf")
