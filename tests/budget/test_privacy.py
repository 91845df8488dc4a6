"""If these fail, impossible settings are accepted, or a charge is rounded down."""

from fractions import Fraction
from math import inf, nan, nextafter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.budget.privacy import Charge, Privacy, pure, zcdp
from discreet.errors import ConfigError


@pytest.mark.parametrize(
    ("epsilon", "delta", "contributions"),
    [
        (0, 0, 1), (-1, 0, 1), (nan, 0, 1), (inf, 0, 1), ("1", 0, 1), (None, 0, 1), (True, 0, 1),
        (1, 1, 1), (1, -0.1, 1), (1, nan, 1), (1, None, 1), (1, 0, 0), (1, 0, 1.5), (1, 0, True),
    ],
)  # fmt: skip
def test_impossible_settings_are_refused_with_their_value(
    epsilon: Any, delta: Any, contributions: Any
) -> None:
    with pytest.raises(ConfigError, match="got"):
        Privacy(epsilon, delta, contributions=contributions)


@pytest.mark.parametrize("amount", [-1e-9, nan, inf])
def test_a_charge_is_never_negative_or_infinite(amount: float) -> None:
    with pytest.raises(ConfigError, match="finite and at least 0"):
        zcdp(amount)


@given(st.floats(0, 1e3), st.integers(0, 10**6))
def test_a_multiple_of_a_charge_is_no_less_than_its_sum(amount: float, times: int) -> None:
    assert Fraction((zcdp(amount) * times).amount) >= Fraction(amount) * times
    assert zcdp(amount) * 1 == zcdp(amount)
    assert (pure(amount) * 0).amount == 0


def test_a_pure_charge_is_half_its_square_in_zcdp() -> None:
    assert pure(0.5).rho == nextafter(0.125, inf)
    assert zcdp(0.5).rho == 0.5
    assert Charge("pure", 0.5) == pure(0.5)


def test_several_rounds_of_one_person_share_the_budget() -> None:
    once = Privacy(1.0, 1e-6)
    thrice = Privacy(1.0, 1e-6, contributions=3)
    assert thrice.budget.amount == pytest.approx(once.budget.amount / 9)
    assert Privacy(1.0, contributions=3).budget == pure(1 / 3)
    assert thrice.whole == once.whole == once.budget


def test_one_release_may_be_paid_in_either_measure_if_delta_is_positive() -> None:
    assert Privacy(1.0).budgets == (pure(1.0),)
    both = Privacy(1.0, 1e-6, contributions=2)
    assert both.budgets == (pure(0.5), both.budget)
