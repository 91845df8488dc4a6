"""If these fail, a warm start reveals a person of its log, or teaches the learner wrongly."""

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet
from discreet import ConfigError, ContextualBandit, Privacy, SetMaximizer, SetMinimizer, StateError
from discreet.audit import audit_transcript
from discreet.audit.cases.learners import long_cases
from discreet.audit.contract.kills import run_and_die
from discreet.audit.transcript import measured_costs, neighbours
from discreet.engine.coins import Coins
from discreet.engine.flat_state import flat
from discreet.engine.journal import MemoryJournal
from discreet.engine.request import EMPTY_REQUEST, Batch
from discreet.engine.snapshot import Snapshot
from discreet.learners.base import Learner
from discreet.learners.set_maximizer.incumbent_search.log import ClickLog, Logged, RewardLog
from discreet.release.aggregators import Aggregate, OneChoice, Rows
from discreet.release.door import Door
from discreet.simulate.problems.display import World, run_display
from measures.logs import Log

NAMES = ["tea", "milk", "soap", "rope"]
ROWS = [(["tea", "milk"], "tea"), (["milk", "soap"], None), (["soap", "rope"], "rope")]


def shop(feedback: Any = "clicks", epsilon: float = 1.0, **more: Any) -> SetMaximizer:
    """Return a learner of a small shop."""
    settings = {"feedback": feedback, "stream": "iid", "seed": 1} | more
    horizon = settings.pop("horizon", 4000)
    contributions = settings.pop("contributions", 1)
    privacy = Privacy(epsilon, contributions=contributions)
    return SetMaximizer(NAMES, 2, horizon, privacy, **settings)


def aggregate(
    feedback: Any, rows: list[Any], propensity: Any = "uniform", least: float | None = None
) -> Aggregate:
    """Return the aggregate of some rows of a log."""
    mode = SetMaximizer.problem_for(shop(feedback).settings)
    logged = Logged.checked(rows, propensity, least, 4)
    coins = Coins(bytes(16))
    before = mode.view(flat(mode.start()[0]), 0, 0, coins)
    view = mode.view(flat(before.after(logged.event)), 0, 0, coins)
    block = view.empty_block()
    view.count(block, Batch(np.arange(len(rows)), logged, EMPTY_REQUEST))
    return block["found"]


def shares(sums: Aggregate) -> list[float]:
    """Return the sums of an aggregate, in units of one row."""
    return [round(float(value) / sums.aggregator.levels, 6) for value in sums.values]


# --- the numbers that a row adds


def test_a_click_adds_its_weight_to_its_item() -> None:
    assert shares(aggregate("clicks", ROWS)) == [1, 0, 0, 1]
    chances = [[0.5, 0.2], 0.1, [0.2, 0.05]]
    assert shares(aggregate("clicks", ROWS, chances, 0.1)) == [0.2, 0, 0, 1]  # 0.05 counts as 0.1
    several = [(["tea", "milk"], ["milk", "tea"]), (["milk", "tea"], ["milk", "tea"])]
    assert shares(aggregate("clicks", several)) == [1, 1, 0, 0]  # the first in the order of places


def test_a_reward_is_divided_among_the_shown_items() -> None:
    rows = [(["tea", "milk"], 1.0), (["milk", "soap"], 0.5), (["soap", "rope"], 0.0)]
    assert shares(aggregate("bandit", rows)) == [0.5, 0.75, 0.25, 0]
    assert shares(aggregate("bandit", rows, [[0.5, 0.2], 0.25, 0.1], 0.1)) == [0.1, 0.35, 0.1, 0]


STRANGE: list[Any] = [
    None,
    "tea",
    7,
    [],
    (),
    (["tea", "milk"],),
    (["tea", "milk"], "wine"),
    (["tea", "milk"], "soap"),  # which was not shown
    (["soap", "rope", "tea"], "tea"),  # after the last place that counts
    ("tea milk", "tea"),
    (None, "tea"),
    ([], "tea"),
    (["tea", "milk"], object()),
    (["tea", "milk"], {}),
    ([10**400, {}], 10**400),
    ([["tea"], ["milk"]], "tea"),
]
NO_CHANCES: list[Any] = [
    0.0,
    -1.0,
    2.0,
    float("nan"),
    "much",
    None,
    [],
    [[0.5]],
    [0.5, 0.5, 0.5][:0],
    object(),
]


