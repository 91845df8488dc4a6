"""If these fail, a private estimator in the place of scikit-learn's leaks a person's sample."""

import copy
import pickle
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars
import pytest

from discreet import (
    ConfigError,
    HorizonReached,
    Privacy,
    RunningSum,
    StateError,
    StreamingLearner,
)
from discreet.budget.conversion import rho_of
from discreet.budget.guarantee import Guarantee
from discreet.budget.ledger import Spending
from discreet.budget.privacy import zcdp
from discreet.budget.together import together
from discreet.domains import LpBall
from discreet.estimators import (
    PrivateStreamingClassifier,
    PrivateStreamingRegressor,
    PublicScaler,
    linear,
)
from discreet.estimators.fits import Fits
from discreet.learners.forced import forced
from discreet.losses import SquaredLoss
from discreet.records.columns import Columns

PUBLIC_CLASSES = "classes are a public parameter; any other label counts as nothing"
LOOSE = 20.0
"""An ε with little noise: one check predicts from ten samples, which is a coin toss at ε = 1."""
COMPLEX = {
    "check_complex_data": "one person's complex number must not refuse the samples of others"
}
LISTS = "the number of features is public, and must not follow from people's rows in a list"
ZERO = "a weight of zero still uses its round, and noise is added"
PERSONAL = COMPLEX | {
    "check_supervised_y_no_nan": "one person's target must not refuse the samples of others",
    "check_all_zero_sample_weights_error": "whether all weights are zero depends on the people",
    "check_sample_weight_equivalence_on_dense_data": ZERO,
    "check_sample_weight_equivalence_on_sparse_data": ZERO,
}
UNIT: dict[str, Any] = {"feature_range": (-1.0, 1.0), "target_range": (-1.0, 1.0)}
EXPECTED = {
    "PublicScaler": COMPLEX | {"check_transformer_data_not_an_array": LISTS},
    "PrivateStreamingRegressor": PERSONAL | {"check_regressors_train": LISTS},
    "PrivateStreamingClassifier": PERSONAL
    | {
        "check_classifiers_train": LISTS,
        "check_classifiers_classes": PUBLIC_CLASSES,
        "check_classifiers_regression_target": PUBLIC_CLASSES,
        "check_classifier_not_supporting_multiclass": PUBLIC_CLASSES,
    },
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "estimator",
    [
        PrivateStreamingRegressor(LOOSE, seed=0, horizon=10**5, **UNIT),
        PrivateStreamingClassifier(
            LOOSE, seed=0, horizon=10**5, classes=(0, 1), feature_range=(-1, 1)
        ),
        PublicScaler((-1, 1)),
    ],
)
def test_scikit_learns_checks_pass_except_those_that_privacy_excludes(estimator: Any) -> None:
    from sklearn.utils.estimator_checks import check_estimator

    expected = EXPECTED[type(estimator).__name__]
    checks = check_estimator(estimator, expected_failed_checks=expected, on_fail=None, on_skip=None)
    assert [check["check_name"] for check in checks if check["status"] == "failed"] == []
    assert {check["check_name"] for check in checks if check["status"] == "xfail"} == set(expected)


@pytest.fixture
def learners(monkeypatch: pytest.MonkeyPatch) -> list[StreamingLearner]:
    """The learners behind all estimators that are fitted during a test, in order."""
    made: list[StreamingLearner] = []

    def recorded(*arguments: Any, **settings: Any) -> StreamingLearner:
        made.append(StreamingLearner(*arguments, **settings))
        return made[-1]

    monkeypatch.setattr(linear, "StreamingLearner", recorded)
    return made


def coefficients_of(model: PrivateStreamingRegressor | PrivateStreamingClassifier) -> list[float]:
    """Return the released coefficients as a list, for comparisons bit for bit."""
    coefficients: list[float] = model.coef_.tolist()
    return coefficients


