"""If these fail, learning from a log differs from learning from the decided arms."""

from typing import Any

import numpy as np
import polars
import pytest

from discreet import ConfigError
from discreet.engine.tickets import Tickets
from discreet.learners.contextual_bandit.log_adapter import ContextualBanditLogAdapter
from discreet.records.table import LogTable

CLINIC: dict[str, Any] = {
    "epsilon": 1.0,
    "delta": 1e-6,
    "horizon": 1000,
    "arms": ["low", "high"],
    "features": ["age", "weight"],
}
UNIFORM = {"propensity": "uniform"}
LOGGED = {"propensity": "p", "least_propensity": 0.2}


def adapted(log: dict[str, Any], **settings: Any) -> ContextualBanditLogAdapter:
    """Return the adapter of a log with these settings."""
    return ContextualBanditLogAdapter.from_plain(CLINIC | settings | log)


def decided(arms: Any, first: int = 0) -> Tickets:
    """Return tickets of consecutive rounds, for which these arms were decided."""
    arms = np.array(arms)
    return Tickets("a learner", 1, 0, np.arange(first, first + len(arms)), arms)


def rows(arms: list[Any], rewards: list[Any] | None = None, **columns: Any) -> LogTable:
    """Return a log of people of age 0.5 and weight −0.5, unless `columns` has other values."""
    count = len(arms)
    people = {"age": [0.5] * count, "weight": [-0.5] * count} | columns
    outcome = {"arm": arms, "reward": [1.0] * count if rewards is None else rewards}
    return LogTable(polars.DataFrame(people | outcome, strict=False))


def fed(adapter: ContextualBanditLogAdapter, log: LogTable, tickets: Tickets) -> list[float | None]:
    """Return the feedback of each row; None for a row that adds nothing."""
    feedback = adapter.feedback(log, adapter.columns(log.columns), tickets)
    return [None if np.isnan(value) else float(value) for value in feedback]


# --- rows that count


def test_only_rows_with_the_decided_arm_count() -> None:
    log = rows(["low", "high", "high", " low "], [0.1, 0.2, 0.3, 0.4])
    assert fed(adapted(UNIFORM), log, decided([0, 0, 1, 0])) == [0.1, None, 0.3, 0.4]


@pytest.mark.parametrize("logged", [[0, 1, 1, None], [0.0, 1.0, 1.0, None], ["0", "1", "1.0", ""]])
def test_arms_without_labels_are_read_by_number(logged: list[Any]) -> None:
    feedback = fed(adapted(UNIFORM, arms=2), rows(logged), decided([0, 0, 1, 0]))
    assert feedback == [1.0, None, 1.0, None]


def test_arms_whose_labels_are_numbers_are_not_read_as_positions() -> None:
    log = rows([1, 205, 0, 101.0])
    feedback = fed(adapted(UNIFORM, arms=[101, 205]), log, decided([1, 1, 0, 0]))
    assert feedback == [None, 1.0, None, 1.0]


@pytest.mark.parametrize("arm", ["rope", "", None, "low high", "-1"])
def test_an_unknown_arm_adds_nothing(arm: Any) -> None:
    assert fed(adapted(UNIFORM), rows([arm, "low"]), decided([0, 0])) == [None, 1.0]


@pytest.mark.parametrize("broken", [None, "much", float("nan"), float("inf")])
@pytest.mark.parametrize("column", ["reward", "age", "p"])
def test_a_row_with_a_malformed_entry_adds_nothing(column: str, broken: Any) -> None:
    columns: dict[str, Any] = {"age": [0.5, 0.5], "p": [0.2, 0.2], "reward": [1.0, 1.0]}
    columns[column] = [broken, columns[column][1]]
    log = rows(["low", "low"], columns.pop("reward"), **columns)
    malformed, valid = fed(adapted(LOGGED), log, decided([0, 0]))
    assert valid == 1.0
    assert malformed is None or not np.isfinite(malformed)  # the learner ignores infinite rewards


@pytest.mark.parametrize("propensity", [0.0, -0.5, 1.5])
def test_a_propensity_that_is_no_probability_adds_nothing(propensity: float) -> None:
    assert fed(adapted(LOGGED), rows(["low"], p=[propensity]), decided([0])) == [None]


# --- sampling of rows

PEOPLE = 20_000


def test_likely_arms_count_no_more_often_than_unlikely_ones() -> None:
    """A row is sampled with probability least/propensity.

    The level is 5 standard deviations, α < 10⁻⁵ for all cases together. The test would catch a coin
    with probability `least`, or no coin at all.
    """
    adapter = adapted(LOGGED)
    for propensity in (0.2, 0.4, 0.9):
        log = rows(["low"] * PEOPLE, p=[propensity] * PEOPLE)
        columns = adapter.columns(log.columns)
        feedback = adapter.feedback(log, columns, decided([0] * PEOPLE))
        share = np.isfinite(feedback).mean()
        probability = 0.2 / propensity
        assert abs(share - probability) <= 5 * np.sqrt(probability * (1 - probability) / PEOPLE)


