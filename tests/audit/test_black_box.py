"""If these fail, the attack on outputs misses a learner without noise, or blames an honest one."""

import numpy as np
import pytest

from discreet import Privacy
from discreet.arrays import Integers
from discreet.audit.black_box import allowed_misses, attack, trade_off
from discreet.audit.cases.learners import cases
from discreet.audit.transcript import measured_costs
from discreet.release.door import Door
from discreet.release.noise import Noise

SUMS = next(case for case in cases(0.5) if case.name == "sum, blocks, toeplitz")
PRIVACY = Privacy(0.5, 1e-6)


def test_an_honest_learner_is_not_caught_and_one_without_noise_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    worst = measured_costs(SUMS, pairs=20, seed=0).worst
    assert not attack(SUMS, PRIVACY, runs=20, pair=worst).caught
    honest = Door.noised

    def faint(self: Door, noise: Noise, exact: Integers) -> Integers:
        return exact + (honest(self, noise, exact) - exact) // 1000  # a thousandth of the noise

    monkeypatch.setattr(Door, "noised", faint)
    attacked = attack(SUMS, PRIVACY, runs=120, pair=worst)
    assert attacked.caught
    assert attacked.epsilon > 0.5
    assert min(np.add(attacked.false_alarms, attacked.misses)) < 0.02


def test_the_allowed_curve_is_that_of_randomised_response() -> None:
    """A true answer with probability e^ε/(1 + e^ε) reaches the curve's corner, never below it."""
    wrong = 1 / (1 + np.exp(1.0))
    assert allowed_misses(np.array([wrong]), Privacy(1.0))[0] == pytest.approx(wrong)
    answers = np.array([0.0] * 731 + [1.0] * 269), np.array([0.0] * 269 + [1.0] * 731)
    false_alarms, misses = trade_off(*answers)
    assert (misses >= allowed_misses(false_alarms, Privacy(1.0)) - 1e-3).all()
    assert np.min(false_alarms + misses) == pytest.approx(2 * 0.269)
