"""The story of `discreet demo --story sites`: a city opens ten sites near its people, and gives no home away.

`results` computes it, `showing` tells it.
"""

from discreet.lab.stories.sites.showing import tell_sites

__all__ = ["tell_sites"]
