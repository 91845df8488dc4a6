"""The story of `discreet demo --story bundle`: which accessories to bundle at the checkout.

`results` computes it, `showing` tells it; no visitor can be found in it.
"""

from discreet.lab.stories.bundle.showing import tell_bundle

__all__ = ["tell_bundle"]
