"""Bandit and clicks, drifting streams: explore in shuffled cycles, and one running total of what was found.

Some rounds, evenly spread and fixed in advance, explore: the first slots of the current slate, then an item
to be tried (bandit), or as many items as there are free slots (clicks). What comes back (the reward; the
first click) is added to the table at (slot, item). A block ends when every (slot, item) pair was tried
equally often; then the running total of the table is released and the slate read off it. All other rounds
show the slate and are not read, but for a `report`: that reads what everyone of a block earned.

Which cell a visitor of an exploring round touches is public (bandit): the sum has sensitivity 1. A click
moves one cell down and one up: √2, l₁ 2. Whether feedback came plays no role: a missing answer adds nothing,
and tries are counted when rounds are opened.

Guarantee   docs/guarantees/sets.md, Theorem 4, Lemma 8
Runtime     O(slots) a round, O(slots · items) a release
References  Streeter, Golovin (2008); Perez-Salazar, Cummings (2021), Algorithm 3
"""

from functools import cached_property
from math import ceil, log, sqrt
from typing import Any, NamedTuple

import numpy as np

from discreet.arrays import Integers, Mask
from discreet.errors import ConfigError
from discreet.learners.earnings import Earnings
from discreet.learners.set_maximizer.mode import SetMode
from discreet.learners.set_maximizer.slates import distinct_leaders, filled_up, ranked, shrunk
from discreet.learners.totals import RunningTotal
from discreet.learners.trial_schedule import TrialSchedule, check_trials
from discreet.release.door import Door
from discreet.release.gathering import Gathering, OneChoice, PublicCells
from discreet.turn.coins import Coin, Coins
from discreet.turn.plan import Plan, State
from discreet.turn.problem import Asked, Batch, Block, Scores
from discreet.turn.schedule import EqualBlocks

__all__ = ["Exploration"]

RELEASES = 20
"""Enough to follow a stream, and few are less noisy."""


class Explored(NamedTuple):
    """The exploring ones among some rounds."""

    places: Integers
    """Where in the list of rounds they stand."""
    slots: Integers
    """The slot that each tries items for."""
    tried: Integers
    """The items that each tries, one row a round; −1 for none."""


_NONE = np.zeros(0, dtype=np.int64)
NOBODY = Explored(_NONE, _NONE, np.zeros((0, 1), dtype=np.int64))


