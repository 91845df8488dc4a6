"""A rule of the contract about many people at once: what one of them brings refuses nobody else."""

from dataclasses import replace
from functools import partial

import numpy as np

from discreet.audit.cases.case import Case
from discreet.audit.contract.tools import opened, row_of, same
from discreet.engine.tickets import Tickets
from discreet.errors import DiscreetError
from discreet.learners.base import Learner

MOST = 4
"""The largest number of people in one call."""
WORST: tuple[object, ...] = (
    None, float("nan"), float("inf"), 1j, b"x", b"\xff", "x", "0.777 or so", "\ud800", 10**400,
    object(), [], {}, [[1.0], [2.0, 3.0]], [object()] * 3, np.zeros((2, 2)),
)  # fmt: skip
"""Entries that are no answer, no context and no mask."""
NAMELESS = tuple(
    entry for entry in WORST if entry is not None and not isinstance(entry, str | bytes | int)
)
"""Entries that are no name either; where rounds need no name, None is a person without one."""


def one_persons_worst_entry_refuses_nobody_else(case: Case) -> None:
    """One of several people brings, repeats or invents the worst; the others count as ever."""
    count = min(MOST, case.make(seed=6).rounds_until_release)
    if count < 2:
        return  # each person comes alone
    people = case.people(count)
    _check_answers(case, people)
    _check_repetitions(case, people)
    _check_names(case, people)
    if case.context is not None:
        _check_contexts(case, people)


def _check_answers(case: Case, people: list[object]) -> None:
    """Check that others count the same beside any answer, in any container."""
    blank = _blank(case)
    expected = _block(case, [*people[:1], blank, *people[2:]])
    for number, container in enumerate((list, *case.containers)):
        # All of them in lists, and some of them in each other container.
        for worst in WORST if not number else WORST[number % 7 :: 7]:
            answers = container([*people[:1], worst, *people[2:]])
            what = f"beside {_named(worst)} in {_named_container(container)}, "
            assert _same_block(_block(case, answers), expected), what + "others count otherwise"


def _check_repetitions(case: Case, people: list[object]) -> None:
    """Check that a person who answers twice, or answers an invented round, changes nothing."""
    expected = _block(case, people)
    learner = case.make(seed=6)
    tickets = opened(case, learner, len(people))
    assert learner.close_many(tickets[:1], people[:1]).all()
    again = replace(
        tickets,
        rounds=np.concatenate([tickets.rounds[[0, 1, 1]], [-1, 10**9], tickets.rounds[2:]]),
        numbers=tickets.numbers[[0, 1, 1, 0, 0, *range(2, len(people))]],
    )
    answers = [people[0], people[1], people[0], people[0], people[0], *people[2:]]
    flags = _closed(learner, again, answers, "a round that is answered twice or was never opened")
    assert flags == [False, True, False, False, False] + [True] * (len(people) - 2), (
        "flags of repeated and invented rounds"
    )
    assert _same_block(learner.snapshot().block, expected), "a repeated answer counts"


def _check_names(case: Case, people: list[object]) -> None:
    """Check that others count the same beside a person of any name."""
    expected = _block(case, [*people[:1], _blank(case), *people[2:]])
    for container in (list, tuple, _objects):
        for worst in NAMELESS:
            learner = case.make(seed=6)
            names = [f"person {place}" for place in range(len(people))]
            persons = container([*names[:1], worst, *names[2:]])
            contexts = case.contexts(case.horizon)
            request = len(people) if contexts is None else contexts[: len(people)]
            what = f"a person whose name is {_named(worst)}"
            try:
                tickets = learner.open_many(request, persons=persons)
            except DiscreetError as error:
                raise AssertionError(f"{what} refuses everybody: {error}") from error
            _closed(learner, tickets, people, what)
            assert _same_block(learner.snapshot().block, expected), f"{what} counts"


def _check_contexts(case: Case, people: list[object]) -> None:
    """Check that others are answered the same beside a person of any context or mask."""
    contexts = case.contexts(case.horizon)
    assert contexts is not None
    usual = opened(case, case.make(seed=6), len(people)).decisions
    others = [place for place in range(len(people)) if place != 1]
    masks = [np.ones(len(mask), dtype=np.bool_) for mask in (case.masks(len(people)) or ())]
    for worst in WORST:
        rows: list[object] = [row_of(contexts, place) for place in range(len(people))]
        rows[1] = worst
        ask = partial(_decisions, case, rows, None)
        assert same(ask()[others], usual[others]), f"beside {_named(worst)}, others are shown else"
        if masks:
            marked = [*masks[:1], worst, *masks[2:]]
            rows[1] = row_of(contexts, 1)
            shown = _decisions(case, rows, marked)
            assert same(shown[others], usual[others]), f"the mask {_named(worst)} changes others"


def _decisions(case: Case, rows: list[object], masks: list[object] | None) -> np.ndarray:
    learner = case.make(seed=6)
    tickets = learner.open_many(rows, masks, **case.whose_rounds(0, len(rows)))
    return np.asarray(tickets.decisions)


def _block(case: Case, answers: object) -> dict[str, np.ndarray]:
    """Return what is aggregated of these answers."""
    learner = case.make(seed=6)
    count = min(MOST, learner.rounds_until_release)
    flags = _closed(learner, opened(case, learner, count), answers, "one person's answer")
    assert all(flags), "not all answers count"
    return learner.snapshot().block


def _closed(learner: Learner, tickets: Tickets, answers: object, what: str) -> list[bool]:
    try:
        flags: list[bool] = learner.close_many(tickets, answers).tolist()
    except DiscreetError as error:
        raise AssertionError(f"{what} refuses everybody: {error}") from error
    return flags


def _same_block(one: dict[str, np.ndarray], two: dict[str, np.ndarray]) -> bool:
    return one.keys() == two.keys() and all(np.array_equal(one[name], two[name]) for name in one)


def _blank(case: Case) -> object:
    learner = case.make()
    return type(learner).problem_for(learner.settings).mode.answer.blank


def _objects(people: list[object]) -> np.ndarray:
    array = np.empty(len(people), dtype=object)
    array[:] = people
    return array


def _named(worst: object) -> str:
    return f"{type(worst).__name__} {worst!r}"[:40]


def _named_container(container: object) -> str:
    return str(getattr(container, "__name__", getattr(container, "func", container)))
