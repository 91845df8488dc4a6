"""Private experts against any stream: chances from noisy totals, and a coin of its own for every round.

    P(a) = exp(η·G̃(a)) / Σ_b exp(η·G̃(b))        G̃: noisy totals of gains, released after every block

Each round's action is drawn by a coin that nobody has seen before it, so a stream that has seen all earlier
decisions, and all that was released, cannot avoid it. The rate η starts bold and is cut when released values
show that it loses (discreet/decide/bold.py). For that a person adds one number more than their n gains: what
the round's chances earn of them, Σ_a P(a)·g(a). All n + 1 lie in [0, bound], so replacing a person moves the
vector by at most √(n + 1) in units of the bound, whatever they bring.

Guarantee   docs/guarantees/adversarial.md, Theorems 1 and 2 (value), Theorem 3 (privacy)
Runtime     O(n) a round and a release
References  Freund, Schapire (1997); Perez-Salazar, Cummings (2021), Algorithm 1 with another mechanism
"""

from functools import cached_property
from math import inf, log, sqrt
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.arrivals.feedback import as_rows
from discreet.decide.bold import BoldRate, block_for, expected_range, softmax
from discreet.learners.hedge.settings import HedgeSettings
from discreet.learners.labels import Label, names_by_number
from discreet.learners.segmented import SegmentedTotal
from discreet.learners.streams import ADVERSARIAL
from discreet.release.door import Door
from discreet.release.gathering import Gathering, Rows
from discreet.turn.coins import Coins
from discreet.turn.flat import FlatProblem
from discreet.turn.labels import Labels
from discreet.turn.plan import Plan, State
from discreet.turn.questions import Asked, Batch, Block
from discreet.turn.readings import Scores
from discreet.turn.schedule import EqualBlocks, Segments

__all__ = ["Softmax"]

BOLDNESS, PATIENCE = 64.0, 0.01
"""How bold the rate is at first; what share of the bound may be lost before a cut (benchmarks/ways.py)."""
FIRST_SEGMENT, SEGMENT_BLOCK = 1024, 32
"""Without a horizon: rounds of the first segment, which double from each to the next, and of every block."""


