"""If these fail, noisy continuous greedy is compared with an unprinted algorithm."""

from itertools import combinations, product
from math import e, log, sqrt
from typing import Any

import numpy as np
import pytest

from discreet.arrays import Floats
from discreet.budget.conversion import epsilon_of
from discreet.domains import (
    GraphicMatroid,
    Knapsack,
    LaminarMatroid,
    PartitionMatroid,
    UniformMatroid,
)
from discreet.errors import ConfigError
from discreet.functions import (
    ClickModel,
    ConcaveOverModular,
    FacilityLocation,
    Nearby,
    Types,
    WeightedCoverage,
)
from discreet.functions.sets import SetFunctions
from discreet.papers.printed.dpcg import (
    Calibration,
    Law,
    best_point,
    drawn_noise,
    largest_sum,
    run,
    utility_bound,
)
from discreet.papers.printed.population import Population
from discreet.papers.printed.promise import Noise

pytestmark = pytest.mark.filterwarnings(
    "ignore::discreet.papers.printed.promise.PrintedNoiseWarning"
)

PEOPLE = np.array([[0.9, 0.3, 0.0, 0.5], [0.2, 0.6, 0.7, 0.1], [0.4, 0.4, 0.1, 0.8]])
COVERS = ((1, 1, 0, 0), (0, 1, 1, 0), (0, 0, 1, 1), (1, 0, 0, 1))
SITES = ((0.1, 0.1), (0.9, 0.1), (0.5, 0.5), (0.2, 0.8))
DOMAINS: list[Any] = [
    UniformMatroid(4, 2),
    PartitionMatroid((0, 0, 1, 1), (1, 1)),
    LaminarMatroid(((0, 1, 2), (0, 1)), (2, 1), 4),
    GraphicMatroid(((0, 1), (1, 2), (2, 0), (2, 3))),
    Knapsack((1.0, 0.5, 0.4, 0.9), 1.5),
]


def worth(kind: str, row: Floats, chosen: tuple[int, ...]) -> float:
    """Return the value of a set to one person, from the families' definitions."""
    if not chosen:
        return 0.0
    if kind == "clicks":
        return float(1 - np.prod([1 - row[item] for item in chosen]))
    if kind == "best":
        return float(max(row[item] for item in chosen))
    if kind == "cap":
        return float(min(1.0, sum(row[item] for item in chosen)))
    weights = row / max(1.0, row.sum())
    covered = [topic for topic in range(4) if any(COVERS[item][topic] for item in chosen)]
    return float(weights[covered].sum())


def extension_slope(kind: str, people: Floats, point: Floats) -> Floats:
    """∂f/∂x_i = Σ over sets R of P(R)·(F(R + i) − F(R − i)), set by set."""
    slope = np.zeros(4)
    for size in range(5):
        for chosen in combinations(range(4), size):
            chance = np.prod([point[i] if i in chosen else 1 - point[i] for i in range(4)])
            for item in range(4):
                rest = tuple(other for other in chosen if other != item)
                slope[item] += chance * sum(
                    worth(kind, row, (*rest, item)) - worth(kind, row, rest) for row in people
                )
    return slope


FAMILIES = [
    ("clicks", ClickModel()),
    ("best", FacilityLocation()),
    ("topics", WeightedCoverage(COVERS)),
]


@pytest.mark.parametrize(("kind", "family"), FAMILIES, ids=[kind for kind, _ in FAMILIES])
def test_gradients_are_those_of_the_multilinear_extension(kind: str, family: Any) -> None:
    population = Population(PEOPLE, family, 4)
    for point in ([0.0] * 4, [1.0] * 4, [0.3, 0.6, 0.0, 1.0]):
        expected = extension_slope(kind, PEOPLE, np.array(point))
        assert population.gradient(np.array(point)) == pytest.approx(expected)
    for chosen in ([], [2], [0, 3], [3, 1, 2]):
        total = sum(worth(kind, row, tuple(chosen)) for row in PEOPLE)
        assert population.value(chosen) == pytest.approx(total)


