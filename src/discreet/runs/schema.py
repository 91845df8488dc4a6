"""`discreet schema`: the JSON schema of the TOML files that the commands read.

    run, check        a learner, its settings and how its log is read: one schema per learner
    select            a selection
    evaluate          a slate, or a log of another policy

Everything is taken from the dataclasses that hold the settings: names, types and defaults from
their fields, descriptions from their docstrings and those of the learners.
"""

import re
from collections.abc import Mapping
from dataclasses import Field, fields
from typing import Any, get_type_hints

from discreet import require
from discreet.budget.privacy import Privacy
from discreet.engine.codec import annotations, needed_fields
from discreet.engine.docstrings import parameters, summary
from discreet.engine.json_schema import Definitions, Schema, described, either, table_of
from discreet.engine.labels import Label
from discreet.engine.settings import Settings
from discreet.errors import ConfigError
from discreet.learners.homes import HOMES
from discreet.learners.log_adapter import LogAdapter, log_adapter_of
from discreet.learners.registry import learner_named
from discreet.learners.set_selector import SetSelector, SetSelectorSettings
from discreet.runs.evaluate import PolicyKeys
from discreet.runs.log_settings import LogKeys
from discreet.runs.select import SelectionKeys
from discreet.runs.settings import USUAL_LEARNER, RunKeys
from discreet.runs.sites import FROM_SITES

DIALECT = "https://json-schema.org/draft/2020-12/schema"
OF_COMMANDS = {
    "run": tuple(HOMES),
    "check": tuple(HOMES),
    "select": ("select",),
    "evaluate": ("policy", "log"),
}
"""The files that each command reads."""
AS_ELSEWHERE = re.compile(r"(?:See|As for) `(\w+)`\.")
"""A parameter that is described at another learner."""


def schema_for(name: str | None = None) -> Schema:
    """Return the schema of the files of a command or of a learner; without a name, of all files.

    Raises
    ------
    ConfigError
        If neither a command that reads TOML nor a learner has this name.

    Examples
    --------
    >>> schema_for("Hedge")["properties"]["actions"]["description"]
    'Number of actions, or their labels; with labels, decisions are labels.'
    """
    kinds = tuple(dict.fromkeys(kind for kinds in OF_COMMANDS.values() for kind in kinds))
    if name is not None:
        if name not in OF_COMMANDS and name not in HOMES:
            near = require.nearest(name, [*OF_COMMANDS, *HOMES])
            raise ConfigError(
                f"no TOML is called {require.shown(name)}: name a command "
                f"({', '.join(OF_COMMANDS)}) or a learner ({', '.join(HOMES)}){near}"
            )
        kinds = OF_COMMANDS.get(name, (name,))
    found: dict[str, Schema] = {}
    files = {kind: file_schema(kind, found) for kind in kinds}
    head: Schema = {"$schema": DIALECT}
    if len(files) == 1:
        return head | files[kinds[0]] | {"$defs": found}
    references = [{"$ref": f"#/$defs/{kind}"} for kind in files]
    title = "discreet" if name is None else f"discreet {name}"
    return head | {"title": title} | either(references) | {"$defs": files | found}


def file_schema(kind: str, found: dict[str, Schema]) -> Schema:
    """Return the schema of one kind of file; it adds those of described values to `found`."""
    if kind in HOMES:
        return _of_run(kind, found)
    if kind == "select":
        return _of_selection(found)
    keys = PolicyKeys if kind == "policy" else LogKeys
    definitions = Definitions()
    table = table_of(_of_keys(keys, definitions), _required(keys))
    found |= definitions.found
    return {"title": kind, "description": summary(keys)} | table


def _of_run(name: str, found: dict[str, Schema]) -> Schema:
    """Return the schema of a run's file: learner, settings, and keys about the log."""
    adapter = log_adapter_of(name)
    settings = adapter.settings_type
    definitions = Definitions(name, loose=adapter.sized)
    of_run = _of_keys(RunKeys, definitions) | _of_keys(LogKeys, definitions)
    of_run["learner"] |= {"const": name}
    if not _has_slates(adapter):
        del of_run["layout"]
    properties = of_run | _of_settings(settings, learner_named(name), definitions)
    about_log = _of_keys(adapter.log_type, definitions, adapter.log_keys())
    properties |= {key: part for key, part in about_log.items() if key not in of_run}
    needed = [*needed_fields(settings), *adapter.needed()]
    needed += ["horizon"] if settings.needs_horizon else []
    follows = adapter.follows
    is_usual = name == USUAL_LEARNER
    required = [key for key in needed if key not in follows] + ["learner"] * (not is_usual)
    found |= definitions.found
    title = {"title": name, "description": summary(learner_named(name))}
    return title | table_of(properties, list(dict.fromkeys(required))) | _following(follows)


def _has_slates(adapter: type[LogAdapter]) -> bool:
    """Whether logs of the learner may have slates, so that a layout may arrange their rows."""
    return adapter.slots is not LogAdapter.slots


def _following(follows: Mapping[str, tuple[str, ...]]) -> Schema:
    """Return the rule that settings are given, or a key from which they follow."""
    if not follows:
        return {}
    (sources,) = set(follows.values())
    ways = [list(follows), *([source] for source in sources)]
    return {"anyOf": [{"required": way} for way in ways]}


def _of_selection(found: dict[str, Schema]) -> Schema:
    """Return the schema of a selection's file."""
    definitions = Definitions("select", loose=("UniformMatroid.items",), also=FROM_SITES)
    properties = _of_settings(SetSelectorSettings, SetSelector, definitions)
    properties |= _of_keys(SelectionKeys, definitions)
    properties["delta"] |= {"default": 0.0}
    found |= definitions.found
    needed = [name for name in needed_fields(SetSelectorSettings) if name != "delta"]
    return {"title": "select", "description": summary(SetSelector)} | table_of(properties, needed)


def _of_settings(settings: Any, owner: type, definitions: Definitions) -> dict[str, Schema]:
    """Return the schema of each setting that a file may have."""
    types = annotations(settings)
    return {
        field.name: definitions.field(
            field, _in_files(settings, field, types[field.name]), _text(owner, field.name)
        )
        for field in fields(settings)
        if field.name in settings.written()
    }


def _in_files(settings: type[Settings], field: "Field[Any]", annotation: Any) -> Any:
    """Return the type that a setting has in files, where a list of labels may be a number."""
    return annotation | tuple[Label, ...] if field.name in settings.by_label else annotation


def _text(owner: type, name: str) -> str | None:
    """Return what a setting means: from the learner's docstring, or from that of `Privacy`."""
    text = parameters(owner).get(name) or parameters(Privacy).get(name)
    elsewhere = AS_ELSEWHERE.fullmatch(text or "")
    return _text(learner_named(elsewhere[1]), name) if elsewhere else text


def _of_keys(
    keys: type, definitions: Definitions, types: Mapping[str, object] | None = None
) -> dict[str, Schema]:
    """Return the schema of each key of a typed dictionary or of a dataclass."""
    texts = parameters(keys)
    hints = get_type_hints(keys) if types is None else types
    return {
        name: described(definitions.of(annotation), texts.get(name))
        for name, annotation in hints.items()
    }


def _required(keys: type) -> list[str]:
    required: frozenset[str] = getattr(keys, "__required_keys__", frozenset())
    return sorted(required)
