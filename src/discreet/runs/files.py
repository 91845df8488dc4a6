"""Files and folders that are there as a whole or not at all, also after a power cut."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from discreet.engine.codec import from_toml
from discreet.engine.state_file import make_durable
from discreet.errors import ConfigError


def make_folder(path: Path) -> None:
    """Make a folder, and those above it that are missing, so that a power cut does not take it
    away.
    """
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(exist_ok=True)
        make_durable(folder.parent)
    path.mkdir(exist_ok=True)  # refuses a file of that name
    make_durable(path.parent)  # a run that was killed before it came here may have made the folder


def read_toml(path: Path) -> dict[str, Any]:
    """What a TOML file says; `ConfigError` names the file and what is wrong with it."""
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
    """A draft to be written, which then takes the file's place: as a whole, also after a power
    cut.
    """
    draft = path.with_name(
        f".draft.{path.name}"
    )  # the name's end says to writers which format is wanted
    yield draft
    with draft.open("r+b") as file:
        os.fsync(file.fileno())
    os.replace(draft, path)
    make_durable(path.parent)


def write_whole(path: Path, text: str) -> None:
    """Write a text so that it is there as a whole or not at all."""
    with replaced(path) as draft:
        draft.write_text(text, encoding="utf-8")