def test_other_families_are_sampled_and_exact_at_corners() -> None:
    population = Population(PEOPLE, ConcaveOverModular(), 4, sets=4000, seed=1)
    for corner in product([0.0, 1.0], repeat=4):
        expected = extension_slope("cap", PEOPLE, np.array(corner))
        assert population.gradient(np.array(corner)) == pytest.approx(expected)
    inside = np.array([0.3, 0.6, 0.1, 0.5])
    # Four standard deviations of the mean of 4000 sums of three numbers in [0, 1] are at most 0.1.
    assert population.gradient(inside) == pytest.approx(
        extension_slope("cap", PEOPLE, inside), abs=0.1
    )


def test_places_and_types_are_people_who_use_the_best_item() -> None:
    homes = np.array([[0.2, 0.3], [0.7, 0.6]])
    worths = [
        [max(0.0, 1 - np.hypot(*(home - site)) / 0.6) for site in np.array(SITES)] for home in homes
    ]
    nearby = Population(homes, Nearby(SITES, 0.6, ((0.0, 1.0), (0.0, 1.0))), 4)
    point = np.array([0.2, 0.9, 0.4, 0.0])
    assert nearby.gradient(point) == pytest.approx(extension_slope("best", np.array(worths), point))
    types = Population(np.array([1, 0, 1]), Types(((0.1, 0.9), (0.6, 0.4))), 2)
    assert len(types) == 3
    assert types.value([0]) == pytest.approx(1.3)


def test_clipped_gradients_have_their_direction_and_at_most_the_clip_length() -> None:
    one = Population(PEOPLE[:1], ClickModel(), 4)
    whole = one.gradient(np.zeros(4))
    assert one.gradient(np.zeros(4), norm=2, clip=0.5) == pytest.approx(
        whole * 0.5 / np.linalg.norm(whole)
    )
    assert one.gradient(np.zeros(4), norm=1, clip=0.5) == pytest.approx(whole * 0.5 / whole.sum())
    assert one.gradient(np.zeros(4), clip=9.0) == pytest.approx(whole)


# --- the box


def vertices(domain: Any) -> list[Floats]:
    """Return all feasible sets; for the knapsack also those with a part of one more item."""
    corners = []
    for size in range(5):
        for chosen in combinations(range(4), size):
            if domain.contains(list(chosen)):
                corner = np.zeros(4)
                corner[list(chosen)] = 1.0
                corners.append(corner)
                if isinstance(domain, Knapsack):
                    costs = np.array(domain.costs)
                    for item in set(range(4)) - set(chosen):
                        filled = corner.copy()
                        filled[item] = min(1.0, (1.5 - costs @ corner) / costs[item])
                        corners.append(filled)
    return corners


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: type(domain).__name__)
@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_the_path_is_that_of_the_printed_box(domain: Any, law: Any) -> None:
    steps, noise_of_run = 5, np.random.default_rng(3)
    scale = 2 * steps * 4 if law == "laplace" else 2 * sqrt(2 * log(1.25 * steps / 0.1)) * steps * 2
    noise = drawn_noise(law, scale, (steps, 4), noise_of_run)
    corners = vertices(domain)
    people = np.tile(PEOPLE, (20, 1))
    point = np.zeros(4)
    for row in noise:
        weights = extension_slope("clicks", people, point) + row
        point = point + max(corners, key=lambda corner: float(corner @ weights)) / steps
    delta = 0.0 if law == "laplace" else 0.1
    found = run(
        people, ClickModel(), domain, 1.0, delta, law=law, noise="printed", steps=steps, seed=3
    )
    assert found.steps == steps
    assert found.scale == pytest.approx(scale)
    assert found.point == pytest.approx(point)
    assert found.path[0].tolist() == [0.0] * 4
    assert domain.contains(found.chosen)


