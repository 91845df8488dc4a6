"""What the rules of the contract share: a learner's whole state, errors that must come, lives to
compare.
"""

from collections.abc import Callable

import numpy as np

from discreet.audit.cases.case import Case
from discreet.engine.state_file import encode
from discreet.engine.tickets import Tickets
from discreet.learners.base import Learner


def state(learner: Learner) -> bytes:
    """Everything that a learner remembers."""
    return encode(learner.snapshot())


def same(one: object, two: object) -> bool:
    """Whether two decisions are the same."""
    return bool(np.array_equal(np.asarray(one), np.asarray(two)))


def trimmed(decision: object) -> object:
    """A set without the −1 that fills it up in a table of many sets."""
    if isinstance(decision, np.ndarray) and decision.dtype.kind == "i" and decision.ndim == 1:
        return decision[decision >= 0]
    return decision


def raises(
    kind: type[BaseException], call: Callable[[], object], containing: str = ""
) -> BaseException:
    """The error that a call raises; it must be of this kind, in one line."""
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


def lived(case: Case, people: list[object], **settings: object) -> tuple[Learner, list[object]]:
    """A learner that met these people one by one, and its decisions."""
    learner, decisions = case.make(**settings), []
    contexts = case.contexts(len(people))
    for round, person in enumerate(people):
        context = None if contexts is None else contexts[round]
        decisions.append(learner.act(context, **case.whose(round)))
        learner.observe(case.answered(person, decisions[-1]))
    return learner, decisions


def opened(case: Case, learner: Learner, count: int) -> Tickets:
    """So many rounds, opened at once, with the contexts that belong to them."""
    contexts = case.contexts(case.horizon)
    first = learner.clock
    asked = count if contexts is None else contexts[first : first + count]
    return learner.open_many(asked, **case.whose_rounds(first, count))


def fed(case: Case, learner: Learner, people: list[object]) -> None:
    """Feed so many people at once, crossing releases."""
    position = 0
    while position < len(people):
        learner.release_if_due()
        count = min(learner.rounds_until_release, len(people) - position)
        learner.close_many(opened(case, learner, count), people[position : position + count])
        position += count
