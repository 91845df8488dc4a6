"""Described values: frozen dataclasses with one form in Python, TOML, JSON and state files.

    [domain]
    kind = "LpBall"
    dimension = 20
    p = 1.5

A value is decoded by the annotation of its field, so this module imports none of the classes that
it describes: a field annotated `LpBall | Box | Simplex` takes any of these, by `kind`. If all
fields of a kind have defaults, its name alone is enough (`function = "ClickModel"`). A wrong type
is a `ConfigError` that names the field. A field marked `OMITTED` is left out while it has its
default, so that a description without it keeps its hash when a version adds the field.
"""

import json
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from hashlib import blake2b
from math import inf
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from discreet import require
from discreet.errors import ConfigError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", bound="DataclassInstance")

OMITTED = {"omitted": True}
"""Metadata of a field that is left out of descriptions and hashes while it has its default."""


def admitted(annotation: object, value: object, name: str) -> object:
    """Return a value of Python or of plain data with the annotated type, or raise `ConfigError`.

    >>> admitted(tuple[float, ...] | None, [1, 2.5], "weights")
    (1.0, 2.5)
    >>> admitted(Literal["auto"] | int, "later", "block")
    Traceback (most recent call last):
    discreet.errors.ConfigError: block must be auto or a whole number, got 'later'
    """
    value = require.plain(value)
    for wanted in choices(annotation):
        decoded = _as(wanted, value, name)
        if decoded is not _NO:
            return decoded
    wanted_types = choices(annotation)
    rule = " or ".join(map(_words, wanted_types))
    if type(value) is dict and any(map(is_dataclass, wanted_types)):
        if "kind" not in value:
            raise ConfigError(f"{name} lacks its kind: it must be {rule}")
        value = value["kind"]  # the part that may be misspelt
    near = require.nearest(value, [word for wanted in wanted_types for word in _spelt(wanted)])
    raise ConfigError(f"{name} must be {rule}, got {require.shown(value)}{near}")


_NO = object()
"""The value cannot have the wanted type."""


def choices(annotation: object) -> tuple[object, ...]:
    """Return the members of a union, or the annotation itself."""
    return get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)


def _spelt(wanted: object) -> Iterable[object]:
    """Return the texts that a type admits: words, or the name of a described kind."""
    if get_origin(wanted) is Literal:
        return get_args(wanted)
    return [kind_of(wanted)] if isinstance(wanted, type) and is_dataclass(wanted) else []


def _as(wanted: object, value: object, name: str) -> object:
    """Return the value with one wanted type, or _NO."""
    if wanted is Any:
        return value
    if wanted is NoneType:
        return None if value is None else _NO
    if get_origin(wanted) is Literal:
        is_allowed = any(type(word) is type(value) and word == value for word in get_args(wanted))
        return value if is_allowed else _NO
    if get_origin(wanted) is tuple:
        return _as_tuple(get_args(wanted), value, name)
    if get_origin(wanted) is Sequence:
        return _as_tuple((*get_args(wanted), ...), value, name)
    if get_origin(wanted) is Mapping:
        return _as_mapping(get_args(wanted)[1], value, name)
    if wanted is bool or wanted is str:
        return value if isinstance(value, wanted) else _NO
    if wanted is int:
        return _as_whole(value)
    if wanted is float:
        return _as_float(value)
    if get_origin(wanted) is Callable or wanted is Callable:
        return value if callable(value) and not isinstance(value, type) else _NO
    if isinstance(wanted, type) and is_dataclass(wanted):
        return _as_described(wanted, value, name)
    return _NO


