"""Bandit and clicks, i.i.d. streams: slot by slot, a race among candidates, then commit.

Stage by stage, in blocks whose lengths are fixed in advance, the free slots of the slate are filled with
candidates in shuffled cycles, behind the items chosen so far. Each block's visitors are read once: for every
candidate, the reward of the slates it was in (bandit), or how often it was the first click (clicks), summed
and released with noise. The best third races on, then the best one takes the next slot. All eliminations read
released numbers only. Since every visitor is in one release, each release has the whole budget, in whichever
measure needs less noise, whatever the number of slots, stages and rounds. Value assumes that visitors are
alike over time; privacy does not.

A visitor moves the rewards of the `free` candidates of one public slate by at most 1 each: l₂ √free, l₁ free.
A click moves one count down and one up: l₂ √2, l₁ 2.

Guarantee   docs/guarantees/sets.md, Theorem 5
Runtime     O(slots) a round, O(items) a release
References  Nie et al. (2022), explore-then-commit greedy
            Even-Dar, Mannor, Mansour (2006), successive elimination
"""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from discreet.arrays import Integers, repeated
from discreet.errors import ConfigError
from discreet.learners.set_maximizer.mode import SetMode
from discreet.learners.set_maximizer.slates import filled_up
from discreet.release.door import Door
from discreet.release.gathering import Gathering, OneChoice, PublicCells
from discreet.release.noise import Once
from discreet.turn.coins import Coin, Coins
from discreet.turn.plan import Plan, State, paid_by_cohorts
from discreet.turn.problem import NOTHING, Asked, Batch, Block, Scores
from discreet.turn.schedule import ListedBlocks

__all__ = ["Race"]

MOST_CELLS = 2**17
"""Shuffled orders of the candidates take turns, as many as fit: none keeps the same company."""
HEATS = 2
"""How many blocks a slot's race has, from the second slot on."""
CARRIED = 0.3
"""How much of a race's sums the next one starts with: old news, from before the slot was filled."""


class Stage(NamedTuple):
    """An exploring block: the slot that is raced for, the heat, and how many visitors see it."""

    slot: int
    heat: int
    length: int


