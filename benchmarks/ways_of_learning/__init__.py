"""Values of the modes of each learner in the same setting, with the same people and seed.

`compare(group, setting, seed)` gives one number per way; benchmarks/ways.py has the settings.

    modes.py           our learner by mode: the constructor's own choice, and modes by name
    mixing.py          which of two worlds each person comes from: iid, drift, exchange, alternate
    slates.py          SetMaximizer, and ContinuousMaximizer with play="set"
    points.py          ContinuousMaximizer with play="point"
    costs.py           SetMinimizer
    coefficients.py    StreamingLearner, judged by its last coefficients
    passing.py         StreamingLearner, judged as it goes
    fits.py            the estimators' `fit`
    arms.py            ContextualBandit and Hedge
    once.py            SetSelector and RunningSum
    verdicts.py        means, paired differences and their errors
"""

from ways_of_learning.groups import GROUPS, MEASURES, compare
from ways_of_learning.verdicts import Measure, Verdict, verdict

__all__ = ["GROUPS", "MEASURES", "Measure", "Verdict", "compare", "verdict"]
