"""If these fail, a mode of a learner breaks a promise; the rules are in discreet/audit/contract."""

from typing import Any

import pytest

from discreet.audit import RULES, Case
from discreet.audit.cases.learners import cases, keyed_cases

CASES = (*cases(), *keyed_cases())
SLOW = "killed_anywhere_in_a_release_it_shows_one_decision_only"
"""A third of the time of all tests: by day for two of three cases, among them every mode."""


def _tried(rule: str, place: int) -> Any:
    case = CASES[place]
    marks = [pytest.mark.night] if rule == SLOW and place % 3 == 2 else []
    return pytest.param(rule, case, id=f"{rule}-{case.name}", marks=marks)


@pytest.mark.parametrize(
    ("rule", "case"), [_tried(rule, place) for rule in RULES for place in range(len(CASES))]
)
def test_the_contract(rule: str, case: Case) -> None:
    RULES[rule](case)
