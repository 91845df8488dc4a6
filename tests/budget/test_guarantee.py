"""If these fail, the text of a guarantee states something that does not hold."""

import pytest

from discreet.budget.guarantee import Guarantee, Wording
from discreet.budget.ledger import Spending
from discreet.budget.privacy import Privacy, pure, zcdp
from discreet.budget.together import together


def test_all_rounds_of_one_person_are_covered_together() -> None:
    thrice = Privacy(1.0, 1e-6, contributions=3)
    spent = Spending(thrice.budget)
    guarantee = Guarantee(thrice, spent=spent, total=spent, releases=1, planned=1)
    assert guarantee.rho == pytest.approx(Privacy(1.0, 1e-6).budget.amount)
    assert guarantee.epsilon_spent == pytest.approx(1.0)
    assert "3 rounds of one person" in str(guarantee)


def test_a_seeded_run_is_labelled_as_simulated() -> None:
    spent = Spending(pure(0.5))
    total = Spending(pure(1.0))
    plain = Guarantee(Privacy(1.0), spent, total, releases=1, planned=2)
    assert "SIMULATED" not in str(plain)
    simulated = Guarantee(Privacy(1.0), spent, total, releases=1, planned=2, simulated=True)
    assert str(simulated).startswith("SIMULATED")
    assert "operating system" not in str(simulated)
    assert "SIMULATED" in simulated._repr_html_()


def test_the_spending_of_a_pure_cohort_is_stated_in_epsilon() -> None:
    spent = Spending(zcdp(0.0), pure=0.7)
    guarantee = Guarantee(Privacy(1.0, 1e-6), spent, spent, releases=3, planned=None)
    assert guarantee.epsilon_spent == 0.7
    text = str(guarantee)
    assert "epsilon = 0.7 of 1" in text
    assert "rho" not in text
    assert "3 releases made" in text


def first_sentences(unit: str, seen: str, *, streams: bool) -> str:
    """The text of a guarantee with these terms, up to its account."""
    spent = Spending(zcdp(0.01))
    words = Wording(unit, seen, streams=streams)
    guarantee = Guarantee(Privacy(1.0, 1e-6), spent, spent, 1, 1, words=words)
    return " ".join(str(guarantee).split()).split(" releases made")[0]


def test_a_guarantee_begins_with_two_sentences_in_the_terms_of_the_learner() -> None:
    of_round = first_sentences("round", "every decision", streams=True)
    of_sample = first_sentences("sample", "all published coefficients", streams=True)
    of_record = first_sentences("record", "the chosen set", streams=False)
    heading = "Differential privacy for one"
    assert of_round.startswith(f"{heading} round: whatever a person did in their round,")
    assert of_sample.startswith(f"{heading} sample: whatever a person brought in their s")
    seen = "sees all published coefficients and knows everybody else's data, and whatever"
    assert seen in of_sample
    assert of_record.endswith("sees the chosen set and knows everybody else's data. 1 of 1")
    assert "round" not in of_sample + of_record


def test_exceptions_follow_the_two_sentences() -> None:
    spent = Spending(zcdp(0.01))
    text = str(
        Guarantee(Privacy(1.0, 1e-6), spent, spent, releases=1, planned=2, notion="joint DP")
    )
    promise = text[: text.index("\nNOT protected")]
    assert promise.count(". ") == 1


def test_a_joint_guarantee_names_the_units_of_all_learners() -> None:
    spent = Spending(zcdp(0.01))
    several = Privacy(1.0, 1e-6, contributions=2)
    of_rounds, of_records = (
        Guarantee(several, spent, spent, 1, 1, words=Wording(unit, "something"))
        for unit in ("round", "record")
    )
    both = str(together(of_rounds, of_records))
    assert "2 rounds or records of one person in each of 2 learners" in both
    twice = str(together(of_records, of_records))
    assert "2 records of one person in each of 2 learners" in twice


def test_joint_privacy_and_assumptions_are_stated() -> None:
    spent = Spending(zcdp(0.01))
    guarantee = Guarantee(
        Privacy(1.0, 1e-6),
        spent,
        spent,
        releases=1,
        planned=2,
        notion="joint DP",
        assumes="calm weather",
    )
    text = str(guarantee)
    assert "Joint differential privacy" in text
    assert "but the person's own" in text
    assert "assumes calm weather; privacy does not" in " ".join(text.split())


def test_the_event_covers_the_spending_so_far_and_not_the_plan() -> None:
    dp_event = pytest.importorskip("dp_accounting").dp_event
    guarantee = Guarantee(
        Privacy(1.0, 1e-6), Spending(zcdp(0.001)), Spending(zcdp(0.02)), releases=1, planned=20
    )
    assert guarantee.event() == dp_event.ZCDpEvent(0.001)
