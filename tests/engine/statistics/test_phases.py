"""If these fail, a ledger does not follow what the blocks of a mode release."""

from collections.abc import Callable
from dataclasses import make_dataclass
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

from discreet.budget.ledger import Ledger, Spending
from discreet.budget.privacy import Charge, Privacy, pure, zcdp
from discreet.engine.coins import Coins
from discreet.engine.engine import Engine
from discreet.engine.flat_state import flat_hidden
from discreet.engine.phases import Adaptive, Measured, Run, Scheduled
from discreet.engine.plan import Plan, Step
from discreet.engine.problem import Problem
from discreet.engine.rounds import Rounds
from discreet.engine.schedule import EqualBlocks, ListedBlocks, Segments
from discreet.engine.statistics import (
    Interactive,
    Occasion,
    OneRelease,
    Report,
    RunningTotal,
    Units,
)
from discreet.errors import ConfigError, StateError
from discreet.limits import MOST_ROUNDS
from discreet.release.aggregators import OneChoice, Rows
from engine.counting import Counting, CountingPhase, settings
from engine.statistics.blocks import Costing, exact

USUAL = Privacy(1.0, 1e-6)
UNITS = Units(low=-1.0, high=1.0)


def votes(name: str = "votes", budget: Charge | None = None) -> OneRelease[OneChoice]:
    budget = zcdp(0.005) if budget is None else budget
    return OneRelease.for_budget(name, budget, OneChoice((3,)))


def gains(schedule: Any, name: str = "gains", **more: Any) -> RunningTotal[Rows]:
    usual: dict[str, Any] = {"method": "honaker", "share": 0.5, "disjoint": False}
    return RunningTotal(name, Rows((2,)), schedule, USUAL, people=10, **usual | more)


def report(schedule: Any) -> Report:
    earned = RunningTotal("earned", UNITS.number, schedule, USUAL, 10, "honaker", share=0.25)
    return Report(UNITS, earned)


def planned(phases: Scheduled, privacy: Privacy = USUAL) -> Plan:
    return phases.plan(privacy)


def all_steps(plan: Plan) -> list[Step]:
    assert plan.steps is not None
    assert plan.releases is not None
    steps = [plan.steps(index) for index in range(plan.releases + 1)]
    assert steps[-1] is None
    return [step for step in steps if step is not None]


def most_paid(privacy: Privacy, steps: list[Step]) -> Fraction:
    """Return what the person pays who pays most, by adding the charges of each cohort up."""
    paid: dict[int | None, Fraction] = {}
    ledger = Ledger(privacy)
    for step in steps:
        ledger = ledger.charge(step.charge, cohort=step.cohort)
        paid[step.cohort] = paid.get(step.cohort, Fraction(0)) + exact(step.charge)
    everyone = paid.pop(None, Fraction(0))
    return everyone + max(paid.values(), default=Fraction(0))


BLOCKS = EqualBlocks(70, 10)
PHASES: dict[str, tuple[Scheduled, Callable[[int], int | None]]] = {
    "blocks": (Scheduled.one(CountingPhase, BLOCKS, votes()), lambda index: index),
    "two of a block": (
        Scheduled.one(CountingPhase, BLOCKS, votes(), votes("costs")),
        lambda index: index,
    ),
    "a total": (Scheduled.one(CountingPhase, BLOCKS, gains(BLOCKS)), lambda index: None),
    "a total and a report": (
        Scheduled.one(CountingPhase, BLOCKS, gains(BLOCKS), report(BLOCKS)),
        lambda index: None,
    ),
    "runs": (
        Scheduled(
            (
                Run(CountingPhase, ListedBlocks(70, (20,)), (votes(), votes("costs"))),
                Run(CountingPhase, ListedBlocks(70, (5, 5)), (votes("counts"),)),
                Run(
                    CountingPhase,
                    ListedBlocks(70, (10, 10, 10)),
                    (
                        gains(ListedBlocks(70, (10, 10, 10))),
                        report(ListedBlocks(70, (10, 10, 10))),
                    ),
                ),
            ),
            horizon=70,
        ),
        lambda index: min(index, 3),
    ),
}


