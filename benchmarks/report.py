"""Write a benchmark's result: one JSON line on standard output, one file in results/."""

import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from discreet import __version__

RESULTS = Path(__file__).resolve().parent / "results"
PEERS = {
    "diffprivlib": "diffprivlib",
    "distributed": "distributed",
    "dp_accounting": "dp-accounting",
    "mabwiser": "mabwiser",
    "opendp": "opendp",
    "river": "river",
    "scipy": "scipy",
    "sklearn": "scikit-learn",
}
"""Packages that are measured, or measured against: the module's name and the distribution's."""


def write(report: Mapping[str, Any], name: str | None = None) -> None:
    """Print the report as one JSON line and write it, indented, to results/<name>.json.

    The circumstances of the run come first, as "made". Keys keep their order. The file is replaced
    as a whole: a run that fails leaves the file of the last run.

    Parameters
    ----------
    report
        The measured numbers, with the parameters of the run under "settings" if there are any.
    name
        Name of the file without extension; by default that of the running script.
    """
    report = {"made": circumstances(report.get("settings", {})), **report}
    print(json.dumps(report), flush=True)
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name or Path(sys.argv[0]).stem}.json"
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        part.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def circumstances(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the date, versions, machine and seeds of the running script.

    Parameters
        settings   of the run: a seed among them takes the place of the script's constant
    """
    found: dict[str, Any] = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "discreet": __version__,
    }
    commit = _commit()
    if commit:
        found["commit"] = commit
    found |= {
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "numba": version("numba"),
        "peers": _peers(),
        "machine": {"cpu": _cpu(), "cores": os.cpu_count()},
    }
    seeds = _seeds(settings)
    if seeds:
        found["seeds"] = seeds
    return found


def _commit() -> str | None:
    """Return the commit of the checkout, with "-dirty" behind it if files were changed since."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        done = subprocess.run(
            command, cwd=RESULTS.parent, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def _peers() -> dict[str, str]:
    """Return the versions of the peers that the running script imported."""
    found = {}
    for module, distribution in PEERS.items():
        if module in sys.modules:
            try:
                found[distribution] = version(distribution)
            except PackageNotFoundError:
                found[distribution] = "unknown"
    return found


def _cpu() -> str:
    """Return the processor's model, or its architecture if the model is not known."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()


def _seeds(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the constants of the running script whose names end in SEED, SEEDS or SPLITS."""
    constants = vars(sys.modules["__main__"])
    names = [
        name for name in constants if name.isupper() and name.endswith(("SEED", "SEEDS", "SPLITS"))
    ]
    return {name.lower(): settings.get(name.lower(), _readable(constants[name])) for name in names}


def _readable(seeds: Any) -> Any:
    """Return a range as "700 to 711"; other values as they are."""
    return f"{seeds[0]} to {seeds[-1]}" if isinstance(seeds, range) else seeds
