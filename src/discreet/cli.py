"""The command line: `discreet demo`, `discreet doctor`."""

import json
import os
import platform
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from discreet import __version__
from discreet.errors import DiscreetError

__all__ = ["app", "main"]

app = typer.Typer(no_args_is_help=True, add_completion=False, help="Decisions from a stream of people, without giving any of them away.")

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]


@app.command()
def demo(
    people: Annotated[int, typer.Option(help="How many shoppers.")] = 50_000,
    epsilon: Annotated[float, typer.Option(help="Smaller is stricter.")] = 1.0,
    delta: Annotated[float, typer.Option(help="The probability with which the guarantee may fail.")] = 1e-6,
    out: Annotated[Path, typer.Option(help="Where to write demo.png and demo.json.")] = Path("demo"),
    seed: Annotated[int | None, typer.Option(help="Reproduce a run; it is then a simulation, not private.")] = None,
    as_json: Json = False,
) -> None:
    """A shop publishes running totals after every shopper; a table and a picture show how little that costs."""
    from discreet.lab.demo import run_demo
    from discreet.release.privacy import Privacy

    console = Console(quiet=as_json)
    report = run_demo(people, Privacy(epsilon, delta), out, seed=seed, console=console)
    if as_json:
        typer.echo(json.dumps(report))


@app.command()
def doctor(as_json: Json = False) -> None:
    """Check that discreet works on this machine: compile, draw, and time the exact samplers."""
    report = _examine()
    if as_json:
        typer.echo(json.dumps(report))
        return
    table = Table(title="discreet on this machine", show_header=False)
    for name, value in report.items():
        table.add_row(name.replace("_", " "), str(value))
    Console().print(table)


def _examine() -> dict[str, Any]:
    from importlib.metadata import version
    from time import perf_counter

    import numba

    from discreet import warm_up
    from discreet.release.noise import DiscreteGaussian
    from discreet.release.randomness import system_words

    began = perf_counter()
    warm_up()
    compiled = perf_counter() - began
    began = perf_counter()
    DiscreteGaussian(2**24).draw(100_000, system_words())
    return {
        "discreet": __version__,
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "numba": numba.__version__,
        "randomgen": version("randomgen"),
        "cores": os.cpu_count(),
        "seconds_to_compile_or_load_kernels": round(compiled, 2),
        "nanoseconds_per_exact_gaussian": round((perf_counter() - began) * 1e4),
        "file_locks": "yes" if sys.platform != "win32" else "no: file journals need a POSIX system",
    }


def main() -> None:
    """Run a command; bad input is one clear line and exit code 2, never a traceback."""
    try:
        app(standalone_mode=True)
    except DiscreetError as error:
        typer.echo(f"discreet: {error}", err=True)
        raise SystemExit(2) from None
    except ImportError as error:
        typer.echo(f"discreet: {error.name} is missing: pip install 'discreet[lab]'", err=True)
        raise SystemExit(2) from None
