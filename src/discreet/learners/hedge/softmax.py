"""Private exponential weights against any stream: probabilities from noisy totals of gains.

    P(a) = exp(η·G̃(a)) / Σ_b exp(η·G̃(b))      G̃: noisy totals of gains, released after every block

Each round draws its action by a coin that is unknown before the round, so a stream that has seen
all earlier decisions and releases cannot avoid it. The rate η starts large and is cut when released
values show that it loses (discreet/optim/adaptive_rate.py). For that a person adds one number to
their n gains: the expected gain under the round's probabilities, Σ_a P(a)·g(a). All n + 1 numbers
lie in [0, bound], so replacing a person moves the vector by at most √(n + 1), in units of the
bound.

Guarantee   docs/guarantees/adversarial.md, Theorems 1 and 2 (value), Theorem 3 (privacy)
Runtime     O(n) per round and per release
References  Freund, Schapire (1997)
            Perez-Salazar, Cummings (2021), Algorithm 1 with another mechanism
"""

from dataclasses import dataclass
from functools import cached_property
from math import inf, log, sqrt

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.engine.declarations import DecisionForm, Promise, Readings
from discreet.engine.mode import Mode
from discreet.engine.phase import Phase
from discreet.engine.phases import Scheduled
from discreet.engine.readings import Scores
from discreet.engine.request import Block, Request
from discreet.engine.schedule import EqualBlocks, Segments
from discreet.engine.statistics import Released, RunningTotal
from discreet.learners.answers import Row
from discreet.learners.hedge.settings import HedgeSettings
from discreet.learners.streams import ADVERSARIAL
from discreet.optim.adaptive_rate import AdaptiveRate, block_for, expected_range, softmax
from discreet.release.aggregators import Rows

FIRST_SEGMENT = 1024
"""Rounds of the first segment, without a horizon; each next segment has twice as many."""
SEGMENT_BLOCK = 32
"""Rounds of every block, without a horizon."""


@dataclass(frozen=True)
class Tuning:
    """The tuned constants of this mode, each with the benchmark that measures it."""

    boldness: float = 64.0
    """First rate, as a multiple of the one with the least regret bound (benchmarks/ways.py)."""
    patience: float = 0.01
    """Share of the regret bound that may be lost before the rate is cut (benchmarks/ways.py)."""


TUNED = Tuning()


@dataclass(frozen=True, eq=False)
class Public:
    """Public state: total gains, and the probabilities of the next block."""

    gains: Floats
    """Total gain of each action."""
    up_to: Floats
    """Cumulative probabilities of the actions: published, so that every machine has the same."""
    cuts: int
    """Number of times the rate was cut."""


class SoftmaxPhase(Phase[Public]):
    """Phase of a block, in which the probabilities of actions stay the same."""

    mode: "Softmax"

    @cached_property
    def probabilities(self) -> Floats:
        """The probability of each action."""
        return np.diff(self.public.up_to, prepend=0.0)

    def decide(self, rounds: Integers, request: Request) -> Integers:
        """Draw one action per round by the round's coin; past the horizon take the likeliest."""
        settings = self.mode.settings
        up_to = self.public.up_to
        if settings.horizon is not None and len(rounds) and rounds[0] >= settings.horizon:
            return np.full(len(rounds), self.probabilities.argmax())
        drawn = up_to.searchsorted(self.at.coins.uniform(rounds) * up_to[-1], side="right")
        return np.asarray(np.minimum(drawn, settings.actions - 1))

    def gather(self, block: Block, answers: Floats) -> None:
        bound = self.mode.settings.bound
        with np.errstate(all="ignore"):
            gains = np.clip(answers, 0.0, bound)
            earned = np.minimum(gains @ self.probabilities, bound)
        rows = self.mode.gains.aggregator_at(self.at.number)
        rows.add(self.mode.gains.of(block), np.concatenate([gains, earned[:, None]], axis=1))

    def update(self, released: Released) -> Public:
        values = released[self.mode.gains].values
        totals, earned = values[:-1], float(values[-1])
        rate = self.mode.rate(self.at.index + 1)
        lost = (float(totals.max()) - earned) / self.mode.settings.bound
        cuts = rate.cuts_after(self.public.cuts, lost)
        return Public(totals, self.mode.up_to(totals, rate.at(cuts)), cuts)

    def readings(self) -> Readings:
        chances = self.mode.decisions.named(self.probabilities.tolist())
        return Readings({"chances": chances}, self._scores)

    def _scores(self, context: object) -> Scores:
        """Return the released total gain of each action."""
        deviation = self.mode.gains.standard_deviation(self.at.index)
        deviations = np.full(self.mode.settings.actions, deviation)
        return Scores(self.public.gains.copy(), deviations)


