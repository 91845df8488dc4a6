"""Many features, of which few matter: find them by the exponential mechanism, then regress on those.

    stage 0        uniform play; releases the mean context, a typical feature, the arms' mean rewards
    stages 1, 2    the second twice as long; in every arm, draw the features with the largest |Σ u·x_j|,
                   release the sums of those that were drawn, and a small ridge on what was found before
    then           features stay; blocks that grow by a quarter; after each, the small ridges through a
                   running total

u is how far the reward is off from what the newest reference predicts, clipped to 1.6 times its typical size;
rewards that are mostly 0 or 1 are taken as they are. Everyone enters the releases of one stage only. A draw
in every arm costs no more than in one: whoever changes arms moves two of them half as far each
(discreet/release/gathering/chosen_rows.py).

Guarantee   docs/guarantees/contextual.md, Theorem 3
Runtime     O(K·d) a person and a release; memory K·d, and some hundred numbers an arm
References  Chakraborty, Roy, Basu (2024), "FLIPHAT"
            Dong, Durfee, Rogers (2020), one-shot selection
"""

from functools import cached_property
from math import log, sqrt
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.budget.privacy import Charge
from discreet.decide.ridge import beyond_noise
from discreet.decide.support import Supports
from discreet.learners.contextual_bandit.arms import FAR_APART, People
from discreet.learners.contextual_bandit.screening import FIRST, Stage
from discreet.learners.contextual_bandit.stages import StagedMode
from discreet.release.door import Door
from discreet.release.gathering import ChosenRows, Gathering, Moments, Rows, Spread
from discreet.release.noise import Once
from discreet.turn.plan import State
from discreet.turn.questions import Block

__all__ = ["Screen"]

STAGES = 2
"""How often features are drawn."""
CONSTANT = 0.67
"""The size of the constant in front of an arm's features, in typical features."""
TYPICAL = 1.6
"""Rewards are clipped to so many times their typical distance from what is predicted."""
EFFECT = 0.09
"""What a feature that matters is taken to move, in half ranges of rewards: sets the length of the stages."""


