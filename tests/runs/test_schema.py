"""If these fail, an editor marks good settings as wrong, or completes keys that are refused."""

import re
import tomllib
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet import ConfigError
from discreet.engine.codec import to_toml
from discreet.learners.homes import HOMES
from discreet.runs.evaluate import policy_from
from discreet.runs.schema import OF_COMMANDS, schema_for
from discreet.runs.select import configured_selection
from discreet.runs.settings import configured, log_settings_in
from runs.toml_files import FILES, validator

DOCS = Path(discreet.__file__).parents[2] / "docs"
FENCE = re.compile(r"^```toml *\n(.*?)^```", re.DOTALL | re.MULTILINE)
READERS = {"select": configured_selection, "policy": policy_from, "log": log_settings_in}
"""The reader of each kind of file; all others are runs."""
OTHERS = {bool: 7.5, int: "soon", float: "soon"}
"""A value of another type than a key admits; True for all others."""
COMMANDS = {"select": "select", "policy": "evaluate", "log": "evaluate"}


def accepts(kind: str, plain: dict[str, Any]) -> bool:
    """Whether the schema of the kind's command, or of the learner, accepts a file."""
    is_valid: bool = validator(COMMANDS.get(kind, kind)).is_valid(plain)
    assert validator().is_valid(plain) == is_valid  # the schema of all files agrees
    return is_valid


def is_read(kind: str, plain: dict[str, Any], folder: Path) -> bool:
    """Whether the command reads a file."""
    path = folder / "settings.toml"
    path.write_text(to_toml(plain))
    try:
        READERS.get(kind, configured)(path)
    except ConfigError:
        return False
    return True