def test_items_with_negative_weights_stay_out_of_corners() -> None:
    weights = np.array([-2.0, 3.0, -1.0, 0.5])
    for domain in DOMAINS:
        most = max(float(corner @ weights) for corner in vertices(domain))
        assert best_point(domain, weights) @ weights == pytest.approx(most)


def test_with_negligible_noise_the_best_items_are_found() -> None:
    likes = np.tile([0.1, 0.9, 0.2, 0.7], (50, 1))
    laws: list[tuple[Law, float]] = [("laplace", 0.0), ("gaussian", 1e-6)]
    noises: list[Noise] = ["printed", "sound"]
    for (law, delta), noise in product(laws, noises):
        found = run(
            likes, ClickModel(), UniformMatroid(4, 2), 1e4, delta, law=law, noise=noise, steps=4
        )
        assert found.chosen == [1, 3]


# --- the constants


def test_printed_scales_by_hand() -> None:
    # λ = 2K|V|Δ/ε and 4√(2K ln(1/δ))|V|Δ/ε; σ = 2cK√|V|Δ/ε with c = √(2 ln(1.25K/δ))
    assert Calibration("laplace", "printed", 100, 0.5).scale(3) == pytest.approx(2 * 3 * 100 / 0.5)
    assert Calibration("laplace", "printed", 100, 0.5, 1e-5).scale(3) == pytest.approx(
        4 * sqrt(6 * log(100_000)) * 100 / 0.5
    )
    assert Calibration("gaussian", "printed", 100, 0.5, 1e-5).scale(3) == pytest.approx(
        2 * sqrt(2 * log(375_000)) * 3 * 10 / 0.5
    )


def test_sound_scales_by_hand() -> None:
    # ρ(1, 1e-6) = 0.024356: σ = √|V|·√(K/2ρ), with clipped gradients √2·C·√(K/2ρ)
    assert Calibration("gaussian", "sound", 100, 1.0, 1e-6).scale(4) == pytest.approx(
        90.618, rel=1e-4
    )
    assert Calibration("gaussian", "sound", 100, 1.0, 1e-6, 1.0).scale(4) == pytest.approx(
        12.815, rel=1e-4
    )
    assert Calibration("gaussian", "sound", 100, 1.0, 1e-6, 50.0).scale(4) == pytest.approx(
        90.618, rel=1e-4
    )
    assert Calibration("laplace", "sound", 100, 0.5).scale(3) == pytest.approx(3 * 100 / 0.5)
    assert Calibration("laplace", "sound", 100, 0.5, 0.0, 2.0).scale(3) == pytest.approx(
        3 * 4 / 0.5
    )
    # With a δ, composed as zCDP where that is less: many steps.
    assert Calibration("laplace", "sound", 10, 1.0, 1e-6).scale(400) == pytest.approx(
        906.18, rel=1e-4
    )


def test_the_balance_is_that_of_the_formula() -> None:
    # Laplace: K* = √(m_F·R·ε/(8|V|Δ·H_|V|)), here √(1e6·10/(8·50·4.4992)) = 74.5
    laplace = Calibration("laplace", "printed", 50, 1.0)
    assert laplace.balanced_steps(10, 1e6) in (74, 75)
    losses = [laplace.loss(steps, 10, 1e6) for steps in range(1, 200)]
    assert laplace.balanced_steps(10, 1e6) == 1 + int(np.argmin(losses))
    # Gaussian: K* = √(m_F·R·ε/(8c√|V|·Δ√(2 ln 2|V|))), up to the K in c
    gaussian = Calibration("gaussian", "printed", 300, 1.0, 1e-6)
    assert gaussian.balanced_steps(10, 1e4) == round(
        sqrt(1e4 * 10 / (8 * sqrt(2 * log(7.5e6)) * sqrt(300) * sqrt(2 * log(600))))
    )


