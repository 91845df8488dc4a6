"""If these fail, the guarantee says something else than what holds."""

import pytest

from discreet.budget.guarantee import Guarantee
from discreet.budget.ledger import Spending
from discreet.budget.privacy import Privacy, pure, zcdp


def test_all_rounds_of_one_person_are_covered_together() -> None:
    thrice = Privacy(1.0, 1e-6, contributions=3)
    spent = Spending(thrice.budget)
    given = Guarantee(thrice, spent=spent, total=spent, releases=1, planned=1)
    assert given.rho == pytest.approx(Privacy(1.0, 1e-6).budget.amount)
    assert given.epsilon_spent == pytest.approx(1.0)
    assert "3 rounds of one person" in str(given)


def test_a_guarantee_says_when_it_is_only_simulated() -> None:
    spent, total = Spending(pure(0.5)), Spending(pure(1.0))
    plain = Guarantee(Privacy(1.0), spent, total, releases=1, planned=2)
    assert "SIMULATED" not in str(plain)
    simulated = Guarantee(Privacy(1.0), spent, total, releases=1, planned=2, simulated=True)
    assert str(simulated).startswith("SIMULATED")
    assert "operating system" not in str(simulated)
    assert "SIMULATED" in simulated._repr_html_()


def test_what_a_pure_cohort_paid_is_told_in_epsilon() -> None:
    spent = Spending(zcdp(0.0), pure=0.7)
    given = Guarantee(Privacy(1.0, 1e-6), spent, spent, releases=3, planned=None)
    assert given.epsilon_spent == 0.7
    told = str(given)
    assert "epsilon = 0.7 of 1" in told
    assert "rho" not in told
    assert "3 releases made" in told


def test_joint_privacy_and_assumptions_are_said() -> None:
    spent = Spending(zcdp(0.01))
    given = Guarantee(
        Privacy(1.0, 1e-6), spent, spent, releases=1, planned=2, notion="joint DP", assumes="calm weather"
    )
    told = str(given)
    assert "Joint differential privacy" in told
    assert "but the person's own" in told
    assert "assumes calm weather; privacy does not" in " ".join(told.split())


def test_the_event_is_that_of_what_is_spent_and_not_of_what_is_planned() -> None:
    dp_event = pytest.importorskip("dp_accounting").dp_event
    given = Guarantee(Privacy(1.0, 1e-6), Spending(zcdp(0.001)), Spending(zcdp(0.02)), releases=1, planned=20)
    assert given.event() == dp_event.ZCDpEvent(0.001)