def tables(plain: dict[str, Any], within: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the path of every table of a file."""
    yield within
    for key, value in plain.items():
        if isinstance(value, dict):
            yield from tables(value, (*within, key))


def table_at(plain: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    for key in path:
        plain = plain[key]
    return plain


def test_every_kind_of_file_has_an_example() -> None:
    assert set(FILES) == {kind for kinds in OF_COMMANDS.values() for kind in kinds}
    assert set(HOMES) < set(FILES)


@pytest.mark.parametrize("kind", FILES)
def test_the_schema_and_the_command_take_the_same_file(kind: str, tmp_path: Path) -> None:
    plain = tomllib.loads(FILES[kind])
    assert is_read(kind, plain, tmp_path)
    assert accepts(kind, plain)


@pytest.mark.parametrize("kind", FILES)
def test_a_misspelt_key_is_refused_by_both_in_every_table(kind: str, tmp_path: Path) -> None:
    plain = tomllib.loads(FILES[kind])
    for path in tables(plain):
        wrong = deepcopy(plain)
        table_at(wrong, path)["colour"] = True
        assert not accepts(kind, wrong), path
        assert not is_read(kind, wrong, tmp_path), path


@pytest.mark.parametrize("kind", FILES)
def test_a_value_of_a_wrong_type_is_refused_by_both(kind: str, tmp_path: Path) -> None:
    plain = tomllib.loads(FILES[kind])
    for path in tables(plain):
        for key, value in table_at(plain, path).items():
            wrong = deepcopy(plain)
            table_at(wrong, path)[key] = OTHERS.get(type(value), True)
            if kind == "StreamingLearner" and path == ("fill",):
                continue  # numbers and texts are both allowed: the column decides
            assert not accepts(kind, wrong), (path, key)
            assert not is_read(kind, wrong, tmp_path), (path, key)


@pytest.mark.parametrize("kind", FILES)
def test_a_file_that_lacks_a_needed_key_is_refused_by_both(kind: str, tmp_path: Path) -> None:
    plain = tomllib.loads(FILES[kind])
    schema = schema_for(kind) if kind in HOMES else schema_for()["$defs"].get(kind, {})
    needed = (schema or schema_for("select")).get("required", [])
    assert needed or kind == "log"
    for key in needed:
        if key == "learner":
            continue  # without it, the file is one of a SetMaximizer
        wrong = {name: value for name, value in plain.items() if name != key}
        assert not accepts(kind, wrong), key
        assert not is_read(kind, wrong, tmp_path), key


@pytest.mark.parametrize(
    ("kind", "old", "new", "message"),
    [
        ("Hedge", "horizon", "horizn", "unknown key 'horizn', did you mean horizon?"),
        ("Hedge", "columns", "colums", "unknown key 'colums', did you mean columns?"),
        ("Hedge", '"Hedge"', '"Hegde"', "got 'Hegde', did you mean Hedge?"),
        ("SetMaximizer", "person", "persn", "unknown key 'persn', did you mean person?"),
        ("SetMaximizer", "request =", "requst =", "layout: unknown key 'requst', did you mean req"),
        ("SetMaximizer", '"bandit"', '"bandits"', "got 'bandits', did you mean bandit?"),
        ("SetMinimizer", "edges", "edge", "family: unknown key 'edge', did you mean edges?"),
        ("SetMinimizer", '"GraphCut"', '"GrafCut"', "got 'GrafCut', did you mean GraphCut?"),
        ("StreamingLearner", "radius", "radus", "domain: unknown key 'radus', did you mean radius"),
        ("StreamingLearner", "LpBall", "LpBal", "got 'LpBal', did you mean LpBall?"),
        ("StreamingLearner", "width", "widht", "loss: unknown key 'widht', did you mean width?"),
        ("StreamingLearner", "spent = [", "spend = [", "none of them, did you mean spent?"),
        ("StreamingLearner", "categories", "catgories", "did you mean categories?"),
        ("StreamingLearner", '"south" }', '"suoth" }', "got 'suoth', did you mean south?"),
        ("StreamingLearner", 'kind = "LpBall", ', "", "domain lacks its kind"),
        ("ContextualBandit", "context_bound", "context_bond", "did you mean context_bound?"),
        ("RunningSum", "dimension =", "mode = 'auto'\ndimension =", "unknown key 'mode'"),
        (
            "Hedge",
            "bound",
            "labels = ['a']\nbound",
            "labels is no setting here: give",
        ),
        ("select", "reach", "rech", "function: unknown key 'rech', did you mean reach?"),
        ("select", "columns", "column", "unknown key 'column', did you mean columns?"),
        ("select", '"longitude" }', '"longtude" }', "got 'longtude', did you mean longitude?"),
        ("select", "rank", "rnk", "domain: unknown key 'rnk', did you mean rank?"),
        ("policy", "slate", "slat", "unknown key 'slat', did you mean slate?"),
        ("log", "[layout]", "[layuot]", "unknown key 'layuot', did you mean layout?"),
        ("log", "wait", "wiat", "layout: unknown key 'wiat', did you mean wait?"),
    ],
)
def test_a_misspelling_is_answered_with_the_nearest_word(
    kind: str, old: str, new: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "settings.toml"
    assert old in FILES[kind]
    path.write_text(FILES[kind].replace(old, new))
    with pytest.raises(ConfigError) as refused:
        READERS.get(kind, configured)(path)
    assert message in str(refused.value)
    assert str(refused.value).startswith(f"{path}: ")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("page", "text"),
    [
        (page.stem, text)
        for page in sorted(DOCS.rglob("*.md"))
        for text in FENCE.findall(page.read_text())
    ],
)
def test_the_schema_accepts_the_settings_on_pages(page: str, text: str) -> None:
    errors = [error.message for error in validator().iter_errors(tomllib.loads(text))]
    assert not errors


def test_every_key_has_a_description() -> None:
    """An editor shows it, and so does docs/reference/toml.md."""
    schema = schema_for()
    for name, table in schema["$defs"].items():
        for part in (table, *table.get("anyOf", ())):
            for key, described in part.get("properties", {}).items():
                assert described.get("description", "").endswith((".", "…")), (name, key)


def test_an_unknown_schema_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(ConfigError, match=r"no TOML is called 'Hegde': .*, did you mean Hedge\?"):
        schema_for("Hegde")
    with pytest.raises(ConfigError, match="no TOML is called 'plan'"):
        schema_for("plan")
