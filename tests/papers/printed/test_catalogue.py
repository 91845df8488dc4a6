"""If these fail, an algorithm is not found by its name, or its privacy is misstated."""

import re
import warnings
from inspect import signature
from math import inf, sqrt
from typing import Any

import numpy as np
import pytest

from discreet.arrays import Integers
from discreet.domains import GraphicMatroid, LaminarMatroid, OracleMatroid, UniformMatroid
from discreet.errors import ConfigError
from discreet.functions import ClickModel, Multilinear
from discreet.optim.domains import LpBall
from discreet.papers.printed import dpmfw, hedge
from discreet.papers.printed.catalogue import CATALOGUE, Algorithm, published
from discreet.papers.printed.promise import PrintedNoiseWarning, compared


@pytest.mark.parametrize("algorithm", CATALOGUE.values(), ids=CATALOGUE)
def test_every_module_states_its_printed_constants_verdict_and_paper(
    algorithm: Algorithm,
) -> None:
    text = algorithm.module.__doc__ or ""
    assert "Printed " in text
    assert "Verdict " in text
    assert "References " in text
    assert len(algorithm.verdict.text) > 20
    if algorithm.verdict.epsilon is not None:
        assert algorithm.verdict.private == (algorithm.verdict.epsilon <= 1)
    assert algorithm.bound.__doc__
    assert algorithm.play.__doc__


def likes_even(chosen: Integers) -> float:
    return float((chosen % 2 == 0).any())


ROWS = np.abs(np.random.default_rng(1).uniform(-0.5, 0.5, size=(6, 3)))
SETS: list[Any] = [[likes_even] * 6, 3, 2, 6, 1.0, 1e-3]
POINTS: list[Any] = [ROWS, Multilinear(), UniformMatroid(3, 1), 1.0]
ARGUMENTS: dict[str, list[Any]] = {
    "TBAP": [ROWS, 1.0, 1.0],
    "SUBMODPRFTL": [[likes_even] * 6, 3, 6, 1.0],
    "BANDITSUBMODPRFTL": [[likes_even] * 6, 3, 6, 1.0],
    "Hedge": [ROWS, 1.0, 1e-3],
    "FI-DP": SETS,
    "BanditDP": SETS,
    "BanditDP, B.1": SETS,
    "BanditDP, B.2": SETS,
    "PFTAL copies": POINTS,
    "streaming Frank–Wolfe": [ROWS, ROWS[:, 0], LpBall(3), 1.0, 1e-3],
    "streaming Frank–Wolfe l1": [ROWS, ROWS[:, 0], LpBall(3, 1), 1.0, 1e-3],
    "GLM bandit": [ROWS, ROWS, 1.0, 1e-3],
    "DPCG": [ROWS, ClickModel(), UniformMatroid(3, 1), 1.0, 1e-3],
    "DPCG, curvature": [ROWS, ClickModel(), UniformMatroid(3, 1), 1.0, 1e-3],
    "DPMFW": [*POINTS, 1e-3],
}
WITHOUT = ["TBAP", "SUBMODPRFTL", "BANDITSUBMODPRFTL", "GLM bandit"]
WITHOUT += ["streaming Frank–Wolfe", "streaming Frank–Wolfe l1"]


@pytest.mark.parametrize("name", [name for name in CATALOGUE if name != "DPCG, curvature"])
def test_runs_are_private_by_default(name: str) -> None:
    """The default neither warns, which would be an error here, nor spends more than its budget."""
    played = published(name).play(*ARGUMENTS[name])
    same = published(name).play(*ARGUMENTS[name], noise="sound")
    assert played.guarantee == same.guarantee
    assert re.match(
        r"sound noise: (joint )?DP with ε = 1(, δ = 0.001)? \(simulated: ", played.guarantee
    )
    field = next(name for name in ("decisions", "values", "path") if hasattr(played, name))
    assert np.array_equal(getattr(played, field), getattr(same, field))


@pytest.mark.parametrize("odd", [np.nan, np.inf])
@pytest.mark.parametrize(
    "name", [name for name in ARGUMENTS if ARGUMENTS[name][0] is ROWS and "curv" not in name]
)
def test_a_row_that_is_not_finite_leaves_decisions_finite(name: str, odd: float) -> None:
    rows = ROWS.copy()
    rows[2] = odd
    played = published(name).play(rows, *ARGUMENTS[name][1:])
    arrays = [
        getattr(played, name) for name in ("decisions", "values", "path") if hasattr(played, name)
    ]
    assert arrays
    assert np.isfinite(np.concatenate(arrays, dtype=np.float64)).all()


