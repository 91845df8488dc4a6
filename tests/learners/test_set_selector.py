"""Selection of one set: if these fail, a record is revealed, or the wrong set is chosen."""

import pickle
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations, product
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet import BudgetError, ConfigError, MemoryJournal, Privacy, SetSelector, StateError, load
from discreet.arrays import Floats
from discreet.audit import Case, audit_transcript, weakened
from discreet.audit.cases.selections import choices
from discreet.audit.transcript import measured_costs
from discreet.domains import Knapsack, PartitionMatroid, UniformMatroid
from discreet.engine.engine import Engine
from discreet.engine.snapshot import Snapshot
from discreet.functions import ClickModel, FacilityLocation, Nearby, Types, WeightedCoverage
from discreet.functions.chains import PresentChain
from discreet.learners.forced import forced
from discreet.learners.set_selector import Chosen
from discreet.learners.set_selector.sampled import LEVELS
from discreet.release.aggregators import HeldRows
from discreet.release.aggregators.gain_path import GainPath
from discreet.release.randomness import seeded_bits
from discreet.release.sampled_path import RATE_UNIT, SampledPath

BOTH = Privacy(1.0, 1e-6)
BOX = ((0.0, 1.0), (0.0, 1.0))
SITES = tuple((x / 4, y / 4) for x in range(5) for y in range(5))


CENTRES = {(0.25, 0.75), (0.75, 0.25)}


def homes(count: int = 4000, seed: int = 0) -> Floats:
    """Return points of people who live around two centres."""
    generator = np.random.default_rng(seed)
    centres = np.array([[0.25, 0.75], [0.75, 0.25]])
    nearest = centres[generator.integers(2, size=count)]
    return np.asarray(np.clip(nearest + generator.normal(0, 0.05, (count, 2)), 0, 1))


def sites_of(chosen: Chosen) -> list[tuple[float, float]]:
    """Return the places of the chosen sites."""
    return [SITES[number] for number in chosen.numbers]


# --- the chosen set -------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["histogram", "sampled"])
def test_sites_are_where_people_live(mode: str) -> None:
    city = Nearby(SITES, 0.3, BOX)
    selector = forced(SetSelector, mode, UniformMatroid(25, 2), BOTH, function=city, seed=3)
    chosen = selector.fit(homes())
    assert set(sites_of(chosen)) == CENTRES
    assert chosen.method == mode
    assert chosen.guarantee.epsilon_spent <= 1.0


def test_quotas_and_budgets_are_respected() -> None:
    city = Nearby(SITES, 0.3, BOX)
    groups = tuple(int(x > 0.5) for x, _ in SITES)
    west = SetSelector(PartitionMatroid(groups, (1, 0)), BOTH, function=city, seed=1).fit(homes())
    assert sites_of(west) == [(0.25, 0.75)]
    costs = tuple(1.0 if x < 0.5 else 5.0 for x, _ in SITES)
    for mode in ("histogram", "sampled"):
        selector = forced(SetSelector, mode, Knapsack(costs, 3.0), BOTH, function=city, seed=1)
        bought = selector.fit(homes())
        assert sum(costs[number] for number in bought.numbers) <= 3.0
        assert (0.25, 0.75) in sites_of(bought)


def test_rows_of_preferences_choose_titles_by_label() -> None:
    likes = np.random.default_rng(0).random((3000, 6)) < [0.02, 0.5, 0.05, 0.3, 0.02, 0.02]
    names = ["a", "b", "c", "d", "e", "f"]
    selector = SetSelector(UniformMatroid(6, 2), BOTH, function=ClickModel, labels=names, seed=1)
    chosen = selector.fit(likes.astype(float))
    assert chosen.items == ["b", "d"]
    assert chosen.as_plain()["numbers"] == chosen.numbers == [1, 3]
    assert "3000 people" in chosen.why


def test_both_modes_choose_the_best_items_of_frequent_types() -> None:
    table = Types(((1.0, 0.0, 0.2), (0.0, 1.0, 0.2), (0.0, 0.0, 1.0)))
    people = np.random.default_rng(0).choice(3, size=500, p=[0.1, 0.6, 0.3])
    chosen = SetSelector(UniformMatroid(3, 2), Privacy(1.0), function=table, seed=1).fit(people)
    assert sorted(chosen.items) == [1, 2]
    selector = forced(
        SetSelector, "sampled", UniformMatroid(3, 2), Privacy(1.0), function=table, seed=1
    )
    assert sorted(selector.fit(people).items) == [1, 2]


