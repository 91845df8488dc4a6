"""What a budget buys for one set that is chosen once, from people's records.

The made-up people liked a few of the items each, popular ones more often. What is kept is what the chosen set
is worth to them, of what greedy without noise would have chosen.
"""

from dataclasses import dataclass, replace
from typing import Any

from discreet.budget.privacy import Privacy
from discreet.decide.matroids import UniformMatroid
from discreet.lab.planning import Case
from discreet.lab.selection import FilmLog, greedy_without_noise, value_to
from discreet.learners.set_selector import SetSelector, SetSelectorSettings

__all__ = ["SelectionCase"]


@dataclass(frozen=True)
class SelectionCase(Case):
    """So many (`slots`) of so many items, once, from so many people."""

    items: int
    slots: int
    rounds: int
    privacy: Privacy

    world = "people who liked a few items each"

    def selector(self, seed: int | None = None) -> SetSelector:
        """The selector that would be used."""
        world = FilmLog.drawn(0, items=1)
        return SetSelector(
            UniformMatroid(self.items, self.slots), self.privacy, function=world.function, seed=seed
        )

    def facts(self) -> dict[str, Any]:
        settings: SetSelectorSettings = replace(self.selector().settings, people=self.rounds)
        plan = SetSelector.problem_for(settings).plan
        return plan.facts | {"epsilon": plan.total.epsilon(self.privacy)}

    def share(self, seed: int) -> float:
        liked = FilmLog.drawn(self.rounds, items=self.items, seed=seed).liked
        chosen = self.selector(seed).fit(liked)
        best = greedy_without_noise(liked, UniformMatroid(self.items, self.slots))
        return value_to(liked, chosen.items) / max(value_to(liked, best), 1.0)

    @property
    def seconds_a_person(self) -> float:
        return 1e-5 + 1e-7 * self.items + 2e-8 * self.items * self.slots
