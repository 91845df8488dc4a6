"""Contextual rivals with joint DP, and the settings that are tried for each rival.

For comparison only, in floating point. A rival takes from a world what is public (how many features
and arms, the bounds of contexts) and ε and δ, whether it uses them or not; private ones turn them
into a ρ of zCDP by the same tight conversion as discreet itself. `TUNED` lists what is tried for
each, and `tuned` finds the best of it in worlds of their own; defaults are what was best, or nearly
so, in several of them.

References  Shariff, Sheffet (2018), "Differentially Private Contextual Linear Bandits";
            Chakraborty, Roy, Basu (2024), "FLIPHAT: Joint Differential Privacy for High Dimensional
            Sparse Linear Bandits"
"""

from collections.abc import Callable, Sequence
from itertools import product
from math import ceil, inf, log, log2, sqrt
from typing import Any, Literal

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.budget.privacy import Privacy
from discreet.papers.printed import glm_for_world
from discreet.simulate.problems.contexts import World
from discreet.simulate.problems.contextual import OneByOne, Policy, play
from rivals.contextual_plain import InBlocks, LinUCB, Uniform, deviations, growing

ALPHA = 0.05
"""How often confidence bounds may fail."""


# --- joint differential privacy


class PrivateLinUCB(InBlocks):
    """LinUCB from noisy sums over a tree. SOUND: joint DP for replace-one neighbours.

    A person's row z = (c, x)/C has length at most 1, and their reward r lies in [0, B] or, centred,
    in [−B, B]. Each arm sums the symmetric matrices of (z, r), which a replacement moves by at most
    √2·(1 + B²) in the Frobenius norm, on the same arm or on two.

        printed   a tree over rounds with m = ⌈log₂T⌉ + 1 levels, for rewards in [0, 1]; a node has
                  noise (Z + Zᵀ)/√2, entries of Z being N(0, σ²), σ = 4√m·(1 + B²)·ln(4/δ)/ε; Gram
                  matrices are shifted by 2Υ, Υ = σ√(2m)(4√d + 2 ln(2T/α)). At (1, 10⁻⁶) it spends
                  1/180 of its ρ
        tight     a tree over blocks with the noise that ρ needs, shifted by `shift` times its
                  likely largest eigenvalue

    The printed confidence width exceeds every reward; `width` is tuned instead.
    """

    def __init__(
        self,
        world: World,
        horizon: int,
        epsilon: float,
        delta: float,
        *,
        calibration: Literal["tight", "printed"] = "tight",
        centred: bool = True,
        width: float = 0.1,
        shift: float = 1.0,
        blocks: int = 30,
        intercept: float = 0.3,
        length: float | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__(world, growing(ceil(horizon / blocks), 1.0), seed)
        self._length = length or world.context_length or _usual_length(world)
        self._intercept = intercept
        self._centre = 0.5 if centred else 0.0
        self._width = width
        dimension = world.features + 1
        squared = 1 + (0.25 if centred else 1.0)
        if calibration == "printed":
            levels = ceil(log2(horizon)) + 1
            self.deviation = 4 * sqrt(levels) * squared * log(4 / delta) / epsilon
            spread = 4 * sqrt(dimension) + 2 * log(2 * horizon / ALPHA)
            self.shift = 2 * self.deviation * sqrt(2 * levels) * spread
        else:
            levels = blocks.bit_length()
            rho = Privacy(epsilon, delta).budget.rho
            # Of the diagonal; off it, the Frobenius norm counts entries twice, and so 1/√2 of it.
            diagonal = sqrt(2) * squared * sqrt(levels / (2 * rho))
            self.deviation = diagonal / sqrt(2)
            self.shift = shift * 2 * self.deviation * sqrt(levels * dimension)
        self._over_rounds = calibration == "printed"
        self._nodes: dict[tuple[int, int], Floats] = {}
        # Rows and columns: c, the features, the reward.
        self.sums = np.zeros((world.arms, dimension + 1, dimension + 1))

    def rows(self, contexts: Floats) -> Floats:
        """Return z, of length at most 1."""
        lengths = np.maximum(np.linalg.norm(contexts, axis=1, keepdims=True), 1e-300)
        clipped = contexts * np.minimum(1.0, self._length / lengths)
        constant = np.full((len(contexts), 1), self._intercept * self._length)
        whole = self._length * sqrt(1 + self._intercept**2)
        return np.concatenate([constant, clipped], axis=1) / whole

    def gather(self, contexts: Floats, arms: Integers, rewards: Floats) -> None:
        """Add the matrices of these people to the sums."""
        centred = np.clip(rewards, 0.0, 1.0)[:, None] - self._centre
        rows = np.concatenate([self.rows(contexts), centred], axis=1)
        for arm in range(self.arms):
            mine = rows[arms == arm]
            self.sums[arm] += mine.T @ mine

    def fit(self) -> None:
        """Solve for the coefficients from the noisy sums."""
        released = self.sums + self.noise_of_sum(
            self.clock if self._over_rounds else self.clock // len(self.block)
        )
        grams = released[:, :-1, :-1] + self.shift * np.eye(released.shape[1] - 1)
        lowest = np.linalg.eigvalsh(grams)[:, :1, None]
        repair = np.where(lowest <= 0, 1e-3 * self.shift - lowest, 0.0)
        inverses = np.linalg.inv(grams + repair * np.eye(grams.shape[1]))
        self.inverses: Floats = np.asarray(inverses, dtype=np.float64)
        self.coefficients: Floats = np.einsum("kij,kj->ki", self.inverses, released[:, :-1, -1])

    def scores(self, contexts: Floats) -> Floats:
        """Return the estimate plus the bonus."""
        rows = self.rows(contexts)
        estimates: Floats = rows @ self.coefficients.T
        return estimates + self._width * deviations(rows, self.inverses)

    def noise_of_sum(self, time: int) -> Floats:
        """Return the noise of the sum up to a time, of nodes that are drawn once each."""
        names = [(level, time >> level) for level in range(time.bit_length()) if time >> level & 1]
        self._nodes = {
            name: self._nodes[name] if name in self._nodes else self._node() for name in names
        }
        return np.asarray(sum(self._nodes.values()), dtype=np.float64)

    def _node(self) -> Floats:
        drawn = self.generator.normal(0, self.deviation, size=self.sums.shape)
        return np.asarray((drawn + drawn.transpose(0, 2, 1)) / sqrt(2), dtype=np.float64)


class Fliphat(InBlocks):
    """FLIPHAT: doubling episodes, sparse coefficients from the episode before. SOUND: joint DP.

    FLIPHAT's scheme with zCDP noise for replace-one neighbours. It knows the number s of relevant
    features. Coefficients come from noisy iterative hard thresholding: |x_j| ≤ B,
    u = r − ½ − xθ clipped to ±U, n people per arm,

        v = n·θ/step + Σ u·x
        draw the s largest |v_j| and add noise to their values
        θ ← v·step/n, clipped

    A person is in one episode, and there in every iteration, which costs ρ/iterations, half for
    each of

        which     v_j moves by at most 2UB on the same arm: |v_j| by changes within a range of 4UB,
                  so s draws at rate η cost s·(4UBη)²/8; on two arms by UB each, 2·s·(2UBη)²/8,
                  which is half
        values    s coordinates moved by 2UB each: 2UB√s in l_2; on two arms UB each: √2·UB√s,
                  which is less

    θ was released before, and n is the planned number of people per arm, not the played one.
    """

    def __init__(
        self,
        world: World,
        horizon: int,
        epsilon: float,
        delta: float,
        *,
        relevant: int = 5,
        iterations: int = 1,
        step: float = 2.0,
        first: float = 0.05,
        largest: float = 0.2,
        seed: int = 0,
    ) -> None:
        super().__init__(world, growing(int(first * horizon), 2.0), seed)
        self._horizon = horizon
        self._relevant = min(relevant, world.features)
        self._iterations = iterations
        self._bound = world.context_bound
        self._step = step / world.context_bound**2
        self._largest = largest / world.context_bound
        half = Privacy(epsilon, delta).budget.rho / iterations / 2
        moved = 0.5 * world.context_bound  # UB
        self.rate = sqrt(half / (2 * self._relevant)) / moved
        self.deviation = 2 * moved * sqrt(self._relevant) / sqrt(2 * half)
        self.coefficients = np.zeros((world.arms, world.features))
        self.episode: list[tuple[np.ndarray, Integers, Floats]] = []

    def gather(self, contexts: Floats, arms: Integers, rewards: Floats) -> None:
        """Store the episode's people, unless no later decision depends on them."""
        if self.block.stop < self._horizon:
            clipped = np.clip(contexts, -self._bound, self._bound).astype(np.float32)
            self.episode.append((clipped, arms, np.clip(rewards, 0.0, 1.0) - 0.5))

    def fit(self) -> None:
        """Fit the coefficients to this episode, and delete its people."""
        people = len(self.block) / self.arms
        for arm in range(self.arms):
            found = np.zeros(self.coefficients.shape[1])
            for _ in range(self._iterations):
                found = self._iteration(arm, found, people)
            self.coefficients[arm] = found
        self.episode = []

    def _iteration(self, arm: int, point: Floats, people: float) -> Floats:
        values = point * people / self._step
        for contexts, arms, centred in self.episode:
            rows = contexts[arms == arm]
            with np.errstate(
                invalid="ignore"
            ):  # BLAS raises the flag now and then on finite float32
                residuals = centred[arms == arm] - rows @ point.astype(np.float32)
            values += np.clip(residuals, -0.5, 0.5).astype(np.float32) @ rows
        noisy = self.rate * np.abs(values) + self.generator.gumbel(size=len(values))
        chosen = np.argsort(-noisy)[: self._relevant]
        released = values[chosen] + self.generator.normal(0, self.deviation, size=self._relevant)
        found = np.zeros_like(point)
        found[chosen] = np.clip(released * self._step / people, -self._largest, self._largest)
        return found

    def scores(self, contexts: Floats) -> Floats:
        """Return the estimate."""
        estimates: Floats = contexts @ self.coefficients.T
        return estimates


def _usual_length(world: World) -> float:
    """Return the clip of contexts without a given length: 1.2 times that of uniform ones."""
    return 1.2 * world.context_bound * sqrt(world.features / 3)


# --- which settings


def _private_linucb_printed(*arguments: Any, **settings: Any) -> PrivateLinUCB:
    return PrivateLinUCB(*arguments, calibration="printed", centred=False, **settings)


RIVALS: dict[str, Callable[..., Policy | OneByOne]] = {
    "uniform": Uniform,
    "linucb": LinUCB,
    "private_linucb_printed": _private_linucb_printed,
    "private_linucb": PrivateLinUCB,
    "fliphat": Fliphat,
    "glm_bandit_printed": glm_for_world.as_printed,
    "glm_bandit_sound": glm_for_world.with_sound_noise,
}
"""Called with a world, a horizon, ε, δ, and then by name with a seed and settings."""

TUNED: dict[str, dict[str, tuple[Any, ...]]] = {
    "uniform": {},
    "linucb": {"width": (0.05, 0.1, 0.25, 0.5)},
    "private_linucb_printed": {"width": (0.0, 0.1, 0.5, 2.0)},
    "private_linucb": {"shift": (1.0, 3.0, 10.0), "blocks": (10, 30, 100), "intercept": (0.1, 0.3)},
    "fliphat": {"iterations": (1, 2, 3), "step": (1.0, 2.0, 4.0), "first": (0.02, 0.05, 0.1)},
    "glm_bandit_printed": {"gap": (0.2, 2.0)},
    "glm_bandit_sound": {
        "blocks": (15, 30, 60),
        "share": (0.02, 0.05, 0.1),
        "clip": (0.06, 0.12, 0.25, 0.5),
        "gap": (0.2, 2.0),
    },
}
"""What is tried for each rival, all combinations."""

TUNING = 1_000_000
"""Worlds and luck of tuning have seeds from here on: others than those of any test."""


def tuned(
    name: str,
    make_world: Callable[[int], World],
    horizon: int,
    seeds: Sequence[int],
    *,
    epsilon: float = 1.0,
    delta: float = 1e-6,
) -> dict[str, Any]:
    """Return the settings of a rival with the least mean regret; `make_world(seed)` draws worlds.

    >>> from discreet.simulate.problems.contexts import DenseWorld
    >>> tuned("linucb", lambda seed: DenseWorld.drawn(2, 2, seed=seed), 500, [0, 1]).keys()
    dict_keys(['width'])
    """
    grid = TUNED[name]
    best: dict[str, Any] = {}
    least = inf
    for values in product(*grid.values()):
        settings = dict(zip(grid, values, strict=True))
        regrets = []
        for seed in seeds:
            world = make_world(TUNING + seed)
            rival = RIVALS[name](world, horizon, epsilon, delta, seed=seed, **settings)
            regrets.append(play(world, rival, horizon, seed=TUNING + seed))
        if np.mean(regrets) < least:
            least, best = float(np.mean(regrets)), settings
    return best
