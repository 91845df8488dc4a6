"""Many features, of which few matter: find them by the exponential mechanism, then regress on those.

    stage 0       uniform play; releases the mean context, a typical feature, the arms' mean rewards
    stages 1–3    each twice as long: in every arm, draw the features with the largest |Σ u·x_j|, release the
                  sums of those that were drawn, and a small ridge on the features found before
    then          features stay; blocks that grow by a quarter; after each, the ridges through a running total

u is what the reward is off from the newest prediction, clipped to twice its typical size; rewards that are 0
or 1 are taken as they are. Everyone enters the releases of one stage only. A draw in every arm costs no more
than in one: whoever changes arms moves two of them half as far (discreet/release/gathering/chosen_rows.py).

Guarantee   docs/guarantees/contextual.md, Theorem 3
Runtime     O(K·d) a person and a release; memory K·d, and some thousand numbers an arm
References  Chakraborty, Roy, Basu (2024), "FLIPHAT"
            Dong, Durfee, Rogers (2020), one-shot selection
"""

from functools import cached_property
from math import ceil, log, sqrt
from typing import Any, NamedTuple

import numpy as np

from discreet.arrays import Floats
from discreet.decide.support import Supports
from discreet.learners.contextual_bandit.arms import ArmsMode, People
from discreet.learners.totals import RunningTotal
from discreet.release.door import Door
from discreet.release.gathering import ChosenRows, Gathering, Moments, Rows, Spread
from discreet.release.noise import Once
from discreet.release.selection import Selection
from discreet.turn.plan import Plan, State, paid_by_cohorts
from discreet.turn.problem import Batch, Block
from discreet.turn.schedule import ListedBlocks, growing_blocks

__all__ = ["Screen"]

STAGES = 3
GROWTH = 1.25
"""Of the blocks, once the features stay."""
CONSTANT = 0.67
"""The size of the constant in front of an arm's features, in typical features."""
TYPICAL = 2.0
"""Rewards are clipped to so many times their typical distance from what is predicted."""
EFFECT = 0.09
"""What a feature that matters is taken to move, in units of half the rewards' range: sets the stages' length."""


class Shares(NamedTuple):
    """How a screening stage divides its budget."""

    draws: float
    values: float
    ridge: float
    scalars: float


FIRST = Shares(0.6, 0.3, 0.08, 0.02)
LATER = Shares(0.4, 0.2, 0.38, 0.02)


class Stage(NamedTuple):
    """A screening stage: its mechanisms, and how many features each arm draws."""

    picks: int
    draw: Selection
    values: Once
    ridge: Once
    scalars: Once
    scores: ChosenRows


