"""If these fail, a fused pass exceeds the bound that `Rows` states, or computes wrong vectors.

The bound holds for all people and for all laws: laws that no loss has are fed in as well.
"""

from itertools import product
from math import inf, nan
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from discreet.errors import ConfigError
from discreet.learners.set_maximizer.click_gains import stack_click_gains
from discreet.losses import MARGIN_LOSSES, HuberLoss, SoftmaxLoss
from discreet.release.aggregators import Rows, SampleBounds

LOSSES: list[Any] = [*MARGIN_LOSSES, HuberLoss(0.7)]
HOSTILE = [nan, inf, -inf, 1e308, -1e308, 1e154, 5e-324, -0.0]


def length_of(values: np.ndarray, norm: float) -> float:
    """The norm of whole numbers, without overflow."""
    whole = [abs(int(value)) for value in values.reshape(-1)]
    lengths = {
        1: float(sum(whole)),
        2: float(sum(value**2 for value in whole) ** 0.5),
        inf: float(max(whole)),
    }
    return lengths[norm]


# --- gains over a slate, under the click model


def click_gains(
    rows: Rows,
    people: ArrayLike,
    slate: list[int],
    weigh: Any = stack_click_gains,
    parameter: float = 3.0,
) -> np.ndarray:
    """The sum of the people's gains, by the fused pass."""
    probabilities = np.atleast_2d(np.asarray(people, dtype=np.float64))
    total = rows.empty()
    rows.add_slate_gains(total, weigh, parameter, probabilities, np.array(slate))
    return total.values


def plain_click_gains(person: np.ndarray, slate: list[int]) -> np.ndarray:
    """Each item's mean gain over the other items before each slot, and three times its drops."""

    def chance(shown: list[int]) -> float:
        return 1 - float(np.prod([1 - person[item] for item in shown]))

    gains = np.empty((len(slate), len(person)))
    for slot, item in product(range(len(slate)), range(len(person))):
        others = [other for other in slate[:slot] if other != item]
        gains[slot, item] = chance([*others, item]) - chance(others)
    return np.concatenate(
        [gains.sum(axis=0, keepdims=True) / len(slate) ** 0.5, -3 * np.diff(gains, axis=0)]
    )


@settings(max_examples=60)
@given(st.integers(1, 5), st.integers(0, 2**32), st.sampled_from([2**12, 2**20, 2**24]))
def test_click_gains_of_ordinary_visitors_follow_the_plain_formula(
    slots: int, seed: int, levels: int
) -> None:
    generator = np.random.default_rng(seed)
    rows = Rows((slots, 7), nonnegative=True, levels=levels)
    people = generator.uniform(0, 1, size=(3, 7)) * generator.choice([0.01, 0.1, 1.0], size=(3, 1))
    slate = generator.permutation(7)[:slots].tolist()
    expected = np.zeros((slots, 7))
    for person in people:
        gains = plain_click_gains(person, slate) * levels
        expected += gains * min(1.0, rows.limit / np.linalg.norm(gains))
    assert np.abs(click_gains(rows, people, slate) - expected).max() <= 3 * (0.5 + levels * 1e-9)


@settings(max_examples=100)
@given(
    st.lists(
        st.floats(0, 1) | st.sampled_from([0.0, 1.0, 5e-324, 1e-160, 1 - 2**-53]),
        min_size=5,
        max_size=5,
    ),
    st.permutations(range(5)),
    st.integers(1, 5),
    st.sampled_from([40, 2**12, 2**24]),
)
def test_no_visitor_of_the_click_model_exceeds_the_levels(
    person: list[float], order: list[int], slots: int, levels: int
) -> None:
    rows = Rows((slots, 5), nonnegative=True, levels=levels)
    whole = click_gains(rows, person, order[:slots])
    assert length_of(whole, 2) <= levels
    assert whole.min() >= 0


