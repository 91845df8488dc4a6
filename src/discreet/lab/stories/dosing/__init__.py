"""The story of `discreet demo --story dosing`: a clinic learns which of three doses helps whom.

`results` computes it, `showing` tells it; no patient can be found in anybody else's dose.
"""

from discreet.lab.stories.dosing.showing import tell_dosing

__all__ = ["tell_dosing"]
