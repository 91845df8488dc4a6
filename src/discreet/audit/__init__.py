"""The promises of every learner, as functions that raise `AssertionError` where one is broken.

They check the learners of this library and those of anyone else. `check_learner(Case(...))` runs
the whole contract; `audit_transcript(case)` measures the exact privacy cost of one person at the
door. Neither needs pytest.

Examples
--------
>>> from discreet import Hedge, Privacy
>>> from discreet.audit import Case, audit_transcript
>>> def make(**more):
...     return Hedge(3, 12, **({"privacy": Privacy(1.0, 1e-6), "block": 4} | more))
>>> case = Case("hedge", make, person=lambda generator: generator.uniform(0, 1, size=3))
>>> audited = audit_transcript(case, pairs=100)
>>> 0.5 < audited.largest_cost_over_charge <= 1.0
True
"""

from discreet.audit.cases.case import LogOfCase
from discreet.audit.contract import RULES, Case, check_learner
from discreet.audit.transcript import Audited, audit_transcript
from discreet.audit.weakened import LEAKS, understated, weakened

__all__ = [
    "LEAKS",
    "RULES",
    "Audited",
    "Case",
    "LogOfCase",
    "audit_transcript",
    "check_learner",
    "understated",
    "weakened",
]
