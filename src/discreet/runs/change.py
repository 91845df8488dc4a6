"""`discreet change`: items come into a run and leave it, and it goes on for more visitors.

Public events of the run's learner (docs/guarantees/sets.md, Theorem 5): each is kept in the run's
state before it counts, and the next `discreet run` goes on from there.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from discreet import require
from discreet.errors import ConfigError
from discreet.learners.abilities import HasCatalogue
from discreet.learners.base import Learner
from discreet.learners.labels import Label
from discreet.learners.registry import load


def change_run(
    folder: Path, *, add: Sequence[str] = (), retire: Sequence[str] = (), extend: int | None = None
) -> dict[str, Any]:
    """All of it or nothing: extend first, then add, then retire, so that there is room for what
    comes.
    """
    if not add and not retire and extend is None:
        raise ConfigError("nothing is to be changed: say --add, --retire or --extend")
    if not (folder / "state").exists():
        raise ConfigError(f"{folder} is not the folder of a run: it has no state")
    learner = load(folder / "state")
    try:
        if not isinstance(learner, HasCatalogue):
            raise ConfigError(
                f"a {type(learner).__name__} has no catalogue: only sets of items to show have"
            )
        known = {str(name): name for name in learner.labels or ()}
        learner.change(
            add=[known[text] if text in known else _new(learner, text) for text in add],
            retire=[known.get(text, text) for text in retire],
            extend=0 if extend is None else require.whole("rounds", extend),
        )
        return {"active": learner.active, "pending": learner.pending, "horizon": learner.horizon}
    finally:
        learner.detach()


def _new(learner: Learner, text: str) -> Label | None:
    """A new item, with the kind of name that the others have."""
    labels = learner.labels or []
    if learner.settings.labels is not None:
        is_whole = text.isascii() and text.isdigit() and len(text) < 19  # others int cannot read
        return int(text) if is_whole and all(isinstance(name, int) for name in labels) else text
    if text == str(len(labels)):
        return None
    raise ConfigError(f"this run's items have numbers: the next one is {len(labels)}, got {text!r}")