def test_visitors_with_invalid_probabilities_stay_within_the_levels() -> None:
    """The pass itself enforces the bound, without checks by its callers."""
    rows = Rows((2, 3), nonnegative=True, levels=2**16)
    for person in product([*HOSTILE, -3.0, 7.0, 0.5, 1.0], repeat=3):
        with np.errstate(all="ignore"):
            whole = click_gains(rows, person, [0, 1])
        assert length_of(whole, 2) <= rows.levels, person
        assert whole.min() >= 0, person
        if not all(0 <= chance <= 1 for chance in person):
            with np.errstate(all="ignore"):
                both = click_gains(rows, [person, (0.5, 0.25, 0.0)], [0, 1])
            others = click_gains(rows, (0.5, 0.25, 0.0), [0, 1])
            assert length_of(both - others, 2) <= rows.levels, person


# --- gradients of linear predictors


def gradients(
    rows: Rows,
    features: ArrayLike,
    targets: ArrayLike,
    here: np.ndarray,
    before: np.ndarray,
    *,
    weight: float = 0.0,
    loss: Any = LOSSES[0],
    dual: float = 2.0,
    feature_bound: float = 1.0,
    target_bound: float = 2.0,
    constant: float = 0.0,
    share: float = 1.0,
    worth: float = 1.0,
) -> np.ndarray:
    """The sum of the samples' gradients, by the fused pass."""
    samples = np.atleast_2d(np.asarray(features, dtype=np.float64))
    total = rows.empty()
    people = (
        samples,
        np.atleast_1d(np.asarray(targets, dtype=np.float64)),
        np.full(len(samples), share),
    )
    bounds = SampleBounds(
        dual=0.0 if dual == inf else dual,
        feature_bound=feature_bound,
        target_bound=target_bound,
        constant=constant,
        worth=worth,
    )
    points = (here, before, weight)
    rows.add_gradients(total, loss.slope, loss.parameter, people, points, bounds)
    return total.values


def plain_gradient(
    loss: Any,
    row: np.ndarray,
    target: float,
    here: np.ndarray,
    before: np.ndarray,
    weight: float,
    dual: float,
    constant: float,
) -> np.ndarray:
    """The gradient of one sample, in NumPy."""
    if not (np.isfinite(row).all() and np.isfinite(target)):
        return np.zeros_like(here)
    length = np.linalg.norm(row, dual)
    row = row * min(1.0, 1.0 / length) if length > 0 else row
    row = np.append(row, constant) if constant else row
    target = float(np.clip(target, -2, 2))
    slope = loss.slopes(np.array([row @ here]), np.array([target]))[0]
    older = loss.slopes(np.array([row @ before]), np.array([target]))[0]
    return np.asarray((slope + weight * (slope - older)) * row)


@settings(max_examples=80)
@given(
    st.integers(0, 10**6),
    st.sampled_from(LOSSES),
    st.sampled_from([1.0, 1.5, 2.0, 3.0, inf]),
    st.sampled_from([1, 2, inf]),
    st.booleans(),
    st.sampled_from([0.2, 5.0]),
)
def test_gradients_of_ordinary_samples_equal_those_of_numpy(
    seed: int, loss: Any, dual: float, norm: float, constant: bool, length: float
) -> None:
    generator = np.random.default_rng(seed)
    features = generator.normal(size=(5, 3)) * generator.choice([0.1, 1.0, 100.0], size=(5, 1))
    features[generator.random((5, 3)) < 0.05] = generator.choice([nan, inf])
    targets = generator.normal(size=5) * 3
    size = 3 + constant
    here = generator.normal(size=size)
    before = generator.normal(size=size)
    weight = float(generator.integers(0, 4))
    more = 1.0 if constant else 0.0
    rows = Rows((size,), length=length, norm=norm, levels=2**20)
    total = gradients(
        rows, features, targets, here, before, weight=weight, loss=loss, dual=dual, constant=more
    )
    expected = np.zeros(size)
    for row, target in zip(features, targets, strict=True):
        gradient = plain_gradient(loss, row, target, here, before, weight, dual, more) / rows.grid
        longer = np.linalg.norm(gradient, norm) > rows.limit
        expected += gradient * (rows.limit / np.linalg.norm(gradient, norm) if longer else 1.0)
    assert np.abs(total - expected).max() <= 5 * (0.5 + 1e-6 * 2**20)


