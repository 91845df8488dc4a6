"""Whether a state that was read from a journal fits its problem: names, dtypes and shapes of all
buffers.

A checksum says that a file is as it was written, not who wrote it. Compiled code relies on shapes,
so they are compared with what the problem starts with before anything is computed from them.
"""

from math import isfinite

import numpy as np

from discreet.engine.flat_state import flat
from discreet.engine.plan import State
from discreet.engine.problem import Problem, view_of
from discreet.engine.request import Batch
from discreet.engine.snapshot import Snapshot
from discreet.engine.view import View, nobody
from discreet.errors import StateError


def check_fits(problem: Problem, snapshot: Snapshot) -> None:
    """Refuse a turn whose buffers, rounds or counts this problem cannot have written."""
    try:
        view = view_of(problem, snapshot)
        fits = _buffers_fit(view, snapshot) and _rounds_fit(view, snapshot) and _hooks_fit(view)
    except Exception:  # what lies there may be anything
        fits = False
    if not fits:
        raise StateError("the state does not fit its settings: restore it from where it was copied")


def _buffers_fit(view: View[object], snapshot: Snapshot) -> bool:
    public, hidden = view.layout()
    if snapshot.block and snapshot.block.keys() != view.aggregators().keys():
        return False
    fits = _alike(snapshot.public, flat(public), view.growing) and _alike(
        snapshot.hidden, hidden, ()
    )
    for together in view.growing:
        lengths = {len(snapshot.public[name]) for name in together if name in snapshot.public}
        fits &= len(lengths) <= 1
    steps = [value for name, value in snapshot.hidden.items() if name.split(".")[-1] == "steps"]
    fits = fits and all(0 <= count <= snapshot.index for count in steps)
    return fits and snapshot.public.get("index", snapshot.index) == snapshot.index


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


def _rounds_fit(view: View[object], snapshot: Snapshot) -> bool:
    """Whether the clock is inside the block, and all open rounds were asked for as they can be."""
    problem: Problem = view.problem
    plan, clock = problem.plan, snapshot.rounds.clock
    end, horizon = view.end, view.horizon
    fits = plan.releases is None or snapshot.index <= plan.releases
    fits &= end is None or snapshot.begin <= clock <= end
    fits &= horizon is None or (end is not None and end <= horizon)
    for part in snapshot.rounds.open:
        if part.context is not None or part.available is not None or problem.takes_context:
            problem.request(part.context, part.available, len(part.rounds))
    if (people := snapshot.rounds.people) is not None:
        fits &= bool(((people.silent >= snapshot.begin) & (people.silent < clock)).all())
    if snapshot.rounds.mask_counts:
        fits &= _alike(snapshot.rounds.mask_counts, view.no_mask_counts(), ())
    return bool(fits)


def _hooks_fit(view: View[object]) -> bool:
    """Whether a person can be decided for and read, on numbers that nobody contributed."""
    view.check_state()
    problem: Problem = view.problem
    rounds, request = np.array([view.begin]), view.admitted(problem.blank_request())
    view.decide(rounds, request)
    view.plain()
    if (
        view.step is None or not view.step.rounds or not view.takes_rounds
    ):  # nobody is read in a round
        return True
    blanks = problem.rows([problem.blank()])
    batch = Batch(rounds, blanks, request)
    view.gather(nobody(view), view.read(batch))
    return True
