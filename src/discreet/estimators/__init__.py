"""Private linear models with scikit-learn's interface, in place of SGDRegressor and SGDClassifier.

Every quantity that scaling needs is a public parameter that must be given: the ranges of features
and targets and the classes, or `columns` with bounds and categories. The estimators read nothing
from the data except what the guarantee covers. A fitted estimator holds released values only, so it
may be pickled and shown; the learner behind `partial_fit` holds raw sums and is left out of
pickles.

**Tables.** With `columns=Columns(features, target, bounds=…, categories=…)`, `fit`, `partial_fit`,
`predict` and `score` take frames, Arrow streams, paths and iterators of frames. Numbers, dates and
categories are scaled inside, so no transformer stands before the estimator, and coefficients are in
the table's units.

**Pipelines.** StandardScaler and other transformers that are fitted read the data, and no guarantee
of the estimator behind them covers that. Use `PublicScaler`, which takes ranges, or leave the
scaling to the estimators.

**Repeated fits.** Every `fit` spends its ε again, also each fit of a grid search or of a
cross-validation. Clones count their fits together: `guarantee_` states what all of them cost, and
the second, fourth, eighth … fit warns. Fits in other processes (`n_jobs`) are not counted: multiply
the cost yourself.

**Malformed samples.** A sample with a feature or a target that is no finite number, or with a label
that is no class, counts as nothing, and the other samples are learned from. The numbers of samples
and features are public; for a list of rows the ranges state how many features there are. `predict`
serves the operator: a row that is no finite numbers gives NaN, and refuses no other.

**Weights.** A weight must follow from the person's own sample. The guarantee does not cover weights
that read other people's samples (class_weight="balanced", shares of a sum, boosting), nor
resampling that repeats a person (bootstraps).

**Short floats.** Lists of rows, labels and targets are read entry by entry. In an array that the
caller makes of short floats and texts, one text changes how all numbers are rounded
(docs/guarantees/threats.md).

Guarantee   docs/guarantees/streaming.md
"""

from importlib.util import find_spec

if find_spec("sklearn") is None:
    raise ImportError("discreet.estimators needs scikit-learn: pip install 'discreet[sklearn]'")

from discreet.estimators.classifier import PrivateStreamingClassifier
from discreet.estimators.regressor import PrivateStreamingRegressor
from discreet.estimators.scaler import PublicScaler

__all__ = ["PrivateStreamingClassifier", "PrivateStreamingRegressor", "PublicScaler"]
