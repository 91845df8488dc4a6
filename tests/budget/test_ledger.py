"""If these fail, privacy is spent twice, or a release that was paid for is refused."""

from math import exp, sqrt
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from discreet.budget.conversion import epsilon_of
from discreet.budget.ledger import Ledger, Spending
from discreet.budget.privacy import Charge, Measure, Privacy, pure, zcdp
from discreet.errors import BudgetError, ConfigError

if TYPE_CHECKING:
    from dp_accounting.dp_event import DpEvent

USUAL = Privacy(1.0, 1e-6)
WHOLE = USUAL.budget.amount


def test_many_small_charges_accumulate_no_error() -> None:
    ledger = Ledger(USUAL)
    for _ in range(100_000):
        ledger = ledger.charge(zcdp(WHOLE / 100_000 * (1 - 1e-12)))
    assert ledger.spent.everyone.amount == pytest.approx(WHOLE, rel=1e-11)
    with pytest.raises(BudgetError, match="would exceed epsilon = 1"):
        ledger.charge(zcdp(WHOLE / 100_000))


amounts = st.floats(0, 0.4) | st.sampled_from([0.0, 1e-12, 0.5])
charges = st.tuples(amounts, st.sampled_from(["pure", "zcdp"]), st.none() | st.integers(0, 5))


class PlainLedger:
    """The definition, cohort by cohort, in floats."""

    def __init__(self, privacy: Privacy) -> None:
        self.privacy = privacy
        self.everyone = 0.0
        self.cohorts = {number: {"pure": 0.0, "zcdp": 0.0} for number in range(6)}

    def charge(self, charge: Charge, cohort: int | None) -> None:
        if cohort is None:
            self.everyone += charge.amount if self.privacy.pure else charge.rho
        else:
            self.cohorts[cohort][charge.measure] += charge.amount

    def epsilon(self) -> float:
        """The largest ε of a cohort, including cohorts without charges of their own."""
        return max(map(self.epsilon_of_cohort, self.cohorts))

    def epsilon_of_cohort(self, cohort: int) -> float:
        paid = self.cohorts[cohort]
        if self.privacy.pure:
            return self.everyone + paid["pure"]
        if paid["pure"]:
            return paid["pure"] + epsilon_of(self.everyone, self.privacy.delta)
        return epsilon_of(self.everyone + paid["zcdp"], self.privacy.delta)


@given(st.lists(charges, max_size=20), st.sampled_from([USUAL, Privacy(1.0), Privacy(3.0, 1e-3)]))
def test_the_most_charged_person_is_never_undercounted(
    made: list[tuple[float, Measure, int | None]], privacy: Privacy
) -> None:
    ledger = Ledger(privacy)
    plain = PlainLedger(privacy)
    newest = -1
    for share, measure, cohort in made:
        whole = privacy.budget.amount if measure == "zcdp" else privacy.epsilon
        charge = Charge(measure, share * whole)
        try:
            after = ledger.charge(charge, cohort=cohort)
        except ConfigError:
            other = "zcdp" if measure == "pure" else "pure"
            late = cohort is not None and cohort < newest
            assert late or (cohort == newest and plain.cohorts[newest][other] > 0)
            continue
        except BudgetError:
            continue
        ledger = after
        plain.charge(charge, cohort)
        newest = newest if cohort is None else cohort
    assert ledger.spent.epsilon(privacy) == pytest.approx(plain.epsilon(), rel=1e-9, abs=1e-12)
    assert plain.epsilon() <= privacy.epsilon * (1 + 1e-9)
    assert Ledger.from_plain(privacy, ledger.as_plain()) == ledger


def test_each_cohort_pays_in_its_own_measure() -> None:
    ledger = (
        Ledger(USUAL)
        .charge(pure(1.0), cohort=0)
        .charge(zcdp(WHOLE), cohort=1)
        .charge(pure(0.5), cohort=2)
    )
    assert ledger.spent == Spending(zcdp(0.0), pure=1.0, zcdp=ledger.spent.zcdp)
    assert ledger.spent.zcdp == pytest.approx(WHOLE)
    assert ledger.spent.epsilon(USUAL) == pytest.approx(1.0)
    for cohort, charge in ((2, pure(0.51)), (3, pure(1.01)), (3, zcdp(WHOLE * 1.01))):
        with pytest.raises(BudgetError):
            ledger.charge(charge, cohort=cohort)
    with pytest.raises(ConfigError, match="one measure"):
        ledger.charge(zcdp(1e-9), cohort=2)
    with pytest.raises(ConfigError, match="cohort 1 is closed"):
        ledger.charge(zcdp(1e-9), cohort=1)


