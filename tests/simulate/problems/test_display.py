"""If these fail, shares are measured wrongly."""

import numpy as np
import pytest

from discreet import Privacy, SetMaximizer
from discreet.simulate.problems.display import World, run_display
from discreet.simulate.problems.problem import pieces

NO_NOISE = Privacy(1e4, 1e-6)


@pytest.mark.parametrize("feedback", ["full", "bandit", "clicks"])
@pytest.mark.parametrize("stream", ["drifting", "iid"])
def test_all_visitors_are_met_once_and_all_value_is_counted(feedback: str, stream: str) -> None:
    world = World.drawn(2_000, items=10, seed=2)
    learner = SetMaximizer(10, 3, 2_000, NO_NOISE, feedback=feedback, stream=stream)  # type: ignore[arg-type]
    passed: list[float] = []
    run = run_display(learner, world, report=passed.append)
    assert learner.clock == sum(passed) == run.visitors[-1] == 2_000
    assert run.earned[-1] == run.value
    assert (np.diff(run.earned) >= 0).all()
    assert run.value <= 1.05 * world.worth(world.best_slate(3))


def test_after_learning_ends_the_slate_stays() -> None:
    world = World.drawn(2_000, items=10, seed=2)
    learner = SetMaximizer(10, 3, 2_000, NO_NOISE, stream="iid", block=200)
    run = run_display(learner, world, learn_until=200)
    assert learner.clock == 200
    assert learner.releases == 1
    slate = np.array(learner.decision["slate"])
    rest = World(world.weights, world.chances, world.types[200:])
    assert run.value == pytest.approx(run.earned[-2] + rest.worth(slate))
    assert run.visitors[-1] == 2_000


def test_pieces_cross_no_release_and_contain_every_visitor() -> None:
    learner = SetMaximizer(4, 2, 1_000, NO_NOISE, block=64)
    met: list[int] = []
    for piece in pieces(learner, 1_000, largest=50):
        assert 1 <= len(piece) <= min(50, learner.rounds_until_release)
        learner.observe_many(np.zeros((len(piece), 4)))
        met.extend(piece)
    assert met == list(range(1_000))
