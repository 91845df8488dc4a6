"""Steps of the printed GLM bandit: the choice of a corner, and the compiled loop over people.

Algorithm 3 is in discreet/papers/printed/glm_bandit.py. Noise is in floating point, for simulation
only.
"""

from dataclasses import dataclass
from math import inf, sqrt

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.compiled import compiled
from discreet.errors import ConfigError
from discreet.optim.domains import LpBall
from discreet.papers.noise import TreeNoise, generalised_gaussian
from discreet.papers.printed.lp_geometry import corrected_regularity
from discreet.release.randomness import seeded_bits


class Corners:
    """Choice of the corner v_s: the rule (`kind`), its `strengths`, and the `noise` added to d."""

    kind: int
    clip: float
    """Bound of each person's g."""

    def strengths(self, steps: Floats) -> Floats:
        """Scale, rate or divisor of the rule, one number per step."""
        raise NotImplementedError

    def noise(self, arms: range, steps: Floats) -> Floats:
        """Noise of d, one row per arm and step; empty if the rule draws its own noise."""
        return np.zeros((len(arms), 0, 0))


LAPLACE, EXPONENTIAL, GIVEN = range(3)
"""Rules: the least ⟨d, v⟩ + Laplace noise; the exponential mechanism; the corner of d + noise."""


@dataclass(frozen=True)
class PrintedCorners(Corners):
    """Report-noisy-max over the 2d corners of the l_1 ball, with the printed Laplace noise or 0."""

    first_scale: float
    kind = LAPLACE
    clip = inf

    def strengths(self, steps: Floats) -> Floats:
        """Scale of the Laplace noise of each step."""
        return self.first_scale / np.sqrt(steps)


@dataclass(frozen=True)
class SoundCorners(Corners):
    """The exponential mechanism over the 2d corners; its rate falls with the root of the step.

    Each person's g (see `GlmBandit`) is clipped to ±C in every coordinate; S = Σg over an arm's
    people, and the corners ±e_j have the scores ∓S_j. A person who is replaced

        and plays the same arm  moves S_j by at most 2C, so scores by changes within [−2C, 2C]:
                                a range of 4C
        and plays another arm   moves S_j of two arms by at most C each: twice a range of 2C

    so a draw at rate λ costs (4Cλ)²/8 = 2C²λ² of zCDP in the first case and 2·(2Cλ)²/8 = C²λ² in
    the second: the first covers both, and there is no factor K. People stay in S, so the rates λ_r
    of an arm's R draws have Σ 2C²λ_r² = ρ; they are λ_r² = ρ·w_r/(2C²Σw) with w_r = 1/r. The arm
    that a person plays depends on the earlier draws and on their own context: all of this holds
    conditional on the earlier draws (joint DP).
    """

    rho: float
    clip: float
    block: int
    draws: int
    kind = EXPONENTIAL

    def rates(self, steps: Floats) -> Floats:
        """Rates λ_r of these steps r."""
        total = np.sum(1 / np.arange(1, self.draws + 1))
        return np.asarray(np.sqrt(self.rho / (2 * total * steps)) / self.clip, dtype=np.float64)

    def strengths(self, steps: Floats) -> Floats:
        """Rates for d, which is S divided by the number of people in the steps so far."""
        if steps.size and steps[-1] > self.draws:
            raise ConfigError(
                f"all {self.draws} draws per arm have been made: set a larger horizon"
            )
        return self.rates(steps) * self.block * steps


class PrintedTree(Corners):
    """Corners of Algorithm 1: each arm's sum of g has the printed tree noise."""

    kind = GIVEN
    clip = inf

    def __init__(self, ball: LpBall, arms: int, deviation: float, seed: int) -> None:
        self.deviation = deviation
        self._ball = ball
        self._bits = [seeded_bits(seed, arm) for arm in range(arms)]
        self._trees = [TreeNoise(ball.dimension) for _ in range(arms)]

    def strengths(self, steps: Floats) -> Floats:
        """Divisors of the noise of the sums."""
        return steps + 1

    def noise(self, arms: range, steps: Floats) -> Floats:
        """Noise of the next sums of these arms."""
        return np.array([self._trees[arm].of_sums(self._nodes(arm, len(steps))) for arm in arms])

    def _nodes(self, arm: int, count: int) -> Floats:
        if self.deviation == 0:
            return np.zeros((count, self._ball.dimension))
        order = corrected_regularity(self._ball.p, self._ball.dimension).order
        return generalised_gaussian(
            self._ball.dimension, self.deviation, order, self._bits[arm], draws=count
        )


class SoundTree(PrintedTree):
    """Corners of Algorithm 1 with sound Gaussian noise, for g clipped to length C in l_2.

    A person who is replaced moves one arm's sum by at most 2C, or two arms' sums by at most C each:
    √2·C together, which is less. A term is in at most R.bit_length() of the nodes of R sums:
    σ = 2C√(R.bit_length()/(2ρ)).
    """

    def __init__(
        self, ball: LpBall, arms: int, rho: float, clip: float, block: int, sums: int, seed: int
    ) -> None:
        super().__init__(ball, arms, 2 * clip * sqrt(sums.bit_length() / (2 * rho)), seed)
        self.clip = clip
        self._block = block

    def strengths(self, steps: Floats) -> Floats:
        """Divisors of the noise of the sums."""
        return self._block * steps

    def _nodes(self, arm: int, count: int) -> Floats:
        shape = count, self._ball.dimension
        drawn: Floats = self._bits[arm].floats().normal(0, self.deviation, size=shape)
        return drawn


# Below: compiled.


