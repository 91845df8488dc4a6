"""Files that are there as a whole or not at all."""

import os
from pathlib import Path

__all__ = ["write_whole"]


def write_whole(path: Path, text: str) -> None:
    """Write a file so that it is there as a whole or not at all, also after a power cut."""
    draft = path.with_name(f".{path.name}.draft")
    with draft.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(draft, path)
