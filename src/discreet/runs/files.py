"""Files and folders that exist as a whole or not at all, also after a power cut."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from discreet.engine.codec import from_toml
from discreet.engine.state_file import make_durable
from discreet.errors import ConfigError


def make_folder(path: Path) -> None:
    """Make a folder and its missing parents, so that they survive a power cut."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(exist_ok=True)
        make_durable(folder.parent)
    path.mkdir(exist_ok=True)  # refuses a file of that name
    make_durable(path.parent)  # a run that was killed before this line may have made the folder


def read_toml(path: Path) -> dict[str, Any]:
    """Return the content of a TOML file; `ConfigError` names the file and its fault."""
    try:
        return from_toml(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeError:  # in the file, or in its name
        raise ConfigError(f"{path} is not TOML: it is not UTF-8") from None
    except ConfigError as error:
        raise ConfigError(f"{path} is {error}") from None


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """Yield the path of a draft, which then replaces the file as a whole."""
    draft = path.with_name(f".draft.{path.name}")  # the suffix tells writers the format
    yield draft
    with draft.open("r+b") as file:
        os.fsync(file.fileno())
    os.replace(draft, path)
    make_durable(path.parent)


def write_whole(path: Path, text: str) -> None:
    """Write a text so that the file has all of it or does not change."""
    with replaced(path) as draft:
        draft.write_text(text, encoding="utf-8")
