"""Whether a state that was read from a journal fits its problem: names, dtypes and shapes of all buffers.

A checksum says that a file is as it was written, not who wrote it. Compiled code relies on shapes, so they
are compared with what the problem starts with before anything is computed from them.
"""

from math import isfinite

import numpy as np

from discreet.errors import StateError
from discreet.turn.plan import State
from discreet.turn.problem import Problem, view_of
from discreet.turn.questions import Batch
from discreet.turn.record import Turn
from discreet.turn.states import flat
from discreet.turn.view import View, nobody

__all__ = ["check_fits"]


def check_fits(problem: Problem, turn: Turn) -> None:
    """Refuse a turn whose buffers, rounds or counts this problem cannot have written."""
    try:
        view = view_of(problem, turn)
        fits = _buffers_fit(view, turn) and _rounds_fit(view, turn) and _hooks_fit(view)
    except Exception:  # what lies there may be anything
        fits = False
    if not fits:
        raise StateError("the state does not fit its settings: restore it from where it was copied")


def _buffers_fit(view: View[object], turn: Turn) -> bool:
    public, kept = view.layout()
    if turn.block and turn.block.keys() != view.gatherings().keys():
        return False
    fits = _alike(turn.public, flat(public), view.growing) and _alike(turn.kept, kept, ())
    for together in view.growing:
        lengths = {len(turn.public[name]) for name in together if name in turn.public}
        fits &= len(lengths) <= 1
    steps = [value for name, value in turn.kept.items() if name.split(".")[-1] == "steps"]
    fits = fits and all(0 <= count <= turn.index for count in steps)
    return fits and turn.public.get("index", turn.index) == turn.index


def _alike(found: State, expected: State, growing: tuple[tuple[str, ...], ...]) -> bool:
    """Whether two states have the same names, and values of the same type, dtype and shape."""
    if found.keys() != expected.keys():
        return False
    free = {name for together in growing for name in together}
    return all(_is_like(found[name], value, name in free) for name, value in expected.items())


def _is_like(found: object, value: object, grows: bool) -> bool:
    if not isinstance(value, np.ndarray):
        return _kind(found) is _kind(value) and (not isinstance(found, float) or isfinite(found))
    if not isinstance(found, np.ndarray) or found.dtype != value.dtype or found.ndim != value.ndim:
        return False
    return bool(found.shape[grows:] == value.shape[grows:])


def _kind(value: object) -> type:
    """Of a number or text; NumPy's numbers come back from a file as Python's."""
    return type(value.item()) if isinstance(value, np.generic) else type(value)


def _rounds_fit(view: View[object], turn: Turn) -> bool:
    """Whether the clock is inside the block, and all open rounds were asked for as they can be."""
    problem: Problem = view.problem
    plan, clock = problem.plan, turn.rounds.clock
    end, horizon = view.end, view.horizon
    fits = plan.releases is None or turn.index <= plan.releases
    fits &= end is None or turn.begin <= clock <= end
    fits &= horizon is None or (end is not None and end <= horizon)
    for part in turn.rounds.open:
        if part.context is not None or part.available is not None or problem.takes_context:
            problem.asked(part.context, part.available, len(part.rounds))
    if (people := turn.rounds.people) is not None:
        fits &= bool(((people.silent >= turn.begin) & (people.silent < clock)).all())
    if turn.rounds.tally:
        fits &= _alike(turn.rounds.tally, view.no_counts(), ())
    return bool(fits)


def _hooks_fit(view: View[object]) -> bool:
    """Whether a person can be decided for and read, on numbers that nobody contributed."""
    view.check_state()
    problem: Problem = view.problem
    rounds, asked = np.array([view.begin]), view.admitted(problem.blank_question())
    view.decide(rounds, asked)
    view.plain()
    if view.step is None or not view.step.rounds or not view.takes_rounds:  # nobody is read in a round
        return True
    blanks = problem.rows([problem.blank()])
    batch = Batch(rounds, blanks, asked)
    view.gather(nobody(view), view.read(batch))
    return True
