"""Where decisions lie; see discreet/decide/domains.py."""

from discreet.decide.domains import Box, Domain, LpBall, Simplex

__all__ = ["Box", "Domain", "LpBall", "Simplex"]
