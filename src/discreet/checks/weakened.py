"""A copy that must be caught: an audit that does not notice half the noise would notice nothing."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from discreet.release.gathering import (
    ChosenRows,
    Gathering,
    Gram,
    HeldRows,
    Moments,
    OneChoice,
    PublicCells,
    PublicRows,
    Rows,
    Spread,
)
from discreet.release.sampled import SampledPath

__all__ = ["weakened"]


@contextmanager
def weakened() -> Iterator[None]:
    """While this lasts, gatherings state half of what a person can move.

    Learners made now have too little noise: an audit that does not notice would notice nothing.
    """
    kinds: tuple[type[Gathering], ...] = (
        Rows,
        PublicCells,
        PublicRows,
        OneChoice,
        ChosenRows,
        Spread,
        Gram,
        Moments,
    )
    honest = [(kind, kind.unit_sensitivity, kind.span) for kind in kinds]
    honest_price = SampledPath.charge
    assert not issubclass(HeldRows, kinds), "held rows are added up by Rows"
    try:
        for kind, sensitivity, span in honest:
            kind.unit_sensitivity = _half(sensitivity)  # type: ignore[method-assign]
            kind.span = property(_half_span(span))  # type: ignore[assignment]
        SampledPath.charge = property(_half_price(honest_price))  # type: ignore[method-assign, assignment]
        yield
    finally:
        for kind, sensitivity, span in honest:
            kind.unit_sensitivity = sensitivity  # type: ignore[method-assign]
            kind.span = span  # type: ignore[method-assign]
        SampledPath.charge = honest_price  # type: ignore[method-assign]


def _half(sensitivity: Any) -> Any:
    return lambda gathering, norm: sensitivity(gathering, norm) / 2


def _half_span(span: Any) -> Any:
    return lambda gathering: max(1, span.fget(gathering) // 2)


def _half_price(charge: Any) -> Any:
    return lambda sampled: charge.fget(replace(sampled, rate=max(1, sampled.rate // 2)))
