"""If these fail, a release of the incumbent search reveals a visitor, or it finds no good slate."""

from itertools import product
from math import inf, nan
from typing import Any

import numpy as np
import pytest

from discreet import Privacy, SetMaximizer
from discreet.engine.flat_state import flat, of_flat
from discreet.engine.problem import view_of
from discreet.engine.request import EMPTY_REQUEST, Batch, Request
from discreet.learners.set_maximizer.incumbent_search.incumbent import Incumbent, climbed
from discreet.learners.set_maximizer.incumbent_search.posterior import Posterior, empirical_prior
from discreet.learners.set_maximizer.incumbent_search.schedule import ScreeningSchedule
from discreet.learners.set_maximizer.incumbent_search.shown import UNIT
from discreet.learners.set_maximizer.incumbent_search.shown_exchange import ExchangeSlates
from discreet.learners.set_maximizer.incumbent_search.shown_screening import (
    CountingGains,
    CountingShows,
    CountingViews,
)
from discreet.learners.set_maximizer.incumbent_search.tables import random_table, thompson_table
from discreet.learners.set_maximizer.incumbent_search.trials import Ahead, Trials, click_trials
from discreet.learners.set_maximizer.incumbent_search.tuning import TUNED
from discreet.simulate.problems.display import World, run_display

USUAL = Privacy(1.0, 1e-6)
KINDS = [(feedback, stream) for feedback in ("clicks", "bandit") for stream in ("drifting", "iid")]


def views_of_run(feedback: Any, stream: Any, **more: Any) -> list[Any]:
    """Return the view of each block of a small run."""
    world = World.drawn(3000, items=9, kinds=4, favourites=2, seed=1)
    learner = SetMaximizer(9, 3, 3000, USUAL, feedback=feedback, stream=stream, seed=1, **more)
    mode = SetMaximizer.problem_for(learner.settings)
    views: list[Any] = [view_of(mode, learner.snapshot())]
    generator = np.random.default_rng(0)
    first = 0
    while first < 3000:
        if learner.release_if_due():
            views.append(view_of(mode, learner.snapshot()))
        count = min(learner.rounds_until_release, 3000 - first)
        slates = learner.preview(count)
        chances = np.take_along_axis(world.rows(first, first + count), slates, axis=1)
        hits = generator.random(chances.shape) < chances
        clicked = np.where(hits.any(axis=1), slates[np.arange(count), hits.argmax(axis=1)], -1)
        learner.observe_many(clicked if feedback == "clicks" else hits.any(axis=1).astype(float))
        first += count
    return views


def added(view: Any, answer: Any, round: int, request: Request = EMPTY_REQUEST) -> Any:
    """Return the numbers that one visitor adds to an empty block."""
    block = view.empty_block()
    batch = Batch(np.array([round]), view.problem.answer.rows([answer]), request)
    view.count(block, batch)
    return block["found"].values.reshape(-1).astype(float)


@pytest.mark.parametrize(("feedback", "stream"), KINDS)
def test_one_visitor_moves_every_block_by_no_more_than_is_paid_for(
    feedback: Any, stream: Any
) -> None:
    """This covers all kinds of blocks, some rounds of each, all pairs of answers, and masks."""
    answers = (
        [None, *range(9), [0, 4, 8]] if feedback == "clicks" else [0.0, 0.3, 1.0, -5.0, nan, 1e308]
    )
    kinds = set()
    for view in views_of_run(feedback, stream):
        if not view.aggregators():
            continue
        aggregator = view.aggregators()["found"]
        kinds.add(type(aggregator).__name__ + str(aggregator.shape))
        assert view.step.charge.amount <= 1.0 + 1e-9
        mask = np.array([True, False, True, True, True, False, True, True, True])
        for round, request in product(
            view.begin + np.arange(0, 40, 7), (EMPTY_REQUEST, Request(None, mask))
        ):
            numbers = [added(view, answer, int(round), request) for answer in answers]
            moved = max(float(np.abs(one - two).sum()) for one, two in product(numbers, repeat=2))
            assert moved <= aggregator.sensitivity(1)
    assert len(kinds) == (2 if feedback == "clicks" else 3)


@pytest.mark.parametrize(("feedback", "stream"), KINDS)
def test_slates_are_full_and_do_not_depend_on_how_many_rounds_are_asked_at_once(
    feedback: Any, stream: Any
) -> None:
    for view in views_of_run(feedback, stream):
        rounds = view.begin + np.arange(min(50, view.phase.block_plan.length))
        slates = view.decide(rounds, EMPTY_REQUEST)
        assert all(len(set(slate)) == 3 and min(slate) >= 0 for slate in slates.tolist())
        alone = [view.decide(rounds[place : place + 1], EMPTY_REQUEST)[0] for place in range(9)]
        assert np.array_equal(slates[:9], alone)


