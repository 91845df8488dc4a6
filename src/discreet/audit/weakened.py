"""Copies that must be caught: an audit that does not notice them would notice nothing.

Each is a way in which a learner could break its promise, as a context manager that makes every
learner break it while it lasts: aggregators that understate what a person moves, readings, flags
and warnings that tell of the open block, a ledger that is not charged, a guarantee that says less
than was spent.
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
"""By how much aggregators understate what a person moves."""
SURELY = 1 + 1e-6
"""A cost over charge that no rounding explains."""
KINDS: Mapping[str, type[Aggregator]] = {
    kind.__name__: kind
    for kind in (ChosenRows, Gram, Moments, OneChoice, PublicCells, PublicRows, Rows, Spread)
}
AGGREGATORS = (*KINDS, "GainPath")
"""All that passes a door. Held rows are added up by the others."""

Weak = Callable[[], AbstractContextManager[None]]


# --- what a person moves --------------------------------------------------------------------------


@contextmanager
def weakened() -> Iterator[None]:
    """While this lasts, all aggregators state half of what a person can move.

    Learners made now have too little noise: an audit that does not notice would notice nothing.
    """
    with ExitStack() as stack:
        for name in AGGREGATORS:
            stack.enter_context(understated(name, 2.0))
        yield


@contextmanager
def understated(aggregator: str, factor: float = FACTOR) -> Iterator[None]:
    """While this lasts, one kind of aggregator divides by a factor what it says that a person
    moves.
    """
    if aggregator == "GainPath":
        price = SampledPath.charge.fget  # type: ignore[attr-defined]

        def cheaper(sampled: SampledPath) -> Charge:
            cheap: Charge = price(replace(sampled, rate=max(1, int(sampled.rate / factor))))
            return cheap

        with _patched(SampledPath, "charge", property(cheaper)):
            yield
        return
    kind = KINDS[aggregator]
    sensitivity, span = kind.unit_sensitivity, kind.span.fget  # type: ignore[attr-defined]

    def less(self: Aggregator, norm: int) -> float:
        return float(sensitivity(self, norm) / factor)

    def narrower(self: Aggregator) -> int:
        return max(1, int(span(self) / factor))

    with _patched(kind, "unit_sensitivity", less), _patched(kind, "span", property(narrower)):
        yield


@contextmanager
def _patched(owner: type, name: str, value: object) -> Iterator[None]:
    """While this lasts, a class has another attribute."""
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


# --- what is seen and said ------------------------------------------------------------------------


def _open_sum(learner: Learner) -> int:
    """Something about the people of the open block."""
    return int(
        sum(
            int(np.abs(values.astype(np.int64)).sum())
            for values in learner.snapshot().block.values()
        )
    )


def _telling(name: str, kind: type[Learner] = Learner, *, length: bool = False) -> Weak:
    """A property that tells of the open block."""
    honest = getattr(kind, name).fget

    def read(self: Learner) -> object:
        found, told = honest(self), _open_sum(self)
        if length:  # a little less, and still a number of rounds or bytes
            return max(1, found - bool(told)) if isinstance(found, int) else found
        return found | {"open": told} if isinstance(found, dict) else [*found, told]

    return partial(_patched, kind, name, property(read))


def _telling_method(name: str) -> Weak:
    """A method that tells of the open block."""
    honest = getattr(Learner, name)

    def read(self: Learner, *arguments: object) -> object:
        try:
            return honest(self, *arguments), _open_sum(self)
        except StateError as error:
            raise StateError(f"{error}, {_open_sum(self)}") from None

    return partial(_patched, Learner, name, read)


def _telling_flags() -> Weak:
    """Flags that say whether an answer added something."""
    honest = Learner.close_many

    def close_many(self: Learner, tickets: Tickets, feedback: object) -> Mask:
        before = _open_sum(self)
        counted: Mask = honest(self, tickets, feedback)
        return counted & (before != _open_sum(self))

    return partial(_patched, Learner, "close_many", close_many)


def _telling_warnings() -> Weak:
    """A warning where an answer added nothing."""
    honest = Learner.close_many

    def close_many(self: Learner, tickets: Tickets, feedback: object) -> Mask:
        before = _open_sum(self)
        counted: Mask = honest(self, tickets, feedback)
        if before == _open_sum(self):
            warnings.warn("an answer said nothing", RuntimeWarning, stacklevel=2)
        return counted

    return partial(_patched, Learner, "close_many", close_many)


def _uncharged() -> Weak:
    def charge(self: Ledger, charge: Charge, *, cohort: int | None = None) -> Ledger:
        return self

    return partial(_patched, Ledger, "charge", charge)


def _halved() -> Weak:
    honest = Guarantee.epsilon_spent.fget  # type: ignore[attr-defined]
    return partial(_patched, Guarantee, "epsilon_spent", property(lambda given: honest(given) / 2))


LEAKS: Mapping[str, Weak] = {
    "scores() of the open block": _telling_method("scores"),
    "report() of the open block": _telling_method("report"),
    "decision of the open block": _telling("decision"),
    "facts of the open block": _telling("facts"),
    "rounds_until_release that depends on data": _telling("rounds_until_release", length=True),
    "state_bytes that depends on data": _telling("state_bytes", length=True),
    "horizon that depends on data": _telling("horizon", length=True),
    "active items that depend on data": _telling("active", SetMaximizer),
    "flags that depend on data": _telling_flags(),
    "warnings that depend on data": _telling_warnings(),
    "a ledger that is never charged": _uncharged(),
    "a guarantee that states half of what was spent": _halved(),
}
"""What must not be seen or said, by name."""


# --- who is caught --------------------------------------------------------------------------------


def gatherings_of(case: Case, seed: int = 0) -> list[str]:
    """The aggregators that a case releases."""
    return sorted({target.passed.aggregator for target in targets(case, case.make(), seed)})


def pairs_to_catch(
    case: Case, weak: AbstractContextManager[None], *, most: int, seed: int = 0
) -> int | None:
    """How many pairs an audit needs to catch a weakened copy; None if so many are not enough."""
    with weak:
        for pairs in (min(8, most), most):
            try:
                found = measured_costs(case, pairs=pairs, seed=seed, enough=SURELY)
            except AssertionError:
                return pairs
            if found.largest_cost_over_charge > SURELY:
                return found.pairs
    return None
