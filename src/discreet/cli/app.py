"""What all commands share: the group that they belong to, common options, errors of one line.

What goes wrong is one clear line and an exit code: 2 for bad input, 130 for Ctrl-C. A traceback, if
there is a bug, shows no variables: they may be people's.
"""

import json
import sys
import warnings
from collections.abc import Callable
from io import TextIOWrapper
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console
from typer.core import TyperGroup

from discreet import __version__
from discreet.errors import DiscreetError
from discreet.runs.doctor import extra_with


class Commands(TyperGroup):
    """The commands, with what may go wrong in each."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command; a mistake is one line and exit code 2, never a traceback."""
        if isinstance(sys.stdout, TextIOWrapper):  # names of files need not be text
            sys.stdout.reconfigure(errors="backslashreplace")
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            typer.echo("discreet: stopped", err=True)
            raise typer.Exit(130) from None
        except BrokenPipeError:  # whoever read the output has seen enough
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
    typer.echo(f"discreet: {reason}", err=True)
    raise typer.Exit(2) from None


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Decisions from a stream of people, without giving any of them away.",
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
            "--version", callback=_print_version, is_eager=True, help="Which discreet this is."
        ),
    ] = False,
) -> None:
    """Decisions from a stream of people, without giving any of them away."""


Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Epsilon = Annotated[float, typer.Option(help="Smaller is stricter.")]
Delta = Annotated[float, typer.Option(help="The probability with which the guarantee may fail.")]


def answer(
    found: dict[str, Any],
    as_json: bool,
    show: Callable[[dict[str, Any], Console], None] | None = None,
) -> None:
    """Print what was found: as JSON, or by `show`, where it was not shown on the way."""
    if as_json:
        typer.echo(json.dumps(found))
    elif show is not None:
        show(found, Console())


def main() -> None:
    """Run a command; warnings are one line each, too."""
    warnings.showwarning = _warn
    app()


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    typer.echo(f"discreet: {message}", err=True)