@pytest.mark.parametrize("common", [0.0, 0.1, 0.5, 0.9])
def test_charges_against_everyone_leave_a_pure_cohort_the_rest_of_epsilon(common: float) -> None:
    left = 1.0 - epsilon_of(common * WHOLE, 1e-6)
    against_everyone = zcdp(common * WHOLE)
    against_cohort = pure(left - 1e-9)
    orders = (
        Ledger(USUAL).charge(against_everyone).charge(against_cohort, cohort=0),
        Ledger(USUAL).charge(against_cohort, cohort=0).charge(against_everyone),
    )
    for ledger in orders:
        assert ledger.spent.epsilon(USUAL) == pytest.approx(1.0, abs=1e-8)
        with pytest.raises(BudgetError):
            ledger.charge(pure(2e-9), cohort=0)
        with pytest.raises(BudgetError):
            ledger.charge(zcdp(WHOLE / 50))


def gaussian_delta(rho: float, epsilon: float) -> float:
    """The exact δ of a Gaussian mechanism that is ρ-zCDP, also for negative ε."""
    shift = sqrt(2 * rho)
    if shift == 0:
        return max(0.0, 1 - exp(epsilon))
    return float(
        norm.cdf(shift / 2 - epsilon / shift)
        - exp(epsilon) * norm.cdf(-shift / 2 - epsilon / shift)
    )


@given(
    st.floats(0, 1),
    st.floats(0, 1),
    st.sampled_from([USUAL, Privacy(3.0, 1e-3), Privacy(0.2, 1e-9)]),
)
def test_a_gaussian_for_everyone_and_a_coin_for_a_cohort_stay_within_delta(
    common: float, own: float, privacy: Privacy
) -> None:
    """The worst mechanisms of both measures, composed exactly: Gaussian, randomised response."""
    ledger = Ledger(privacy)
    try:
        ledger = ledger.charge(zcdp(common * privacy.budget.amount))
        ledger = ledger.charge(pure(own * privacy.epsilon), cohort=0)
    except BudgetError:
        return
    coin = own * privacy.epsilon
    rho = common * privacy.budget.amount
    heads = exp(coin) / (1 + exp(coin))
    delta = heads * gaussian_delta(rho, privacy.epsilon - coin)
    delta += (1 - heads) * gaussian_delta(rho, privacy.epsilon + coin)
    assert delta <= privacy.delta * (1 + 1e-9)


def test_pure_charges_can_be_paid_in_zcdp_but_not_the_other_way() -> None:
    paid = Ledger(Privacy(3.0, 1e-6)).charge(pure(0.5))
    assert paid.spent.everyone.amount == pytest.approx(0.125)
    with pytest.raises(BudgetError, match="pure"):
        Ledger(Privacy(1.0)).charge(zcdp(0.1))
    with pytest.raises(BudgetError, match="pure"):
        Ledger(Privacy(1.0)).charge(zcdp(0.1), cohort=0)


def test_with_several_contributions_all_people_pay_in_one_measure() -> None:
    """The proofs do not cover group privacy of a pure round and a zCDP round of one person."""
    twice = Privacy(1.0, 1e-6, contributions=2)
    share = twice.budget.amount / 10
    with pytest.raises(ConfigError, match="2 contributions"):
        Ledger(twice).charge(pure(0.1), cohort=0).charge(zcdp(share), cohort=1)
    with pytest.raises(ConfigError, match="2 contributions"):
        Ledger(twice).charge(zcdp(share), cohort=0).charge(pure(0.1), cohort=1)
    with pytest.raises(ConfigError, match="2 contributions"):
        Ledger(twice).charge(zcdp(share)).charge(pure(0.1), cohort=0)
    with pytest.raises((ConfigError, BudgetError)):
        Ledger(twice).charge(pure(0.1), cohort=0).charge(zcdp(share))
    alone = Ledger(twice).charge(pure(0.5), cohort=0).charge(pure(0.5), cohort=1)
    assert alone.spent.epsilon(twice) == pytest.approx(1.0)
    with pytest.raises(BudgetError):
        alone.charge(pure(0.51), cohort=2)