class Exploration(SetMode):
    """Slates from a running total of scheduled tries; for rewards and clicks on drifting streams."""

    _newest: tuple[int, TrialSchedule, Integers] | None = None

    @classmethod
    def serves(cls, settings: Any) -> bool:
        return bool(settings.expert == "exploration")

    def check(self) -> None:
        if self.settings.block != "auto":
            raise ConfigError("exploration makes its own blocks: leave block")
        if self.settings.max_items is not None:
            raise ConfigError('max_items needs expert="swap": exploration plans its tries once and for all')
        check_trials(self.cycles * len(self.kinds))

    @property
    def by_clicks(self) -> bool:
        return self.settings.feedback == "clicks"

    # --- the schedule -------------------------------------------------------------------------------------

    @cached_property
    def kinds(self) -> Integers:
        """One cycle of exploring rounds: the slot that each of them tries items for."""
        slots, items = self.settings.slots, self.settings.items
        rounds = [ceil(items / (slots - slot)) if self.by_clicks else items for slot in range(slots)]
        return np.repeat(np.arange(slots), rounds)

    @cached_property
    def share(self) -> float:
        """The share of exploring rounds: as given, or the one that loses least by exploring and erring."""
        if self.settings.explore != "auto":
            return self.settings.explore
        shares: list[float] = np.linspace(0.02, 0.5, 25).tolist()
        return min(shares, key=self._loss)

    def _loss(self, share: float) -> float:
        """A bound on the share of value that is lost, for rewards of variance at most 1/4."""
        settings = self.settings
        tries = max(share * settings.rounds / len(self.kinds), 1e-9)
        error = sqrt(0.25 / tries + (self._noise / tries) ** 2)
        return share + settings.slots * sqrt(2 * log(settings.items)) * error

    @cached_property
    def _noise(self) -> float:
        """The standard deviation of a total after the usual number of releases, in visitors."""
        return self._total(EqualBlocks(RELEASES), people=1).noise

    def _total(self, schedule: EqualBlocks, people: int) -> RunningTotal:
        """A running total of what is found, at what the report leaves of the budget."""
        share = 1 - self.settings.report
        return RunningTotal("found", self.wanted, schedule, self.settings.privacy, people, share=share)

    @property
    def wanted(self) -> OneChoice | PublicCells:
        """What an exploring round adds: a click where the visitor chose, or a reward in a public cell."""
        shape = (self.settings.slots, self.settings.items)
        return OneChoice(shape) if self.by_clicks else PublicCells(shape)

    @cached_property
    def cycles(self) -> int:
        """How often a block tries each pair."""
        return max(1, round(self.share * self.settings.rounds / len(self.kinds) / RELEASES))

    @cached_property
    def schedule(self) -> EqualBlocks:
        block = min(self.settings.rounds, ceil(self.cycles * len(self.kinds) / self.share))
        return EqualBlocks(self.settings.rounds, block, last=False)

    @cached_property
    def found(self) -> RunningTotal:
        return self._total(self.schedule, people=self.schedule.block)

    @cached_property
    def earnings(self) -> Earnings | None:
        report = self.settings.report
        return Earnings.beside(self.found, report, self.units, self.schedule.block) if report else None

    @cached_property
    def plan(self) -> Plan:
        releases = self.schedule.releases
        facts: dict[str, Any] = {
            "expert": "exploration",
            "block": self.schedule.block,
            "releases": releases,
            "explore": self.share,
            "noise_in_visitors": self.found.noise,
            "tries_of_an_item": releases * self.cycles,
        }
        if self._loss(self.share) >= 1:
            facts["warning"] = (
                "the horizon is too short: exploring and erring may cost as much as there is to gain"
            )
        return self.found.plan(facts) if self.earnings is None else self.earnings.plan(self.found, facts)

    # --- the hooks ----------------------------------------------------------------------------------------

    def start(self) -> tuple[State, State]:
        public, kept = self.found.start()
        shape = (self.settings.slots, self.settings.items)
        public |= {
            "table": np.zeros(shape),
            "slate": self.first_slate(),
            "tries": np.zeros(shape, dtype=np.int64),
        }
        public |= self.first_catalogue() | {"begin": 0, "index": 0, "variance": 0.0}
        if self.earnings is None:
            return public, kept
        earned, kept_too = self.earnings.start()
        return public | earned, kept | kept_too

    def gatherings(self, public: State) -> dict[str, Gathering]:
        found: dict[str, Gathering] = {"found": self.found.gathering}
        if self.earnings is None or public["index"] >= self.schedule.releases:
            return found
        return found | {"earned": self.earnings.gathering(public["index"])}

    def gather(self, public: State, block: Block, batch: Batch) -> None:
        explored = self._explored(public, batch.rounds, batch.asked)
        found, items = self.found.gathering, self.settings.items
        if isinstance(found, OneChoice):
            slates = self.decide(public, batch.rounds, batch.asked, batch.coins)
            clicks = self.clicks(public, batch, slates)
            if self.earnings is not None:
                self.earnings.add(block, self.clicked(clicks, slates))
            clicks = clicks[explored.places]
            hit = (explored.tried == clicks[:, None]).any(axis=1) & (clicks >= 0)
            found.add(block["found"], np.where(hit, explored.slots * items + clicks, -1))
        elif isinstance(found, PublicCells):
            tried, rewards = explored.tried[:, :1], self.rewards(batch)
            if self.earnings is not None:
                self.earnings.add(block, rewards)
            cells = np.where(tried >= 0, explored.slots[:, None] * items + tried, -1)
            found.add(block["found"], cells, rewards[explored.places])

    def tally(self, public: State, rounds: Integers, asked: Asked, coins: Coins) -> State:
        """How masks change the tries: an item that cannot be shown is not tried."""
        planned = self._explored(public, rounds, Asked())
        return {"tries": self._count(self._explored(public, rounds, asked)) - self._count(planned)}

    def release(
        self, public: State, tally: State, kept: State, block: Block, door: Door
    ) -> tuple[State, State]:
        tries = public["tries"] + self._planned_tries(public) + tally.get("tries", 0)
        total = self.found.next(public, kept, block, door)
        most = (door.index + 1) * self.cycles
        # Found a try, times the same number of tries for all. A reward or a click varies by at most 1/4.
        found = total.values / np.maximum(tries, most / 4) * most
        table = shrunk(found, total.variance + most / 5)
        newest = {
            "table": table,
            "slate": distinct_leaders(table, public["announced"]),
            "tries": tries,
            "variance": total.variance,
            "begin": self.schedule.end(door.index),
            "index": door.index + 1,
        }
        newest |= self.next_catalogue(public)
        if self.earnings is None:
            return total.public | newest, total.kept
        end, rounds = newest["begin"], newest["begin"] - public["begin"]
        public, kept = self.earnings.next(public, kept, block, door, end=end, rounds=rounds)
        return public | total.public | newest, kept | total.kept

    def decide(self, public: State, rounds: Integers, asked: Asked, coins: Coins) -> Integers:
        """One slate a round; −1 fills slates of exploring rounds that show fewer items."""
        slates = np.tile(public["slate"], (len(rounds), 1))
        explored = self._explored(public, rounds, asked)
        for slot in np.unique(explored.slots):
            # What is shown anyway need not be tried.
            tries = (explored.slots == slot) & (explored.tried >= 0).any(axis=1)
            places = explored.places[tries]
            width = min(explored.tried.shape[1], self.settings.slots - slot)
            slates[places, slot:] = -1
            slates[places[:, None], slot + np.arange(width)] = explored.tried[tries, :width]
        if asked.available is None and not self.by_clicks:
            return slates
        short = slice(None) if asked.available is not None else np.flatnonzero((slates < 0).any(axis=1))
        slates[short] = filled_up(slates[short], asked.available, self.order(public))
        return slates

    def scores(self, public: State, index: int, context: Any) -> Scores:
        most = max(1, index * self.cycles)
        tries = np.maximum(public["tries"], most / 4)
        return Scores(public["table"] / most, np.sqrt(public["variance"] + most / 5) / tries)

    def order(self, public: State) -> Integers:
        return ranked(public["table"])

    def next_catalogue(self, public: State) -> State:
        """Retired items stay in the plan of tries: masks keep them from being shown."""
        return super().next_catalogue(public) | {"gone": public["gone"]}

    # --- which rounds explore, and what -------------------------------------------------------------------

    def _explored(self, public: State, rounds: Integers, asked: Asked) -> Explored:
        """The exploring ones among these rounds; what a mask forbids is not tried.

        After the last release nothing is.
        """
        if public["index"] >= self.schedule.releases:
            return NOBODY
        schedule, items = self._block(public["index"])
        places, kinds = schedule.among(rounds - public["begin"])
        if not len(places):
            return NOBODY
        tried = self._tried(kinds, items, public["slate"])
        if asked.available is not None:
            masks: Mask = np.broadcast_to(asked.available, (len(rounds), self.settings.items))[places]
            shown = np.take_along_axis(masks, np.maximum(tried, 0), axis=1) & (tried >= 0)
            tried = np.where(shown, tried, -1)
        return Explored(places, self.kinds[kinds], tried)

    def _tried(self, kinds: Integers, items: Integers, slate: Integers) -> Integers:
        """The items that these kinds of trials try: one (rewards), or one for each free slot (clicks)."""
        slots = self.kinds[kinds]
        which = kinds - np.searchsorted(self.kinds, slots)  # the first, second, … trial of that slot
        width = (self.settings.slots - slots) if self.by_clicks else np.ones_like(slots)
        across = np.arange(self.settings.slots if self.by_clicks else 1)
        place = which[:, None] * width[:, None] + across
        there = (across < width[:, None]) & (place < self.settings.items)
        tried = np.where(there, items[np.minimum(place, self.settings.items - 1)], -1)
        for slot in range(1, self.settings.slots):  # what stands before the slot is shown already
            tried[(slots == slot)[:, None] & np.isin(tried, slate[:slot])] = -1
        return tried

    def _block(self, index: int) -> tuple[TrialSchedule, Integers]:
        """The trials of a block and the shuffled items in them: the same for any data."""
        if self._newest is None or self._newest[0] != index:
            key = Coin(self.name, 1 + index).generator().bytes(16)
            schedule = TrialSchedule(len(self.kinds), self.cycles, self.schedule.block, key)
            self._newest = index, schedule, Coin(key, 0).generator().permutation(self.settings.items)
        return self._newest[1:]

    def _planned_tries(self, public: State) -> Integers:
        """How often a block without masks tries each (slot, item): every kind of trial comes once a cycle."""
        _, items = self._block(public["index"])
        kinds = np.arange(len(self.kinds))
        once = Explored(kinds, self.kinds, self._tried(kinds, items, public["slate"]))
        return self.cycles * self._count(once)

    def _count(self, explored: Explored) -> Integers:
        """How often each (slot, item) is tried."""
        shown = explored.tried >= 0
        cells = (explored.slots[:, None] * self.settings.items + explored.tried)[shown]
        counts = np.bincount(cells, minlength=self.settings.slots * self.settings.items)
        return counts.reshape(self.settings.slots, self.settings.items)
