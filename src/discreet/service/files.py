"""Files and folders that are there as a whole or not at all, also after a power cut."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from discreet.turn.statefile import make_durable

__all__ = ["make_folder", "replaced", "write_whole"]


def make_folder(path: Path) -> None:
    """Make a folder, and those above it that are missing, so that a power cut does not take it away."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(exist_ok=True)
        make_durable(folder.parent)
    path.mkdir(exist_ok=True)  # refuses a file of that name
    make_durable(path.parent)  # a run that was killed before it came here may have made the folder


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """A draft to be written, which then takes the file's place: as a whole, also after a power cut."""
    draft = path.with_name(f".draft.{path.name}")  # the name's end says to writers which format is wanted
    yield draft
    with draft.open("r+b") as file:
        os.fsync(file.fileno())
    os.replace(draft, path)
    make_durable(path.parent)


def write_whole(path: Path, text: str) -> None:
    """Write a text so that it is there as a whole or not at all."""
    with replaced(path) as draft:
        draft.write_text(text, encoding="utf-8")
