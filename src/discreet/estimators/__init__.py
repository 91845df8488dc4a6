"""Private linear models with scikit-learn's interface: put them where you have SGDRegressor today.

Everything that scaling needs is a public parameter without default: ranges of features and targets,
and the classes. Nothing is read off the data but what the guarantee covers. A fitted estimator
holds released values only, so it may be pickled and shown; the learner behind `partial_fit` holds
raw sums and is left out of pickles.

In a pipeline, StandardScaler and other transformers that are fitted read the data, and no guarantee
of the estimator behind them covers that: use `PublicScaler`, which takes ranges, or leave scaling
to the estimators.

Every `fit` spends its ε anew, also those that a grid search or a cross-validation makes. Clones
count their fits together: `guarantee_` says what all of them cost, and the second, fourth, eighth …
fit warn. Fits in other processes (`n_jobs`) are not counted: multiply by yourself. A sample with a
feature or a target that is no finite number, or a label that is no class, says nothing, and refuses
nobody. How many samples and features there are is public (of rows in a list: the length that most
of them have). `predict` is asked by the operator: a row with NaN gives NaN, and rows that are no
numbers are refused.

A weight must follow from the person's own sample: weights that read others'
(class_weight="balanced", shares of a sum, boosting) and resampling that repeats a person
(bootstraps) are not covered by the guarantee. Lists of rows, labels and targets are read one by
one; in an array that the caller makes of short floats and texts, one text changes how all are
rounded (SECURITY.md).

Guarantee   docs/guarantees/streaming.md
"""

from importlib.util import find_spec

if find_spec("sklearn") is None:
    raise ImportError("discreet.estimators needs scikit-learn: pip install 'discreet[sklearn]'")

from discreet.estimators.classifier import PrivateStreamingClassifier
from discreet.estimators.regressor import PrivateStreamingRegressor
from discreet.estimators.scaler import PublicScaler

__all__ = ["PrivateStreamingClassifier", "PrivateStreamingRegressor", "PublicScaler"]
