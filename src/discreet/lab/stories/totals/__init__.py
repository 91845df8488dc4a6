"""The story of `discreet demo --story totals`: a shop publishes its running totals.

`results` computes it, `showing` tells it; no shopper can be found in it.
"""

from discreet.lab.stories.totals.showing import tell_totals

__all__ = ["tell_totals"]
