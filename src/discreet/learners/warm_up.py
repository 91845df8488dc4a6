"""Compile kernels before the first round: run every hook once, on data that belong to nobody."""

from typing import Any

import numpy as np

from discreet import require
from discreet.arrays import Integers
from discreet.budget.privacy import Privacy
from discreet.engine.coins import Coins
from discreet.engine.flat_state import flat
from discreet.engine.problem import Problem
from discreet.engine.request import EMPTY_REQUEST, Batch, Request
from discreet.engine.view import View, nobody
from discreet.errors import ConfigError
from discreet.functions import GraphCut
from discreet.learners.base import Learner
from discreet.learners.contextual_bandit import ContextualBandit
from discreet.learners.hedge import Hedge
from discreet.learners.running_sum import RunningSum
from discreet.learners.set_maximizer import SetMaximizer
from discreet.learners.set_minimizer import SetMinimizer
from discreet.learners.streaming_learner import StreamingLearner
from discreet.losses import LogisticLoss, SoftmaxLoss, SquaredLoss
from discreet.optim.domains import LpBall
from discreet.progress import bar
from discreet.release.door import Door
from discreet.release.randomness import seeded_bits

STAGES = 8
"""Number of releases after which every learner has run all its hooks."""


def warm_up(*learners: Learner) -> None:
    """Compile the kernels of these learners, so that no visitor has to wait for it.

    The learners do not change. Without learners all kernels are compiled, which takes some seconds
    once per installation.

    Parameters
    ----------
    learners
        Learners in the modes that will run.

    Examples
    --------
    >>> from discreet import Privacy, RunningSum, warm_up
    >>> clicks = RunningSum(dimension=1, horizon=100, privacy=Privacy(1.0), bound=1.0)
    >>> warm_up(clicks)
    >>> clicks.clock
    0
    """
    for learner in learners:
        if not isinstance(learner, Learner):
            raise ConfigError(f"warm_up takes learners, got {require.shown(learner)}")
    chosen = learners or tuple(_one_of_each())
    with bar("learners", len(chosen)) as report:
        for learner in chosen:
            _exercise(type(learner).problem_for(learner.settings))
            report(1)


def _exercise(problem: Problem) -> None:
    """Run rounds of blank answers and the releases after them, through all stages."""
    public, hidden = problem.start()
    rounds = np.arange(2)
    blanks = problem.rows([problem.blank()] * 2)
    for index in range(STAGES):
        view = problem.view(flat(public), index, 0, Coins(bytes(16)))
        block = nobody(view)
        view.decide(rounds[:1], EMPTY_REQUEST)
        _exercise_masks(view, rounds)
        view.gather(block, view.read(Batch(rounds, blanks, EMPTY_REQUEST)))
        if view.step is None:
            return
        door = Door(seeded_bits(0, index), view.step.charge, index)
        public, hidden = view.release({}, hidden, block, door)


def _exercise_masks(view: View[object], rounds: Integers) -> None:
    """Decide and count under masks that hide nothing, for one round and for several."""
    problem: Problem = view.problem
    if problem.candidates is None:
        return
    for some in (rounds[:1], rounds):
        request = Request(None, np.ones(problem.candidates, dtype=np.bool_))
        view.decide(some, request)
        view.count_masks(view.no_mask_counts(), some, request)


def _one_of_each() -> list[Learner]:
    """Return small learners whose hooks run every kernel."""
    both = Privacy(1.0, 1e-6)
    cut = GraphCut(((0, 1),))
    bounds: dict[str, Any] = {"feature_bound": 1.0, "target_bound": 1.0}
    learners: list[Learner] = [
        ContextualBandit(2, 2, 10**5, both),
        ContextualBandit(2, 2, 10**5, both, relevant=1),
        RunningSum(2, 1000, both, bound=1.0),
        RunningSum(2, 1000, Privacy(1.0), bound=1.0),
        Hedge(2, 1000, both),
        SetMinimizer(2, 1000, both, function=cut),
        SetMinimizer(2, 1000, both, feedback="bandit"),
        StreamingLearner(LpBall(2), SquaredLoss(), 1000, both, **bounds),
        StreamingLearner(LpBall(4), SoftmaxLoss(2), 1000, both, **bounds),
        StreamingLearner(LpBall(2), SquaredLoss(), 10**5, both, **bounds),
        StreamingLearner(LpBall(2), SquaredLoss(), 1000, both, **bounds, method="passes"),
        StreamingLearner(LpBall(2), LogisticLoss(), 1000, both, **bounds, method="passes"),
        StreamingLearner(LpBall(2, 1), SquaredLoss(), 1000, both, **bounds, method="frank-wolfe"),
        SetMaximizer(2, 1, 1000, both, function=None),
        SetMaximizer(2, 1, 1000, Privacy(1.0)),
    ]
    for feedback in ("full", "bandit", "clicks"):
        for stream in ("drifting", "iid"):
            learners.append(SetMaximizer(2, 1, 1000, both, feedback=feedback, stream=stream))
    return learners