@pytest.mark.parametrize("name", PHASES)
def test_each_release_charges_the_sum_of_what_is_measured_to_the_people_it_reads(
    name: str,
) -> None:
    phases, cohort = PHASES[name]
    plan = planned(phases)
    steps = all_steps(plan)
    for index, step in enumerate(steps):
        run, number = phases.at(index)
        due = sum((exact(each.charge(number)) for each in run.measures), start=Fraction(0))
        # Sums are rounded up, so that the door never lacks a unit of the ledger.
        assert 0 <= exact(step.charge) - due <= due / 2**50 + Fraction(len(run.measures), 2**94)
        assert step.cohort == cohort(index)


@pytest.mark.parametrize("name", PHASES)
def test_the_total_is_at_least_what_any_person_pays_and_little_more(name: str) -> None:
    phases, _ = PHASES[name]
    plan = planned(phases)
    paid = most_paid(USUAL, all_steps(plan))
    stated = exact(plan.total.everyone) + Fraction(plan.total.zcdp)
    assert paid <= stated <= paid * Fraction(1 + 2**-40)
    assert plan.total.pure == 0


def test_runs_follow_each_other_without_a_gap() -> None:
    phases, _ = PHASES["runs"]
    steps = all_steps(planned(phases))
    assert [step.rounds for step in steps] == [20, 5, 5, 10, 10, 10]
    assert [phases.begin(index) for index in range(7)] == [0, 20, 25, 30, 40, 50, 60]
    places = [phases.at(index) for index in range(6)]
    assert [number for _, number in places] == [0, 0, 1, 0, 1, 2]
    assert [phases.runs.index(run) for run, _ in places] == [0, 1, 1, 2, 2, 2]


def test_state_has_the_layout_of_the_releases_that_were_made() -> None:
    phases, _ = PHASES["runs"]
    for index in range(7):
        public, hidden = phases.layout(index)
        assert set(public) == {"gains", "earned"}
        assert set(flat_hidden(hidden)) == {
            "gains.steps",
            "gains.nodes",
            "earned.steps",
            "earned.nodes",
        }


def test_people_who_are_named_pay_for_each_of_their_blocks_once() -> None:
    keyed = Privacy(1.0, 1e-6, contributions=3, keyed=True)
    assert planned(PHASES["blocks"][0], keyed).total.blocks == 7
    assert planned(PHASES["a total"][0], keyed).total.blocks == 0
    assert planned(PHASES["runs"][0], keyed).total.blocks == 0
    without_end = Scheduled.one(CountingPhase, Segments(10, 10), votes())
    assert planned(without_end, keyed).total.blocks == MOST_ROUNDS


def test_settings_of_statistics_and_modes_are_part_of_the_calibration() -> None:
    plans = [planned(phases) for phases, _ in PHASES.values()]
    tuned = Scheduled.one(CountingPhase, BLOCKS, votes(), constants=("tuned",))
    plans.append(planned(tuned))
    assert len({plan.calibration for plan in plans}) == len(plans)


# --- what is refused before anybody is read -------------------------------------------------------


def test_two_statistics_of_a_block_cannot_have_one_name() -> None:
    """One aggregate would be released twice, and one of the results would be lost."""
    for measures in ((votes(), votes()), (votes("earned"), Report.of_blocks(zcdp(0.1), UNITS))):
        with pytest.raises(ConfigError, match="name of its own"):
            planned(Scheduled.one(CountingPhase, BLOCKS, *measures))
        with pytest.raises(ConfigError, match="name of its own"):
            Measured.of(measures)


@pytest.mark.parametrize("name", ["", "a.b", "two words"])
def test_a_name_that_would_break_the_keys_of_a_state_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="of one word"):
        planned(Scheduled.one(CountingPhase, BLOCKS, votes(name)))