@pytest.mark.parametrize("feedback", ["clicks", "bandit"])
def test_what_is_counted_under_masks_is_what_was_shown(feedback: Any) -> None:
    """A mask that hides nothing changes no count; one that hides an item removes its views."""
    for view in views_of_run(feedback, "iid")[:-1]:
        rounds = view.begin + np.arange(min(200, view.phase.block_plan.length))
        unmasked = counted(view, rounds, np.ones(9, dtype=bool))
        assert not any(counts.any() for counts in unmasked.values())
        second = view.public.slate[1]
        mask = np.ones(9, dtype=bool)
        mask[second] = False
        hidden = counted(view, rounds, mask)
        counts = hidden["views"] if "views" in hidden else hidden["counts"]
        assert (counts[..., second] <= 0).all()
        one_by_one = view.no_mask_counts()
        for place in range(len(rounds)):
            view.count_masks(one_by_one, rounds[place : place + 1], Request(None, mask))
        assert all(np.array_equal(one_by_one[name], hidden[name]) for name in hidden)


@pytest.mark.parametrize("feedback", ["clicks", "bandit"])
def test_slates_and_counts_under_masks_are_those_of_a_plain_reference(feedback: Any) -> None:
    """Counts are equal to the last step, whether rounds are counted one by one or together."""
    generator = np.random.default_rng(5)
    for view in views_of_run(feedback, "iid")[:-1]:
        rounds = view.begin + np.arange(min(60, view.phase.block_plan.length))
        masks = generator.random((len(rounds), 9)) < generator.choice(
            [0.2, 0.9], size=(len(rounds), 1)
        )
        masks[:, 0] |= ~masks.any(axis=1)
        block, positions = view.phase.shown, rounds - view.begin
        planned, shown = block.slates(positions, None), block.slates(positions, masks)
        kind = _exchanged if isinstance(block, ExchangeSlates) else _filled
        assert shown.tolist() == [
            kind(slate, mask, view.phase.order)
            for slate, mask in zip(planned.tolist(), masks, strict=True)
        ]
        alone = [
            block.slate_of_one(int(at), mask) for at, mask in zip(positions, masks, strict=True)
        ]
        assert np.array_equal(shown, alone)
        counts = counted(view, rounds, masks)
        expected = {name: np.zeros_like(values) for name, values in counts.items()}
        for place, slate in enumerate(planned.tolist()):
            for sign, row in ((1, shown[place].tolist()), (-1, slate)):
                _count(
                    block,
                    int(positions[place]),
                    [item for item in row if item >= 0],
                    sign,
                    expected,
                )
        assert all(np.array_equal(counts[name], expected[name]) for name in counts)


def counted(view: Any, rounds: Any, mask: Any) -> dict[str, Any]:
    """Return the mask counts of these rounds."""
    mask_counts: dict[str, Any] = view.no_mask_counts()
    view.count_masks(mask_counts, rounds, Request(None, mask))
    return mask_counts


def _filled(slate: list[int], mask: Any, order: Any) -> list[int]:
    """Return a slate of a screening block under a mask."""
    own = [item for item in slate if mask[item]]
    fill = [item for item in order.tolist() if mask[item] and item not in own]
    shown = (own + fill)[: len(slate)]
    return shown + [-1] * (len(slate) - len(shown))


def _exchanged(slate: list[int], mask: Any, order: Any) -> list[int]:
    """Return a slate of an exchange block under a mask."""
    first = [item for item in slate[:-1] if mask[item]]
    last = [item for item in slate[-1:] if mask[item]]
    fill = [item for item in order.tolist() if mask[item] and item not in (*first, slate[-1])]
    if not last:
        last = fill[:1]
        fill = fill[1:]
    shown = first + fill[: len(slate) - 1 - len(first)] + last
    return shown + [-1] * (len(slate) - len(shown))


