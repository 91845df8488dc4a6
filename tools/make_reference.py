"""Write the pages of commands and of TOML files from the code: one source, not typed twice.

    python tools/make_reference.py

Commands come from the command line itself, TOML files from the schema that `discreet schema`
prints. A test compares the pages with what this script makes.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import typer
from typer.core import TyperArgument

from discreet.cli import app
from discreet.engine.json_schema import Schema
from discreet.learners.homes import HOMES
from discreet.runs.schema import schema_for

REFERENCE = Path(__file__).resolve().parent.parent / "docs" / "reference"
MADE = "<!-- Made by tools/make_reference.py from the code: change the code, not this page. -->"
COMMANDS = """\
This page is for people who run discreet from a shell. It lists every command with its options, the
files that it writes and one example. `discreet COMMAND --help` prints the same, and
`python -m discreet` is the same command line.

`discreet --install-completion` makes the shell complete commands, options and names of learners,
from the next shell on. A command that fails prints one line on standard error. Exit codes: 0 for
success, 1 if a check found a fault, 2 for wrong input, 130 after Ctrl-C.
"""
TOML = """\
This page is for people who write the TOML files that commands read. It lists every key with its
type, its default and its meaning. An unknown key is refused with the nearest known one.

Editors complete and check these keys by a JSON schema; VS Code does with the extension Even Better
TOML. Save the schema beside the TOML,

```sh
discreet schema SetMaximizer > shop.schema.json
```

and make `#:schema ./shop.schema.json` the first line of the TOML. `discreet schema` without a name
describes all files at once; the schema of one learner gives clearer messages.

