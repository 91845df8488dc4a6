"""Requests of rounds: contexts and masks as callers give them, by label or by position."""

import numpy as np

from discreet.engine.engine import Engine
from discreet.engine.request import Request
from discreet.errors import ConfigError
from discreet.learners.labels import mask_of, masks_in, masks_of_people, with_room
from discreet.records.kinds import is_table


def request_of(
    engine: Engine, context: object, available: object, count: int, *, one: bool = False
) -> Request:
    """Return the request of `count` rounds, with its masks as one boolean per candidate."""
    questions = engine.problem.questions
    if available is None:
        return questions.request(context, None, count, one=one)
    candidates = questions.candidates
    if candidates is not None:
        if not one and is_table(available):
            available = masks_in(available, engine.view.labels, candidates)
        if engine.problem.promise.notion != "joint DP":
            available = _public_mask(engine, available, candidates)
        elif one:
            available = _personal_mask(engine, available, candidates)
        else:
            labels = engine.view.labels
            available = masks_of_people(available, labels, candidates, count)
    return questions.request(context, available, count, one=one)


def _public_mask(engine: Engine, available: object, candidates: int) -> object:
    """Return a public mask by position, with False for items that may be added later."""
    view = engine.view
    if view.labels is not None:
        available = mask_of(available, view.labels, candidates)
    if type(available) is np.ndarray and available.shape[-1:] == (candidates,):
        return available
    return with_room(available, len(view.names() or ()), candidates)


def _personal_mask(engine: Engine, available: object, candidates: int) -> object:
    """Return one person's mask by position; an error does not quote it."""
    labels = engine.view.labels
    if labels is None:
        return available
    try:
        return mask_of(available, labels, candidates)
    except ConfigError:  # its text would quote a person
        raise ConfigError(
            "available must be a yes or no for each arm, or a list of labels"
        ) from None
