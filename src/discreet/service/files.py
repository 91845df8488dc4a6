"""Files that are there as a whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["replaced", "write_whole"]


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """A draft to be written, which then takes the file's place: as a whole, also after a power cut."""
    draft = path.with_name(f".draft.{path.name}")  # the name's end says to writers which format is wanted
    yield draft
    with draft.open("r+b") as file:
        os.fsync(file.fileno())
    os.replace(draft, path)


def write_whole(path: Path, text: str) -> None:
    """Write a text so that it is there as a whole or not at all."""
    with replaced(path) as draft:
        draft.write_text(text, encoding="utf-8")