def test_a_plan_that_exceeds_the_privacy_is_refused_before_the_first_round() -> None:
    fitting = Spending(zcdp(WHOLE / 4), pure=0.3, zcdp=WHOLE / 2)
    assert Ledger.of(USUAL, fitting).spent.epsilon(USUAL) == pytest.approx(fitting.epsilon(USUAL))
    for beyond in (
        Spending(zcdp(WHOLE * 1.01)),
        Spending(zcdp(WHOLE / 2), zcdp=WHOLE * 0.51),
        Spending(zcdp(WHOLE / 4), pure=0.9),
        Spending(zcdp(0.0), pure=1.01),
    ):
        assert beyond.epsilon(USUAL) > 1.0
        with pytest.raises(BudgetError):
            Ledger.of(USUAL, beyond)


def test_the_zcdp_of_a_spending_is_that_of_the_cohort_that_paid_most() -> None:
    assert Spending(zcdp(0.01), zcdp=0.005).rho(USUAL) == pytest.approx(0.015)
    assert Spending(zcdp(0.01), pure=0.2, zcdp=0.005).rho(USUAL) == pytest.approx(0.03)
    thrice = Privacy(1.0, 1e-6, contributions=3)
    assert Spending(zcdp(0.001), zcdp=0.001).rho(thrice) == pytest.approx(0.018)
    assert Spending(pure(0.1)).rho(Privacy(1.0, contributions=3)) == pytest.approx(0.045)


def accounted(event: "DpEvent", delta: float = 1e-6) -> float:
    """The ε that dp-accounting computes."""
    from dp_accounting import NeighboringRelation
    from dp_accounting.rdp import rdp_privacy_accountant

    orders = 1 + np.geomspace(1e-2, 1e4, 800)
    accountant = rdp_privacy_accountant.RdpAccountant(orders, NeighboringRelation.REPLACE_ONE)
    accountant.compose(event)
    return float(accountant.get_epsilon(delta))


@pytest.mark.parametrize(
    "spent",
    [
        Spending(zcdp(0.02)),
        Spending(zcdp(0.01), zcdp=0.01),
        Spending(zcdp(0.0), pure=0.7),
        Spending(zcdp(0.0), pure=0.7, zcdp=0.02),
        Spending(zcdp(0.0), pure=0.1, zcdp=0.02),
        Spending(zcdp(0.01), pure=0.3, zcdp=0.01),
    ],
    ids=str,
)
def test_dp_accounting_finds_no_less_than_was_spent(spent: Spending) -> None:
    """Neither measure dominates the other, so both are in the event."""
    pytest.importorskip("dp_accounting")
    epsilon = accounted(spent.event(USUAL))
    assert epsilon >= spent.epsilon(USUAL) * (1 - 1e-6)
    for part in (
        Spending(spent.everyone, pure=spent.pure),
        Spending(spent.everyone, zcdp=spent.zcdp),
    ):
        assert epsilon >= accounted(part.event(USUAL)) * (1 - 1e-9)


def test_no_spending_is_an_empty_event_and_pure_spending_a_randomised_response() -> None:
    pytest.importorskip("dp_accounting")
    from dp_accounting import NeighboringRelation, dp_event
    from dp_accounting.pld import pld_privacy_accountant

    assert isinstance(Spending(zcdp(0.0)).event(USUAL), dp_event.NoOpDpEvent)
    accountant = pld_privacy_accountant.PLDAccountant(NeighboringRelation.REPLACE_ONE)
    accountant.compose(Spending(pure(0.3), pure=0.05).event(Privacy(1.0, contributions=2)))
    assert accountant.get_epsilon(0.0) == pytest.approx(0.7, abs=1e-3)