def _as_whole(value: object) -> object:
    """Return the value as an integer (1e5 is one), or _NO."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else _NO


def _as_float(value: object) -> object:
    """Return the value as a float, or _NO."""
    if isinstance(value, str) and value == "inf":  # JSON has no infinity
        return inf
    if isinstance(value, bool) or not isinstance(value, int | float):
        return _NO
    try:
        return float(value)
    except OverflowError:
        return _NO


def _as_tuple(parts: tuple[object, ...], value: object, name: str) -> object:
    """Return a list, tuple or array as a tuple with entries of these types, or _NO."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if not isinstance(value, list | tuple):
        return _NO
    if parts[1:] == (...,):
        return tuple(
            admitted(parts[0], entry, f"{name}[{place}]") for place, entry in enumerate(value)
        )
    if len(parts) != len(value):
        return _NO
    return tuple(admitted(part, entry, name) for part, entry in zip(parts, value, strict=True))


def _as_mapping(wanted: object, value: object, name: str) -> object:
    """Return a dictionary by text with entries of this type, or _NO."""
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        return _NO
    return {key: admitted(wanted, entry, f"{name} of {key}") for key, entry in value.items()}


def _as_described(wanted: "type[DataclassInstance]", value: object, name: str) -> object:
    """Return the value as a dataclass: an instance, its name or class, or its fields; or _NO."""
    if type(value) is wanted:
        check_fields(value)  # 1 and 1.0 must not be different settings
        return value
    is_named = isinstance(value, str) and value == kind_of(wanted)
    if value is wanted or is_named:  # all its fields have defaults
        value = {}
    elif type(value) is dict and value.get("kind") == kind_of(wanted):
        value = {key: entry for key, entry in value.items() if key != "kind"}
    else:
        return _NO
    return made(wanted, value, name)


def made(kind: type[T], plain: Mapping[str, object], name: str) -> T:
    """Return the described value of this kind from its plain fields."""
    known = annotations(kind)
    require.known_keys(plain, known, name)
    decoded = {key: admitted(known[key], entry, key) for key, entry in plain.items()}
    try:
        return kind(**decoded)
    except TypeError:
        missing = [field for field in needed_fields(kind) if field not in plain]
        raise ConfigError(f"{name}: {kind_of(kind)} lacks {', '.join(missing)}") from None


def needed_fields(kind: "type[DataclassInstance]") -> list[str]:
    """Return the names of the fields without a default."""
    return [
        field.name
        for field in fields(kind)
        if field.init and field.default is MISSING and field.default_factory is MISSING
    ]


def kind_of(kind: "type[DataclassInstance]") -> str:
    """Return the `kind` that stands for a dataclass in plain data: its `KIND`, or its name."""
    return getattr(kind, "KIND", kind.__name__)


@cache
def annotations(kind: "type[DataclassInstance]") -> dict[str, object]:
    """Return the type of each field of a dataclass."""
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind) if field.init}


def check_fields(described: "DataclassInstance") -> None:
    """Convert every field of a new frozen dataclass to its annotated type, or raise."""
    for name, annotation in annotations(type(described)).items():
        object.__setattr__(described, name, admitted(annotation, getattr(described, name), name))


def _words(wanted: object) -> str:
    """Return the rule of an annotation in words, for an error message."""
    if get_origin(wanted) is Literal:
        return " or ".join(map(str, get_args(wanted)))
    known = {
        NoneType: "left out",
        bool: "true or false",
        int: "a whole number",
        float: "a number",
        str: "a text",
    }
    if wanted in known:
        return known[wanted]
    if get_origin(wanted) is Mapping:
        return "a table"
    if get_origin(wanted) is Sequence:
        return "a list"
    if get_origin(wanted) is tuple:
        parts = get_args(wanted)
        return "a list" if parts[1:] == (...,) else f"a list of {len(parts)} values"
    if isinstance(wanted, type) and is_dataclass(wanted):
        return kind_of(wanted)
    return str(getattr(wanted, "__name__", wanted))


def as_plain(described: "DataclassInstance") -> dict[str, object]:
    """Return a described value as plain data: its `kind`, and its fields that are not None."""
    plain = {
        field.name: _plain(getattr(described, field.name))
        for field in _described_fields(described)
        if field.init
    }
    return {"kind": kind_of(type(described))} | {
        name: entry for name, entry in plain.items() if entry is not None
    }