def test_a_hidden_sum_cannot_go_on_in_the_next_run() -> None:
    """It would release people again who have paid for the run before only."""
    part = ListedBlocks(70, (10, 10))
    runs = (Run(CountingPhase, part, (gains(part),)), Run(CountingPhase, part, (gains(part),)))
    with pytest.raises(ConfigError, match="name of its own"):
        planned(Scheduled(runs, horizon=70))


def test_reports_of_several_runs_have_one_table() -> None:
    part = ListedBlocks(70, (10, 10))
    of_blocks = Report.of_blocks(zcdp(0.005), UNITS)
    runs = (
        Run(CountingPhase, part, (votes(), of_blocks)),
        Run(CountingPhase, part, (gains(part), report(part))),
    )
    phases = Scheduled(runs, horizon=70)
    assert len(all_steps(planned(phases))) == 4
    public, _ = phases.layout(3)
    assert {"rows", "total", "prefix"} <= set(public["earned"])


@pytest.mark.parametrize(
    "blocks", [BLOCKS, Segments(10, 10)], ids=["one sum", "segments, which agree at first"]
)
def test_people_who_pay_for_one_block_and_for_many_are_not_mixed(blocks: Any) -> None:
    """The plan is refused, not a release that comes later."""
    with pytest.raises(ConfigError, match="measure them in two runs"):
        planned(Scheduled.one(CountingPhase, blocks, votes(), gains(blocks)))
    of_total = (gains(blocks), Report.of_blocks(zcdp(0.005), UNITS))
    with pytest.raises(ConfigError, match="measure them in two runs"):
        planned(Scheduled((Run(CountingPhase, blocks, of_total),), horizon=70))


def test_blocks_that_measure_nothing_are_refused_with_their_name() -> None:
    with pytest.raises(ConfigError, match="CountingPhase measure nothing"):
        planned(Scheduled.one(CountingPhase, BLOCKS))


def test_a_report_on_other_blocks_than_those_of_its_run_is_refused() -> None:
    other = EqualBlocks(140, 10)
    with pytest.raises(ConfigError, match="the schedule of its blocks"):
        planned(Scheduled.one(CountingPhase, other, gains(other), report(BLOCKS)))


# --- blocks that releases plan --------------------------------------------------------------------


def block_of(rounds: int | None, *measures: Any) -> Any:
    """Return as much of a phase as says what is measured of a block."""
    public = SimpleNamespace(phase=SimpleNamespace(length=rounds))
    return SimpleNamespace(public=public, measures=measures)


FORTY: Any = SimpleNamespace(length=40)


def adaptive(*statistics: Any) -> Adaptive:
    return Adaptive({}, 100, pure(1.0), statistics)


def test_a_planned_block_charges_its_own_people_for_what_is_measured() -> None:
    costs = votes("costs", pure(0.3))
    of_rewards = Report.of_blocks(pure(0.2), UNITS)
    phases = adaptive(of_rewards)
    measured = phases.measured(block_of(40, costs, of_rewards))
    step = phases.step(FORTY, measured, 7, 100)
    assert step == Step(40, costs.charge(7) + of_rewards.charge(7), cohort=7)
    assert phases.step(FORTY, phases.measured(block_of(40, of_rewards)), 8, 100) == Step(
        40, of_rewards.charge(8), cohort=8
    )


@pytest.mark.parametrize("charge", [pure(1.1), zcdp(0.01)], ids=str)
def test_a_planned_block_that_costs_more_than_was_declared_is_refused(charge: Any) -> None:
    """The guarantee states the declared charge as the total, from the first round on."""
    phases = adaptive()
    measured = phases.measured(
        block_of(40, Interactive("held", OneChoice((3,)), (Costing(charge),)))
    )
    with pytest.raises(ConfigError, match=r"more than the 1 \(pure\) of Adaptive\.charge"):
        phases.step(FORTY, measured, 0, 100)


