"""If these fail, a release of `SetMaximizer` reveals a visitor, or its slates do not improve."""

from fractions import Fraction
from itertools import permutations, product
from math import inf, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import ConfigError, OutOfBounds, Privacy, SetMaximizer
from discreet.engine.coins import Coins
from discreet.engine.flat_state import flat
from discreet.engine.problem import Problem
from discreet.engine.request import EMPTY_REQUEST, Batch, Request
from discreet.functions import (
    FacilityLocation,
    GraphCut,
    MinusModular,
    SetFunction,
    WeightedCoverage,
)
from discreet.functions.chains import FamilyChain
from discreet.learners.set_maximizer.answers import READERS
from discreet.learners.set_maximizer.gain_sum import stacked
from discreet.learners.set_maximizer.preferences import gains_along
from discreet.learners.set_maximizer.slates import distinct_leaders, filled_up
from discreet.release.aggregators.gain_path import GainPath
from discreet.simulate.problems.display import World, run_display
from laws import epsilon_of

USUAL, PURE = Privacy(1.0, 1e-6), Privacy(1.0)
PEOPLE = [(1.0, 0.0, 0.0), (0.0, 1.0, 1.0), (0.0, 0.0, 0.0)]


def mode_of(learner: SetMaximizer) -> Any:
    """Return the mode of a learner."""
    return SetMaximizer.problem_for(learner.settings).mode


def first_view(mode: Any) -> Any:
    """Return the view of the first block."""
    return Problem(mode).view(flat(Problem(mode).start()[0]), 0, 0, Coins(bytes(16)))


def fed(view: Any, person: Any, round: int = 0, request: Request = EMPTY_REQUEST) -> dict[str, Any]:
    """Return a block to which one person was added."""
    block: dict[str, Any] = view.empty_block()
    batch = Batch(np.array([round]), view.problem.answer.rows([person]), request)
    view.count(block, batch)
    return block


# --- privacy of single visitors


def greedy_law(mode: Any, stream: list[Any]) -> list[Fraction]:
    """Return the distribution of the slate drawn from one block of two visitors."""
    view = first_view(mode)
    block = fed(view, stream[0], round=0)["people"]
    block = block.aggregator.merge(block, fed(view, stream[1], round=1)["people"])
    path = mode.disjoint.paths[0]
    law = dict.fromkeys(permutations(range(mode.settings.items), mode.settings.slots), 0.0)
    for coins in product((False, True), repeat=2):
        chance = float(np.prod([path.chance if coin else 1 - path.chance for coin in coins]))
        for slate in law:
            gains = GainPath(
                block, FamilyChain(mode.settings.functions), np.ones(mode.settings.items), 2**16
            )
            gains.begin(np.array(coins))
            likelihood = chance
            for place, item in enumerate(slate):
                weights = np.exp(path.exponent * gains.scores() / 2**16)
                weights[list(slate[:place])] = 0.0
                likelihood *= weights[item] / weights.sum()
                gains.take(item)
            law[slate] += likelihood
    return [Fraction(chance) for _, chance in sorted(law.items())]


@pytest.mark.parametrize("privacy", [Privacy(4.0, 1e-3), Privacy(4.0)])
def test_slates_drawn_along_a_path_lose_no_more_than_their_budget(privacy: Privacy) -> None:
    """All streams of two visitors and all their neighbours are enumerated exactly."""
    learner = SetMaximizer(3, 2, 16, privacy, stream="iid", block=2)
    mode = mode_of(learner)
    total = learner.guarantee.total
    laws = {stream: greedy_law(mode, list(stream)) for stream in product(PEOPLE, repeat=2)}
    claim = total.pure
    worst = 0.0
    for here, there in product(laws, repeat=2):
        if sum(a != b for a, b in zip(here, there, strict=True)) == 1:
            worst = max(worst, epsilon_of(laws[here], laws[there]))
    assert 0.2 * claim <= worst <= claim * (1 + 1e-12)
    assert total.epsilon(privacy) <= 4.0 * (1 + 1e-9)


unit = st.floats(0, 1)
rows = st.lists(
    unit | st.sampled_from([nan, inf, -inf, 1e308, -1.0, 5e-324]), min_size=6, max_size=6
)