def people_with_targets(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return features in [0, 10] and targets that are linear in them, up to noise."""
    generator = np.random.default_rng(0)
    features = generator.uniform(0, 10, size=(count, 3))
    return features, features @ [2.0, -1.0, 0.0] + 5 + generator.normal(0, 0.5, size=count)


def test_coefficients_come_back_in_the_units_of_the_data() -> None:
    features, targets = people_with_targets(20_000)
    model = PrivateStreamingRegressor(
        1.0, 1e-6, feature_range=(0, 10), target_range=(-10, 30), seed=1
    ).fit(features, targets)
    assert np.abs(model.coef_ - [2.0, -1.0, 0.0]).max() < 0.2
    assert abs(model.intercept_ - 5) < 1.5
    assert model.score(features, targets) > 0.95
    assert "SIMULATED" in model.guarantee_


def test_a_pickle_of_a_stream_holds_released_values_only(
    learners: list[StreamingLearner],
) -> None:
    features, targets = people_with_targets(4000)
    settings: dict[str, Any] = {"feature_range": (0, 10), "target_range": (-10, 30)}
    with pytest.raises(ConfigError, match="horizon"):
        PrivateStreamingRegressor(**settings).partial_fit(features, targets)
    model = PrivateStreamingRegressor(horizon=4010, seed=1, **settings)
    for part in np.split(np.arange(4000), 8):
        model.partial_fit(features[part], targets[part])
    assert model.score(features, targets) > 0.8

    pickled = pickle.dumps(model)

    raw = learners[-1].snapshot().block["gradient"]
    assert raw.any()
    assert raw.tobytes() not in pickled
    unpickled = pickle.loads(pickled)
    assert np.array_equal(unpickled.predict(features), model.predict(features))
    with pytest.raises(StateError, match="pickle"):
        unpickled.partial_fit(features[:5], targets[:5])


def test_bagging_which_sets_random_state_leaves_fits_private() -> None:
    from sklearn.ensemble import BaggingRegressor

    features, targets = people_with_targets(600)
    private = PrivateStreamingRegressor(feature_range=(0, 10), target_range=(-10, 30))
    with pytest.warns(UserWarning, match="^2 fits on the same people cost together epsilon = 1.45"):
        bagging = BaggingRegressor(private, n_estimators=2, random_state=0).fit(features, targets)
    models = bagging.estimators_
    assert [model.seed for model in models] == [None, None]
    assert all(model.guarantee_.startswith("Differential privacy") for model in models)
    assert private.set_params(seed=7).fit(features, targets).guarantee_.startswith("SIMULATED")
    with pytest.raises(TypeError, match="random_state"):
        PrivateStreamingRegressor(random_state=0, **UNIT)  # type: ignore[call-arg]


def test_a_grid_search_states_what_all_its_fits_cost_together() -> None:
    from sklearn.model_selection import GridSearchCV

    features, targets = people_with_targets(600)
    private = PrivateStreamingRegressor(feature_range=(0, 10), target_range=(-10, 30))
    search = GridSearchCV(private, {"radius": [1.0, 10.0]}, cv=3)
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        search.fit(features, targets)
    counts = [int(str(warning.message).split(" fits on the same people")[0]) for warning in shown]
    assert counts == [2, 4]  # of seven: the second and the fourth warn
    spending = Spending(zcdp(rho_of(1.0, 1e-6)))
    one = Guarantee(Privacy(1.0, 1e-6), spending, spending, releases=1, planned=1)
    epsilon = together(*[one] * 7).epsilon
    guarantee = " ".join(search.best_estimator_.guarantee_.split())
    assert f"7 fits on the same people cost together epsilon = {epsilon:.3g} at" in guarantee


def test_a_stream_is_one_fit_and_the_fit_of_a_clone_warns() -> None:
    from sklearn.base import clone

    features, targets = people_with_targets(300)
    private = PrivateStreamingRegressor(
        feature_range=(0, 10), target_range=(-10, 30), horizon=300, seed=1
    )
    first, second = clone(private), copy.deepcopy(private)
    for part in np.split(np.arange(300), 3):
        first.partial_fit(features[part], targets[part])
    assert "every other fit of the same people adds to it" in first.guarantee_
    with pytest.warns(UserWarning, match="^2 fits on the same people"):
        second.partial_fit(features, targets)


def test_a_delta_above_one_over_the_number_of_samples_warns() -> None:
    with pytest.warns(
        UserWarning, match="^delta = 0.5 is more than 1/1000, one over the number of people"
    ):
        PrivateStreamingRegressor(delta=0.5, feature_range=(0, 10), target_range=(-10, 30)).fit(
            *people_with_targets(1000)
        )


def test_two_fits_without_a_seed_differ_and_with_one_they_do_not() -> None:
    features, targets = people_with_targets(500)

    def coefficients(seed: int | None) -> list[float]:
        model = PrivateStreamingRegressor(feature_range=(0, 10), target_range=(-10, 30), seed=seed)
        return coefficients_of(model.fit(features, targets))

    assert coefficients(None) != coefficients(None)
    assert coefficients(3) == coefficients(3)


def test_a_label_that_is_no_class_counts_as_nothing() -> None:
    features, targets = people_with_targets(3000)
    labels = np.where(targets > 10, "high", "low").astype(object)
    labels[::10] = "other"
    model = PrivateStreamingClassifier(classes=("low", "high"), feature_range=(0, 10), seed=1).fit(
        features, labels
    )
    assert set(model.predict(features)) <= {"low", "high"}
    assert np.mean(model.predict(features) == np.where(targets > 10, "high", "low")) > 0.8
    assert np.allclose(model.predict_proba(features).sum(axis=1), 1.0)


def test_errors_never_quote_the_data() -> None:
    features, targets = people_with_targets(100)
    named = features.astype(object)
    named[3, 1] = "77.75"
    named[4, 1] = "Jane 77.75"

    class Table:
        """An object that is no array but converts to one, like a data frame."""

        shape = named.shape

        def __len__(self) -> int:
            return len(named)

        def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
            return np.array(named, dtype=dtype)

    model = PrivateStreamingRegressor(seed=0, **UNIT).fit(features, targets)
    wrong: list[Any] = [
        Table(),
        named,
        named.tolist(),
        np.full(100, 77.75),
        features + 77.75j,
        np.full((100, 3), {"77.75": 1}),
    ]
    for rows in wrong:
        with pytest.raises((TypeError, ValueError)) as caught:
            model.score(rows, targets)
        assert "77.75" not in str(caught.value)
        assert caught.value.__cause__ is None is caught.value.__context__


def test_parameters_that_change_during_a_stream_are_refused() -> None:
    features, targets = people_with_targets(100)
    model = PrivateStreamingRegressor(horizon=200, **UNIT).partial_fit(features, targets)
    with pytest.raises(ConfigError, match="changed"):
        model.set_params(epsilon=0.01).partial_fit(features, targets)
    assert "every other fit" in model.guarantee_


def test_a_table_that_fails_half_way_is_counted_and_published() -> None:
    """A release was made, so the people have paid: the next fit must say so."""
    features, targets = people_with_targets(300)
    columns = Columns(["a"], "b", bounds={"a": (-1, 1), "b": (-1, 1)})
    frame = polars.DataFrame({"a": features[:, 0], "b": targets})

    def failing() -> Iterator[Any]:
        yield frame[:200]
        raise KeyboardInterrupt

    model = PrivateStreamingRegressor(columns=columns, horizon=300, block=100, seed=1)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(failing())  # type: ignore[arg-type]
    assert "this fit" in model.guarantee_
    assert model.coef_.shape == (1,)
    model.partial_fit(frame[200:])
    assert "2 fits" not in model.guarantee_  # the stream goes on: it is one fit
    with pytest.warns(UserWarning, match="2 fits"):
        model.fit(frame)


def test_a_fit_that_read_nobody_is_forgotten_and_no_other() -> None:
    """Clones share the count, and another thread may fit one of them meanwhile."""
    fits = Fits()
    first, second = (RunningSum(1, 9, Privacy(size), bound=1.0).guarantee for size in (1.0, 2.0))
    fits.add(first)
    with pytest.warns(UserWarning, match="2 fits"):
        fits.add(second)
    fits.remove(first)
    assert fits.guarantees == [second]


def test_a_table_that_is_too_long_is_counted_once_it_was_read() -> None:
    features, targets = people_with_targets(300)
    columns = Columns(["a"], "b", bounds={"a": (-1, 1), "b": (-1, 1)})
    frame = polars.DataFrame({"a": features[:, 0], "b": targets})
    known = PrivateStreamingRegressor(columns=columns, horizon=200, block=50, seed=1)
    with pytest.raises(HorizonReached, match="nothing was learned"):
        known.partial_fit(frame)  # its length is known: refused before the first release
    known.partial_fit(frame[:100])
    assert "fits on the same people" not in known.guarantee_
    unknown = PrivateStreamingRegressor(columns=columns, horizon=200, block=50, seed=1)
    with pytest.raises(HorizonReached):
        unknown.partial_fit(iter([frame[:150], frame[150:]]))  # type: ignore[arg-type]
    assert unknown.coef_.shape == (1,)
    with pytest.warns(UserWarning, match="2 fits"):
        unknown.fit(frame)


@pytest.mark.parametrize(
    "value",
    [
        "contains NaN: Jane 77.75",
        "Input X contains NaN. Jane 77.75",
        "could not convert Jane 77.75",
        "minimum of Jane 77.75",
        "X has 3 features, but Jane 77.75 is expecting 4 features as input.",
        "argument must be Jane 77.75",
        "Found input variables with inconsistent numbers of samples: [Jane 77.75]",
    ],
)
def test_data_that_reads_like_an_error_of_scikit_learn_is_not_quoted(value: str) -> None:
    features, targets = people_with_targets(100)
    named = features.astype(object)
    named[3, 1] = value
    model = PrivateStreamingRegressor(seed=0, **UNIT).fit(features, targets)
    with pytest.raises((TypeError, ValueError)) as caught:
        model.score(features, named[:, 1])
    assert "Jane" not in str(caught.value)
    assert caught.value.__cause__ is None is caught.value.__context__


MALFORMED: list[Any] = [
    "a longer text",
    None,
    10**400,
    1 + 2j,
    [1, 2],
    {"a": 1},
    b"ab",
    np.nan,
    np.inf,
    object(),
    np.array([1, 2]),
]


@pytest.mark.parametrize("value", MALFORMED, ids=lambda value: type(value).__name__)
def test_one_row_that_cannot_be_read_refuses_no_other_prediction(value: Any) -> None:
    features, targets = people_with_targets(100)
    model = PrivateStreamingRegressor(seed=0, **UNIT).fit(features, targets)
    rows: list[Any] = features.tolist()
    rows[7] = [value] * 3
    predicted = model.predict(rows)
    others = np.arange(100) != 7
    assert np.array_equal(predicted[others], model.predict(features)[others])
    assert np.isnan(predicted[7])
    rows[7] = value
    assert np.array_equal(model.predict(rows), predicted, equal_nan=True)


@pytest.mark.parametrize("label", [0.5, *MALFORMED], ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("classes", [(0, 1), ("no", "yes")])
def test_one_malformed_label_leaves_the_other_samples_unchanged(label: Any, classes: Any) -> None:
    features, targets = people_with_targets(300)
    names = [classes[int(target > 10)] for target in targets]

    def coefficients(labels: Any) -> list[float]:
        model = PrivateStreamingClassifier(classes=classes, feature_range=(0, 10), seed=1)
        return coefficients_of(model.fit(features, labels))

    missing = np.array(names)
    missing[7] = 2 if classes == (0, 1) else "?"
    expected = coefficients(missing)
    assert expected != coefficients(names)
    assert coefficients([*names[:7], label, *names[8:]]) == expected
    apart = np.array(names, dtype=object)
    apart[7] = label
    assert coefficients(apart) == expected


def test_an_array_that_one_label_turned_into_texts_has_the_labels_of_others() -> None:
    features, targets = people_with_targets(300)
    labels = (targets > 10).astype(int)

    def coefficients(labels: Any) -> list[float]:
        model = PrivateStreamingClassifier(classes=(0, 1), feature_range=(0, 10), seed=1)
        return coefficients_of(model.fit(features, labels))

    expected = coefficients(np.where(np.arange(300) == 7, 2, labels))
    assert coefficients(np.array([*labels[:7].tolist(), "x", *labels[8:].tolist()])) == expected
    assert coefficients(np.where(np.arange(300) == 7, 1j, labels)) == expected


def with_missing_row(place: int, rows: np.ndarray) -> np.ndarray:
    """Return the rows with NaN in one of them."""
    return np.where((np.arange(len(rows)) == place)[:, None], np.nan, rows)


def fitted_coefficients(kind: str, features: Any, targets: np.ndarray) -> list[float]:
    """Return the coefficients of a classifier, or of a regressor by `fit` or `partial_fit`."""
    public: dict[str, Any] = {"feature_range": [(0, 10)] * 3, "seed": 1, "horizon": 300}
    if kind == "classifier":
        model = PrivateStreamingClassifier(classes=(0, 1), **public).fit(features, targets > 10)
    else:
        model = PrivateStreamingRegressor(target_range=(-10, 30), **public)
        getattr(model, kind)(features, targets)
    return coefficients_of(model)


@pytest.mark.parametrize("kind", ["fit", "partial_fit", "classifier"])
@pytest.mark.parametrize("cell", MALFORMED, ids=lambda value: type(value).__name__)
def test_a_feature_that_is_no_number_leaves_the_other_samples_unchanged(
    cell: Any, kind: str
) -> None:
    features, targets = people_with_targets(300)
    expected = fitted_coefficients(kind, with_missing_row(7, features), targets)
    assert expected != fitted_coefficients(kind, features, targets)
    listed = features.tolist()
    listed[7] = [1.0, cell, 2.0]
    assert fitted_coefficients(kind, listed, targets) == expected
    apart = features.astype(object)
    apart[7, 1] = cell
    assert fitted_coefficients(kind, apart, targets) == expected


@pytest.mark.parametrize(
    "row", [[], [1.0], [1.0] * 4, None, "abc", 5, {"a": 1}, [[1.0, 2.0, 3.0]]], ids=str
)
def test_a_row_of_another_length_leaves_the_other_samples_unchanged(
    row: Any, learners: list[StreamingLearner]
) -> None:
    features, targets = people_with_targets(300)
    expected = fitted_coefficients("fit", with_missing_row(0, features), targets)
    rows = [row, *features.tolist()[1:]]
    ragged = np.empty(300, dtype=object)
    ragged[:] = rows
    for people in (rows, tuple(rows), ragged):
        assert fitted_coefficients("fit", people, targets) == expected
        assert fitted_coefficients("partial_fit", people, targets)
        scaled = PublicScaler([(0, 10)] * 3).fit_transform(people)
        assert np.array_equal(scaled[1:], PublicScaler((0, 10)).fit_transform(features)[1:])
    model = PrivateStreamingRegressor(
        feature_range=(0, 10), target_range=(-10, 30), horizon=301, seed=1
    )
    model.partial_fit(features, targets).partial_fit([row], [1.0])
    assert learners[-1].clock == 301


def test_no_row_of_a_list_determines_the_number_of_features() -> None:
    rows = [[0.1, 0.2]] * 50 + [[0.1, 0.2, 0.3]] * 50
    targets = [0.5] * 101
    for last in ([0.1, 0.2], [0.1, 0.2, 0.3], 0.1, None):
        people: Any = [*rows, last]
        model = PrivateStreamingRegressor(feature_range=[(0, 1)] * 2, target_range=(0, 1), seed=1)
        assert model.fit(people, targets).coef_.shape == (2,)
        without_width = PrivateStreamingRegressor(feature_range=(0, 1), target_range=(0, 1))
        with pytest.raises(ConfigError, match="number of features is not read from a list"):
            without_width.fit(people, targets)
        with pytest.raises(ConfigError, match="one range per feature, or an array"):
            PublicScaler((0, 1)).fit(people)


@pytest.mark.parametrize("cell", MALFORMED, ids=lambda value: type(value).__name__)
def test_one_cell_that_is_no_number_stops_no_pipeline(cell: Any) -> None:
    from sklearn.pipeline import make_pipeline

    features, targets = people_with_targets(300)
    broken = features.astype(object)
    broken[7, 1] = cell
    scaled = PublicScaler((0, 10)).fit_transform(broken)
    plain = PublicScaler((0, 10)).fit_transform(features)
    assert np.isnan(scaled[7, 1])
    assert np.array_equal(np.delete(scaled, 7, axis=0), np.delete(plain, 7, axis=0))
    private = PrivateStreamingRegressor(feature_range=(-1, 1), target_range=(-10, 30), seed=1)
    make_pipeline(PublicScaler((0, 10)), private).fit(broken, targets)


def test_frames_and_arrays_that_one_cell_turned_into_texts_have_the_numbers_of_others() -> None:
    import polars

    features, targets = people_with_targets(300)
    expected = fitted_coefficients("fit", with_missing_row(7, features), targets)
    texts = features.astype(str)
    texts[7, 1] = "x"
    assert fitted_coefficients("fit", texts, targets) == expected
    complex_row = np.where(with_missing_row(7, features) >= 0, features, 1j)
    assert fitted_coefficients("fit", complex_row, targets) == expected
    columns = dict(zip("abc", features.T.tolist(), strict=True))
    columns["b"] = texts[:, 1].tolist()
    model = PrivateStreamingRegressor(feature_range=(0, 10), target_range=(-10, 30), seed=1)
    model.fit(polars.DataFrame(columns), targets)
    assert coefficients_of(model) == expected
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]


def test_predictions_for_rows_with_nan_are_nan_or_those_of_the_middle() -> None:
    features, targets = people_with_targets(300)
    rows = with_missing_row(7, features)
    model = PrivateStreamingRegressor(feature_range=(0, 10), target_range=(-10, 30), seed=1)
    assert np.flatnonzero(np.isnan(model.fit(features, targets).predict(rows))).tolist() == [7]
    classes = PrivateStreamingClassifier(classes=(0, 1), feature_range=(0, 10), seed=1)
    classes.fit(features, targets > 10)
    assert np.flatnonzero(np.isnan(classes.predict_proba(rows)[:, 0])).tolist() == [7]
    middle = classes.predict(np.full((1, 3), 5.0))
    assert classes.predict(rows)[7] == middle


@pytest.mark.parametrize("target", MALFORMED, ids=lambda value: type(value).__name__)
def test_a_target_that_is_no_number_leaves_the_other_samples_unchanged(target: Any) -> None:
    features, targets = people_with_targets(300)

    def coefficients(targets: Any) -> list[float]:
        model = PrivateStreamingRegressor(feature_range=(0, 10), target_range=(-10, 30), seed=1)
        return coefficients_of(model.fit(features, targets))

    listed = targets.tolist()
    expected = coefficients(np.where(np.arange(300) == 7, np.nan, targets))
    assert expected != coefficients(listed)
    assert coefficients([*listed[:7], target, *listed[8:]]) == expected
    apart = targets.astype(object)
    apart[7] = target
    assert coefficients(apart) == expected


@pytest.mark.parametrize(
    ("kind", "low", "high"),
    [(np.int64, -(2.0**62), 2.0**62), (np.uint8, 0.0, 255.0), (np.int8, -128, 127)],
)
def test_numbers_of_any_type_are_scaled_as_floats(kind: Any, low: float, high: float) -> None:
    """Small integers wrap around, but not in an array in which one person's entry is a float."""
    features, targets = people_with_targets(300)
    public = np.iinfo(kind)
    whole = np.where(targets > 10, public.max // 4 * 3, public.min).astype(kind)
    settings: dict[str, Any] = {"feature_range": (0, 10), "target_range": (low, high), "seed": 1}
    fitted = [
        PrivateStreamingRegressor(**settings).fit(features, given)
        for given in (whole, whole.astype(float))
    ]
    assert np.array_equal(fitted[0].coef_, fitted[1].coef_)
    column, scaler = whole.reshape(-1, 1), PublicScaler([(low, high)])
    assert np.array_equal(scaler.fit_transform(column), scaler.fit_transform(column.astype(float)))
    listed = column.tolist()
    alone = scaler.fit_transform([*listed[:7], [0.5], *listed[8:]])
    assert np.array_equal(np.delete(alone, 7), np.delete(scaler.fit_transform(listed), 7))


def test_errors_about_shapes_name_the_problem() -> None:
    features, targets = people_with_targets(100)
    model = PrivateStreamingRegressor(seed=0, **UNIT).fit(features, targets)
    with pytest.raises(
        ValueError,
        match=r"^X has 2 features, but PrivateStreamingRegressor is expecting 3 features as "
        r"input\.$",
    ):
        model.predict(features[:, :2])
    with pytest.raises(
        ValueError,
        match=r"^Found input variables with inconsistent numbers of samples: \[100, 99\]$",
    ):
        PrivateStreamingRegressor(**UNIT).fit(features, targets[:-1])
    with pytest.raises(ValueError, match=r"^Found array with 0 sample\(s\) \(shape=\(0, 3\)\)"):
        PrivateStreamingRegressor(**UNIT).fit(features[:0], targets[:0])


def test_ranges_and_classes_have_no_default() -> None:
    for model, lacking in (
        (PrivateStreamingRegressor(target_range=(0, 1)), "feature_range"),
        (PrivateStreamingRegressor(feature_range=(0, 1)), "target_range"),
        (PrivateStreamingClassifier(feature_range=(0, 1)), "classes"),
    ):
        with pytest.raises(ConfigError, match=f"^{lacking} is missing: give it, or columns"):
            model.fit(*people_with_targets(20))
    with pytest.raises(TypeError, match="missing"):
        PublicScaler()  # type: ignore[call-arg]
    with pytest.raises(ConfigError, match="two or more"):
        PrivateStreamingClassifier(classes=(1, 1), feature_range=(0, 10)).fit(
            *people_with_targets(20)
        )


def test_many_classes_share_one_budget() -> None:
    generator = np.random.default_rng(0)
    middles = np.array([[0.7, 0.0], [-0.7, 0.5], [-0.7, -0.5]])
    labels = generator.integers(3, size=3000)
    features = np.clip(middles[labels] + generator.normal(0, 0.2, size=(3000, 2)), -1, 1)
    settings: dict[str, Any] = {"classes": ("a", "b", "c"), "feature_range": (-1, 1), "seed": 1}
    names = np.array(["a", "b", "c"])[labels]
    batch = PrivateStreamingClassifier(1.0, 1e-6, **settings).fit(features, names)
    stream = PrivateStreamingClassifier(1.0, 1e-6, horizon=3000, **settings).partial_fit(
        features, names
    )
    for model in (batch, stream):
        assert model.coef_.shape == model.coef_standard_errors_.shape == (3, 2)
        assert model.score(features, names) > 0.9
        assert np.allclose(model.predict_proba(features).sum(axis=1), 1.0)
        assert "epsilon = 1 of 1 at delta = 1e-06" in " ".join(model.guarantee_.split())
    assert batch.facts_["method"] == "passes"


def test_weights_are_clipped_to_their_bound_and_zero_weights_count_as_nothing() -> None:
    features, targets = people_with_targets(3000)
    turned = np.where(np.arange(3000) % 2, 20 - targets, targets)
    settings: dict[str, Any] = {"feature_range": (0, 10), "target_range": (-10, 30), "seed": 1}
    weights = np.where(np.arange(3000) % 2, 0.0, 1.0)
    for learn in ("fit", "partial_fit"):
        model = PrivateStreamingRegressor(3.0, horizon=3000, **settings)
        getattr(model, learn)(features, turned, sample_weight=weights)
        assert model.coef_[0] > 1.0
    fitted = [
        PrivateStreamingRegressor(weight_bound=bound, **settings).fit(
            features, turned, sample_weight=given
        )
        for bound, given in ((1.0, None), (1.0, np.full(3000, 50.0)), (2.0, np.full(3000, 2.0)))
    ]
    assert np.array_equal(fitted[0].coef_, fitted[1].coef_)
    assert np.array_equal(fitted[0].coef_, fitted[2].coef_)
    for wrong in (np.ones(2999), np.ones((3000, 1)), "77.75 x", -1.0):
        with pytest.raises(ValueError, match="sample_weight must be") as caught:
            PrivateStreamingRegressor(**settings).fit(features, targets, sample_weight=wrong)
        assert "77.75" not in str(caught.value)


@pytest.mark.parametrize("weight", [*MALFORMED, -1.0], ids=lambda value: type(value).__name__)
def test_a_malformed_weight_counts_as_zero_and_leaves_the_others_unchanged(weight: Any) -> None:
    features, targets = people_with_targets(300)

    def coefficients(weights: Any) -> list[float]:
        model = PrivateStreamingRegressor(feature_range=(0, 10), target_range=(-10, 30), seed=1)
        return coefficients_of(model.fit(features, targets, sample_weight=weights))

    expected = coefficients((np.arange(300) != 7).astype(float))
    assert expected != coefficients(None)
    assert coefficients([*[1] * 7, weight, *[1] * 292]) == expected


@pytest.mark.parametrize("huge", [np.longdouble("1e4000"), 1.7e308, 5e-324, -1e308])
def test_extreme_numbers_do_not_warn(huge: Any) -> None:
    """The text of a warning may quote a sample; the test suite turns warnings into errors."""
    features, targets = people_with_targets(100)
    settings: dict[str, Any] = {
        "feature_range": (0, 10),
        "target_range": (-10, 30),
        "weight_bound": 1e-3,
    }
    few = np.arange(100) % 12 < 3
    numbers = np.where(few, huge, targets.astype(np.longdouble))
    PrivateStreamingRegressor(seed=1, **settings).fit(features, numbers, sample_weight=numbers)
    learner = forced(
        StreamingLearner,
        "whitened",
        LpBall(3),
        SquaredLoss(),
        100,
        Privacy(1.0, 1e-6),
        feature_bound=1e-3,
        target_bound=1e-3,
    )
    rows = np.where(few[:, None], huge, features.astype(np.longdouble))
    learner.observe_stream(rows, numbers, numbers)


def test_standard_errors_are_about_as_large_as_the_errors() -> None:
    features, targets = people_with_targets(6000)
    settings: dict[str, Any] = {"feature_range": (0, 10), "target_range": (-10, 30)}
    for learn in ("fit", "partial_fit"):
        off = []
        for seed in range(8):
            model = PrivateStreamingRegressor(1.0, 1e-6, horizon=6000, seed=seed, **settings)
            getattr(model, learn)(features, targets)
            off.append((model.coef_ - [2.0, -1.0, 0.0]) / model.coef_standard_errors_)
        assert 0.1 < np.sqrt(np.mean(np.square(off))) < 2.5


def test_a_pipeline_with_a_public_scaler_equals_ranges_of_the_estimator() -> None:
    from sklearn.pipeline import make_pipeline

    features, targets = people_with_targets(500)
    private = PrivateStreamingRegressor(feature_range=(-1, 1), target_range=(-10, 30), seed=1)
    piped = make_pipeline(PublicScaler((0, 10)), private).fit(features, targets)
    alone = PrivateStreamingRegressor(feature_range=(0, 10), target_range=(-10, 30), seed=1)
    assert np.allclose(piped.predict(features), alone.fit(features, targets).predict(features))


@pytest.mark.parametrize(
    "wrong",
    [
        {"feature_range": (1.0, 1.0)},
        {"feature_range": "wide"},
        {"target_range": (2.0, 1.0)},
        {"loss": "hinge"},
        {"epsilon": -1.0},
        {"seed": "one"},
    ],
)
def test_wrong_parameters_raise_config_errors(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        PrivateStreamingRegressor(**(UNIT | wrong)).fit(*people_with_targets(20))


def test_a_stream_without_public_classes_is_refused_by_name() -> None:
    nothing: Any = None
    model = PrivateStreamingClassifier(
        epsilon=1.0, delta=1e-6, feature_range=(0, 1), classes=nothing, horizon=10
    )
    with pytest.raises(ConfigError, match=r"^classes is missing: give it, or columns"):
        model.partial_fit(np.zeros((2, 1)), [0, 1])
