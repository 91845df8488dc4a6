"""If these fail, the guarantee says something else than what holds."""

import pytest

from discreet.budget.guarantee import Guarantee, Wording
from discreet.budget.ledger import Spending
from discreet.budget.privacy import Privacy, pure, zcdp
from discreet.budget.together import together


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


def first_sentences(given: Guarantee) -> str:
    return " ".join(str(given).split()).split(" releases made")[0]


def test_a_guarantee_begins_with_two_sentences_that_speak_of_the_job() -> None:
    spent = Spending(zcdp(0.01))
    told = {
        unit: first_sentences(
            Guarantee(
                Privacy(1.0, 1e-6), spent, spent, 1, 1, words=Wording(unit, seen, streams=streams)
            )
        )
        for unit, seen, streams in (
            ("round", "every decision", True),
            ("sample", "all published coefficients", True),
            ("record", "the chosen set", False),
        )
    }
    assert told["round"].startswith(
        "Differential privacy for one round: whatever a person did in their round,"
    )
    assert told["sample"].startswith(
        "Differential privacy for one sample: whatever a person brought in their s"
    )
    assert (
        "sees all published coefficients and knows everybody else's data, and whatever"
        in told["sample"]
    )
    assert told["record"].endswith("sees the chosen set and knows everybody else's data. 1 of 1")
    assert "round" not in told["sample"] + told["record"]


def test_what_is_not_protected_comes_after_the_two_sentences() -> None:
    spent = Spending(zcdp(0.01))
    given = Guarantee(Privacy(1.0, 1e-6), spent, spent, releases=1, planned=2, notion="joint DP")
    promise = str(given)[: str(given).index("\nNOT protected")]
    assert promise.count(". ") == 1


def test_learners_of_different_jobs_are_spoken_of_together() -> None:
    spent = Spending(zcdp(0.01))
    several = Privacy(1.0, 1e-6, contributions=2)
    jobs = [
        Guarantee(several, spent, spent, 1, 1, words=Wording(unit, "something"))
        for unit in ("round", "record")
    ]
    assert "2 rounds or records of one person in each of 2 learners" in str(together(*jobs))
    assert "2 records of one person in each of 2 learners" in str(together(jobs[1], jobs[1]))


def test_joint_privacy_and_assumptions_are_said() -> None:
    spent = Spending(zcdp(0.01))
    given = Guarantee(
        Privacy(1.0, 1e-6),
        spent,
        spent,
        releases=1,
        planned=2,
        notion="joint DP",
        assumes="calm weather",
    )
    told = str(given)
    assert "Joint differential privacy" in told
    assert "but the person's own" in told
    assert "assumes calm weather; privacy does not" in " ".join(told.split())


def test_the_event_is_that_of_what_is_spent_and_not_of_what_is_planned() -> None:
    dp_event = pytest.importorskip("dp_accounting").dp_event
    given = Guarantee(
        Privacy(1.0, 1e-6), Spending(zcdp(0.001)), Spending(zcdp(0.02)), releases=1, planned=20
    )
    assert given.event() == dp_event.ZCDpEvent(0.001)
