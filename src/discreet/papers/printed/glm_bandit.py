"""GLM bandit as printed (Algorithm 3): contextual arms by one private Frank–Wolfe copy per arm.

    warm up: for each arm i = 1 … K in turn, t_0 times:
        play arm i and see the reward r; the arm takes its next step with the sample (X, r)
    in round t = K·t_0 + 1 … T:
        K̂ = {i : ζ(X·θ_{t_0,i}) > max_j ζ(X·θ_{t_0,j}) − h_sub/2}, the arms that the warm-up does
        not rule out
        play the arm a in K̂ with the largest ζ(X·θ_a) and see the reward r
        arm a takes step t with the sample (X, r), every other arm with the synthetic sample
        (0, ζ(0))
    step s with a sample (x, r) (Algorithm 2), where ∇f(θ) = (ζ(x·θ) − r)·x:
        d_1 = ∇f(θ_1), and then d_s = ∇f(θ_s) + (1 − 1/(s + 1))(d_{s−1} − ∇f(θ_{s−1}))
        v_s = the corner v of the l_1 ball with the least ⟨d_s, v⟩ + Laplace noise
        θ_{s+1} = θ_s + (v_s − θ_s)/(s + 1)

A synthetic sample has no gradient: its step only shrinks d. With 1 < p ≤ 2 the steps are those of
Algorithm 1: d_s is a noisy sum over a tree, divided by s + 1, and v_s has the least ⟨d_s, v⟩ in the
l_p ball. With the identity link a reward counts as r − ½, since ζ(0) = 0 leaves no room for an
offset.

Symbols     X the context, ‖X‖_∞ ≤ M; ζ the link, ζ′ ≤ β; θ_i an arm's coefficients, in a ball of
            diameter D; ‖∇f‖ ≤ L; t_0 the warm-up; h_sub the gap; K arms, d features, T the horizon
Printed     scale 4D(βD + L)√(ln T · ln(1/δ))/(ε√s) of the noise of a corner;
            t_0 = ln(dT)·ln T/ε² by order. The theorems are in
            discreet/papers/printed/glm_theory.py
Verdict     not private as printed: for replace-one neighbours rewards need a bound (here they are
            clipped), and the "t-th step" of line 17, taken by an arm with t_0 + t − K·t_0 samples,
            leaves the people of the warm-up with K times the weight of the proof; the first branch
            d_1 = ∇f doubles the weight of the first person if L > βD
Sound       rates and noise that cover all of this, derived in discreet/papers/printed/glm_steps.py
Runtime     O(K·d) per round or block; memory O(K·d)
References  Han et al. (2022), "Optimal Private Streaming SCO in l_p-geometry with Applications in
            High Dimensional Online Decision Making", Algorithms 1 to 3
"""

from dataclasses import dataclass
from typing import Any, get_args

import numpy as np

from discreet import require
from discreet.arrays import Floats, Integers
from discreet.budget.privacy import Privacy
from discreet.errors import ConfigError
from discreet.optim.domains import LpBall
from discreet.papers.printed.arguments import checked
from discreet.papers.printed.glm_steps import (
    Corners,
    PrintedCorners,
    PrintedTree,
    SoundCorners,
    SoundTree,
    take_rounds,
)
from discreet.papers.printed.glm_theory import epsilon_of_warm_up, printed_warm_up_by_order
from discreet.papers.printed.lp_geometry import Constants, corrected_regularity
from discreet.papers.printed.promise import AnyNoise, Played, needs_delta, promise
from discreet.papers.printed.streaming_frank_wolfe import epsilon_spent, printed_deviation
from discreet.papers.printed.streaming_frank_wolfe_l1 import printed_scale
from discreet.papers.printed.verdict import Verdict
from discreet.simulate.problems.contexts import Link, World

VERDICT = Verdict(
    private=False,
    text="after the warm-up line 17 runs step t with t_0 + t − K·t_0 samples, so people of the "
    "warm-up weigh K times what the printed noise covers; rewards need a bound",
    epsilon=epsilon_of_warm_up(5, 186, 100_000, 1.0, 1e-6),
)


@dataclass(frozen=True)
class Shape:
    """Public facts about the people: numbers of features and arms, and bounds of contexts.

    No feature exceeds M (`context_bound`); `context_length` bounds the l_2 length of a context.
    """

    features: int
    arms: int
    context_bound: float = 1.0
    context_length: float | None = None


# --- the algorithm