class Softmax(FlatProblem):
    """Actions drawn afresh every round, from released totals of everyone's gains."""

    proof = "adversarial.md"
    settings: HedgeSettings

    @property
    def previews(self) -> bool:
        return False

    @property
    def assumes(self) -> str:
        return ADVERSARIAL

    def check(self) -> None:
        self.gains.check()

    # --- the plan -----------------------------------------------------------------------------------------

    @cached_property
    def gains(self) -> SegmentedTotal:
        settings = self.settings
        if settings.horizon is None:
            return self._gains(Segments(FIRST_SEGMENT, SEGMENT_BLOCK), SEGMENT_BLOCK)
        block = self._block(settings.horizon) if settings.block == "auto" else settings.block
        return self._gains(EqualBlocks(settings.horizon, block, last=False), block)

    def _gains(self, schedule: EqualBlocks | Segments, block: int) -> SegmentedTotal:
        rows = Rows((self.settings.actions + 1,), self.settings.bound, inf, nonnegative=True)
        return SegmentedTotal(rows, schedule, self.settings.privacy, block)

    def _block(self, horizon: int) -> int:
        def range_of(block: int) -> float:
            gains = self._gains(EqualBlocks(horizon, block, last=False), block)
            return self._range(gains, max(1, gains.length(0)))

        return block_for(horizon, range_of)

    def _range(self, gains: SegmentedTotal, releases: int) -> float:
        """The expected range of the noise of totals up to this release, in units of the bound."""
        counts = np.unique(np.linspace(1, releases, min(releases, 50)).astype(int)).tolist()
        deviation = np.mean([gains.standard_deviation(count) for count in counts])
        return float(expected_range(self.settings.actions) * deviation / self.settings.bound)

    def rate(self, index: int) -> BoldRate:
        """The rates of the block after release `index`: without a horizon they follow the segments."""
        gains, (number, _) = self.gains, self.gains.place(index)
        if number not in self._rates:
            releases = sum(gains.length(earlier) for earlier in range(number + 1))
            rounds, block = self.settings.horizon, gains.schedule.block
            rounds = releases * block if rounds is None else rounds  # up to the end of the segment
            self._rates[number] = BoldRate.for_stream(
                self.settings.actions,
                rounds=rounds,
                block=block,
                range=self._range(gains, max(1, releases)),
                boldness=BOLDNESS,
                patience=PATIENCE,
            )
        return self._rates[number]

    @cached_property
    def _rates(self) -> dict[int, BoldRate]:
        return {}

    @cached_property
    def plan(self) -> Plan:
        gains, rate = self.gains, self.rate(0)
        facts: dict[str, Any] = {
            "method": "softmax",
            "why": "every round has a coin of its own, so that no stream can foresee its action",
            "block": gains.schedule.block,
            "releases": gains.schedule.releases,
            "rate": rate.at(0),
            "slowest_rate": rate.slowest,
            "noise_in_people": gains.standard_deviation(1) / self.settings.bound,
        }
        if self.settings.horizon is not None and not self.settings.privacy.pure:
            facts["regret_bound"] = self._regret_bound(rate)
        constants = (gains.sum_of(0), BOLDNESS, PATIENCE)
        return Plan.scheduled(
            gains.schedule,
            gains.charge,
            gains.spending,
            cohort=gains.cohort,
            facts=facts,
            constants=constants,
        )

    def _regret_bound(self, rate: BoldRate) -> float:
        """What Theorem 2 promises for Gaussian noise, in the gains' own units."""
        gains, cuts = self.gains, rate.most_cuts
        releases = max(1, gains.length(0))
        largest = gains.standard_deviation(releases) / self.settings.bound
        noise = 2 * largest * sqrt(2 * log(2 * (self.settings.actions + 1) * releases))
        levels = cuts * rate.level + gains.schedule.block
        return (rate.bound + levels + noise) * self.settings.bound

    # --- the hooks ----------------------------------------------------------------------------------------

    def start(self) -> tuple[State, State]:
        return self.gains.start() | self._chances(np.zeros(self.settings.actions), 0.0), {}

    def layout(self, public: State, index: int) -> tuple[State, State]:
        public, kept = self.gains.layout(index)
        return public | self._chances(np.zeros(self.settings.actions), 0.0), kept

    def gatherings(self, public: State) -> dict[str, Gathering]:
        return {"gains": self.gains.gathering(public["index"])}

    def gather(self, public: State, block: Block, batch: Batch) -> None:
        bound = self.settings.bound
        with np.errstate(all="ignore"):
            gains = np.clip(as_rows(batch, self.settings.actions), 0.0, bound)
            earned = np.minimum(gains @ np.diff(public["up_to"], prepend=0.0), bound)
        rows = np.concatenate([gains, earned[:, None]], axis=1)
        self.gains.gathering(public["index"]).add(block["gains"], rows)

    def release(
        self, public: State, tally: State, kept: State, block: Block, door: Door
    ) -> tuple[State, State]:
        released, kept = self.gains.next(public, kept, block["gains"], door)
        totals, earned = released["total"][:-1], float(released["total"][-1])
        rate = self.rate(door.index + 1)
        cuts = rate.cuts_after(public["cuts"], (float(totals.max()) - earned) / self.settings.bound)
        return released | self._chances(totals, rate.at(cuts)) | {"cuts": cuts}, kept

    def _chances(self, totals: Floats, rate: float) -> State:
        """The chances of all actions, added up, as they are published: never computed anew elsewhere."""
        chances = softmax(totals / self.settings.bound, rate)
        return {"up_to": np.cumsum(chances), "cuts": 0}

    def decide(self, public: State, rounds: Integers, asked: Asked, coins: Coins) -> Integers:
        """An action by a coin of its own round; past the horizon, where coins end, the likeliest one."""
        up_to: Floats = public["up_to"]
        if self.settings.horizon is not None and len(rounds) and rounds[0] >= self.settings.horizon:
            return np.full(len(rounds), np.diff(up_to, prepend=0.0).argmax())
        drawn = up_to.searchsorted(coins.uniform(rounds) * up_to[-1], side="right")
        return np.asarray(np.minimum(drawn, self.settings.actions - 1))

    def single(self, decisions: Integers) -> int:
        return int(decisions[0])

    def blank(self) -> Any:
        return np.zeros(self.settings.actions)

    # --- what may be read ---------------------------------------------------------------------------------

    def names(self, public: State) -> list[Label]:
        return names_by_number(self.settings.actions, self.settings.labels)

    def labels(self, public: State) -> Labels | None:
        return self._labels

    @cached_property
    def _labels(self) -> Labels | None:
        return None if self.settings.labels is None else Labels(self.settings.labels, "one")

    def plain(self, public: State) -> dict[str, Any]:
        chances = np.diff(public["up_to"], prepend=0.0).tolist()
        return {"chances": dict(zip(self.names(public), chances, strict=True))}

    def scores(self, public: State, index: int, context: Any) -> Scores:
        """What each action would have gained in all."""
        deviation = self.gains.standard_deviation(index)
        return Scores(public["total"][:-1].copy(), np.full(self.settings.actions, deviation))
