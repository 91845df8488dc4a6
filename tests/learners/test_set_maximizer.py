"""If these fail, a visitor of a shop is given away, or the shop learns nothing."""

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import ConfigError, Privacy, SetMaximizer
from discreet.arrivals import FacilityLocation, SetFunction, WeightedCoverage
from discreet.learners.sets.mode import gains_along, restricted, shrunk
from discreet.release.turn import Batch
from laws import epsilon_of, selection_law, zcdp_of

ORDERS = np.array([1.01, 2.0, 6.0])
PEOPLE = [(1.0, 0.0, 0.0), (0.0, 1.0, 1.0), (0.0, 0.0, 0.0)]


def fed(learner: SetMaximizer, public: Any, secret: Any, person: Any, round: int, index: int) -> Any:
    """The secret after one more person, by the shipped entrance."""
    secret = {
        name: value.copy() if isinstance(value, np.ndarray) else value for name, value in secret.items()
    }
    return learner.digest(public, secret, Batch(index, [round], [person]))


def ordered_law(learner: SetMaximizer, scores_of: Any, prefix: list[int]) -> dict[tuple[int, ...], Fraction]:
    """The law of a whole slate drawn slot by slot among what is left."""
    if len(prefix) == learner.config.slots:
        return {tuple(prefix): Fraction(1)}
    left = [item not in prefix for item in range(learner.config.items)]
    chances = selection_law(learner._mode.selection, scores_of(prefix).tolist(), left)  # type: ignore[attr-defined]
    law: dict[tuple[int, ...], Fraction] = {}
    for item in np.flatnonzero(left).tolist():
        law |= {
            slate: chances[item] * chance
            for slate, chance in ordered_law(learner, scores_of, [*prefix, item]).items()
        }
    return law


def hedge_law(learner: SetMaximizer, stream: list[Any]) -> list[Fraction]:
    """The exact joint law of all slates of two redraws, on every path."""
    public, secret = learner.start()
    first = fed(learner, public, secret, stream[0], 0, 0)
    law = []
    for slate, chance in sorted(
        ordered_law(learner, lambda prefix: first["scores"][len(prefix)], []).items()
    ):
        second = fed(learner, {"slate": np.array(slate)}, first, stream[1], 1, 1)
        after = ordered_law(learner, lambda prefix, second=second: second["scores"][len(prefix)], [])
        law += [chance * other for _, other in sorted(after.items())]
    return law


@pytest.mark.parametrize("privacy", [Privacy(4.0, 1e-3), Privacy(4.0)])
def test_ordered_experts_lose_no_more_than_their_budget(privacy: Privacy) -> None:
    learner = SetMaximizer(3, 2, 3, privacy, expert="hedge", block=1)
    laws = {stream: hedge_law(learner, list(stream)) for stream in product(PEOPLE, repeat=2)}
    worst = 0.0
    for here, there in product(laws, repeat=2):
        if sum(a != b for a, b in zip(here, there, strict=True)) == 1:
            pair = laws[here], laws[there]
            worst = max(worst, epsilon_of(*pair) if privacy.pure else zcdp_of(*pair, orders=ORDERS))
    assert 0.2 * learner._plan.total.amount <= worst <= learner._plan.total.amount <= privacy.budget.amount


@pytest.mark.parametrize("privacy", [Privacy(4.0, 1e-3), Privacy(4.0)])
def test_fresh_greedy_loses_no_more_than_its_budget(privacy: Privacy) -> None:
    from discreet.learners.sets.fresh import _Chooser

    learner = SetMaximizer(3, 2, 16, privacy, stream="iid", block=2)

    def law(stream: tuple[Any, ...]) -> list[Fraction]:
        public, secret = learner.start()
        for round, person in enumerate(stream):
            secret = fed(learner, public, secret, person, round, 0)

        def scores(prefix: list[int]) -> Any:
            chooser = _Chooser(learner._setting, secret["rows"], learner._mode.clip(0))  # type: ignore[attr-defined]
            for item in prefix:
                chooser.add(item)
            return chooser.scores()

        return [chance for _, chance in sorted(ordered_law(learner, scores, []).items())]

    laws = {stream: law(stream) for stream in product(PEOPLE, repeat=2)}
    worst = 0.0
    for here, there in product(laws, repeat=2):
        if sum(a != b for a, b in zip(here, there, strict=True)) == 1:
            pair = laws[here], laws[there]
            worst = max(worst, epsilon_of(*pair) if privacy.pure else zcdp_of(*pair, orders=ORDERS))
    assert 0.2 * learner._plan.total.amount <= worst <= learner._plan.total.amount <= privacy.budget.amount


