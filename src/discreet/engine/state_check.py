"""Checks of a stored snapshot against the problem that is to go on from it.

A checksum proves that a file is as it was written, not who wrote it. Compiled code relies on
shapes, so names, dtypes and shapes of all buffers are compared with those of the problem before
anything is computed from them.
"""

from math import isfinite

import numpy as np

from discreet.engine.declarations import GROWING
from discreet.engine.flat_state import flat, flat_hidden
from discreet.engine.formats import PRESENT, TRANSLATED
from discreet.engine.plan import State
from discreet.engine.problem import Problem, view_of
from discreet.engine.request import Batch
from discreet.engine.snapshot import Snapshot
from discreet.engine.view import View
from discreet.errors import StateError

DOES_NOT_FIT = "the state does not fit its settings: restore it from where it was copied"


def check_belongs(problem: Problem, kind: str, snapshot: Snapshot) -> None:
    """Raise `StateError` if a snapshot is of other settings or another version, or has failed."""
    if (snapshot.kind, snapshot.settings_hash) != (kind, problem.settings.hash):
        raise StateError(
            f"the state belongs to other settings (of {snapshot.kind}): go on with those, or begin "
            "in another file or folder"
        )
    check_calibration(problem, snapshot)
    if snapshot.failed:
        raise StateError(
            "a release of this state failed after its noise was drawn: "
            "it cannot go on; start a new learner"
        )


def check_calibration(problem: Problem, snapshot: Snapshot) -> None:
    """Raise `StateError` if a snapshot was calibrated otherwise, and no upgrader translated it."""
    if snapshot.calibration in (problem.plan.calibration, TRANSLATED):
        return
    differs = f"and {PRESENT} calibrates it otherwise: go on with {snapshot.version}"
    if snapshot.version == str(PRESENT):
        differs = "with another NumPy or SciPy, or on another processor: go on there"
    spent = snapshot.ledger.spent.epsilon(problem.settings.privacy)
    raise StateError(
        f"this state was calibrated by discreet {snapshot.version} {differs}, or begin a new "
        f"learner (epsilon = {spent:.3g} of this one stays spent)"
    )


def check_fits(problem: Problem, snapshot: Snapshot) -> None:
    """Raise `StateError` if the problem cannot have written these buffers, rounds or counts."""
    try:
        view = view_of(problem, snapshot)
        fits = _buffers_fit(view, snapshot) and _rounds_fit(view, snapshot) and _hooks_fit(view)
    except Exception:  # the content may be anything
        fits = False
    if not fits:
        raise StateError(DOES_NOT_FIT)


def _buffers_fit(view: View, snapshot: Snapshot) -> bool:
    """Return whether public state, hidden state and block have the names and types of the view."""
    public, hidden = view.layout()
    if snapshot.block and snapshot.block.keys() != view.aggregators().keys():
        return False
    if not _alike(snapshot.public, flat(public), view.growing):
        return False
    found = flat_hidden(snapshot.hidden)
    if not _alike(found, flat_hidden(hidden), ()):
        return False
    for together in view.growing:
        lengths = {len(snapshot.public[name]) for name in together if name in snapshot.public}
        if len(lengths) > 1:
            return False
    steps = [value for name, value in found.items() if name.split(".")[-1] == "steps"]
    if not all(0 <= count <= snapshot.index for count in steps):
        return False
    return bool(snapshot.public.get("index", snapshot.index) == snapshot.index)


def _alike(state: State, expected: State, growing: GROWING) -> bool:
    """Return whether two states have the same names, and values of equal type, dtype and shape."""
    if state.keys() != expected.keys():
        return False
    grow = {name for together in growing for name in together}
    return all(_is_like(state[name], value, name in grow) for name, value in expected.items())


def _is_like(value: object, expected: object, grows: bool) -> bool:
    """Return whether a value has the expected type; the number of rows may differ if it grows."""
    if not isinstance(expected, np.ndarray):
        is_finite = not isinstance(value, float) or isfinite(value)
        return _plain_type(value) is _plain_type(expected) and is_finite
    if not isinstance(value, np.ndarray):
        return False
    if value.dtype != expected.dtype or value.ndim != expected.ndim:
        return False
    return bool(value.shape[grows:] == expected.shape[grows:])


def _plain_type(value: object) -> type:
    """Return the type that a number or text has after it was read from a file."""
    return type(value.item()) if isinstance(value, np.generic) else type(value)


def _rounds_fit(view: View, snapshot: Snapshot) -> bool:
    """Return whether the clock is inside the block, and all open rounds have valid requests."""
    problem = view.problem
    questions = problem.questions
    releases = problem.plan.releases
    clock = snapshot.rounds.clock
    end = view.end
    horizon = view.horizon
    fits = releases is None or snapshot.index <= releases
    fits &= end is None or snapshot.begin <= clock <= end
    fits &= horizon is None or (end is not None and end <= horizon)
    for part in snapshot.rounds.open:
        if part.context is not None or part.available is not None or questions.takes_context:
            questions.request(part.context, part.available, len(part.rounds))
    people = snapshot.rounds.people
    if people is not None:
        fits &= bool(((people.silent >= snapshot.begin) & (people.silent < clock)).all())
    if snapshot.rounds.mask_counts:
        fits &= _alike(snapshot.rounds.mask_counts, view.no_mask_counts(), ())
    return bool(fits)


def _hooks_fit(view: View) -> bool:
    """Return whether the hooks can decide and read, on feedback that no person gave."""
    view.check_state()
    mode = view.problem.mode
    rounds = np.array([view.begin])
    request = view.admitted(mode.questions.blank)
    view.decide(rounds, request)
    view.phase.readings()
    step = view.step
    reads_rounds = step is not None and step.rounds > 0 and mode.questions.in_rounds
    if reads_rounds:
        blanks = mode.answer.rows([mode.answer.blank])
        view.count(view.empty_block(), Batch(rounds, blanks, request))
    return True