@pytest.mark.parametrize("norm", [1, 2, inf])
@pytest.mark.parametrize("dual", [1.0, 1.5, 2.0, 3.0, inf])
@pytest.mark.parametrize("constant", [0.0, 1.0])
def test_no_hostile_sample_exceeds_the_levels(norm: float, dual: float, constant: float) -> None:
    """Every pair of hostile features and every hostile target, for every loss, far from zero."""
    rows = Rows((2 + (constant > 0),), norm=norm, levels=2**12)
    here = np.full(rows.size, 3.0)
    before = np.full(rows.size, -1e3)
    features = np.array(list(product([*HOSTILE, 1e-160, 0.3, -1.0, 40.0], repeat=2)))
    for loss, target, weight in product(LOSSES, [nan, inf, -1e308, 1e-320, 0.7], [0.0, 6.0]):
        for sample in features[:: 1 + (weight > 0) * 4]:
            whole = gradients(
                rows,
                sample,
                target,
                here,
                before,
                weight=weight,
                loss=loss,
                dual=dual,
                constant=constant,
            )
            assert length_of(whole, norm) <= rows.levels, (loss, sample, target)
            if not (np.isfinite(sample).all() and np.isfinite(target)):
                assert not whole.any()


@settings(max_examples=150)
@given(
    st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=3, max_size=3),
    st.floats(allow_nan=True, allow_infinity=True),
    st.sampled_from(LOSSES),
    st.sampled_from([1, 2, inf]),
    st.sampled_from([(1e-8, 1e8), (1e8, 1e-8), (1e8, 1e8), (1.0, 1.0)]),
    st.sampled_from([1e-8, 1.0, 1e8]),
    st.integers(0, 10**6),
)
def test_no_sample_exceeds_the_levels_for_extreme_bounds(
    sample: list[float],
    target: float,
    loss: Any,
    norm: float,
    bounds: tuple[float, float],
    length: float,
    seed: int,
) -> None:
    rows = Rows((3,), length=length, norm=norm, levels=2**16)
    here, before = np.random.default_rng(seed).normal(size=(2, 3)) * 1e8
    whole = gradients(
        rows,
        sample,
        target,
        here,
        before,
        weight=3.0,
        loss=loss,
        feature_bound=bounds[0],
        target_bound=bounds[1],
    )
    assert length_of(whole, norm) <= rows.levels


# --- both


def test_a_grid_too_coarse_for_rounding_is_refused_before_any_data_is_read() -> None:
    coarse = Rows((100,), norm=1, levels=50)
    assert not coarse.is_fine
    with pytest.raises(ConfigError, match="too many for this budget"):
        gradients(coarse, np.ones(100), 1.0, np.zeros(100), np.zeros(100))
    assert Rows((100,), norm=1, levels=2**20).is_fine


@pytest.mark.parametrize("norm", [1, 2, inf])
def test_the_limit_leaves_room_for_rounding(norm: float) -> None:
    """A row of norm `limit` stays within the bound if every entry moves half a step outwards."""
    rows = Rows((9,), norm=norm, levels=1000)
    longest = {1: rows.limit / 9, 2: rows.limit / 3, inf: rows.limit}[norm]
    assert np.linalg.norm(np.full(9, longest + 0.5), norm) <= rows.levels


