"""If these fail, a mistake in the rules of columns is taken silently, or refused obscurely."""

from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

from discreet import Columns, ConfigError, Privacy, StreamingLearner
from discreet.domains import LpBall
from discreet.losses import SquaredLoss

RULES: dict[str, Any] = {
    "features": ["age", "region", "joined"],
    "target": "spent",
    "bounds": {"age": (18, 100), "joined": (0, 20), "spent": (0, 5000)},
    "categories": {"region": ["north", "south"]},
    "dates": {"joined": "years since 2005-01-01"},
}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"features": []}, "features and target must be different columns"),
        ({"features": ["age", "spent"]}, "features and target must be different columns"),
        ({"bounds": {"age": (100, 18)}}, "bounds of age must be two numbers, the lower one first"),
        ({"bounds": {"age": (1, 2, 3)}}, "bounds of age must be a list of 2 values"),
        ({"bounds": [1]}, "bounds must be a table"),
        ({"bounds": {"age": (18, 100)}}, "bounds lack joined, spent"),
        ({"bounds": RULES["bounds"] | {"height": (0, 2)}}, "height is none of them"),
        ({"categories": {"region": ["north", "north"]}}, "list 'north' twice"),
        ({"categories": {"region": ["north"]}}, "categories of region must be two or more"),
        ({"categories": {"region": "north"}}, "categories of region must be a list"),
        ({"dates": {"joined": "since 2005"}}, 'a rule such as "days since 2020-01-01"'),
        ({"dates": {"joined": "days since 2020-01-01 as %Q"}}, "a rule such as"),
        ({"fill": {"age": "old"}}, "fill of age must be a number, got 'old'"),
        ({"fill": {"age": 900}}, "fill of age must lie within its bounds, 18 to 100"),
        ({"fill": {"region": "west"}}, "fill of region must be one of its categories"),
        ({"fill": {"joined": 3}}, "fill of joined must be a text with a date"),
        ({"other": {"region": "west"}}, "other of region must be one of its categories"),
    ],
)
def test_rules_that_make_no_sense_are_refused_in_one_line(
    changed: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        Columns(**(RULES | changed))
    assert "\n" not in str(caught.value)


def learner(columns: Columns, **more: Any) -> StreamingLearner:
    return StreamingLearner(
        LpBall, SquaredLoss, 100, Privacy(5.0, 1e-6), columns=columns, seed=1, **more
    )


def test_bounds_that_follow_from_columns_are_not_given_twice() -> None:
    with pytest.raises(ConfigError, match="feature_bound follows from the bounds of columns"):
        learner(Columns(**RULES), feature_bound=1.0)


def test_an_array_of_numbers_is_refused_where_columns_hold_texts() -> None:
    model = learner(Columns(**RULES))
    with pytest.raises(ConfigError, match="an array of numbers has no region, joined"):
        model.observe_stream(np.zeros((10, 3)), np.zeros(10))
    assert model.clock == 0


def test_columns_of_a_file_may_have_other_names(tmp_path: Path) -> None:
    frame = polars.DataFrame(
        {
            "Alter": np.linspace(20, 90, 100),
            "region": ["north", "south"] * 50,
            "joined": ["2010-01-01"] * 100,
            "Umsatz (EUR)": np.linspace(0, 3000, 100),
        }
    )
    frame.write_csv(tmp_path / "kunden.csv")
    renamed = learner(Columns(**RULES, rename={"Alter": "age", "Umsatz (EUR)": "spent"}))
    renamed.observe_stream(tmp_path / "kunden.csv")
    plain = learner(Columns(**RULES))
    plain.observe_stream(frame.rename({"Alter": "age", "Umsatz (EUR)": "spent"}))
    np.testing.assert_array_equal(renamed.coefficients, plain.coefficients)


def test_a_file_that_is_no_csv_of_commas_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("age;region;joined;spent\n")
    (tmp_path / "a.csv.gz").write_bytes(b"\x1f\x8b")
    model = learner(Columns(**RULES))
    with pytest.raises(
        ConfigError, match="one column only; in a CSV file commas separate cells, not semicolons"
    ):
        model.observe_stream(tmp_path / "a.csv")
    with pytest.raises(ConfigError, match="is compressed: decompress it first"):
        model.observe_stream(tmp_path / "a.csv.gz")


def test_a_table_that_fails_later_says_how_many_rows_counted() -> None:
    whole = polars.DataFrame(
        {
            "age": [30.0] * 40,
            "region": ["north"] * 40,
            "joined": ["2010-01-01"] * 40,
            "spent": [100.0] * 40,
        }
    )
    model = learner(Columns(**RULES))
    with pytest.raises(ConfigError, match="lacks the columns age; the 40 rows before it were"):
        model.observe_stream(iter([whole, whole.drop("age")]))
    assert model.clock == 40