def test_the_value_of_the_choice_is_reported_for_a_share_of_the_budget() -> None:
    likes = (np.random.default_rng(0).random((3000, 4)) < 0.3).astype(float)
    without = SetSelector(UniformMatroid(4, 2), BOTH, function=ClickModel, seed=1).fit(likes)
    assert without.value is None
    selector = SetSelector(UniformMatroid(4, 2), BOTH, function=ClickModel, report=0.3, seed=2)
    reported = selector.fit(likes)
    assert reported.value is not None
    value, deviation = reported.value
    truth = likes[:, reported.numbers].max(axis=1).sum()
    assert abs(value - truth) < 8 * deviation  # Laplace: α < 1e-5, with a fixed seed
    assert reported.guarantee.epsilon_spent <= 1.0
    city = Nearby(SITES, 0.3, BOX)
    chosen = SetSelector(UniformMatroid(25, 2), BOTH, function=city, seed=2).fit(homes())
    assert chosen.value is not None


# --- privacy --------------------------------------------------------------------------------------


def exact_law(
    path: SampledPath, rest: Floats, row: Floats, prices: Floats
) -> dict[tuple[int, ...], float]:
    """Return the law of two draws among three items, averaged over the coin of one person.

    All other people, `rest`, are sampled. The computation is independent of the door. Privacy given
    the coins of the rest is more than the guarantee states.
    """
    rows = np.concatenate([rest, [row]])
    held = HeldRows((len(rows), 4))
    people = held.empty()
    held.add(people, np.arange(len(rows)), np.concatenate([np.ones((len(rows), 1)), rows], axis=1))
    law: dict[tuple[int, ...], float] = dict.fromkeys(permutations(range(3), 2), 0.0)
    for coin in (False, True) if path.chance < 1 else (True,):
        for chosen in law:
            walk = GainPath(people, PresentChain(FacilityLocation()), prices, LEVELS)
            walk.begin(np.append(np.ones(len(rest), dtype=bool), coin))
            likelihood = path.chance if coin else 1 - path.chance
            for place, item in enumerate(chosen):
                scores = path.exponent * walk.scores() / LEVELS
                weights = np.exp(scores - scores.max())
                weights[list(chosen[:place])] = 0.0
                likelihood *= weights[item] / weights.sum()
                walk.take(item)
            law[chosen] += likelihood
    return law


@pytest.mark.parametrize(
    "path",
    [
        SampledPath(20_000, 5000, 2),
        SampledPath(60_000, 1000, 2),
        SampledPath(2**16, 800, 2),
        SampledPath(3000, 20_000, 2),
    ],
    ids=str,
)
@pytest.mark.parametrize("prices", [[1.0, 1.0, 1.0], [0.3, 1.0, 0.7]], ids=str)
@pytest.mark.parametrize("lovers", [0, 3, 60])
def test_no_record_moves_the_law_of_a_path_by_more_than_epsilon(
    path: SampledPath, prices: list[float], lovers: int
) -> None:
    """The exact ratio of laws is at most the charge, for all pairs of extreme people."""
    first = np.tile([[1.0, 0.0, 0.0]], (lovers, 1))
    last = np.tile([[0.0, 0.0, 1.0]], (lovers, 1))
    rest = np.concatenate([first, last])
    extremes = [*map(np.array, product((0.0, 1.0), repeat=3)), np.array([0.5, 1.0, 0.3])]
    laws = [exact_law(path, rest, row, np.array(prices)) for row in extremes]
    worst = max(
        abs(log(one[chosen] / two[chosen])) for one in laws for two in laws for chosen in one
    )
    assert worst <= path.charge.amount
    if lovers == 60 and min(prices) == 1:
        assert worst > 0.8 * path.charge.amount  # the bound is not loose


def test_draws_follow_the_exponential_mechanism() -> None:
    from discreet.release import kernels

    scores = np.array([0, 3 * LEVELS, 2 * LEVELS, 9 * LEVELS])
    mask = np.array([True, True, True, False])
    bits = seeded_bits(1, 0)
    rate = RATE_UNIT // 2
    unit = np.uint64(RATE_UNIT * LEVELS)
    drawn = [
        kernels.draw_rejecting(scores, mask, np.uint64(rate), unit, bits.address, bits.state)
        for _ in range(20_000)
    ]
    weights = np.exp([0.0, 1.5, 1.0, -np.inf])
    expected = weights / weights.sum()
    frequencies = np.bincount(drawn, minlength=4) / 20_000
    assert frequencies[3] == 0
    assert np.abs(frequencies - expected).max() < 5.5 * np.sqrt(0.25 / 20_000)  # α < 1e-6


def test_gains_of_a_person_add_up_to_one_along_any_path() -> None:
    generator = np.random.default_rng(0)
    held = HeldRows((1, 6))
    for _ in range(50):
        person = held.empty()
        held.add(person, np.array([0]), np.concatenate([[[1.0]], generator.random((1, 5))], axis=1))
        walk = GainPath(person, PresentChain(ClickModel()), generator.uniform(0.3, 1, 5), LEVELS)
        walk.begin(np.array([True]))
        total = 0
        for item in generator.permutation(5):
            scores = walk.scores()
            assert (scores >= 0).all()
            total += int(scores[item])
            walk.take(int(item))
        assert total <= LEVELS


