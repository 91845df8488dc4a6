"""If these fail, contextual bandits are compared with an unprinted algorithm."""

from itertools import product
from math import exp, log, sqrt
from typing import Any

import numpy as np
import pytest

from discreet.budget.privacy import Privacy
from discreet.errors import ConfigError
from discreet.optim.domains import LpBall
from discreet.papers.noise import generalised_gaussian
from discreet.papers.printed.glm_bandit import GlmBandit
from discreet.papers.printed.glm_steps import SoundCorners, SoundTree
from discreet.papers.printed.glm_theory import (
    Theory,
    printed_warm_up_by_order,
    printed_warm_up_by_theorem,
)
from discreet.papers.printed.promise import AnyNoise
from discreet.papers.printed.streaming_frank_wolfe_l1 import printed_scale
from discreet.release.randomness import seeded_bits
from discreet.simulate.problems.contexts import DenseWorld, LinearWorld, SparseWorld, TableWorld
from discreet.simulate.problems.contextual import play

pytestmark = pytest.mark.filterwarnings(
    "ignore::discreet.papers.printed.promise.PrintedNoiseWarning"
)

WORLD = SparseWorld.drawn(4, arms=3, relevant=2, seed=1)
LOGISTIC = SparseWorld.drawn(4, arms=3, relevant=2, link="logistic", reward="bernoulli", seed=1)
PEOPLE, T_0 = 40, 4


