"""Which arm, given the context, as printed (Algorithm 3): recursive Frank–Wolfe, one private copy
an arm.

    warm up: for each arm i = 1 … K in turn, t_0 times:
        play arm i and see the reward r; the arm takes its next step with the sample (X, r)
    in round t = K·t_0 + 1 … T:
        K̂ = {i : ζ(X·θ_{t_0,i}) > max_j ζ(X·θ_{t_0,j}) − h_sub/2}, which the warm-up does not rule
        out play the arm a in K̂ with the largest ζ(X·θ_a) and see the reward r arm a takes step t
        with the sample (X, r), every other arm with the synthetic sample (0, ζ(0))
    step s with a sample (x, r) (Algorithm 2), where ∇f(θ) = (ζ(x·θ) − r)·x:
        d_1 = ∇f(θ_1), and then d_s = ∇f(θ_s) + (1 − 1/(s + 1))(d_{s−1} − ∇f(θ_{s−1}))
        v_s = the corner v of the l_1 ball with the least ⟨d_s, v⟩ + Laplace noise
        θ_{s+1} = θ_s + (v_s − θ_s)/(s + 1)

A synthetic sample has no gradient: its step only shrinks d. With 1 < p ≤ 2 the steps are those of
Algorithm 1: d_s is a noisy sum over a tree, divided by s + 1, and v_s has the least ⟨d_s, v⟩ in the
l_p ball. With the identity link a reward is taken as r − ½, since ζ(0) = 0 leaves no room for an
offset.

Symbols     X the context, ‖X‖_∞ ≤ M; ζ the link, ζ′ ≤ β; θ_i an arm's coefficients, in a ball of diameter D;
            ‖∇f‖ ≤ L; t_0 the warm-up; h_sub the gap; K arms, d features, T the horizon
Printed     scale 4D(βD + L)√(ln T · ln(1/δ))/(ε√s) of the noise of a corner; t_0 = ln(dT)·ln T/ε² by order
Verdict     for replace-one neighbours rewards need a bound (here they are clipped), and the "t-th step" of
            line 17, taken by an arm with t_0 + t − K·t_0 samples, leaves the people of the warm-up
            with K times the weight of the proof; the first branch d_1 = ∇f doubles the first
            person's if L > βD What the text proves of it is in
            discreet/papers/printed/glm_theory.py.
Sound       noise="sound" covers all this: discreet/papers/printed/glm_steps.py says why
Runtime     O(K·d) a round, or a block; memory O(K·d)
References  Han et al. (2022), "Optimal Private Streaming SCO in l_p-geometry with Applications in High
            Dimensional Online Decision Making", Algorithms 1 to 3
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
    "warm-up "
    "weigh K times what the printed noise covers; rewards need a bound",
    epsilon=epsilon_of_warm_up(5, 186, 100_000, 1.0, 1e-6),
)


@dataclass(frozen=True)
class Shape:
    """What the algorithm must know of people beforehand: no feature exceeds M (`context_bound`)."""

    features: int
    arms: int
    context_bound: float = 1.0
    context_length: float | None = None


# --- the algorithm


class GlmBandit:
    """Algorithm 3 (see the head of this file), with sound noise or as printed, for `play`.

    A person adds g = (s + l)·∇f(θ_s) − (s + l − 1)·∇f(θ_{s−1}) to their arm's sum in its step s,
    and d_s is that sum over s + l. As printed l = 1, which counts θ_0's gradient once too often;
    "sound" has l = 0 and no bias, takes steps on blocks of people, and counts an arm's own steps.

    Parameters
    ----------
    world
        What it says of contexts and arms is used, nothing else.
    noise
        "sound"; "printed"; or "none", which is the printed algorithm without any. `guarantee` says
        what it promises.
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
        self.coefficients, self.directions, self._before, self._aggregate, self._known = np.zeros(
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
        constants = _constants(world, p, radius, link)
        spent = 0.0
        self.corners: Corners
        if noise == "sound":
            rho = Privacy(epsilon, delta).budget.rho
            self.corners = (
                SoundCorners(rho, clip, block, steps)
                if p == 1
                else SoundTree(self._ball, world.arms, rho, clip, block, steps, seed)
            )
        elif p == 1:
            scale = printed_scale(1, constants.reach, 2 * radius, horizon, epsilon, delta)
            self.corners = PrintedCorners(scale if noise == "printed" else 0.0)
            louder = max(
                1.0, 2 * constants.lipschitz / constants.reach
            )  # an arm's first person, if L > βD
            spent = epsilon_of_warm_up(world.arms, self.warm_up, horizon, louder * epsilon, delta)
        else:
            kappa = corrected_regularity(p, world.features).kappa
            deviation = printed_deviation(kappa, constants.reach, horizon, epsilon, delta)
            self.corners = PrintedTree(
                self._ball, world.arms, deviation if noise == "printed" else 0.0, seed
            )
            spent = epsilon_spent(kappa, constants.reach, deviation, horizon, delta)
        self.guarantee = promise(
            noise, epsilon, delta, lambda: spent, accepted=get_args(AnyNoise), notion="joint DP"
        )

    @property
    def warming_up(self) -> bool:
        """Whether arms are played in turn."""
        return self.clock < self.arms * self.warm_up

    @property
    def taking_steps(self) -> range:
        """The arms that get a sample, real or synthetic: the one in turn, and after the warm-up
        all.
        """
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
            (self.coefficients, self._before, self.directions, self._aggregate, self._known),
            (self.corners.kind, self.corners.strengths(steps), self.corners.noise(taking, steps)),
            self._generator,
        )
        self.clock += len(arms)
        if self.clock == self.arms * self.warm_up:
            self._known[:] = self.coefficients


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
    """The arm of every person, for any stream: a context and what each arm would bring, one row per
    person.

    Only the reward of the arm that is played is looked at. `settings` are those of `GlmBandit`.

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
"""So many rounds have their noise drawn together."""


def _constants(world: World | Shape, p: float, radius: float, link: Link) -> Constants:
    """L, β and D, with β the smoothness in the l_p norm: ζ′ ≤ 1 (logistic: ¼) times ‖x‖_q², its
    dual.
    """
    length: float = world.context_bound * world.features ** (1 - 1 / p)
    if p == 2 and world.context_length is not None:
        length = world.context_length
    if link == "logistic":
        return Constants(length, length**2 / 4, 2 * radius)
    return Constants(length * (length * radius + 0.5), length**2, 2 * radius)