@compiled
def take_rounds(
    contexts: Floats,
    rewards: Floats,
    arms: Integers,
    counts: tuple[int, int, int, int, int, int],
    flags: tuple[bool, bool, bool, bool],
    sizes: tuple[float, float, float, float, float],
    state: tuple[Floats, Floats, Floats, Floats, Floats],
    corners: tuple[int, Floats, Floats],
    generator: np.random.Generator,
) -> None:
    """Play people who come while the same arms take steps: the loop of Algorithm 3.

    `arms` and the arrays of `state` are written in place.
    """
    first_arm, last_arm, step, in_block, block, lag = counts
    warming_up, as_algorithm_2, logistic, euclidean = flags
    tolerance, bound, clip, radius, dual = sizes
    here, before, directions, aggregate, warmed_up = state
    kind, strengths, noise = corners
    features = here.shape[1]
    row = np.empty(features)
    corner = np.zeros(features)
    done = 0
    for person in range(arms.size):
        if warming_up:
            arms[person] = first_arm
        else:
            context = contexts[person : person + 1]
            best_arms(context, warmed_up, here, tolerance, logistic, arms[person:])
        arm = arms[person]
        weight = step + lag
        # The printed d_1 = ∇f(θ_1) subtracts nothing for θ_0, which is the same point.
        weight_before = 0 if as_algorithm_2 and step == 1 else weight - 1
        for place in range(features):
            row[place] = min(bound, max(-bound, contexts[person, place]))
        target = min(1.0, max(0.0, rewards[person, arm])) - (0.0 if logistic else 0.5)
        slope = weight * (_linked(_product(row, here[arm]), logistic) - target)
        slope -= weight_before * (_linked(_product(row, before[arm]), logistic) - target)
        _add_clipped(slope, row, clip, euclidean, aggregate[arm])
        in_block += 1
        if in_block < block:
            continue
        for arm in range(first_arm, last_arm):
            for place in range(features):
                before[arm, place] = here[arm, place]
                old = (weight - 1) * directions[arm, place]
                directions[arm, place] = (old + aggregate[arm, place] / block) / weight
                aggregate[arm, place] = 0.0
            if kind == GIVEN:
                for place in range(features):
                    row[place] = (
                        directions[arm, place]
                        + noise[arm - first_arm, done, place] / strengths[done]
                    )
                _corner_of_ball(row, radius, dual, corner)
            else:
                _draw_corner(directions[arm], radius, strengths[done], kind, generator, corner)
            for place in range(features):
                here[arm, place] += (corner[place] - here[arm, place]) / (step + 1)
        in_block = 0
        step += 1
        done += 1


@compiled
def best_arms(
    contexts: Floats,
    warmed_up: Floats,
    here: Floats,
    tolerance: float,
    logistic: bool,
    arms: Integers,
) -> None:
    """Write each person's best arm among those within the tolerance of the warm-up's best arm."""
    values = np.empty(here.shape[0])
    for person in range(contexts.shape[0]):
        most = -np.inf
        for arm in range(values.size):
            values[arm] = _linked(_product(contexts[person], warmed_up[arm]), logistic)
            most = max(most, values[arm])
        highest = -np.inf
        for arm in range(values.size):
            if values[arm] > most - tolerance:
                margin = _product(contexts[person], here[arm])
                if margin > highest:
                    highest = margin
                    arms[person] = arm


@compiled
def _product(one: Floats, other: Floats) -> float:
    total = 0.0
    for place in range(one.size):
        total += one[place] * other[place]
    return total


@compiled
def _linked(margin: float, logistic: bool) -> float:
    return 1 / (1 + np.exp(-margin)) if logistic else margin


@compiled
def _add_clipped(slope: float, row: Floats, clip: float, euclidean: bool, total: Floats) -> None:
    """Add slope · row to `total`, clipped in its length or in every coordinate."""
    if euclidean:
        length = abs(slope) * np.sqrt(_product(row, row))
        if length > clip:
            slope *= clip / length
    for place in range(row.size):
        term = slope * row[place]
        total[place] += term if euclidean else min(clip, max(-clip, term))


@compiled
def _draw_corner(
    direction: Floats,
    radius: float,
    strength: float,
    kind: int,
    generator: np.random.Generator,
    corner: Floats,
) -> None:
    """Write into `corner` the ±radius·e_j with the least noisy product with the direction."""
    features = direction.size
    least = np.inf
    chosen = 0
    for number in range(2 * features):
        place = number % features
        product = direction[place] if number < features else -direction[place]
        if kind == EXPONENTIAL:
            minus_gumbel = np.log(-np.log(generator.random()))
            value = strength * product + minus_gumbel
        else:
            value = radius * product
            if strength > 0:
                value += strength * _laplace(generator.random() - 0.5)
        if value < least:
            least = value
            chosen = number
    for place in range(features):
        corner[place] = 0.0
    corner[chosen % features] = radius if chosen < features else -radius


@compiled
def _laplace(uniform: float) -> float:
    """Return a Laplace variable from one that is uniform on [−½, ½)."""
    size: float = -np.log(1 - 2 * abs(uniform))
    return size if uniform > 0 else -size


@compiled
def _corner_of_ball(direction: Floats, radius: float, dual: float, corner: Floats) -> None:
    """Write into `corner` the point of the l_p ball, p > 1, with the least product."""
    largest = 0.0
    for place in range(direction.size):
        largest = max(largest, abs(direction[place]))
        corner[place] = 0.0
    if largest == 0:
        return
    total = 0.0
    for place in range(direction.size):
        total += (abs(direction[place]) / largest) ** dual
    for place in range(direction.size):
        size = radius * (abs(direction[place]) / largest / total ** (1 / dual)) ** (dual - 1)
        corner[place] = -size if direction[place] > 0 else size