def _count(block: Any, position: int, slate: list[int], sign: int, counts: dict[str, Any]) -> None:
    """Add the counts of one slate, in exact steps."""
    interest = block.interest
    if isinstance(block, ExchangeSlates):
        arm = block.allotment.of_one(position)
        slot, last = block.arm_slots[arm], slate[-1]
        expected = np.prod(1 - interest[block.arm_slates[arm][:-1]])
        remaining = np.prod(1 - interest[slate[:-1]])
        views = np.rint(remaining / expected * UNIT) if block.takes_turns else UNIT
        more = np.rint((expected - remaining) * (1 - interest[last]) * UNIT)
        counts["views"][slot, last] += sign * int(views)
        counts["more"][slot, last] += sign * int(more)
        return
    no_click = np.prod(1 - interest[slate])
    for place, item in enumerate(slate):
        if item in block.prefix:
            continue
        looks = np.prod(1 - interest[slate[:place]]) / np.prod(1 - interest[block.prefix])
        gain = no_click / (1 - interest[item])
        numbers: dict[Any, list[float]] = {CountingViews: [min(looks, 1.0)], CountingShows: [1.0]}
        numbers[CountingGains] = [gain * gain, gain * (1 - no_click), gain]
        for row, number in enumerate(numbers[type(block)]):
            counts["counts"][row, item] += sign * int(np.rint(number * UNIT))


def test_an_exchange_block_shows_each_trial_as_often_as_planned() -> None:
    interest = np.full(6, 0.1)
    trials = Trials(slots=np.array([0, 2]), items=np.array([4, 5]), rounds=np.array([20, 7]))
    block = ExchangeSlates(
        np.array([0, 1, 2]), trials, 100, bytes(16), interest, np.arange(6), takes_turns=True
    )
    slates = block.slates(np.arange(100), None)
    assert (slates[:, -1] == 4).sum() == 20
    assert {tuple(slate) for slate in slates[slates[:, -1] == 4].tolist()} == {(1, 2, 4)}
    assert {tuple(slate) for slate in slates[slates[:, -1] == 5].tolist()} == {(0, 1, 5)}
    assert block.planned()[0, 4] == 20 * UNIT
    assert block.planned().sum() == 100 * UNIT
    hidden = np.array([True, True, True, True, False, True])
    masked = block.slates(np.arange(100), hidden)
    assert not (masked == 4).any()
    # the best item that is left takes the last place
    assert (masked[slates[:, -1] == 4][:, -1] == 0).all()


def test_views_behind_a_prefix_are_those_of_visitors_who_click_none_of_it() -> None:
    interest = np.array([0.5, 0.2, 0.1, 0.0])
    block = CountingViews(np.array([[0, 1, 2]]), np.array([0]), interest, np.arange(4))
    assert (block.planned(10)[0] / UNIT).round(3).tolist() == [0.0, 10.0, 8.0, 0.0]


def test_a_gain_in_one_context_informs_others_and_old_gains_fade() -> None:
    posterior = Posterior.before(5, slots=3, interest=0.1)
    posterior = posterior.with_cells([], np.array([0.3, 0.1, 0.1, 0.1, 0.1]), np.full(5, 1e-4))
    seen = np.array([False, False, True, False, False])
    after = posterior.with_cells([0, 1], np.full(5, 0.2), np.full(5, 1e-6), seen)
    for near, far in (([0, 1], [3, 4]), ([0, 3], [3, 4])):
        assert after.gains([near]).means[0, 2] > posterior.gains([near]).means[0, 2]
        assert after.gains([near]).variances[0, 2] < after.gains([far]).variances[0, 2]
    assert after.faded(0.1).gains([[0, 1]]).variances[0, 2] > after.gains([[0, 1]]).variances[0, 2]
    again = of_flat(Posterior, flat(after))
    assert again.gains([[0]]).means.tolist() == after.gains([[0]]).means.tolist()


def test_the_state_stays_small_whatever_is_tried() -> None:
    posterior = Posterior.before(30, slots=3, interest=0.1)
    for first, second in product(range(20), range(20, 30)):
        posterior = posterior.with_cells([first, second], np.full(30, 0.1), np.full(30, 1e-3))
    assert len(posterior.contexts) == TUNED.most_contexts
    assert (posterior.contexts[0] == -1).all()
    sizes = [
        SetMaximizer(20, 3, horizon, USUAL, feedback="clicks", seed=1).state_bytes
        for horizon in (10**5, 10**11)
    ]
    assert abs(sizes[1] - sizes[0]) < 100


def test_only_exchanges_that_are_clearly_better_are_made_and_unknown_items_are_tried() -> None:
    posterior = Posterior.before(4, slots=2, interest=0.1)
    posterior = posterior.with_cells(
        [], np.array([0.1, 0.2, 0.3, 0.3]), np.array([1e-6, 1e-6, 1e-6, 1.0])
    )
    everything = np.ones(4, dtype=bool)
    slate = climbed(posterior.with_interest(), np.array([0, 1]), everything, steps=10, caution=0.5)
    assert set(slate.tolist()) == {1, 2}
    incumbent = Incumbent.of(posterior.with_interest(), slate)

    def tried(most: float, later: float) -> Trials:
        return click_trials(posterior, incumbent, everything, Ahead(4000, most, later, noise=2.0))

    trials = tried(inf, 1e5)
    assert 3 in trials.items  # its gain is unknown
    assert trials.rounds.sum() <= 2000
    assert len(tried(inf, 0.0).items) == 0
    assert 0 < tried(20.0, 1e5).rounds.sum() <= 20