@settings(max_examples=80)
@given(
    rows, rows, st.sampled_from([USUAL, PURE]), st.sampled_from(["ClickModel", "FacilityLocation"])
)
def test_one_visitor_moves_the_table_of_gains_by_no_more_than_calibrated(
    here: Any, there: Any, privacy: Privacy, function: Any
) -> None:
    mode = mode_of(SetMaximizer(6, 3, 100, privacy, block=10, function=function))
    view = first_view(mode)
    moved = fed(view, here)["gains"].values - fed(view, there)["gains"].values
    norm = 1 if privacy.pure else 2
    sensitivity = mode.gains.aggregator.sensitivity(norm)
    assert np.linalg.norm(moved.ravel().astype(float), norm) <= sensitivity


@pytest.mark.parametrize(
    ("kind", "values"), [("bandit", [0.0, 0.3, 1.0, nan, 1e308]), ("clicks", [None, 0, 1, 2, 3, 4])]
)
@pytest.mark.parametrize("privacy", [USUAL, PURE])
@pytest.mark.parametrize("stream", ["iid", "drifting"])
def test_one_visitor_moves_the_released_sums_by_no_more_than_calibrated(
    kind: Any, values: list[Any], privacy: Privacy, stream: Any
) -> None:
    """All rounds of the first block and all pairs of answers; the worst pair attains the bound."""
    learner = SetMaximizer(5, 3, 200, privacy, feedback=kind, stream=stream, explore=0.5)
    view = first_view(mode_of(learner))
    aggregator = view.aggregators()["found"]
    for norm in (1, 2):
        largest = 0.0
        for round in range(learner.rounds_until_release):
            sums = [
                fed(view, value, round)["found"].values.ravel().astype(float) for value in values
            ]
            moves = [one - two for one, two in product(sums, repeat=2)]
            largest = max(largest, *(float(np.linalg.norm(move, norm)) for move in moves))
            assert max(np.count_nonzero(move) for move in moves) <= aggregator.cells
        assert largest == pytest.approx(aggregator.sensitivity(norm), rel=1e-9)


def test_gains_of_items_already_before_a_slot_are_on_top_of_the_others() -> None:
    shop = SetMaximizer(3, 2, 10, USUAL).settings
    (gains,) = gains_along(np.array([[0.5, 0.4, 0.2]]), np.array([0, 1]), shop, known=3)
    assert gains[0, 0].tolist() == [0.5, 0.4, 0.2]
    assert gains[0, 1].round(6).tolist() == [0.5, 0.2, 0.1]