@pytest.mark.parametrize("name", CATALOGUE)
def test_printed_noise_warns_of_its_epsilon_and_is_marked(name: str) -> None:
    with pytest.warns(
        PrintedNoiseWarning, match="as printed, (not )?private at the claimed ε = 1 by our "
    ) as seen:
        played = published(name).play(*ARGUMENTS[name], noise="printed")
    assert len(seen) == 1
    assert played.guarantee == f"{seen[0].message} (simulated: seeded, in floating point)"


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("TBAP", 2 * 3 / 4),  # T = 6: a person is in three nodes, noise is printed for four
        ("SUBMODPRFTL", sqrt(2) * 3 / 4),
        ("PFTAL copies", sqrt(2) * 3 / 4),
        ("Hedge", hedge.epsilon_spent(1.0, 1e-3, 6)),
        ("DPCG, curvature", inf),
    ],
)
def test_the_warning_states_the_epsilon_that_is_spent(name: str, given: float) -> None:
    with pytest.warns(PrintedNoiseWarning) as seen:
        published(name).play(*ARGUMENTS[name], noise="printed")
    message = str(seen[0].message)
    assert f"ε = {'∞' if given == inf else f'{given:.3g}'}" in message.split(":")[1]
    assert ("not private" in message) == (given > 1)


@pytest.mark.parametrize("name", CATALOGUE)
def test_other_noise_is_refused_and_the_accepted_values_are_named(name: str) -> None:
    accepted = {
        "streaming Frank–Wolfe": "sound, printed, lemma, corrected, none",
        "DPCG, curvature": "printed",
    }
    usual = "sound, printed, none" if name in WITHOUT else "sound, printed"
    values = accepted.get(name, usual)
    refusal = f"^noise must be one of {values}, got 'Printed', did you mean printed\\?$"
    with pytest.raises(ConfigError, match=refusal):
        published(name).play(*ARGUMENTS[name], noise="Printed")
    if name not in WITHOUT:
        with pytest.raises(ConfigError, match=f"^noise must be one of {values}, got 'none'$"):
            published(name).play(*ARGUMENTS[name], noise="none")
    else:
        with pytest.warns(PrintedNoiseWarning, match="^without noise, not private at .*: ε = ∞$"):
            published(name).play(*ARGUMENTS[name], noise="none")


@pytest.mark.parametrize(
    ("name", "wrong", "words"),
    [
        ("GLM bandit", {"link": "probit"}, "link must be one of identity, logistic, got 'probit'"),
        ("FI-DP", {"expert": "Tree"}, "expert must be one of hedge, tree, got 'Tree'"),
        ("DPCG", {"law": "normal"}, "law must be one of laplace, gaussian, got 'normal'"),
        ("DPMFW", {"law": "normal"}, "law must be one of laplace, gaussian, got 'normal'"),
        (
            "streaming Frank–Wolfe",
            {"weights": "eq"},
            "weights must be one of equation, recursion, unbiased",
        ),
        (
            "DPCG, curvature",
            {},
            "reads ℓ and its best guess without noise: set noise='printed', or take",
        ),
        (
            "BanditDP, B.1",
            {"exploration": 2.0},
            "exploration must be above 0 and at most 1, got 2.0",
        ),
    ],
)
def test_other_words_are_refused(name: str, wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(words)):
        published(name).play(*ARGUMENTS[name], **wrong)


@pytest.mark.parametrize(
    "name",
    ["BanditDP, B.1", "streaming Frank–Wolfe", "streaming Frank–Wolfe l1", "GLM bandit", "DPMFW"],
)
def test_nothing_pure_is_promised_where_no_pure_noise_is_drawn(name: str) -> None:
    without_delta = [
        0.0 if isinstance(each, float) and each == 1e-3 else each for each in ARGUMENTS[name]
    ]
    with pytest.raises(ConfigError, match=r"needs delta > 0, got 0\.0"):
        published(name).play(*without_delta)


MATROIDS: list[Any] = [
    GraphicMatroid(((0, 1), (1, 2), (2, 0))),
    LaminarMatroid(((0, 1, 2), (0, 1)), (2, 1), 3),
    OracleMatroid(3, lambda chosen: len(chosen) <= 2 and chosen != [0, 1]),
]


@pytest.mark.parametrize("domain", MATROIDS, ids=lambda domain: type(domain).__name__)
@pytest.mark.parametrize("noise", ["printed", "sound"])
def test_sets_online_are_decided_under_every_matroid(domain: Any, noise: str) -> None:
    with compared():
        points = (
            published("DPMFW").play(ROWS, Multilinear(), domain, 1.0, 1e-3, noise=noise).decisions
        )
    assert all(domain.is_inside(point) for point in points)
    for chosen in dpmfw.sets_of(domain, points):
        assert domain.contains(chosen[chosen >= 0].tolist())


def test_sets_online_find_what_people_want_in_a_graph() -> None:
    """The cycle 0, 1, 2 and a fourth edge: the two edges of the cycle that people want, and the
    fourth.
    """
    roads = GraphicMatroid(((0, 1), (1, 2), (2, 0), (2, 3)))
    people = np.tile([0.1, 0.9, 0.8, 0.5], (25, 1))
    points = published("DPMFW").play(people, Multilinear(), roads, 1e6, 1e-3, rate=2.0).decisions
    assert points[-1] == pytest.approx([0.0, 1.0, 1.0, 1.0], abs=0.02)


@pytest.mark.parametrize("domain", MATROIDS, ids=lambda domain: type(domain).__name__)
def test_points_online_refuse_domains_without_a_projection(domain: Any) -> None:
    with pytest.raises(
        ConfigError, match=f"with a projection, got {type(domain).__name__}: take quotas"
    ):
        published("PFTAL copies").play(ROWS, Multilinear(), domain, 1.0)


