"""The command line: one file per family of commands."""

from discreet.cli import planning, runs, audit, papers, doctor  # noqa: F401, I001  in the order of the help
from discreet.cli.app import app, main

__all__ = ["app", "main"]