class GlmBandit:
    """Algorithm 3 of the module's docstring, with sound noise, as printed or without noise.

    A person adds g = (s + l)·∇f(θ_s) − (s + l − 1)·∇f(θ_{s−1}) to their arm's sum in its step s,
    and d_s is that sum over s + l. As printed l = 1, which counts θ_0's gradient once too often;
    "sound" has l = 0 and no bias, takes steps on blocks of people, and counts an arm's own steps.

    Parameters
    ----------
    world
        Source of the numbers of features and arms and of the bounds of contexts; nothing else of it
        is used.
    noise
        "sound", "printed", or "none": the printed algorithm without noise. `guarantee` states the
        privacy of the run.
    p, radius
        An arm's coefficients lie in the l_p ball of this radius, D/2.
    warm_up
        t_0; by default the printed order, `printed_warm_up_by_order`.
    gap
        h_sub.
    block
        Number of people per step, with sound noise.
    clip
        Bound of each person's g, with sound noise.

    Examples
    --------
    >>> from discreet.simulate.problems.contexts import SparseWorld
    >>> from discreet.simulate.problems.contextual import play
    >>> world = SparseWorld.drawn(10, seed=1)
    >>> sound = GlmBandit(world, 2000, 1.0, 1e-6, warm_up=50)
    >>> sound.guarantee
    'sound noise: joint DP with ε = 1, δ = 1e-06 (simulated: seeded, in floating point)'
    >>> hardly_private = GlmBandit(world, 2000, 1e4, 1e-6, warm_up=50)
    >>> play(world, hardly_private, 2000) < 0.5 < play(world, sound, 2000)
    True
    """

    @checked
    def __init__(
        self,
        world: World | Shape,
        horizon: int,
        epsilon: float,
        delta: float,
        *,
        noise: AnyNoise = "sound",
        link: Link = "identity",
        p: float = 1.0,
        radius: float = 0.5,
        warm_up: int | None = None,
        gap: float = 0.2,
        block: int = 1,
        clip: float = 0.5,
        seed: int = 0,
    ) -> None:
        require.one_of("noise", noise, get_args(AnyNoise))
        require.one_of("link", link, get_args(Link))
        needs_delta(delta)
        if block > 1 and noise != "sound":
            raise ConfigError(f"block must be 1 unless the noise is sound, got {block!r}")
        order = printed_warm_up_by_order(world.features, horizon, epsilon)
        self.warm_up = min(order if warm_up is None else warm_up, horizon // world.arms)
        self.arms = world.arms
        self.clock = 0
        shape = (world.arms, world.features)
        self.coefficients = np.zeros(shape)
        """θ_s of every arm."""
        self.directions = np.zeros(shape)
        """d_s of every arm."""
        self._before = np.zeros(shape)
        self._aggregate = np.zeros(shape)
        self._warmed_up = np.zeros(shape)
        self._block = block
        self._logistic = link == "logistic"
        self._tolerance = gap / 2
        self._bound = world.context_bound
        self._lag = 0 if noise == "sound" else 1
        self._as_algorithm_2 = noise != "sound" and p == 1
        self._ball = LpBall(world.features, p, radius)
        self._generator = np.random.default_rng([seed, 3])
        constants = _constants(world, p, radius, link)
        spent = 0.0
        self.corners: Corners
        if noise == "sound":
            self.corners = self._sound_corners(horizon, Privacy(epsilon, delta), clip, seed)
        elif p == 1:
            scale = printed_scale(1, constants.reach, 2 * radius, horizon, epsilon, delta)
            self.corners = PrintedCorners(scale if noise == "printed" else 0.0)
            spent = _epsilon_as_printed(
                constants, world.arms, self.warm_up, horizon, epsilon, delta
            )
        else:
            kappa = corrected_regularity(p, world.features).kappa
            deviation = printed_deviation(kappa, constants.reach, horizon, epsilon, delta)
            drawn = deviation if noise == "printed" else 0.0
            self.corners = PrintedTree(self._ball, world.arms, drawn, seed)
            spent = epsilon_spent(kappa, constants.reach, deviation, horizon, delta)
        self.guarantee = promise(
            noise, epsilon, delta, lambda: spent, accepted=get_args(AnyNoise), notion="joint DP"
        )

    def _sound_corners(self, horizon: int, privacy: Privacy, clip: float, seed: int) -> Corners:
        """Return the corners with sound noise for all steps that an arm may take."""
        rho = privacy.budget.rho
        samples = self.warm_up + horizon - self.arms * self.warm_up
        steps = max(1, samples // self._block)
        if self._ball.p == 1:
            return SoundCorners(rho, clip, self._block, steps)
        return SoundTree(self._ball, self.arms, rho, clip, self._block, steps, seed)

    @property
    def warming_up(self) -> bool:
        """Whether the warm-up, in which arms are played one after the other, still lasts."""
        return self.clock < self.arms * self.warm_up

    @property
    def taking_steps(self) -> range:
        """The arms that get a sample, real or synthetic: one during the warm-up, then all."""
        if not self.warming_up:
            return range(self.arms)
        arm = self.clock // self.warm_up
        return range(arm, arm + 1)

    @property
    def samples(self) -> int:
        """Number of samples that each of these arms has had."""
        if self.warming_up:
            return self.clock % self.warm_up
        return self.warm_up + self.clock - self.arms * self.warm_up

    @property
    def step(self) -> int:
        """Number of the next step; in line 17 it is the number of the round."""
        if self._as_algorithm_2 and not self.warming_up:
            return self.clock + 1
        return self.samples // self._block + 1

    def pass_through(self, contexts: Floats, rewards: Floats) -> Integers:
        """Play all people in their order and return their arms."""
        arms = np.empty(len(contexts), dtype=np.int64)
        first = 0
        while first < len(contexts):
            until = self.warm_up - self.samples if self.warming_up else AT_ONCE
            part = slice(first, first + min(until, AT_ONCE))
            self._pass_through(contexts[part], rewards[part], arms[part])
            first += len(arms[part])
        return arms

    def _pass_through(self, contexts: Floats, rewards: Floats, arms: Integers) -> None:
        """Play people who all come during one arm's warm-up, or all after the warm-up."""
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
            (self.coefficients, self._before, self.directions, self._aggregate, self._warmed_up),
            (self.corners.kind, self.corners.strengths(steps), self.corners.noise(taking, steps)),
            self._generator,
        )
        self.clock += len(arms)
        if self.clock == self.arms * self.warm_up:
            self._warmed_up[:] = self.coefficients


@checked
def play(
    contexts: Floats,
    rewards: Floats,
    epsilon: float,
    delta: float,
    *,
    context_bound: float = 1.0,
    seed: int = 0,
    **settings: Any,
) -> Played:
    """Run Algorithm 3 on a stream and return the arm of every person.

    Parameters
    ----------
    contexts, rewards
        One row per person: the context, and the reward of each arm. Only the reward of the played
        arm is read.
    settings
        Further settings of `GlmBandit`.

    Examples
    --------
    >>> contexts = np.random.default_rng(1).uniform(-1, 1, size=(400, 3))
    >>> rewards = 0.5 + 0.5 * np.stack([contexts[:, 0], -contexts[:, 0]], axis=1)
    >>> arms = play(contexts, rewards, 1e5, 1e-6, warm_up=50).decisions
    >>> bool(np.mean(arms[200:] == (contexts[200:, 0] < 0)) > 0.9)
    True
    """
    shape = Shape(contexts.shape[1], rewards.shape[1], context_bound)
    bandit = GlmBandit(shape, len(contexts), epsilon, delta, seed=seed, **settings)
    arms = bandit.pass_through(
        np.ascontiguousarray(contexts, dtype=np.float64),
        np.ascontiguousarray(rewards, dtype=np.float64),
    )
    return Played(arms, bandit.guarantee)


AT_ONCE = 1024
"""Number of rounds whose noise is drawn together."""


def _epsilon_as_printed(
    constants: Constants, arms: int, warm_up: int, horizon: int, epsilon: float, delta: float
) -> float:
    """Return the ε of the printed noise in l_1, for the person on whom it protects least."""
    first_person = max(1.0, 2 * constants.lipschitz / constants.reach)  # above 1 if L > βD
    return epsilon_of_warm_up(arms, warm_up, horizon, first_person * epsilon, delta)


def _constants(world: World | Shape, p: float, radius: float, link: Link) -> Constants:
    """Return L, β and D; the smoothness β in l_p is ζ′ ≤ 1 (logistic: ¼) times ‖x‖_q²."""
    length: float = world.context_bound * world.features ** (1 - 1 / p)
    if p == 2 and world.context_length is not None:
        length = world.context_length
    if link == "logistic":
        return Constants(length, length**2 / 4, 2 * radius)
    return Constants(length * (length * radius + 0.5), length**2, 2 * radius)