@settings(max_examples=30)
@given(st.integers(1, 5), st.integers(0, 2**32))
def test_the_fused_kernel_adds_the_gains_that_plain_code_adds(slots: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    mode = mode_of(SetMaximizer(7, slots, 100, USUAL, block=10))
    view = first_view(mode)
    aggregator = mode.gains.aggregator
    assert aggregator.is_fine
    people = generator.uniform(0, 1, size=(1, 7)) * generator.choice([0.1, 1.0])
    fused = fed(view, people[0])["gains"].values
    plain = aggregator.empty()
    for gains in gains_along(people, view.public.slate, mode.settings, known=7):
        aggregator.add(plain, stacked(gains))
    assert np.abs(fused - plain.values).max() <= 1 + aggregator.levels * 1e-5


# --- defaults


def test_a_pure_guarantee_leaves_most_of_the_value_with_the_sum() -> None:
    world = World.drawn(10_000, seed=3)
    learner = SetMaximizer(100, 5, 10_000, PURE, seed=1)
    assert learner.facts["method"] == "gain-sum"
    assert world.share(run_display(learner, world, seed=3).value, 5) > 0.5


# --- value


def shop(people: int, seed: int = 0) -> np.ndarray:
    """Return rows of two kinds of visitors who like different items."""
    generator = np.random.default_rng(seed)
    kinds = np.array([[0.8, 0.05, 0.6, 0.05, 0.05, 0.05], [0.05, 0.7, 0.05, 0.05, 0.1, 0.05]])
    return kinds[generator.integers(2, size=people)]


def visited(
    learner: SetMaximizer, people: np.ndarray, masks: Any = None, seed: int = 1
) -> np.ndarray:
    """Return, per visitor, whether they clicked on the slate that the learner showed them."""
    generator = np.random.default_rng(seed)
    position = 0
    clicks = []
    while position < len(people):
        learner.release_if_due()
        count = min(learner.rounds_until_release, len(people) - position)
        part = slice(position, position + count)
        tickets = learner.open_many(count, None if masks is None else masks[part])
        slates = tickets.decisions
        chances = np.take_along_axis(people[part], np.maximum(slates, 0), 1) * (slates >= 0)
        hits = generator.random(chances.shape) < chances
        clicked = np.where(hits.any(axis=1), slates[np.arange(count), hits.argmax(axis=1)], -1)
        if learner.settings.feedback == "full":
            learner.close_many(tickets, people[part])
        elif learner.settings.feedback == "clicks":
            learner.close_many(tickets, clicked)
        else:
            learner.close_many(tickets, hits.any(axis=1).astype(float))
        clicks.append(hits.any(axis=1))
        position += count
    return np.concatenate(clicks)


@pytest.mark.parametrize("more", [{}, {"stream": "iid"}, {"privacy": Privacy(3.0)}])
def test_full_information_finds_the_complements(more: dict[str, Any]) -> None:
    """Items 0 and 2 are the most popular, but all visitors like item 0 or item 1."""
    learner = SetMaximizer(6, 2, 6000, seed=3, **({"privacy": USUAL} | more))
    slates = learner.replay(shop(6000))
    assert set(slates[-1]) == {0, 1}
    assert set(learner.decision["slate"]) == {0, 1}


@pytest.mark.parametrize("stream", ["iid", "drifting"])
@pytest.mark.parametrize("feedback", ["clicks", "bandit"])
def test_partial_feedback_finds_the_complements(feedback: Any, stream: Any) -> None:
    learner = SetMaximizer(6, 2, 60_000, USUAL, feedback=feedback, stream=stream, seed=3)
    visited(learner, shop(60_000))
    assert set(learner.decision["slate"]) == {0, 1}


def test_other_functions_and_callables_learn_too() -> None:
    rows = shop(3000)
    each_its_own = WeightedCoverage(tuple(tuple(int(i == j) for j in range(6)) for i in range(6)))
    for function in (FacilityLocation, each_its_own):
        learner = SetMaximizer(
            6, 2, 3000, Privacy(3.0, 1e-6), function=function, stream="iid", seed=1
        )
        scale = 1.0 if function is FacilityLocation else rows.sum(axis=1, keepdims=True)
        assert 0 in learner.replay(rows / scale)[-1]
    people = [
        lambda chosen, row=row: 5 * (1 - float(np.prod(1 - row[chosen]))) for row in rows[:400]
    ]
    learner = SetMaximizer(6, 2, 400, Privacy(20.0, 1e-6), function=SetFunction, bound=5.0, seed=1)
    assert 0 in learner.replay(people)[-1]


# --- masks

FEW = [{"feedback": "full"}, {"feedback": "full", "stream": "iid"}]
PARTIAL = [
    {"feedback": f, "stream": s} for f, s in product(["clicks", "bandit"], ["drifting", "iid"])
]


@pytest.mark.parametrize("more", [*FEW, *PARTIAL], ids=lambda more: " ".join(more.values()))
def test_under_masks_slates_are_full_as_far_as_items_go_and_show_nothing_unavailable(
    more: dict[str, Any], generator: np.random.Generator
) -> None:
    """Blocks before and after the first release have one mask per round, or one for all."""
    learner = SetMaximizer(7, 3, 3000, USUAL, seed=1, **more)
    people = generator.random((3000, 7)) * 0.5
    masks = generator.random((3000, 7)) < generator.choice([0.3, 0.7], size=(3000, 1))
    masks[~masks.any(axis=1), 2] = True
    position = 0
    while position < 3000:
        learner.release_if_due()
        count = min(learner.rounds_until_release, 3000 - position)
        part = masks[position : position + count]
        shared = position % 2 == 1
        tickets = learner.open_many(count, part[0] if shared else part)
        for slate, mask in zip(
            tickets.decisions, np.repeat(part[:1], count, 0) if shared else part, strict=True
        ):
            shown = slate[slate >= 0]
            assert len(set(shown.tolist())) == len(shown) == min(3, int(mask.sum()))
            assert mask[shown].all()
            assert (slate[len(shown) :] == -1).all()
        feedback = (
            people[position : position + count]
            if learner.settings.feedback == "full"
            else np.zeros(count)
        )
        learner.close_many(tickets, feedback)
        position += count
    assert learner.releases > 1


@pytest.mark.parametrize("more", PARTIAL, ids=lambda more: " ".join(more.values()))
def test_only_shown_items_count_as_seen(
    more: dict[str, Any], generator: np.random.Generator
) -> None:
    """An item that is never available has no views, and no cell in the posterior."""
    learner = SetMaximizer(6, 2, 4000, USUAL, seed=1, explore=0.5, **more)
    masks = generator.random((4000, 6)) < 0.8
    masks[:, 4] = False
    masks[:, 0] = True
    visited(learner, np.full((4000, 6), 0.5), masks)
    public = learner.snapshot().public
    assert learner.releases > 1
    assert (public["posterior.precisions"][:, 4] == 0).all()  # noise is not a view
    assert (public["posterior.precisions"][0, [0, 1, 2, 3, 5]] > 0).all()
    assert 4 not in learner.open(available=masks[0]).decision


@pytest.mark.parametrize("more", [*FEW[:1], *PARTIAL], ids=lambda more: " ".join(more.values()))
def test_good_items_are_found_under_masks(
    more: dict[str, Any], generator: np.random.Generator
) -> None:
    """A third of the items is unavailable in each round; the best ones are found all the same."""
    horizon = 6000 if more["feedback"] == "full" else 30_000
    learner = SetMaximizer(6, 2, horizon, USUAL, seed=3, **more)
    masks = generator.random((horizon, 6)) < 0.7
    masks[~masks.any(axis=1), 3] = True
    visited(learner, shop(horizon), masks)
    assert 0 in learner.decision["slate"]
    assert set(learner.decision["slate"]) <= {0, 1, 2}


def test_unavailable_items_are_not_shown_and_slots_are_filled() -> None:
    learner = SetMaximizer(["a", "b", "c", "d", "e", "f"], 2, 3000, USUAL, seed=1)
    learner.replay(shop(2990))
    mask = np.array([False, True, True, True, True, True])
    slate = learner.open(available=mask).decision
    assert len(slate) == 2
    assert "a" not in slate
    assert slate[0] in "bc"
    few = learner.open(available=[False, False, False, False, True, False]).decision
    assert few == ["e"]
    for wrong in ([False] * 6, [True] * 5, "yes", np.ones(6)):
        with pytest.raises(ConfigError, match="yes at least once"):
            learner.open(available=wrong)


# --- slates from tables


def test_slates_are_read_off_tables_slot_by_slot() -> None:
    table = np.array([[3.0, 2.0, 1.0], [9.0, 2.0, 5.0]])
    assert distinct_leaders(table).tolist() == [0, 2]
    assert distinct_leaders(table, np.array([False, True, False])).tolist() == [1]


@settings(max_examples=80)
@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 2**32), st.booleans())
def test_filled_slates_begin_with_their_available_items_in_order(
    items: int, slots: int, seed: int, one: bool
) -> None:
    generator = np.random.default_rng(seed)
    slots = min(slots, items)
    slates = np.array([generator.permutation(items)[:slots] for _ in range(3)])
    slates[generator.random(slates.shape) < 0.2] = -1
    masks = generator.random((3, items)) < 0.6
    order = generator.permutation(items)
    filled = filled_up(slates, masks[0] if one else masks, order)
    for before, after, mask in zip(
        slates, filled, np.repeat(masks[:1], 3, 0) if one else masks, strict=True
    ):
        own = [item for item in before if item >= 0 and mask[item]]
        fill = [item for item in order if mask[item] and item not in own]
        expected = (own + fill)[:slots]
        assert after.tolist() == expected + [-1] * (slots - len(expected))


