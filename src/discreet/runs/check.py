"""`discreet check`: how many rows of a log a run could not read, before any budget is spent.

The command reads the settings and the log as `discreet run` does, and refuses them with the same
words. It opens no round, spends nothing and writes nothing. Its output is NOT private.
"""

from pathlib import Path

from rich.console import Console

from discreet.learners.registry import learner_named
from discreet.progress import shown
from discreet.records.check import Check
from discreet.runs.run import prepared


def check_log(config: Path, data: Path, console: Console) -> Check:
    """Return how many rows of a log cannot be read, by rule, and what is public about it.

    Parameters
    ----------
    config
        A TOML file with the learner's settings, as for `run_log`.
    data
        The log: a file, a folder of files, or a glob.
    console
        Shows the progress.

    Raises
    ------
    ConfigError
        If the settings or the names of columns are refused.
    """
    name, source = prepared(config, data)
    settings = source.adapter.settings
    plan = learner_named(name).problem_for(settings).plan
    notices = source.notices(settings.horizon, takes_delta=plan.total.takes_delta)
    with shown(console):
        return source.check(notices)
