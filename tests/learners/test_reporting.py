"""If these fail, what a learner says it earned is wrong, or costs more than was asked for it."""

from collections.abc import Callable
from typing import Any

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
from discreet.domains import LpBall, UniformMatroid
from discreet.engine.codec import as_plain, fingerprint
from discreet.errors import ConfigError, StateError
from discreet.learners.base import Learner
from discreet.learners.reported_view import ReportedView
from discreet.learners.reporting import BlockReporting, TotalReporting
from discreet.losses import SquaredLoss

BOTH, PURE = Privacy(1.0, 1e-6), Privacy(1.0)
VISITORS = 4000
Answer = Callable[[Any], Any]


def lived(learner: Learner, answer: Answer, rounds: int = VISITORS) -> Learner:
    """A life in which visitors answer by what they are shown."""
    while learner.clock < rounds:
        learner.release_if_due()
        tickets = learner.open_many(min(learner.rounds_until_release, rounds - learner.clock))
        learner.close_many(tickets, answer(tickets.decisions))
    learner.release_if_due()
    return learner


def clicks(**more: Any) -> Learner:
    return SetMaximizer(
        **(
            {"items": 6, "slots": 2, "horizon": VISITORS, "privacy": BOTH, "feedback": "clicks"}
            | more
        )
    )


def rewards(**more: Any) -> Learner:
    return clicks(**({"feedback": "bandit", "bound": 4.0} | more))


def costs(**more: Any) -> Learner:
    return SetMinimizer(
        **(
            {"items": 3, "horizon": VISITORS, "privacy": BOTH, "feedback": "bandit", "bound": 2.0}
            | more
        )
    )


def first_shown(slates: Any) -> Any:
    """Every second visitor clicks on the first item."""
    return [int(slate[0]) if place % 2 else None for place, slate in enumerate(slates)]


def three(slates: Any) -> Any:
    return np.full(len(slates), 3.0)


def minus_one(sets: Any) -> Any:
    return np.full(len(sets), -1.0)


MODES: dict[str, tuple[Callable[..., Learner], Answer, float, bool]] = {
    "swap, clicks": (lambda **more: clicks(**more), first_shown, 0.5, True),
    "swap, clicks, iid, pure": (
        lambda **more: clicks(stream="iid", privacy=PURE, **more),
        first_shown,
        0.5,
        True,
    ),
    "swap, rewards": (lambda **more: rewards(**more), three, 3.0, True),
    "near anchor": (lambda **more: costs(**more), minus_one, -1.0, True),
    "near anchor, iid": (lambda **more: costs(stream="iid", **more), minus_one, -1.0, True),
}


@pytest.mark.parametrize("name", MODES)
def test_a_report_says_what_each_blocks_visitors_earned(name: str) -> None:
    make, answer, truth, whole = MODES[name]
    learner = lived(make(report=0.3, seed=2), answer)
    found = learner.report()
    assert len(found.rounds) == learner.releases > 2
    assert (np.diff(found.rounds) > 0).all()
    assert found.rounds[-1] == (VISITORS if whole else learner.rounds_before_release)
    length = np.diff(found.rounds, prepend=0)
    # An odd block of clicks has up to half a visitor more or less than a half.
    misses = (np.abs(found.value - truth) - 0.5 / length) / found.standard_deviation
    assert (
        misses.max() < 12
    )  # of at most forty Laplace or normal numbers: α < 1e-5, with a fixed seed
    assert (np.abs(found.value - truth) / found.standard_deviation).mean() > 0.3
    assert 0.99 < learner.guarantee.epsilon_spent <= 1.0
    assert found.standard_deviation * length == pytest.approx(
        learner.facts["noise_of_report"], rel=0.2
    )


def test_its_noise_is_that_of_its_share_and_learning_has_the_rest() -> None:
    """Laplace noise of scale s₁/(share · ε/c), of standard deviation √2 times that."""
    twice = Privacy(1.0, 1e-6, contributions=2)
    assert clicks(report=0.25).facts["noise_of_report"] == pytest.approx(np.sqrt(2) * 4, rel=1e-3)
    assert clicks(report=0.25, privacy=twice).facts["noise_of_report"] == pytest.approx(
        np.sqrt(2) * 8, rel=1e-3
    )
    assert rewards(report=0.25).facts["noise_of_report"] == pytest.approx(
        4 * np.sqrt(2) * 4, rel=1e-3
    )
    assert costs(report=0.25).facts["noise_of_report"] == pytest.approx(
        2 * np.sqrt(2) * 2 * 4, rel=1e-3
    )
    for make in (clicks, rewards, costs):
        with_report, without = make(report=0.25).facts, make().facts
        assert "noise_of_report" not in without
        assert with_report["noise_in_visitors"] == pytest.approx(
            without["noise_in_visitors"] / 0.75, rel=1e-3
        )