| file | read by | keys |
|---|---|---|
| a run | `discreet run`, `check` | [of every run](#keys-of-every-run), and of its learner |
| a selection | `discreet select` | [a selection](#a-selection) |
| a slate | `discreet evaluate` | [a slate](#a-slate) |
| a log | `discreet evaluate --log` | [a log](#a-log) |

A value that has parts is a table with a `kind`: `domain = { kind = "LpBall", radius = 2.0 }`, or
`[domain]` with one line per key. If all its parts have defaults, the name of the kind is enough:
`function = "ClickModel"`.
"""
TITLES = {"select": "A selection", "policy": "A slate", "log": "A log"}
TYPES = {
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "string": "text",
}
VALUES = {Path: "PATH", str: "TEXT", int: "NUMBER", float: "NUMBER", Any: "NUMBER"}
"""The word for an option's value, by its type."""
HEADINGS = {
    "layout": "Layouts of logs",
    "domain": "Domains",
    "function": "Functions",
    "loss": "Losses",
}
"""The heading of the kinds that each key admits."""


# --- commands -------------------------------------------------------------------------------------


def commands_page() -> str:
    """Return the page of all commands."""
    parts = ["# Commands", MADE, COMMANDS]
    for path, command in _commands(typer.main.get_command(app), ("discreet",)):
        parts += [f"## {' '.join(path)}", *_help(command)]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _commands(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield every command with its path, in the order of `--help`."""
    if path[1:]:
        yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from _commands(inner, (*path, name))


def _help(command: Any) -> Iterator[str]:
    """Yield what the help of a command says."""
    yield from (" ".join(part.split()) for part in command.help.split("\n\n"))
    example, _, rest = (command.epilog or "").strip().partition("\n\n")
    if example:
        yield f"```sh\n{example.removeprefix('Example: ')}\n```"
    if rest:
        words, _, settings = rest.partition("\n\n")
        settings = settings.replace("\\[", "[")
        yield from (words, f"```toml\n{settings}\n```")
    rows = [
        [_name(option), _default_of(option), _cell(option.help or "")]
        for option in command.params
        if option.name != "help"
    ]
    if rows:
        yield _table(["argument or option", "default", "meaning"], rows)


def _name(option: Any) -> str:
    """Return an option with the kind of its value, or the name of an argument."""
    if isinstance(option, TyperArgument):
        return _words((option.metavar or str(option.name).upper()).split("|"))
    if option.is_flag:
        return f"`{option.opts[0]}`"
    kind = option.type_descriptor.annotation
    if get_origin(kind) is Literal:
        return f"`{option.opts[0]}` {_words(get_args(kind))}"
    inner = get_args(kind)[0] if get_args(kind) else kind
    return f"`{option.opts[0]} {VALUES[inner]}`"


def _default_of(option: Any) -> str:
    if option.required:
        return "needed"
    is_flag = getattr(option, "is_flag", False)
    is_shown = option.default is not None and not is_flag
    return f"`{option.default}`" if is_shown else "–"


# --- TOML -----------------------------------------------------------------------------------------


def toml_page() -> str:
    """Return the page of all keys of TOML files."""
    schemas: dict[str, Schema] = schema_for()["$defs"]
    common = _common(schemas)
    some = schemas["SetMaximizer"]
    parts = ["# TOML files", MADE, TOML, "## Keys of every run"]
    learner = {"description": "The name of the learner.", "enum": sorted(HOMES)}
    of_run = {"learner": learner | {"default": "SetMaximizer"}} | {
        key: some["properties"][key] for key in common
    }
    parts.append(_keys({"properties": of_run, "required": some["required"]}))
    for name in (*HOMES, *TITLES):
        table = schemas[name]
        own = {key: part for key, part in table["properties"].items() if key not in of_run}
        if name not in HOMES:
            own = table["properties"]
        parts += [f"## {TITLES.get(name, name)}", table["description"]]
        parts.append(_keys(table | {"properties": own}))
        parts += _alternatives(table)
    for heading, kinds in _kinds(schemas).items():
        parts.append(f"## {heading}")
        for kind in kinds:
            table = schemas[kind]
            parts += [f"### {table['title']}", table["description"]]
            parts.append(_keys(table if "properties" in table else table["anyOf"][-1]))
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"


def _common(schemas: dict[str, Schema]) -> list[str]:
    """Return the keys that all learners have, with the same meaning."""
    first, *others = (schemas[name]["properties"] for name in HOMES)
    return [
        key
        for key, part in first.items()
        if key != "learner" and all(other.get(key) == part for other in others)
    ]


def _alternatives(table: Schema) -> list[str]:
    """Return a sentence on keys of which one group is needed."""
    ways = [
        " and ".join(f"`{key}`" for key in way["required"])
        for way in table.get("anyOf", [])
        if "required" in way
    ]
    return [f"One of these is needed: {'; or '.join(ways)}."] if ways else []


def _kinds(schemas: dict[str, Schema]) -> dict[str, list[str]]:
    """Return the described kinds under their headings."""
    found: dict[str, dict[str, str]] = {heading: {} for heading in HEADINGS.values()}
    queue = [
        (HEADINGS[key], part)
        for name in (*HOMES, *TITLES)
        for key, part in schemas[name]["properties"].items()
        if key in HEADINGS
    ]
    while queue:
        heading, part = queue.pop(0)
        for kind in _references(part):
            title = schemas[kind]["title"]
            if title not in found[heading]:
                queue.append((heading, schemas[kind]))
            if title not in found[heading] or "." in kind:  # the one that explains more
                found[heading][title] = kind
    return {
        heading: [kind for _, kind in sorted(kinds.items())] for heading, kinds in found.items()
    }


def _references(part: object) -> Iterator[str]:
    """Yield the kinds to which a schema refers."""
    if isinstance(part, dict):
        if "$ref" in part:
            yield part["$ref"].removeprefix("#/$defs/")
        for entry in part.values():
            yield from _references(entry)
    elif isinstance(part, list):
        for entry in part:
            yield from _references(entry)


def _keys(table: Schema) -> str:
    """Return the keys of a table; "" if it has none but its kind."""
    required = table.get("required", [])
    rows = []
    for key, part in table["properties"].items():
        if key not in ("kind", "learner") or "enum" in part:
            needed = "needed" if key in required else "–"
            default = f"`{_literal(part['default'])}`" if "default" in part else needed
            rows.append([f"`{key}`", _type(part), default, _cell(part["description"])])
    return _table(["key", "type", "default", "meaning"], rows) if rows else ""


def _type(part: Schema) -> str:
    """Return a type in words, with links to kinds."""
    if "anyOf" in part:
        return " or ".join(dict.fromkeys(map(_type, part["anyOf"])))
    if "$ref" in part:
        kind = part["$ref"].rpartition("/")[2].rpartition(".")[2]
        return f"[{kind}](#{kind.lower()})"
    if "enum" in part or "const" in part:
        return " or ".join(
            f"`{_literal(value)}`" for value in part.get("enum", [part.get("const")])
        )
    if part["type"] == "array":
        length = f"{part['minItems']} " if "minItems" in part else ""
        several = _several(part["items"])
        return f"list of {length}{f'({several})' if ' or ' in several else several}"
    if part["type"] == "object":
        return f"table of {_several(part['additionalProperties'])} by column"
    return TYPES[part["type"]]


def _several(part: Schema) -> str:
    """Return a type in words, in the plural."""
    if "anyOf" in part:
        return " or ".join(map(_several, part["anyOf"]))
    if part["type"] == "boolean":
        return TYPES["boolean"]
    one = _type(part)
    first, _, rest = one.partition(" of ")
    return f"{first}s of {rest}" if rest else f"{one}s"


def _literal(value: object) -> str:
    """Return a value as TOML has it."""
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)


def _words(words: Sequence[str]) -> str:
    """Return words as code, the last one after "or"."""
    *others, last = [f"`{word}`" for word in words]
    return f"{', '.join(others)} or {last}" if others else last


# --- Markdown -------------------------------------------------------------------------------------


def _cell(text: str) -> str:
    """Return a text as a cell of a table."""
    return " ".join(text.replace("|", "\\|").split())


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


PAGES = {"commands.md": commands_page, "toml.md": toml_page}

if __name__ == "__main__":
    for name, make in PAGES.items():
        (REFERENCE / name).write_text(make(), encoding="utf-8")
