"""The estimators on tables: read by the rules of `Columns`, and answered in the table's units."""

import pickle
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from discreet.errors import ConfigError, DiscreetError
from discreet.estimators import PrivateStreamingClassifier, PrivateStreamingRegressor
from discreet.records.columns import Columns

ROWS = 3000
REGIONS = ("north", "south", "west")
FEATURES = ["age", "region", "joined", "income"]
COLUMNS = Columns(
    features=FEATURES,
    target="spent",
    bounds={"age": (18, 100), "joined": (0, 10), "income": (0, 200_000), "spent": (0, 5000)},
    categories={"region": REGIONS},
    dates={"joined": "years since 2010-01-01"},
    fill={"income": 30_000.0},
    other={"region": "west"},
)
PLANS = Columns(
    features=["age", "region"],
    target="plan",
    bounds={"age": (18, 100)},
    categories={"region": REGIONS, "plan": ("basic", "plus", "gold")},
)
SURE = 1e5
"""An ε at which noise is negligible."""
MALFORMED: list[Any] = ["x", "1e999", None, [], {"a": 1}, 10**400, 10**6000, b"\xff", float("inf")]


def people(rows: int = ROWS, seed: int = 0) -> polars.DataFrame:
    """Return a table of people; incomes are missing for some of them."""
    generator = np.random.default_rng(seed)
    age = generator.uniform(18, 100, rows).round(1)
    region = generator.choice(REGIONS, rows)
    days = generator.integers(0, 3652, rows)
    income = generator.uniform(0, 200_000, rows).round()
    has_income = generator.random(rows) > 0.1
    known = np.where(has_income, income, 30_000)
    of_region = np.select([region == "north", region == "south"], [300.0, -200.0], 0.0)
    spent = 500 + 12 * age + of_region + 60 * days / 365.25 + 0.008 * known
    spent = spent + generator.normal(0, 50, rows)
    plan = np.select([age + of_region / 10 < 50, age < 80], ["basic", "plus"], "gold")
    return polars.DataFrame(
        {
            "id": np.arange(rows),
            "spent": spent,
            "income": polars.Series(income).set(polars.Series(~has_income), None),
            "age": age,
            "region": region,
            "joined": [date(2010, 1, 1) + timedelta(int(day)) for day in days],
            "plan": plan,
        }
    )  # fmt: skip


def least_squares(table: polars.DataFrame, reference: str = "west") -> dict[str, float]:
    """Return the coefficients of ordinary least squares; those of regions less `reference`'s."""
    regions = [region for region in REGIONS if region != reference]
    joined = [(day - date(2010, 1, 1)).days / 365.25 for day in table["joined"]]
    design = np.column_stack(
        [
            table["age"],
            np.array(joined),
            table["income"].fill_null(30_000.0),
            *((table["region"] == region).to_numpy() for region in regions),
            np.ones(table.height),
        ]
    ).astype(float)
    solution = np.linalg.lstsq(design, table["spent"].to_numpy(), rcond=None)[0]
    return dict(zip(["age", "joined", "income", *regions, "intercept"], solution, strict=True))


def regressor(**settings: Any) -> PrivateStreamingRegressor:
    chosen: dict[str, Any] = {"columns": COLUMNS, "seed": 1} | settings
    return PrivateStreamingRegressor(**chosen)


# --- kinds of tables ------------------------------------------------------------------------------


def in_halves(table: polars.DataFrame, path: Path) -> Any:
    half = table.height // 2
    return iter([table[:half], table[half:].to_pandas()])


def parquet(table: polars.DataFrame, path: Path) -> Any:
    table.write_parquet(path / "people.parquet")
    return path / "people.parquet"


def csv(table: polars.DataFrame, path: Path) -> Any:
    table.write_csv(path / "people.csv")
    return str(path / "people.csv")


def folder(table: polars.DataFrame, path: Path) -> Any:
    table[:1000].write_parquet(path / "0.parquet")
    table[1000:].write_parquet(path / "1.parquet")
    return path


KINDS: dict[str, Callable[[polars.DataFrame, Path], Any]] = {
    "lazy": lambda table, path: table.lazy(),
    "pandas": lambda table, path: table.to_pandas(),
    "objects": lambda table, path: table.to_pandas().astype(object),
    "pyarrow": lambda table, path: pyarrow.table(table),
    "parquet": parquet,
    "csv": csv,
    "folder": folder,
    "frames": in_halves,
}