def test_share_and_worth_scale_gradients_before_they_are_clipped() -> None:
    rows = Rows((2,), levels=2**16)
    here = np.array([0.2, -0.1])
    whole = gradients(rows, [0.3, 0.1], 0.5, here, here)
    assert np.abs(gradients(rows, [0.3, 0.1], 0.5, here, here, share=0.5) - whole / 2).max() <= 1
    assert np.abs(gradients(rows, [0.3, 0.1], 0.5, here, here, worth=2.0) - whole * 2).max() <= 2
    for share, worth in product([nan, inf, -3.0, 0.0, 1e300], [1.0, 1e29]):
        with np.errstate(all="ignore"):
            scaled = gradients(rows, [0.3, 0.1], 0.5, here, here, share=share, worth=worth)
        assert length_of(scaled, 2) <= rows.levels
        assert scaled.any() == (share == 1e300)


# --- gradients of classes


def class_gradients(
    rows: Rows,
    features: ArrayLike,
    targets: ArrayLike,
    here: np.ndarray,
    *,
    dual: float = 2.0,
    constant: float = 0.0,
    worth: float = 1.0,
    slopes: Any = SoftmaxLoss.class_slopes,
) -> np.ndarray:
    """The sum of the samples' gradients of the multinomial loss, by the fused pass."""
    samples = np.atleast_2d(np.asarray(features, dtype=np.float64))
    total = rows.empty()
    people = (
        samples,
        np.atleast_1d(np.asarray(targets, dtype=np.float64)),
        np.ones(len(samples)),
    )
    bounds = SampleBounds(0.0 if dual == inf else dual, 1.0, 1.0, constant, worth)
    rows.add_class_gradients(total, slopes, people, here, bounds)
    return total.values


@pytest.mark.parametrize("norm", [1, 2, inf])
@pytest.mark.parametrize("constant", [0.0, 0.7])
def test_gradients_of_classes_equal_those_of_numpy(norm: float, constant: float) -> None:
    generator = np.random.default_rng(4)
    loss = SoftmaxLoss(3)
    size = 2 + (constant > 0)
    features = generator.normal(size=(6, 2)) / 4
    targets = np.array([0.0, 1, 2, 1, 0.5, 3])
    here = generator.normal(size=(3, size))
    rows = Rows((3, size), length=0.4, norm=norm, levels=2**20)
    expected = np.zeros((3, size))
    for row, target in zip(features, targets, strict=True):
        row = np.append(row, constant) if constant else row
        gradient = loss.slopes((here @ row)[None], np.array([target]))[0][:, None] * row / rows.grid
        longer = np.linalg.norm(gradient.reshape(-1), norm) / rows.limit
        expected += gradient / max(1.0, longer)
    total = class_gradients(rows, features, targets, here, constant=constant)
    assert np.abs(total - expected).max() <= 4


@pytest.mark.parametrize("norm", [1, 2, inf])
@pytest.mark.parametrize("dual", [1.0, 1.5, 2.0, inf])
def test_no_hostile_sample_of_a_class_exceeds_the_levels(norm: float, dual: float) -> None:
    rows = Rows((3, 3), norm=norm, levels=2**12)
    for scale, worth in ((3.0, 1.0), (1e200, 1e29), (-1e3, 1e-8)):
        here = np.array([[1.0, -1.0, 0.5], [0.0, 2.0, 0.1], [-1.0, 0.0, 1.0]]) * scale
        for sample in product([*HOSTILE, 1e-160, 0.3, -1.0, 40.0], repeat=2):
            for target in (0.0, 2.0, 1.5, 3.0, -1.0, nan, inf):
                with np.errstate(all="ignore"):
                    whole = class_gradients(
                        rows, sample, target, here, dual=dual, constant=1.0, worth=worth
                    )
                assert length_of(whole, norm) <= rows.levels, (sample, target)
                if target not in (0.0, 2.0) or not np.isfinite(sample).all():
                    assert not whole.any()


# --- laws that no loss has

LAWLESS = [nan, inf, -inf, 1e308, -1e200, 1e61, 1e59, 1e-162, -1e-300, 5e-324, -0.0, 0.4]