@pytest.mark.parametrize("mode", ["histogram", "sampled"])
def test_malformed_records_add_nothing_and_do_not_stop_a_selection(mode: str) -> None:
    city = Nearby(SITES, 0.3, BOX)
    people: list[Any] = [
        *homes(2000).tolist(),
        "malformed",
        None,
        [1.0],
        [np.nan, 0.5],
        [1e308, -1e308],
    ]
    selector = forced(SetSelector, mode, UniformMatroid(25, 2), BOTH, function=city, seed=3)
    assert set(sites_of(selector.fit(people))) == CENTRES


def test_a_malformed_record_adds_nothing_where_a_row_of_zeros_is_a_person() -> None:
    """A point that is not finite must not count as the corner of the box."""
    city = Nearby(((0.0, 0.0), (1.0, 1.0)), 0.5, BOX)
    people = np.concatenate([np.full((300, 2), np.nan), np.full((200, 2), 1.0)])
    selector = forced(SetSelector, "sampled", UniformMatroid(2, 1), BOTH, function=city, seed=1)
    assert selector.fit(people).items == [1]


@pytest.mark.filterwarnings("ignore:overflow")  # extreme people of the audit
@pytest.mark.parametrize("case", choices(), ids=lambda case: case.name)
def test_one_person_costs_at_most_what_is_charged_along_any_transcript(case: Case) -> None:
    audit_transcript(case, pairs=12, seed=2)


@pytest.mark.filterwarnings("ignore:overflow")
def test_the_audit_detects_half_the_noise_and_half_the_charge() -> None:
    for case in choices():
        with weakened():
            costs = measured_costs(case, pairs=40, seed=1, enough=1 + 1e-6)
        assert costs.largest_cost_over_charge > 1 + 1e-6, case.name


# --- one choice per budget ------------------------------------------------------------------------


def test_a_second_choice_is_refused_and_a_stored_one_is_read_back(tmp_path: Path) -> None:
    city = Nearby(SITES, 0.3, BOX)
    journal = tmp_path / "state"
    first = SetSelector(UniformMatroid(25, 2), BOTH, function=city, journal=journal)
    chosen = first.fit(homes(300))
    with pytest.raises(BudgetError, match="chooses once"):
        first.fit(homes(300))
    again = SetSelector(UniformMatroid(25, 2), BOTH, function=city, journal=journal)
    assert again.fit(homes(300)).items == chosen.items


class Unreliable(MemoryJournal):
    """Fails at some commits, before or after the snapshot is stored, and cannot be read then."""

    def __init__(self, failing: Sequence[int], *, stores: bool) -> None:
        super().__init__()
        self.failing = failing
        self.stores = stores
        self.commits = 0

    def claim(self, accept: Any) -> None:
        """Accept the same selector again."""

    def commit(self, snapshot: Snapshot) -> None:
        self.commits += 1
        if self.commits not in self.failing:
            super().commit(snapshot)
            return
        if self.stores:
            super().commit(snapshot)
        raise OSError("77.75 people")

    def latest(self) -> Any:
        if self.commits in self.failing:
            raise OSError("77.75 people")
        return super().latest()


@pytest.mark.parametrize("stores", [False, True])
@pytest.mark.parametrize(
    "function", [Nearby(SITES, 0.3, BOX), ClickModel()], ids=["histogram", "sampled"]
)
def test_a_choice_that_could_not_be_committed_is_committed_by_the_next_fit(
    function: Any, stores: bool
) -> None:
    """The first commit is the start of the selection, the second the choice; it fails twice."""
    people = (
        homes(300) if isinstance(function, Nearby) else np.random.default_rng(1).random((300, 25))
    )
    journal = Unreliable((2, 3), stores=stores)
    selector = SetSelector(UniformMatroid(25, 2), BOTH, function=function, journal=journal, seed=7)
    for _ in range(2):
        with pytest.raises(StateError) as refusal:
            selector.fit(people)
        assert "fit() again commits this choice, and reads no people" in str(refusal.value)
        assert "77.75" not in str(refusal.value)
    chosen = selector.fit(iter(()))  # no people are read
    reference = SetSelector(UniformMatroid(25, 2), BOTH, function=function, seed=7).fit(people)
    assert chosen.items == reference.items
    assert chosen.people == 300
    assert journal.latest().index == 1
    with pytest.raises(BudgetError, match="chooses once"):
        selector.fit(people)


