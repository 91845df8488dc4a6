"""If these fail, the reward that a learner reports is wrong, or costs more than its share."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from discreet import (
    ContinuousMaximizer,
    Hedge,
    Privacy,
    RunningSum,
    SetMaximizer,
    SetMinimizer,
    StreamingLearner,
    load,
)
from discreet.audit.cases.learners import cases, long_cases
from discreet.audit.transcript import measured_costs
from discreet.budget.privacy import pure
from discreet.domains import LpBall, UniformMatroid
from discreet.engine.codec import as_plain, fingerprint
from discreet.engine.phases import Measured
from discreet.engine.problem import view_of
from discreet.engine.schedule import EqualBlocks, Segments
from discreet.engine.statistics import Occasion, OneRelease, Report, RunningTotal, Units
from discreet.engine.statistics.report import EARNED
from discreet.errors import ConfigError, StateError
from discreet.learners.base import Learner
from discreet.losses import SquaredLoss
from discreet.release.aggregators import OneChoice
from discreet.release.door import Door
from discreet.release.randomness import seeded_bits

BOTH = Privacy(1.0, 1e-6)
PURE = Privacy(1.0)
VISITORS = 4000
Answer = Callable[[Any], Any]


class Mode(NamedTuple):
    """A mode, how its visitors answer, and the mean reward of these answers."""

    make: Callable[..., Learner]
    answer: Answer
    mean: float


def lived(learner: Learner, answer: Answer, rounds: int = VISITORS) -> Learner:
    """Run a learner whose visitors answer by what they are shown."""
    while learner.clock < rounds:
        learner.release_if_due()
        tickets = learner.open_many(min(learner.rounds_until_release, rounds - learner.clock))
        learner.close_many(tickets, answer(tickets.decisions))
    learner.release_if_due()
    return learner


def clicks(**more: Any) -> Learner:
    usual: dict[str, Any] = {"horizon": VISITORS, "privacy": BOTH, "feedback": "clicks"}
    return SetMaximizer(6, 2, **usual | more)


def rewards(**more: Any) -> Learner:
    return clicks(**({"feedback": "bandit", "bound": 4.0} | more))


def costs(**more: Any) -> Learner:
    usual: dict[str, Any] = {"horizon": VISITORS, "privacy": BOTH, "bound": 2.0}
    return SetMinimizer(3, feedback="bandit", **usual | more)


def first_shown(slates: Any) -> Any:
    """Clicks of visitors every second of whom clicks on the first item."""
    return [int(slate[0]) if place % 2 else None for place, slate in enumerate(slates)]


def three(slates: Any) -> Any:
    return np.full(len(slates), 3.0)


def minus_one(sets: Any) -> Any:
    return np.full(len(sets), -1.0)


MODES = {
    "exchanges, clicks": Mode(clicks, first_shown, 0.5),
    "exchanges, clicks, iid, pure": Mode(
        partial(clicks, stream="iid", privacy=PURE), first_shown, 0.5
    ),
    "exchanges, rewards": Mode(rewards, three, 3.0),
    "pairs": Mode(costs, minus_one, -1.0),
    "pairs, iid": Mode(partial(costs, stream="iid"), minus_one, -1.0),
}


@pytest.mark.parametrize("name", MODES)
def test_a_report_holds_the_mean_reward_of_each_block(name: str) -> None:
    mode = MODES[name]
    learner = lived(mode.make(report=0.3, seed=2), mode.answer)
    report = learner.report()
    assert len(report.rounds) == learner.releases > 2
    assert (np.diff(report.rounds) > 0).all()
    assert report.rounds[-1] == VISITORS
    length = np.diff(report.rounds, prepend=0)
    errors = np.abs(report.value - mode.mean)
    # An odd block of clicks has up to half a visitor more or less than a half.
    misses = (errors - 0.5 / length) / report.standard_deviation
    # The largest of at most forty Laplace or normal numbers: α < 1e-5, with a fixed seed.
    assert misses.max() < 12
    assert (errors / report.standard_deviation).mean() > 0.3
    assert 0.99 < learner.guarantee.epsilon_spent <= 1.0
    assert report.standard_deviation * length == pytest.approx(
        learner.facts["noise_of_report"], rel=0.2
    )


def test_its_noise_is_that_of_its_share_and_learning_has_the_rest() -> None:
    """Laplace noise of scale s₁/(share · ε/c), of standard deviation √2 times that."""

    def noise(learner: Learner) -> Any:
        return learner.facts["noise_of_report"]

    twice = Privacy(1.0, 1e-6, contributions=2)
    root = np.sqrt(2)
    assert noise(clicks(report=0.25)) == pytest.approx(root * 4, rel=1e-3)
    assert noise(clicks(report=0.25, privacy=twice)) == pytest.approx(root * 8, rel=1e-3)
    assert noise(rewards(report=0.25)) == pytest.approx(4 * root * 4, rel=1e-3)
    assert noise(costs(report=0.25)) == pytest.approx(2 * root * 2 * 4, rel=1e-3)
    for make in (clicks, rewards, costs):
        with_report = make(report=0.25).facts
        without = make().facts
        assert "noise_of_report" not in without
        assert with_report["noise_in_visitors"] == pytest.approx(
            without["noise_in_visitors"] / 0.75, rel=1e-3
        )


def test_visitors_of_the_settled_block_pay_for_their_report_only() -> None:
    for make, answer in ((clicks, first_shown), (costs, minus_one)):
        learner = make(report=0.2, stream="iid", seed=1)
        charges = []
        while learner.clock < VISITORS:
            learner.release_if_due()
            problem = type(learner).problem_for(learner.settings)
            step = view_of(problem, learner.snapshot()).step
            assert step is not None
            charges.append(step.charge.amount)
            tickets = learner.open_many(learner.rounds_until_release)
            learner.close_many(tickets, answer(tickets.decisions))
        before = learner.decision
        learner.release_if_due()
        assert learner.decision == before
        assert not learner.release_if_due()
        assert charges[:-1] == pytest.approx([1.0] * (len(charges) - 1), rel=1e-4)
        assert charges[-1] == pytest.approx(0.2, rel=1e-4)
        without = make(stream="iid", seed=1)
        lived(without, answer)
        assert without.rounds_before_release < VISITORS  # they are not read, and nothing is charged


def test_clicks_on_what_was_not_shown_earn_nothing_and_missing_answers_count_as_zero() -> None:
    learner = clicks(report=0.5, privacy=Privacy(1e5), stream="iid", seed=1)

    def elsewhere(slates: Any) -> Any:
        return [next(item for item in range(6) if item not in slate) for slate in slates.tolist()]

    def every_second(decisions: Any) -> Any:
        return np.where(np.arange(len(decisions)) % 2, 1.0, np.nan)

    assert lived(learner, elsewhere).report().value == pytest.approx(0.0, abs=1e-3)
    for make in (rewards, costs):
        learner = make(report=0.5, privacy=Privacy(1e5), stream="iid", seed=1)
        half = lived(learner, every_second).report()
        length = np.diff(half.rounds, prepend=0)
        assert half.value == pytest.approx((length // 2) / length, abs=1e-3)


def test_rounds_whose_set_a_mask_changed_are_reported_although_they_teach_nothing() -> None:
    learner = costs(report=0.5, privacy=Privacy(1e5), seed=1)
    tickets = learner.open_many(
        learner.rounds_until_release, available=np.array([True, False, False])
    )
    learner.close_many(tickets, np.full(len(tickets), 1.5))
    learner.release_if_due()
    assert learner.report().value == pytest.approx([1.5], abs=1e-3)


@pytest.mark.parametrize("name", ["clicks, report", "single costs, report", "arms, report"])
def test_a_person_whose_rewards_are_reported_twice_is_caught(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = Report.gather

    def heavy(self: Report, number: int, block: Any, answers: Any) -> None:
        honest(self, number, block, answers)
        honest(self, number, block, answers)

    monkeypatch.setattr(Report, "gather", heavy)
    case = next(case for case in cases() if case.name == name)
    assert measured_costs(case, pairs=100, seed=1, enough=1.01).largest_cost_over_charge > 1.01


def test_the_audited_cases_have_both_kinds_of_reports() -> None:
    """Separate sums per block, and a running total beside another."""
    kinds: set[type] = set()
    for case in [*cases(), *long_cases()]:
        if case.name.startswith("arms") and "report" in case.name:
            problem = type(case.make()).problem_for(case.make().settings)
            reports = [each for each in problem.mode.phases.statistics if isinstance(each, Report)]
            kinds |= {type(report.earned) for report in reports}
    assert kinds == {OneRelease, RunningTotal}


def test_a_horizon_that_is_extended_after_its_end_does_not_end_a_reporting_learner() -> None:
    """A block without rounds comes first: it reports on nobody, and its release is free."""
    for stream in ("drifting", "iid"):
        learner: Any = lived(clicks(report=0.3, stream=stream, seed=1), first_shown)
        before = learner.report()
        spent = learner.guarantee.epsilon_spent
        learner.extend(1000)
        lived(learner, first_shown, VISITORS + 1000)
        after = learner.report()
        assert np.array_equal(after.value[: len(before.value)], before.value)
        assert len(after.value) > len(before.value)
        assert after.rounds[-1] == VISITORS + 1000
        assert learner.guarantee.epsilon_spent == pytest.approx(max(spent, 1.0), rel=1e-3)


def test_a_report_goes_on_after_a_load(tmp_path: Path) -> None:
    whole = lived(clicks(report=0.3, seed=4), first_shown, 2000).report()
    begun = clicks(report=0.3, seed=4, journal=tmp_path / "shop")
    lived(begun, first_shown, 1000)
    before = begun.report()
    begun.save(tmp_path / "shop")
    begun.detach()
    loaded = lived(load(tmp_path / "shop"), first_shown, 2000)
    assert np.array_equal(loaded.report().rounds, whole.rounds)
    assert np.array_equal(loaded.report().value[: len(before.value)], before.value)


# --- the statistic by itself ----------------------------------------------------------------------

UNITS = Units(low=-1.0, high=1.0, scale=4.0, zero=2.0)


class Earned(NamedTuple):
    """Answers whose rewards are these, in units."""

    earned: Any


def report_of(earned: Any) -> Report:
    return Report(UNITS, earned)


def of_blocks() -> Report:
    return Report.of_blocks(pure(0.5), UNITS)


def of_total(schedule: Any, method: str = "honaker") -> Report:
    total = RunningTotal(EARNED, UNITS.number, schedule, BOTH, people=10, method=method)
    return report_of(total)


KINDS: dict[str, Callable[[], Report]] = {
    "blocks": of_blocks,
    "total": lambda: of_total(EqualBlocks(120, 10)),
    "factorisation": lambda: of_total(EqualBlocks(120, 10), "toeplitz"),
    "disjoint": lambda: of_total(EqualBlocks(120, 10), "disjoint"),
    "segments": lambda: of_total(Segments(20, 10)),
    "segments, auto": lambda: of_total(Segments(10, 10), "auto"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_it_costs_what_the_release_of_rewards_costs_its_people(kind: str) -> None:
    report = KINDS[kind]()
    earned = report.earned
    assert report.spent == earned.spent
    assert report.is_apart == earned.is_apart
    for number in range(12):
        assert report.charge(number) == earned.charge(number)
        assert report.cohort(number) == earned.cohort(number)
        assert report.aggregator_at(number) == earned.aggregator_at(number)


@pytest.mark.parametrize("kind", KINDS)
def test_entries_are_the_mean_rewards_of_blocks_and_their_noise(kind: str) -> None:
    """With the same random bits, entries with and without rewards differ by the rewards."""
    report = KINDS[kind]()
    rewards = np.random.default_rng(0).uniform(-1, 1, size=(12, 10))

    def entries(earned: np.ndarray) -> Any:
        public, hidden = report.start()
        for number, block_rewards in enumerate(earned):
            block = {EARNED: report.aggregator_at(number).empty()}
            report.gather(number, block, Earned(block_rewards))
            door = Door(seeded_bits(7, number), report.charge(number), number)
            occasion = Occasion(number, 10 * number, 10)
            _, public, hidden = report.release(occasion, public, hidden, block[EARNED], door)
            layout = report.layout(number + 1)
            assert (set(public), set(hidden)) == tuple(map(set, layout))
        return report.read(public)

    read = entries(rewards)
    without = entries(rewards * 0)
    assert read.rounds.tolist() == list(range(10, 130, 10))
    assert np.abs(read.value - without.value - 4 * rewards.mean(axis=1)).max() < 1e-3
    assert np.array_equal(read.standard_deviation, without.standard_deviation)
    # Nobody earns the value of a missing answer; 12 deviations: α < 1e-5 for Laplace noise.
    assert np.abs((without.value - 2) / without.standard_deviation).max() < 12
    if kind == "blocks":
        assert np.allclose(read.standard_deviation, report.noise / 10)


def test_it_is_drawn_before_what_is_learned_and_charged_after_it() -> None:
    """Sums of charges are rounded up: in another order, a plan would cost another amount."""
    votes = OneRelease.for_budget("votes", pure(0.3), OneChoice((2,)))
    costs = OneRelease.for_budget("costs", pure(0.1), OneChoice((2,)))
    report = Report.of_blocks(pure(0.2), UNITS)
    for order in ((report, votes, costs), (votes, report, costs), (votes, costs, report)):
        measured = Measured.of(order)
        assert [each.name for each in measured.all] == ["earned", "votes", "costs"]
        charge = votes.charge(0) + costs.charge(0) + report.charge(0)
        assert measured.charge(0) == charge


# --- learners without reports ---------------------------------------------------------------------


def test_settings_without_a_report_have_the_hash_that_they_had_before_there_were_reports() -> None:
    for make in (clicks, costs):
        settings = make().settings
        plain = as_plain(settings)
        del plain["kind"]
        assert settings.as_plain() == plain
        assert settings.hash == fingerprint(plain)
        paid = make(report=0.25).settings
        assert paid.as_plain()["report"] == 0.25
        assert paid.hash != settings.hash
        assert type(paid).from_toml(paid.to_toml()) == paid


REPORT: dict[str, Any] = {"report": 0.1}
BOUNDS: dict[str, Any] = {"feature_bound": 1.0, "target_bound": 1.0}
REFUSED: dict[str, Callable[[], Learner]] = {
    "sets": lambda: SetMaximizer(4, 2, 100, BOTH, **REPORT),
    "costs": lambda: SetMinimizer(4, 100, BOTH, **REPORT),
    "experts": lambda: Hedge(4, 100, BOTH, **REPORT),
    "sum": lambda: RunningSum(4, 100, BOTH, bound=1.0, **REPORT),
    "points": lambda: ContinuousMaximizer(UniformMatroid(4, 2), 100, BOTH, **REPORT),
    "streaming": lambda: StreamingLearner(LpBall(4), SquaredLoss(), 100, BOTH, **BOUNDS, **REPORT),
}


@pytest.mark.parametrize("name", REFUSED)
def test_learners_that_observe_no_rewards_refuse_a_report(name: str) -> None:
    with pytest.raises(
        ConfigError, match=r"report is .*for learners .*feedback='bandit' or 'clicks'"
    ) as refusal:
        REFUSED[name]()
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("report", [-0.1, 0.6, float("nan"), "much"])
def test_impossible_shares_are_refused(report: Any) -> None:
    for make in (clicks, costs):
        with pytest.raises(ConfigError, match="report"):
            make(report=report)


def test_a_report_that_was_not_paid_for_is_refused_with_the_remedy() -> None:
    for make in (clicks, rewards, costs):
        with pytest.raises(StateError, match=r"report=0\.1"):
            make().report()
    with pytest.raises(StateError, match="reports nothing"):
        SetMaximizer(4, 2, 100, BOTH).report()
