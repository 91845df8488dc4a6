"""If these fail, a mode of a learner breaks a promise; the rules are in discreet/audit/contract."""

import pytest

from discreet.audit import RULES, Case
from discreet.audit.cases.learners import cases, keyed_cases


@pytest.mark.parametrize("case", [*cases(), *keyed_cases()], ids=lambda case: case.name)
@pytest.mark.parametrize("rule", list(RULES))
def test_the_contract(rule: str, case: Case) -> None:
    RULES[rule](case)