def test_visitors_who_are_left_when_all_is_settled_pay_for_their_report_only() -> None:
    for make, answer in ((clicks, first_shown), (costs, minus_one)):
        learner = make(report=0.2, stream="iid", seed=1)
        charges = []
        while learner.clock < VISITORS:
            learner.release_if_due()
            step = learner._engine.view.step
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

    assert lived(learner, elsewhere).report().value == pytest.approx(0.0, abs=1e-3)
    for make in (rewards, costs):
        learner = make(report=0.5, privacy=Privacy(1e5), stream="iid", seed=1)
        half = lived(
            learner, lambda shown: np.where(np.arange(len(shown)) % 2, 1.0, np.nan)
        ).report()
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
    honest = ReportedView.gather

    def heavy(self: ReportedView, block: Any, answers: Any) -> None:
        honest(self, block, answers)
        if self.rounds:
            only_cell = np.zeros((len(answers.earned), 1), dtype=np.int64)
            self.reporting.aggregator.add(self.reporting.of(block), only_cell, answers.earned)

    monkeypatch.setattr(ReportedView, "gather", heavy)
    case = next(case for case in cases() if case.name == name)
    assert measured_costs(case, pairs=100, seed=1, enough=1.01).largest_cost_over_charge > 1.01


def test_the_audited_cases_have_both_kinds_of_reports() -> None:
    """Separate releases, and a running total beside another."""
    kinds = set()
    for case in [*cases(), *long_cases()]:
        if case.name.startswith("arms") and "report" in case.name:
            problem: Any = type(case.make()).problem_for(case.make().settings)
            kinds |= {type(problem.reporting(index)) for index in range(problem.plan.releases)}
    assert kinds == {BlockReporting, TotalReporting}


def test_a_report_goes_on_after_a_load(tmp_path: Any) -> None:
    whole = lived(clicks(report=0.3, seed=4), first_shown, 2000).report()
    begun = clicks(report=0.3, seed=4, journal=tmp_path / "shop")
    lived(begun, first_shown, 1000)
    before = begun.report()
    begun.save(tmp_path / "shop")
    begun.detach()
    loaded = lived(load(tmp_path / "shop"), first_shown, 2000)
    assert np.array_equal(loaded.report().rounds, whole.rounds)
    assert np.array_equal(loaded.report().value[: len(before.value)], before.value)


# --- who reports nothing --------------------------------------------------------------------------


def test_settings_without_a_report_have_the_hash_that_they_had_before_there_were_reports() -> None:
    for make in (clicks, costs):
        settings = make().settings
        plain = as_plain(settings)
        del plain["kind"], plain["report"]
        assert settings.as_plain() == plain
        assert settings.hash == fingerprint(plain)
        paid = make(report=0.25).settings
        assert paid.as_plain()["report"] == 0.25
        assert paid.hash != settings.hash
        assert type(paid).from_toml(paid.to_toml()) == paid


def refused() -> dict[str, Callable[[], Learner]]:
    bounds = {"feature_bound": 1.0, "target_bound": 1.0, "report": 0.1}
    return {
        "sets": lambda: SetMaximizer(4, 2, 100, BOTH, report=0.1),
        "costs": lambda: SetMinimizer(4, 100, BOTH, report=0.1),
        "experts": lambda: Hedge(4, 100, BOTH, report=0.1),
        "sum": lambda: RunningSum(4, 100, BOTH, bound=1.0, report=0.1),
        "points": lambda: ContinuousMaximizer(UniformMatroid(4, 2), 100, BOTH, report=0.1),
        "streaming": lambda: StreamingLearner(LpBall(4), SquaredLoss(), 100, BOTH, **bounds),
    }


@pytest.mark.parametrize("name", refused())
def test_who_is_told_nothing_of_what_was_earned_cannot_report_it(name: str) -> None:
    with pytest.raises(
        ConfigError, match=r"report is .*for learners .*feedback='bandit' or 'clicks'"
    ) as refusal:
        refused()[name]()
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("report", [-0.1, 0.6, float("nan"), "much"])
def test_shares_that_make_no_sense_are_refused(report: Any) -> None:
    for make in (clicks, costs):
        with pytest.raises(ConfigError, match="report"):
            make(report=report)


def test_who_paid_for_nothing_is_told_how_to() -> None:
    for make in (clicks, rewards, costs):
        with pytest.raises(StateError, match=r"report=0\.1"):
            make().report()
    with pytest.raises(StateError, match="reports nothing"):
        SetMaximizer(4, 2, 100, BOTH).report()
