"""If these fail, an editor or a type checker knows less of a decision, or another type than it has.

mypy checks `assert_type`; the tests check the types that decisions have when they run.
"""

from typing import Any, assert_type

import numpy as np

from discreet import (
    ContextualBandit,
    ContinuousMaximizer,
    Hedge,
    Privacy,
    RunningSum,
    SetMaximizer,
    SetMinimizer,
    StreamingLearner,
)
from discreet.arrays import Floats, Integers
from discreet.domains import LpBall, UniformMatroid
from discreet.engine.tickets import Ticket, Tickets
from discreet.functions import GraphCut
from discreet.learners.base import Learner
from discreet.learners.labels import Label
from discreet.losses import SquaredLoss

BOTH = Privacy(1.0, 1e-6)
CUT = GraphCut(((0, 1), (1, 2)))


def test_an_action_has_the_type_of_its_label_and_is_an_int_without_labels() -> None:
    by_number = Hedge(3, 100, BOTH, block=50)
    by_name = Hedge(["wait", "ask"], 100, BOTH, block=50)
    assert_type(by_number.act(), int)
    assert_type(by_name.act(), str)
    assert_type(by_name.open(), Ticket[str])
    assert_type(by_name.open_many(2), Tickets[str, np.ndarray])
    assert_type(by_name.replay([[0.1, 0.2]]), np.ndarray)
    assert type(by_number.act()) is int
    assert type(by_name.act()) is str
    assert type(by_name.open().decision) is str
    assert type(by_name.open_many(2)[0].decision) is str
    assert isinstance(by_name.open_many(2).decisions, np.ndarray)
    assert isinstance(by_name.replay([[0.1, 0.2]]), np.ndarray)


def test_an_arm_has_the_type_of_its_label_and_is_an_int_without_labels() -> None:
    by_number = ContextualBandit(2, 1, 1000, BOTH)
    by_name = ContextualBandit(["low", "high"], ["age"], 1000, BOTH)
    assert_type(by_number.act([0.5]), int)
    assert_type(by_name.act([0.5]), str)
    assert_type(by_name.open_many([[0.5]]).decisions, np.ndarray)
    assert type(by_number.act([0.5])) is int
    assert type(by_name.act([0.5])) is str
    assert isinstance(by_name.open_many([[0.5]]).decisions, np.ndarray)


def test_a_slate_is_a_list_of_labels_and_an_array_without_labels() -> None:
    by_number = SetMaximizer(4, 2, 1000, BOTH)
    by_name = SetMaximizer(["tea", "milk", "soap"], 2, 1000, BOTH)
    by_code = SetMaximizer([101, 205, 301], 2, 1000, BOTH)
    assert_type(by_number.act(), Integers)
    assert_type(by_name.act(), list[str])
    assert_type(by_code.act(), list[int])
    assert_type(by_name.open().decision, list[str])
    assert by_number.act().dtype == np.int64
    assert [type(item) for item in by_name.act()] == [str, str]
    assert [type(item) for item in by_code.act()] == [int, int]
    assert isinstance(by_name.open().decision, list)
    assert isinstance(by_name.open_many(2).decisions, np.ndarray)
    assert isinstance(by_name.open_many(2, ["tea"]).decisions, list), "shorter slates are lists"


def test_a_cheap_set_is_a_list_of_labels_and_an_array_without_labels() -> None:
    by_number = SetMinimizer(3, 1000, BOTH, function=CUT)
    by_name = SetMinimizer(["phone", "case", "bag"], 1000, BOTH, function=CUT)
    assert_type(by_number.act(), Integers)
    assert_type(by_name.act(), list[str])
    assert by_number.act().dtype == np.int64
    assert isinstance(by_name.act(), list)
    assert isinstance(by_name.replay([[0.1, 0.2]]), list)


def test_sets_under_quotas_are_lists_of_labels_and_points_are_arrays() -> None:
    domain = UniformMatroid(3, 1)
    names = ["tea", "milk", "soap"]
    by_name = ContinuousMaximizer(domain, 1000, BOTH, labels=names)
    point = ContinuousMaximizer(domain, 1000, BOTH, labels=names, play="point")
    assert_type(by_name.act(), np.ndarray | list[Label])
    assert isinstance(by_name.act(), list)
    assert isinstance(point.act(), np.ndarray)
    assert isinstance(ContinuousMaximizer(domain, 1000, BOTH).act(), np.ndarray)


def test_coefficients_and_totals_are_arrays_of_floats() -> None:
    model = StreamingLearner(
        LpBall(2), SquaredLoss(), 1000, BOTH, feature_bound=1.0, target_bound=1.0
    )
    total = RunningSum(2, 1000, BOTH, bound=1.0, block=50)
    path = model.replay((np.zeros((2, 2)), np.zeros(2)))
    assert_type(model.act(), Floats)
    assert_type(path, Floats)
    assert_type(total.act(), Floats)
    assert_type(total.open_many(2).decisions, Floats)
    for decision in (model.act(), path, total.act(), total.open_many(2).decisions):
        assert isinstance(decision, np.ndarray)
        assert decision.dtype == np.float64


def test_a_learner_whose_kind_is_unknown_takes_any_decision() -> None:
    def first(learner: Learner) -> Any:
        return learner.act()

    assert first(Hedge(["ask"], 100, BOTH)) == "ask"


def served(shop: SetMaximizer) -> list[str]:
    """Take a learner with any labels: a class without brackets accepts all of them."""
    return [str(item) for item in shop.act()]


def test_a_function_may_take_a_learner_without_stating_its_labels() -> None:
    assert len(served(SetMaximizer(["tea", "milk"], 1, 1000, BOTH))) == 1
    assert len(served(SetMaximizer(3, 1, 1000, BOTH))) == 1
