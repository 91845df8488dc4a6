"""Write the result of a benchmark: one JSON line on standard output, and one file in benchmarks/results."""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["write"]

RESULTS = Path(__file__).resolve().parent / "results"


def write(report: Mapping[str, Any], name: str | None = None) -> None:
    """Print the report as one JSON line and write it, indented, to results/<name>.json.

    Keys keep their order. The file is replaced as a whole: a run that fails leaves the file of the last run.

    Parameters
        report   what was measured, with the parameters of the run under "settings" if the script takes any
        name     of the file without its ending; the name of the running script by default
    """
    print(json.dumps(report), flush=True)
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name or Path(sys.argv[0]).stem}.json"
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        part.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