def people_of(world: LinearWorld, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Draw contexts, and the reward of every arm."""
    generator = np.random.default_rng(seed)
    contexts, means = world.sample(PEOPLE, generator)
    return contexts, (generator.random(means.shape) < means).astype(float)


class Box:
    """Algorithm 3 line by line in plain Python; subclasses choose the corner of a step."""

    def __init__(self, world: LinearWorld, h_sub: float) -> None:
        self.K, self.d = world.coefficients.shape
        self.logistic = world.link == "logistic"
        self.h_sub = h_sub
        self.theta = [np.zeros(self.d) for _ in range(self.K)]
        self.theta_before = [np.zeros(self.d) for _ in range(self.K)]
        self.direction = [np.zeros(self.d) for _ in range(self.K)]

    def zeta(self, z: float) -> float:
        return 1 / (1 + exp(-z)) if self.logistic else z

    def gradient(self, theta: np.ndarray, x: np.ndarray, r: float) -> np.ndarray:
        return (self.zeta(float(x @ theta)) - (r if self.logistic else r - 0.5)) * x

    def play(self, contexts: np.ndarray, rewards: np.ndarray) -> list[int]:
        played = []
        rounds = iter(zip(contexts, rewards, strict=True))
        for i in range(self.K):
            for s in range(1, T_0 + 1):
                x, r = next(rounds)
                played.append(i)
                self.step(i, s, s, x, r[i])
        warm = [theta.copy() for theta in self.theta]
        for t, (x, r) in enumerate(rounds, self.K * T_0 + 1):
            values = [self.zeta(float(x @ theta)) for theta in warm]
            pre_selected = [i for i in range(self.K) if values[i] > max(values) - self.h_sub / 2]
            a = max(pre_selected, key=lambda i: self.zeta(float(x @ self.theta[i])))
            played.append(a)
            nothing = np.zeros(self.d)
            for i in range(self.K):
                sample = (x, r[a]) if i == a else (nothing, self.zeta(0.0))
                self.step(i, t, T_0 + t - self.K * T_0, *sample)
        return played

    def step(self, i: int, printed_step: int, own_step: int, x: np.ndarray, r: float) -> None:
        raise NotImplementedError

    def move(self, i: int, corner: np.ndarray, step: int) -> None:
        self.theta_before[i] = self.theta[i]
        self.theta[i] = self.theta[i] + (corner - self.theta[i]) / (step + 1)


class BoxOfAlgorithm2(Box):
    """Steps by report-noisy-max with the printed scale; a scale of 0 is without noise."""

    def __init__(
        self, world: LinearWorld, h_sub: float, radius: float, scale: float, seed: int = 0
    ) -> None:
        super().__init__(world, h_sub)
        self.radius, self.scale = radius, scale
        self.generator = np.random.default_rng([seed, 3])

    def laplace(self) -> float:
        uniform = self.generator.random() - 0.5
        return float(-np.sign(uniform) * np.log(1 - 2 * abs(uniform)))

    def step(self, i: int, printed_step: int, own_step: int, x: np.ndarray, r: float) -> None:
        s = printed_step
        now = self.gradient(self.theta[i], x, r)
        if s == 1:
            self.direction[i] = now
        else:
            before = self.gradient(self.theta_before[i], x, r)
            self.direction[i] = now + (1 - 1 / (s + 1)) * (self.direction[i] - before)
        corners = [*(self.radius * np.eye(self.d)), *(-self.radius * np.eye(self.d))]
        products = [float(self.direction[i] @ corner) for corner in corners]
        if self.scale:
            products = [value + self.scale / sqrt(s) * self.laplace() for value in products]
        self.move(i, corners[int(np.argmin(products))], s)


class BoxOfAlgorithm1(Box):
    """Steps over a tree of each arm's own samples, with given noise of nodes."""

    def __init__(
        self, world: LinearWorld, h_sub: float, ball: LpBall, nodes: list[np.ndarray]
    ) -> None:
        super().__init__(world, h_sub)
        self.ball, self.nodes = ball, nodes
        self.sums = [np.zeros(self.d) for _ in range(self.K)]

    def step(self, i: int, printed_step: int, own_step: int, x: np.ndarray, r: float) -> None:
        s = own_step
        before = self.gradient(self.theta_before[i], x, r)
        self.sums[i] = self.sums[i] + (s + 1) * self.gradient(self.theta[i], x, r) - s * before
        noise, time = np.zeros(self.d), s
        while time:
            noise = noise + self.nodes[i][time - 1]
            time &= time - 1
        self.move(i, self.ball.corner((self.sums[i] + noise) / (s + 1)), s)


def check(box: Box, bandit: GlmBandit, world: LinearWorld) -> None:
    contexts, rewards = people_of(world)
    assert list(bandit.pass_through(contexts, rewards)) == box.play(contexts, rewards)
    assert bandit.coefficients == pytest.approx(np.array(box.theta))


# --- as printed


@pytest.mark.parametrize("world", [WORLD, LOGISTIC])
@pytest.mark.parametrize("noise", ["printed", "none"])
@pytest.mark.parametrize("gap", [0.05, 1.0])
def test_rounds_pass_as_in_the_printed_box(world: LinearWorld, noise: Any, gap: float) -> None:
    scale = (
        0.0
        if noise == "none"
        else 4 * 1.6 * _reach(world, 0.8) * sqrt(log(PEOPLE) * log(1e6)) / 100
    )
    bandit = GlmBandit(
        world, PEOPLE, 100.0, 1e-6, noise=noise, link=world.link, radius=0.8, gap=gap, warm_up=T_0
    )
    check(BoxOfAlgorithm2(world, gap, 0.8, scale), bandit, world)


def _reach(world: LinearWorld, radius: float) -> float:
    """βD + L with rows of at most 1 in every feature."""
    return 2 * radius / 4 + 1 if world.link == "logistic" else 2 * radius + radius + 0.5


@pytest.mark.parametrize(("noise", "p"), [("printed", 1.5), ("printed", 2.0), ("none", 1.3)])
def test_with_a_larger_p_rounds_pass_as_in_the_box_of_algorithm_1(noise: Any, p: float) -> None:
    ball = LpBall(4, p, 0.8)
    bandit = GlmBandit(
        WORLD, PEOPLE, 50.0, 1e-6, noise=noise, p=p, radius=0.8, gap=1.0, warm_up=T_0
    )
    q, levels = p / (p - 1), 7
    length = 4 ** (1 / q)
    reach = length**2 * 1.6 + length * (length * 0.8 + 0.5)
    sigma = sqrt(8 * levels**2 * (q - 1) * log(levels / 1e-6)) * reach / 50
    nodes = []
    for arm in range(3):
        bits = seeded_bits(0, arm)
        parts = (T_0, PEOPLE - 3 * T_0)  # as many as are drawn together
        drawn = [generalised_gaussian(4, sigma, q, bits, draws=count) for count in parts]
        nodes.append(np.concatenate(drawn) * (noise == "printed"))
    check(BoxOfAlgorithm1(WORLD, 1.0, ball, nodes), bandit, WORLD)


def test_the_constants_are_the_printed_ones() -> None:
    assert printed_warm_up_by_order(100, 100_000, 1.0) == 186
    assert printed_warm_up_by_order(100, 100_000, 0.5) == 743
    assert printed_scale(4, 2.0, 1.0, 100_000, 0.5, 1e-6) == pytest.approx(
        8 * sqrt(log(1e5) * log(1e6))
    )


def test_the_theorems_own_constants_need_more_rounds_than_the_horizon() -> None:
    """The conditions by hand, with D = M = β = μ = L = G = λ = u = ν = h = 1, ε = 1, α = .05."""
    root = sqrt(log(1e5) * log(1e6))

    def error(alpha: float) -> float:
        return 3 * (1 + 16 * sqrt(log(8e7 / alpha)) + 32 * log(4e7 / alpha) * root)

    found = Theory(100, 100_000, 1.0, 1e-6).least_warm_ups
    small = 0.05 / 2e5
    logarithm = log(1e7 / 0.05)
    assert found["G_1²"] == 4.0
    assert found["G_2²/ln"] == pytest.approx((8 * root * 4 * log(200 / small)) ** 2 / logarithm)
    assert found["G_3²"] == pytest.approx(4 * log(100_100 / small))
    t_0 = found["G_4/ln"]
    jump = error(small / (2 * (100 + t_0))) * (1 + sqrt(log(100_100 / small))) * sqrt(t_0)
    assert t_0 == pytest.approx((1 + jump + 0.5) / logarithm)
    assert found["C_in/(9 ln)"] == pytest.approx(error(0.05) ** 2 / (9 * logarithm))
    assert found["B.3"] == pytest.approx(16 * error(0.05) ** 2)
    assert printed_warm_up_by_theorem(100, 100_000, 1.0) == found["B.3"] > 5e7
    assert min(found["G_2²/ln"], t_0, found["C_in/(9 ln)"]) > 1e6


def test_the_printed_step_counter_gives_people_of_the_warm_up_k_times_their_weight() -> None:
    """Only the first person has a context: d_t holds K·t_0 + 1 parts of them, not t_0 + 1."""
    rows = np.zeros((60, 2))
    rows[0] = 1.0
    world = TableWorld.of(rows, np.array([1, 2] * 30), context_bound=1.0)
    weights = {}
    noises: tuple[AnyNoise, ...] = ("none", "sound")
    for noise in noises:
        bandit = GlmBandit(world, 60, 1e6, 1e-6, noise=noise, warm_up=5, clip=10.0)
        bandit.pass_through(rows, np.zeros((60, 3)))
        weights[noise] = bandit.directions[0, 0] / 0.5
    assert weights["none"] == pytest.approx(2 / 6 * 16 / 61)  # the 2 is the printed first branch
    assert weights["sound"] == pytest.approx(1 / (60 - 10))  # as many samples as the arm has had


# --- sound


@pytest.mark.parametrize("block", [1, 3])
def test_sound_steps_are_draws_of_the_exponential_mechanism_on_clipped_sums(block: int) -> None:
    contexts, rewards = people_of(WORLD)
    bandit = GlmBandit(
        WORLD,
        PEOPLE,
        50.0,
        1e-6,
        noise="sound",
        radius=0.8,
        gap=1.0,
        warm_up=T_0,
        block=block,
        clip=0.3,
    )
    arms = bandit.pass_through(contexts, rewards)
    draws = (T_0 + PEOPLE - 3 * T_0) // block
    rho = Privacy(50.0, 1e-6).budget.rho
    total = sum(1 / r for r in range(1, draws + 1))
    generator = np.random.default_rng([0, 3])
    theta, before, sums = (np.zeros((3, 4)) for _ in range(3))
    had = [0, 0, 0]
    for t, (x, arm) in enumerate(zip(contexts, arms, strict=True)):
        takes = [arm] if t < 3 * T_0 else [0, 1, 2]
        step = had[arm] // block + 1
        r = rewards[t, arm] - 0.5
        g = step * (x @ theta[arm] - r) * x - (step - 1) * (x @ before[arm] - r) * x
        sums[arm] += np.clip(g, -0.3, 0.3)
        for i in takes:
            had[i] += 1
            if had[i] % block == 0:
                step = had[i] // block
                rate = sqrt(rho / (total * step) / 2) / 0.3
                gumbel = -np.log(-np.log(generator.random(8)))
                drawn = int(np.argmax(rate * np.concatenate([-sums[i], sums[i]]) + gumbel))
                corner = np.zeros(4)
                corner[drawn % 4] = 0.8 if drawn < 4 else -0.8
                before[i] = theta[i]
                theta[i] = theta[i] + (corner - theta[i]) / (step + 1)
    assert bandit.coefficients == pytest.approx(theta)


def laws_of_corners(stream: list[tuple[float, float]], rho: float, clip: float) -> np.ndarray:
    """Return the probability of every sequence of corners, in the order of their draws.

    There are two arms, one feature, and one warm-up round per arm.
    """
    rounds = len(stream)
    draws = rounds - 1
    total = sum(1 / r for r in range(1, draws + 1))
    chances = []
    for sequence in product((1.0, -1.0), repeat=2 + 2 * (rounds - 2)):
        corners = iter(sequence)
        theta, before, sums, steps, chance = [0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0, 0], 1.0
        for t, (x, r) in enumerate(stream):
            arm = t if t < 2 else int(x * theta[1] > x * theta[0])
            takes = (t,) if t < 2 else (0, 1)
            s = steps[arm] + 1
            g = s * (x * theta[arm] - r) * x - (s - 1) * (x * before[arm] - r) * x
            sums[arm] += min(clip, max(-clip, g))
            for i in takes:
                steps[i] += 1
                rate = sqrt(rho / (total * steps[i]) / 2) / clip
                corner = next(corners)
                chance *= 1 / (1 + exp(2 * rate * sums[i] * corner))
                before[i] = theta[i]
                theta[i] += (corner - theta[i]) / (steps[i] + 1)
        chances.append(chance)
    return np.array(chances)


def spent(one: np.ndarray, two: np.ndarray) -> float:
    """Return the ρ of zCDP between two laws: the largest of D_α/α."""
    rho = 0.0
    for alpha in (1.01, 1.5, 2.0, 4.0, 8.0, 16.0, 32.0):
        moment = float(np.sum(one**alpha * two ** (1 - alpha)))
        rho = max(rho, log(moment) / (alpha - 1) / alpha)
    return rho


def test_sound_noise_is_as_private_as_stated_by_enumeration() -> None:
    """All sequences of corners for four people, of whom one, in any place, is replaced."""
    rho, clip = 0.1, 0.5
    kinds = list(product((-1.0, 1.0), (-0.5, 0.5)))
    highest = 0.0
    for place in range(4):
        for others in product(kinds, repeat=3):
            streams = [[*others[:place], kind, *others[place:]] for kind in kinds]
            laws = [laws_of_corners(stream, rho, clip) for stream in streams]
            assert sum(laws[0]) == pytest.approx(1.0)
            highest = max(
                highest, *(spent(one, two) for one, two in product(laws, laws) if one is not two)
            )
    assert 0.85 * rho < highest <= rho  # some people nearly spend it


def test_sound_rates_add_up_to_the_budget() -> None:
    corners = SoundCorners(0.024, 0.25, 100, 30)
    rates = corners.rates(np.arange(1.0, 31.0))
    assert np.sum((4 * 0.25 * rates) ** 2 / 8) == pytest.approx(0.024)
    assert rates[3] == pytest.approx(rates[0] / 2)
    assert corners.strengths(np.array([2.0])) == pytest.approx(rates[1] * 200)
    with pytest.raises(ConfigError, match="all 30 draws per arm have been made"):
        corners.strengths(np.array([31.0]))


def test_a_sound_tree_has_gaussian_nodes_calibrated_for_its_levels() -> None:
    tree = SoundTree(LpBall(4, 2.0), 1, 0.02, 0.5, 10, 100, seed=3)
    assert tree.deviation == pytest.approx(2 * 0.5 * sqrt(7 / 0.04))
    steps = np.arange(1.0, 101.0)
    noise = tree.noise(range(1), steps)[0]
    leaves = noise[::2] - np.concatenate([np.zeros((1, 4)), noise[1::2]])[:50]
    assert np.std(leaves) == pytest.approx(tree.deviation, rel=0.15)
    assert (tree.strengths(steps) == 10 * steps).all()
    bandit = GlmBandit(
        DenseWorld.drawn(5, 2), 5000, 1e6, 1e-6, noise="sound", p=2.0, warm_up=500, block=50
    )
    assert play(DenseWorld.drawn(5, 2), bandit, 5000) < 0.5


# --- in all


def test_at_a_usual_epsilon_printed_noise_has_the_regret_of_uniform_play_and_sound_less() -> None:
    world = SparseWorld.drawn(20, seed=1)
    horizon = 20_000

    def regret(**settings: Any) -> float:
        bandit = GlmBandit(world, horizon, 1.0, 1e-6, **settings)
        return play(world, bandit, horizon)

    assert regret(noise="none") < 0.2
    assert 0.6 < regret(noise="printed") < 1.3
    assert regret(noise="sound", block=1300, warm_up=660, clip=0.12, gap=2.0) < 0.35


def test_the_division_of_people_into_pieces_does_not_matter() -> None:
    contexts, rewards = people_of(WORLD)
    for settings in ({"noise": "printed"}, {"noise": "sound", "block": 7}):
        whole, pieces = (
            GlmBandit(WORLD, PEOPLE, 9.0, 1e-6, warm_up=T_0, **settings) for _ in range(2)
        )
        arms = whole.pass_through(contexts, rewards)
        parts = [slice(0, 5), slice(5, 6), slice(6, 31), slice(31, 40)]
        assert (
            np.concatenate([pieces.pass_through(contexts[p], rewards[p]) for p in parts]) == arms
        ).all()
        assert (pieces.coefficients == whole.coefficients).all()


def test_what_was_not_printed_is_refused() -> None:
    with pytest.raises(ConfigError, match="p must be a number between 1 and 2, got 3"):
        GlmBandit(WORLD, 10, 1.0, 1e-6, p=3)
    with pytest.raises(ConfigError, match="1 unless the noise is sound, got 5"):
        GlmBandit(WORLD, 10, 1.0, 1e-6, noise="printed", block=5)
    with pytest.raises(ConfigError, match="gap must be a number between 1e-09 and"):
        GlmBandit(WORLD, 10, 1.0, 1e-6, gap=0)