# --- labels and clicks


def aggregator_of(learner: SetMaximizer) -> Any:
    """Return the aggregator of the first block."""
    return first_view(mode_of(learner)).aggregators()["found"]


def clicked(learner: SetMaximizer, click: Any) -> int:
    """Return the item that one answer names, if the round shows the first items in order."""
    batch = Batch(np.array([0]), [click], EMPTY_REQUEST)
    return int(clicked_items(learner, batch, np.arange(learner.settings.slots)[None])[0])


def clicked_items(learner: SetMaximizer, batch: Batch, slates: Any) -> Any:
    """Return the items that answers to these slates name."""
    numbers = {label: number for number, label in enumerate(learner.labels or [])}
    answers: Any = READERS["clicks"](batch, slates, numbers, learner.settings)
    return answers.items


def test_labels_name_clicks_and_slates() -> None:
    learner = SetMaximizer(["tea", "milk", "soap"], 2, 100, USUAL, feedback="clicks")
    slate = learner.act()
    assert set(slate) < {"tea", "milk", "soap"}
    learner.observe(slate[0])
    clicks = ("tea", "milk", "soap", None, "rope")
    assert [clicked(learner, click) for click in clicks] == [0, 1, -1, -1, -1]
    assert all(label in ("tea", "milk", "soap") for label in learner.decision["slate"])


