"""If these fail, decisions are not labels somewhere, or answers by label are misread."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet
from discreet import (
    ContextualBandit,
    ContinuousMaximizer,
    Hedge,
    Privacy,
    SetMaximizer,
    SetMinimizer,
    SetSelector,
)
from discreet.domains import Knapsack, UniformMatroid
from discreet.engine.tickets import Ticket, Tickets
from discreet.errors import ConfigError, OutOfBounds, StateError
from discreet.functions import ClickModel, GraphCut, MinusModular

BOTH = Privacy(1.0, 1e-6)
GOODS = ["tea", "milk", "soap", "rope"]
PAIRS = MinusModular(GraphCut(((0, 1), (2, 3))))
FEATURES = ["age", "weight"]


def shop(**settings: Any) -> SetMaximizer:
    usual: dict[str, Any] = {"feedback": "clicks", "stream": "iid", "seed": 1}
    return SetMaximizer(GOODS, 2, 4000, BOTH, **usual | settings)


def clinic(**settings: Any) -> ContextualBandit:
    return ContextualBandit(["low", "high"], FEATURES, 4000, BOTH, **{"seed": 1} | settings)


# --- slates


def test_clicks_by_integer_label_teach_the_items_that_were_shown() -> None:
    """Integer labels: a shop whose products are called 1 to 20 must not mix up neighbours."""
    products = SetMaximizer(
        list(range(1, 21)), 3, 20_000, BOTH, feedback="clicks", stream="iid", seed=1
    )
    for _ in range(4000):
        slate = products.act()
        products.observe(next((item for item in slate if item in (7, 12)), None))
    assert {7, 12} < set(products.act())
    scores = products.scores()
    best_two = np.argsort(scores.values[0])[-2:]
    assert {7, 12} & {scores.labels[place] for place in best_two}


def test_a_slate_is_a_list_of_labels_and_many_are_an_array() -> None:
    learner = shop()
    assert set(learner.act()) < set(GOODS)
    tickets = learner.open_many(6)
    assert tickets.decisions.tolist() == [[GOODS[item] for item in row] for row in tickets.numbers]
    assert [ticket.decision for ticket in tickets] == tickets.decisions.tolist()
    assert tickets[2:4].decisions.tolist() == tickets.decisions[2:4].tolist()
    assert learner.preview(3).tolist() == shop().preview(10)[7:].tolist()
    assert learner.decision["slate"] == [
        GOODS[GOODS.index(name)] for name in learner.decision["slate"]
    ]


def test_whole_numbers_as_labels_stay_whole_numbers() -> None:
    products = SetMaximizer([101, 205, 307], 2, 400, BOTH, feedback="clicks", seed=1)
    assert all(type(item) is int for item in products.act())
    many = products.open_many(5).decisions
    assert many.dtype == np.int64
    assert set(many.ravel().tolist()) <= {101, 205, 307}


def test_replays_give_labels() -> None:
    likes = np.random.default_rng(0).random((500, 4))
    named = SetMaximizer(GOODS, 2, 500, BOTH, seed=1).replay(likes)
    assert named.shape == (500, 2)
    assert set(named.ravel()) <= set(GOODS)
    assert SetMaximizer(GOODS, 2, 500, BOTH, seed=1).replay(likes[:0]).size == 0


def test_slates_shorter_than_the_slots_are_lists_without_padding() -> None:
    mask = np.array([[True, True, True, True], [False, True, False, False]])
    tickets = shop().open_many(2, available=mask)
    assert [len(slate) for slate in tickets.decisions] == [2, 1]
    assert tickets.decisions[1] == ["milk"]
    assert tickets.numbers[1].tolist() == [1, -1]


# --- sets, arms, actions


def test_sets_are_lists_of_labels() -> None:
    learner = SetMinimizer(GOODS, 400, BOTH, function=PAIRS, block=20, seed=1)
    rows = np.random.default_rng(0).random((100, 6)) * [0.3, 0.3, 0.4, 0.0, -0.3, 0.0]
    chosen = learner.replay(rows)
    assert isinstance(chosen, list)
    assert len({len(each) for each in chosen}) > 1
    assert all(set(each) <= set(GOODS) for each in chosen)
    tickets = learner.open_many(5)
    assert tickets.decisions == [
        [GOODS[item] for item in row if item >= 0] for row in tickets.numbers
    ]
    assert set(learner.act()) <= set(GOODS)
    assert list(learner.decision["chances"]) == GOODS


@pytest.mark.parametrize("domain", [UniformMatroid(4, 2), Knapsack((1.0, 1.0, 2.0, 1.0), 2.0)])
def test_sets_under_quotas_and_budgets_are_labels(domain: Any) -> None:
    learner = ContinuousMaximizer(domain, 400, BOTH, labels=GOODS, seed=1)
    learner.observe_many(np.random.default_rng(0).random((learner.rounds_until_release, 4)))
    assert set(learner.act()) <= set(GOODS)
    assert all(set(each) <= set(GOODS) for each in learner.open_many(1).decisions)
    assert set(learner.decision["point"]) <= set(GOODS)


def test_points_stay_numbers() -> None:
    learner = ContinuousMaximizer(
        UniformMatroid(4, 2), 400, BOTH, labels=GOODS, play="point", seed=1
    )
    assert np.shape(learner.act()) == (4,)


def test_arms_are_labels() -> None:
    learner = clinic()
    assert learner.act([0.1, 0.2]) in ("low", "high")
    tickets = learner.open_many(np.zeros((9, 2)))
    assert tickets.decisions.tolist() == [["low", "high"][arm] for arm in tickets.numbers]
    assert tickets[0].decision == tickets.decisions[0]


def test_actions_may_have_names() -> None:
    named = Hedge(["wait", "ask"], 400, BOTH, block=20, seed=1)
    actions = named.replay(np.tile([0.0, 1.0], (200, 1)))
    assert set(actions) <= {"wait", "ask"}
    assert named.act() in ("wait", "ask")
    assert list(named.decision["chances"]) == ["wait", "ask"]
    assert named.labels == ["wait", "ask"]
    with pytest.raises(ConfigError, match="actions must be different"):
        Hedge(["ask", "ask"], 400, BOTH)


def test_a_chosen_set_is_labels_and_its_numbers_are_there_too() -> None:
    likes = (np.random.default_rng(0).random((3000, 4)) < [0.02, 0.5, 0.05, 0.3]).astype(float)
    chosen = SetSelector(UniformMatroid(4, 2), BOTH, function=ClickModel, labels=GOODS, seed=1).fit(
        likes
    )
    assert sorted(chosen.items) == ["milk", "rope"]
    assert (
        [GOODS[number] for number in chosen.numbers]
        == chosen.items
        == [item for item, _ in chosen.trace]
    )


# --- tickets as data


def test_tickets_come_back_from_json_with_their_labels() -> None:
    for learner in (shop(), SetMinimizer(GOODS, 400, BOTH, function=PAIRS, block=20, seed=1)):
        tickets = learner.open_many(7)
        again = Tickets.from_plain(json.loads(json.dumps(tickets.as_plain())))
        assert np.array_equal(
            again.numbers[again.numbers >= 0], tickets.numbers[tickets.numbers >= 0]
        )
        assert [list(each) for each in again.decisions] == [
            list(each) for each in tickets.decisions
        ]
        assert again[3].decision == tickets[3].decision


def test_one_ticket_comes_back_from_json_and_can_be_closed() -> None:
    learner = shop()
    ticket = learner.open()
    again = Ticket.from_plain(json.loads(json.dumps(ticket.as_plain())))
    assert again.decision == ticket.decision
    assert learner.close(again, again.decision[0])
    for wrong in ({}, ticket.as_plain() | {"round": "7"}, ticket.as_plain() | {"learner": 5}, None):
        with pytest.raises(ConfigError, match="what as_plain gave"):
            Ticket.from_plain(wrong)  # type: ignore[arg-type]


# --- answers


def test_an_answer_about_what_was_not_shown_is_refused_and_the_round_stays_open() -> None:
    learner = shop()
    ticket = learner.open()
    hidden = next(item for item in GOODS if item not in ticket.decision)
    for answer in (hidden, [hidden], [ticket.decision[0], hidden]):
        with pytest.raises(OutOfBounds, match="a shown item") as refusal:
            learner.close(ticket, answer)
        assert hidden not in str(refusal.value)
    assert learner.close(ticket, ticket.decision[0])


def test_among_many_an_answer_about_what_was_not_shown_adds_nothing() -> None:
    one = shop()
    two = shop()
    tickets = one.open_many(8)
    alike = two.open_many(8)
    hidden = [next(item for item in GOODS if item not in slate) for slate in tickets.decisions]
    one.close_many(tickets, [*hidden[:4], *tickets.decisions[4:, 0]])
    two.close_many(alike, [None] * 4 + alike.decisions[4:, 0].tolist())
    assert np.array_equal(one.snapshot().block["found"], two.snapshot().block["found"])


@pytest.mark.parametrize(
    "container", [list, tuple, np.array, lambda clicks: np.array(clicks, dtype=object)]
)
def test_clicks_by_label_are_read_alike_from_any_container(container: Any) -> None:
    learner = shop()
    twin = shop()
    tickets = learner.open_many(50)
    alike = twin.open_many(50)
    learner.close_many(tickets, container(tickets.decisions[:, 1].tolist()))
    for ticket in alike:
        twin.close(ticket, ticket.decision[1])
    assert np.array_equal(learner.snapshot().block["found"], twin.snapshot().block["found"])


def test_true_is_no_label_where_labels_are_whole_numbers() -> None:
    learner = SetMaximizer([1, 0, 2], 3, 400, BOTH, feedback="clicks", seed=1)
    learner.close_many(learner.open_many(3), [True, False, None])
    assert not learner.snapshot().block["found"].any()


def test_no_answer_closes_a_round_whatever_the_feedback_is() -> None:
    learner = SetMaximizer(GOODS, 2, 400, BOTH, feedback="bandit", seed=1)
    ticket = learner.open()
    assert learner.close(ticket, None)
    assert learner.close(ticket, 1.0) is False
    learner.act()
    learner.observe(None)
    assert not any(values.any() for values in learner.snapshot().block.values())


# --- masks and contexts


def test_masks_may_be_lists_of_labels() -> None:
    learner = shop()
    named = learner.open(available=["soap", "tea", "rope"]).decision
    assert "milk" not in named
    yes = [True, False, True, True]
    assert named == shop().open(available=yes).decision
    both = shop().open_many(2, available=[["soap", "tea"], ["milk", "rope"]]).decisions
    assert [set(slate) for slate in both] == [{"soap", "tea"}, {"milk", "rope"}]
    one = shop().open_many(3, available=("soap", "milk")).decisions
    assert {item for slate in one for item in slate} == {"soap", "milk"}


def test_masks_of_unknown_or_repeated_labels_are_refused() -> None:
    for wrong, message in (
        (["soap", "pear"], "'pear', which is none of the labels"),
        (["soap", "soap"], "twice"),
        ([["soap"], ["pear"]], "'pear'"),
        ("soap", "yes or no"),
    ):
        learner = shop()
        with pytest.raises(ConfigError, match=message):
            learner.open_many(2, available=wrong)
        assert learner.clock == 0
    products = SetMaximizer([1, 2, 3], 2, 400, BOTH, feedback="clicks")
    with pytest.raises(ConfigError, match="twice"):
        products.act(available=[1, 1, 1])
    with pytest.raises(ConfigError, match="yes or no"):
        SetMaximizer(3, 2, 400, BOTH, feedback="clicks").act(available=[1, 0, 1])


@pytest.mark.parametrize("wrong", [["none"], ["low", "low"], [5], None, "low", 7, []], ids=str)
def test_a_personal_mask_of_no_labels_affects_nobody_else(wrong: Any) -> None:
    contexts = np.zeros((3, 2))
    for first, last in ([["low"], ["high"]], [[True, False], [False, True]]):
        decisions = clinic().open_many(contexts, available=[first, wrong, last]).decisions
        assert decisions[[0, 2]].tolist() == ["low", "high"]
    assert clinic().open_many(contexts, available=[wrong] * 3).decisions.shape == (3,)
    for one_for_all in (("high",), {"high"}, (False, True), np.array([False, True])):
        for count in (1, 2, 3):
            decisions = clinic().open_many(contexts[:count], available=one_for_all).decisions
            assert set(decisions) == {"high"}
    with pytest.raises(
        ConfigError, match="one mask of 2 arms per round, or one mask for all rounds"
    ):
        clinic().open_many(contexts, available=["high"])


@pytest.mark.parametrize("wrong", [["x", "y"], [1, 0], [0.5, 2.0], [1j, 0]], ids=str)
def test_one_entry_that_makes_an_array_of_masks_something_else_affects_nobody_else(
    wrong: Any,
) -> None:
    masks = [[True, False]] * 29
    for learner in (clinic(), ContextualBandit(2, FEATURES, 4000, BOTH, seed=1)):
        decisions = learner.open_many(
            np.zeros((30, 2)), available=np.array([*masks, wrong])
        ).numbers
        assert not decisions[:-1].any()


def test_an_error_about_a_personal_mask_quotes_nobody() -> None:
    for wrong in (["secret illness"], ["low", "low"], [10**5000]):
        with pytest.raises(
            ConfigError, match="a yes or no for each arm, or a list of labels"
        ) as refusal:
            clinic().act([0.0, 0.0], available=wrong)
        assert "secret" not in str(refusal.value)


def test_a_refused_mask_makes_no_release() -> None:
    learner = ContextualBandit(2, 2, 20_000, BOTH, max_arms=3, seed=1)
    learner.open_many(np.zeros((learner.rounds_until_release, 2)))
    with pytest.raises(ConfigError, match="none of the arms"):
        learner.open([0.0, 0.0], available=[False, False, True])
    assert learner.releases == 0


def test_contexts_may_be_dictionaries_by_feature() -> None:
    here, there = clinic(), clinic()
    rows = np.random.default_rng(0).uniform(-1, 1, size=(5, 2))
    named = [{"weight": row[1], "age": row[0]} for row in rows.tolist()]
    assert here.open_many(named).decisions.tolist() == there.open_many(rows).decisions.tolist()
    assert here.open(named[0]).decision == there.open(rows[0]).decision
    here.close_many(here.open_many(named), np.ones(5))
    there.close_many(there.open_many(rows), np.ones(5))
    blocks = here.snapshot().block, there.snapshot().block
    assert all(np.array_equal(values, blocks[1][name]) for name, values in blocks[0].items())


def test_a_context_with_other_names_is_refused_alone_and_blank_among_many() -> None:
    learner = clinic()
    for wrong in (
        {"age": 0.777},
        {"age": 0.777, "height": 1.0},
        {"age": 0.7, "weight": 0.1, "sex": 1.0},
    ):
        with pytest.raises(OutOfBounds, match="each feature once: age, weight") as refusal:
            learner.act(wrong)
        assert "0.777" not in str(refusal.value)
    rows = [{"age": 0.1, "weight": 0.2}, {"age": 0.777}, [0.3, 0.4]]
    blank = [[0.1, 0.2], [np.nan, np.nan], [0.3, 0.4]]
    problem = ContextualBandit.problem_for(learner.settings)
    contexts = problem.questions.request(rows, None, 3).context
    assert contexts is not None
    assert np.array_equal(contexts, blank, equal_nan=True)
    with pytest.raises(OutOfBounds, match="named features"):
        ContextualBandit(2, 2, 400, BOTH).act({"age": 0.1, "weight": 0.1})


# --- scores


def test_scores_carry_labels() -> None:
    learner = shop()
    tickets = learner.open_many(learner.rounds_until_release)
    learner.close_many(tickets, tickets.decisions[:, 0])
    learner.release_if_due()
    scores = learner.scores()
    assert scores.labels == tuple(GOODS)
    by_slot = scores.as_dict()
    assert isinstance(by_slot, list)
    assert [list(slot) for slot in by_slot] == [GOODS, GOODS]
    costs = SetMinimizer(3, 400, BOTH, function=None).scores()
    assert costs.labels == (0, 1, 2)
    assert [*costs.as_dict()] == [0, 1, 2]


def test_scores_of_arms_carry_labels() -> None:
    learner = clinic()
    while learner.clock < 2000:
        tickets = learner.open_many(np.zeros((learner.rounds_until_release, 2)))
        learner.close_many(tickets, np.ones(len(tickets)))
        learner.release_if_due()
    scores = learner.scores({"age": 0.1, "weight": 0.2})
    assert list(scores.as_dict()) == ["low", "high"]


# --- the file


def test_leaving_a_with_block_saves_the_open_block_and_gives_up_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "state"
    with shop(journal=path, seed=None) as learner:
        tickets = learner.open_many(5)
        learner.close_many(tickets[:3], tickets.decisions[:3, 0])
    with discreet.load(path) as again:
        assert again.clock == 5
        assert again.snapshot().block["found"].any()
    with pytest.raises(ZeroDivisionError), discreet.load(path):
        raise ZeroDivisionError
    discreet.load(path).detach()


def test_a_learner_in_memory_may_stand_in_a_with_block_too() -> None:
    with shop() as learner:
        assert learner.act()


def test_a_ticket_from_before_a_restart_is_late_once_its_block_is_over(tmp_path: Path) -> None:
    path = tmp_path / "state"
    with shop(journal=path) as learner:
        old = learner.open()
        many = learner.open_many(2)
    with discreet.load(path) as again:
        with pytest.raises(StateError, match="before the state was loaded"):
            again.close(old, None)
        again.open_many(again.rounds_until_release)
        assert again.release_if_due()
        assert again.close(old, old.decision[0]) is False
        assert again.close_many(many, [None, None]).tolist() == [False, False]


# --- settings


def test_whole_numbers_may_be_written_as_floats() -> None:
    learner = SetMaximizer(GOODS, 2, 1e5, BOTH, feedback="clicks")  # type: ignore[arg-type]
    assert learner.horizon == 100_000
    assert type(learner.settings.horizon) is int
    with pytest.raises(ConfigError, match="horizon must be a whole number"):
        SetMaximizer(GOODS, 2, 1e5 + 0.5, BOTH, feedback="clicks")  # type: ignore[arg-type]


def test_labels_without_an_order_are_refused_under_the_name_of_their_parameter() -> None:
    for wrong in (set(GOODS), frozenset(GOODS), dict.fromkeys(GOODS)):
        with pytest.raises(ConfigError, match="items must be a whole number or a list of labels"):
            SetMaximizer(wrong, 2, 400, BOTH)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="arms must be different"):
        ContextualBandit(["a", "a"], 2, 400, BOTH)
    with pytest.raises(ConfigError, match="features must be texts or whole numbers"):
        ContextualBandit(2, [1.5, 2.5], 400, BOTH)  # type: ignore[list-item]


def test_a_mask_may_have_only_the_present_items_if_others_may_be_added() -> None:
    roomy = SetMaximizer(GOODS, 2, 4000, BOTH, feedback="clicks", max_items=6, seed=1)
    assert "tea" not in roomy.open(available=[False, True, True, True]).decision
    assert "tea" not in roomy.open(available=[False, True, True, True, False, False]).decision
    masks = np.array([[False, True, True, True], [True, False, True, True]])
    first, second = roomy.open_many(2, available=masks).decisions
    assert "tea" not in first
    assert "milk" not in second
    for wrong in ([True] * 5, [[True] * 4, [True]]):
        with pytest.raises(ConfigError, match="yes or no for each of 6 items"):
            roomy.open_many(2, available=wrong)
