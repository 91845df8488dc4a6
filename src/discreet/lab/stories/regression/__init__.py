"""The story of `discreet demo --story regression`: what drives the price of a flat, published every week.

`results` computes it, `showing` tells it; no seller can be found in the coefficients.
"""

from discreet.lab.stories.regression.showing import tell_regression

__all__ = ["tell_regression"]