class Screen(StagedMode):
    """Features drawn in stages, then a small ridge an arm."""

    growth = 1.25

    @classmethod
    def serves(cls, settings: Any) -> bool:
        return bool(settings.screens)

    # --- the plan -----------------------------------------------------------------------------------------

    @property
    def most(self) -> int:
        """How many features an arm can have."""
        return min(self.settings.features, 2 * self.settings.expected)

    @property
    def width(self) -> int:
        return self.most + 1

    @cached_property
    def preparation(self) -> tuple[int, ...]:
        settings, rounds = self.settings, self.settings.rounds
        bluntness = sqrt(2 * settings.expected / (FIRST.draws * self.budget.amount))
        first = settings.slots * bluntness * (log(settings.features) + 1) / EFFECT
        first = min(max(first, rounds / 100), rounds / 12)
        return max(1, rounds // 100), *(max(1, int(first * 2**stage)) for stage in range(STAGES))

    @property
    def first_block(self) -> float:
        return self.settings.rounds / 50

    @cached_property
    def beginning(self) -> dict[str, Once[Any]]:
        """Stage 0: contexts, the arms' rewards, squares of rewards."""
        budget, slots = self.budget, self.settings.slots
        return {
            "contexts": Once.for_budget(budget * 0.5, Spread.of(self.settings.features)),
            "rewards": Once.for_budget(budget * 0.4, Moments.of(slots, 1)),
            "squares": Once.for_budget(budget * 0.1, Rows((1,), nonnegative=True)),
        }

    @cached_property
    def stages(self) -> list[Stage]:
        return [Stage.planned(self.settings, self.budget, number, self.width) for number in range(STAGES)]

    @property
    def prepared(self) -> list[Charge]:
        contexts, rewards, squares = self.beginning.values()
        return [contexts.charge + rewards.charge + squares.charge, *(stage.charge for stage in self.stages)]

    @property
    def releasing(self) -> list[Once[Any]]:
        return [*self.beginning.values(), *(stage.ridge for stage in self.stages)]

    @property
    def constants(self) -> tuple[Any, ...]:
        return *self.beginning.values(), *self.stages

    # --- the hooks ----------------------------------------------------------------------------------------

    def start(self) -> tuple[State, State]:
        settings = self.settings
        nothing = Supports.empty(settings.slots, self.most)
        return self.begin(
            {
                "centre": np.zeros(settings.features),
                "typical": 1.0,
                "unit": 1.0,
                "support": nothing.features,
                "coefficients": nothing.coefficients,
                "reference": nothing.coefficients,
                "covariances": np.zeros((settings.slots, self.width, self.width)),
            }
        )

    def preparing(self, stage: int) -> dict[str, Gathering]:
        if stage == 0:
            return {name: once.gathering for name, once in self.beginning.items()}
        found = self.stages[stage - 1]
        return {
            "scores": found.scores(self.settings.features),
            "ridge": found.ridge.gathering,
            "scalars": found.scalars.gathering,
        }

    def learn(self, public: State, block: Block, people: People) -> None:
        came = people.arms >= 0
        people = People(people.contexts[came], people.rewards[came], people.arms[came])
        if public["stage"] == 0:
            self._begin(block, people)
            return
        centred = people.contexts * self.settings.scales - public["centre"]
        mapped = self._mapped(public, centred, people)
        surprise = self._surprise(public, mapped, people)
        ridge = block["moments" if "moments" in block else "ridge"]
        assert isinstance(ridge.gathering, Moments)
        ridge.gathering.add(ridge, mapped, surprise, people.arms)
        if "scores" in block:
            self._score(public, block, centred, surprise, people)

    def _begin(self, block: Block, people: People) -> None:
        """Contexts, rewards and their squares, of stage 0."""
        contexts, rewards, squares = (block[name].gathering for name in ("contexts", "rewards", "squares"))
        assert isinstance(contexts, Spread)
        assert isinstance(rewards, Moments)
        assert isinstance(squares, Rows)
        contexts.add(
            block["contexts"], people.contexts * (self.settings.scales / self.settings.scaled_length)
        )
        rewards.add(block["rewards"], np.ones((len(people.arms), 1)), people.rewards, people.arms)
        squares.add(block["squares"], people.rewards[:, None] ** 2)

    def _score(self, public: State, block: Block, centred: Floats, surprise: Floats, people: People) -> None:
        """How each feature goes with the surprise, and the scalars that turn such sums into coefficients."""
        scores, scalars = block["scores"].gathering, block["scalars"].gathering
        assert isinstance(scores, ChosenRows)
        assert isinstance(scalars, Rows)
        typical = public["typical"]
        clipped = np.clip(centred, -typical, typical)
        scores.add(block["scores"], np.clip(surprise, -1, 1)[:, None] * (clipped / typical), people.arms)
        overlap = (centred * clipped).mean(axis=1) / (2 * typical)
        scalars.add(block["scalars"], np.stack([surprise**2, overlap, np.ones(len(overlap))], axis=1))

    def prepare(self, public: State, door: Door, block: Block) -> State:
        if public["stage"] == 0:
            return self._begun(public, door, block)
        changed = self._screened(public, door, block)
        return changed | self._folded(public | changed) | {"learned": 1}

    def fitted(self, public: State, grams: Floats, moments: Floats, noise: float) -> State:
        found, covariances = self._refitted(public, grams, moments, noise)
        changed = {"coefficients": found.coefficients, "covariances": covariances}
        return changed | self._folded(public | changed)

    # --- stage 0 ------------------------------------------------------------------------------------------

    def _begun(self, public: State, door: Door, block: Block) -> State:
        """The mean context, a typical feature, the arms' mean rewards."""
        contexts, rewards, squares = self.beginning.values()
        spread, moments = contexts.gathering, rewards.gathering
        assert isinstance(spread, Spread)
        assert isinstance(moments, Moments)
        sums, lengths, count = spread.parted(door.release(contexts, block["contexts"]))
        people = self.plausible(count, 0)
        scale = self.settings.scaled_length / people
        mean = sums * scale
        centre = _shrunk(mean, contexts.standard_deviation * scale)
        square = lengths * scale * self.settings.scaled_length / self.settings.features
        square += float((centre**2 - 2 * mean * centre).mean())
        typical = sqrt(float(np.clip(square, 1e-3, 4.0)))
        grams, earned = moments.parted(door.release(rewards, block["rewards"]))
        plays = np.maximum(grams[:, 0, 0], people / (4 * self.settings.slots))
        averages = earned[:, 0] / plays
        averages = np.where(np.abs(averages) > 2 * rewards.standard_deviation / plays, averages, 0.0)
        unit = _unit(float(door.release(squares, block["squares"])[0]) / people)
        coefficients = public["coefficients"].copy()
        coefficients[:, 0] = averages / (CONSTANT * typical)
        reference = coefficients * (unit < 1)
        return {
            "centre": centre,
            "typical": typical,
            "unit": unit,
            "coefficients": coefficients,
            "reference": reference,
        }

    # --- screening ----------------------------------------------------------------------------------------

    def _screened(self, public: State, door: Door, block: Block) -> State:
        """A ridge on the features that were found, which are pruned; then more features are drawn."""
        number, unit, slots = public["stage"], public["unit"], self.settings.slots
        stage = self.stages[number - 1]
        gathering = stage.ridge.gathering
        assert isinstance(gathering, Moments)
        grams, moments = gathering.parted(door.release(stage.ridge, block["ridge"]))
        squares, overlaps, count = door.release(stage.scalars, block["scalars"]).tolist()
        people = self.plausible(count, number)
        found, covariances = self._refitted(public, grams, moments, stage.ridge.standard_deviation)
        plays = np.full(slots, people / slots)
        if number > 1:
            deviations = np.sqrt(np.einsum("kii->ki", covariances))
            found = found.pruned(deviations, self.most - stage.picks, least=1.0)
            plays = np.clip(grams[:, 0, 0] / self._constants(public) ** 2, people / (4 * slots), people)
        drawn, sums = self._drawn(stage, found, door, block)
        typical = public["typical"]
        overlap = max(2 * typical * overlaps / people, 0.1 * typical**2)
        noise = sqrt(stage.values.standard_deviation**2 + people / slots / 4)
        seen = np.where(np.abs(sums) > noise, np.sign(sums) * (np.abs(sums) - noise / 2), 0.0)
        seen[public["living"] :] = 0.0  # arms that nobody played yet
        found = found.with_more(drawn, seen * unit * typical / (plays[:, None] * overlap))
        if number == STAGES:
            found = found.shared_with(np.arange(slots) >= public["living"])
        unit = _unit(unit**2 * squares / people)
        return {
            "unit": unit,
            "support": found.features,
            "coefficients": found.coefficients,
            "reference": found.coefficients * (unit < 1),
            "covariances": covariances,
        }

    def _drawn(self, stage: Stage, found: Supports, door: Door, block: Block) -> tuple[Any, Floats]:
        """Features that are drawn in every arm, and their noisy sums."""
        scores, gathered = stage.scores(self.settings.features), block["scores"]
        left = ~found.among(self.settings.features)
        drawn = door.select_in_slots(stage.draw, scores.magnitudes(gathered), left, draws=stage.picks)
        return drawn, door.release(stage.values, scores.picked(gathered, drawn))

    # --- small ridges -------------------------------------------------------------------------------------

    def _supports(self, public: State) -> Supports:
        return Supports(public["support"], public["coefficients"])

    def _lengths(self, public: State) -> Floats:
        """The typical length of each arm's features with the constant: what is clipped to 1."""
        sizes = self._supports(public).sizes
        return np.asarray(public["typical"] * np.sqrt(CONSTANT**2 + sizes))

    def _constants(self, public: State) -> Floats:
        """The constant in front of each arm's features, as mapped."""
        return np.asarray(CONSTANT * public["typical"] / self._lengths(public))

    def _mapped(self, public: State, centred: Floats, people: People) -> Floats:
        """Each one's numbers on the features of their arm, with the constant in front."""
        lengths = self._lengths(public)[people.arms][:, None]
        rows = self._supports(public).of_rows(centred, people.arms) / lengths
        return np.concatenate([self._constants(public)[people.arms][:, None], rows], axis=1)

    def _surprise(self, public: State, mapped: Floats, people: People) -> Floats:
        """Rewards beyond what the reference predicts, in units of what is clipped to 1."""
        reference = public["reference"] * self._lengths(public)[:, None]
        predicted = (mapped * reference[people.arms]).sum(axis=1)
        return np.asarray((people.rewards - predicted) / public["unit"])

    def _refitted(
        self, public: State, grams: Floats, moments: Floats, noise: float
    ) -> tuple[Supports, Floats]:
        """New coefficients, and the covariances of what they add to the reference, in their own units."""
        units = (public["unit"] / self._lengths(public))[:, None]
        found, covariances = self._supports(public).refitted(
            grams, moments, public["reference"] / units, noise
        )
        return Supports(found.features, found.coefficients * units), covariances * units[:, :, None] ** 2

    def _folded(self, public: State) -> State:
        """Coefficients as weights on contexts as they come."""
        constant = CONSTANT * public["typical"]
        supports, features = self._supports(public), self.settings.features
        weights, offsets = supports.folded(features, public["centre"], constant)
        folded = {
            "weights": np.ascontiguousarray(weights / self.settings.bounds[:, None]),
            "offsets": offsets,
        }
        return folded | {"apart": self._apart(public, weights)}

    def _apart(self, public: State, weights: Floats) -> float:
        """How far arms are apart for a usual context, beyond noise: features are centred, and of one size."""
        arms, typical = public["living"], public["typical"]
        if arms < 2:
            return FAR_APART
        at_centre = public["coefficients"][:arms, 0] * CONSTANT
        seen = float(np.var(at_centre, ddof=1) + np.var(weights[:, :arms], axis=1, ddof=1).sum())
        sizes = np.full(self.width, 1.0)
        sizes[0] = CONSTANT
        noise = float(np.einsum("kii,i->", public["covariances"][:arms], sizes**2)) / arms
        numbers = (arms - 1) * (1 + int(self._supports(public).sizes[:arms].mean()))
        return beyond_noise(seen, noise, numbers) * float(typical) ** 2

    def mapped(self, public: State, contexts: Floats) -> Floats:
        centred = contexts * self.settings.scales - public["centre"]
        found = np.empty((len(contexts), self.settings.slots, self.width))
        found[:, :, 0] = CONSTANT * public["typical"]
        for arm in range(self.settings.slots):
            everyone = np.full(len(contexts), arm)
            found[:, arm, 1:] = self._supports(public).of_rows(centred, everyone)
        return found


def _shrunk(mean: Floats, noise: float) -> Floats:
    """A noisy mean, shrunk to the mean of its numbers (James–Stein), and that to 0 where noise hides it."""
    grand = float(mean.mean())
    grand = grand if abs(grand) > 2 * noise / sqrt(len(mean)) else 0.0
    beyond = max(float(((mean - grand) ** 2).mean()) - noise**2, 0.0)
    return np.asarray(grand + (mean - grand) * (beyond / (beyond + noise**2)))


def _unit(mean_square: float) -> float:
    """What rewards are clipped to: some typical sizes, or all of the range if that is not much less."""
    unit = TYPICAL * sqrt(max(mean_square, 1e-4))
    return max(unit, 0.1) if unit < 0.8 else 1.0
