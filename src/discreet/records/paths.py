"""Paths of files of people's rows: one file, the files of a folder, or those of a glob."""

from glob import glob, has_magic
from pathlib import Path

from discreet import require
from discreet.errors import ConfigError

JSON_LINES = (".jsonl", ".ndjson")
ENDINGS = (".parquet", ".arrow", ".feather", *JSON_LINES, ".csv", ".tsv", ".txt")
"""Files of a folder that are read."""


def files_at(path: str | Path) -> list[Path]:
    """Return a file, the files of a folder, or those that match a glob, in order of their names.

    Raises
    ------
    ConfigError
        If there are none, or the name of a file is no valid text.
    """
    text = str(path)
    try:
        text.encode()  # Polars requires a name that is valid text
        if Path(text).is_dir():
            files = [file for file in Path(text).iterdir() if file.suffix.lower() in ENDINGS]
            return _some(files, f"{text} has no files that end in {', '.join(ENDINGS)}")
        if has_magic(text) and not Path(text).exists():
            files = [Path(name) for name in glob(text, recursive=True)]
            return _some(files, f"{text} matches no file")
    except ConfigError:  # a ValueError, too
        raise
    except (OSError, ValueError):  # too long, or no valid text
        raise ConfigError(
            f"{require.shown(text)} cannot be read: its name is not that of a file, rename it"
        ) from None
    return [Path(text)]


def _some(found: list[Path], otherwise: str) -> list[Path]:
    """Return the files among these paths, sorted; `ConfigError` if there are none."""
    files = sorted(path for path in found if path.is_file())
    if not files:
        raise ConfigError(otherwise)
    return files