@pytest.mark.parametrize("feedback", ["clicks", "bandit"])
def test_malformed_rows_add_nothing_and_do_not_stop_the_others(feedback: Any) -> None:
    answer: Any = "tea" if feedback == "clicks" else 1.0
    proper = (["tea", "milk"], answer)
    usual = aggregate(feedback, [proper]).values
    strange = STRANGE
    if feedback == "bandit":
        rows = [row for row in STRANGE if not isinstance(row, tuple) or len(row) != 2]
        strange = [
            *rows,
            *((["tea", "milk"], bad) for bad in (None, "much", float("nan"), object())),
        ]
    assert np.array_equal(aggregate(feedback, [*strange, proper]).values, usual)
    chances = aggregate(feedback, [proper] * (1 + len(NO_CHANCES)), [*NO_CHANCES, 0.1], 0.1).values
    assert np.array_equal(chances, usual)


@pytest.mark.parametrize("feedback", ["clicks", "bandit"])
def test_no_pair_of_rows_moves_the_sums_by_more_than_is_paid_for(feedback: Any) -> None:
    """The pairs have slates, answers and propensities of all kinds."""
    slates: list[Any] = [
        ["tea", "milk"],
        ["soap", "rope"],
        ["tea", "tea"],
        ["rope"],
        [],
        ["x", "milk", "tea"],
    ]
    answers: list[Any] = [None, "tea", "rope", ["milk", "tea"]]
    if feedback == "bandit":
        answers = [0.0, 0.3, 1.0, 50.0, -3.0, float("inf")]
    chances: list[Any] = [1.0, 0.3, 0.1, 1e-9, [1e-300, 0.5], [0.07, 0.1], 0.0]
    sums = [
        aggregate(feedback, [(slate, answer)], [chance], 0.1).values
        for slate, answer, chance in product(slates, answers, chances)
    ]
    moved = max(int(np.abs(one - two).sum()) for one in sums for two in sums[::3])
    aggregator = aggregate(feedback, ROWS).aggregator
    assert isinstance(aggregator, OneChoice if feedback == "clicks" else Rows)
    assert moved <= aggregator.sensitivity(1)
    assert moved >= 0.99 * aggregator.sensitivity(1)


# --- the release


