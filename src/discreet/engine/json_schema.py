"""JSON schemas (draft 2020-12) of described values, by the rules of `codec.py`.

What a schema accepts is what the codec decodes, for every type that a TOML file can hold: editors
complete and check with the schema what a command then reads. Rules between several fields are the
command's own. Descriptions are the docstrings of the classes.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from math import inf
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from discreet.engine.codec import annotations, as_plain, choices, kind_of, needed_fields
from discreet.engine.docstrings import parameters, summary

Schema = dict[str, Any]

INFINITE: Mapping[str, bool] = {"infinite": True}
"""Metadata of a field of numbers that admits infinity, `inf` or "inf"."""


class Definitions:
    """Schemas of described values, each defined once, by its kind.

    Parameters
    ----------
    file
        Name of the kind of file, for kinds that have other fields in it than elsewhere.
    loose
        Fields that a file may leave out although they have no default, such as "LpBall.dimension".
    also
        Further types of fields, such as {"Nearby.sites": str}.

    Examples
    --------
    >>> from discreet.domains import Simplex
    >>> definitions = Definitions()
    >>> definitions.of(Simplex | None)
    {'$ref': '#/$defs/Simplex'}
    >>> definitions.found["Simplex"]["required"]
    ['kind', 'dimension']
    """

    def __init__(
        self,
        file: str = "",
        loose: Sequence[str] = (),
        also: Mapping[str, object] | None = None,
    ) -> None:
        self.file = file
        self.found: dict[str, Schema] = {}
        self.loose = loose
        self.also = also or {}

    def of(self, annotation: object) -> Schema:
        """Return the schema of the values that the codec decodes with this annotation."""
        return either([self._of(wanted) for wanted in choices(annotation) if _is_for_files(wanted)])

    def _of(self, wanted: object) -> Schema:
        known: dict[object, Schema] = {
            Any: {},
            bool: {"type": "boolean"},
            int: {"type": "integer"},
            float: {"type": "number"},
            str: {"type": "string"},
        }
        if wanted in known:
            return known[wanted]
        arguments = get_args(wanted)
        if get_origin(wanted) is Literal:
            return {"enum": list(arguments)}
        if get_origin(wanted) is Sequence or (
            get_origin(wanted) is tuple and arguments[1:] == (...,)
        ):
            return {"type": "array", "items": self.of(arguments[0])}
        if get_origin(wanted) is tuple:
            sizes = {"minItems": len(arguments), "maxItems": len(arguments)}
            assert len(set(arguments)) == 1, "pairs have two numbers of one type"
            return {"type": "array", "items": self.of(arguments[0]), **sizes}
        if get_origin(wanted) is Mapping:
            return {"type": "object", "additionalProperties": self.of(arguments[1])}
        assert is_dataclass(wanted), wanted
        return self._described(wanted)

    def _described(self, kind: Any) -> Schema:
        """Return a reference to the schema of a dataclass, which is defined at the first one."""
        word = kind_of(kind)
        changed = {name.partition(".")[0] for name in (*self.loose, *self.also)}
        name = f"{self.file}.{word}" if word in changed else word
        if name not in self.found:
            self.found[name] = {}  # kinds may hold each other
            texts = parameters(kind)
            types = annotations(kind)
            properties = {
                field.name: self.field(field, types[field.name], texts.get(field.name), word)
                for field in fields(kind)
                if field.name in types
            }
            named = {"kind": {"const": word, "description": summary(kind)}}
            needed = [key for key in needed_fields(kind) if f"{word}.{key}" not in self.loose]
            table = table_of(named | properties, ["kind", *needed])
            schema = table if needed else either([{"const": word}, table])
            self.found[name] = {"title": word, "description": summary(kind), **schema}
        return {"$ref": f"#/$defs/{name}"}

    def field(
        self, field: "Field[Any]", annotation: object, text: str | None, owner: str = ""
    ) -> Schema:
        """Return the schema of a field, with its description and its default."""
        schema = self.of(annotation)
        if field.metadata.get("infinite", False):
            schema = either([schema, {"const": "inf"}])
        if f"{owner}.{field.name}" in self.also:
            schema = either([schema, self.of(self.also[f"{owner}.{field.name}"])])
        if f"{owner}.{field.name}" in self.loose:
            text = f"{text} For {self.file} it may be left out, where it follows."
        return described(schema, text) | _default(field)


def table_of(properties: Mapping[str, Schema], needed: Sequence[str]) -> Schema:
    """Return the schema of a table that has these keys and no others."""
    required = {"required": list(needed)} if needed else {}
    closed = {"additionalProperties": False}
    return {"type": "object", "properties": dict(properties), **required, **closed}


def either(schemas: Sequence[Schema]) -> Schema:
    """Return the schema of values that one of these schemas accepts."""
    return schemas[0] if len(schemas) == 1 else {"anyOf": list(schemas)}


def described(schema: Schema, text: str | None) -> Schema:
    """Return a schema with a description."""
    return schema | ({"description": text} if text else {})


def _default(field: "Field[Any]") -> Schema:
    """Return the default of a field as an entry of its schema; empty without a plain one."""
    default = field.default
    if default is MISSING or default is None or default == inf:
        return {}
    if is_dataclass(default) and not isinstance(default, type):
        plain = as_plain(default)
        return {"default": plain["kind"] if not needed_fields(type(default)) else plain}
    return {"default": list(default) if isinstance(default, tuple) else default}


def _is_for_files(wanted: object) -> bool:
    """Whether a file can hold a value of this type: no callable, and nothing that needs one."""
    if wanted is NoneType or wanted is Callable or get_origin(wanted) is Callable:
        return False
    if isinstance(wanted, type) and is_dataclass(wanted):
        return all(_holds_no_callable(entry) for entry in annotations(wanted).values())
    return True


def _holds_no_callable(annotation: object) -> bool:
    return not any(
        wanted is Callable or get_origin(wanted) is Callable for wanted in choices(annotation)
    )
