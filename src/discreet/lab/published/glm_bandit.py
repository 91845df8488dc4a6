"""Which arm, given the context, as printed (Algorithm 3): recursive Frank–Wolfe, one private copy an arm.

    warm up: for each arm i = 1 … K in turn, t_0 times:
        play arm i and see the reward r; the arm takes its next step with the sample (X, r)
    in round t = K·t_0 + 1 … T:
        K̂ = {i : ζ(X·θ_{t_0,i}) > max_j ζ(X·θ_{t_0,j}) − h_sub/2}, which the warm-up does not rule out
        play the arm a in K̂ with the largest ζ(X·θ_a) and see the reward r
        arm a takes step t with the sample (X, r), every other arm with the synthetic sample (0, ζ(0))
    step s with a sample (x, r) (Algorithm 2), where ∇f(θ) = (ζ(x·θ) − r)·x:
        d_1 = ∇f(θ_1), and then d_s = ∇f(θ_s) + (1 − 1/(s + 1))(d_{s−1} − ∇f(θ_{s−1}))
        v_s = the corner v of the l_1 ball with the least ⟨d_s, v⟩ + Laplace noise
        θ_{s+1} = θ_s + (v_s − θ_s)/(s + 1)

A synthetic sample has no gradient: its step only shrinks d. With 1 < p ≤ 2 the steps are those of Algorithm
1: d_s is a noisy sum over a tree, divided by s + 1, and v_s has the least ⟨d_s, v⟩ in the l_p ball. With the
identity link a reward is taken as r − ½, since ζ(0) = 0 leaves no room for an offset.

Symbols     X the context, ‖X‖_∞ ≤ M; ζ the link, ζ′ ≤ β; θ_i an arm's coefficients, in a ball of diameter D;
            ‖∇f‖ ≤ L; t_0 the warm-up; h_sub the gap; K arms, d features, T the horizon
Printed     scale 4D(βD + L)√(ln T · ln(1/δ))/(ε√s) of the noise of a corner; t_0 = ln(dT)·ln T/ε² by order
Verdict     UNSOUND for replace-one neighbours: rewards are unbounded (here they are clipped), and line 17's
            "t-th step", taken by an arm with t_0 + t − K·t_0 samples, leaves the people of the warm-up with K
            times the weight of the proof; the first branch d_1 = ∇f doubles the first person's if L > βD
            Report-noisy-max costs 2ε, not ε, but D is the diameter, and corners of the ball are D/2 long.
Sound       noise="sound" repairs all this: discreet/lab/published/glm_steps.py says why
Runtime     O(K·d) a round, or a block; memory O(K·d)
References  Han et al. (2022), "Optimal Private Streaming SCO in l_p-geometry with Applications in High
            Dimensional Online Decision Making", Algorithms 1 to 3
"""

from dataclasses import dataclass
from functools import cached_property
from math import ceil, log, sqrt
from typing import Any, Literal

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.budget.privacy import Privacy
from discreet.decide.domains import LpBall
from discreet.errors import ConfigError
from discreet.lab.contextual import LinearWorld, Link, People, World, all_rewards
from discreet.lab.published.glm_steps import (
    Corners,
    PrintedCorners,
    PrintedTree,
    SoundCorners,
    SoundTree,
    best_arms,
    printed_scale,
    take_rounds,
)

__all__ = [
    "GlmBandit",
    "GradientErrors",
    "Theory",
    "gradient_error",
    "printed_warm_up_by_order",
    "printed_warm_up_by_theorem",
]

Noise = Literal["printed", "sound", "none"]


def printed_warm_up_by_order(features: int, horizon: int, epsilon: float) -> int:
    """The printed t_0 = ln(dT)·ln T/ε² pulls of each arm, without the constants that the order hides.

    >>> printed_warm_up_by_order(100, 100_000, 1.0)
    186
    """
    return ceil(log(features * horizon) * log(horizon) / epsilon**2)


