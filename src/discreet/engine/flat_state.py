"""Typed state as a flat dictionary, as journals and state files store it, and back.

    Public(slate=…, posterior=Posterior(centre=0.05, …), phase=ExchangePlan(length=500, …))

    {"slate": …, "posterior.centre": 0.05, …, "phase": "ExchangePlan", "phase.length": 500, …}

A state is a frozen dataclass whose fields are arrays, numbers, texts, or such dataclasses again.
The fields of a nested dataclass stand under its name and a dot. If the annotation is a union (`A |
B`, `A | None`), the field's own key holds the name of the class; None is left out. A field
annotated `State` is the dictionary of a mechanism (a running total's): its entries stay as they
are.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, cached_property
from types import UnionType
from typing import Any, Generic, TypeVar, Union, get_args, get_origin, get_type_hints

from discreet.engine.plan import State

T = TypeVar("T")


@dataclass(eq=False, slots=True)
class Published(Generic[T]):
    """What releases have produced: the mode's public state, and that of its statistics."""

    learned: T
    states: dict[str, State]
    """Public state by the names of statistics; its keys have the name in front when it is flat."""

    @classmethod
    def of_flat(cls, kind: type[T], names: Iterable[str], state: State) -> "Published[T]":
        """Return the typed state with these entries; `names` are those of statistics."""
        states = {}
        for name in names:
            size = len(name) + 1
            own = {key[size:]: state[key] for key in state if key.startswith(name + ".")}
            if own:
                states[name] = own
        return cls(of_flat(kind, state), states)

    def flat(self) -> State:
        """Return the entries."""
        entries = flat(self.learned)
        for name, state in self.states.items():
            prefix = name + "."
            for key, value in state.items():
                entries[prefix + key] = value
        return entries


def flat_hidden(hidden: State) -> State:
    """Return the hidden state of statistics with their names in its keys.

    >>> flat_hidden({"sum": {"steps": 3}})
    {'sum.steps': 3}
    >>> nested_hidden(flat_hidden({"sum": {"steps": 3}}))
    {'sum': {'steps': 3}}
    """
    return {f"{name}.{key}": value for name, own in hidden.items() for key, value in own.items()}


def nested_hidden(entries: State) -> State:
    """Return the hidden state by the names of statistics: the inverse of `flat_hidden`."""
    hidden: State = {}
    for full, value in entries.items():
        name, _, key = full.partition(".")
        hidden.setdefault(name, {})[key] = value
    return hidden


def flat(value: object, prefix: str = "") -> State:
    """Return the entries of a typed state; a dictionary is returned as it is.

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
    if isinstance(value, Published):
        return value.flat()
    if isinstance(value, dict):
        return {prefix + name: part for name, part in value.items()} if prefix else value
    entries: State = {}
    for field in _fields_of(type(value)):  # type: ignore[arg-type]
        key = prefix + field.name
        part = getattr(value, field.name)
        if type(part) is dict:
            for name, entry in part.items():
                entries[f"{key}.{name}"] = entry
        elif _is_state(type(part)):  # type: ignore[arg-type]
            if field.is_union:
                entries[key] = type(part).__name__
            entries |= flat(part, key + ".")
        elif part is not None:
            entries[key] = part
    return entries


def of_flat(kind: type[T], state: State | T, prefix: str = "") -> T:
    """Return the typed state with these entries: the inverse of `flat`.

    Other entries are ignored. A state that is typed already is returned as it is.
    """
    if not isinstance(state, dict):
        return state
    parts = {}
    for field in _fields_of(kind):  # type: ignore[arg-type]
        key = prefix + field.name
        parts[field.name] = state[key] if field.is_leaf else _part(field, state, key)
    return kind(**parts)


def _part(field: "_Field", state: State, key: str) -> Any:
    """Return one field that is a dictionary, a dataclass, or one of several types."""
    prefix = key + "."
    if field.is_dict:
        size = len(prefix)
        return {name[size:]: state[name] for name in state if name.startswith(prefix)}
    if not field.is_union:
        return of_flat(field.kinds[0], state, prefix)
    if not field.kinds or key not in state:
        return state.get(key)
    (kind,) = (kind for kind in field.kinds if kind.__name__ == state[key])
    return of_flat(kind, state, prefix)


@dataclass(frozen=True)
class _Field:
    """A field of a typed state, with the facts of its annotation."""

    name: str
    is_union: bool
    is_dict: bool
    kinds: tuple[Any, ...]
    """The dataclasses that its value may be."""

    @cached_property
    def is_leaf(self) -> bool:
        """Whether it is one entry: an array, a number or a text."""
        return not (self.is_union or self.is_dict or self.kinds)


@cache
def _fields_of(kind: Any) -> tuple[_Field, ...]:
    """Return the fields of a dataclass."""
    hints = get_type_hints(kind)
    described = []
    for name in (field.name for field in fields(kind)):
        is_union = get_origin(hints[name]) in (Union, UnionType)
        choices = get_args(hints[name]) if is_union else (hints[name],)
        is_dict = get_origin(choices[0]) is dict
        kinds = tuple(choice for choice in choices if is_dataclass(choice))
        described.append(_Field(name, is_union, is_dict, kinds))
    return tuple(described)


@cache
def _is_state(kind: type) -> bool:
    return is_dataclass(kind)
