"""If these fail, a newcomer looks for a file where the map says it is, and finds nothing."""

import inspect
import re
from pathlib import Path

import pytest

import discreet
from discreet.learners.homes import HOMES

pytestmark = pytest.mark.docs

SOURCE = Path(discreet.__file__).parent
REPOSITORY = SOURCE.parent.parent
PAGE = (REPOSITORY / "docs" / "develop" / "architecture.md").read_text()
TABLES = PAGE[PAGE.index("## The file behind") :]


def test_every_path_of_the_map_exists() -> None:
    paths = re.findall(r"`([a-z_]+(?:/[a-z_0-9]+)*(?:/|\.py))`", TABLES)
    assert len(paths) > 60
    homes = (SOURCE, REPOSITORY, SOURCE / "learners" / "hedge")
    assert not [path for path in paths if not any((home / path).exists() for home in homes)]


def test_every_room_is_on_the_map() -> None:
    rooms = {path.name for path in SOURCE.iterdir() if path.is_dir() and path.name[0] != "_"}
    modules = {path.stem for path in SOURCE.glob("[a-z]*.py")}
    drawn = PAGE[: PAGE.index("## The path of one click")]
    assert not [name for name in rooms if f"{name}/" not in drawn]
    assert not [name for name in modules if not re.search(rf"\b{name}\b", drawn)]


def test_every_mode_is_on_the_map() -> None:
    for name in [*HOMES, "SetSelector"]:
        for mode in getattr(discreet, name).modes.values():
            path = Path(inspect.getfile(mode)).relative_to(SOURCE).as_posix()
            folder = path.removesuffix("mode.py")
            assert f"`{path}`" in TABLES or f"`{folder}`" in TABLES, (name, mode)
