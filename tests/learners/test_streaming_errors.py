"""If these fail, a coefficient, an intercept or a standard error is wrong or in wrong units."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet
from discreet import Privacy, StreamingLearner
from discreet.arrays import Floats
from discreet.domains import LpBall
from discreet.learners.forced import forced
from discreet.losses import HuberLoss, LogisticLoss, SoftmaxLoss, SquaredLoss

SAMPLES = 30_000
USUAL = Privacy(1.0, 1e-6)


def samples_of(
    seed: int, *, correlation: float = 0.0, noise: float = 0.1
) -> tuple[Floats, Floats, Floats]:
    """Return features, targets and the true coefficients; the first two features may correlate."""
    generator = np.random.default_rng([seed, 7])
    features = generator.uniform(-1, 1, size=(SAMPLES, 4))
    features[:, 1] = correlation * features[:, 0] + (1 - correlation**2) ** 0.5 * features[:, 1]
    truth = generator.uniform(-0.5, 0.5, size=4)
    return features, features @ truth + generator.normal(0, noise, size=SAMPLES), truth


def learned(features: Floats, targets: Floats, privacy: Any = USUAL, **more: Any) -> Any:
    """Return a learner after these samples."""
    settings = {"feature_bound": 2.0, "target_bound": 2.0, "seed": 1} | more
    domain = settings.pop("domain", LpBall(4, 2.0, 2.0))
    loss = settings.pop("loss", SquaredLoss())
    learner = StreamingLearner(domain, loss, len(targets), privacy, **settings)
    learner.observe_stream(features, targets)
    return learner


@pytest.mark.statistical
@pytest.mark.parametrize("method", ["auto", "passes"])
@pytest.mark.parametrize("correlation", [0.0, 0.95])
def test_intervals_hold_the_truth_as_often_as_they_say(method: str, correlation: float) -> None:
    """Errors that ignore correlations cover it with 64 % of the intervals of 95 % only."""
    inside = []
    widths = []
    deviations = []
    for seed in range(40):
        features, targets, truth = samples_of(seed, correlation=correlation)
        learner = learned(features, targets, method=method, seed=seed)
        errors = learner.standard_errors
        known = np.isfinite(errors)
        inside.append((np.abs(learner.coefficients - truth) <= 1.96 * errors)[known])
        widths.append(np.where(known, errors, np.inf))
        deviations.append(learner.coefficients - truth)
    share_known = sum(len(each) for each in inside) / (4 * len(inside))
    assert share_known >= 0.5
    assert np.concatenate(inside).mean() >= 0.9
    if not correlation or method == "passes":  # not vacuous either
        usual = np.median(widths, axis=0) / np.sqrt(np.mean(np.square(deviations), axis=0))
        assert (usual < 2.5).all()


def test_errors_grow_with_the_noise_of_the_guarantee() -> None:
    features, targets, _ = samples_of(0)
    for method in ("auto", "passes"):
        errors = [
            float(np.median(learned(features, targets, privacy, method=method).standard_errors))
            for privacy in (Privacy(0.2, 1e-6), Privacy(1.0, 1e-6), Privacy(5.0, 1e-6))
        ]
        assert errors[0] > errors[1] > errors[2] > 0


def test_errors_are_in_the_units_of_their_coefficients() -> None:
    features, targets, _ = samples_of(0)
    for method in ("auto", "passes"):
        here = learned(features, targets, method=method)
        bounds = {"feature_bound": 20.0, "domain": LpBall(4, 2.0, 0.2)}
        there = learned(features * 10, targets, method=method, **bounds)
        assert np.allclose(there.coefficients * 10, here.coefficients, rtol=1e-3, atol=1e-5)
        assert np.allclose(there.standard_errors * 10, here.standard_errors, rtol=0.05)


def test_coefficients_that_were_not_learned_have_no_standard_errors() -> None:
    features, targets, _ = samples_of(0)
    signs = (targets > 0).astype(float)

    def errors_of(learner: Any) -> Floats:
        errors: Floats = learner.standard_errors
        assert errors.shape == learner.coefficients.shape
        return errors

    unfed = StreamingLearner(
        LpBall(4), SquaredLoss(), SAMPLES, USUAL, feature_bound=2.0, target_bound=2.0, seed=1
    )
    short = learned(features[:40], targets[:40])
    assert short.facts["method"] == "leader"
    corners = learned(features, targets, domain=LpBall(4, 1.0))
    classes = learned(features, signs, loss=LogisticLoss())
    several = learned(features, signs, loss=SoftmaxLoss(2), domain=LpBall(8))
    passes = learned(features, signs, loss=LogisticLoss(), method="passes")
    frank_wolfe = learned(features, targets, method="frank-wolfe")
    for learner in (unfed, short, corners, classes, several, passes, frank_wolfe):
        assert np.isnan(errors_of(learner)).all()
    # A feature that never varies has no coefficient.
    errors = errors_of(learned(features * [1.0, 1.0, 1.0, 0.0], targets, method="passes"))
    assert np.isfinite(errors[:3]).all()
    assert np.isnan(errors[3])


def test_targets_of_which_most_gradients_are_clipped_have_no_errors() -> None:
    """With two answers and weak features, clipped gradients do not vanish at least squares."""
    generator = np.random.default_rng(0)
    features = generator.uniform(-1, 1, size=(SAMPLES, 4))
    answers = np.where(
        generator.random(SAMPLES) < 0.5 + features @ [0.1, -0.1, 0.05, 0.1], 0.5, -0.5
    )
    learner = learned(features, answers, Privacy(3.0, 1e-6))
    assert np.isnan(learner.standard_errors).all()


def test_many_coefficients_or_releases_have_no_errors_and_cost_no_state() -> None:
    generator = np.random.default_rng(0)
    features = generator.uniform(-1, 1, size=(SAMPLES, 60)) / 60**0.5
    learner = learned(features, features[:, 0], feature_bound=1.0, domain=LpBall(60))
    assert learner.facts["method"] in ("whitened", "scaled")
    assert np.isnan(learner.standard_errors).all()
    assert learner.snapshot().public["path.totals"].shape == (0, 60)
    short = learned(features[:2000, :4], features[:2000, 0], block=1)
    assert short.facts["method"] in ("whitened", "scaled")
    assert np.isnan(short.standard_errors).all()
    assert short.snapshot().public["path.totals"].shape == (0, 4)


def test_pure_and_huber_streams_have_errors_too() -> None:
    features, targets, truth = samples_of(0)
    for privacy, loss in ((Privacy(3.0), SquaredLoss()), (USUAL, HuberLoss(0.5))):
        learner = learned(features, targets, privacy, loss=loss)
        errors = learner.standard_errors
        assert np.isfinite(errors).all()
        assert (np.abs(learner.coefficients - truth) < 4 * errors).all()


def test_a_loaded_learner_has_the_standard_errors_of_the_saved_one(tmp_path: Path) -> None:
    features, targets, _ = samples_of(0)
    learner = learned(features[:20_000], targets[:20_000])
    before = learner.standard_errors
    learner.save(tmp_path / "state")
    learner.detach()
    loaded = discreet.load(tmp_path / "state")
    assert isinstance(loaded, StreamingLearner)
    assert np.array_equal(loaded.standard_errors, before)


# --- intercepts -----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["auto", "passes", "frank-wolfe", "leader"])
@pytest.mark.parametrize("bound", [0.5, 1.0, 20.0])
def test_a_prediction_is_features_times_coefficients_plus_the_intercept(
    method: str, bound: float
) -> None:
    """The last coefficient is not the intercept over `feature_bound`, as the domain has it."""
    generator = np.random.default_rng(0)
    features = generator.uniform(-bound, bound, size=(20_000, 2)) / 2**0.5
    targets = features @ [0.8 / bound, -0.5 / bound] + 0.4
    settings: dict[str, Any] = {
        "feature_bound": bound,
        "target_bound": 2.0,
        "intercept": True,
        "seed": 1,
    }
    domain = LpBall(3, 2.0, 3.0 / bound)
    privacy = Privacy(10.0, 1e-6)
    if method == "leader":
        learner: Any = forced(
            StreamingLearner, "leader", domain, SquaredLoss(), 20_000, privacy, **settings
        )
    else:
        settings |= {"method": method}
        learner = StreamingLearner(domain, SquaredLoss(), 20_000, privacy, **settings)
    learner.observe_stream(features, targets)
    if method != "frank-wolfe":  # which moves between corners, far from this truth
        predicted = features @ learner.coefficients + learner.intercept
        assert 1 - np.mean((predicted - targets) ** 2) / np.var(targets) > 0.95
        assert learner.intercept == pytest.approx(0.4, abs=0.05)
    assert learner.decision == {
        "coefficients": learner.coefficients.tolist(),
        "intercept": learner.intercept,
    }
    assert learner.act().tolist() == [*learner.coefficients.tolist(), learner.intercept]
    if method in ("auto", "passes"):
        assert abs(learner.intercept - 0.4) < 5 * learner.intercept_standard_error < 0.2


def test_without_an_intercept_there_is_none() -> None:
    features, targets, _ = samples_of(0)
    learner = learned(features, targets)
    assert learner.intercept == 0.0
    assert np.isnan(learner.intercept_standard_error)
    assert (
        learner.coefficients.tolist() == learner.act().tolist() == learner.decision["coefficients"]
    )


def test_classes_have_one_row_of_coefficients_and_one_intercept_each() -> None:
    generator = np.random.default_rng(0)
    features = generator.uniform(-4, 4, size=(20_000, 2))
    labels = np.argmax(features @ [[1.0, -1.0, 0.0], [0.0, 0.0, 1.0]] + [0.0, 0.0, 2.0], axis=1)
    settings: dict[str, Any] = {
        "loss": SoftmaxLoss(3),
        "domain": LpBall(9, 2.0, 10.0),
        "intercept": True,
    }
    learner = learned(features, labels, feature_bound=6.0, method="passes", **settings)
    assert learner.coefficients.shape == (3, 2)
    assert learner.intercept.shape == (3,)
    scores = features @ learner.coefficients.T + learner.intercept
    assert np.mean(scores.argmax(axis=1) == labels) > 0.9
    assert learner.decision == {
        "coefficients": learner.coefficients.tolist(),
        "intercept": learner.intercept.tolist(),
    }
