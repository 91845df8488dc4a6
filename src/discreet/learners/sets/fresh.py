"""Full information, i.i.d. streams: greedy on fresh data, in doubling blocks.

Blocks double. Each block's slate is chosen from the PREVIOUS block's visitors alone, greedily, by k exponential mechanisms; so
each visitor is in one release only and the whole budget goes into it: k·b²/8 = ρ, whatever the horizon. A visitor whose largest
gain exceeds `clip` is scaled down to it: a span of 2·clip instead of 2. Early blocks, where noise is what hurts, clip at 0.35;
later ones less and less.

At most `ROWS` visitors of a block are held, the first ones; later ones of that block are not used (their share of the choice would
not change it). Value assumes that visitors are alike over time; privacy does not.

Guarantee   docs/guarantees/sets.md, Theorem 3
Runtime     O(k·n) a held visitor and release; memory at most ROWS rows
"""

from dataclasses import dataclass
from functools import cached_property
from math import ceil, inf

import numpy as np

from discreet.errors import ConfigError
from discreet.learners.hedge import LEVELS
from discreet.learners.sets.mode import ConstantSlate, People, Setting
from discreet.release.arrays import Floats, Integers
from discreet.release.door import Door
from discreet.release.entrance import Entrance
from discreet.release.schedule import DoublingBlocks
from discreet.release.selection import Selection
from discreet.release.turn import Batch, Plan, State

__all__ = ["ROWS", "FreshGreedy"]

ROWS = 20_000
CHUNK = 1024


@dataclass(frozen=True)
class FreshGreedy(ConstantSlate):
    """See the module's docstring."""

    setting: Setting

    def __post_init__(self) -> None:
        if self.setting.functions is None:
            raise ConfigError("stream='iid' holds visitors as rows: choose a built-in function, or stream='any' for callables")

    @cached_property
    def selection(self) -> Selection:
        """At k draws a release; a score of LEVELS is a gain of `clip`."""
        return Selection.for_budget(self.setting.budget, draws=self.setting.slots, span=2 * LEVELS)

    @cached_property
    def noise(self) -> float:
        """How many visitors' whole gains the noise is worth, if nothing is clipped."""
        return 1 / (self.selection.rate * LEVELS)

    @cached_property
    def schedule(self) -> DoublingBlocks:
        setting = self.setting
        first = max(1, min(ceil(15 * self.noise), setting.horizon // 8)) if setting.block == "auto" else setting.block
        return DoublingBlocks(setting.horizon, first, last=False)  # type: ignore[arg-type]

    def clip(self, index: int) -> float:
        """Public: grows with the block, so that scaling down loses its weight as noise does."""
        people = self._length(index)
        return float(min(1.0, 0.35 * max(1.0, (people / (100 * self.noise)) ** 0.3)))

    def _length(self, index: int) -> int:
        return min(ROWS, self.schedule.end(index) - self._begin(index))

    def _begin(self, index: int) -> int:
        return self.schedule.end(index - 1) if index else 0

    def plan(self) -> Plan:
        charge = self.selection.charge(self.setting.budget.measure) * self.setting.slots
        releases = self.schedule.releases
        noise = self.noise * self.clip(0)
        facts = {"expert": "fresh greedy", "block": self.schedule.first, "releases": releases, "noise_in_visitors": noise}
        total, constants = charge * (releases > 0), repr((self.selection, LEVELS, ROWS))
        return Plan(self.schedule, lambda index: charge, total, cohort=lambda index: index, facts=facts, constants=constants)

    def start(self) -> tuple[State, State]:
        return {"slate": self.setting.first_slate()}, self._empty(0)

    def _empty(self, index: int) -> State:
        rows = self._length(index) if index < self.schedule.releases else 0
        return {"rows": np.zeros((rows, self.setting.width))}

    def digest(self, public: State, secret: State, people: People, batch: Batch) -> State:
        rows = secret["rows"]
        places = np.asarray(batch.rounds) - self._begin(batch.index)
        held = places < len(rows)
        rows[places[held]] = np.asarray(people)[held]
        return secret

    def release(self, public: State, secret: State, door: Door) -> tuple[State, State]:
        chooser = _Chooser(self.setting, secret["rows"], self.clip(door.index))
        left = np.ones(self.setting.items, dtype=np.bool_)
        slate: list[int] = []
        for _ in range(self.setting.slots):
            slate.append(door.select(self.selection, chooser.scores(), left))
            left[slate[-1]] = False
            chooser.add(slate[-1])
        return {"slate": np.array(slate, dtype=np.int64)}, self._empty(door.index + 1)


class _Chooser:
    """Integer scores of all items on top of those chosen so far."""

    def __init__(self, setting: Setting, rows: Floats, clip: float) -> None:
        self.setting, self.clip = setting, clip
        self.parts = [rows[first : first + CHUNK] for first in range(0, len(rows), CHUNK)]
        assert setting.functions is not None
        self.functions = setting.functions
        self.covered = [self.functions.begin(part) for part in self.parts]
        self.entrance = Entrance(setting.items, clip, inf, LEVELS, nonnegative=True)

    def scores(self) -> Integers:
        total = np.zeros(self.setting.items, dtype=np.int64)
        for part, covered in zip(self.parts, self.covered, strict=True):
            gains = self.functions.gains(part, covered)
            largest = gains.max(axis=1, initial=0.0, keepdims=True)
            self.entrance.add(gains * np.minimum(1.0, self.clip / np.maximum(largest, 1e-300)), total)
        return total

    def add(self, item: int) -> None:
        pairs = zip(self.parts, self.covered, strict=True)
        self.covered = [self.functions.add(part, covered, item) for part, covered in pairs]
