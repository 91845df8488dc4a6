"""If these fail, a reader does not find an algorithm, or is told the wrong thing about its privacy."""

import numpy as np
import pytest

from discreet.arrays import Integers
from discreet.decide.domains import LpBall
from discreet.errors import ConfigError
from discreet.lab.published.catalogue import CATALOGUE, Algorithm, published


@pytest.mark.parametrize("algorithm", CATALOGUE.values(), ids=CATALOGUE)
def test_every_algorithm_says_what_is_printed_and_whether_it_is_private(algorithm: Algorithm) -> None:
    text = algorithm.module.__doc__ or ""
    assert "Printed " in text
    assert "References " in text
    assert len(algorithm.verdict.text) > 20
    if algorithm.verdict.epsilon is not None:
        assert algorithm.verdict.private == (algorithm.verdict.epsilon <= 1)
    assert algorithm.bound.__doc__
    assert algorithm.play.__doc__


def likes_even(chosen: Integers) -> float:
    return float((chosen % 2 == 0).any())


def test_algorithms_are_run_by_name() -> None:
    rows = np.random.default_rng(1).uniform(-0.5, 0.5, size=(6, 3))
    assert published("tbap").play(rows, 1.0, 1.0).shape == (6, 3)
    assert len(published("Hedge").play(np.abs(rows), 1.0, 1e-3)) == 6
    for name in ("FI-DP", "BanditDP", "BanditDP, B.1", "BanditDP, B.2"):
        assert len(published(name).play([likes_even] * 6, 3, 2, 6, 1.0, 1e-3).sets) == 6
    for name in ("SUBMODPRFTL", "BANDITSUBMODPRFTL"):
        assert len(published(name).play([likes_even] * 6, 3, 6, 1.0).sets) == 6
    assert published("streaming Frank–Wolfe").play(rows, rows[:, 0], LpBall(3), 1.0, 1e-3).shape == (6, 3)
    assert published("streaming Frank–Wolfe l1").play(rows, rows[:, 0], LpBall(3, 1), 1.0, 1e-3).shape == (
        6,
        3,
    )
    assert published("GLM bandit").play(rows, np.abs(rows), 1.0, 1e-3, warm_up=1).shape == (6,)


def test_other_names_are_refused() -> None:
    with pytest.raises(ConfigError, match="no published algorithm is called 'nothing': take one of TBAP"):
        published("nothing")
