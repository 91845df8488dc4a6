"""Weakened copies of the library, which an audit must catch.

Each is a context manager that makes all learners break one promise while it lasts: aggregators that
understate their sensitivity; readings, flags, warnings and log records that depend on the open
block; a ledger that is not charged; a guarantee that states less than was spent.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from functools import partial

import numpy as np

from discreet.arrays import Mask
from discreet.audit.cases.case import Case
from discreet.audit.extremes import targets
from discreet.audit.transcript import measured_costs
from discreet.budget.guarantee import Guarantee
from discreet.budget.ledger import Ledger
from discreet.budget.privacy import Charge
from discreet.engine.logs import LOGGER
from discreet.engine.tickets import Tickets
from discreet.errors import StateError
from discreet.learners.base import Learner
from discreet.learners.set_maximizer import SetMaximizer
from discreet.release.aggregators import (
    Aggregator,
    ChosenRows,
    Gram,
    Moments,
    OneChoice,
    PublicCells,
    PublicRows,
    Rows,
    Spread,
)
from discreet.release.sampled_path import SampledPath

FACTOR = 1.3
"""Factor by which aggregators understate their sensitivity."""
SURELY = 1 + 1e-6
"""Cost over charge that rounding does not explain."""
KINDS: Mapping[str, type[Aggregator]] = {
    kind.__name__: kind
    for kind in (ChosenRows, Gram, Moments, OneChoice, PublicCells, PublicRows, Rows, Spread)
}
AGGREGATORS = (*KINDS, "GainPath")
"""All kinds of aggregators that pass a door; rows that are held are added up by these."""

Weak = Callable[[], AbstractContextManager[None]]
"""Makes a context manager that weakens the library."""


# --- sensitivities --------------------------------------------------------------------------------


@contextmanager
def weakened() -> Iterator[None]:
    """Make all aggregators state half of their sensitivity, while the context lasts.

    Learners made meanwhile have too little noise, which an audit must notice.

    Examples
    --------
    >>> from discreet.audit import weakened
    >>> from discreet.release.aggregators import Rows
    >>> honest = Rows((3,)).unit_sensitivity(2)
    >>> with weakened():
    ...     Rows((3,)).unit_sensitivity(2) == honest / 2
    True
    """
    with ExitStack() as stack:
        for name in AGGREGATORS:
            stack.enter_context(understated(name, 2.0))
        yield


@contextmanager
def understated(aggregator: str, factor: float = FACTOR) -> Iterator[None]:
    """Make one kind of aggregator divide its sensitivity by a factor, while the context lasts."""
    understate = _understated_path if aggregator == "GainPath" else _understated_aggregator
    with understate(aggregator, factor):
        yield


@contextmanager
def _understated_path(aggregator: str, factor: float) -> Iterator[None]:
    """Make sampled paths charge less than their rate costs."""
    honest = SampledPath.charge.fget  # type: ignore[attr-defined]

    def cheaper(sampled: SampledPath) -> Charge:
        charge: Charge = honest(replace(sampled, rate=max(1, int(sampled.rate / factor))))
        return charge

    with _patched(SampledPath, "charge", property(cheaper)):
        yield


@contextmanager
def _understated_aggregator(aggregator: str, factor: float) -> Iterator[None]:
    """Make a kind of aggregator state a smaller sensitivity and a smaller span."""
    kind = KINDS[aggregator]
    sensitivity = kind.unit_sensitivity
    span = kind.span.fget  # type: ignore[attr-defined]

    def less(self: Aggregator, norm: int) -> float:
        return float(sensitivity(self, norm) / factor)

    def narrower(self: Aggregator) -> int:
        return max(1, int(span(self) / factor))

    with _patched(kind, "unit_sensitivity", less), _patched(kind, "span", property(narrower)):
        yield


@contextmanager
def _patched(owner: type, name: str, value: object) -> Iterator[None]:
    """Give a class another attribute while the context lasts."""
    inherited = name not in vars(owner)
    before = None if inherited else vars(owner)[name]
    setattr(owner, name, value)
    try:
        yield
    finally:
        if inherited:
            delattr(owner, name)
        else:
            setattr(owner, name, before)


# --- readings, flags, warnings, logs and the ledger ---------------------------------------------


def _open_sum(learner: Learner) -> int:
    """Return a number that depends on the people of the open block."""
    sums = learner.snapshot().block.values()
    return sum(int(np.abs(values.astype(np.int64)).sum()) for values in sums)


def _leaking_property(name: str, kind: type[Learner] = Learner) -> Weak:
    """Make a property of a learner return a number of the open block too."""
    honest = getattr(kind, name).fget

    def read(self: Learner) -> object:
        value = honest(self)
        leak = _open_sum(self)
        return value | {"open": leak} if isinstance(value, dict) else [*value, leak]

    return partial(_patched, kind, name, property(read))


def _leaking_count(name: str) -> Weak:
    """Make a number of rounds or bytes smaller by one once people of the open block are counted."""
    honest = getattr(Learner, name).fget

    def read(self: Learner) -> object:
        count = honest(self)
        leak = bool(_open_sum(self))
        return max(1, count - leak) if isinstance(count, int) else count

    return partial(_patched, Learner, name, property(read))


def _leaking_method(name: str) -> Weak:
    """Make a method of learners return a number of the open block too."""
    honest = getattr(Learner, name)

    def read(self: Learner, *arguments: object) -> object:
        try:
            return honest(self, *arguments), _open_sum(self)
        except StateError as error:
            raise StateError(f"{error}, {_open_sum(self)}") from None

    return partial(_patched, Learner, name, read)


def _leaking_flags() -> Weak:
    """Make flags say whether an answer added something."""
    honest = Learner.close_many

    def close_many(self: Learner, tickets: Tickets, feedback: object) -> Mask:
        before = _open_sum(self)
        counted: Mask = honest(self, tickets, feedback)
        return counted & (before != _open_sum(self))

    return partial(_patched, Learner, "close_many", close_many)


def _leaking_warnings() -> Weak:
    """Make learners warn where an answer added nothing."""
    honest = Learner.close_many

    def close_many(self: Learner, tickets: Tickets, feedback: object) -> Mask:
        before = _open_sum(self)
        counted: Mask = honest(self, tickets, feedback)
        if before == _open_sum(self):
            warnings.warn("an answer added nothing", RuntimeWarning, stacklevel=2)
        return counted

    return partial(_patched, Learner, "close_many", close_many)


def _leaking_logs() -> Weak:
    """Make learners log how many answers added something."""
    honest = Learner.close_many

    def close_many(self: Learner, tickets: Tickets, feedback: object) -> Mask:
        before = _open_sum(self)
        counted: Mask = honest(self, tickets, feedback)
        LOGGER.debug("answers that added something: %d", before != _open_sum(self))
        return counted

    return partial(_patched, Learner, "close_many", close_many)


def _uncharged() -> Weak:
    """Make the ledger charge nothing."""

    def charge(self: Ledger, charge: Charge, *, cohort: int | None = None) -> Ledger:
        return self

    return partial(_patched, Ledger, "charge", charge)


def _halved() -> Weak:
    """Make guarantees state half of the spent ε."""
    honest = Guarantee.epsilon_spent.fget  # type: ignore[attr-defined]
    return partial(_patched, Guarantee, "epsilon_spent", property(lambda given: honest(given) / 2))


LEAKS: Mapping[str, Weak] = {
    "scores() of the open block": _leaking_method("scores"),
    "report() of the open block": _leaking_method("report"),
    "_repr_html_() of the open block": _leaking_method("_repr_html_"),
    "decision of the open block": _leaking_property("decision"),
    "facts of the open block": _leaking_property("facts"),
    "rounds_until_release that depends on data": _leaking_count("rounds_until_release"),
    "state_bytes that depends on data": _leaking_count("state_bytes"),
    "horizon that depends on data": _leaking_count("horizon"),
    "active items that depend on data": _leaking_property("active", SetMaximizer),
    "flags that depend on data": _leaking_flags(),
    "warnings that depend on data": _leaking_warnings(),
    "log records that depend on data": _leaking_logs(),
    "a ledger that is never charged": _uncharged(),
    "a guarantee that states half of what was spent": _halved(),
}
"""Weakened copies that show people past the door or misstate the budget, by name."""


# --- what the audit catches -----------------------------------------------------------------------


def aggregators_of(case: Case, seed: int = 0) -> list[str]:
    """Return the kinds of aggregators that a case releases."""
    return sorted({target.passed.aggregator for target in targets(case, case.make(), seed)})


def pairs_to_catch(
    case: Case, weak: AbstractContextManager[None], *, most: int, seed: int = 0
) -> int | None:
    """Return how many pairs an audit needs to catch a weakened copy; None if `most` do not."""
    with weak:
        for pairs in (min(8, most), most):
            try:
                audited = measured_costs(case, pairs=pairs, seed=seed, enough=SURELY)
            except AssertionError:
                return pairs
            if audited.largest_cost_over_charge > SURELY:
                return audited.pairs
    return None