def test_a_block_that_reads_nobody_is_free() -> None:
    phases = adaptive()
    measured = phases.measured(block_of(40))
    assert phases.step(FORTY, measured, 3, 100) == Step(40, pure(0.0), cohort=3)


def test_a_block_without_rounds_has_no_report() -> None:
    """Its mean would be a division by zero after a draw, which ends a learner for good."""
    of_rewards = Report.of_blocks(pure(0.2), UNITS)
    of_log = votes("log", pure(0.3))
    phases = adaptive(of_rewards)
    assert phases.measured(block_of(0, of_log, of_rewards)).all == (of_log,)


def test_the_total_of_planned_blocks_is_the_largest_charge_of_one_release() -> None:
    plan = adaptive(Report.of_blocks(pure(0.2), UNITS)).plan(USUAL)
    assert plan.total == Spending(zcdp(0.0), pure=1.0)
    assert (plan.steps, plan.horizon, plan.releases) == (None, 100, None)


def test_a_running_total_of_planned_blocks_is_refused() -> None:
    """Its people are released again, and only the people of one block would pay."""
    total = gains(EqualBlocks(70, 10))
    with pytest.raises(ConfigError, match="it needs a schedule"):
        adaptive(total).measured(block_of(10, total))


def test_a_report_that_no_state_was_made_for_is_refused_before_it_is_drawn() -> None:
    with pytest.raises(ConfigError, match=r"Adaptive\.statistics"):
        adaptive().measured(block_of(10, Report.of_blocks(pure(0.2), UNITS)))


def test_an_interactive_block_may_be_planned() -> None:
    held = Interactive("held", OneChoice((3,)), (Costing(pure(0.4)),))
    phases = adaptive()
    step = phases.step(FORTY, phases.measured(block_of(40, held)), 0, 100)
    assert step == Step(40, pure(0.4), cohort=0)


# --- in a learner ---------------------------------------------------------------------------------


def test_a_statistic_is_told_which_rounds_its_release_is_about(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whether or not a report stands beside it."""
    seen: list[Occasion] = []
    honest = OneRelease.release

    def remembering(self: OneRelease[Any], at: Occasion, *more: Any) -> Any:
        seen.append(at)
        return honest(self, at, *more)

    monkeypatch.setattr(OneRelease, "release", remembering)
    rounds = Rounds(Engine(Problem(Counting(settings(horizon=8))), "Counting"))
    for people in (3, 3, 2):
        rounds.observe_many([0] * people)
        rounds.release_if_due()
    assert seen == [Occasion(0, 0, 3), Occasion(1, 3, 3), Occasion(2, 6, 2)]


class Nested(Counting):
    """Publishes something under the name of its statistic."""

    @property
    def first(self) -> Any:
        part = make_dataclass("Part", [("sum", float)], frozen=True)
        public = make_dataclass("Published", [("votes", part)], frozen=True)
        return public(part(0.0))


class Summing(Nested):
    """Keeps a running total under the same name."""

    @property
    def phases(self) -> Scheduled:
        blocks = EqualBlocks(12, 3)
        total = RunningTotal("votes", OneChoice((2,)), blocks, self.settings.privacy, 3, "honaker")
        return Scheduled.one(CountingPhase, blocks, total)


def test_a_public_part_with_the_name_of_a_statistic_is_refused() -> None:
    """After a load, each would have the entries of the other."""
    Engine(Problem(Nested(settings())), "Counting")  # these votes have no state
    with pytest.raises(ConfigError, match="the name of a statistic"):
        Engine(Problem(Summing(settings())), "Counting")


def test_a_state_after_a_release_that_the_schedule_does_not_have_is_refused() -> None:
    problem = Problem(Counting(settings()))
    start, _ = problem.start()
    assert problem.view(start, 1, 3, Coins(bytes(16))).layout()
    with pytest.raises(StateError, match="no such release"):
        problem.view(start, 1, 4, Coins(bytes(16))).layout()
