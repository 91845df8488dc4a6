"""`discreet change`: add items to a run, retire items, or extend its horizon.

Changes are public events of the run's learner: each is committed to the run's state before it
counts, and the next `discreet run` goes on from there.

Guarantee   docs/guarantees/sets.md, Theorem 5
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

from discreet import require
from discreet.errors import ConfigError
from discreet.learners.abilities import HasCatalogue
from discreet.learners.base import Learner
from discreet.learners.labels import Label
from discreet.learners.registry import load


class Catalogue(TypedDict):
    """The items and the horizon of a run after a change."""

    active: list[Label]
    pending: list[Label]
    horizon: int | None


def change_run(
    folder: Path, *, add: Sequence[str] = (), retire: Sequence[str] = (), extend: int | None = None
) -> Catalogue:
    """Change the catalogue or the horizon of the run in a folder: all changes, or none.

    The horizon is extended first, then items are added, then retired, so that there is room for
    the new ones.

    Parameters
    ----------
    folder
        The folder of the run.
    add
        Items that are added, or come back after they were retired.
    retire
        Items that are not shown again.
    extend
        The number of visitors by which the horizon grows.

    Returns
    -------
    The active items, the pending ones (shown from the next block on), and the horizon.

    Raises
    ------
    ConfigError
        If nothing is to change, if the folder has no run, or if its learner has no catalogue.
    """
    if not add and not retire and extend is None:
        raise ConfigError("nothing is to be changed: give --add, --retire or --extend")
    if not (folder / "state").exists():
        raise ConfigError(f"{folder} is not the folder of a run: it has no state")
    learner = load(folder / "state")
    try:
        if not isinstance(learner, HasCatalogue):
            raise ConfigError(
                f"a {type(learner).__name__} has no catalogue: only a SetMaximizer has one"
            )
        known = {str(name): name for name in learner.labels or ()}
        learner.change(
            add=[known[text] if text in known else _new_label(learner, text) for text in add],
            retire=[known.get(text, text) for text in retire],
            extend=0 if extend is None else require.whole("rounds", extend),
        )
        return {"active": learner.active, "pending": learner.pending, "horizon": learner.horizon}
    finally:
        learner.detach()


def _new_label(learner: Learner, text: str) -> Label | None:
    """Return the label of a new item, of the type that other labels have; None for a number."""
    labels = learner.labels or []
    if learner.settings.labels is not None:
        is_whole = text.isascii() and text.isdigit() and len(text) < 19  # fits into 64 bits
        return int(text) if is_whole and all(isinstance(name, int) for name in labels) else text
    if text == str(len(labels)):
        return None
    raise ConfigError(f"this run's items have numbers: the next one is {len(labels)}, got {text!r}")
