"""Every way of learning keeps the contract; see discreet/audit/contract/__init__.py for the
rules.
"""

import pytest

from discreet.audit import RULES, Case
from discreet.audit.cases.learners import cases, keyed_cases


@pytest.mark.parametrize("case", [*cases(), *keyed_cases()], ids=lambda case: case.name)
@pytest.mark.parametrize("rule", list(RULES))
def test_the_contract(rule: str, case: Case) -> None:
    RULES[rule](case)
