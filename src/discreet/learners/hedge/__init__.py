"""Private experts: which action to take, nearly as well as the best of them in hindsight."""

from discreet.learners.hedge.draws import HedgeSettings
from discreet.learners.hedge.learner import Hedge

__all__ = ["Hedge", "HedgeSettings"]