unit = st.floats(0, 1)


@settings(max_examples=80)
@given(
    st.lists(unit, min_size=6, max_size=6),
    st.lists(unit, min_size=6, max_size=6),
    st.sampled_from([Privacy(1.0, 1e-6), Privacy(1.0)]),
)
def test_one_visitor_moves_the_sum_experts_table_by_no_more_than_calibrated(
    here: Any, there: Any, privacy: Privacy
) -> None:
    learner = SetMaximizer(6, 3, 100, privacy, expert="sum", block=10)
    public, secret = learner.start()
    moved = (
        fed(learner, public, secret, here, 0, 0)["gains"] - fed(learner, public, secret, there, 0, 0)["gains"]
    )
    entrance = learner._mode.entrance  # type: ignore[attr-defined]
    norm = 1 if privacy.pure else 2
    assert np.linalg.norm(moved.ravel().astype(float), norm) <= entrance.sensitivity(norm)


@pytest.mark.parametrize(("kind", "values"), [("bandit", [0.0, 0.3, 1.0]), ("clicks", [None, 0, 1, 2, 3, 4])])
@pytest.mark.parametrize("privacy", [Privacy(1.0, 1e-6), Privacy(1.0)])
def test_one_visitor_moves_what_is_released_by_no_more_than_calibrated(
    kind: Any, values: list[Any], privacy: Privacy
) -> None:
    """Every round of the first block, every answer and every other answer, in both modes."""
    norm = 1 if privacy.pure else 2
    for stream in ("iid", "any"):
        learner = SetMaximizer(5, 3, 200, privacy, feedback=kind, stream=stream, explore=0.5)  # type: ignore[arg-type]
        public, secret = learner.start()
        name = "counts" if stream == "iid" else "found"
        if stream == "iid":
            allowed = learner._mode._noise(0)[2]  # type: ignore[attr-defined]
        else:
            sums = learner._mode.sums  # type: ignore[attr-defined]
            allowed = sums.levels * sums.stream.unit_sensitivity(norm)
        largest = 0.0
        for round in range(learner.rounds_until_release):
            found = [
                fed(learner, public, secret, value, round, 0)[name].ravel().astype(float) for value in values
            ]
            largest = max(
                largest, *(np.linalg.norm(one - two, norm) for one, two in product(found, repeat=2))
            )
        assert 0.99 * allowed <= largest <= allowed * (1 + 1e-12)