@pytest.mark.parametrize("partial", [False, True], ids=["fit", "partial_fit"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_table_gives_the_same_coefficients(
    kind: str, partial: bool, tmp_path: Path
) -> None:
    table = people()

    def fitted(rows: Any) -> PrivateStreamingRegressor:
        model = regressor(horizon=ROWS)
        return model.partial_fit(rows) if partial else model.fit(rows)

    expected = fitted(table)
    model = fitted(KINDS[kind](table, tmp_path))
    assert model.published_.as_dict() == expected.published_.as_dict()
    if kind != "frames":  # an iterator is read once
        rows = KINDS[kind](table, tmp_path)
        assert np.array_equal(model.predict(rows), expected.predict(table))


@pytest.mark.parametrize("frame", [polars.DataFrame.to_pandas, polars.DataFrame.clone])
def test_features_and_targets_may_come_apart_in_any_order_of_columns(
    frame: Callable[[polars.DataFrame], Any],
) -> None:
    table = people()
    expected = regressor().fit(table)
    apart = frame(table.drop("spent").select(reversed(table.drop("spent").columns)))
    spent = table["spent"]
    for targets in (spent.to_list(), spent.to_numpy(), spent.to_pandas(), spent):
        assert regressor().fit(apart, targets).coef_.tolist() == expected.coef_.tolist()
    matrix = table.select(FEATURES).to_pandas().to_numpy()
    assert regressor().fit(matrix, spent).coef_.tolist() == expected.coef_.tolist()
    assert np.array_equal(expected.predict(matrix), expected.predict(apart))
    assert expected.score(apart, spent) == expected.score(table) == expected.score(matrix, spent)


def test_tables_that_come_bit_by_bit_are_one_stream() -> None:
    table = people()
    whole = regressor(horizon=ROWS).partial_fit(table)
    parts = regressor(horizon=ROWS)
    for start in range(0, ROWS, 700):
        parts.partial_fit(table[start : start + 700])
    assert parts.coef_.tolist() == whole.coef_.tolist()
    assert parts.guarantee_ == whole.guarantee_


# --- units ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_without_noise_coefficients_are_those_of_least_squares_in_the_tables_units(
    loss: str,
) -> None:
    table = people()
    model = regressor(epsilon=SURE, delta=1e-4, loss=loss).fit(table)
    expected = least_squares(table)
    found: dict[str, Any] = model.published_.as_dict()
    assert found["age"] == pytest.approx(expected["age"], rel=0.02)
    assert found["joined"] == pytest.approx(expected["joined"], rel=0.05)
    assert found["income"] == pytest.approx(expected["income"], rel=0.02)
    for region in ("north", "south"):
        difference = found[f"region={region}"] - found["region=west"]
        assert difference == pytest.approx(expected[region], abs=10)
    intercept = found["intercept"] + found["region=west"]
    assert intercept == pytest.approx(expected["intercept"], abs=20)
    assert list(model.coef_) == [found[name] for name in COLUMNS.names]
    assert model.intercept_ == found["intercept"]
    assert model.published_.to_frame()["name"].to_list() == [*COLUMNS.names, "intercept"]
    assert model.coef_standard_errors_.shape == model.coef_.shape
    assert model.feature_names_in_.tolist() == FEATURES
    assert model.n_features_in_ == len(FEATURES)
    assert model.score(table) > 0.95


@pytest.mark.parametrize("factor", [1e-9, 1e9])
def test_the_unit_of_the_target_does_not_matter(factor: float) -> None:
    table = people()
    bounds = dict(COLUMNS.bounds) | {"spent": (0.0, 5000 * factor)}
    columns = Columns(
        COLUMNS.features, "spent", bounds, COLUMNS.categories, COLUMNS.dates, COLUMNS.fill
    )
    for loss in ("squared", "huber"):
        usual = regressor(loss=loss).fit(table)
        model = regressor(columns=columns, loss=loss)
        model.fit(table.with_columns(polars.col("spent") * factor))
        assert np.allclose(model.coef_, usual.coef_ * factor, rtol=1e-6)


def test_a_private_fit_of_a_table_is_close_to_least_squares() -> None:
    table = people(20_000)
    held_out = people(5000, seed=1)
    model = regressor().fit(table)
    assert model.facts_["method"] == "passes"
    exact = regressor(epsilon=SURE, delta=1e-5).fit(table)
    assert model.score(held_out) > 0.98 * exact.score(held_out)


# --- predictions ----------------------------------------------------------------------------------


def test_predictions_need_no_target_and_are_clipped_as_the_rows_that_were_learned_from() -> None:
    table = people()
    model = regressor().fit(table)
    rows = polars.DataFrame(
        {
            "age": [50.0, 50.0, 100.0, 1e9, None, 50.0],
            "region": ["north", "north", "north", "north", "north", "east"],
            "joined": ["2012-01-01", "soon", *["2012-01-01"] * 4],
            "income": [None, 30_000.0, 30_000.0, 30_000.0, 30_000.0, 30_000.0],
        }
    )  # fmt: skip
    predicted = model.predict(rows)
    assert np.isnan(predicted).tolist() == [False, True, False, False, True, False]
    assert predicted[2] == predicted[3]
    by_name: dict[str, Any] = model.published_.as_dict()
    years = (date(2012, 1, 1) - date(2010, 1, 1)).days / 365.25
    expected = (
        by_name["intercept"] + by_name["region=north"] + 50 * by_name["age"]
        + years * by_name["joined"] + 30_000 * by_name["income"]
    )  # fmt: skip
    assert predicted[0] == pytest.approx(expected)
    model.intercept_ = 1e9
    assert model.predict(rows)[0] == 5000


def test_a_classifier_has_the_declared_categories_as_classes() -> None:
    table = people(20_000)
    model = PrivateStreamingClassifier(columns=PLANS, seed=1).fit(table)
    assert model.classes_.tolist() == ["basic", "plus", "gold"]
    assert model.coef_.shape == (3, 4)
    assert model.intercept_.shape == (3,)
    plans = table["plan"].to_numpy()
    assert model.score(table) == model.score(table.drop("plan"), plans)
    assert model.score(table) == pytest.approx((model.predict(table) == plans).mean())
    assert (
        model.score(table) > max((plans == plan).mean() for plan in PLANS.categories["plan"]) + 0.1
    )
    rows = polars.DataFrame({"age": [20.0, None], "region": ["north", "north"]})
    assert np.isnan(model.predict_proba(rows)).all(axis=1).tolist() == [False, True]
    middle = model.coef_ @ [59, 1 / 3, 1 / 3, 1 / 3] + model.intercept_
    assert model.predict(rows)[1] == model.classes_[middle.argmax()]


def test_two_classes_that_are_numbers_are_predicted_as_numbers() -> None:
    table = people().with_columns(old=(polars.col("age") > 60).cast(polars.Int64))
    columns = Columns(("age",), "old", {"age": (18, 100)}, {"old": (0, 1)})
    model = PrivateStreamingClassifier(columns=columns, seed=1, horizon=ROWS)
    model.partial_fit(table, classes=[0, 1])
    assert model.decision_function(table).shape == (ROWS,)
    assert set(model.predict(table).tolist()) <= {0, 1}
    model = PrivateStreamingClassifier(columns=columns, seed=1).fit(table)
    assert model.score(table) > 0.9


# --- one person's cells ---------------------------------------------------------------------------


@pytest.mark.parametrize("column", [*FEATURES, "spent"])
def test_a_malformed_cell_counts_as_nothing_and_leaves_the_others_unchanged(column: str) -> None:
    table = people(400).to_pandas().astype(object)
    table["joined"] = [str(day)[:10] for day in table["joined"]]

    def with_cell(cell: Any) -> pandas.DataFrame:
        changed = table.copy()
        cells = changed[column].to_list()
        cells[7] = cell
        changed[column] = pandas.Series(cells, dtype=object)
        return changed

    def coefficients(rows: pandas.DataFrame) -> tuple[list[float], list[float]]:
        fitted = regressor().fit(rows)
        streamed = regressor(horizon=400).partial_fit(rows)
        return fitted.coef_.tolist(), streamed.coef_.tolist()

    model = regressor().fit(table)
    expected = model.predict(table)
    empty = coefficients(with_cell(None))
    unread = coefficients(with_cell("x"))
    assert (empty == unread) == (column not in (*COLUMNS.fill, *COLUMNS.other))
    assert all(coefficients(with_cell(cell)) == unread for cell in MALFORMED if cell is not None)
    for cell in MALFORMED:
        predicted = model.predict(with_cell(cell))
        assert np.array_equal(np.delete(predicted, 7), np.delete(expected, 7), equal_nan=True)
        assert np.isfinite(model.score(with_cell(cell)))


# --- scikit-learn's interface ---------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:2 fits")
def test_clones_and_pickles_keep_the_columns() -> None:
    table = people(400)
    model = regressor(horizon=400).partial_fit(table)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert copy.fit(table).coef_.shape == model.coef_.shape
    thawed = pickle.loads(pickle.dumps(model))
    assert thawed.columns == COLUMNS
    assert np.array_equal(thawed.predict(table), model.predict(table))
    assert thawed.published_.as_dict() == model.published_.as_dict()
    assert regressor().set_params(columns=PLANS).columns == PLANS
    assert "Columns(" in repr(model)


@pytest.mark.filterwarnings("ignore")
def test_a_grid_search_over_epsilon_reads_tables() -> None:
    table = people(600)
    grid = {"epsilon": [0.1, SURE]}
    for rows in (table, table.to_pandas()):
        search = GridSearchCV(regressor(delta=1e-4), grid, cv=2).fit(rows)
        assert search.best_params_ == {"epsilon": SURE}
        apart = GridSearchCV(regressor(delta=1e-4), grid, cv=2).fit(rows, table["spent"].to_list())
        assert apart.best_score_ == search.best_score_


@pytest.mark.filterwarnings("ignore:2 fits")
def test_a_model_that_turns_from_tables_to_arrays_forgets_the_names() -> None:
    model = regressor().fit(people(400))
    model.set_params(columns=None, feature_range=(0, 1), target_range=(0, 1))
    model.fit(np.zeros((50, 2)), np.zeros(50))
    assert not hasattr(model, "published_")
    assert not hasattr(model, "feature_names_in_")
    assert model.predict(np.zeros((3, 2))).shape == (3,)


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "match"),
    [
        (regressor(feature_range=(0, 1)), r"^feature_range follows from columns: leave it out$"),
        (regressor(target_range=(0, 1)), r"^target_range follows from columns: leave it out$"),
        (
            PrivateStreamingClassifier(columns=PLANS, classes=("a", "b")),
            r"^classes follows from columns: leave it out$",
        ),
        (regressor(columns={"features": ["age"]}), r"^columns must be discreet's Columns, got "),
        (regressor(columns=Columns(("age",), "spent")), r"^columns need bounds: "),
        (regressor(columns=PLANS), r"^plan has categories: use PrivateStreamingClassifier$"),
        (PrivateStreamingClassifier(columns=COLUMNS), r"^spent has no categories: list its "),
        (PrivateStreamingRegressor(), r"^feature_range is missing: give it, or columns "),
        (PrivateStreamingClassifier(), r"^classes is missing: give it, or columns "),
    ],
)
def test_settings_that_do_not_fit_together_are_refused_in_one_line(model: Any, match: str) -> None:
    with pytest.raises(ConfigError, match=match) as caught:
        model.fit(people(50))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ((people(50).drop("age"),), "lacks the columns age"),
        ((people(50).drop("spent"),), "lacks the columns spent"),
        ((people(50)[:0],), "no rows"),
        ((iter([]),), "lacks the columns"),
        ((people(50), [1.0] * 49), "y must have one entry per row of the table, which has 50"),
        ((people(50), None, [1.0] * 50), "sample_weight is for arrays"),
        ((np.zeros((50, 4)),), "an array needs y"),
        ((np.zeros((50, 4)), np.zeros(50)), "an array of numbers has no region, joined"),
        ((np.zeros((50, 2), dtype=object), np.zeros(50)), "4 columns"),
        (([[1, 2, 3, 4]],), "a table must be a frame"),
        (("nowhere.parquet",), "does not exist|no files"),
    ],
)
def test_tables_that_do_not_fit_are_refused_in_one_line(arguments: Any, match: str) -> None:
    model = regressor(horizon=50)
    with pytest.raises(DiscreetError, match=match) as caught:
        model.fit(*arguments)
    assert "\n" not in str(caught.value)
    assert not hasattr(model, "coef_")