@pytest.mark.parametrize("feedback", ["clicks", "bandit"])
@pytest.mark.parametrize("explore", [0.02, 0.2])
def test_no_more_visitors_see_trials_than_explore_allows(feedback: Any, explore: float) -> None:
    """Each slate other than the best known one is a trial; new tastes lead to new screenings."""
    one, two = (World.drawn(20_000, items=12, kinds=4, favourites=2, seed=seed) for seed in (3, 4))
    learner = SetMaximizer(12, 2, 40_000, USUAL, feedback=feedback, explore=explore, seed=1)
    luck = np.random.default_rng(0)
    tried = 0
    while learner.clock < 40_000:
        learner.release_if_due()
        world = one if learner.clock < 20_000 else two
        tickets = learner.open_many(
            min(learner.rounds_until_release, 20_000 - learner.clock % 20_000)
        )
        slates = tickets.decisions
        best = set(learner.decision["slate"])
        tried += sum(set(slate) != best for slate in slates.tolist())
        hits = luck.random(slates.shape) < np.take_along_axis(
            world.chances[world.types[tickets.rounds % 20_000]], slates, axis=1
        )
        clicked = np.where(
            hits.any(axis=1), slates[np.arange(len(slates)), hits.argmax(axis=1)], -1
        )
        learner.close_many(
            tickets, clicked if feedback == "clicks" else hits.any(axis=1).astype(float)
        )
    assert 0 < tried <= explore * 40_000


def test_tables_show_every_item_equally_often_or_the_leaders_behind_a_prefix() -> None:
    generator = np.random.default_rng(0)
    table = random_table(np.ones(46, dtype=bool), 3, generator)
    counts = np.bincount(table.reshape(-1), minlength=46)
    assert counts.max() - counts.min() <= 10
    assert all(len(set(slate)) == 3 for slate in table.tolist())
    posterior = Posterior.before(10, slots=3, interest=0.1)
    posterior = posterior.with_cells([], np.linspace(0, 0.5, 10), np.full(10, 1e-8))
    table = thompson_table(
        posterior, np.array([2]), 3, np.ones(10, dtype=bool), generator, bold=0.7
    )
    assert (table[:, 0] == 2).all()
    assert set(table[:, 1:].reshape(-1).tolist()) == {8, 9}


def test_the_prior_of_a_population_is_separated_from_the_noise_of_its_members(
    generator: np.random.Generator,
) -> None:
    true = generator.normal(0.3, 0.05, size=20_000)
    noise = generator.uniform(0.02, 0.1, size=20_000)
    centre, spread = empirical_prior(true + generator.normal(size=20_000) * noise, noise**2)
    assert centre == pytest.approx(0.3, abs=0.003)
    assert spread**0.5 == pytest.approx(0.05, rel=0.1)


def test_rare_clicks_make_screening_longer() -> None:
    screening = ScreeningSchedule(46, 3, 10**6, "clicks")
    assert screening.length(0.0045) > 2 * screening.length(0.05)
    assert screening.length(1e-6) <= 0.36 * 10**6
    short = ScreeningSchedule(46, 3, 10**6, "clicks", most=0.01)
    assert short.length(0.05) == pytest.approx(10**4, rel=0.001)
    unlimited = ScreeningSchedule(46, 3, 10**6, "clicks", most=0.9)
    assert unlimited.length(0.05) == screening.length(0.05)


@pytest.mark.parametrize("feedback", ["clicks", "bandit"])
def test_tastes_that_change_in_the_middle_are_followed(feedback: Any) -> None:
    """The world changes in the middle: the best fixed slate earns less than a learner can."""
    rounds = 150_000
    one, two = (
        World.drawn(rounds // 2, items=12, kinds=4, favourites=2, seed=seed) for seed in (3, 4)
    )
    weights = np.concatenate([one.weights, two.weights]) / 2
    world = World(
        weights, np.vstack([one.chances, two.chances]), np.concatenate([one.types, two.types + 4])
    )
    learner = SetMaximizer(12, 2, rounds, USUAL, feedback=feedback, seed=1)
    run = run_display(learner, world, seed=1)
    assert world.share(run.value, 2) > 1.0
