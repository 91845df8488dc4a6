"""All features: one ridge regression an arm, from a noisy running total of second moments and moments.

    stage 0    uniform play; releases the mean context and a typical length
    stage 1    uniform play; releases second moments around the mean: a map that evens out directions
    then       blocks that grow by a fifth; after each, (Σzzᵀ, Σu·z) of every arm, through one running total

z is the mapped context with a constant in front, scaled to a length of at most 1; u the reward, in [−1, 1].
Everyone enters the releases of one stage only, so each stage has the whole budget. The second moments cost
nothing beside the moments (discreet/release/gathering/moments.py), and there is no factor for the number of
arms. The better arms are played more, and so known better.

Guarantee   docs/guarantees/contextual.md, Theorem 2
Runtime     O(K·d + d²) a person, O(K·d³) a release; memory K·d² times the sum's buffers (at most 8)
References  Shariff, Sheffet (2018), "Differentially Private Contextual Linear Bandits"
            Bastani, Bayati, Khosravi (2021), "Mostly Exploration-Free Algorithms for Contextual Bandits"
"""

from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.decide.ridge import fit_ridges
from discreet.errors import ConfigError
from discreet.learners.contextual_bandit.arms import ArmsMode
from discreet.learners.contextual_bandit.settings import MOST_NUMBERS
from discreet.learners.totals import RunningTotal
from discreet.release.door import Door
from discreet.release.gathering import Gathering, Gram, Moments, Spread
from discreet.release.noise import Once
from discreet.turn.plan import Plan, State, paid_by_cohorts
from discreet.turn.problem import Batch, Block
from discreet.turn.schedule import ListedBlocks, growing_blocks

__all__ = ["Ridge"]

GROWTH = 1.2
"""Of the blocks, once arms are chosen by what was learned."""
REACH = 1.0
"""The length, in typical lengths, to which mapped contexts are clipped."""
CONSTANT = 0.3
"""The size of the constant in front of a context, in clipped lengths."""
RESOLVED = 1.3
"""An eigenvalue counts if it is so many times as large as noise alone makes them."""


