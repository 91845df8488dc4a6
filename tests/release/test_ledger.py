"""If these fail, somebody's privacy is spent twice or the guarantee says so wrongly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import BudgetError, ConfigError
from discreet.release.guarantee import Guarantee
from discreet.release.ledger import Ledger
from discreet.release.privacy import Charge, Privacy, pure, zcdp


def test_a_million_small_charges_do_not_drift() -> None:
    ledger = Ledger(zcdp(0.1))
    for _ in range(100_000):
        ledger = ledger.charge(zcdp(1e-6 * (1 - 1e-12)))
    assert ledger.spent.amount == pytest.approx(0.1, rel=1e-11)
    with pytest.raises(BudgetError):
        ledger.charge(zcdp(1e-6))


@given(st.lists(st.tuples(st.floats(0, 0.3), st.one_of(st.none(), st.integers(0, 5))), max_size=20))
def test_the_most_charged_person_is_never_undercounted(charges: list[tuple[float, int | None]]) -> None:
    """Against the plain definition: each cohort's own charges, plus everyone's."""
    ledger, everyone, cohorts = Ledger(zcdp(1.0)), 0.0, dict.fromkeys(range(6), 0.0)
    newest = -1
    for amount, cohort in charges:
        if cohort is not None and cohort < newest:
            with pytest.raises(ConfigError):
                ledger.charge(zcdp(amount), cohort=cohort)
            continue
        try:
            ledger = ledger.charge(zcdp(amount), cohort=cohort)
        except BudgetError:
            continue
        newest = newest if cohort is None else cohort
        if cohort is None:
            everyone += amount
        else:
            cohorts[cohort] += amount
    assert ledger.spent.amount == pytest.approx(everyone + max(cohorts.values()), abs=1e-12)
    assert ledger.spent.amount <= 1.0
    assert Ledger.from_plain(ledger.as_plain()) == ledger


def test_pure_charges_can_be_paid_in_zcdp_but_not_the_other_way() -> None:
    assert Ledger(zcdp(1.0)).charge(pure(1.0)).spent.amount == pytest.approx(0.5)
    with pytest.raises(BudgetError, match="pure"):
        Ledger(pure(1.0)).charge(zcdp(0.1))


@pytest.mark.parametrize(("epsilon", "delta", "contributions"), [(0, 0, 1), (-1, 0, 1), (float("nan"), 0, 1), (1, 1, 1), (1, -0.1, 1), (1, 0, 0), (1, 0, 1.5)])  # fmt: skip  # noqa: E501
def test_impossible_requests_are_refused_with_their_value(epsilon: float, delta: float, contributions: int) -> None:
    with pytest.raises(ConfigError, match="got"):
        Privacy(epsilon, delta, contributions=contributions)


def test_several_rounds_of_one_person_share_the_budget() -> None:
    once, thrice = Privacy(1.0, 1e-6), Privacy(1.0, 1e-6, contributions=3)
    assert thrice.budget.amount == pytest.approx(once.budget.amount / 9)
    given = Guarantee(thrice, spent=thrice.budget, total=thrice.budget, releases=1, planned=1)
    assert given.rho == pytest.approx(once.budget.amount)
    assert given.epsilon_spent == pytest.approx(1.0)
    assert "3 rounds of one person" in str(given)


def test_a_guarantee_says_when_it_is_only_simulated() -> None:
    plain = Guarantee(Privacy(1.0), spent=pure(0.5), total=pure(1.0), releases=1, planned=2)
    assert "SIMULATED" not in str(plain)
    simulated = Guarantee(Privacy(1.0), spent=pure(0.5), total=pure(1.0), releases=1, planned=2, simulated=True)
    assert str(simulated).startswith("SIMULATED")
    assert "operating system" not in str(simulated)


@pytest.mark.parametrize("spent", [zcdp(0.02), pure(0.7), zcdp(0.0)])
def test_events_are_what_dp_accounting_expects(spent: Charge) -> None:
    pytest.importorskip("dp_accounting")
    from dp_accounting import NeighboringRelation
    from dp_accounting.pld import pld_privacy_accountant
    from dp_accounting.rdp import rdp_privacy_accountant

    delta = 1e-6 if spent.measure == "zcdp" else 0.0
    given = Guarantee(Privacy(1.0, delta), spent=spent, total=spent, releases=1, planned=1)
    if spent.measure == "zcdp":
        accountant = rdp_privacy_accountant.RdpAccountant()
        accountant.compose(given.event())
        assert accountant.get_epsilon(1e-6) >= given.epsilon_spent * (1 - 1e-9)
    else:
        accountant = pld_privacy_accountant.PLDAccountant(NeighboringRelation.REPLACE_ONE)
        accountant.compose(given.event())
        assert accountant.get_epsilon(0.0) == pytest.approx(0.7, abs=1e-3)
