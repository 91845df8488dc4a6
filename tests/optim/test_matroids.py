"""If these fail, sets are played that a constraint forbids, or better ones are missed."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from discreet.domains import (
    GraphicMatroid,
    LaminarMatroid,
    OracleMatroid,
    PartitionMatroid,
    UniformMatroid,
)
from discreet.engine.settings import Settings
from discreet.errors import ConfigError
from discreet.optim.constraints import Constraint, Polytope, Priced, largest_cover
from discreet.optim.rounding import Matroid

ITEMS = 6


def wrong(value: Any) -> Any:
    """Return a value of a type that the signature excludes."""
    return value


def independent_rows(chosen: list[int]) -> bool:
    """Whether these columns of a matrix of rank 3 are independent.

    The matrix has a zero column, a parallel pair, and three columns of rank 2.
    """
    table = np.array([[0, 1, 2, 0, 1, 0], [0, 0, 0, 1, 1, 0], [0, 0, 0, 0, 0, 1]], dtype=np.float64)
    return not chosen or int(np.linalg.matrix_rank(table[:, chosen])) == len(chosen)


def random_matroids(seed: int) -> list[Matroid]:
    """Return one matroid of each kind on six items."""
    generator = np.random.default_rng(seed)
    groups = generator.integers(0, 3, size=ITEMS)
    sizes = np.bincount(groups, minlength=3)
    quotas = [int(generator.integers(0, size + 1)) for size in sizes]
    quotas[int(np.argmax(sizes))] = int(generator.integers(1, sizes.max() + 1))
    order = generator.permutation(ITEMS).tolist()
    family = (order[:4], order[:2], order[2:4], order[4:5], order[:2])
    edges = generator.integers(0, 4, size=(ITEMS, 2))
    edges[0] = 10**12, 3  # vertices are names: they need not be dense
    return [
        UniformMatroid(ITEMS, int(generator.integers(1, ITEMS + 1))),
        PartitionMatroid(groups, quotas),  # type: ignore[arg-type]
        LaminarMatroid(family, [int(generator.integers(1, len(s) + 1)) for s in family], ITEMS),  # type: ignore[arg-type]
        GraphicMatroid(edges),  # type: ignore[arg-type]
        OracleMatroid(ITEMS, independent_rows),
    ]


MATROIDS = [matroid for seed in range(6) for matroid in random_matroids(seed)]
every_matroid = pytest.mark.parametrize(
    "matroid", MATROIDS, ids=lambda matroid: type(matroid).__name__
)


def all_sets(items: int = ITEMS) -> Iterator[tuple[int, ...]]:
    """Return an iterator over all sets of items."""
    return chain.from_iterable(combinations(range(items), size) for size in range(items + 1))


def feasible(matroid: Constraint) -> set[tuple[int, ...]]:
    """Return all sets that the matroid contains."""
    return {chosen for chosen in all_sets(matroid.items) if matroid.contains(list(chosen))}


def allowed_by_definition(matroid: Matroid, chosen: tuple[int, ...]) -> bool:
    """Whether a set is feasible by the definition in the docstring, without the library."""
    if isinstance(matroid, UniformMatroid):
        return len(chosen) <= matroid.rank
    if isinstance(matroid, PartitionMatroid):
        return all(
            sum(matroid.groups[item] == group for item in chosen) <= quota
            for group, quota in enumerate(matroid.quotas)
        )
    if isinstance(matroid, LaminarMatroid):
        return all(
            len({*members} & {*chosen}) <= q
            for members, q in zip(matroid.family, matroid.quotas, strict=True)
        )
    if isinstance(matroid, GraphicMatroid):
        parts = [{vertex} for edge in matroid.edges for vertex in edge]
        for item in chosen:
            first, second = (
                set().union(*(p for p in parts if v in p)) for v in matroid.edges[item]
            )
            if first & second:
                return False
            parts.append(first | second)
        return True
    return independent_rows(list(chosen))


@every_matroid
def test_exactly_the_sets_of_the_definition_may_be_chosen_and_they_form_a_matroid(
    matroid: Matroid,
) -> None:
    sets = feasible(matroid)
    assert sets == {chosen for chosen in all_sets() if allowed_by_definition(matroid, chosen)}
    assert () in sets
    for large in sets:
        assert all(small in sets for small in combinations(large, max(len(large) - 1, 0)))
        for small in sets:
            if len(small) < len(large):
                assert any(tuple(sorted({*small, item})) in sets for item in {*large} - {*small})
    assert max(map(len, sets)) == matroid.rank > 0
    assert not matroid.contains([0, 0])
    assert not matroid.contains([ITEMS])
    assert not matroid.contains([-1])


@every_matroid
def test_extensions_are_the_items_that_may_be_added(matroid: Matroid) -> None:
    sets = feasible(matroid)
    for chosen in sets:
        expected = [
            item not in chosen and tuple(sorted((*chosen, item))) in sets for item in range(ITEMS)
        ]
        backwards = matroid.extensions(list(chosen)[::-1])
        assert backwards.dtype == np.bool_
        assert backwards.tolist() == expected


@every_matroid
def test_the_best_basis_is_the_best_of_all_bases_also_with_negative_weights(
    matroid: Matroid, generator: np.random.Generator
) -> None:
    bases = [list(chosen) for chosen in feasible(matroid) if len(chosen) == matroid.rank]
    for _ in range(10):
        weights = generator.normal(size=ITEMS).round(1)
        best = matroid.best(weights)
        assert sorted(best) in bases
        assert weights[best].sum() == pytest.approx(max(weights[basis].sum() for basis in bases))
        assert np.flatnonzero(matroid.vertex(weights)).tolist() == best
    assert matroid.best(np.zeros(ITEMS)) == min(bases)  # ties go to the smaller numbers
    with pytest.raises(ConfigError, match="6 finite numbers"):
        matroid.best(np.full(ITEMS, np.nan))


@pytest.mark.parametrize("matroid", MATROIDS[:10], ids=lambda matroid: type(matroid).__name__)
def test_a_point_is_inside_if_a_mixture_of_bases_covers_it(
    matroid: Matroid, generator: np.random.Generator
) -> None:
    bases = np.array(
        [np.isin(np.arange(ITEMS), s) for s in feasible(matroid) if len(s) == matroid.rank]
    )
    seen = set()
    for _ in range(8):
        mixture = generator.dirichlet(np.full(len(bases), 0.3)) @ bases
        assert matroid.is_inside(mixture * generator.random(ITEMS))
        point = mixture * generator.uniform(0.9, 1.2, size=ITEMS)
        # Shares of bases that add up to 1 and cover the point.
        solved = linprog(
            np.zeros(len(bases)), -1.0 * bases.T, -point, np.ones((1, len(bases))), [1.0]
        )
        is_covered = solved.status == 0
        assert matroid.is_inside(point) == is_covered
        assert (largest_cover(matroid, point).scale >= 1 - 1e-9) == is_covered
        seen.add(is_covered)
    assert not matroid.is_inside(np.full(ITEMS, 1.1))
    assert not matroid.is_inside(np.full(ITEMS, -0.1))
    assert matroid.is_inside(np.zeros(ITEMS))
    assert False in seen


GROUPED: list[UniformMatroid | PartitionMatroid] = [
    UniformMatroid(ITEMS, 2),
    UniformMatroid(ITEMS, ITEMS),
    PartitionMatroid((0, 1, 0, 1, 2, 1), (1, 2, 0)),
    PartitionMatroid((0, 0, 0, 0, 0, 1), (3, 1)),
]


@pytest.mark.parametrize("matroid", GROUPED, ids=repr)
def test_projections_are_the_nearest_points(
    matroid: UniformMatroid | PartitionMatroid, generator: np.random.Generator
) -> None:
    quotas = [
        {"type": "ineq", "fun": lambda x, part=part, quota=quota: quota - x[part].sum()}
        for part, quota in matroid.parts
    ]
    for _ in range(8):
        point = generator.normal(size=ITEMS) * generator.choice([0.5, 2.0])
        nearest = matroid.project(point)
        assert matroid.is_inside(nearest)
        reference = minimize(
            lambda x, point=point: ((x - point) ** 2).sum(),
            np.clip(nearest + 0.05, 0, 1),
            jac=lambda x, point=point: 2 * (x - point),
            bounds=[(0, 1)] * ITEMS,
            constraints=quotas,
            method="SLSQP",
            options={"ftol": 1e-12},
        )
        assert nearest == pytest.approx(reference.x, abs=1e-5)
        assert matroid.project(nearest) == pytest.approx(nearest, abs=1e-12)
    huge = matroid.project(np.array([1e17, 1e17, 3.0, -1e17, 0.0, 1e17]))
    assert matroid.is_inside(huge)


def test_every_matroid_satisfies_its_protocols() -> None:
    for matroid in random_matroids(0):
        assert isinstance(matroid, Constraint)
        assert isinstance(matroid, Polytope)
        assert not isinstance(matroid, Priced)
        assert matroid.dimension == matroid.items == ITEMS


def test_many_items_and_deep_families_are_handled() -> None:
    items = 100_000
    chain_of_sets = tuple(tuple(range(size)) for size in range(5, 505, 5))
    uniform = UniformMatroid(items, 300)
    laminar = LaminarMatroid(chain_of_sets, tuple(range(1, 101)), items)
    matroids: list[Matroid] = [uniform, laminar]
    for matroid in matroids:
        chosen = matroid.best(np.arange(items)[::-1].astype(np.float64))[:300]
        assert matroid.contains(chosen)
        assert matroid.extensions(chosen).shape == (items,)
    assert laminar.rank == items - 500 + 100


# --- settings -------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class SetSettings(Settings):
    domain: UniformMatroid | PartitionMatroid | LaminarMatroid | GraphicMatroid | OracleMatroid


@pytest.mark.parametrize("matroid", MATROIDS[:4], ids=lambda matroid: type(matroid).__name__)
def test_a_matroid_is_read_back_from_toml(matroid: Matroid) -> None:
    settings = SetSettings(epsilon=1.0, delta=1e-6, domain=matroid)
    again = SetSettings.from_toml(settings.to_toml())
    assert again == settings
    assert again.hash == settings.hash
    assert f'kind = "{type(matroid).__name__}"' in settings.to_toml()
    assert feasible(again.domain) == feasible(matroid)


def test_a_matroid_is_read_from_toml() -> None:
    domain = '[domain]\nkind = "PartitionMatroid"\ngroups = [0, 0, 1]\nquotas = [1, 1]'
    text = f"epsilon = 1.0\ndelta = 1e-6\n{domain}"
    assert SetSettings.from_toml(text).domain == PartitionMatroid((0, 0, 1), (1, 1))


def test_an_oracle_in_a_file_is_refused_with_a_remedy() -> None:
    settings = SetSettings(epsilon=1.0, delta=1e-6, domain=OracleMatroid(ITEMS, independent_rows))
    with pytest.raises(ConfigError, match="not saved to files: make the learner with it"):
        SetSettings.from_toml(settings.to_toml())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: UniformMatroid(0, 1), "items must be a whole number"),
        (lambda: UniformMatroid(3, 4), "rank must be a whole number, between 1 and 3, got 4"),
        (lambda: UniformMatroid(3, 0), "rank"),
        (lambda: UniformMatroid(3, wrong(1.5)), "rank must be a whole number, got 1.5"),
        (lambda: PartitionMatroid((), ()), "items"),
        (lambda: PartitionMatroid((0, 2), (1, 1)), "of the 2 quotas, counted from 0, got 2"),
        (lambda: PartitionMatroid((0, -1), (1,)), "got -1"),
        (lambda: PartitionMatroid((0, 0, 1), (3, 1)), r"quotas\[0\] .* between 0 and 2, got 3"),
        (lambda: PartitionMatroid((0, 0), (1, 1)), r"quotas\[1\]"),
        (lambda: PartitionMatroid((0, 0), (-1,)), r"quotas\[0\]"),
        (lambda: PartitionMatroid((0, 0), (0,)), "nothing can be chosen: all quotas are 0"),
        (lambda: PartitionMatroid(wrong("ab"), (1,)), "groups must be a list"),
        (lambda: LaminarMatroid(((0, 1), (1, 2)), (1, 1), 3), r"not laminar: family\[1\] crosses"),
        (lambda: LaminarMatroid(((1, 2), (0, 1, 3)), (1, 1), 4), r"\[0\] crosses family\[1\]"),
        (lambda: LaminarMatroid(((0, 3),), (1,), 3), "different items from 0 to 2"),
        (lambda: LaminarMatroid(((0, 0),), (1,), 3), "different items"),
        (lambda: LaminarMatroid(((),), (0,), 3), "at least one"),
        (lambda: LaminarMatroid(((0, 1),), (3,), 3), "between 0 and 2"),
        (lambda: LaminarMatroid(((0, 1),), (1, 1), 3), "one per set, 1, got 2"),
        (lambda: LaminarMatroid(((0, 1),), (0,), 2), "nothing can be chosen"),
        (lambda: LaminarMatroid((), (), 0), "items"),
        (lambda: GraphicMatroid(()), "items"),
        (lambda: GraphicMatroid(((1, 1), (2, 2))), "every edge goes from a vertex to itself"),
        (lambda: GraphicMatroid(((0, -1),)), r"edges\[0\] must be two vertices"),
        (lambda: GraphicMatroid(wrong(((0, 1, 2),))), r"edges\[0\]"),
        (lambda: OracleMatroid(3), "not saved to files"),
        (lambda: OracleMatroid(3, lambda chosen: not chosen), "nothing can be chosen"),
        (lambda: OracleMatroid(3, wrong(5)), "independent"),
    ],
)  # fmt: skip
def test_impossible_matroids_are_refused_in_one_line(
    make: Callable[[], Matroid], message: str
) -> None:
    with pytest.raises(ConfigError, match=message) as refusal:
        make()
    assert "\n" not in str(refusal.value)


def test_without_a_family_all_items_may_be_chosen() -> None:
    assert LaminarMatroid((), (), 3).best(np.zeros(3)) == [0, 1, 2]


def test_an_edge_from_a_vertex_to_itself_is_never_chosen() -> None:
    loops = GraphicMatroid(((5, 5), (5, 9)))
    assert loops.extensions([]).tolist() == [False, True]
    assert loops.best(np.array([9.0, 1.0])) == [1]
