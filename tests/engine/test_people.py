"""If these fail, a person who returns counts twice in a block, or outputs reveal who returned."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

import discreet
from discreet import (
    ConfigError,
    ContextualBandit,
    OutOfBounds,
    Privacy,
    RunningSum,
    SetMaximizer,
    SetSelector,
    StateError,
    StreamingLearner,
)
from discreet.domains import LpBall, UniformMatroid
from discreet.engine.people import NOBODY, People, name_of, names_of
from discreet.engine.problem import view_of
from discreet.engine.state_file import decode, encode
from discreet.functions import ClickModel
from discreet.losses import SquaredLoss
from discreet.records.table import LogTable
from engine.sums import counted_people

PLAIN = Privacy(1.0, 1e-6)
KEYED = Privacy(1.0, 1e-6, contributions=4, keyed=True)
SECRET = "ann.of.the.hill"


def counting(privacy: Privacy = PLAIN, **more: Any) -> RunningSum:
    """Return a running sum with blocks of ten people."""
    return RunningSum(1, 40, privacy, bound=1.0, nonnegative=True, **({"block": 10} | more))


# --- which round counts


def test_the_first_round_that_a_person_opens_counts_whichever_is_answered_first() -> None:
    sums = counting()
    first, second, other = (sums.open(person=name) for name in ("ann", "ann", "bob"))
    assert sums.close(second, [1.0]) is True
    assert counted_people(sums) == 0
    assert sums.close(other, [1.0]) is True
    assert sums.close(first, [1.0]) is True
    assert counted_people(sums) == 2


def test_a_lost_or_skipped_answer_leaves_the_block_without_this_person() -> None:
    """Otherwise a person who was silent once would move two entries, where one is charged."""
    sums = counting()
    sums.open(person="ann")
    sums.act(person="bob")
    sums.skip()
    for name in ("ann", "bob"):
        sums.act(person=name)
        sums.observe([1.0])
    assert counted_people(sums) == 0


def test_every_person_counts_again_in_the_next_block() -> None:
    sums = counting(block=2)
    for _ in range(3):
        sums.add([1.0], person="ann")
        assert counted_people(sums) == 1
        sums.add([1.0], person="ann")
    assert sums.releases == 3


def test_rounds_without_a_name_count_unless_names_are_required() -> None:
    sums = counting()
    keyed = counting(KEYED)
    whose = ["ann", None, None, "ann"]
    sums.observe_many([[1.0]] * 4, persons=whose)
    keyed.observe_many([[1.0]] * 4, persons=whose)
    assert counted_people(sums) == 3
    assert counted_people(keyed) == 1


def test_one_person_under_two_spellings_is_one_person() -> None:
    """To take two people for one is safe; to take one for two is not."""
    same = names_of([7, "7", " 7 ", 7.0, np.int32(7), np.str_("7")], 6, keyed=True)
    assert same == [b"7"] * 6
    strange = names_of(
        [True, 7.5, float("nan"), "", object(), ["ann"], b"\xff", 2**9999, 7], 9, keyed=False
    )
    assert strange == [NOBODY] * 8 + [b"7"]
    assert names_of([None, float("nan"), "", 0.5], 4, keyed=True) == [NOBODY] * 4
    assert names_of(np.array([3, 4]), 2, keyed=True) == [b"3", b"4"]
    assert len(set(names_of(["a", "A", "ä", "\ud800"], 4, keyed=True) or [])) == 4


def test_a_whole_number_is_one_person_however_a_column_writes_it() -> None:
    """A column of whole numbers becomes floats, or "7.0", when a row without a name is added."""
    same = ["7.0", "007", "+7", "7.", "7e+00", np.float32(7), np.array("7.0")[()]]
    assert names_of(same, 7, keyed=True) == [b"7"] * 7
    signed = ["-7", "-07.0", "-0", "0.0", "00", "-0.0"]
    assert names_of(signed, 6, keyed=True) == [b"-7"] * 2 + [b"0"] * 4
    assert names_of(np.array([7.0, "ann"]), 2, keyed=True) == [b"7", b"ann"]
    for long, floats in ((2**53 + 1, float), (2**24 + 1, np.float32), (2**11 + 1, np.float16)):
        name = name_of(long, keyed=True)
        assert name == str(long).encode() == name_of(str(long), keyed=True)
        rounded = np.array([long, np.nan, 3], dtype=floats)  # equal for two whole numbers
        for column in (rounded, list(rounded)):
            assert names_of(column, 3, keyed=True) == [NOBODY, NOBODY, b"3"]
    short = LogTable(
        polars.DataFrame({"who": [2**24 + 1, None, 3]}, schema={"who": polars.Float32})
    )
    assert names_of(short.people("who"), 3, keyed=True) == [NOBODY, NOBODY, b"3"]
    written = [str(float(2**53 + 1)), str(float(10**18 + 1))]
    assert names_of(written, 2, keyed=True) == [NOBODY] * 2
    texts = ["7.5", "1e20", "0x7", "7-8", "9" * 5000, "0" * 5000 + "x", "7e+999", "٧"]
    assert names_of(texts, len(texts), keyed=True) == [text.encode() for text in texts]
    spellings = names_of(["\u00e9", "e\u0301"], 2, keyed=True)
    assert len(set(spellings or [])) == 1  # one text by Unicode's normal form


def test_every_way_to_feed_rounds_takes_names_and_they_agree() -> None:
    rng = np.random.default_rng(0)
    rows = rng.uniform(0, 1, (40, 3))
    whose = rng.integers(6, size=40)
    usual: dict[str, Any] = {
        "items": 3,
        "slots": 2,
        "horizon": 40,
        "privacy": PLAIN,
        "block": 7,
        "seed": 1,
    }
    one_by_one, replayed, at_once = (SetMaximizer(**usual) for _ in range(3))
    for row, name in zip(rows, whose, strict=True):
        one_by_one.act(person=int(name))
        one_by_one.observe(row)
    replayed.replay(rows, persons=whose)
    position = 0
    while position < 40:
        at_once.release_if_due()
        part = slice(position, position + at_once.rounds_until_release)
        at_once.observe_many(rows[part], persons=whose[part].tolist())
        position = part.stop
    unnamed = SetMaximizer(**usual)
    unnamed.replay(rows)
    states = [encode(each.snapshot()) for each in (one_by_one, replayed, at_once)]
    assert len(set(states)) == 1
    released = [each.snapshot().public["gains.prefix"] for each in (unnamed, replayed)]
    assert not np.array_equal(*released)


def test_samples_of_a_stream_take_names() -> None:
    settings: dict[str, Any] = {"feature_bound": 1.0, "target_bound": 1.0, "block": 4, "seed": 1}
    rng = np.random.default_rng(0)
    features = rng.uniform(-0.5, 0.5, (8, 2))
    y = rng.uniform(-1, 1, 8)
    here, there = (
        StreamingLearner(LpBall(2), SquaredLoss(), 8, PLAIN, **settings) for _ in range(2)
    )
    here.observe_stream(
        features, y, persons=["ann", "bob", "ann", "cid", "ann", "ann", "bob", "bob"]
    )
    counting_only = np.where([True, True, False, True, True, False, True, False], y, np.nan)
    there.observe_stream(features, counting_only)
    assert np.array_equal(here.coefficients, there.coefficients)


def test_contexts_and_arms_of_a_second_round_are_decided_and_add_nothing() -> None:
    """Under joint privacy, every round gets its own decision, and one round is learned from."""
    settings: dict[str, Any] = {"block": 4, "seed": 3}
    here, there = (ContextualBandit(3, 2, 400, KEYED, **settings) for _ in range(2))
    first = np.array([[0.1, 0.2], [0.9, -0.9]])
    second = np.array([[0.1, 0.2], [-0.5, 0.3]])
    for bandit, contexts, reward in ((here, first, 1.0), (there, second, 0.0)):
        tickets = bandit.open_many(contexts, persons=["ann", "ann"])
        assert bandit.close_many(tickets, [0.5, reward]).all()
        assert any(values.any() for values in bandit.snapshot().block.values())
    blocks = here.snapshot().block, there.snapshot().block
    assert all(np.array_equal(blocks[0][name], blocks[1][name]) for name in blocks[0])


# --- refusals


def test_a_keyed_learner_refuses_rounds_without_a_name_and_nothing_ticks() -> None:
    sums = counting(KEYED)
    sums.observe_many([[1.0]] * 10, persons=list("abcdefghij"))  # a release is due
    before = encode(sums.snapshot())
    for attempt in (
        lambda: sums.open(),
        lambda: sums.act(),
        lambda: sums.open_many(2),
        lambda: sums.observe_many([[1.0]]),
        lambda: sums.replay([[1.0]]),
        lambda: sums.add([1.0]),
        lambda: sums.open(person=""),
        lambda: sums.open(person=1.5),
        lambda: sums.open_many(2, persons=["a"]),
        lambda: sums.open_many(2, persons="ab"),
    ):
        with pytest.raises(ConfigError, match="person") as error:
            attempt()
        assert "\n" not in str(error.value)
    assert encode(sums.snapshot()) == before


def test_a_selector_has_no_rounds_to_name() -> None:
    with pytest.raises(ConfigError, match="leave out keyed"):
        SetSelector(UniformMatroid(3, 2), KEYED, function=ClickModel)


def test_a_keyed_learner_refuses_a_log_without_names() -> None:
    shop = SetMaximizer(["tea", "milk", "soap"], 2, 40, KEYED, feedback="clicks", stream="iid")
    with pytest.raises(ConfigError, match="without keyed"):
        shop.warm_start([(["soap", "tea"], "tea")])
    assert shop.releases == 0


def test_an_open_round_is_not_given_to_another_person() -> None:
    sums = counting()
    sums.act(person="ann")
    assert sums.act(person=" ann").shape == (1,)
    for other in ("bob", None):
        with pytest.raises(StateError, match="another person") as error:
            sums.act(person=other)
        assert not {"ann", "bob"} & set(str(error.value).split())
    assert sums.clock == 1


def test_wrong_feedback_of_a_round_that_does_not_count_is_refused_like_any_other() -> None:
    sums = counting()
    sums.open(person="ann")
    again = sums.open(person="ann")
    before = encode(sums.snapshot())
    for wrong in ([1.0, 2.0], "x", [float("nan")]):
        with pytest.raises(OutOfBounds):
            sums.close(again, wrong)
        assert encode(sums.snapshot()) == before
    assert sums.close(again, [1.0]) is True


def test_refused_rows_store_no_person() -> None:
    sums = counting()
    before = encode(sums.snapshot())
    with pytest.raises(OutOfBounds):
        sums.observe_many(np.ones((3, 2)), persons=["ann", "ann", "bob"])
    assert encode(sums.snapshot()) == before
    sums.observe_many(np.ones((3, 1)), persons=["bob", "ann", "cid"])
    assert counted_people(sums) == 3


# --- what is stored


def test_after_a_reload_a_person_of_the_open_block_does_not_count_again(tmp_path: Path) -> None:
    path = tmp_path / "state"
    sums = counting(KEYED, journal=path, checkpoint=1)
    sums.add([1.0], person=SECRET)
    sums.detach()  # as after a kill
    loaded: Any = discreet.load(path)
    loaded.add([1.0], person=SECRET)
    loaded.add([1.0], person="bob")
    assert counted_people(loaded) == 2
    loaded.save(path)
    assert SECRET.encode() not in path.read_bytes()
    while loaded.clock < 10:
        loaded.add([1.0], person=loaded.clock)
    loaded.release_if_due()
    assert loaded.snapshot().rounds.people is None
    loaded.add([1.0], person=SECRET)
    assert counted_people(loaded) == 1
    loaded.detach()


def test_no_person_is_stored_after_the_last_release() -> None:
    """No feedback is read there, so a file would hold digests for good, without any use."""
    often = Privacy(1.0, 1e-6, contributions=50, keyed=True)
    shop = SetMaximizer(3, 2, 40, often, block=15, seed=1)
    tickets = []
    for first in (0, 15, 30):
        count = min(15, 40 - first)
        tickets = [shop.open_many(count, persons=[SECRET] * count)]
        assert (shop.snapshot().rounds.people is None) == (first == 30)
    assert shop.close_many(tickets[-1], np.ones((10, 3))).all()
    assert shop.snapshot().rounds.people is None
    again = SetMaximizer(3, 2, 40, often, block=15, seed=1)
    again.replay(np.ones((40, 3)), persons=["ann"] * 40)
    again.act(person="bob")
    assert again.snapshot().rounds.people is None


def test_extending_lets_no_person_count_twice_in_the_current_block() -> None:
    """A last block reads no feedback, even after an extension; names count from the next one on."""
    shop = SetMaximizer(4, 2, 400, KEYED, feedback="bandit", stream="iid", seed=1)
    problem = SetMaximizer.problem_for(shop.settings)
    while view_of(problem, shop.snapshot()).step is not None:
        shop.open_many(shop.rounds_until_release, persons=[0] * shop.rounds_until_release)
        shop.release_if_due()
    before = shop.open(person=SECRET)
    shop.extend(400)
    after = shop.open(person=SECRET)
    assert shop.close(before, 1.0) is shop.close(after, 1.0) is True
    assert shop.snapshot().block == {}
    shop.open_many(shop.rounds_until_release, persons=[0] * shop.rounds_until_release)
    shop.release_if_due()
    tickets = shop.open_many(2, persons=[SECRET] * 2)
    people = shop.snapshot().rounds.people
    assert people is not None
    assert people.silent.tolist() == [tickets.rounds[1]]


def test_digests_of_two_blocks_and_two_learners_cannot_be_matched() -> None:
    digests = set()
    for _ in range(2):
        sums = counting(block=1)
        for _ in range(3):
            sums.open(person=SECRET)
            people = sums.snapshot().rounds.people
            assert people is not None
            assert SECRET not in repr(people)
            digests.add(people.digests.tobytes())
    assert len(digests) == 6


def test_tickets_decisions_and_texts_do_not_reveal_the_person_of_a_round() -> None:
    here = counting(KEYED, seed=1)
    there = counting(KEYED, seed=1)
    one = here.open_many(3, persons=[SECRET] * 3)
    two = there.open_many(3, persons=["a", "b", "c"])
    plain = one.as_plain()
    assert plain == two.as_plain()
    assert SECRET not in json.dumps(plain) + repr(one) + repr(here) + repr(here.snapshot())
    assert np.array_equal(here.close_many(one, [[1.0]] * 3), there.close_many(two, [[1.0]] * 3))
    assert (str(here.guarantee), here.facts) == (str(there.guarantee), there.facts)


def test_a_state_of_people_survives_its_file_and_nonsense_is_refused(tmp_path: Path) -> None:
    people = People(bytes(range(16)))
    people.enter(5, [name_of(name, keyed=True) for name in ("ann", "bob", "ann")])
    state = people.state()
    assert state is not None
    again = People.restored(state)
    assert again.counting(np.array([5, 6, 7])).tolist() == [True, True, False]
    assert again.enter(8, [b"bob", b"cid"]).silent == [8]
    path = tmp_path / "state"
    sums = counting()
    sums.open(person="ann")
    sums.save(path)
    sums.detach()
    body = path.read_bytes()[:-32]
    place = body.index(b'"key": "') + 8
    for wrong in (
        b"zz" + body[place + 2 : place + 32],
        b'","k2": "' + body[place + 9 : place + 32],
    ):
        altered = body[:place] + wrong + body[place + 32 :]
        with pytest.raises(StateError, match="makes no sense"):
            decode(altered + sha256(altered).digest(), "state")


# --- settings


def test_settings_without_keyed_are_those_of_earlier_versions() -> None:
    here = counting()
    there = counting(KEYED)
    assert "keyed" not in here.settings.as_plain()
    assert there.settings.as_plain()["keyed"] is True
    again = type(there.settings).from_toml(there.settings.to_toml())
    assert (again, again.privacy) == (there.settings, KEYED)
    with pytest.raises(ConfigError, match="keyed must be true or false"):
        Privacy(1.0, keyed="yes")  # type: ignore[arg-type]