@pytest.mark.parametrize("name", ["DPCG", "DPCG, curvature", "DPMFW"])
def test_a_domain_that_has_no_sets_is_refused(name: str) -> None:
    arguments = [
        LpBall(3) if isinstance(each, UniformMatroid) else each for each in ARGUMENTS[name]
    ]
    with (
        compared(),
        pytest.raises(ConfigError, match=r"domain must be a matroid or a Knapsack .*got LpBall"),
    ):
        published(name).play(*arguments, noise="printed")


WRONG: dict[str, list[Any]] = {
    "epsilon": [0, -1.0, np.nan, inf, "x", None],
    "delta": [-0.5, 2.0, np.nan, "x", None],
    "horizon": [0, -1, 2.5, "x", None],
    "items": [0, -1, 2.5, "x", None, 10**30],
    "slots": [0, -1, 2.5, "x", None, 10**30],
    "bound": [0, -1.0, np.nan, inf, "x"],
    "exploration": [0, -1.0, 1.5, np.nan, "x", True],
    "seed": [-1, 2.5, np.nan, "x", 10**30],
    "block": [0, -1, 2.5, "x", 10**30],
    "copies": [0, -1, 2.5, "x"],
    "steps": [0, -1, 2.5, "x"],
    "guesses": [0, -1, 2.5, "x"],
    "sets": [0, -1, 2.5, "x"],
    "rate": [-1.0, np.nan, inf, "x"],
    "stiffness": [0, -1.0, np.nan, inf, "x"],
    "pace": [-1.0, np.nan, inf, "x"],
    "context_bound": [0, -1.0, np.nan, inf, "x"],
    "vectors": [[1.0, 2.0], [["x"]], np.zeros((0, 3))],
    "gains": [[1.0, 2.0], [["x"]]],
    "features": [[1.0, 2.0], [["x"]]],
    "contexts": [[1.0, 2.0], [["x"]]],
    "ball": [3, UniformMatroid(3, 1)],
}
"""Values that no algorithm accepts, by the names of arguments."""


@pytest.mark.parametrize("name", CATALOGUE)
def test_arguments_out_of_range_are_refused_in_one_line(name: str) -> None:
    play = published(name).play
    names = list(signature(play).parameters)
    usual: dict[str, Any] = dict(zip(names, ARGUMENTS[name], strict=False))
    if name == "DPCG, curvature":
        usual["noise"] = "printed"
    if name in ("SUBMODPRFTL", "BANDITSUBMODPRFTL", "GLM bandit"):
        names += ["bound", "exploration"] if "BANDIT" in name else ["bound"]
        names = [each for each in names if (name, each) != ("GLM bandit", "bound")]
    checked = [each for each in names if each in WRONG]
    assert "epsilon" in checked
    for argument in checked:
        for wrong in WRONG[argument]:
            with compared(), pytest.raises(ConfigError, match=r"^[^\n]+$"):
                play(**usual | {argument: wrong})


@pytest.mark.parametrize("name", ["FI-DP", "BanditDP", "BanditDP, B.1", "BanditDP, B.2"])
def test_values_of_sets_count_in_units_of_their_bound(name: str) -> None:
    usual = published(name).play(*SETS)
    dearer = published(name).play([lambda chosen: 7 * likes_even(chosen)] * 6, *SETS[1:], bound=7.0)
    assert [shown.tolist() for shown in dearer.sets] == [shown.tolist() for shown in usual.sets]
    assert dearer.values.tolist() == (7 * usual.values).tolist()


def test_gains_count_in_units_of_their_bound() -> None:
    rows = np.tile([0.25, 1.0, 0.5], (200, 1))
    usual = published("Hedge").play(rows, 1e3, 1e-3).decisions
    scaled = published("Hedge").play(8 * rows, 1e3, 1e-3, bound=8.0).decisions
    assert scaled.tolist() == usual.tolist()


def test_comparisons_are_silent_and_leave_other_warnings_alone() -> None:
    with compared():
        assert "not private" in published("TBAP").play(ROWS, 1.0, 1.0, noise="printed").guarantee
        with pytest.raises(UserWarning, match="another"):
            warnings.warn("another", UserWarning, stacklevel=1)
    with pytest.raises(PrintedNoiseWarning):
        published("TBAP").play(ROWS, 1.0, 1.0, noise="printed")


@pytest.mark.parametrize(
    "name", [name for name in CATALOGUE if name not in ("TBAP", "DPCG, curvature")]
)
def test_one_round_is_decided_at_a_finite_rate(name: str) -> None:
    """The first decision depends on no data: no rate, noise or warm-up may prevent it."""
    first = [each[:1] if isinstance(each, list | np.ndarray) else each for each in ARGUMENTS[name]]
    first = [1 if isinstance(each, int) and each == 6 else each for each in first]
    assert published(name).play(*first).guarantee


def test_other_names_are_refused() -> None:
    with pytest.raises(
        ConfigError, match="no published algorithm is called 'nothing': take one of TBAP"
    ):
        published("nothing")
