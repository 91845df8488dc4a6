"""Parts that the rules share: a learner's whole state, expected errors, lives to compare."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from discreet.arrays import Floats
from discreet.audit.cases.case import Case
from discreet.engine.state_file import encode
from discreet.engine.tickets import Tickets
from discreet.learners.base import Learner


def state(learner: Learner) -> bytes:
    """Return the whole state of a learner, as its file has it."""
    return encode(learner.snapshot())


def same(one: object, two: object) -> bool:
    """Return whether two decisions are the same."""
    return bool(np.array_equal(np.asarray(one), np.asarray(two)))


def trimmed(decision: object) -> object:
    """Return a set without the −1 that pad it in a table of many sets."""
    if isinstance(decision, np.ndarray) and decision.dtype.kind == "i" and decision.ndim == 1:
        return decision[decision >= 0]
    return decision


def raises(
    kind: type[BaseException], call: Callable[[], object], containing: str = ""
) -> BaseException:
    """Return the error that a call raises; it must be of this kind, and one line."""
    try:
        call()
    except kind as error:
        assert containing in str(error), f"the error does not say {containing!r}: {error}"
        assert "\n" not in str(error), f"the error has several lines: {error}"
        return error
    except BaseException as error:
        raise AssertionError(
            f"{type(error).__name__} was raised instead of {kind.__name__}: {error}"
        ) from error
    raise AssertionError(f"nothing was raised, {kind.__name__} was expected")


class Lived(NamedTuple):
    """A learner after a stream of people, and its decisions."""

    learner: Learner
    decisions: list[object]


def lived(case: Case, people: list[object], **settings: object) -> Lived:
    """Make a learner, and let these people come one by one."""
    learner = case.make(**settings)
    decisions: list[object] = []
    contexts = case.contexts(len(people))
    for round, person in enumerate(people):
        decision = learner.act(row_of(contexts, round), **case.whose(round))
        learner.observe(case.answered(person, decision))
        decisions.append(decision)
    return Lived(learner, decisions)


def row_of(contexts: Floats | None, round: int) -> Floats | None:
    """Return the context of a round; None if the learner takes none."""
    return None if contexts is None else contexts[round]


def opened(case: Case, learner: Learner, count: int) -> Tickets:
    """Open `count` rounds at once, with their contexts."""
    contexts = case.contexts(case.horizon)
    first = learner.clock
    request = count if contexts is None else contexts[first : first + count]
    return learner.open_many(request, **case.whose_rounds(first, count))


def fed(case: Case, learner: Learner, people: list[object]) -> None:
    """Let these people come many at once, across releases."""
    position = 0
    while position < len(people):
        learner.release_if_due()
        count = min(learner.rounds_until_release, len(people) - position)
        learner.close_many(opened(case, learner, count), people[position : position + count])
        position += count