class Race(SetMode):
    """Slates from races among candidates; for rewards and clicks on i.i.d. streams."""

    _newest: tuple[tuple[int, bytes], Integers] | None = None

    @classmethod
    def serves(cls, settings: Any) -> bool:
        return bool(settings.expert == "race")

    def check(self) -> None:
        if self.settings.block != "auto":
            raise ConfigError("a race makes its own blocks: leave block")
        wanted, horizon = sum(stage.length for stage in self.stages), self.settings.rounds
        if wanted > horizon:
            raise ConfigError(
                f"a horizon of {horizon} is too short for {len(self.stages)} exploring blocks: "
                "use fewer slots"
            )

    @property
    def by_clicks(self) -> bool:
        return self.settings.feedback == "clicks"

    # --- the plan -----------------------------------------------------------------------------------------

    @cached_property
    def stages(self) -> list[Stage]:
        """The exploring blocks, in order."""
        settings = self.settings
        usual = 0.15 if self.by_clicks else 0.12  # measured: benchmarks/display.py
        exploring = (usual if settings.explore == "auto" else settings.explore) * settings.rounds
        if settings.slots == 1:
            return [Stage(0, 0, max(1, int(exploring)))]
        # The first race has all items in it and a quarter of the exploration for itself.
        first = Stage(0, 0, max(1, int(exploring / 4)))
        length = max(1, int(exploring * 3 / 4 / (settings.slots - 1) / HEATS))
        heats = [(slot, heat) for slot in range(1, settings.slots) for heat in range(HEATS)]
        return [first] + [Stage(slot, heat, length) for slot, heat in heats]

    @cached_property
    def schedule(self) -> ListedBlocks:
        return ListedBlocks(self.settings.rounds, tuple(stage.length for stage in self.stages))

    @cached_property
    def noises(self) -> list[Once]:
        """What each release is gathered with, and its noise: each in the measure in which it is least.

        People who come several times must meet one measure in all of them.
        """
        privacy = self.settings.privacy
        if privacy.contributions == 1:
            return [Once.calibrate(privacy, self._wanted(stage)) for stage in self.stages]
        in_one_measure = [
            [Once.for_budget(budget, self._wanted(stage)) for stage in self.stages]
            for budget in privacy.budgets
        ]
        return min(in_one_measure, key=lambda found: sum(once.standard_deviation**2 for once in found))

    def _wanted(self, stage: Stage) -> Gathering:
        """A click on one of the candidates, or a reward that counts for all that are in the free slots."""
        shape = (self.settings.items,)
        if self.by_clicks:
            return OneChoice(shape)
        return PublicCells(shape, copies=self.settings.slots - stage.slot)

    @cached_property
    def plan(self) -> Plan:
        charges = [once.charge for once in self.noises]
        visitors = self.noises[0].standard_deviation
        shown = self.stages[0].length * self.settings.slots / self.settings.items
        explore = sum(self.schedule.lengths) / self.settings.rounds
        facts: dict[str, Any] = {
            "expert": "race",
            "releases": len(charges),
            "explore": explore,
            "noise_in_visitors": visitors,
            "first_views_of_an_item": shown,
        }
        if 0.1 * shown < visitors:
            facts["warning"] = (
                "the horizon is too short: in the first race noise is larger than what a good item can gain"
            )
        return Plan.scheduled(
            self.schedule,
            lambda index: charges[index],
            paid_by_cohorts(self.settings.privacy, charges),
            cohort=lambda index: index,
            facts=facts,
            constants=tuple(self.noises),
        )

    # --- the hooks ----------------------------------------------------------------------------------------

    def start(self) -> tuple[State, State]:
        everything, nothing = np.arange(self.settings.items), np.zeros(self.settings.items)
        public: State = {"chosen": np.empty(0, dtype=np.int64), "candidates": everything, "order": everything}
        return public | {"sums": nothing, "shown": nothing, "noise": nothing, "index": 0, "begin": 0}, {}

    def gatherings(self, public: State) -> dict[str, Gathering]:
        if public["index"] >= len(self.stages):
            return {}  # committed: nobody is read any more
        return {"found": self.noises[public["index"]].gathering}

    def gather(self, public: State, block: Block, batch: Batch) -> None:
        slates = self._slates(public, batch.rounds, batch.asked)
        chosen = len(public["chosen"])
        candidates = slates[:, chosen:] if batch.asked.available is None else self._candidates(public, slates)
        # Read even when nothing is gathered any more: what is malformed is refused all the same.
        people: Any = self.clicks(batch) if self.by_clicks else self.rewards(batch)
        if "found" not in block:
            return
        found = block["found"].gathering
        if isinstance(found, OneChoice):  # one click counts for one candidate, behind the chosen items
            hit = (candidates == people[:, None]).any(axis=1)
            found.add(block["found"], np.where(hit, people, -1).astype(np.int64))
        elif isinstance(found, PublicCells):
            found.add(block["found"], candidates, people)

    def tally(self, public: State, rounds: Integers, asked: Asked, coins: Coins) -> State:
        """How masks change the views: only what is shown counts."""
        if public["index"] >= len(self.stages):
            return {}
        shown = self._slates(public, rounds, asked)
        planned = self._slates(public, rounds, NOTHING)
        return {"views": self._count(public, shown) - self._count(public, planned)}

    def release(
        self, public: State, tally: State, kept: State, block: Block, door: Door
    ) -> tuple[State, State]:
        slot, heat, length = self.stages[door.index]
        once = self.noises[door.index]
        noisy = door.add_noise(once.noise, block["found"]) * once.gathering.grid
        views = self._planned_views(public, length) + tally.get("views", 0)
        sums = public["sums"] + noisy * (views > 0)
        shown = public["shown"] + views
        noise = public["noise"] + once.standard_deviation**2 * (views > 0)
        candidates = public["candidates"]
        scores = (sums / np.maximum(shown, 1))[candidates]
        ranking = candidates[np.argsort(-scores, kind="stable")]
        # Those who race now come first, in their new order; the others keep the places of their last race.
        order = np.concatenate([ranking, public["order"][~np.isin(public["order"], ranking)]])
        chosen = public["chosen"]
        if heat + 1 < HEATS and slot > 0:
            field = ranking[: max(self.settings.slots - slot, len(ranking) // 3)]
        else:
            # The race is over: the best takes the slot. The next starts from its ranking, and a little of
            # its sums.
            chosen = np.append(chosen, ranking[0])
            field = order[~np.isin(order, chosen)][: self._size(slot + 1)]
            sums, shown, noise = CARRIED * sums, CARRIED * shown, CARRIED**2 * noise
        public = {
            "chosen": chosen,
            "candidates": field,
            "order": order,
            "sums": sums,
            "shown": shown,
            "noise": noise,
            "index": door.index + 1,
            "begin": self.schedule.end(door.index),
        }
        return public, {}

    def decide(self, public: State, rounds: Integers, asked: Asked, coins: Coins) -> Integers:
        return self._slates(public, rounds, asked)

    def best(self, public: State) -> Integers:
        chosen = public["chosen"]
        rest = public["order"][~np.isin(public["order"], chosen)]
        return np.concatenate([chosen, rest])[: self.settings.slots]

    def scores(self, public: State, index: int, context: Any) -> Scores:
        views = np.maximum(public["shown"], 1)
        return Scores(public["sums"] / views, np.sqrt(public["noise"] + public["shown"] / 4) / views)

    # --- candidates and their shuffled cycles -------------------------------------------------------------

    def _size(self, slot: int) -> int:
        """How many candidates race for a slot."""
        free = self.settings.slots - slot
        return max(2 * free, round(3.2 * self.settings.slots * 0.8 ** (slot - 1)))

    def _cycles(self, public: State) -> Integers:
        """Shuffled orders of the candidates: public, the same for any data that led to these candidates."""
        candidates = public["candidates"]
        made_for = public["index"], candidates.tobytes()
        if self._newest is None or self._newest[0] != made_for:
            generator = Coin(self.name, 1 + public["index"]).generator()
            orders = max(4, min(1024, MOST_CELLS // max(1, len(candidates))))
            self._newest = made_for, generator.permuted(np.tile(candidates, (orders, 1)), axis=1)
        return self._newest[1]

    def _slates(self, public: State, rounds: Integers, asked: Asked) -> Integers:
        """One slate a round: what is chosen, then candidates; under a mask other items, in order of merit."""
        chosen = public["chosen"]
        free = self.settings.slots - len(chosen)
        slates = np.asarray(repeated(chosen, len(rounds)))
        if free:
            cycles = self._cycles(public)
            plays = cycles.shape[1] // free  # of a cycle; what does not fill a slate waits for another order
            position = rounds - public["begin"]
            first = (position % plays) * free
            drawn = cycles[(position // plays % len(cycles))[:, None], first[:, None] + np.arange(free)]
            slates = np.concatenate([slates, drawn], axis=1) if len(chosen) else drawn
        return slates if asked.available is None else filled_up(slates, asked.available, public["order"])

    def _candidates(self, public: State, slates: Integers) -> Integers:
        """What each slate shows behind the chosen items, as far as there are free slots: −1 for nothing."""
        free = self.settings.slots - len(public["chosen"])
        behind = np.where(np.isin(slates, public["chosen"]), -1, slates)
        places = np.argsort(behind < 0, axis=1, kind="stable")  # what is shown first, in its order
        return np.take_along_axis(behind, places[:, :free], axis=1)

    def _count(self, public: State, slates: Integers) -> Integers:
        """How often these slates show each candidate."""
        shown = self._candidates(public, slates)
        return np.bincount(shown[shown >= 0], minlength=self.settings.items)

    def _planned_views(self, public: State, length: int) -> Integers:
        """How often a block without masks shows each candidate: whole sweeps over all orders, and a rest."""
        cycles = self._cycles(public)
        free = self.settings.slots - len(public["chosen"])
        plays = cycles.shape[1] // free
        sweeps, rest = divmod(length, plays * len(cycles))
        rows, into = divmod(rest, plays)
        views = np.zeros(self.settings.items, dtype=np.int64)
        for part, times in ((cycles, sweeps), (cycles[:rows], 1)):
            views += times * np.bincount(part[:, : plays * free].reshape(-1), minlength=self.settings.items)
        if into:
            views += np.bincount(cycles[rows, : into * free], minlength=self.settings.items)
        return views