@pytest.mark.parametrize("feedback", ["clicks", "bandit"])
@pytest.mark.parametrize("least", [None, 0.1])
def test_releases_of_logs_that_differ_in_one_row_differ_by_no_more_than_promised(
    feedback: Any, least: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the same noise, the releases differ by at most ε of its scale in l₁, and almost so."""
    released: list[Any] = []
    real = Door.noised

    def watched(self: Door, noise: Any, exact: Any) -> Any:
        released.append((real(self, noise, exact), noise.scale))
        return released[-1][0]

    monkeypatch.setattr(Door, "noised", watched)
    ends: list[Any] = [("tea", "rope"), (1.0, 1.0)][feedback == "bandit"]
    for slate, answer in zip((["tea", "milk"], ["rope", "soap"]), ends, strict=True):
        rows = [*ROWS, (slate, answer)]
        if feedback == "bandit":
            rows = [(shown, float(click is not None)) for shown, click in ROWS] + [(slate, answer)]
        learner = shop(feedback, epsilon=0.5)
        chances = "uniform" if least is None else [0.3, 0.3, 0.3, 0.01]
        learner.warm_start(rows, chances, least_propensity=least)
        assert learner.guarantee.epsilon_spent == pytest.approx(0.5, rel=1e-6)
        assert learner.guarantee.epsilon_spent <= 0.5
    (here, scale), (there, same) = released
    assert scale == same
    assert 0.499 < np.abs(here - there).sum() / scale <= 0.5


def test_the_people_of_the_log_pay_for_their_release_and_visitors_for_theirs() -> None:
    learner = shop(contributions=2)
    learner.warm_start(ROWS * 50)
    once = learner.snapshot().ledger
    assert (once.cohort, once.everyone) == (0, 0)
    while learner.releases < 3:
        learner.observe_many([None] * learner.rounds_until_release)
        learner.release_if_due()
    later = learner.snapshot().ledger
    assert later.cohort == 2
    assert later.newest_pure == later.closed_pure == once.newest_pure  # nobody pays twice
    assert learner.guarantee.epsilon_spent <= 1.0
    text = " ".join(str(learner.guarantee).split())
    assert (
        "Neighbours: replace one round; or one row of the log that came before (its people" in text
    )
    assert "a person in both takes part twice" in text
    assert "row of the log" not in str(shop().guarantee)


LOGS = [case for case in long_cases() if case.log is not None]


@pytest.mark.parametrize("case", LOGS, ids=lambda case: case.name)
def test_people_of_a_log_who_count_twice_are_caught(
    case: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = replace(case, horizon=1)
    assert audit_transcript(short, pairs=10, seed=1).largest_cost_over_charge > 0
    phase = ClickLog if "clicks" in case.name else RewardLog
    honest = phase.gather

    def heavy(self: Any, block: Any, answers: Any) -> None:
        honest(self, block, answers)
        honest(self, block, answers)

    monkeypatch.setattr(phase, "gather", heavy)
    measured = measured_costs(short, pairs=60, seed=1, enough=1 + 1e-6)
    assert measured.largest_cost_over_charge > 1 + 1e-6


def test_the_audit_replaces_rows_of_logs_and_rounds() -> None:
    case = LOGS[1]
    pairs = [neighbours(case, case.make(), seed=0, number=number) for number in range(0, 80, 2)]
    assert {(pair.in_log, len(pair.changed)) for pair in pairs} == {
        (True, 0), (True, 1), (False, 1), (False, 2),
    }  # fmt: skip


# --- learning from a log


@pytest.mark.parametrize("biased", [False, True])
def test_the_interest_of_items_is_found_in_a_log_of_any_policy(biased: bool) -> None:
    """Without much noise, the means of the empty context are the gains at the first place."""
    world = World.drawn(1000, items=12, kinds=6, favourites=3, seed=5)
    favourites = np.array([[0, 1, 2], [3, 4, 5], [2, 6, 0]]) if biased else None
    log = Log.drawn(world, 150_000, 3, favourites=favourites, seed=2)
    learner = SetMaximizer(12, 3, 10**5, Privacy(1e4), feedback="clicks", stream="iid", seed=1)
    chances: Any = "uniform" if log.chances is None else log.chances
    learner.warm_start(log.rows("clicks"), chances, least_propensity=0.5 / 12 if biased else None)
    public = learner.snapshot().public
    means = public["posterior.means"][0]
    true = world.weights @ world.chances
    assert np.abs(means - true).max() < 0.03
    assert np.corrcoef(means, true)[0, 1] > 0.98
    deviations = 1 / np.sqrt(public["posterior.precisions"][0])
    assert np.abs(means - true).mean() < 4 * deviations.mean() + 0.01


def test_propensities_below_the_least_make_an_item_look_worse_and_never_better() -> None:
    rows = [(["tea", "milk"], "tea"), (["milk", "soap"], "milk")]
    for least in (0.01, 0.1):
        weights = np.array(shares(aggregate("clicks", rows, [0.01, 0.5], least))) / least
        assert weights[0] == pytest.approx(1 / least)  # at most 1 / 0.01
        assert weights[1] == pytest.approx(2.0, abs=1e-3)


@pytest.mark.parametrize("feedback", ["clicks", "bandit"])
def test_a_log_saves_visitors_from_random_slates(feedback: Any) -> None:
    world = World.drawn(20_000, items=30, kinds=6, favourites=4, seed=6)
    log = Log.drawn(world, 20_000, 3, seed=3)
    earned = []
    for rows in (None, log.rows(feedback)):
        learner = SetMaximizer(30, 3, 20_000, Privacy(1.0), feedback=feedback, stream="iid", seed=2)
        if rows is not None:
            learner.warm_start(rows)
        run = run_display(learner, world, seed=1)
        early = World(world.weights, world.chances, world.types[:4000])
        earned.append(early.share(float(np.interp(4000, run.visitors, run.earned)), 3))
    assert earned[1] > earned[0] + 0.2


@pytest.mark.parametrize("feedback", ["clicks", "bandit"])
def test_a_short_log_is_followed_by_the_random_slates_that_it_lacks(feedback: Any) -> None:
    plain = shop(feedback, horizon=100_000)
    first = plain.rounds_until_release
    row = (["tea", "milk"], "tea" if feedback == "clicks" else 1.0)
    blank = (["soap", "rope"], None if feedback == "clicks" else 0.0)
    lengths = []
    for rows in (first // 4, 4 * first):
        learner = shop(feedback, horizon=100_000)
        learner.warm_start([row, blank] * (rows // 2))
        lengths.append(
            (learner.rounds_until_release, len({tuple(slate) for slate in learner.preview(100)}))
        )
    assert lengths[0][0] > 0.3 * first
    assert lengths[0][1] == 12  # all slates
    assert lengths[1][0] < 0.6 * first


@pytest.mark.parametrize("feedback", ["clicks", "bandit"])
def test_noise_is_not_mistaken_for_the_answers_of_a_log_of_two_rows(feedback: Any) -> None:
    first = shop(feedback, horizon=100_000).rounds_until_release
    for seed in range(8):
        learner = shop(feedback, horizon=100_000, seed=seed)
        learner.warm_start(ROWS[:2] if feedback == "clicks" else [(["tea", "milk"], 0.0)] * 2)
        assert 0.02 < learner.snapshot().public["posterior.centre"] < 0.15
        assert 0.5 * first < learner.rounds_until_release <= first


# --- once, before the first visitor


def test_a_warm_start_takes_no_round() -> None:
    learner = shop()
    learner.warm_start(ROWS * 100)
    assert (learner.clock, learner.releases, learner.rounds_before_release, learner.log_rows) == (
        0,
        1,
        0,
        300,
    )
    while learner.clock < 4000:
        learner.observe_many([None] * min(learner.rounds_until_release, 4000 - learner.clock))
        learner.release_if_due()
    with pytest.raises(discreet.HorizonReached):
        learner.observe_many([None])


def test_a_second_or_a_late_warm_start_is_refused_and_changes_nothing() -> None:
    late = shop()
    late.act()
    twice = shop()
    twice.warm_start(ROWS)
    for learner in (late, twice):
        before = learner.snapshot()
        with pytest.raises(StateError, match="once, before the first visitor"):
            learner.warm_start(ROWS)
        after = learner.snapshot()
        assert (after.index, after.public["phase"], after.ledger) == (
            before.index, before.public["phase"], before.ledger,
        )  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "least", "message"),
    [
        ((ROWS, "random"), None, "propensity must be one of uniform, got 'random'"),
        (
            (ROWS, "uniform"),
            0.1,
            'least_propensity is for propensities of single rows, not for "uniform"',
        ),
        ((ROWS, [0.1, 0.1]), 0.1, 'must be "uniform" or have one entry for each of 3 rows'),
        ((ROWS, 0.1), 0.1, 'must be "uniform" or have one entry for each of 3 rows'),
        ((ROWS, [0.1] * 3), None, "least_propensity is missing: a public number"),
        ((ROWS, [0.1] * 3), 0.0, "least_propensity must be a number between 1e-09 and 1, got 0.0"),
        (
            (ROWS, [0.1] * 3),
            "much",
            "least_propensity must be a number between 1e-09 and 1, got 'much'",
        ),
        (([], "uniform"), None, "the number of rows must be a whole number, at least 1, got 0"),
        ((iter(ROWS), "uniform"), None, "rows must be a list"),
    ],
)
def test_what_is_refused_is_refused_from_public_facts_and_changes_nothing(
    arguments: Any, least: Any, message: str
) -> None:
    learner = shop()
    with pytest.raises(ConfigError, match=message):
        learner.warm_start(*arguments, least_propensity=least)
    assert (learner.releases, learner.guarantee.epsilon_spent) == (0, 0.0)
    learner.warm_start(ROWS)
    assert learner.releases == 1


def test_only_learners_of_clicks_and_rewards_have_a_warm_start() -> None:
    assert not any(
        hasattr(kind, "warm_start") for kind in (SetMinimizer, ContextualBandit, Learner)
    )
    with pytest.raises(ConfigError, match="warm_start is for feedback"):
        shop(feedback="full").warm_start(ROWS)


# --- kills, interrupts, and journals that fail


class Flaky(MemoryJournal):
    """A journal that fails while `failing` is set, and notes the snapshots that it did not take."""

    failing = False

    def __init__(self) -> None:
        super().__init__()
        self.refused: list[Snapshot] = []

    def commit(self, snapshot: Snapshot) -> None:
        if self.failing:
            self.refused.append(snapshot)
            raise OSError("the disk is full")
        super().commit(snapshot)


def test_the_release_of_a_log_that_could_not_be_committed_is_not_drawn_again() -> None:
    journal = Flaky()
    learner = shop(journal=journal, seed=None)
    journal.failing = True
    with pytest.raises(StateError, match="nothing was shown"):
        learner.warm_start(ROWS * 30)
    with pytest.raises(StateError, match="a release waits to be committed"):
        learner.warm_start(ROWS * 30)
    assert learner.releases == 0
    journal.failing = False
    assert learner.release_if_due()
    assert learner.log_rows == 90
    assert learner.snapshot().coin_key == journal.refused[0].coin_key
    assert learner.guarantee.epsilon_spent == pytest.approx(1.0)


class Stopped(Door):
    """A door at which a user interrupts the process, once."""

    stops = True

    def noised(self, noise: Any, exact: Any) -> Any:
        released = super().noised(noise, exact)
        if Stopped.stops:
            Stopped.stops = False
            raise KeyboardInterrupt
        return released


def test_an_interrupt_in_the_middle_leaves_nothing_and_the_log_may_be_handed_in_again() -> None:
    Stopped.stops = True
    learner = SetMaximizer.from_settings(shop(seed=None).settings, door=Stopped)
    before = learner.snapshot()
    with pytest.raises(KeyboardInterrupt):
        learner.warm_start(ROWS * 30)
    after = learner.snapshot()
    assert (learner.log_rows, after.index, after.ledger) == (0, 0, before.ledger)
    assert after.public == before.public or after.public["phase"] == before.public["phase"]
    learner.warm_start(ROWS * 30)
    assert (learner.log_rows, learner.releases) == (90, 1)


def test_a_kill_at_any_line_loses_no_charge_and_reads_the_log_for_one_release_only(
    memory_path: Path,
) -> None:
    """A shown release is in the file. If it is not there, the call may be repeated."""
    path = memory_path / "state"
    ways = set()
    last, lived = 0, False
    while not lived:
        for file in memory_path.iterdir():
            file.unlink()
        learner = shop(journal=path, seed=None)
        learner.detach()

        def work(learner: Any, show: Callable[[Any], None]) -> None:
            learner.warm_start(ROWS * 2)
            show(learner.decision["slate"])

        lived, shown = run_and_die(path, lambda learner: None, work, last)
        again: Any = discreet.load(path)
        ways.add((again.log_rows, again.releases, len(shown)))
        if again.log_rows:
            assert again.guarantee.epsilon_spent == pytest.approx(1.0)
            assert shown in ([], [repr(again.decision["slate"])])
            with pytest.raises(StateError, match="once"):
                again.warm_start(ROWS * 2)
        else:
            assert not shown
            assert again.guarantee.epsilon_spent == 0
            again.warm_start(ROWS * 2)
        assert (again.log_rows, again.releases, again.clock) == (6, 1, 0)
        again.detach()
        last += 1 if last < 3 else 61
    assert ways >= {(0, 0, 0), (6, 1, 1)}
    assert ways <= {(0, 0, 0), (6, 1, 0), (6, 1, 1)}
