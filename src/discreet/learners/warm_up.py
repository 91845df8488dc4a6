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
from discreet.engine.view import View
from discreet.errors import ConfigError
from discreet.functions import GraphCut
from discreet.learners.base import Learner
from discreet.learners.contextual_bandit import ContextualBandit
from discreet.learners.hedge import Hedge
from discreet.learners.running_sum import RunningSum
from discreet.learners.set_maximizer import SetMaximizer
from discreet.learners.set_minimizer import SetMinimizer
from discreet.learners.streaming_learner import StreamingLearner
from discreet.losses import MARGIN_LOSSES, LogisticLoss, SoftmaxLoss, SquaredLoss
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
    chosen = [type(learner).problem_for(learner.settings) for learner in learners]
    problems = chosen or _one_of_each()
    with bar("learners", len(problems)) as report:
        for problem in problems:
            _exercise(problem)
            report(1)


def _exercise(problem: Problem) -> None:
    """Run rounds of blank answers and the releases after them, through all stages."""
    public, hidden = problem.start()
    rounds = np.arange(2)
    answer = problem.answer
    blanks = answer.rows([answer.blank] * 2)
    for index in range(STAGES):
        view = problem.view(flat(public), index, 0, Coins(bytes(16)))
        block = view.empty_block()
        view.decide(rounds[:1], EMPTY_REQUEST)
        _exercise_masks(view, rounds)
        view.count(block, Batch(rounds, blanks, EMPTY_REQUEST))
        if view.step is None:
            return
        door = Door(seeded_bits(0, index), view.step.charge, index)
        public, hidden = view.release({}, hidden, block, door)


def _exercise_masks(view: View, rounds: Integers) -> None:
    """Decide and count under masks that hide nothing, for one round and for several."""
    candidates = view.problem.questions.candidates
    if candidates is None:
        return
    for some in (rounds[:1], rounds):
        request = Request(None, np.ones(candidates, dtype=np.bool_))
        view.decide(some, request)
        view.count_masks({}, some, request)


def _one_of_each() -> list[Problem]:
    """Return small problems whose hooks run every kernel.

    They are made from settings, without a learner: an operator's log has the operator's learners
    only.
    """
    both = Privacy(1.0, 1e-6)
    few: dict[str, Any] = {"horizon": 1000, "privacy": both}
    many: dict[str, Any] = {"horizon": 10**5, "privacy": both}
    pure: dict[str, Any] = {"horizon": 1000, "privacy": Privacy(1.0)}
    arms = {"arms": 2, "features": 2} | many
    samples = {
        "domain": LpBall(2),
        "loss": SquaredLoss(),
        "feature_bound": 1.0,
        "target_bound": 1.0,
    }
    of_classes = {"domain": LpBall(4), "loss": SoftmaxLoss(2)}
    slates: dict[str, Any] = {"items": 2, "slots": 1}
    problems = [
        _problem(ContextualBandit, **arms),
        _problem(ContextualBandit, **arms, relevant=1),
        _problem(RunningSum, **few, dimension=2, bound=1.0),
        _problem(RunningSum, **pure, dimension=2, bound=1.0),
        _problem(Hedge, **few, actions=2),
        _problem(SetMinimizer, **few, items=2, function=GraphCut(((0, 1),))),
        _problem(SetMinimizer, **few, items=2, feedback="bandit"),
        *(_problem(StreamingLearner, **few, **samples | {"loss": loss}) for loss in MARGIN_LOSSES),
        _problem(StreamingLearner, **few, **samples | of_classes),
        _problem(StreamingLearner, **many, **samples),
        _problem(StreamingLearner, **few, **samples, method="passes"),
        _problem(StreamingLearner, **few, **samples | {"loss": LogisticLoss()}, method="passes"),
        _problem(
            StreamingLearner, **few, **samples | {"domain": LpBall(2, 1)}, method="frank-wolfe"
        ),
        _problem(SetMaximizer, **few, **slates, function=None),
        _problem(SetMaximizer, **pure, **slates),
    ]
    for feedback in ("full", "bandit", "clicks"):
        for stream in ("drifting", "iid"):
            problems.append(
                _problem(SetMaximizer, **few, **slates, feedback=feedback, stream=stream)
            )
    return problems


def _problem(kind: type[Learner], **arguments: Any) -> Problem:
    """Return the problem of a learner with these arguments."""
    return kind.problem_for(kind.settings_type.from_arguments(**arguments))
