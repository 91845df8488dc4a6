"""Log records for operators, under the logger "discreet": public facts only.

    WARNING   a lock or a commit that failed
    INFO      learners, releases, public events, runs
    DEBUG     files, batches of rows

All texts of the engine are in this file. None has a value of a person, a number of answers, or a
number of rows that cannot be read: whether people answered is their data, so checkpoints, which
follow answers, are not logged. How long a release took depends on data, too. The transcript audit
compares all records between neighbouring streams (audit/visible.py).

A handler of the application runs in the middle of a release. An error that it raises stops nothing:
it is printed as `logging` prints the errors of its own handlers.

Guarantee   docs/guarantees/engine.md, Theorem 4
"""

import logging
import sys
import traceback
from contextlib import suppress
from logging import DEBUG as DEBUG
from logging import INFO as INFO
from logging import WARNING
from typing import NamedTuple

from discreet.budget.privacy import Privacy
from discreet.engine.problem import Problem

LOGGER = logging.getLogger("discreet")
LOGGER.addHandler(logging.NullHandler())  # silent until the application asks for records


def record(level: int, text: str, *values: object) -> None:
    """Log a record; an error of a handler is printed, unless `logging.raiseExceptions` is off."""
    try:
        LOGGER.log(level, text, *values, stacklevel=2)
    except Exception:
        with suppress(Exception):
            if logging.raiseExceptions and sys.stderr:
                traceback.print_exc()


class Whose(NamedTuple):
    """What a record is about: a learner, by its kind and its identity, as in its tickets."""

    kind: str
    identity: str

    def __str__(self) -> str:
        return f"{self.kind} {self.identity}"


def made(whose: Whose, problem: Problem, path: object) -> None:
    """Log a new learner; `path` is the file of its journal, or None."""
    if not LOGGER.isEnabledFor(INFO):
        return  # the facts of a problem take a while
    settings = problem.settings
    horizon = problem.plan.horizon
    record(
        INFO,
        "%s: made with method %s, %s, epsilon %g, delta %g, %s",
        whose,
        problem.facts.get("method", settings.mode),
        "no horizon" if horizon is None else f"horizon {horizon}",
        settings.epsilon,
        settings.delta,
        "no file" if path is None else f"file {path}",
    )


def loaded(whose: Whose, releases: int, rounds: int, path: object) -> None:
    """Log that a learner goes on from its journal."""
    record(
        INFO, "%s: loaded after %d releases and %d rounds from %s", whose, releases, rounds, path
    )


def released(whose: Whose, index: int, rounds: int, spent: float, privacy: Privacy) -> None:
    """Log a release that is committed, with the number of rounds and the spending so far."""
    record(
        INFO,
        "%s: release %d after %d rounds, epsilon spent %.4g of %g",
        *(whose, index, rounds, spent, privacy.epsilon),
    )


def finished(whose: Whose, rounds: int) -> None:
    """Log that the last planned release is made."""
    record(INFO, "%s: the plan is complete after %d rounds, no release follows", whose, rounds)


def not_committed(whose: Whose, index: int, cause: str) -> None:
    """Log a release that could not be committed, and is not shown."""
    record(WARNING, "%s: release %d is not committed (%s)", whose, index, cause)


def noted(whose: Whose, event: object) -> None:
    """Log a public event that is committed."""
    record(INFO, "%s: public event %r", whose, event)


def announced(whose: Whose, event: object) -> None:
    """Log a public event that is committed together with the release that follows it."""
    record(INFO, "%s: announced %r, its release follows", whose, event)


def locked(path: object) -> None:
    """Log that another learner uses a state file."""
    record(WARNING, "%s is in use by another learner", path)
