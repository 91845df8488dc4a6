"""If these fail, a retired item is shown, a new one is never learned, or visitors pay twice."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet
from discreet import ConfigError, Privacy, SetMaximizer, StateError
from discreet.functions import SetFunction
from discreet.learners.set_maximizer.gain_sum import caught_up
from discreet.learners.set_maximizer.mode import SetMode

USUAL = Privacy(1.0, 1e-6)
MODES: list[dict[str, Any]] = [
    {"feedback": "clicks"},
    {"feedback": "clicks", "stream": "iid"},
    {"feedback": "bandit"},
    {"feedback": "full"},
    {"feedback": "full", "stream": "iid"},
]


def fed(learner: SetMaximizer, rounds: int, worth: np.ndarray, seed: int = 0) -> np.ndarray:
    """Return the slates shown to visitors who like item a with probability worth[a]."""
    generator = np.random.default_rng(seed)
    shown = []
    while rounds > 0:
        learner.release_if_due()
        tickets = learner.open_many(min(rounds, learner.rounds_until_release or rounds, 5000))
        likes = generator.random((len(tickets), len(worth))) < worth
        slates = tickets.numbers
        hits = np.take_along_axis(likes, np.maximum(slates, 0), axis=1) & (slates >= 0)
        clicked = np.where(
            hits.any(axis=1), slates[np.arange(len(slates)), hits.argmax(axis=1)], -1
        )
        kind = learner.settings.feedback
        names = [*(learner.labels or ()), None]  # −1, for no click, is the last one
        answers = {
            "clicks": [names[item] for item in clicked],
            "bandit": hits.any(axis=1).astype(float),
            "full": likes.astype(float),
        }
        if tickets.rounds[0] < learner.clock:  # rounds past the horizon take no answer
            learner.close_many(tickets, answers[kind])
        shown.append(slates)
        rounds -= len(tickets)
    return np.concatenate(shown)


@pytest.mark.parametrize("more", MODES, ids=str)
def test_a_retired_item_is_never_shown_again_and_slates_stay_full(more: dict[str, Any]) -> None:
    worth = np.array([0.5, 0.05, 0.05, 0.3, 0.05, 0.05])
    learner = SetMaximizer(6, 2, 4000, USUAL, seed=1, **more)
    fed(learner, 2500, worth)
    learner.retire(0)
    assert 0 not in learner.active
    assert 0 not in learner.decision["slate"]
    after = fed(learner, 1600, worth, seed=1)  # beyond the horizon too
    assert not (after == 0).any()
    assert (after >= 0).all()
    assert len(set(learner.decision["slate"])) == 2


@pytest.mark.parametrize("more", MODES, ids=str)
def test_a_mask_does_not_bring_a_retired_item_back(more: dict[str, Any]) -> None:
    """A caller with a mask need not know which items were retired."""
    learner = SetMaximizer(6, 2, 4000, USUAL, seed=1, **more)
    fed(learner, 1500, np.array([0.6, 0.05, 0.05, 0.3, 0.05, 0.05]))
    learner.retire(0)
    mask = np.array([True, True, True, True, True, False])
    learner.release_if_due()
    shown = learner.open_many(min(300, learner.rounds_until_release), available=mask).decisions
    assert len(shown)
    assert not np.isin(shown, [0, 5]).any()
    assert 0 not in learner.open(available=mask).decision


@pytest.mark.parametrize("feedback", ["clicks", "bandit"])
def test_rows_that_are_fed_at_once_count_what_a_retired_item_changes(feedback: Any) -> None:
    """The release divides by the number of views of each item."""
    at_once, opened = (SetMaximizer(6, 2, 4000, USUAL, seed=1, feedback=feedback) for _ in range(2))
    for learner in (at_once, opened):
        learner.open_many(10)
        learner.retire(0)
    rows = np.zeros(50, dtype=np.int64) if feedback == "clicks" else np.full(50, 0.5)
    at_once.observe_many(rows)
    opened.close_many(opened.open_many(50), rows)
    one = at_once.snapshot().rounds.mask_counts
    other = opened.snapshot().rounds.mask_counts
    assert one.keys() == other.keys()
    assert any(value.any() for value in one.values())
    assert all(np.array_equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize("more", MODES, ids=str)
def test_a_new_favourite_is_found(more: dict[str, Any]) -> None:
    worth = np.array([0.1, 0.1, 0.15, 0.1, 0.1, 0.1, 0.6, 0.0])
    learner = SetMaximizer(6, 2, 30_000, USUAL, seed=3, max_items=8, **more)
    before = fed(learner, 10_000, worth)
    assert not (before >= 6).any()
    assert learner.add_item() == 6
    assert 6 not in learner.active
    fed(learner, 19_000, worth, seed=1)
    assert 6 in learner.active
    assert 6 in learner.decision["slate"]
    assert 7 not in learner.active


def test_callables_are_not_evaluated_on_items_that_do_not_exist_yet() -> None:
    """They would fail and add nothing, so nothing would be learned about the other items."""
    worth = [0.1, 0.1, 0.9]
    learner = SetMaximizer(
        3, 1, 2000, Privacy(50.0, 1e-6), function=SetFunction, max_items=5, seed=1
    )

    def visits(rounds: int) -> None:
        while rounds > 0:
            learner.release_if_due()
            count = min(rounds, learner.rounds_until_release)
            learner.observe_many([lambda chosen: sum(worth[item] for item in chosen)] * count)
            rounds -= count

    visits(500)
    assert learner.decision["slate"] == [2]
    worth.append(1.0)
    assert learner.add_item() == 3
    learner.retire(2)  # callables may still be evaluated on retired items
    visits(1000)
    assert learner.decision["slate"] == [3]


def test_gains_of_later_items_are_shrunk_by_their_noise() -> None:
    values = np.array([[300.0, 100.0, 200.0, 30.0]])
    lived = np.array([1000, 1000, 1000, 10])
    known = caught_up(values, lived, 1000, variance=1e-9)
    assert np.allclose(known[0], [300, 100, 200, 3000])
    unknown = caught_up(values, lived, 1000, variance=1e6)
    assert unknown[0, 3] == pytest.approx(200, rel=0.01)  # like the others
    assert (caught_up(values, np.full(4, 1000), 1000, 5.0) == values).all()


def test_an_item_comes_back_under_its_number_and_names_stay() -> None:
    shop = SetMaximizer(
        ["tea", "milk", "soap"], 2, 400, USUAL, feedback="clicks", max_items=4, seed=1
    )
    shop.retire("milk")
    assert shop.active == ["tea", "soap"]
    assert shop.add_item("rope") == "rope"
    assert shop.add_item("milk") == "milk"
    fed(shop, 40, np.full(4, 0.2))
    shop.release_if_due()
    assert shop.active == ["tea", "milk", "soap", "rope"]
    assert shop.labels == ["tea", "milk", "soap", "rope"]


def test_pending_items_are_those_of_one_moment_even_if_another_thread_adds_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shop = SetMaximizer(["tea", "milk"], 1, 400, USUAL, feedback="clicks", max_items=4)
    shop.add_item("soap")
    labels_of = SetMode.labels_of

    def interrupted(self: Any, catalogue: Any) -> Any:
        labels = labels_of(self, catalogue)
        monkeypatch.setattr(SetMode, "labels_of", labels_of)
        shop.add_item("rope")  # as another thread may
        return labels

    monkeypatch.setattr(SetMode, "labels_of", interrupted)
    assert shop.pending == ["soap"]
    assert shop.pending == ["soap", "rope"]


@pytest.mark.parametrize(
    ("event", "message"),
    [
        (lambda shop: shop.add_item("tea"), "'tea' already"),
        (lambda shop: shop.add_item(), "have labels"),
        (lambda shop: [shop.add_item(label) for label in "ab"], "room for 4 items"),
        (lambda shop: shop.retire("rope"), "no item 'rope'"),
        (
            lambda shop: [shop.retire(label) for label in ("tea", "milk")],
            "2 slots need as many items",
        ),
        (lambda shop: shop.extend(0), "rounds must be"),
        (lambda shop: shop.extend("soon"), "rounds must be"),
        (lambda shop: shop.retire(3.5), "items must be"),
        (lambda shop: shop.retire(None), "no item None"),
        (lambda shop: shop.change(add="rope"), "add must be a list, got 'rope'"),
        (lambda shop: shop.change(retire=5), "retire must be a list, got 5"),
    ],
)
def test_impossible_events_are_refused_and_change_nothing(event: Any, message: str) -> None:
    shop = SetMaximizer(["tea", "milk", "soap"], 2, 400, USUAL, feedback="clicks", max_items=4)
    with pytest.raises(ConfigError, match=message):
        event(shop)
    assert len(shop.active) >= 2


def test_learners_that_cannot_grow_refuse_more_rounds_and_items() -> None:
    with pytest.raises(ConfigError, match="max_items"):
        SetMaximizer(3, 2, 400, USUAL, max_items=2)
    with pytest.raises(ConfigError, match="one horizon"):
        SetMaximizer(3, 2, 400, USUAL).extend(100)
    done = SetMaximizer(6, 2, 2000, USUAL, feedback="clicks", max_items=8, seed=1)
    fed(done, 2000, np.full(8, 0.1))
    with pytest.raises(StateError, match="extend"):
        done.add_item()
    done.extend(2000)
    assert done.add_item() == 6


@pytest.mark.parametrize("feedback", ["clicks", "bandit"])
def test_more_rounds_are_learned_from_and_cost_nobody_more(feedback: Any) -> None:
    """The world changes with the extension: only a learner that still reads answers follows."""
    first = np.array([0.6, 0.5] + [0.05] * 6)
    second = np.array([0.05] * 6 + [0.5, 0.6])
    learner = SetMaximizer(8, 2, 20_000, USUAL, feedback=feedback, seed=2)
    fed(learner, 20_000, first)
    assert set(learner.decision["slate"]) == {0, 1}
    over = learner.releases
    assert learner.rounds_until_release == 0
    learner.extend(60_000)
    shown = fed(learner, 60_000, second, seed=1)
    assert learner.releases > over + 3
    assert learner.clock == 80_000
    assert learner.guarantee.epsilon_spent <= 1.0
    late = shown[-10_000:]
    assert np.isin(late, [6, 7]).mean() > 0.8


def test_a_horizon_may_grow_while_its_last_block_runs() -> None:
    learner = SetMaximizer(8, 2, 20_000, USUAL, feedback="clicks", seed=2)
    fed(learner, 19_990, np.linspace(0.1, 0.5, 8))
    learner.extend(20_000)
    shown = fed(learner, 20_010, np.linspace(0.1, 0.5, 8))
    assert len(shown) == 20_010
    with pytest.raises(discreet.HorizonReached):
        learner.observe(None)


def test_a_saved_catalogue_is_the_same_after_loading(tmp_path: Path) -> None:
    path = tmp_path / "state"
    shop = SetMaximizer(
        ["tea", "milk", "soap"], 2, 4000, USUAL, feedback="clicks", max_items=5, journal=path
    )
    fed(shop, 100, np.full(5, 0.3))
    shop.add_item("rope")
    shop.retire("tea")
    shop.extend(1000)
    shop.detach()
    again = discreet.load(path)
    assert isinstance(again, SetMaximizer)
    assert again.active == ["milk", "soap"]
    assert again.labels == ["tea", "milk", "soap", "rope"]
    fed(again, 4900, np.full(5, 0.3))
    assert again.clock == 5000
    assert again.active == ["milk", "soap", "rope"]


def test_answers_to_rounds_before_an_event_count_for_the_items_that_were_shown() -> None:
    """The slate of a round stays the one that was shown, even if an item is retired later."""
    learner = SetMaximizer(4, 2, 400, USUAL, feedback="clicks", seed=1, max_items=5)
    before = learner.open_many(5)
    learner.retire(int(before.decisions[0, 0]))
    after = learner.open_many(5)
    gone = int(before.decisions[0, 0])
    assert not (after.decisions == gone).any()
    learner.close_many(before[:1], [gone])
    learner.close_many(after[:1], [gone])  # what was not shown counts as no click
    counts = learner.snapshot().block["found"]
    assert counts.sum() == counts[gone] > 0


@pytest.mark.parametrize("early", [True, False], ids=["in the last block", "after the last report"])
def test_reports_go_on_after_a_horizon_was_extended(early: bool) -> None:
    learner = SetMaximizer(8, 2, 20_000, USUAL, feedback="clicks", stream="iid", seed=2, report=0.2)
    fed(learner, 19_990 if early else 20_000, np.linspace(0.1, 0.5, 8))
    if not early:
        learner.release_if_due()
        assert learner.report().rounds[-1] == 20_000
    learner.extend(20_000)
    fed(learner, 20_010 if early else 20_000, np.linspace(0.1, 0.5, 8))
    learner.release_if_due()
    report = learner.report()
    assert 20_000 in report.rounds
    assert report.rounds[-1] == 40_000
    assert (np.diff(report.rounds) > 0).all()
    assert learner.guarantee.epsilon_spent <= 1.0


@pytest.mark.parametrize("feedback", ["clicks", "bandit"])
def test_a_log_does_not_count_against_items_that_are_added_later(feedback: Any) -> None:
    """Their sums in the log are noise alone: such an item starts with the prior, not with 0."""
    worth = np.array([0.1, 0.1, 0.15, 0.1, 0.1, 0.6, 0.0])
    generator = np.random.default_rng(0)
    slates = [generator.permutation(5)[:2].tolist() for _ in range(4000)]
    hits = [[item for item in slate if generator.random() < worth[item]] for slate in slates]
    answers = (
        [hit[0] if hit else None for hit in hits]
        if feedback == "clicks"
        else [float(bool(h)) for h in hits]
    )
    learner = SetMaximizer(5, 2, 30_000, USUAL, feedback=feedback, seed=3, max_items=7)
    learner.warm_start(list(zip(slates, answers, strict=True)))
    assert learner.add_item() == 5
    fed(learner, 29_000, worth, seed=1)
    assert 5 in learner.decision["slate"]


def test_an_item_that_was_retired_in_the_middle_of_a_block_looks_no_better_for_it() -> None:
    """Its gains are divided by the rounds up to the end of the block, in which they count."""
    learner = SetMaximizer(3, 1, 1000, Privacy(1e5, 1e-6), seed=1, block=100, max_items=4)
    rows = np.tile([0.5, 0.4, 0.1, 0.0], (100, 1))
    learner.observe_many(rows[:50])
    learner.retire(1)
    learner.observe_many(rows[50:])
    learner.release_if_due()
    learner.add_item(1)
    for _ in range(3):
        learner.observe_many(rows)
        learner.release_if_due()
    scores = learner.scores().values[0]
    assert scores[1] == pytest.approx(0.8 * scores[0], rel=0.02)


def test_several_events_happen_all_or_none() -> None:
    shop = SetMaximizer(["tea", "milk", "soap"], 2, 400, USUAL, feedback="clicks", max_items=5)
    with pytest.raises(ConfigError, match="no item 'typo'"):
        shop.change(extend=100, add=["rope"], retire=["typo"])
    assert (shop.horizon, shop.active, shop.pending) == (400, ["tea", "milk", "soap"], [])
    assert shop.change(extend=100, add=["rope", "ink"], retire=["milk"]) == ["rope", "ink"]
    assert (shop.horizon, shop.active, shop.pending) == (500, ["tea", "soap"], ["rope", "ink"])
    plain = SetMaximizer(3, 2, 400, USUAL, feedback="clicks", max_items=6)
    plain.retire(0)
    assert plain.change(add=[None, 0, None]) == [3, 0, 4]


def test_whole_numbers_of_any_kind_name_items() -> None:
    shop = SetMaximizer([101, 205, 307], 2, 400, USUAL, feedback="clicks", max_items=6)
    new: Any = np.int64(400)
    old: Any = np.int64(205)
    assert shop.add_item(new) == 400
    shop.retire(old)
    assert (shop.active, shop.pending) == ([101, 307], [400])
    assert shop.add_item("205") == 205  # by its text, as a command line has it
