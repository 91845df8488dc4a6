"""Typed state as a flat dictionary, as journals and state files keep it, and back.

    Public(slate=…, belief=Belief(centre=0.05, …), phase=ExchangePlan(length=500, …))

    {"slate": …, "belief.centre": 0.05, …, "phase": "ExchangePlan", "phase.length": 500, …}

A state is a frozen dataclass whose fields are arrays, numbers, texts, or such dataclasses again. The fields
of a nested dataclass stand under its name and a dot. Where the annotation is a union (`A | B`, `A | None`),
the field's own key holds the name of the class; None is left out. A field annotated `State` is a dictionary
that a mechanism keeps (a running total's): its entries stay as they are.
"""

from dataclasses import fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from discreet.turn.plan import State

__all__ = ["flat", "of_flat"]

T = TypeVar("T")


def flat(value: Any, prefix: str = "") -> State:
    """Return the entries of a typed state; a dictionary is flat already.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Trials:
    ...     length: int
    >>> @dataclass(frozen=True)
    ... class Public:
    ...     level: float
    ...     phase: Trials | None
    ...     total: State
    >>> flat(Public(0.5, Trials(200), {"steps": 3}))
    {'level': 0.5, 'phase': 'Trials', 'phase.length': 200, 'total.steps': 3}
    >>> of_flat(Public, flat(Public(0.5, None, {"steps": 3})))
    Public(level=0.5, phase=None, total={'steps': 3})
    """
    if isinstance(value, dict):
        return {prefix + name: part for name, part in value.items()} if prefix else value
    found: State = {}
    for name, choices in _choices_by_field(type(value)).items():  # type: ignore[arg-type]
        key, part = prefix + name, getattr(value, name)
        if is_dataclass(part) and len(choices) > 1:
            found[key] = type(part).__name__
        if is_dataclass(part) or isinstance(part, dict):
            found |= flat(part, key + ".")
        elif part is not None:
            found[key] = part
    return found


def of_flat(kind: type[T], state: State, prefix: str = "") -> T:
    """Return the typed state with these entries: the inverse of `flat`; other entries are ignored."""
    parts = {}
    for name, choices in _choices_by_field(kind).items():  # type: ignore[arg-type]
        parts[name] = _part(choices, state, prefix + name)
    return kind(**parts)


def _part(choices: tuple[Any, ...], state: State, key: str) -> Any:
    """Return one field: of the types that its annotation allows, the one that the state has."""
    inside = key + "."
    if get_origin(choices[0]) is dict:
        return {name.removeprefix(inside): state[name] for name in state if name.startswith(inside)}
    kinds: list[Any] = [kind for kind in choices if is_dataclass(kind)]
    if len(choices) == 1:
        return of_flat(kinds[0], state, inside) if kinds else state[key]
    if not kinds or key not in state:
        return state.get(key)
    (kind,) = (kind for kind in kinds if kind.__name__ == state[key])
    return of_flat(kind, state, inside)


@cache
def _choices_by_field(kind: Any) -> dict[str, tuple[Any, ...]]:
    """Return the fields of a dataclass, each with the types that its annotation allows."""
    hints = get_type_hints(kind)
    return {field.name: _choices(hints[field.name]) for field in fields(kind)}


def _choices(annotation: Any) -> tuple[Any, ...]:
    is_union = get_origin(annotation) in (Union, UnionType)
    return get_args(annotation) if is_union else (annotation,)