def test_with_labels_a_whole_number_is_a_label_and_never_a_position() -> None:
    """Otherwise a click on product 2 would count for the third product."""
    products = SetMaximizer([2, 0, 7], 2, 100, USUAL, feedback="clicks")
    clicks = (2, 0, 7, 1, np.int64(0), 2.0)
    assert [clicked(products, click) for click in clicks] == [0, 1, -1, -1, 1, 0]
    many = Batch(np.arange(4), np.array([2, 0, 7, 1]), EMPTY_REQUEST)
    slates = np.array([[0, 1], [0, 1], [2, 0], [0, 1]])
    assert clicked_items(products, many, slates).tolist() == [0, 1, 2, -1]
    names = SetMaximizer(["tea", "milk", "soap"], 2, 100, USUAL, feedback="clicks")
    assert [clicked(names, click) for click in (0, 1, 2, "0")] == [-1] * 4
    with pytest.raises(OutOfBounds, match="by its label"):
        names.close(names.open(), 1)
    assert set(products.decision["slate"]) < {2, 0, 7}
    assert all(type(label) is int for label in products.decision["slate"])


def test_a_click_is_one_item_however_it_is_wrapped() -> None:
    """Huge numbers and other malformed clicks count as none, and do not stop the others."""
    learner = SetMaximizer(12, 3, 1000, USUAL, feedback="clicks", stream="iid")
    slates = learner.preview(6)
    wrapped = [
        2**70,
        np.uint64(2**64 - 1),
        [*slates[2].tolist(), "pear"],
        "pear",
        float(slates[4, 0]),
        int(slates[5, 1]),
    ]
    learner.observe_many(wrapped)
    levels = aggregator_of(learner).levels
    assert learner.snapshot().block["found"].sum() == 2 * levels
    with pytest.raises(OutOfBounds, match="one click per round"):
        learner.observe_many(learner.preview(6))  # whole slates as clicks
    assert learner.clock == 6
    assert learner.snapshot().block["found"].sum() == 2 * levels


def test_several_clicks_count_as_the_first_in_the_order_of_slots() -> None:
    learner = SetMaximizer(12, 3, 1000, USUAL, feedback="clicks", stream="iid")
    several = [[2, 1], (1, 0), [5, 2], [7, 8], [], [0, 99], [True]]
    assert [clicked(learner, clicks) for clicks in several] == [1, 0, -1, -1, -1, -1, -1]
    slate = learner.act()
    learner.observe([int(slate[2]), int(slate[1])])
    counted = learner.snapshot().block["found"]
    assert np.flatnonzero(counted).tolist() == [slate[1]]
    learner.act()
    with pytest.raises(OutOfBounds, match="a list of them"):
        learner.observe([0, "pear"])


def test_a_click_on_what_was_not_shown_counts_as_none() -> None:
    learner = SetMaximizer(12, 3, 1000, USUAL, feedback="clicks", stream="iid")
    tickets = learner.open_many(20)
    hidden = [next(item for item in range(12) if item not in slate) for slate in tickets.decisions]
    learner.close_many(tickets, hidden)
    assert not learner.snapshot().block["found"].any()


