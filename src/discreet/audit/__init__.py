"""What every learner promises, as functions that raise `AssertionError` with the rule that was
broken.

For our learners and for anyone's: `check_learner(Case(...))` runs the whole contract,
`audit_transcript(case)` measures what one person can change in what meets the door, exactly.
Neither needs pytest.

>>> from discreet import Hedge, Privacy
>>> from discreet.audit import Case, audit_transcript
>>> def make(**more):
...     return Hedge(3, 12, **({"privacy": Privacy(1.0, 1e-6), "block": 4} | more))
>>> case = Case("hedge", make, person=lambda generator: generator.uniform(0, 1, size=3))
>>> found = audit_transcript(case, pairs=100)
>>> 0.5 < found.largest_cost_over_charge <= 1.0
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
