"""Private experts: which action to take, nearly as well as the best of them in hindsight."""

from discreet.learners.hedge.learner import Hedge
from discreet.learners.hedge.settings import HedgeSettings

__all__ = ["Hedge", "HedgeSettings"]
