"""Private selection of one set from the records of many people: see `SetSelector`."""

from discreet.learners.set_selector.chosen import Chosen
from discreet.learners.set_selector.partitions import Partitions
from discreet.learners.set_selector.selector import SetSelector
from discreet.learners.set_selector.settings import SetSelectorSettings

__all__ = ["Chosen", "Partitions", "SetSelector", "SetSelectorSettings"]
