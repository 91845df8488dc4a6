"""If these fail, the papers' algorithms are measured by another value than discreet."""

import numpy as np
import pytest

from discreet.domains import UniformMatroid
from discreet.papers.reproduce.points import printed_value
from discreet.simulate.problems.continuous import Tastes, click_value


@pytest.mark.parametrize("name", ["alg4", "dpmfw"])
def test_without_privacy_the_printed_algorithms_earn_more_than_random_and_less_than_all_items(
    name: str,
) -> None:
    rows = Tastes.moving(300, items=6, seed=1).chances
    domain = UniformMatroid(6, 2)
    earned = printed_value(name, rows, domain, 1e9, noise="printed", seed=2)
    assert click_value(rows, np.full(6, 2 / 6)) < earned < click_value(rows, np.ones(6))
