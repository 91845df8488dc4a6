"""If these fail, the audit does not see that one cell decides how others are read."""

import json
from collections.abc import Sequence

import numpy as np
import pytest

from discreet.arrays import Floats
from discreet.audit.cases.case import Case
from discreet.audit.cases.learners import cases
from discreet.audit.transcript import measured_costs
from discreet.records.json_lines import JsonLines
from discreet.records.table import LogTable


@pytest.fixture
def case() -> Case:
    """People with cells, who come in lists and in tables of several kinds."""
    return next(case for case in cases() if case.name == "streaming, columns")


@pytest.mark.night
def test_a_reader_that_blanks_a_column_for_one_odd_cell_is_caught(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = LogTable.numbers

    def careless(table: LogTable, names: Sequence[str]) -> Floats:
        numbers = honest(table, names)
        numbers[:, np.isnan(numbers).any(axis=0)] = np.nan
        return numbers

    assert measured_costs(case, pairs=15, seed=5).largest_cost_over_charge <= 1
    monkeypatch.setattr(LogTable, "numbers", careless)
    found = measured_costs(case, pairs=200, seed=5, enough=1 + 1e-6)
    assert found.largest_cost_over_charge > 1 + 1e-6


def test_a_file_of_which_one_line_ends_the_reading_is_caught(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    def strict(file: JsonLines, line: bytes) -> dict[str, object]:
        content: dict[str, object] = json.loads(line)
        return content

    monkeypatch.setattr(JsonLines, "_object_in", strict)
    with pytest.raises(json.JSONDecodeError):
        measured_costs(case, pairs=40, seed=1)


def test_a_call_in_which_nobody_answers_raises_no_false_alarm(case: Case) -> None:
    """The fifteenth pair has a person alone in a file, who answers in one stream only."""
    assert measured_costs(case, pairs=15, seed=6).largest_cost_over_charge <= 1