def test_the_bound_by_hand() -> None:
    # 2R·σ√(2 ln 2|V|) + m_F·R²/2K with K = 6: 2·10·1169.5·3.577 + 1e4·100/12
    gaussian = Calibration("gaussian", "printed", 300, 1.0, 1e-6)
    by_hand = (1 - 1 / e) * 8000 - 20 * 1169.507 * sqrt(2 * log(600)) - 1e6 / 12
    assert utility_bound(8000, 10**4, UniformMatroid(300, 10), gaussian) == pytest.approx(
        by_hand, rel=1e-5
    )
    laplace = Calibration("laplace", "printed", 3, 1.0)
    by_hand = (1 - 1 / e) * 90 - 2 * 2 * (2 * 5 * 3) * (1 + 1 / 2 + 1 / 3) - 100 * 4 / 10
    assert utility_bound(90, 100, UniformMatroid(3, 2), laplace, steps=5) == pytest.approx(by_hand)
    assert largest_sum(Knapsack(((1.0, 2.0), (1.0, 3.0)), (4.0, 3.0))) == pytest.approx(3.0)


# --- the verdict


def test_one_person_moves_the_gradient_by_no_more_than_the_sound_noise_covers() -> None:
    """Enumerated over rows of zeros and ones, at many points: |V|Δ and √|V|·Δ are reached."""
    rows = np.array(list(product([0.0, 1.0], repeat=4)))
    farthest = {1: 0.0, 2: 0.0}
    families: list[SetFunctions] = [ClickModel(), FacilityLocation()]
    for family, point in product(families, product([0.0, 0.5], repeat=4)):
        slopes = np.array(
            [Population(row[None], family, 4).gradient(np.array(point)) for row in rows]
        )
        apart = slopes[:, None] - slopes[None]
        for norm in farthest:
            farthest[norm] = max(
                farthest[norm], float(np.linalg.norm(apart, ord=norm, axis=2).max())
            )
    assert farthest[1] == pytest.approx(Calibration("laplace", "sound", 4, 1.0).moved) == 4
    assert farthest[2] == pytest.approx(Calibration("gaussian", "sound", 4, 1.0, 1e-6).moved) == 2


@pytest.mark.parametrize("steps", [1, 6, 50])
def test_printed_noise_is_sound_even_if_a_person_moves_twice_as_much(steps: int) -> None:
    pure = Calibration("laplace", "printed", 300, 1.0)
    both = Calibration("laplace", "printed", 300, 1.0, 1e-6)
    gaussian = Calibration("gaussian", "printed", 300, 1.0, 1e-6)
    assert steps * 2 * 300 / pure.scale(steps) <= 1 + 1e-12
    assert epsilon_of(steps * (2 * 300 / both.scale(steps)) ** 2 / 2, 1e-6) < 1
    assert epsilon_of(steps * (2 * sqrt(300) / gaussian.scale(steps)) ** 2 / 2, 1e-6) < 1
    assert pure.epsilon_spent(steps) == pytest.approx(0.5)
    for calibration in (both, gaussian):
        assert calibration.epsilon_spent(steps) < 0.5


def test_sound_noise_spends_the_budget() -> None:
    laws: list[Law] = ["laplace", "gaussian"]
    for law, delta, clip in product(laws, [0.0, 1e-6], [None, 0.7]):
        if law == "laplace" or delta:
            calibration = Calibration(law, "sound", 300, 1.0, delta, clip)
            assert calibration.epsilon_spent(7) == pytest.approx(1.0)


def test_invalid_settings_are_refused() -> None:
    with pytest.raises(ConfigError, match="needs delta > 0"):
        Calibration("gaussian", "printed", 300, 1.0)
    with pytest.raises(ConfigError, match="for noise='sound' only"):
        Calibration("laplace", "printed", 300, 1.0, clip=1.0)
    with pytest.raises(ConfigError, match="steps must be a whole number, between"):
        run(PEOPLE, ClickModel(), UniformMatroid(4, 2), 1.0, law="laplace", steps=0)
    with pytest.raises(ConfigError, match="no 1/c_min"):
        largest_sum(Knapsack((0.0, 1.0), 1.0))
