"""If these fail, the numbers in every guarantee are wrong."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from discreet.budget.conversion import delta_of, epsilon_of, rho_of


def test_rho_at_epsilon_1_and_delta_1e_6() -> None:
    assert rho_of(1.0, 1e-6) == pytest.approx(0.024356, abs=5e-7)


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 4.0, 20.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 1e-3])
def test_conversions_are_inverse_to_each_other_and_err_on_the_safe_side(
    epsilon: float, delta: float
) -> None:
    rho = rho_of(epsilon, delta)
    assert delta_of(rho, epsilon) <= delta
    assert delta_of(rho * 1.001, epsilon) > delta
    assert epsilon * (1 - 1e-9) <= epsilon_of(rho, delta) <= epsilon * (1 + 1e-9)


@pytest.mark.parametrize("rho", [1e-4, 0.024356, 0.5])
@pytest.mark.parametrize("delta", [1e-9, 1e-5])
def test_agrees_with_dp_accounting_at_fine_orders(rho: float, delta: float) -> None:
    dp_event = pytest.importorskip("dp_accounting.dp_event")
    from dp_accounting.rdp import rdp_privacy_accountant

    orders = 1 + np.geomspace(1e-3, 1e5, 20_000)
    accountant = rdp_privacy_accountant.RdpAccountant(orders=orders)
    accountant.compose(dp_event.ZCDpEvent(rho))
    assert epsilon_of(rho, delta) == pytest.approx(accountant.get_epsilon(delta), rel=1e-5)


@pytest.mark.parametrize("rho", [0.001, 0.024356, 0.3])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_delta_covers_the_exact_delta_of_a_gaussian(rho: float, epsilon: float) -> None:
    """A Gaussian with shift μ = √(2ρ) is ρ-zCDP; δ is its hockey-stick divergence."""
    shift = math.sqrt(2 * rho)
    above = norm.cdf(shift / 2 - epsilon / shift)
    below = norm.cdf(-shift / 2 - epsilon / shift)
    assert above - math.exp(epsilon) * below <= delta_of(rho, epsilon)


def test_zero_rho_has_zero_loss_and_zero_delta_needs_infinite_epsilon() -> None:
    assert delta_of(0.0, 1.0) == epsilon_of(0.0, 1e-6) == 0.0
    assert epsilon_of(0.1, 0.0) == math.inf