class Lawless(NamedTuple):
    """A loss whose slope is whatever its parameter is."""

    parameter: float

    @staticmethod
    def slope(margin: float, target: float, parameter: float) -> float:
        return parameter


@pytest.mark.parametrize("norm", [1, 2, inf])
@pytest.mark.parametrize("constant", [0.0, 1e-160, 1.0])
def test_no_slope_takes_a_sample_past_the_levels(norm: float, constant: float) -> None:
    size = 2 + (constant > 0)
    for length, sample in product(
        [1e-270, 1.0, 1e270], product([1e-162, 1e-155, 5e-324, 0.3, -40.0, 1e150], repeat=2)
    ):
        rows = Rows((size,), length=length, norm=norm, levels=2**12)
        here = np.zeros(size)
        for slope, weight, bound in product(LAWLESS, [0.0, 6.0], [1.0, 1e160]):
            with np.errstate(all="ignore"):
                whole = gradients(
                    rows,
                    sample,
                    0.0,
                    here,
                    here,
                    weight=weight,
                    loss=Lawless(slope),
                    feature_bound=bound,
                    constant=constant,
                )
            assert length_of(whole, norm) <= rows.levels, (sample, slope, length)


def lawless_slopes(margins: np.ndarray, target: float) -> None:
    """One margin becomes the target, the next one the same again, the last one stays."""
    margins[0] = target
    margins[1] = -target


@pytest.mark.parametrize("norm", [1, 2, inf])
@pytest.mark.parametrize("constant", [0.0, 1.0])
def test_no_slopes_of_classes_take_a_sample_past_the_levels(norm: float, constant: float) -> None:
    size = 2 + (constant > 0)
    for length, sample, slope in product(
        [1e-270, 1.0, 1e270], product([1e-162, 1e-155, 0.3, 1e150], repeat=2), LAWLESS
    ):
        rows = Rows((3, size), length=length, norm=norm, levels=2**12)
        for scale, dual in product([0.0, 1e-160, 1e100], [2.0, inf]):
            with np.errstate(all="ignore"):
                whole = class_gradients(
                    rows,
                    sample,
                    slope,
                    np.full((3, size), scale),
                    dual=dual,
                    constant=constant,
                    slopes=lawless_slopes,
                )
            assert length_of(whole, norm) <= rows.levels, (sample, slope, length)


def lawless_weights(shown: np.ndarray, parameter: float, weights: np.ndarray) -> None:
    """The last item of the slate weighs what the parameter is, and so do all others once."""
    weights[0, 0] = parameter
    weights[-1, -1] = parameter


def test_no_weights_take_a_visitor_past_the_levels() -> None:
    for length, weight in product([1e-270, 1.0, 1e270], LAWLESS):
        rows = Rows((2, 4), length=length, nonnegative=True, levels=2**12)
        for person in product([1e-162, 5e-324, 0.0, 0.5, 1.0], repeat=4):
            with np.errstate(all="ignore"):
                whole = click_gains(rows, person, [1, 3], lawless_weights, weight)
            assert length_of(whole, 2) <= rows.levels, (person, weight, length)
            assert whole.min() >= 0


def own_first_person(shown: np.ndarray, parameter: float, weights: np.ndarray) -> None:
    """Weights are written for visitors who like the first item only."""
    if shown[0] > 0.5:
        weights[0, 0] = 1.0


def test_weights_of_one_visitor_are_not_those_of_the_next() -> None:
    rows = Rows((1, 3), nonnegative=True, levels=2**12)
    first, second = (0.9, 0.5, 0.5), (0.1, 0.5, 0.5)
    alone = click_gains(rows, [first], [0], own_first_person)
    assert alone.any()
    assert (click_gains(rows, [first, second], [0], own_first_person) == alone).all()


def test_gains_over_a_slate_are_refused_for_another_norm() -> None:
    with pytest.raises(ConfigError, match="measured in l₂"):
        click_gains(Rows((1, 2), norm=1, nonnegative=True, levels=2**12), [0.5, 0.5], [0])
