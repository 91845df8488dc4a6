"""The attack on outputs: a learner without noise must be caught, an honest one must not."""

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
ASKED = Privacy(0.5, 1e-6)


def test_an_honest_learner_is_not_caught_and_one_without_noise_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    worst = measured_costs(SUMS, pairs=20, seed=0).worst
    assert not attack(SUMS, ASKED, runs=20, pair=worst).caught

    def exact(self: Door, noise: Noise, values: Integers) -> Integers:
        return values + noise.draw(values.size, self._bits) // 1000  # a thousandth of the noise

    monkeypatch.setattr(Door, "noised", exact)
    found = attack(SUMS, ASKED, runs=120, pair=worst)
    assert found.caught
    assert found.epsilon > 0.5
    assert min(np.add(found.false_alarms, found.misses)) < 0.02


def test_the_allowed_curve_is_that_of_randomised_response() -> None:
    """Who answers truly with chance e^ε/(1 + e^ε) reaches the curve's corner and nothing below
    it.
    """
    wrong = 1 / (1 + np.exp(1.0))
    assert allowed_misses(np.array([wrong]), Privacy(1.0))[0] == pytest.approx(wrong)
    answers = np.array([0.0] * 731 + [1.0] * 269), np.array([0.0] * 269 + [1.0] * 731)
    false_alarms, misses = trade_off(*answers)
    assert (misses >= allowed_misses(false_alarms, Privacy(1.0)) - 1e-3).all()
    assert np.min(false_alarms + misses) == pytest.approx(2 * 0.269)