class Screen(ArmsMode):
    """Features drawn in stages, then a small ridge an arm."""

    @classmethod
    def serves(cls, settings: Any) -> bool:
        return bool(settings.screens)

    # --- the plan -----------------------------------------------------------------------------------------

    @property
    def most(self) -> int:
        """How many features an arm can have."""
        return min(self.settings.features, 3 * self.settings.expected + 1)

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """The rounds of stage 0 and of the screening stages."""
        settings, rounds = self.settings, self.settings.rounds
        sharp = sqrt(2 * settings.expected / (FIRST.draws * self.budget.amount))
        first = settings.slots * sharp * (log(settings.features) + 1) / EFFECT
        first = min(max(first, rounds / 100), rounds / 12)
        return max(1, rounds // 100), *(max(1, int(first * 2**stage)) for stage in range(STAGES))

    @cached_property
    def schedule(self) -> ListedBlocks:
        settings, rounds = self.settings, self.settings.rounds
        first = rounds / 50 if settings.block == "auto" else settings.block
        blocks = growing_blocks(rounds - sum(self.lengths), first, GROWTH)
        return ListedBlocks(rounds, (*self.lengths, *blocks))

    @cached_property
    def beginning(self) -> tuple[Once, Once, Once]:
        """Stage 0: contexts, the arms' rewards, squares of rewards."""
        budget, slots = self.budget, self.settings.slots
        return (
            Once.for_budget(budget * 0.5, Spread.of(self.settings.features)),
            Once.for_budget(budget * 0.4, Moments.of(slots, 1)),
            Once.for_budget(budget * 0.1, Rows((1,), nonnegative=True)),
        )

    @cached_property
    def stages(self) -> list[Stage]:
        return [self._stage(number) for number in range(STAGES)]

    def _stage(self, number: int) -> Stage:
        settings, budget = self.settings, self.budget
        shares = LATER if number else FIRST
        picks = min(settings.features, max(1, ceil(settings.expected * (1 - 0.2 * number))))
        values = Once.for_budget(budget * shares.values, ChosenRows((settings.slots, picks)))
        scores = ChosenRows((settings.slots, settings.features), values.gathering.levels)
        return Stage(
            picks,
            Selection.for_budget(budget * shares.draws, scores, draws=picks),
            values,
            Once.for_budget(budget * shares.ridge, Moments.of(settings.slots, self.most + 1)),
            Once.for_budget(budget * shares.scalars, Rows((3,), norm=np.inf, nonnegative=True)),
            scores,
        )

    @cached_property
    def moments(self) -> RunningTotal:
        lengths = self.schedule.lengths[len(self.lengths) :]
        return RunningTotal(
            "moments",
            Moments.of(self.settings.slots, self.most + 1),
            ListedBlocks(self.settings.rounds, lengths),
            self.settings.privacy,
            people=max(lengths, default=1),
            fresh=False,
            share=1 - self.settings.report,
        )

    @cached_property
    def plan(self) -> Plan:
        begin, total = self.beginning, self.moments.sum
        charges = [begin[0].charge + begin[1].charge + begin[2].charge]
        for stage in self.stages:
            drawn = stage.draw.charge("zcdp") * stage.picks
            charges.append(drawn + stage.values.charge + stage.ridge.charge + stage.scalars.charge)
        stages = len(charges)
        return Plan.scheduled(
            self.schedule,
            lambda index: charges[index] if index < stages else total.charge(index - stages),
            paid_by_cohorts(self.settings.privacy, [*charges, total.spent(self.moments.releases)]),
            cohort=lambda index: min(index, stages),
            facts={
                "estimator": "screen",
                "releases": self.schedule.releases,
                "uniform": sum(self.lengths[:2]),
                "most_features": self.most,
                "noise_in_people": self.moments.noise,
            },
            constants=(begin, tuple(self.stages), total),
        )

    # --- the hooks ----------------------------------------------------------------------------------------

    def start(self) -> tuple[State, State]:
        settings = self.settings
        sums, kept = self.moments.start()
        nothing = Supports.empty(settings.slots, self.most)
        public = self.nothing_learned() | {
            "centre": np.zeros(settings.features),
            "typical": 1.0,
            "unit": 1.0,
            "support": nothing.features,
            "coefficients": nothing.coefficients,
            "reference": nothing.coefficients,
            "covariances": np.zeros((settings.slots, self.most + 1, self.most + 1)),
        }
        return public | sums, kept

    def gatherings(self, public: State) -> dict[str, Gathering]:
        number = public["stage"]
        if number == 0:
            names = ("contexts", "rewards", "squares")
            return {name: once.gathering for name, once in zip(names, self.beginning, strict=True)}
        if number <= STAGES:
            stage = self.stages[number - 1]
            return {"scores": stage.scores, "ridge": stage.ridge.gathering, "scalars": stage.scalars.gathering}
        return {"moments": self.moments.gathering}

    def gather(self, public: State, block: Block, batch: Batch) -> None:
        people = self.people(public, batch)
        came = people.arms >= 0
        people = People(*(part[came] for part in people))
        if public["stage"] == 0:
            self._begin(block, people)
            return
        centred = people.contexts / self.settings.bounds - public["centre"]
        mapped = self._mapped(public, centred, people)
        surprise = self._surprise(public, mapped, people)
        name = "moments" if "moments" in block else "ridge"
        gathering = block[name].gathering
        assert isinstance(gathering, Moments)
        gathering.add(block[name], mapped, surprise, people.arms)
        if "scores" in block:
            self._score(public, block, centred, surprise, people)

    def _begin(self, block: Block, people: People) -> None:
        """Contexts, rewards and their squares, of stage 0."""
        contexts, rewards, squares = (block[name].gathering for name in ("contexts", "rewards", "squares"))
        assert isinstance(contexts, Spread)
        assert isinstance(rewards, Moments)
        assert isinstance(squares, Rows)
        scaled = people.contexts / self.settings.bounds / self.settings.scaled_length
        contexts.add(block["contexts"], scaled)
        rewards.add(block["rewards"], np.ones((len(scaled), 1)), people.rewards, people.arms)
        squares.add(block["squares"], people.rewards[:, None] ** 2)

    def _score(
        self, public: State, block: Block, centred: Floats, surprise: Floats, people: People
    ) -> None:
        """How each feature goes with the surprise, and the scalars that turn such sums into coefficients."""
        scores, scalars = block["scores"].gathering, block["scalars"].gathering
        assert isinstance(scores, ChosenRows)
        assert isinstance(scalars, Rows)
        typical = public["typical"]
        clipped = np.clip(centred, -typical, typical)
        scores.add(block["scores"], surprise[:, None] * (clipped / typical), people.arms)
        overlap = (centred * clipped).mean(axis=1) / (2 * typical)
        scalars.add(block["scalars"], np.stack([surprise**2, overlap, np.ones(len(overlap))], axis=1))

    def release(
        self, public: State, tally: State, kept: State, block: Block, door: Door
    ) -> tuple[State, State]:
        after = public | self.next_block(public)
        if public["stage"] == 0:
            return after | self._begun(public, door, block), kept
        if public["stage"] <= STAGES:
            return self._folded(after | self._screened(public, door, block)), kept
        total = self.moments.next(public, kept, block, door)
        gathering = self.moments.gathering
        assert isinstance(gathering, Moments)
        found, covariances = self._refitted(public, *gathering.parted(total.values), sqrt(total.variance))
        after |= {"coefficients": found.coefficients, "covariances": covariances} | total.public
        return self._folded(after), total.kept

    # --- stage 0 ------------------------------------------------------------------------------------------

    def _begun(self, public: State, door: Door, block: Block) -> State:
        """The mean context (shrunk to its grand mean), a typical feature, the arms' mean rewards."""
        contexts, rewards, squares = self.beginning
        spread, moments = contexts.gathering, rewards.gathering
        assert isinstance(spread, Spread)
        assert isinstance(moments, Moments)
        noisy = door.add_noise(contexts.noise, block["contexts"]) * spread.grid
        sums, lengths, count = spread.parted(noisy)
        people = float(np.clip(count, self.lengths[0] / 10, self.lengths[0]))
        longest, features = self.settings.scaled_length, self.settings.features
        centre, mean = self._shrunk(sums / people * longest, contexts.standard_deviation / people * longest)
        square = lengths / people * longest**2 / features
        square += float((centre**2 - 2 * mean * centre).mean())
        typical = sqrt(float(np.clip(square, 1e-3, 4.0)))
        grams, sums = moments.parted(door.add_noise(rewards.noise, block["rewards"]) * moments.grid)
        plays = np.maximum(grams[:, 0, 0], people / (4 * self.settings.slots))
        means = sums[:, 0] / plays
        means = np.where(np.abs(means) > 2 * rewards.standard_deviation / plays, means, 0.0)
        squared = float(door.add_noise(squares.noise, block["squares"])[0]) * squares.gathering.grid
        coefficients = public["coefficients"].copy()
        coefficients[:, 0] = means / (CONSTANT * typical)
        unit = _unit(squared / people)
        return {
            "centre": centre,
            "typical": typical,
            "unit": unit,
            "coefficients": coefficients,
            "reference": coefficients * (unit < 1),
        }

    def _shrunk(self, mean: Floats, noise: float) -> tuple[Floats, Floats]:
        """A noisy mean, shrunk to the mean of its numbers, and that to 0 where noise hides it; and itself."""
        grand = float(mean.mean())
        beyond = max(float(((mean - grand) ** 2).mean()) - noise**2, 0.0)
        grand = grand if abs(grand) > 2 * noise / sqrt(len(mean)) else 0.0
        return grand + (mean - grand) * (beyond / (beyond + noise**2)), mean

    # --- screening ----------------------------------------------------------------------------------------

    def _screened(self, public: State, door: Door, block: Block) -> State:
        """A ridge on the features that were found, which are pruned; then more features are drawn."""
        stage, number = self.stages[public["stage"] - 1], public["stage"]
        unit, typical, slots = public["unit"], public["typical"], self.settings.slots
        gathering = stage.ridge.gathering
        assert isinstance(gathering, Moments)
        noisy = door.add_noise(stage.ridge.noise, block["ridge"]) * gathering.grid
        grams, moments = gathering.parted(noisy)
        found, covariances = self._refitted(public, grams, moments, stage.ridge.standard_deviation)
        scalars = door.add_noise(stage.scalars.noise, block["scalars"]) * stage.scalars.gathering.grid
        people = float(np.clip(scalars[2], self.lengths[number] / 10, self.lengths[number]))
        overlap = max(2 * typical * scalars[1] / people, 0.1 * typical**2)
        if number > 1:
            deviations = np.sqrt(np.maximum(np.einsum("kii->ki", covariances), 0.0))
            found = found.pruned(deviations, self.most - stage.picks, least=1.0)
        drawn = door.select_in_slots(
            stage.draw,
            stage.scores.magnitudes(block["scores"]),
            ~found.among(self.settings.features),
            draws=stage.picks,
        )
        raw = door.add_noise(stage.values.noise, stage.scores.picked(block["scores"], drawn))
        raw = raw * stage.values.gathering.grid
        plays = grams[:, 0, 0] / self._constants(public) ** 2 if number > 1 else np.full(slots, people / slots)
        plays = np.clip(plays, people / (4 * slots), people)[:, None]
        noise = sqrt(stage.values.standard_deviation**2 + people / slots / 4)
        kept = np.where(np.abs(raw) > noise, np.sign(raw) * (np.abs(raw) - noise / 2), 0.0)
        kept[public["living"] :] = 0.0  # arms that nobody played yet
        found = found.with_more(drawn, kept / (plays * overlap) * unit * typical)
        if number == STAGES:
            found = found.shared_with(np.arange(slots) >= public["living"])
        unit = _unit(unit**2 * float(scalars[0]) / people)
        return {
            "learned": 1,
            "unit": unit,
            "support": found.features,
            "coefficients": found.coefficients,
            "reference": found.coefficients * (unit < 1),
            "covariances": covariances,
        }

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
        """New coefficients in their own units, and covariances on mapped contexts, in units of rewards."""
        lengths, unit = self._lengths(public), public["unit"]
        mapped = public["reference"] * lengths[:, None] / unit
        found, covariances = self._supports(public).refitted(grams, moments, mapped, noise)
        found = Supports(found.features, found.coefficients * unit / lengths[:, None])
        scale = (unit / lengths)[:, None, None]
        return found, covariances * scale**2

    def _folded(self, public: State) -> State:
        """Coefficients as weights on contexts as they come."""
        supports = self._supports(public)
        constant = CONSTANT * public["typical"]
        weights, offsets = supports.folded(self.settings.features, public["centre"], constant)
        return public | {
            "weights": np.ascontiguousarray(weights / self.settings.bounds[:, None]),
            "offsets": offsets,
        }

    def mapped(self, public: State, contexts: Floats) -> Floats:
        centred = contexts / self.settings.bounds - public["centre"]
        slots = self.settings.slots
        found = np.empty((len(contexts), slots, self.most + 1))
        for arm in range(slots):
            everyone = People(contexts, np.zeros(len(contexts)), np.full(len(contexts), arm))
            found[:, arm] = self._mapped(public, centred, everyone) * self._lengths(public)[arm]
        return found


def _unit(mean_square: float) -> float:
    """What rewards are clipped to: twice their typical size, or all of the range if that is not much less."""
    unit = TYPICAL * sqrt(max(mean_square, 1e-4))
    return max(unit, 0.1) if unit < 0.8 else 1.0