# --- the rest


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"slots": 9}, r"slots \(9\) must not exceed items \(4\)"),
        ({"horizon": 0}, "horizon must be a whole number"),
        ({"horizon": None}, "horizon must be a whole number"),
        ({"horizon": 2**50}, "horizon must be a whole number, between 1 and"),
        ({"items": 0}, "items must be a whole number"),
        ({"items": ["a", "a", "b"]}, "items must be different"),
        ({"items": [1, "1", 2]}, "items must be different"),
        ({"items": [1.5, 2.5]}, "items must be texts or whole numbers"),
        ({"items": []}, "at least one"),
        ({"bound": 0.0}, "bound must be a number between"),
        ({"bound": 2.0}, "bound is for callables and rewards"),
        ({"bound": 1e-200, "feedback": "bandit"}, "bound must be a number between"),
        ({"feedback": "smoke"}, "feedback must be full or bandit or clicks, got 'smoke'"),
        ({"stream": "odd"}, "stream must be drifting or iid"),
        ({"feedback": "bandit", "explore": 1.5}, "explore must be a number between"),
        ({"explore": 0.1}, "explore is for feedback='clicks' or 'bandit'"),
        ({"function": dict}, "function must be"),
        ({"function": MinusModular(GraphCut(((0, 1),)))}, "function must be"),
        ({"function": WeightedCoverage(((1, 0),))}, "covers must have"),
        ({"stream": "iid", "function": SetFunction}, "built-in function"),
        ({"feedback": "clicks", "stream": "iid", "slots": 4, "horizon": 5}, "too short"),
    ],
)
def test_impossible_shops_are_refused_with_their_value(
    change: dict[str, Any], message: str
) -> None:
    base: dict[str, Any] = {"items": 4, "slots": 2, "horizon": 100, "privacy": USUAL} | change
    with pytest.raises(ConfigError, match=message):
        SetMaximizer(**base)


@pytest.mark.parametrize("stream", ["iid", "drifting"])
def test_a_horizon_that_is_too_short_leads_to_a_warning(stream: Any) -> None:
    short = SetMaximizer(100, 5, 2000, USUAL, feedback="bandit", stream=stream)
    long = SetMaximizer(5, 2, 10**6, USUAL, feedback="bandit", stream=stream)
    assert "too short" in short.facts["warning"]
    assert "warning" not in long.facts


@pytest.mark.parametrize("more", [{}, {"feedback": "bandit", "bound": 1e-3, "stream": "iid"}])
def test_huge_answers_are_clipped_without_a_warning(more: dict[str, Any]) -> None:
    learner = SetMaximizer(3, 2, 20, USUAL, **more)
    learner.observe_many([1e308 if more else [1e308, -1e308, 0.5]])
    callables = SetMaximizer(3, 2, 20, USUAL, function=SetFunction, bound=0.5, block=5)
    callables.observe_many([lambda chosen: 1.7e308 * len(chosen) / 3, "not a callable"])
    assert callables.clock == 2


@pytest.mark.parametrize("bound", [1.0, 7.0, 49.0, 1e-3])
def test_rewards_are_counted_in_units_of_their_bound(bound: float) -> None:
    learner = SetMaximizer(
        4, 2, 400, USUAL, feedback="bandit", stream="iid", bound=bound, explore=0.5
    )
    tickets = learner.open_many(10)
    learner.close_many(tickets, [bound] * 10)
    levels = aggregator_of(learner).levels
    # one sum for each of two items, and one for the total
    assert learner.snapshot().block["found"].sum() == 10 * 3 * levels


@pytest.mark.parametrize(
    "more",
    [{}, {"feedback": "clicks", "explore": 0.5}, {"feedback": "bandit", "stream": "iid"}],
    ids=str,
)
def test_scores_come_with_their_standard_deviations(more: dict[str, Any]) -> None:
    learner = SetMaximizer(5, 2, 1000, USUAL, seed=1, **more)
    while not learner.releases:
        learner.observe_many([learner.preview(1)[0][0] if "feedback" in more else [0.5] * 5])
        learner.release_if_due()
    scores = learner.scores()
    assert scores.standard_deviations is not None
    assert scores.values.shape == scores.standard_deviations.shape
    assert (scores.standard_deviations > 0).all()