class Softmax(Mode):
    """Mode that draws an action every round, with weights from released totals of all gains."""

    promise = Promise("adversarial.md", assumes=ADVERSARIAL)
    settings: HedgeSettings

    def check(self) -> None:
        self.gains.check(self.gains.schedule)

    @cached_property
    def answer(self) -> Row:
        return Row(self.settings.actions)

    @cached_property
    def decisions(self) -> DecisionForm:
        settings = self.settings
        return DecisionForm.among("one", settings.actions, settings.labels, previews=False)

    # --- what is measured -------------------------------------------------------------------------

    @cached_property
    def phases(self) -> Scheduled:
        tuned = TUNED.boldness, TUNED.patience
        return Scheduled.one(SoftmaxPhase, self.gains.schedule, self.gains, constants=tuned)

    @cached_property
    def gains(self) -> RunningTotal[Rows]:
        """The running total of the gains of all actions, and of the decisions' expected gains."""
        settings = self.settings
        if settings.horizon is None:
            return self._gains(Segments(FIRST_SEGMENT, SEGMENT_BLOCK), SEGMENT_BLOCK)
        block = self._block(settings.horizon) if settings.block == "auto" else settings.block
        return self._gains(EqualBlocks(settings.horizon, block, last=False), block)

    def _gains(self, schedule: EqualBlocks | Segments, block: int) -> RunningTotal[Rows]:
        """Return the running total of gains for blocks of `block` rounds."""
        rows = Rows((self.settings.actions + 1,), self.settings.bound, inf, nonnegative=True)
        return RunningTotal("gains", rows, schedule, self.settings.privacy, people=block)

    def _block(self, horizon: int) -> int:
        """Return the length of blocks that balances delay with noise."""

        def range_of(block: int) -> float:
            gains = self._gains(EqualBlocks(horizon, block, last=False), block)
            return self._range(gains, max(1, gains.length(0)))

        return block_for(horizon, range_of)

    def _range(self, gains: RunningTotal[Rows], releases: int) -> float:
        """Return the expected range of the noise of `releases` totals, in units of the bound."""
        counts = np.unique(np.linspace(1, releases, min(releases, 50)).astype(int)).tolist()
        deviation = np.mean([gains.standard_deviation(count) for count in counts])
        return float(expected_range(self.settings.actions) * deviation / self.settings.bound)

    def rate(self, index: int) -> AdaptiveRate:
        """Return the rates of the block after release `index`, which depend on its segment."""
        gains = self.gains
        number, _ = gains.place(index)
        if number not in self._rates:
            releases = sum(gains.length(earlier) for earlier in range(number + 1))
            block = gains.people
            rounds = self.settings.horizon
            if rounds is None:
                rounds = releases * block  # up to the end of the segment
            self._rates[number] = AdaptiveRate.for_stream(
                self.settings.actions,
                rounds=rounds,
                block=block,
                range=self._range(gains, max(1, releases)),
                boldness=TUNED.boldness,
                patience=TUNED.patience,
            )
        return self._rates[number]

    @cached_property
    def _rates(self) -> dict[int, AdaptiveRate]:
        return {}

    @property
    def facts(self) -> dict[str, object]:
        gains = self.gains
        rate = self.rate(0)
        facts: dict[str, object] = {
            "method": "softmax",
            "why": "every round has a coin of its own, so that no stream can foresee its action",
            "block": gains.people,
            "releases": gains.schedule.releases,
            "rate": rate.at(0),
            "slowest_rate": rate.slowest,
            "noise_in_people": gains.standard_deviation(1) / self.settings.bound,
        }
        if self.settings.horizon is not None and not self.settings.privacy.pure:
            facts["regret_bound"] = self._regret_bound(rate)
        return facts

    def _regret_bound(self, rate: AdaptiveRate) -> float:
        """Return the regret bound of Theorem 2 for Gaussian noise, in the gains' own units."""
        gains = self.gains
        releases = max(1, gains.length(0))
        largest = gains.standard_deviation(releases) / self.settings.bound
        noise = 2 * largest * sqrt(2 * log(2 * (self.settings.actions + 1) * releases))
        levels = rate.most_cuts * rate.level + gains.people
        return (rate.bound + levels + noise) * self.settings.bound

    @property
    def first(self) -> Public:
        """Public state before the first round: all actions are equally likely."""
        nothing = np.zeros(self.settings.actions)
        return Public(nothing, self.up_to(nothing, 0.0), cuts=0)

    def up_to(self, totals: Floats, rate: float) -> Floats:
        """Return the cumulative probabilities of the actions."""
        return np.cumsum(softmax(totals / self.settings.bound, rate))
