"""Settings and logs that the tests of runs share."""

from pathlib import Path
from typing import Any

import polars
from rich.console import Console

from discreet import Privacy
from discreet.runs.run import run_log

PRIVACY = Privacy(1.0, 1e-6)
BASE = "epsilon = 1.0\ndelta = 1e-6\nseed = 1\n"
SHOP = BASE + 'horizon = 600\nitems = ["tea", "milk", "soap"]\nslots = 2\n'


def run(
    folder: Path,
    settings: str,
    log: polars.DataFrame,
    *,
    parquet: bool = False,
    console: Console | None = None,
) -> dict[str, Any]:
    """Write the settings and the log, and run the learner; return the report."""
    folder.mkdir(exist_ok=True)
    path = folder / ("log.parquet" if parquet else "log.csv")
    if parquet:
        log.write_parquet(path)
    else:
        log.write_csv(path)
    (folder / "run.toml").write_text(settings)
    return run_log(folder / "run.toml", path, folder / "out", console or Console(quiet=True))
