"""If these fail, plans state numbers that do not hold."""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from discreet import ConfigError, Privacy
from discreet.simulate.planning import search
from discreet.simulate.planning.cases import DisplayCase
from discreet.simulate.planning.plan import Plan, Share, print_plan
from discreet.simulate.planning.search import EFFORTS, Case, Effort, make_plan, share_of

USUAL = Privacy(1.0, 1e-6)


@dataclass(frozen=True)
class KnownCase(Case):
    """Case with known shares, which grow with people and epsilon, ± 0.05 by world."""

    seconds_per_person: float = 1e-9
    needed: float = 4000.0

    value = "all there is"
    world = "numbers"

    def facts(self) -> dict[str, Any]:
        return {"epsilon": self.privacy.epsilon, "releases": 3}

    def people(self, seed: int) -> float:
        return 0.1 * (seed % 2) - 0.05

    def learner(self, people: Any = None, seed: int | None = None, *, mode: str = "auto") -> None:
        if self.rounds < 10:
            raise ConfigError("too few")

    def outcome(self, learner: None, people: float, seed: int = 0) -> float:
        return min(0.95, self.rounds * self.privacy.epsilon / self.needed)

    def share_of(self, outcome: float, people: float) -> float:
        return outcome + people

    @property
    def seconds(self) -> float:
        return self.rounds * self.seconds_per_person


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No processes, for any stated duration of a case."""
    monkeypatch.setattr(search, "ALONE", float("inf"))


def printed(plan: Plan) -> str:
    paper = StringIO()
    print_plan(plan, Console(file=paper, width=140))
    return paper.getvalue()


def test_a_plan_finds_the_least_epsilon_and_people_for_ninety_per_cent() -> None:
    plan = make_plan(KnownCase(1000, USUAL))
    assert plan.expected_share == pytest.approx(0.25)
    assert plan.standard_error == pytest.approx(0.1 / 12**0.5)
    assert plan.epsilon_for_90_percent == pytest.approx(4.0)  # 2.8 gives 71 %
    assert plan.people_for_90_percent == 4000
    text = printed(plan)
    assert "25.0 % ± 2.9 %" in text
    assert "1,000 visitors in 4 worlds: numbers" in text
    assert "all there is" in text
    assert "about 4,000" in text
    assert "minutes" not in text
    assert "epsilon = 1 at delta = 1e-06" in text


def test_a_plan_above_ninety_per_cent_states_how_little_would_suffice() -> None:
    plan = make_plan(KnownCase(64_000, USUAL))
    assert plan.expected_share == pytest.approx(0.95)
    assert plan.epsilon_for_90_percent == pytest.approx(1 / 16)
    assert plan.people_for_90_percent == 4000


def test_a_goal_beyond_all_trials_is_reported_as_such() -> None:
    plan = make_plan(KnownCase(1000, USUAL, needed=1e9))
    assert plan.epsilon_for_90_percent is None
    assert plan.people_for_90_percent is None
    text = printed(plan)
    assert "none: 181 gives 0.0 %" in text  # 15 half octaves
    assert "more than 180,000, which give 0.0 %; to try more: too many to simulate" in text
    plan = make_plan(KnownCase(10**6, Privacy(1e6, 1e-6), needed=1e15))  # the largest epsilon
    assert plan.epsilon_for_90_percent is None
    easy = make_plan(KnownCase(10**6, USUAL, needed=1.0))
    assert "at most 0.00552" in printed(easy)
    assert "at most 5,500" in printed(easy)


def test_an_epsilon_beyond_what_a_guarantee_can_have_is_not_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(search, "EFFORTS", (Effort(4, 1),))
    monkeypatch.setattr(KnownCase, "share", lambda case, seed: 0.5)
    trials = make_plan(KnownCase(1000, Privacy(1e6, 1e-6))).share_by_epsilon
    of_four_worlds_and_of_one = [(1e6, 0.5)] * 2
    assert [(row.epsilon, row.share) for row in trials] == of_four_worlds_and_of_one


def test_all_people_are_simulated_or_the_plan_states_how_long_that_takes() -> None:
    case = KnownCase(10**6, USUAL, 1e-4, needed=1e5)
    plan = make_plan(case)
    assert plan.people == 10**6
    assert plan.people_simulated == 100_000  # 6 runs in half of two minutes
    assert plan.minutes_for_all_people == 10
    assert "all 1,000,000: takes --minutes 10" in printed(plan)
    longer = make_plan(case, minutes=10)
    assert longer.people_simulated == 10**6
    assert longer.minutes_for_all_people is None
    assert "takes --minutes" not in printed(longer)


def test_more_people_than_fit_into_memory_are_never_simulated() -> None:
    plan = make_plan(KnownCase(10**9, USUAL))
    assert (plan.people, plan.people_simulated) == (10**9, 50_000_000)
    assert "all 1,000,000,000: too many to simulate" in printed(plan)


@pytest.mark.parametrize("minutes", [0, -1, float("nan"), float("inf")])
def test_minutes_are_a_positive_number(minutes: float) -> None:
    with pytest.raises(ConfigError, match="minutes"):
        make_plan(KnownCase(1000, USUAL), minutes=minutes)


def test_a_slow_case_is_simulated_less_on_every_machine() -> None:
    seconds = (1e-9, 5e-5, 7e-5, 9e-5, 1e-3)
    afforded = [search.affordable(KnownCase(100_000, USUAL, each), 1.0) for each in seconds]
    assert [each.effort for each in afforded] == [*EFFORTS, EFFORTS[3]]
    assert [each.people for each in afforded] == [100_000] * 4 + [10_000]
    assert all(each.seconds <= 60 * search.CORES for each in afforded)


def test_more_people_are_tried_only_within_the_time_limit() -> None:
    quick = make_plan(KnownCase(1000, USUAL, needed=1e9)).share_by_people
    assert quick[-1].people == 181_019  # 15 half octaves
    plan = make_plan(KnownCase(1000, USUAL, 1e-3, needed=1e9))
    assert plan.share_by_people[-1].people == 4000
    assert plan.minutes_for_more_people == 4
    assert "to try more: takes --minutes 4" in printed(plan)
    further = make_plan(KnownCase(1000, USUAL, 1e-3, needed=1e9), minutes=4)
    assert further.share_by_people[-1].people >= 16_000


def test_no_trial_has_many_more_people_than_suffice() -> None:
    trials = make_plan(KnownCase(1000, USUAL)).share_by_people
    assert max(row.people for row in trials) == 4000


def test_with_more_workers_the_answers_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    case = DisplayCase(300, USUAL, items=5, slots=2)
    monkeypatch.setattr(search, "EFFORTS", (Effort(2, 1),))
    monkeypatch.setattr(search, "STEPS", 1)
    alone = make_plan(case)
    monkeypatch.setattr(search, "ALONE", 0.0)
    monkeypatch.setattr(
        search, "ProcessPoolExecutor", lambda workers, **options: ThreadPoolExecutor(workers)
    )
    assert make_plan(case) == alone


def test_processes_have_one_thread_each_and_restore_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With one thread per core in each process, threads would wait for each other."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    monkeypatch.setattr(search, "ALONE", 0.0)
    monkeypatch.setattr(
        search, "ProcessPoolExecutor", lambda workers, **options: ThreadPoolExecutor(workers)
    )
    monkeypatch.setenv(names[0], "5")
    monkeypatch.delenv(names[1], raising=False)
    with search.processes_for(1.0) as pool:
        assert pool is not None
        assert [os.environ[name] for name in names] == ["1", "1"]
    assert os.environ[names[0]] == "5"
    assert names[1] not in os.environ


def test_too_few_people_for_any_learner_have_no_share() -> None:
    assert share_of(KnownCase(5, USUAL), 1) == -float("inf")
    plan = make_plan(KnownCase(40, Privacy(200.0)))
    assert plan.people_for_90_percent == 20
    assert str(Share(1.0, 5, -float("inf"), None)) == "0.0 %"


def test_a_guarantee_is_stated_in_plain_words() -> None:
    plan = make_plan(KnownCase(1000, Privacy(0.5, contributions=3)))
    assert (
        plan.in_words
        == "an attacker's odds about one person change by at most a factor e^0.5 = 1.6"
    )
    text = printed(plan)
    assert "up to 3, all of them together" in text
    assert "delta" not in text
