"""The blocks of a screening, and how long each is: from settings and the rate of clicks on an item.

    clicks     random slates; Thompson's choice, twice; then the leader is fixed, up to three times
    rewards    random slates; Thompson's choice, twice

Lengths are shares of the horizon that fall as it grows: how often an item must be seen does not.
"""

from dataclasses import dataclass
from typing import NamedTuple

from discreet.learners.set_maximizer.incumbent_search.tuning import TUNED

USUAL_VISITORS = {"clicks": 1e5, "bandit": 1e6}
"""Number of visitors at a pace of 1."""


class Stage(NamedTuple):
    """One block of screening: how many leaders are fixed before it, and its rounds."""

    fixed: int
    length: int


@dataclass(frozen=True)
class ScreeningSchedule:
    """The blocks of a screening; it takes at most the share `most` of all rounds."""

    items: int
    slots: int
    rounds: int
    feedback: str
    most: float = TUNED.most_screened

    def pace(self, rate: float) -> float:
        """Return how much longer than usual screening takes at this rate of clicks on an item.

        It is 1 for the usual number of visitors who click at the usual rate, and 20 times as many
        items as slots.
        """
        crowd = (self.items / self.slots / 20) ** TUNED.crowd
        seen = self.rounds * min(rate / TUNED.usual_rate, 2.0)
        power, usual = TUNED.slower.of(self.feedback), USUAL_VISITORS[self.feedback]
        if self.feedback == "clicks" and seen <= usual:
            power = TUNED.slower_if_few
        return float(crowd * (seen / usual) ** power)

    def stages(self, rate: float) -> list[Stage]:
        """Return all blocks, in order, if this is the rate of clicks on an item."""
        pace = self.pace(rate)
        parts = [(0, min(TUNED.random.of(self.feedback) * pace, TUNED.most_random))]
        parts += [(0, TUNED.thompson.of(self.feedback) * pace)] * 2
        if self.feedback == "clicks":
            leaders = min(TUNED.most_fixed, self.slots - 1)
            parts += [(1 + number, TUNED.fixed * pace) for number in range(leaders)]
        percent = sum(part for _, part in parts)
        scale = min(1.0, 100 * self.most / percent)
        return [
            Stage(fixed, max(1, int(scale * part / 100 * self.rounds))) for fixed, part in parts
        ]

    def length(self, rate: float) -> int:
        """Return the rounds of all stages."""
        return sum(stage.length for stage in self.stages(rate))
