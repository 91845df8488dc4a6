"""The exponent of the growth of regret with the horizon: a slope between logarithms."""

from collections.abc import Sequence

import numpy as np


def fit_exponent(horizons: Sequence[int], regrets: Sequence[float]) -> dict[str, float]:
    """Fit a power of the horizon to regrets, by least squares in logarithms.

    The result has the `slope` and its 95 % interval, `low` to `high`. Regrets are ordered by
    horizon, equally many for each; regrets below 1 count as 1.

    >>> fit = fit_exponent([100, 400, 1600], [10.1, 9.9, 20.2, 19.8, 40.4, 39.6])
    >>> f"{fit['slope']:.2f}, between {fit['low']:.2f} and {fit['high']:.2f}"
    '0.50, between 0.49 and 0.51'
    """
    from scipy import stats

    times = np.repeat(horizons, len(regrets) // len(horizons))
    fit = stats.linregress(np.log(times), np.log(np.maximum(regrets, 1.0)))
    slope = float(fit.slope)
    half = float(stats.t.ppf(0.975, len(times) - 2) * fit.stderr)
    return {"slope": slope, "low": slope - half, "high": slope + half}