def test_a_choice_that_was_committed_and_not_shown_is_shown_by_the_next_fit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The handler of a signal may raise right after the commit; there is no second draw."""
    selector = SetSelector(UniformMatroid(25, 2), BOTH, function=Nearby(SITES, 0.3, BOX))
    drawn = []
    release = Engine.release

    def interrupted(self: Any, *arguments: Any) -> None:
        release(self, *arguments)
        drawn.append(self.view.public.chosen.tolist())
        raise TimeoutError

    with monkeypatch.context() as signalled:
        signalled.setattr(Engine, "release", interrupted)
        with pytest.raises(TimeoutError):
            selector.fit(homes(300))
    assert selector.fit(iter(())).numbers == drawn[0]
    with pytest.raises(BudgetError, match="chooses once"):
        selector.fit(homes(300))


def test_after_an_error_before_the_draw_fit_reads_people_again() -> None:
    journal = Unreliable((1,), stores=False)  # the commit of the start
    selector = SetSelector(
        UniformMatroid(25, 2), BOTH, function=Nearby(SITES, 0.3, BOX), journal=journal
    )
    with pytest.raises(StateError, match=r"could not be stored \(OSError\): try again"):
        selector.fit(homes(300))
    assert selector.fit(homes(200)).people == 200


@pytest.mark.parametrize(
    "wrong",
    [
        {"function": Nearby(SITES[:3], 0.3, BOX)},
        {"report": 0.7},
        {"labels": ["a"]},
        {"domain": "everything"},
        {"function": WeightedCoverage(((1, 0), (0, 1)))},
    ],
    ids=str,
)
def test_settings_that_make_no_sense_are_refused_in_one_line(wrong: dict[str, Any]) -> None:
    usual: dict[str, Any] = {
        "domain": UniformMatroid(25, 2),
        "privacy": BOTH,
        "function": ClickModel,
    }
    with pytest.raises(ConfigError) as refusal:
        SetSelector(**(usual | wrong))
    assert "\n" not in str(refusal.value)


def test_empty_selections_and_people_of_a_wrong_type_are_refused() -> None:
    selector = SetSelector(UniformMatroid(25, 2), BOTH, function=Nearby(SITES, 0.3, BOX))
    with pytest.raises(ConfigError, match="no people"):
        selector.fit([])
    with pytest.raises(ConfigError, match="one record each"):
        selector.fit(3)


def test_released_counts_add_up_to_the_people_and_are_read_back(tmp_path: Path) -> None:
    arguments: Any = {"function": Nearby(SITES, 0.3, BOX), "journal": tmp_path / "state"}
    first = SetSelector(UniformMatroid(25, 2), BOTH, **arguments).fit(homes(3000))
    again = SetSelector(UniformMatroid(25, 2), BOTH, **arguments).fit(homes(3000))
    assert first.counts is not None
    assert again.counts is not None
    assert first.counts_deviation is not None
    assert first.counts.ndim == 2
    assert np.array_equal(first.counts, again.counts)
    noise = first.counts_deviation * np.sqrt(first.counts.size)
    assert 0 < abs(first.counts.sum() - 3000) < 6 * noise


def test_loading_a_stored_choice_is_refused_with_the_way_to_read_it(tmp_path: Path) -> None:
    city = Nearby(SITES, 0.3, BOX)
    journal = tmp_path / "state"
    SetSelector(UniformMatroid(25, 2), BOTH, function=city, journal=journal).fit(homes(300))
    with pytest.raises(StateError, match="reads it back"):
        load(journal)


@pytest.mark.parametrize("function", [Nearby(SITES, 0.3, BOX), FacilityLocation()])
def test_a_choice_that_was_begun_in_a_file_can_be_completed(
    function: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """After a kill between the start and the draw, the next fit reads people again."""
    people = homes(300) if isinstance(function, Nearby) else np.ones((300, 25))
    settings: dict[str, Any] = {"function": function, "journal": tmp_path / "choice"}

    def killed(self: Any, *arguments: Any) -> None:
        raise TimeoutError

    with monkeypatch.context() as stopped:
        stopped.setattr(Engine, "release", killed)
        with pytest.raises(TimeoutError):
            SetSelector(UniformMatroid(25, 2), BOTH, **settings).fit(people)
    first = SetSelector(UniformMatroid(25, 2), BOTH, **settings).fit(people)
    again = SetSelector(UniformMatroid(25, 2), BOTH, **settings).fit(people)
    assert again.numbers == first.numbers


@pytest.mark.parametrize("in_parts", [False, True])
def test_a_pickled_problem_reads_people_as_before(in_parts: bool) -> None:
    settings = SetSelector(UniformMatroid(6, 2), BOTH, function=FacilityLocation).settings
    problem = SetSelector.problem_for(replace(settings, people=10), in_parts=in_parts)
    assert pickle.loads(pickle.dumps(problem)).mode.in_parts == in_parts
