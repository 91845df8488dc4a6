"""If these fail, arms are scored by wrong coefficients, or with wrong standard errors."""

from math import sqrt

import numpy as np
import pytest

from discreet.optim.ridge import fit_ridges
from discreet.optim.shrinkage import excess_variance, shrink_to_common_mean


def regressions(
    generator: np.random.Generator, slots: int, size: int, people: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return second moments, moments, and the true coefficients, without noise."""
    coefficients = generator.normal(size=(slots, size))
    contexts = generator.normal(size=(slots, people, size)) @ np.diag(np.linspace(0.5, 2.0, size))
    grams = np.einsum("kpi,kpj->kij", contexts, contexts)
    return grams, np.einsum("kij,kj->ki", grams, coefficients), coefficients


def test_without_noise_the_coefficients_are_those_of_least_squares(
    generator: np.random.Generator,
) -> None:
    grams, moments, coefficients = regressions(generator, slots=3, size=4, people=200)
    fitted = fit_ridges(grams, moments, gram_noise=0.0, moment_noise=0.0)
    assert np.allclose(fitted.coefficients, coefficients)
    assert np.allclose(fitted.coefficients, np.linalg.solve(grams, moments[..., None])[..., 0])
    assert np.allclose(fitted.covariances, np.linalg.inv(grams))


def test_directions_that_noise_hides_are_not_scaled_up() -> None:
    """Noise alone has eigenvalues up to √(2D) times its size, also negative ones."""
    gram = np.diag([100.0, 1e-9, -3.0])[None]
    fitted = fit_ridges(gram, np.array([[10.0, 5.0, 5.0]]), gram_noise=2.0, moment_noise=1.0)
    least = 2.0 * sqrt(6)
    assert fitted.coefficients[0] == pytest.approx([0.1, 5 / least, 5 / least])
    assert np.linalg.eigvalsh(fitted.covariances[0]).min() > 0


def test_the_ridge_is_about_the_largest_eigenvalue_of_noise_alone(
    generator: np.random.Generator,
) -> None:
    """Otherwise noise would be taken for knowledge, or knowledge thrown away."""
    size, noise = 40, 0.7
    beside = generator.normal(size=(30, size, size)) * noise / sqrt(2)
    noisy = np.tril(beside, -1) + np.tril(beside, -1).transpose(0, 2, 1)
    noisy[:, np.arange(size), np.arange(size)] = generator.normal(size=(30, size)) * noise
    largest = np.linalg.eigvalsh(noisy).max(axis=1).mean()
    least = noise * sqrt(2 * size)
    assert 0.85 < largest / least < 1.05
    flat = fit_ridges(
        np.zeros((1, size, size)), np.ones((1, size)), gram_noise=noise, moment_noise=0.0
    )
    assert flat.coefficients == pytest.approx(1 / least)


def test_without_moments_all_coefficients_are_zero() -> None:
    fitted = fit_ridges(np.zeros((2, 3, 3)), np.zeros((2, 3)), gram_noise=0.0, moment_noise=0.0)
    assert not fitted.coefficients.any()
    assert np.isfinite(fitted.covariances).all()


def test_slots_are_fitted_separately(generator: np.random.Generator) -> None:
    grams, moments, _ = regressions(generator, slots=4, size=3, people=50)
    noise = {"gram_noise": 1.5, "moment_noise": 0.8}
    together = fit_ridges(grams, moments, **noise)
    for slot in range(4):
        one = fit_ridges(grams[slot : slot + 1], moments[slot : slot + 1], **noise)
        assert np.array_equal(one.coefficients[0], together.coefficients[slot])
        assert np.array_equal(one.covariances[0], together.covariances[slot])


@pytest.mark.parametrize(
    ("gram_noise", "moment_noise", "reward_noise"),
    [(0.0, 3.0, 0.0), (0.0, 0.0, 0.5), (0.0, 2.0, 1.0)],
)
def test_covariances_include_the_noise_of_moments_and_rewards(
    gram_noise: float, moment_noise: float, reward_noise: float, generator: np.random.Generator
) -> None:
    """By 4000 repetitions the entries of a covariance are known to about 2 %."""
    grams, moments, coefficients = regressions(generator, slots=1, size=3, people=100)
    root = np.linalg.cholesky(grams[0])
    errors = []
    for _ in range(4000):
        of_rewards = reward_noise * root @ generator.normal(size=3)
        noisy = moments[0] + moment_noise * generator.normal(size=3) + of_rewards
        errors.append(np.linalg.solve(grams[0], noisy) - coefficients[0])
    stated = fit_ridges(
        grams, moments, gram_noise=gram_noise, moment_noise=moment_noise, reward_noise=reward_noise
    )
    assert np.allclose(
        np.cov(np.array(errors).T), stated.covariances[0], atol=0.1 * stated.covariances.max()
    )


def test_covariances_include_the_noise_of_second_moments(
    generator: np.random.Generator,
) -> None:
    """The variance along θ is twice the variance across it."""
    gram, noise = np.eye(3) * 200.0, 2.0
    coefficients = np.array([3.0, 0.0, 0.0])
    errors = []
    for _ in range(4000):
        beside = np.tril(generator.normal(size=(3, 3)) * noise / sqrt(2), -1)
        noisy = gram + beside + beside.T + np.diag(generator.normal(size=3) * noise)
        errors.append(np.linalg.solve(noisy, gram @ coefficients) - coefficients)
    stated = fit_ridges(
        gram[None], (gram @ coefficients)[None], gram_noise=noise, moment_noise=0.0, reward_noise=0
    )
    ratios = np.var(errors, axis=0) / np.diag(stated.covariances[0])
    assert ratios == pytest.approx([1.0, 1.0, 1.0], rel=0.15)


def test_the_best_of_noisy_estimates_is_unbiased_after_shrinkage_to_the_mean() -> None:
    """For unequal standard deviations, by 4·10⁴ draws at 6 standard errors."""
    generator = np.random.default_rng(0)
    deviations = np.broadcast_to([0.2, 0.5, 1.0], (40_000, 3))
    for resolved in (1.0, 0.5):
        truth = 0.3 + generator.normal(0, 0.6, size=deviations.shape)
        noise = generator.normal(size=deviations.shape) * deviations
        estimates = 0.3 + resolved * (truth - 0.3) + noise
        shrunk, errors = shrink_to_common_mean(estimates, deviations, 0.36, resolved)
        best = (np.arange(len(truth)), estimates.argmax(axis=1))
        assert np.mean((estimates - truth)[best]) > 0.1
        assert abs(np.mean((shrunk - truth)[best])) < 0.03
        if resolved == 1:
            scaled = (shrunk - truth) / errors
            assert np.sqrt(np.mean(scaled**2)) == pytest.approx(1.0, abs=0.05)


def test_the_excess_variance_is_never_zero() -> None:
    assert excess_variance(5.0, 1.0, 100) == pytest.approx(4.0, abs=0.01)
    assert 0 < excess_variance(0.5, 1.0, 100) < excess_variance(1.0, 1.0, 100) < 0.1


def test_estimates_of_unknown_variance_are_not_shrunk() -> None:
    value, error = shrink_to_common_mean(np.array([[0.7]]), np.array([[0.1]]), np.inf, 1.0)
    assert (value.item(), error.item()) == (0.7, 0.1)
