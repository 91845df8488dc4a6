"""One set, once, from many people's records: see `SetSelector`."""

from discreet.learners.set_selector.partitions import Partitions
from discreet.learners.set_selector.selector import Chosen, SetSelector
from discreet.learners.set_selector.settings import SetSelectorSettings

__all__ = ["Chosen", "Partitions", "SetSelector", "SetSelectorSettings"]