def _plain(value: object) -> object:
    """Return a field as plain data; None for a callable, which has no plain form."""
    if is_dataclass(value) and not isinstance(value, type):
        return as_plain(value)
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()} or None
    if isinstance(value, float) and value == inf:
        return "inf"
    return None if callable(value) else value


def _described_fields(value: "DataclassInstance") -> list[Field[object]]:
    """Return all fields of a dataclass except omitted ones that have their default value."""
    described = []
    for field in fields(value):
        is_omitted = field.metadata.get("omitted", False)
        if not (is_omitted and getattr(value, field.name) == field.default):
            described.append(field)
    return described


def to_toml(plain: dict[str, object], table: str = "") -> str:
    """Return plain data as TOML: single values first, then one table per described value."""
    lines = [
        f"{_toml_key(name)} = {_toml(value)}"
        for name, value in plain.items()
        if not isinstance(value, dict)
    ]
    for name, value in plain.items():
        if isinstance(value, dict):
            inner = f"{table}.{_toml_key(name)}" if table else _toml_key(name)
            lines += ["", f"[{inner}]", to_toml(value, inner)]
    return "\n".join(lines)


def from_toml(text: str) -> dict[str, object]:
    """Return the plain data of a TOML text; raise `ConfigError` if it is none.

    >>> from_toml("epsilon = ")
    Traceback (most recent call last):
    discreet.errors.ConfigError: not TOML: Invalid value (at end of document)
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"not TOML: {error}") from None
    except (ValueError, RecursionError) as error:  # 5,000 digits, a thousand brackets
        raise ConfigError(f"not TOML that can be read ({type(error).__name__})") from None


def _toml(value: object) -> str:
    """Return a value as TOML: JSON, without escapes, except for the character DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _toml_key(name: str) -> str:
    """Return a key of TOML, in quotes if it has other characters than letters and digits."""
    is_bare = name.isascii() and bool(name) and all(c.isalnum() or c in "-_" for c in name)
    return name if is_bare else _toml(name)


def fingerprint(*values: object) -> str:
    """Return a hash of contents: types and numbers; for arrays dtype, shape and bytes.

    It never depends on how values print.

    >>> row, column = np.zeros(3), np.zeros((3, 1))
    >>> fingerprint(row) == fingerprint(row.copy()), fingerprint(row) == fingerprint(column)
    (True, False)
    """
    digest = blake2b(digest_size=16)
    for value in values:
        _feed(digest, value)
    return digest.hexdigest()


def _feed(digest: blake2b, value: object) -> None:
    """Add the type and content of a value to a hash."""
    if isinstance(value, np.ndarray):
        digest.update(f"array {value.dtype.str} {value.shape} ".encode())
        digest.update(np.ascontiguousarray(value).tobytes())
    elif is_dataclass(value) and not isinstance(value, type):
        digest.update(f"{type(value).__name__}(".encode())
        for field in _described_fields(value):
            digest.update(f"{field.name}=".encode())
            _feed(digest, getattr(value, field.name))
        digest.update(b")")
    elif isinstance(value, dict):
        digest.update(b"{")
        for key in sorted(value):
            digest.update(f"{key!r}:".encode())
            _feed(digest, value[key])
        digest.update(b"}")
    elif isinstance(value, list | tuple):
        digest.update(b"[")
        for entry in value:
            _feed(digest, entry)
        digest.update(b"]")
    elif isinstance(value, float):
        digest.update(f"float {value.hex()} ".encode())
    elif value is None or isinstance(value, bool | int | str | bytes):
        digest.update(f"{type(value).__name__} {value!r} ".encode())
    elif callable(value):
        digest.update(b"callable ")
    else:
        raise ConfigError(
            "fingerprints are made of numbers, texts, arrays and dataclasses, got "
            f"{type(value).__name__}"
        )
