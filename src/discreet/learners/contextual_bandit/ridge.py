"""All features: one ridge regression an arm, from a noisy running total of second moments and moments.

    stage 0    uniform play; releases the mean context and a typical length
    stage 1    uniform play; releases second moments around the mean: a map that evens out directions
    then       blocks that grow by a fifth; after each, (Σzzᵀ, Σu·z) of every arm, through one running total

z is the mapped context with a constant in front, scaled to a length of at most 1; u the reward, in [−1, 1].
Everyone enters the releases of one stage only, so each stage has the whole budget. The second moments of an
arm cost nothing beside its moments (discreet/release/gathering/moments.py), and there is no factor for the
number of arms. The better arms are played more, and so known better.

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
from discreet.budget.privacy import Charge
from discreet.decide.ridge import Fitted, beyond_noise, fit_ridges
from discreet.errors import ConfigError
from discreet.learners.contextual_bandit.arms import FAR_APART, People, kernels
from discreet.learners.contextual_bandit.settings import MOST_NUMBERS
from discreet.learners.contextual_bandit.stages import StagedMode
from discreet.release.door import Door
from discreet.release.gathering import Gathering, Gram, Moments, Spread
from discreet.release.noise import Once
from discreet.turn.plan import State
from discreet.turn.questions import Block

__all__ = ["Ridge"]

CONSTANT = 0.25
"""The size of the constant in front of a context, in typical lengths."""
CLIP = 1.25
"""The length, in typical lengths, to which contexts are clipped for their second moments."""
GRAM = 3.0
"""How many people the second moments are from, in units of what their noise asks for."""
RESOLVED = 1.3
"""An eigenvalue counts if it is so many times as large as noise alone makes them."""


class Ridge(StagedMode):
    """A ridge regression an arm, over all features."""

    growth = 1.2

    @classmethod
    def serves(cls, settings: Any) -> bool:
        return not settings.screens

    def check(self) -> None:
        settings = self.settings
        if settings.slots * self.width * (self.width + 3) // 2 > MOST_NUMBERS:
            most = int(sqrt(2 * MOST_NUMBERS / settings.slots + 2.25) - 1.5) - 1
            raise ConfigError(
                f"{settings.features} features are too many for a ridge over all of them, with "
                f"{settings.slots} arms at most {most}: say how many are relevant"
            )
        super().check()

    # --- the plan -----------------------------------------------------------------------------------------

    @property
    def width(self) -> int:
        return self.settings.features + 1

    @cached_property
    def noise(self) -> float:
        """κ = 1/√(2ρ): the noise of a sum that one person moves by 1."""
        return 1 / sqrt(2 * self.budget.amount)

    @cached_property
    def preparation(self) -> tuple[int, ...]:
        """The second stage only if it is short: noise would hide most directions."""
        rounds, features = self.settings.rounds, self.settings.features
        lengths = min(max(100.0, 22 * sqrt(features) * self.noise), rounds / 100)
        moments = GRAM * features**1.5 * self.noise
        return (max(1, int(lengths)), *([int(moments)] if 1 <= moments <= rounds / 50 else []))

    @property
    def first_block(self) -> float:
        return min(self.settings.rounds / 25, 3 * self.settings.slots * self.width * self.noise)

    @cached_property
    def spread(self) -> Once[Any]:
        """Stage 0: the mean context and a typical length."""
        return Once.for_budget(self.budget, Spread.of(self.settings.features))

    @cached_property
    def gram(self) -> Once[Any]:
        """Stage 1: second moments around the mean."""
        return Once.for_budget(self.budget, Gram.of(self.settings.features))

    @property
    def prepared(self) -> list[Charge]:
        return [self.spread.charge, self.gram.charge][: len(self.preparation)]

    @property
    def releasing(self) -> list[Once[Any]]:
        return [self.spread, self.gram][: len(self.preparation)]

    @property
    def constants(self) -> tuple[Any, ...]:
        return self.spread, self.gram

    # --- the hooks ----------------------------------------------------------------------------------------

    def start(self) -> tuple[State, State]:
        features, slots, width = self.settings.features, self.settings.slots, self.width
        return self.begin(
            {
                "centre": np.zeros(features),
                "map": np.eye(features) / self.settings.scaled_length,
                "covariances": np.zeros((slots, width, width)),
            }
        )

    def preparing(self, stage: int) -> dict[str, Gathering]:
        return {"gram": self.gram.gathering} if stage else {"spread": self.spread.gathering}

    def learn(self, public: State, block: Block, people: People) -> None:
        mapped = self._mapped(public, people.contexts)
        came = people.arms >= 0
        for gathered in block.values():
            gathering = gathered.gathering
            if isinstance(gathering, Moments):
                gathering.add(gathered, mapped, people.rewards, people.arms)
            elif isinstance(gathering, Spread):
                gathering.add(gathered, mapped[came, 1:])
            elif isinstance(gathering, Gram):
                gathering.add(gathered, mapped[came, 1:] * (self._shrunk / CLIP))

    def prepare(self, public: State, door: Door, block: Block) -> State:
        if public["stage"] == 0:
            return self._centred(door, block)
        return self._evened(public, door, block)

    def fitted(self, public: State, grams: Floats, moments: Floats, noise: float) -> State:
        found = fit_ridges(grams, moments, gram_noise=sqrt(2) * noise, moment_noise=noise)
        apart = self._apart(public, grams, found)
        return self._folded(public, found.coefficients) | {"covariances": found.covariances} | apart

    def _apart(self, public: State, grams: Floats, found: Fitted) -> State:
        """How far arms are apart for a usual context, beyond noise, and how far the ridge drew them to 0."""
        arms = public["living"]
        if arms < 2:
            return {"apart": FAR_APART}
        plays = max(float(grams[:arms, 0, 0].sum()), 1.0) / (CONSTANT / self._shrunk) ** 2
        usual = grams[:arms].sum(axis=0) / plays
        from_mean = found.coefficients[:arms] - found.coefficients[:arms].mean(axis=0)
        seen = float(np.einsum("ki,ij,kj->", from_mean, usual, from_mean)) / (arms - 1)
        noise = float(np.einsum("kij,ij->", found.covariances[:arms], usual)) / arms
        resolved = float(found.resolved[:arms].mean())
        beyond = beyond_noise(seen, noise, (arms - 1) * self.width)
        return {"apart": beyond / resolved**2, "resolved": resolved}

    # --- stage 0: where contexts lie ----------------------------------------------------------------------

    def _centred(self, door: Door, block: Block) -> State:
        """The mean context, shrunk (James–Stein), and a map to lengths of about 1."""
        gathering = self.spread.gathering
        assert isinstance(gathering, Spread)
        sums, squares, count = gathering.parted(door.release(self.spread, block["spread"]))
        people = self.plausible(count, 0)
        longest = self.settings.scaled_length
        mean, square = sums / people * longest, squares / people * longest**2
        unsure = self.settings.features * (self.spread.standard_deviation / people * longest) ** 2
        seen = max(float(mean @ mean) - unsure, 0.0)
        centre = mean * (seen / (seen + unsure))
        typical = max(square - 2 * float(mean @ centre) + float(centre @ centre), 0.02 * longest**2)
        return {"centre": centre, "map": np.eye(self.settings.features) / (sqrt(typical) * self._shrunk)}

    # --- stage 1: a map that evens out directions ---------------------------------------------------------

    def _evened(self, public: State, door: Door, block: Block) -> State:
        """The map Σ^(−1/4), in which directions that noise hides are treated alike."""
        gathering = self.gram.gathering
        assert isinstance(gathering, Gram)
        matrix, count = gathering.parted(door.release(self.gram, block["gram"]))
        people, features = self.plausible(count, 1), self.settings.features
        values, vectors = np.linalg.eigh(matrix / people)
        seen = values > RESOLVED * self.gram.standard_deviation * sqrt(2 * features) / people
        total = max(float(values.sum()), 0.05)
        if not seen.all():
            rest = (total - float(values[seen].sum())) / float((~seen).sum())
            values = np.where(seen, values, max(rest, 1e-4 * total / features))
        evening = (vectors * values**-0.25) @ vectors.T / sqrt(float(np.sqrt(values).sum())) / CLIP
        return {"map": public["map"] @ evening}

    # --- contexts as the regressions see them -------------------------------------------------------------

    @property
    def _shrunk(self) -> float:
        """What lengths of 1 have in common with the constant once both together are at most 1."""
        return sqrt(1 + CONSTANT**2)

    def _folded(self, public: State, coefficients: Floats) -> State:
        """Coefficients on mapped contexts as weights on contexts as they come."""
        scaled = public["map"] @ coefficients[:, 1:].T
        offsets = coefficients[:, 0] * (CONSTANT / self._shrunk) - public["centre"] @ scaled
        return {"weights": np.ascontiguousarray(scaled / self.settings.bounds[:, None]), "offsets": offsets}

    def _mapped(self, public: State, contexts: Floats) -> Floats:
        mapped = np.empty((len(contexts), self.width))
        kernels().map_contexts(
            contexts, self.settings.scales, public["centre"], public["map"], CONSTANT / self._shrunk, mapped
        )
        return mapped

    def mapped(self, public: State, contexts: Floats) -> Floats:
        return np.repeat(self._mapped(public, contexts)[:, None], self.settings.slots, axis=1)
