"""A rule of the contract about many people at once: what one of them brings refuses nobody else."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import numpy as np

from discreet.audit.cases.case import Case
from discreet.audit.contract.tools import opened, same
from discreet.audit.hostile_containers import (
    Container,
    as_objects,
    containers_for,
    containers_of_masks,
)
from discreet.engine.tickets import Tickets
from discreet.errors import DiscreetError
from discreet.learners.base import Learner

Result = TypeVar("Result")

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
LONG_NAME = 2**60
"""A whole number from which on a float does not tell names apart."""


def one_persons_worst_entry_refuses_nobody_else(case: Case) -> None:
    """One of several people brings, repeats or invents the worst; the others count as ever."""
    people = case.people(len(_opened(case, _ready(case))))
    _check_answers(case, people)
    _check_repetitions(case, people)
    _check_names(case, people)
    if case.context is None:
        _check_observed(case, people)
    else:
        _check_contexts(case, people)
        _check_masks(case)


def _ready(case: Case) -> Learner:
    """Return a learner in a block of several rounds; nobody answers before.

    The first blocks of many modes have one round, in which nobody comes beside another. Where all
    blocks have, their length is set.
    """
    settings: dict[str, object] = {}
    while True:
        learner = case.make(seed=6, **settings)
        while learner.clock < case.horizon:
            learner.release_if_due()
            if learner.rounds_until_release > 1:
                return learner
            opened(case, learner, 1)
        assert not settings, "no block has several rounds"
        settings = {"block": MOST}


def _opened(case: Case, learner: Learner) -> Tickets:
    """Open several rounds."""
    return opened(case, learner, min(MOST, learner.rounds_until_release))


def _check_answers(case: Case, people: list[object]) -> None:
    """Check that others count the same beside any answer, in any container."""
    expected = _block(case, list, people, _blank(case))
    for number, container in enumerate((list, *case.containers)):
        # All of them in lists, and some of them in each other container.
        for worst in WORST if not number else WORST[number % 7 :: 7]:
            what = f"beside {_named(worst)} in {_named_container(container)}, "
            block = _block(case, container, people, worst)
            assert _same_block(block, expected), what + "others count otherwise"


def _check_observed(case: Case, people: list[object]) -> None:
    """Check that `observe_many` counts others the same beside any answer, in any container."""
    if not case.full:
        return  # answers to unknown decisions
    blank = _blank(case)

    def block(answers: object) -> dict[str, np.ndarray]:
        learner = _ready(case)
        whose = case.whose_rounds(learner.clock, len(people))
        _unless_refused(lambda: learner.observe_many(answers, **whose), "one person's answer")
        return learner.snapshot().block

    expected = block([*people[:1], blank, *people[2:]])
    for number, container in enumerate((list, *case.containers)):
        for worst in WORST[number % 5 :: 5]:
            answers = container([*people[:1], worst, *people[2:]])
            what = f"beside {_named(worst)} in {_named_container(container)}, "
            assert _same_block(block(answers), expected), what + "others are observed otherwise"


def _check_repetitions(case: Case, people: list[object]) -> None:
    """Check that a person who answers twice, or answers an invented round, changes nothing."""
    expected = _block(case, list, people)
    learner = _ready(case)
    tickets = _opened(case, learner)
    people = _answered(case, tickets, people)
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
    """Check that others count the same beside a person of any name, in any container."""
    everybody = _block(case, list, people)
    others = _block(case, list, people, _blank(case))
    names: list[object] = [LONG_NAME + place for place in range(len(people))]
    containers: tuple[Container, ...] = (list, tuple, as_objects)
    for container in containers:
        for worst in NAMELESS:
            persons = container([*names[:1], worst, *names[2:]])
            what = f"a person whose name is {_named(worst)}"
            assert _same_block(_block_of(case, people, persons, what), others), f"{what} counts"
    for container in containers_for(names):
        persons = container([*names[:1], None, *names[2:]])
        what = f"beside a missing name in {_named_container(container)}, "
        block = _block_of(case, people, persons, what)
        # Where rounds need no name, a round without one counts, and so does one of a name "x".
        fits = _same_block(block, others) or _same_block(block, everybody)
        assert fits, what + "others count otherwise"


def _block_of(
    case: Case, people: list[object], persons: object, what: str
) -> dict[str, np.ndarray]:
    """Return what is aggregated of people with these names."""
    learner = _ready(case)
    contexts = case.contexts(case.horizon)
    first = learner.clock
    request = len(people) if contexts is None else contexts[first : first + len(people)]
    tickets = _unless_refused(lambda: learner.open_many(request, persons=persons), what)
    _closed(learner, tickets, _answered(case, tickets, people), what)
    return learner.snapshot().block


def _check_contexts(case: Case, people: list[object]) -> None:
    """Check that others are answered the same beside a person of any context."""
    rows = _contexts(case)
    others = [place for place in range(len(rows)) if place != 1]
    usual = _decisions(case, rows, None)[others]
    for number, container in enumerate(containers_for(rows)):
        for worst in WORST if not number else WORST[number % 3 :: 3]:
            shown = _decisions(case, container([*rows[:1], worst, *rows[2:]]), None)
            what = f"beside the context {_named(worst)} in {_named_container(container)}, "
            assert same(shown[others], usual), what + "others are shown else"


def _check_masks(case: Case) -> None:
    """Check that others are answered the same beside a person of any mask."""
    learner = case.make()
    if type(learner).problem_for(learner.settings).mode.promise.notion != "joint DP":
        return  # masks are public
    rows = _contexts(case)
    drawn = case.masks(len(rows))
    assert drawn is not None, "masks of people are not tried"
    masks = list(drawn)
    others = [place for place in range(len(rows)) if place != 1]
    usual = _decisions(case, rows, masks)[others]
    for number, container in enumerate(containers_of_masks()):
        for worst in WORST if not number else WORST[number % 3 :: 3]:
            shown = _decisions(case, rows, container([*masks[:1], worst, *masks[2:]]))
            what = f"beside the mask {_named(worst)} in {_named_container(container)}, "
            assert same(shown[others], usual), what + "others are shown else"


def _contexts(case: Case) -> list[object]:
    """Return the contexts of several people."""
    learner = _ready(case)
    first = learner.clock
    contexts = case.contexts(case.horizon)
    assert contexts is not None
    return list(contexts[first : first + min(MOST, learner.rounds_until_release)])


def _decisions(case: Case, rows: object, masks: object) -> np.ndarray:
    learner = _ready(case)
    whose = case.whose_rounds(learner.clock, min(MOST, learner.rounds_until_release))
    tickets = _unless_refused(lambda: learner.open_many(rows, masks, **whose), "one person")
    return np.asarray(tickets.decisions)


def _block(
    case: Case, container: Container, people: list[object], *worst: object
) -> dict[str, np.ndarray]:
    """Return what is aggregated of these people, the second of whom may answer the worst."""
    learner = _ready(case)
    tickets = _opened(case, learner)
    answers = _answered(case, tickets, people)
    answers[1 : 1 + len(worst)] = worst
    flags = _closed(learner, tickets, container(answers), "one person's answer")
    assert all(flags), "not all answers count"
    return learner.snapshot().block


def _answered(case: Case, tickets: Tickets, people: list[object]) -> list[object]:
    """Return people's answers to their decisions."""
    shown = zip(people, tickets.decisions, strict=True)
    return [case.answered(person, decision) for person, decision in shown]


def _closed(learner: Learner, tickets: Tickets, answers: object, what: str) -> list[bool]:
    flags: list[bool] = _unless_refused(lambda: learner.close_many(tickets, answers), what).tolist()
    return flags


def _unless_refused(call: Callable[[], Result], what: str) -> Result:
    """Return the result of a call; a refusal breaks the rule."""
    try:
        return call()
    except DiscreetError as error:
        raise AssertionError(f"{what} refuses everybody: {error}") from error


def _same_block(one: dict[str, np.ndarray], two: dict[str, np.ndarray]) -> bool:
    return one.keys() == two.keys() and all(np.array_equal(one[name], two[name]) for name in one)


def _blank(case: Case) -> object:
    learner = case.make()
    return type(learner).problem_for(learner.settings).mode.answer.blank


def _named(worst: object) -> str:
    return f"{type(worst).__name__} {worst!r}"[:40]


def _named_container(container: object) -> str:
    return str(getattr(container, "__name__", getattr(container, "func", container)))
