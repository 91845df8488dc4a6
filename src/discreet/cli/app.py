"""Parts that all commands share: their group, their common options, and errors of one line.

A command that fails prints one line and ends with an exit code: 2 for bad input, 130 for Ctrl-C.
The traceback of a bug shows no variables, because they may hold people's data.
"""

import json
import sys
import warnings
from collections.abc import Callable, Mapping
from io import TextIOWrapper
from typing import Annotated, Any, NoReturn, TypeVar

import typer
from rich.console import Console
from typer.core import TyperGroup

from discreet import __version__
from discreet.errors import DiscreetError
from discreet.runs.doctor import extra_with


class Commands(TyperGroup):
    """The group of all commands; it turns errors into one line and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command; a mistake of its user ends in one line and exit code 2."""
        if isinstance(sys.stdout, TextIOWrapper):  # a file name may have bytes that are no text
            sys.stdout.reconfigure(errors="backslashreplace")
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            typer.echo("discreet: stopped", err=True)
            raise typer.Exit(130) from None
        except BrokenPipeError:  # the reader of a pipe has closed it; typer ends the process
            raise
        except DiscreetError as error:
            refuse(str(error))
        except UnicodeDecodeError as error:
            refuse(f"a file that should be text is not ({error.encoding})")
        except OSError as error:
            refuse(f"{error.filename or 'a file'}: {error.strerror or type(error).__name__}")
        except ModuleNotFoundError as error:
            package = (error.name or "").partition(".")[0]
            extra = extra_with(package)
            if extra is None:
                raise
            refuse(f"{package} is missing: pip install 'discreet[{extra}]'")


def refuse(reason: str) -> NoReturn:
    """Print the reason in one line on standard error and end with exit code 2."""
    typer.echo(f"discreet: {reason}", err=True)
    raise typer.Exit(2) from None


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Differentially private decisions from a stream of people.",
    epilog="First steps: `discreet demo` shows the value that privacy costs, `discreet plan` the "
    "value that a budget keeps, and `discreet run` learns from a log. `discreet doctor` checks "
    "this machine.",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"discreet {__version__}")
        raise typer.Exit


@app.callback()
def about(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_print_version,
            is_eager=True,
            help="Print the version of discreet and exit.",
        ),
    ] = False,
) -> None:
    """Differentially private decisions from a stream of people."""


Result = TypeVar("Result", bound=Mapping[str, object])
"""The result of a command, as plain data."""
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Epsilon = Annotated[
    float,
    typer.Option(help="Privacy budget per person: a smaller number is a stronger guarantee."),
]
Delta = Annotated[
    float, typer.Option(help="Probability with which the guarantee may fail; 0 means never.")
]


def answer(
    result: Result, as_json: bool, show: Callable[[Result, Console], None] | None = None
) -> None:
    """Print a command's result: as JSON, or by `show` unless the command printed it already."""
    if as_json:
        typer.echo(json.dumps(result))
    elif show is not None:
        show(result, Console())


def main() -> None:
    """Run the command line of this process; each warning is printed as one line."""
    warnings.showwarning = _warn
    app(prog_name="discreet")


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    typer.echo(f"discreet: {message}", err=True)
