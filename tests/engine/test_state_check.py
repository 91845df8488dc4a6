"""If these fail, a damaged state file with a valid checksum reaches compiled code."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet
from discreet import Privacy, RunningSum, SetMaximizer, StateError, StreamingLearner
from discreet.audit import Case
from discreet.audit.cases.learners import cases, keyed_cases
from discreet.domains import LpBall
from discreet.engine import state_file
from discreet.engine.flat_state import flat_hidden, nested_hidden
from discreet.engine.problem import view_of
from discreet.engine.snapshot import Snapshot
from discreet.errors import DiscreetError
from discreet.learners.base import Learner
from discreet.losses import SquaredLoss

EVERY = [*cases(), *keyed_cases()]


def lived(case: Case, rounds: int) -> Snapshot:
    """Return the state after whole blocks of at least `rounds` rounds and half a block more."""
    learner = case.make()
    while learner.clock < rounds:
        open_rounds(case, learner, learner.rounds_until_release)
        learner.release_if_due()
    if learner.rounds_until_release:
        open_rounds(case, learner, (learner.rounds_until_release + 1) // 2)
    return learner.snapshot()


def open_rounds(case: Case, learner: Learner, count: int) -> None:
    """Open some rounds, and close the first one."""
    contexts = case.contexts(case.horizon)
    first = learner.clock
    names = [f"person {round}" for round in range(first, first + count)]
    persons = {"persons": names} if learner.settings.keyed else {}
    what = count if contexts is None else contexts[first : first + count]
    tickets = learner.open_many(what, **persons)
    learner.close_many(tickets[:1], case.people(1))


def reshaped(array: np.ndarray) -> Iterator[np.ndarray]:
    """Yield arrays of other shapes and dtypes."""
    yield array[None]
    yield np.concatenate([array, array, np.zeros((1, *array.shape[1:]), array.dtype)])
    if len(array):
        yield array[:-1]
    if array.ndim == 2 and array.shape[1]:
        yield array[:, :-1]
    yield array.astype(np.float32)
    yield array.astype(np.int64 if array.dtype != np.int64 else np.float64)


def damaged(snapshot: Snapshot) -> Iterator[tuple[str, Snapshot]]:
    """Yield states in which one buffer has another shape, dtype or name, with its name."""
    for part in ("public", "hidden", "block"):
        state: dict[str, Any] = getattr(snapshot, part)
        state = flat_hidden(state) if part == "hidden" else state
        for name, value in state.items():
            others: list[Any] = [None, "text", -1] if not isinstance(value, np.ndarray) else [5]
            with np.errstate(all="ignore"):
                others += reshaped(value) if isinstance(value, np.ndarray) else []
            for other in others:
                if type(other) is not type(value) or isinstance(value, np.ndarray):
                    yield f"{part}.{name}", changed(snapshot, part, state | {name: other})
            without = {key: entry for key, entry in state.items() if key != name}
            if without or part != "block":  # an empty block is a block without feedback
                yield f"{part} without {name}", changed(snapshot, part, without)
            more = state | {f"{name}.more": value}
            yield f"{part} with more", changed(snapshot, part, more)


def changed(snapshot: Snapshot, part: str, state: dict[str, Any]) -> Snapshot:
    """Return the snapshot with another public state, hidden state or block."""
    fields: dict[str, Any] = {part: nested_hidden(state) if part == "hidden" else state}
    return replace(snapshot, **fields)


@pytest.mark.parametrize("case", EVERY, ids=lambda case: case.name)
@pytest.mark.parametrize("rounds", [pytest.param(0, marks=pytest.mark.night), 9])
def test_a_buffer_of_another_shape_is_refused_before_it_is_used(
    case: Case, rounds: int, memory_path: Path
) -> None:
    snapshot = lived(case, rounds)
    path = memory_path / "state"
    learner = case.make()
    problem = learner.problem_for(learner.settings)
    growing = {name for names in view_of(problem, snapshot).growing for name in names}
    path.write_bytes(state_file.encode(snapshot))
    discreet.load(path).detach()
    for what, wrong in damaged(snapshot):
        path.write_bytes(state_file.encode(wrong))
        try:
            discreet.load(path).detach()
        except StateError:
            continue
        except Exception as error:
            pytest.fail(f"{what}: {type(error).__name__}: {error}")
        assert what.split(".", 1)[-1] in growing, what  # its number of rows may differ


def test_a_state_without_damage_loads_at_any_time(memory_path: Path) -> None:
    """All modes, after each release, and when all rounds are over."""
    path = memory_path / "state"
    for case in EVERY:
        for rounds in range(0, case.horizon + 1, 6):
            path.write_bytes(state_file.encode(lived(case, rounds)))
            discreet.load(path).detach()


def test_a_state_with_a_spiked_covariance_loads(memory_path: Path) -> None:
    """The number of spikes is a released value, and the buffers for them grow with it."""
    path = memory_path / "state"
    chance = np.random.default_rng(0)
    stream = StreamingLearner(
        LpBall(4),
        SquaredLoss(),
        100_000,
        Privacy(8.0, 1e-6),
        feature_bound=3.0,
        target_bound=1.0,
        seed=1,
    )
    features = chance.normal(size=(20_000, 4)) * [1.0, 0.1, 0.1, 0.01]
    stream.observe_stream(features, features.sum(axis=1))
    assert len(stream.snapshot().public["measured.moments.vectors"])
    path.write_bytes(state_file.encode(stream.snapshot()))
    discreet.load(path).detach()


@pytest.mark.parametrize(
    "damage",
    [
        lambda snapshot: replace(
            snapshot, ledger=replace(snapshot.ledger, everyone=int(37.7 * 2**96))
        ),
        lambda snapshot: replace(snapshot, ledger=replace(snapshot.ledger, everyone=-1)),
        lambda snapshot: replace(snapshot, ledger=replace(snapshot.ledger, newest_pure=2**97)),
        lambda snapshot: replace(snapshot, ledger=replace(snapshot.ledger, closed_pure=-(2**96))),
        lambda snapshot: replace(snapshot, ledger=replace(snapshot.ledger, cohort=-2)),
        lambda snapshot: replace(snapshot, index=4),
        lambda snapshot: replace(snapshot, index=10**6),
        lambda snapshot: replace(snapshot, begin=4),
        lambda snapshot: replace(snapshot, rounds=replace(snapshot.rounds, clock=2)),
        lambda snapshot: replace(snapshot, rounds=replace(snapshot.rounds, clock=10**12)),
        lambda snapshot: replace(snapshot, revision=-1),
        lambda snapshot: replace(
            snapshot, hidden={"sum": snapshot.hidden["sum"] | {"steps": 10**15}}
        ),
    ],
)
def test_counts_that_contradict_each_other_are_refused(
    damage: Callable[[Snapshot], Snapshot], memory_path: Path
) -> None:
    """One of them is a ledger that has spent more than its budget."""
    sums = RunningSum(2, 10, Privacy(1.0), bound=1.0, block=2)
    path = memory_path / "state"
    sums.replay([[0.5, 0.5]] * 7)
    snapshot = sums.snapshot()
    path.write_bytes(state_file.encode(snapshot))
    discreet.load(path).detach()
    path.write_bytes(state_file.encode(damage(snapshot)))
    with pytest.raises(StateError):
        discreet.load(path)


def edges(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.int64)


@pytest.mark.parametrize(
    "wrong",
    [
        {"edges": edges(0, 2)}, {"edges": edges(4, 40)}, {"edges": edges(4)},
        {"edges": edges(6, 4)}, {"edges": edges()}, {"edges": np.array([4.0, 6.0])},
        {"edges": edges(4, 2**61)}, {"context": np.zeros((2, 3))},
        {"available": np.ones(3, dtype=np.bool_)}, {"context": np.zeros(2)},
    ],
    ids=str,
)  # fmt: skip
def test_impossible_open_rounds_are_refused(wrong: dict[str, Any], memory_path: Path) -> None:
    sums = RunningSum(2, 10, Privacy(1.0), bound=1.0, block=4)
    path = memory_path / "state"
    sums.replay([[0.5, 0.5]] * 4)
    sums.open_many(2)
    snapshot = deepcopy(sums.snapshot())
    part = replace(snapshot.rounds.open[0], **wrong)
    path.write_bytes(
        state_file.encode(replace(snapshot, rounds=replace(snapshot.rounds, open=(part,))))
    )
    with pytest.raises(DiscreetError):
        discreet.load(path)


@pytest.mark.parametrize(
    ("name", "rounds", "entry", "wrong"),
    [
        ("clicks", 0, "phase.table", 10**9),
        ("clicks", 0, "slate", -5),
        ("rewards", 0, "phase.table", -1),
        ("sets", 0, "slate", 10**9),
        ("points", 0, "slates.slate", 10**9),
        ("points", 0, "slates.catalogue.announced", False),
    ],
)
def test_impossible_items_are_refused_before_compiled_code_reads_them(
    name: str, rounds: int, entry: str, wrong: Any, memory_path: Path
) -> None:
    """The checksum of a file can be forged."""
    case = next(case for case in cases() if case.name == name)
    snapshot = lived(case, rounds)
    path = memory_path / "state"
    public = snapshot.public | {entry: np.full_like(snapshot.public[entry], wrong)}
    path.write_bytes(state_file.encode(replace(snapshot, public=public)))
    with pytest.raises(StateError, match="does not fit its settings"):
        discreet.load(path)


def test_a_slate_that_shows_an_item_twice_is_refused(memory_path: Path) -> None:
    """The gains of that item would be added twice to one cell, beyond the bound of a visitor."""
    snapshot = lived(next(case for case in cases() if case.name == "sets"), 6)
    path = memory_path / "state"
    path.write_bytes(state_file.encode(snapshot))
    discreet.load(path).detach()
    public = snapshot.public | {"slate": np.zeros_like(snapshot.public["slate"])}
    assert public["slate"].size > 1
    path.write_bytes(state_file.encode(replace(snapshot, public=public)))
    with pytest.raises(StateError, match="does not fit its settings"):
        discreet.load(path)


def test_impossible_trials_are_refused(memory_path: Path) -> None:
    shop = SetMaximizer(5, 2, 20_000, Privacy(1.0), feedback="clicks", seed=1)
    while shop.snapshot().public["phase"] != "ExchangePlan":
        shop.open_many(shop.rounds_until_release)
        shop.release_if_due()
    snapshot = shop.snapshot()
    path = memory_path / "state"
    for entry, wrong in (("items", 10**9), ("slots", 2), ("rounds", 10**6), ("rounds", -1)):
        key = f"phase.trials.{entry}"
        public = snapshot.public | {key: np.full_like(snapshot.public[key], wrong)}
        path.write_bytes(state_file.encode(replace(snapshot, public=public)))
        assert len(snapshot.public[key])
        with pytest.raises(StateError, match="does not fit its settings"):
            discreet.load(path)
