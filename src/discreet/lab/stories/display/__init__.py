"""The story of `discreet demo`: a shop with five slots and a hundred items learns what to show.

`results` computes it, `showing` tells it; no visitor can be found in it.
"""

from discreet.lab.stories.display.showing import tell_display

__all__ = ["tell_display"]