class Ridge(ArmsMode):
    """A ridge regression an arm, over all features."""

    @classmethod
    def serves(cls, settings: Any) -> bool:
        return not settings.screens

    def check(self) -> None:
        if self.moments.wanted.size > MOST_NUMBERS:
            raise ConfigError(
                f"{self.settings.features} features are too many for a ridge over all of them: "
                "say how many are relevant"
            )

    # --- the plan -----------------------------------------------------------------------------------------

    @cached_property
    def noise(self) -> float:
        """κ = 1/√(2ρ): the noise of a sum that one person moves by 1."""
        return 1 / sqrt(2 * self.budget.amount)

    @cached_property
    def preparation(self) -> tuple[int, ...]:
        """The rounds of the stages with uniform play; the second only if it is short."""
        rounds, features = self.settings.rounds, self.settings.features
        lengths = min(max(100.0, 22 * sqrt(features) * self.noise), rounds / 100)
        moments = 4 * features**1.5 * self.noise
        return (max(1, int(lengths)), *([int(moments)] if 1 <= moments <= rounds / 50 else []))

    @cached_property
    def schedule(self) -> ListedBlocks:
        settings, rounds = self.settings, self.settings.rounds
        first = min(rounds / 25, 3 * settings.slots * (settings.features + 1) * self.noise)
        first = first if settings.block == "auto" else settings.block
        blocks = growing_blocks(rounds - sum(self.preparation), first, GROWTH)
        return ListedBlocks(rounds, (*self.preparation, *blocks))

    @cached_property
    def spread(self) -> Once:
        return Once.for_budget(self.budget, Spread.of(self.settings.features))

    @cached_property
    def gram(self) -> Once:
        return Once.for_budget(self.budget, Gram.of(self.settings.features))

    @cached_property
    def moments(self) -> RunningTotal:
        lengths = self.schedule.lengths[len(self.preparation) :]
        return RunningTotal(
            "moments",
            Moments.of(self.settings.slots, self.settings.features + 1),
            ListedBlocks(self.settings.rounds, lengths),
            self.settings.privacy,
            people=max(lengths, default=1),
            fresh=False,
            share=1 - self.settings.report,
        )

    @cached_property
    def plan(self) -> Plan:
        prepared = [once.charge for once in (self.spread, self.gram)][: len(self.preparation)]
        stages, total = len(prepared), self.moments.sum
        return Plan.scheduled(
            self.schedule,
            lambda index: prepared[index] if index < stages else total.charge(index - stages),
            paid_by_cohorts(self.settings.privacy, [*prepared, total.spent(self.moments.releases)]),
            cohort=lambda index: min(index, stages),
            facts={
                "estimator": "ridge",
                "releases": self.schedule.releases,
                "uniform": sum(self.schedule.lengths[: stages + 1]),
                "noise_in_people": self.moments.noise,
            },
            constants=(self.spread, self.gram, total),
        )

    # --- the hooks ----------------------------------------------------------------------------------------

    def start(self) -> tuple[State, State]:
        features, slots = self.settings.features, self.settings.slots
        sums, kept = self.moments.start()
        size = features + 1
        everything = {
            "centre": np.zeros(features),
            "map": np.eye(features) / self.settings.scaled_length,
            "covariances": np.zeros((slots, size, size)),
        }
        return self.nothing_learned() | everything | sums, kept

    def gatherings(self, public: State) -> dict[str, Gathering]:
        stage = public["stage"]
        if stage < len(self.preparation):
            return {"prepared": (self.spread, self.gram)[stage].gathering}
        return {"moments": self.moments.gathering}

    def gather(self, public: State, block: Block, batch: Batch) -> None:
        people = self.people(public, batch)
        mapped = self._mapped(public, people.contexts)
        if "moments" in block:
            gathering = block["moments"].gathering
            assert isinstance(gathering, Moments)
            gathering.add(block["moments"], mapped, people.rewards, people.arms)
            return
        gathering = block["prepared"].gathering
        assert isinstance(gathering, Spread | Gram)
        gathering.add(block["prepared"], mapped[people.arms >= 0, 1:])

    def release(
        self, public: State, tally: State, kept: State, block: Block, door: Door
    ) -> tuple[State, State]:
        after = public | self.next_block(public)
        if public["stage"] == 0:
            return after | self._centred(public, door, block), kept
        if public["stage"] < len(self.preparation):
            return after | self._evened(public, door, block), kept
        total = self.moments.next(public, kept, block, door)
        gathering = self.moments.gathering
        assert isinstance(gathering, Moments)
        grams, moments = gathering.parted(total.values)
        noise = sqrt(total.variance)
        fitted = fit_ridges(grams, moments, gram_noise=sqrt(2) * noise, moment_noise=noise)
        return after | self._folded(public, fitted.coefficients) | total.public | {
            "learned": 1,
            "covariances": fitted.covariances,
        }, total.kept

    def _centred(self, public: State, door: Door, block: Block) -> State:
        """The mean context and a typical length, from the first stage; the mean shrunk (James–Stein)."""
        gathering = self.spread.gathering
        assert isinstance(gathering, Spread)
        noisy = door.add_noise(self.spread.noise, block["prepared"]) * gathering.grid
        sums, squares, count = gathering.parted(noisy)
        people = self._plausible(count, 0)
        longest = self.settings.scaled_length
        mean, square = sums / people * longest, squares / people * longest**2
        unsure = self.settings.features * (self.spread.standard_deviation / people * longest) ** 2
        seen = max(float(mean @ mean) - unsure, 0.0)
        centre = mean * (seen / (seen + unsure))
        typical = max(square - 2 * float(mean @ centre) + float(centre @ centre), 0.02 * longest**2)
        if len(self.preparation) == 1:
            return {"centre": centre} | self._clipped(np.eye(self.settings.features) / sqrt(typical))
        clip = min(2 * longest, 1.25 * sqrt(typical))
        return {"centre": centre, "map": np.eye(self.settings.features) / clip}

    def _evened(self, public: State, door: Door, block: Block) -> State:
        """The map Σ^(−1/4) from the second stage; directions that noise hides are treated alike."""
        gathering = self.gram.gathering
        assert isinstance(gathering, Gram)
        noisy = door.add_noise(self.gram.noise, block["prepared"]) * gathering.grid
        matrix, count = gathering.parted(noisy)
        people, features = self._plausible(count, 1), self.settings.features
        values, vectors = np.linalg.eigh(matrix / people)
        seen = values > RESOLVED * self.gram.standard_deviation * sqrt(2 * features) / people
        total = max(float(values.sum()), 0.05)
        if not seen.all():
            rest = (total - float(values[seen].sum())) / float((~seen).sum())
            values = np.where(seen, values, max(rest, 1e-4 * total / features))
        evened = (vectors * values**-0.25) @ vectors.T / sqrt(float(np.sqrt(values).sum()))
        return self._clipped(public["map"] @ evened)

    def _clipped(self, typical: Floats) -> State:
        """A map to typical lengths of 1, as one to what is clipped to 1 together with the constant."""
        return {"map": typical / (REACH * sqrt(1 + CONSTANT**2))}

    @property
    def _constant(self) -> float:
        return CONSTANT / sqrt(1 + CONSTANT**2)

    def _plausible(self, count: float, stage: int) -> float:
        """How many people a stage had, from a noisy count."""
        most = self.preparation[stage]
        return float(np.clip(count, most / 10, most))

    def _folded(self, public: State, coefficients: Floats) -> State:
        """Coefficients on mapped contexts as weights on contexts as they come."""
        scaled = public["map"] @ coefficients[:, 1:].T
        offsets = coefficients[:, 0] * self._constant - public["centre"] @ scaled
        return {"weights": np.ascontiguousarray(scaled / self.settings.bounds[:, None]), "offsets": offsets}

    def _mapped(self, public: State, contexts: Floats) -> Floats:
        from discreet.decide import kernels

        mapped = np.empty((len(contexts), self.settings.features + 1))
        scales = 1 / self.settings.bounds
        kernels.map_contexts(contexts, scales, public["centre"], public["map"], self._constant, mapped)
        return mapped

    def mapped(self, public: State, contexts: Floats) -> Floats:
        return np.repeat(self._mapped(public, contexts)[:, None], self.settings.slots, axis=1)
