"""The blocks of a screening and their lengths, from the settings and the click rate of an item.

    clicks     random slates; Thompson sampling, twice; then behind 1, 2 and 3 fixed leaders
    rewards    random slates; Thompson sampling, twice

Lengths are shares of the horizon, and fall as it grows: the number of views that an item needs does
not grow with it.
"""

from dataclasses import dataclass
from typing import NamedTuple

from discreet.learners.set_maximizer.incumbent_search.tuning import TUNED


class Stage(NamedTuple):
    """One block of a screening."""

    fixed: int
    """Number of leaders that are fixed before it."""
    length: int
    """Number of its rounds."""


@dataclass(frozen=True)
class ScreeningSchedule:
    """Lengths of the blocks of a screening: at most the share `most` of all rounds together."""

    items: int
    slots: int
    rounds: int
    feedback: str
    most: float = TUNED.most_screened

    def pace(self, rate: float) -> float:
        """Return the share of rounds that screening takes, relative to the usual one.

        It is 1 for the usual number of visitors, the usual click rate of an item, and 20 items per
        slot.
        """
        items = (self.items / self.slots / TUNED.usual_items_per_slot) ** TUNED.items_per_slot_power
        visitors = self.rounds * min(rate / TUNED.usual_rate, TUNED.most_rate)
        usual = TUNED.usual_visitors.of(self.feedback)
        power = TUNED.visitors_power.of(self.feedback)
        if self.feedback == "clicks" and visitors <= usual:
            power = TUNED.visitors_power_if_few
        return float(items * (visitors / usual) ** power)

    def stages(self, rate: float) -> list[Stage]:
        """Return all blocks, in order, given the click rate of an item."""
        pace = self.pace(rate)
        percents = [min(TUNED.random.of(self.feedback) * pace, TUNED.most_random)]
        percents += [TUNED.thompson.of(self.feedback) * pace] * 2
        fixed = [0] * len(percents)
        if self.feedback == "clicks":
            leaders = min(TUNED.most_fixed, self.slots - 1)
            percents += [TUNED.fixed * pace] * leaders
            fixed += range(1, 1 + leaders)
        scale = min(1.0, 100 * self.most / sum(percents))
        lengths = [max(1, int(scale * percent / 100 * self.rounds)) for percent in percents]
        return [Stage(count, length) for count, length in zip(fixed, lengths, strict=True)]

    def length(self, rate: float) -> int:
        """Return the number of rounds of all stages together."""
        return sum(stage.length for stage in self.stages(rate))