def printed_warm_up_by_theorem(features: int, horizon: int, epsilon: float, delta: float = 1e-6) -> float:
    """The least t_0 that Theorem 4.8's proof and Lemma B.3 allow, in a world as kind as can be (`Theory`).

    >>> printed_warm_up_by_theorem(100, 100_000, 1.0) > 5e7 > 100_000
    True
    """
    return max(Theory(features, horizon, epsilon, delta).least_warm_ups.values())


# --- the algorithm


class GlmBandit:
    """Algorithm 3 (see the head of this file), as printed or with sound noise, for `play`.

    A person adds g = (s + l)·∇f(θ_s) − (s + l − 1)·∇f(θ_{s−1}) to their arm's sum in its step s, and d_s is
    that sum over s + l. As printed l = 1, which counts θ_0's gradient once too often; "sound" has l = 0 and
    no bias, takes steps on blocks of people, and counts an arm's own steps.

    Parameters
    ----------
    world
        What it says of contexts and arms is used, nothing else.
    noise
        "printed"; "none", which is the same without any; or "sound".
    warm_up
        t_0; the printed order is `printed_warm_up_by_order`.
    gap
        h_sub.
    radius
        D/2: an arm's coefficients are at most so long in the l_p norm.
    block
        How many people make a step, with sound noise.
    clip
        The bound of everybody's g, with sound noise.

    >>> from discreet.lab.contextual import SparseWorld, play
    >>> world = SparseWorld.drawn(10, seed=1)
    >>> without_privacy = GlmBandit(world, 2000, 1.0, 1e-6, noise="none", warm_up=50)
    >>> printed = GlmBandit(world, 2000, 1.0, 1e-6, warm_up=50)
    >>> play(world, without_privacy, 2000).regret < 0.5 < play(world, printed, 2000).regret
    True
    """

    def __init__(
        self,
        world: World,
        horizon: int,
        epsilon: float,
        delta: float,
        *,
        noise: Noise = "printed",
        link: Link = "identity",
        p: float = 1.0,
        radius: float = 0.5,
        warm_up: int | None = None,
        gap: float = 0.2,
        block: int = 1,
        clip: float = 0.5,
        seed: int = 0,
    ) -> None:
        if not 1 <= p <= 2:
            raise ConfigError(f"p must be between 1 and 2, got {p!r}")
        if block < 1 or (block > 1 and noise != "sound"):
            raise ConfigError(f"block must be at least 1, and 1 unless the noise is sound, got {block!r}")
        if not gap > 0:
            raise ConfigError(f"gap must be above 0, got {gap!r}")
        order = printed_warm_up_by_order(world.features, horizon, epsilon)
        self.warm_up = min(order if warm_up is None else warm_up, horizon // world.arms)
        self.arms = world.arms
        self.clock = 0
        self.coefficients, self.directions, self._before, self._gathered, self._known = np.zeros(
            (5, world.arms, world.features)
        )
        self._block = block
        self._logistic = link == "logistic"
        self._tolerance = gap / 2
        self._bound = world.context_bound
        self._lag = 0 if noise == "sound" else 1
        self._as_algorithm_2 = noise != "sound" and p == 1
        self._ball = LpBall(world.features, p, radius)
        self._generator = np.random.default_rng([seed, 3])
        steps = max(1, (self.warm_up + horizon - world.arms * self.warm_up) // block)
        reach = _reach(world, p, radius, link)
        self.corners: Corners
        if noise == "sound":
            rho = Privacy(epsilon, delta).budget.rho
            self.corners = (
                SoundCorners(rho, clip, block, steps)
                if p == 1
                else SoundTree(self._ball, world.arms, rho, clip, block, steps, seed)
            )
        elif p == 1:
            scale = printed_scale(1, reach, 2 * radius, horizon, epsilon, delta)
            self.corners = PrintedCorners(scale if noise == "printed" else 0.0)
        else:
            deviation = PrintedTree.printed_deviation(self._ball, reach, horizon, epsilon, delta)
            self.corners = PrintedTree(self._ball, world.arms, deviation if noise == "printed" else 0.0, seed)

    @property
    def warming_up(self) -> bool:
        """Whether arms are played in turn."""
        return self.clock < self.arms * self.warm_up

    @property
    def taking_steps(self) -> range:
        """The arms that get a sample, real or synthetic: the one in turn, and after the warm-up all."""
        if not self.warming_up:
            return range(self.arms)
        turn = self.clock // self.warm_up
        return range(turn, turn + 1)

    @property
    def samples(self) -> int:
        """How many samples these arms have had."""
        if self.warming_up:
            return self.clock % self.warm_up
        return self.warm_up + self.clock - self.arms * self.warm_up

    @property
    def step(self) -> int:
        """Which step comes next: in line 17 it is the round's number, whatever an arm's samples."""
        if self._as_algorithm_2 and not self.warming_up:
            return self.clock + 1
        return self.samples // self._block + 1

    def pass_through(self, contexts: Floats, rewards: Floats) -> Integers:
        """The arms that are played, one person after the other."""
        arms = np.empty(len(contexts), dtype=np.int64)
        first = 0
        while first < len(contexts):
            until = self.warm_up - self.samples if self.warming_up else AT_ONCE
            part = slice(first, first + min(until, AT_ONCE))
            self._pass_through(contexts[part], rewards[part], arms[part])
            first += len(arms[part])
        return arms

    def _pass_through(self, contexts: Floats, rewards: Floats, arms: Integers) -> None:
        """The same within an arm's turn, or after all turns."""
        taking = self.taking_steps
        in_block = self.samples % self._block
        steps = self.step + np.arange((in_block + len(arms)) // self._block, dtype=np.float64)
        take_rounds(
            contexts,
            rewards,
            arms,
            (taking.start, taking.stop, self.step, in_block, self._block, self._lag),
            (self.warming_up, self._as_algorithm_2, self._logistic, self._ball.p > 1),
            (self._tolerance, self._bound, self.corners.clip, self._ball.radius, self._ball.dual),
            (self.coefficients, self._before, self.directions, self._gathered, self._known),
            (self.corners.kind, self.corners.strengths(steps), self.corners.noise(taking, steps)),
            self._generator,
        )
        self.clock += len(arms)
        if self.clock == self.arms * self.warm_up:
            self._known[:] = self.coefficients

    def decide(self, contexts: Floats) -> Integers:
        """The arms that people would be given now, once the warm-up is over."""
        arms = np.empty(len(contexts), dtype=np.int64)
        best_arms(contexts, self._known, self.coefficients, self._tolerance, self._logistic, arms)
        return arms

    def linked(self, margins: Floats) -> Floats:
        """ζ."""
        return np.asarray(1 / (1 + np.exp(-margins))) if self._logistic else margins


AT_ONCE = 1024
"""So many rounds have their noise drawn together."""


def _reach(world: World, p: float, radius: float, link: Link) -> float:
    """βD + L, with β the smoothness in the l_p norm: ζ′ ≤ 1 (logistic: ¼) times ‖x‖_q² in the dual norm."""
    length: float = world.context_bound * world.features ** (1 - 1 / p)
    if p == 2 and world.context_length is not None:
        length = world.context_length
    if link == "logistic":
        return length**2 / 4 * 2 * radius + length
    return length**2 * 2 * radius + length * (length * radius + 0.5)


# --- what the text proves


@dataclass(frozen=True)
class Theory:
    """The bounds of the text's Section 4 with all their constants, in a world as kind as can be by default.

    Two steps of its proofs do not hold. Assumption 4.3 makes the loss strongly convex in l_2; in l_1, as
    Lemma B.3 has it, λ would have to be divided by d, and the regret is not logarithmic in d. And γ, how far
    θ* is from the boundary, at most D/2, cannot be "chosen" to be at least 3·G_1/(2√2·μ).

    >>> kind = Theory(100, 100_000, 1.0, 1e-6)
    >>> [f"{name}: {least:.0e}" for name, least in kind.least_warm_ups.items() if least > 100_000]
    ['G_2²/ln: 4e+06', 'G_4/ln: 4e+08', 'C_in/(9 ln): 4e+06', 'B.3: 1e+10']
    """

    features: int
    horizon: int
    epsilon: float
    delta: float
    diameter: float = 1.0
    """D"""
    context_bound: float = 1.0
    """M"""
    steepest: float = 1.0
    """β ≥ ζ′"""
    flattest: float = 1.0
    """μ ≤ ζ′"""
    lipschitz: float = 1.0
    """L, and G, how far a gradient is from its mean"""
    eigenvalue: float = 1.0
    """λ of Assumption 4.3"""
    chance: float = 1.0
    """u of Assumption 4.2"""
    margin: float = 1.0
    """ν of Assumption 4.4"""
    gap: float = 1.0
    """h_sub"""
    alpha: float = 0.05
    """The chance that a bound fails"""

    def warm_up_error(self, alpha: float) -> float:
        """C_sc(α) of Lemma B.2, without the γ of Theorem 3.13: ‖θ − θ*‖₁ ≤ C_sc/√t in the warm-up."""
        d, n = self.features, self.horizon
        reach = self.steepest * self.diameter + self.lipschitz
        sampling = 8 * self.diameter * reach * sqrt(log(8 * d * n / alpha))
        noise = 16 * self.diameter * reach * log(4 * d * n / alpha) / self.epsilon
        noise *= sqrt(log(n) * log(1 / self.delta))
        convexity = self.chance * self.flattest * self.eigenvalue
        return 3 * (self.steepest * self.diameter**2 + sampling + noise) / sqrt(convexity)

    @cached_property
    def least_warm_ups(self) -> dict[str, float]:
        """What the end of Appendix B.1 and Lemma B.3 ask of t_0, each by the name that it has there."""
        d, n, beta, bound = self.features, self.horizon, self.steepest, self.context_bound
        diameter, failing = self.diameter, self.alpha / (2 * self.horizon)
        logarithm = log(d * n / self.alpha)
        known = self.warm_up_error(self.alpha)
        first = 2 * beta * diameter**2 * bound * self.margin / sqrt(self.flattest)
        noise = printed_scale(1, beta * diameter + self.lipschitz, diameter, n, self.epsilon, self.delta)
        second = noise * 4 * log(2 * d / failing)
        root = sqrt(log((d + n) / failing))
        third = diameter * (bound * diameter + beta) * root
        inner = max(4.0, 9 * log(d * n) / self.epsilon**2, 36 * (log(d * n) / (self.epsilon * first)) ** 2)
        inner = max(inner, self.eigenvalue * beta * self.flattest * known**2)
        fourth = 1.0
        for _ in range(50):  # the text's G_4 contains √t_0: the least t_0 ≥ G_4/ln, from below
            error = self.warm_up_error(failing / (2 * (d + fourth)))
            most = diameter * beta * (bound * diameter + error * (bound + root) * sqrt(fourth))
            fourth = max(1.0, (most + self.lipschitz * diameter**2 / 2) / logarithm)
        return {
            "G_1²": first**2,
            "G_2²/ln": second**2 / logarithm,
            "G_3²": third**2,
            "G_4/ln": fourth,
            "C_in/(9 ln)": inner / (9 * logarithm),
            "B.3": (known * 4 * beta * bound / self.gap) ** 2,
        }

    def gradient_bound(self, rounds: Floats, warm_up: int, distance: float | None = None) -> Floats:
        """What ‖d_t − ∇F_t(θ_t)‖_∞ is at most: Lemma A.7 in the warm-up, the whole of Lemma B.2 after it.

        `distance` is at least every ‖θ − θ*‖₁ after the warm-up, D if unknown. The text's α_1 = α(d + t_0)/2
        is read as α/(2(d + t_0)).
        """
        d, beta, bound, diameter = self.features, self.steepest, self.context_bound, self.diameter
        failing = self.alpha / (2 * (d + warm_up))
        reach = beta * diameter + self.lipschitz
        in_warm_up = 4 * reach * sqrt(log(4 * d / self.alpha)) / np.sqrt(rounds + 1)
        later = np.maximum(rounds - warm_up, 0.0) + np.log(np.maximum(rounds / max(warm_up, 1), 1.0))
        moved = 4 * self.margin * diameter * (diameter if distance is None else distance) * later
        jump = self.warm_up_error(failing)
        drift = 2 * bound * diameter * (1 + beta) / np.sqrt(rounds)
        drift = drift + (diameter + jump * beta * sqrt(warm_up)) / rounds
        after = bound * beta * diameter / (rounds + 1) + drift * sqrt(log(1 / failing))
        after = after + 4 * bound * diameter * sqrt(log(8 * d / self.alpha)) / np.sqrt(rounds + 1)
        start = 3 * self.warm_up_error(max(warm_up - 1, 1) * failing) * sqrt(warm_up + 1)
        after = after + beta * bound * (start + moved) / (rounds + 1)
        return np.where(rounds <= warm_up, in_warm_up, after)


@dataclass(frozen=True)
class GradientErrors:
    """‖d_t − ∇F_t(θ_t)‖_∞ of one arm, with the noise and without any, and ‖θ_t − θ*‖₁ with it."""

    rounds: Integers
    samples: Integers
    """How many the arm had by then, synthetic ones too."""
    noisy: Floats
    plain: Floats
    distances: Floats


def gradient_error(
    world: LinearWorld,
    horizon: int,
    epsilon: float,
    delta: float,
    *,
    noise: Literal["printed", "sound"] = "printed",
    arm: int = 0,
    marks: int = 40,
    judges: int = 20_000,
    seed: int = 0,
    **settings: Any,
) -> GradientErrors:
    """How far an arm's d_t is from what it estimates, ∇F_t(θ) = E[(ζ(X·θ) − r)·X; a_t = arm].

    F_t changes with every round, since what is played depends on all arms' estimates. ∇F_t is the mean over
    so many other people of the world; with p > 1, d is taken before the noise of its tree.

    >>> from discreet.lab.contextual import SparseWorld
    >>> errors = gradient_error(SparseWorld.drawn(10, seed=1), 3000, 1.0, 1e-6, warm_up=100, marks=10)
    >>> bool(errors.plain[-1] < errors.plain[0] / 5)
    True
    """
    jury = world.sample(judges, np.random.default_rng([seed, 4]))
    noisy = _errors(world, horizon, jury, arm, marks, seed, (epsilon, delta), noise, settings)
    # Sound noise vanishes where epsilon is the largest that is allowed, and steps stay on blocks.
    off: Noise = "none" if noise == "printed" else "sound"
    privacy = (epsilon if noise == "printed" else 1e6, delta)
    plain = _errors(world, horizon, jury, arm, marks, seed, privacy, off, settings)
    return GradientErrors(noisy.rounds, noisy.samples, noisy.noisy, plain.noisy, noisy.distances)


def _errors(
    world: LinearWorld,
    horizon: int,
    jury: People,
    arm: int,
    marks: int,
    seed: int,
    privacy: tuple[float, float],
    noise: Noise,
    settings: dict[str, Any],
) -> GradientErrors:
    bandit = GlmBandit(world, horizon, *privacy, noise=noise, seed=seed, **settings)
    warm_up, block = bandit.warm_up, settings.get("block", 1)
    last = warm_up + horizon - world.arms * warm_up
    samples = np.unique(np.geomspace(block, last, marks).astype(np.int64) // block * block)
    rounds = samples + np.where(samples <= warm_up, arm, world.arms - 1) * warm_up
    people, luck = np.random.default_rng([seed, 1]), np.random.default_rng([seed, 2])
    errors = np.empty((2, len(rounds)))
    for mark, until in enumerate(rounds):
        for count in (until - 1 - bandit.clock, 1):
            point = bandit.coefficients[arm].copy()
            played = bandit.warming_up | (bandit.decide(jury.contexts) == arm)
            contexts, means = world.sample(int(count), people)
            bandit.pass_through(contexts, all_rewards(world, means, luck))
        wanted = jury.means[:, arm] - (0.0 if settings.get("link") == "logistic" else 0.5)
        slopes = played * (bandit.linked(jury.contexts @ point) - wanted)
        gradient = slopes @ jury.contexts / len(slopes)
        errors[0, mark] = np.abs(bandit.directions[arm] - gradient).max()
        errors[1, mark] = np.abs(point - world.coefficients[arm]).sum()
    return GradientErrors(rounds, samples, errors[0], errors[0], errors[1])