@settings(max_examples=40)
@given(st.integers(1, 5), st.integers(0, 2**32))
def test_the_compiled_entrance_is_the_plain_one(slots: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    learner = SetMaximizer(7, slots, 100, Privacy(1.0, 1e-6), block=10)
    mode = learner._mode
    public, secret = learner.start()
    rows = generator.uniform(0, 1, size=(1, 7)) * generator.choice([0.1, 1.0])
    added = mode.digest(public, secret, rows, Batch(0, [0], None))["gains"]
    gains = np.stack(list(gains_along(learner._setting, rows, public["slate"])), axis=1)[0]
    length = np.linalg.norm(gains)
    levels = mode.entrance.levels  # type: ignore[attr-defined]
    expected = gains * levels / max(1.0, length)
    assert np.abs(added - expected).max() <= 0.5 + levels * 1e-6
    assert np.sum(added.astype(float) ** 2) <= levels**2


def test_gains_of_items_already_before_a_slot_are_on_top_of_the_others() -> None:
    learner = SetMaximizer(3, 2, 10, Privacy(1.0, 1e-6))
    first, second = gains_along(learner._setting, np.array([[0.5, 0.4, 0.2]]), np.array([0, 1]))
    assert first[0].tolist() == [0.5, 0.4, 0.2]
    assert second[0].round(6).tolist() == [0.5, 0.2, 0.1]


def shop(people: int, seed: int = 0) -> np.ndarray:
    """Two kinds of visitors who like different items."""
    generator = np.random.default_rng(seed)
    kinds = np.array([[0.8, 0.05, 0.6, 0.05, 0.05, 0.05], [0.05, 0.7, 0.05, 0.05, 0.1, 0.05]])
    return kinds[generator.integers(2, size=people)]


@pytest.mark.parametrize("settings", [{}, {"stream": "iid"}, {"expert": "hedge"}, {"privacy": Privacy(3.0)}])
def test_full_information_finds_the_complements(settings: dict[str, Any]) -> None:
    """Items 0 and 2 are the most popular, but 0 and 1 together please everybody."""
    settings = {"privacy": Privacy(1.0, 1e-6)} | settings
    learner = SetMaximizer(6, 2, 6000, seed=3, **settings)
    slates = learner.replay(shop(6000))
    assert set(slates[-1]) == {0, 1}


@pytest.mark.parametrize("stream", ["iid", "any"])
@pytest.mark.parametrize("feedback", ["clicks", "bandit"])
def test_partial_feedback_finds_the_complements(feedback: Any, stream: Any) -> None:
    people, generator = shop(60_000), np.random.default_rng(1)
    learner = SetMaximizer(6, 2, 60_000, Privacy(1.0, 1e-6), feedback=feedback, stream=stream, seed=3)
    position = 0
    while position < 60_000:
        count = learner.rounds_until_release
        slates = learner.preview(count)
        chances = np.where(
            slates >= 0,
            np.take_along_axis(people[position : position + count], np.maximum(slates, 0), 1),
            0.0,
        )
        hits = generator.random(chances.shape) < chances
        clicked = np.where(hits.any(axis=1), slates[np.arange(count), hits.argmax(axis=1)], -1)
        learner.observe_many(clicked if feedback == "clicks" else hits.any(axis=1).astype(float))
        position += count
    final = learner._mode.decide(learner._turn.public, 59_999, None)
    assert set(learner._turn.public.get("slate", final)) == {0, 1}


def test_unavailable_items_are_not_shown_and_slots_are_filled() -> None:
    learner = SetMaximizer(["a", "b", "c", "d", "e", "f"], 2, 3000, Privacy(1.0, 1e-6), seed=1)
    learner.replay(shop(2990))
    mask = np.array([False, True, True, True, True, True])
    slate = learner.open(available=mask).decision
    assert len(slate) == 2
    assert 0 not in slate
    assert learner.labels[slate].tolist()[0] in "bc"
    few = learner.open(available=[False, False, False, False, True, False]).decision
    assert few.tolist() == [4]
    with pytest.raises(ConfigError, match="yes at least once"):
        learner.open(available=[False] * 6)
    assert restricted(np.array([3, 1]), np.array([True, False, True, True])).tolist() == [3, 0]


def test_labels_name_clicks_and_slates() -> None:
    learner = SetMaximizer(["tea", "milk", "soap"], 2, 10, Privacy(1.0, 1e-6), feedback="clicks")
    slate = learner.act()
    learner.observe(str(learner.labels[slate[0]]))


def test_other_functions_and_callables_learn_too() -> None:
    rows = shop(3000)
    for function in (
        FacilityLocation,
        WeightedCoverage(tuple(tuple(int(i == j) for j in range(6)) for i in range(6))),
    ):
        learner = SetMaximizer(6, 2, 3000, Privacy(3.0, 1e-6), function=function, stream="iid", seed=1)
        scale = 1.0 if function is FacilityLocation else rows.sum(axis=1, keepdims=True)
        assert 0 in learner.replay(rows / scale)[-1]
    people = [lambda chosen, row=row: 5 * (1 - float(np.prod(1 - row[chosen]))) for row in rows[:400]]
    learner = SetMaximizer(6, 2, 400, Privacy(20.0, 1e-6), function=SetFunction, bound=5.0, seed=1)
    assert 0 in learner.replay(people)[-1]


def test_shrinking_keeps_real_differences_and_drops_noise(crowd: np.random.Generator) -> None:
    noise = crowd.normal(size=(4, 500))
    common = np.linspace(0, 50, 500)
    assert np.abs(shrunk(common + noise, 1.0) - (common - common.mean())).mean() < 0.6 * np.abs(noise).mean()
    differing = crowd.normal(size=(4, 500)) * 100
    assert np.corrcoef(shrunk(differing, 1.0).ravel(), differing.ravel())[0, 1] > 0.99


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"slots": 9}, r"slots \(9\) must not exceed items \(4\)"),
        ({"horizon": 0}, "horizon must be a whole number, at least 1, got 0"),
        ({"items": 0}, "items must be a whole number"),
        ({"items": ["a", "a", "b"]}, "labels must be different"),
        ({"bound": 0.0}, "bound must be finite"),
        ({"bound": 2.0}, "bound is for callables and rewards"),
        ({"bound": 1e-200, "feedback": "bandit"}, "bound must be finite"),
        ({"horizon": 2**50}, "at most"),
        ({"feedback": "smoke"}, "feedback must be one of full, bandit, clicks, got 'smoke'"),
        ({"stream": "odd"}, "stream must be one of"),
        ({"stream": "iid", "expert": "hedge"}, "one way to learn"),
        ({"feedback": "clicks", "expert": "hedge"}, "one way to learn"),
        ({"feedback": "bandit", "stream": "iid", "expert": "hedge"}, "one way to learn"),
        ({"feedback": "clicks", "calibration": "published"}, "nothing is published for clicks"),
        ({"feedback": "bandit", "expert": "hedge", "block": 7}, "every round .block=1., got 7"),
        ({"explore": 0.5}, "for bandit and clicks only"),
        ({"feedback": "bandit", "explore": 1.5}, "between 0 and 1"),
        ({"function": dict}, "family of discreet.arrivals"),
        ({"stream": "iid", "function": SetFunction}, "built-in function"),
        ({"calibration": "published", "expert": "sum"}, "paper's experts"),
    ],
)
def test_impossible_shops_are_refused_with_their_value(change: dict[str, Any], message: str) -> None:
    settings = {"items": 4, "slots": 2, "horizon": 100, "privacy": Privacy(1.0, 1e-6)} | change
    with pytest.raises(ConfigError, match=message):
        SetMaximizer(**settings)