def test_rows_that_count_are_a_uniform_sample_though_the_old_policy_preferred_the_old(
    generator: np.random.Generator,
) -> None:
    """The mean age of sampled rows; without the coin it would be off by 0.3. α < 10⁻⁶."""
    ages = generator.uniform(-1, 1, PEOPLE)
    propensities = 0.5 + 0.4 * ages  # of a high dose
    high = generator.random(PEOPLE) < propensities
    log = rows(
        np.where(high, "high", "low").tolist(),
        age=ages,
        weight=ages,
        p=np.where(high, propensities, 1 - propensities),
    )
    adapter = adapted(LOGGED | {"least_propensity": 0.1})
    counts = np.isfinite(adapter.feedback(log, adapter.columns(log.columns), decided([1] * PEOPLE)))
    assert abs(counts.mean() - 0.1) < 5 * np.sqrt(0.09 / PEOPLE)
    assert abs(ages[counts].mean()) < 5 * ages.std() / np.sqrt(counts.sum())
    assert ages[high].mean() > 0.2


def test_a_coin_depends_on_its_round_and_not_on_how_the_log_is_split() -> None:
    log = rows(["low"] * 300, p=[0.5] * 300)
    whole = fed(adapted(LOGGED), log, decided([0] * 300, first=40))
    parts = [
        fed(adapted(LOGGED), log[first : first + 100], decided([0] * 100, first=40 + first))
        for first in (0, 100, 200)
    ]
    assert whole == [value for part in parts for value in part]
    assert whole.count(None) > 100
    assert fed(adapted(LOGGED), log, decided([0] * 300, first=41)) != whole


def test_other_settings_have_other_coins() -> None:
    log = rows(["low"] * 300, p=[0.5] * 300)
    tickets = decided([0] * 300)
    assert fed(adapted(LOGGED), log, tickets) != fed(adapted(LOGGED, horizon=1001), log, tickets)


def test_without_a_column_of_propensities_every_row_is_sampled() -> None:
    assert fed(adapted(UNIFORM), rows(["low"] * 300), decided([0] * 300)) == [1.0] * 300


# --- columns


def test_contexts_are_read_from_columns_with_the_names_of_features() -> None:
    adapter = adapted(UNIFORM)
    log = rows(["low"], age=[0.1], weight=[0.2])
    columns = adapter.columns(["reward", "weight", "note", "arm", "age"])
    assert columns == ["age", "weight", "arm", "reward"]
    assert adapter.contexts(log, columns).tolist() == [[0.1, 0.2]]


@pytest.mark.parametrize("features", [None, 2, ["years", "kilos"]])
def test_features_without_names_are_named_like_their_columns(features: Any) -> None:
    plain = {name: value for name, value in CLINIC.items() if name != "features"} | LOGGED
    plain |= {"context": ["weight", "age"]} | ({} if features is None else {"features": features})
    adapter = ContextualBanditLogAdapter.from_plain(plain)
    columns = adapter.columns(["age", "weight", "arm", "reward", "p"])
    assert columns == ["weight", "age", "arm", "reward", "p"]
    expected = ("years", "kilos") if isinstance(features, list) else ("weight", "age")
    assert adapter.settings.feature_labels == expected


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"propensity": None}, 'the settings lack propensity: .* or "uniform"'),
        ({"propensity": 0.5}, "propensity must be a column, or"),
        ({"propensity": "reward"}, "propensity must be a column, or"),
        ({"least_propensity": None}, "the settings lack least_propensity: a public number"),
        ({"propensity": "uniform"}, "least_propensity is for a column"),
        ({"least_propensity": 0.0}, "least_propensity must be above 0"),
        ({"least_propensity": 1.2}, "least_propensity must be a number between 0 and 1, got 1.2"),
        ({"least_propensity": "p"}, "least_propensity must be a number"),
        ({"context": "age"}, "context must be a list of columns, got 'age'"),
        ({"context": ["age"]}, "context names 1 columns, but features is"),
        ({"context": ["age", "age"]}, "context must be different columns"),
        ({"epsilon": None}, "the settings lack epsilon"),
        ({"arms": 0}, "arms must be a whole number"),
    ],
)
def test_missing_and_superfluous_settings_are_refused(
    changes: dict[str, Any], message: str
) -> None:
    changed = CLINIC | LOGGED | changes
    plain = {name: value for name, value in changed.items() if value is not None}
    with pytest.raises(ConfigError, match=message):
        ContextualBanditLogAdapter.from_plain(plain)


@pytest.mark.parametrize(
    ("changes", "header", "message"),
    [
        (
            {},
            ["age", "arm", "reward", "p"],
            "the log lacks the columns weight: this learner reads age, wei",
        ),
        ({}, ["age", "weight", "arm", "reward"], "the log lacks the columns p"),
        (
            {"features": 2},
            ["age", "weight", "arm", "reward", "p"],
            "name the columns of the 2 features",
        ),
        (
            {"features": ["age", "arm"]},
            ["age", "arm", "reward", "p"],
            "arm cannot be part of the context",
        ),
        (
            {"features": ["age", "p"]},
            ["age", "arm", "reward", "p"],
            "p cannot be part of the context",
        ),
    ],
)
def test_a_log_that_does_not_fit_is_refused(
    changes: dict[str, Any], header: list[str], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        adapted(LOGGED, **changes).columns(header)
