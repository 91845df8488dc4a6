"""If these fail, people plan with numbers that do not hold."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from io import StringIO
from itertools import pairwise
from typing import Any

import pytest
from rich.console import Console

from discreet import ConfigError, Privacy
from discreet.lab import planning
from discreet.lab.planning import EFFORTS, Case, Effort, Kept, make_plan, print_plan, share_of
from discreet.lab.plans import DisplayCase

USUAL = Privacy(1.0, 1e-6)
QUIET = Console(quiet=True)


@dataclass(frozen=True)
class MadeUp(Case):
    """Shares that grow with people and epsilon, ± 0.1 in every other world."""

    seconds: float = 1e-9
    needed: float = 4000.0

    world = "numbers"

    def facts(self) -> dict[str, Any]:
        return {"epsilon": self.privacy.epsilon, "releases": 3}

    def share(self, seed: int) -> float:
        if self.rounds < 10:
            raise ConfigError("too few")
        return min(0.95, self.rounds * self.privacy.epsilon / self.needed) + 0.1 * (seed % 2) - 0.05

    @property
    def seconds_a_person(self) -> float:
        return self.seconds


def printed(plan: dict[str, Any]) -> str:
    paper = StringIO()
    print_plan(plan, Console(file=paper, width=140))
    return paper.getvalue()


def test_a_plan_finds_the_least_that_keeps_ninety_per_cent() -> None:
    plan = make_plan(MadeUp(1000, USUAL), QUIET)
    assert plan["expected_share"] == pytest.approx(0.25)
    assert plan["standard_error"] == pytest.approx(0.1 / 12**0.5)
    assert plan["epsilon_for_90_percent"] == pytest.approx(4.0)  # 2.8 keeps 71 %
    assert plan["people_for_90_percent"] == 4000
    text = printed(plan)
    assert "25.0% ± 2.9%" in text
    assert "in 4 worlds: numbers" in text
    assert "about 4,000" in text
    assert "epsilon = 1 at delta = 1e-06" in text


def test_a_plan_that_keeps_enough_says_how_little_would_do() -> None:
    plan = make_plan(MadeUp(64_000, USUAL), QUIET)
    assert plan["expected_share"] == pytest.approx(0.95)
    assert plan["epsilon_for_90_percent"] == pytest.approx(1 / 16)
    assert plan["people_for_90_percent"] == 4000


def test_what_is_beyond_all_that_was_tried_is_said_so() -> None:
    plan = make_plan(MadeUp(1000, USUAL, needed=1e9), QUIET)
    assert plan["epsilon_for_90_percent"] is None
    assert plan["people_for_90_percent"] is None
    assert "more than 181" in printed(plan)  # 15 half octaves
    plan = make_plan(MadeUp(10**6, Privacy(1e6, 1e-6), needed=1e15), QUIET)  # no guarantee has more
    assert plan["epsilon_for_90_percent"] is None
    assert len(plan["share_by_people"]) == 1  # and more people are not simulated
    easy = make_plan(MadeUp(10**6, USUAL, needed=1.0), QUIET)
    assert "at most 0.00552" in printed(easy)
    assert "at most 5,500" in printed(easy)


def test_an_epsilon_beyond_what_a_guarantee_can_have_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "EFFORTS", (Effort(4, 1, 7),))
    monkeypatch.setattr(MadeUp, "share", lambda case, seed: 0.5)
    tried = make_plan(MadeUp(1000, Privacy(1e6, 1e-6)), QUIET)["share_by_epsilon"]
    assert [(row["epsilon"], row["share"]) for row in tried] == [(1e6, 0.5)] * 2  # of four worlds, and of one


def test_more_than_a_million_are_not_simulated_and_it_says_so() -> None:
    plan = make_plan(MadeUp(10**9, USUAL), QUIET)
    assert (plan["people"], plan["people_simulated"]) == (10**9, 10**6)
    assert "with 1,000,000 people only" in printed(plan)


def test_a_case_that_takes_long_is_simulated_less_whatever_the_machine() -> None:
    efforts = [planning._affordable(MadeUp(100_000, USUAL, seconds)) for seconds in (1e-9, 2e-5, 6e-5, 1e-3)]
    assert efforts[0] == (EFFORTS[0], 100_000)
    assert efforts[1][0].worlds == 4
    assert efforts[2] == (Effort(4, 1, 3), 66_666)
    assert efforts[3] == (Effort(4, 1, 3), 4000)
    assert all(effort.runs >= later.runs for effort, later in pairwise(EFFORTS))


def test_more_people_are_tried_only_as_far_as_there_is_time(monkeypatch: pytest.MonkeyPatch) -> None:
    quick, slow = (MadeUp(1000, USUAL, seconds, needed=1e9) for seconds in (1e-9, 4e-4))
    monkeypatch.setattr(planning, "ALONE", float("inf"))
    tried = [make_plan(case, QUIET)["share_by_people"][-1]["people"] for case in (quick, slow)]
    assert tried == [181_019, 2828]  # 15 half octaves, and 3


def test_with_more_workers_the_answers_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    case = DisplayCase(300, USUAL, items=5, slots=2)
    monkeypatch.setattr(planning, "EFFORTS", (Effort(2, 1, 1),))
    alone = make_plan(case, QUIET)
    monkeypatch.setattr(planning, "ALONE", 0.0)
    monkeypatch.setattr(
        planning, "ProcessPoolExecutor", lambda workers, **options: ThreadPoolExecutor(workers)
    )
    assert make_plan(case, QUIET) == alone


def test_people_too_few_for_any_learner_keep_nothing() -> None:
    assert share_of(MadeUp(5, USUAL), 1) == -float("inf")
    plan = make_plan(MadeUp(40, Privacy(200.0)), QUIET)
    assert plan["people_for_90_percent"] == 20
    assert str(Kept(1.0, 5, -float("inf"), None)) == "0.0%"


def test_an_epsilon_is_said_in_plain_words() -> None:
    plan = make_plan(MadeUp(1000, Privacy(0.5, contributions=3)), QUIET)
    assert plan["in_words"] == "an attacker's odds about one person change by at most a factor e^0.5 = 1.6"
    text = printed(plan)
    assert "up to 3, all of them together" in text
    assert "delta" not in text
