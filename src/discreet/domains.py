"""Where decisions lie: boxes, balls and simplices, from discreet/decide/domains.py."""

from discreet.decide.domains import Box, Domain, LpBall, Simplex

__all__ = ["Box", "Domain", "LpBall", "Simplex"]
