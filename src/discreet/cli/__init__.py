"""The command line: one file per family of commands."""

# The order of these imports is the order of the commands in `discreet --help`.
from discreet.cli import planning, runs, schema, audit, papers, doctor  # noqa: F401, I001
from discreet.cli.app import app, main

__all__ = ["app", "main"]