def test_too_short_a_horizon_is_said_in_plain_words() -> None:
    for stream in ("iid", "any"):
        learner = SetMaximizer(100, 5, 2000, Privacy(1.0, 1e-6), feedback="bandit", stream=stream)
        assert "too short" in learner._plan.facts["warning"]


def test_a_click_is_one_item_however_it_is_wrapped() -> None:
    """Rows of several clicks, huge numbers and other nonsense count as no click, and nobody else is lost."""
    learner = SetMaximizer(12, 3, 1000, Privacy(1.0, 1e-6), feedback="clicks", stream="iid")
    slates = learner.preview(6)
    wrapped = [
        2**70,
        np.uint64(2**64 - 1),
        slates[2].tolist(),
        "pear",
        float(slates[4, 0]),
        int(slates[5, 1]),
    ]
    learner.observe_many(wrapped)
    assert learner._secret["counts"].sum() == 2 * learner._mode._noise(0)[0]  # type: ignore[attr-defined]
    learner.observe_many(learner.preview(6))  # whole slates as clicks
    assert learner._secret["counts"].sum() == 2 * learner._mode._noise(0)[0]  # type: ignore[attr-defined]


def test_a_person_who_calls_back_changes_nothing() -> None:
    learner = SetMaximizer(3, 2, 20, Privacy(1.0, 1e-6), function=SetFunction, block=5)
    for _ in range(4):
        learner.close(learner.open(), lambda chosen: 0.2 * len(chosen))
    learner.close(learner.open(), lambda chosen: float(learner.turn()) or 0.2)
    assert learner.guarantee.releases == 0
    assert learner.turn()
    assert not learner._secret["gains"].any()


@pytest.mark.filterwarnings("error")
def test_huge_answers_are_clipped_in_silence() -> None:
    learner = SetMaximizer(3, 2, 20, Privacy(1.0, 1e-6), feedback="bandit", bound=1e-3, stream="iid")
    learner.observe_many([1e308])
    callables = SetMaximizer(3, 2, 20, Privacy(1.0, 1e-6), function=SetFunction, bound=0.5, block=5)
    callables.observe_many([lambda chosen: 1.7e308 * len(chosen) / 3, "not a callable"])
    assert callables._clock == 2
