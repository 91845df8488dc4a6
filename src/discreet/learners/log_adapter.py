"""The wire: how rows of a log become feedback. Each learner says it once, in `adapter.py` of its
folder.

    wire = log_adapter_of("StreamingLearner").from_plain(plain)     # plain: what a run's TOML says
    columns = wire.columns(log.columns)                      # or a ConfigError that names what the log lacks
    contexts = wire.contexts(rows, columns)                  # of some rows; None if the learner takes none
    feedback = wire.feedback(rows, columns, tickets)         # of these rows, which met these decisions

A wire reads public settings and the rows it is given, nothing else, and never a learner. What a row
has in place of a number counts as a missing answer, which adds nothing.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from discreet import require
from discreet.arrays import Floats, Integers, Mask
from discreet.engine.readings import Report
from discreet.engine.settings import Settings, refuse_removed
from discreet.engine.tickets import Tickets
from discreet.errors import ConfigError
from discreet.learners.registry import HOMES
from discreet.records.log_cells import UNIFORM, names_in

DECIDED = "decided"
"""What `slates` is, where a log has what the run itself decided."""


class Table(Protocol):
    """Some rows of a log, column by column: of a file, of a query's result, of a partition."""

    @property
    def columns(self) -> list[str]:
        """The names of all columns, in order."""

    def __len__(self) -> int:
        """How many rows there are."""

    def numbers(self, names: Sequence[str]) -> Floats:
        """A matrix with these columns; NaN for whatever is no number."""

    def texts(self, name: str) -> list[str]:
        """A column as texts, lists as JSON; "" for what is missing."""

    def values(self, name: str) -> list[Any]:
        """A column as it is; None for what is missing."""


@dataclass(frozen=True, eq=False)
class OfAnotherPolicy:
    """What a log of another policy says: a slate and an answer a row, and how likely the slate
    was.
    """

    rows: list[tuple[list[Any], Any]] = field(repr=False)
    propensity: Any = field(repr=False)
    """"uniform", or one or several chances a row."""
    least_propensity: float | None


class LogAdapter(ABC):
    """How rows of a log become feedback for a learner with these settings."""

    settings_type: ClassVar[type[Settings]]
    keys: ClassVar[tuple[str, ...]] = ()
    """What a run's TOML may say about the log, besides the settings."""
    needed: ClassVar[tuple[str, ...]] = ()
    """What it must say about the log."""
    row: ClassVar[str] = "visitor"
    """What a row of the log is, in a word."""

    def __init__(
        self, settings: Any, log: dict[str, Any], labels: Sequence[Any] | None = None
    ) -> None:
        self.settings = settings
        self.log = log
        self.labels = labels
        """The items' names, where public events may have added some; None: as in the settings."""

    def with_labels(self, labels: Sequence[Any] | None) -> Self:
        """The same wire, for items that have these names by now."""
        return type(self)(self.settings, self.log, labels)

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Self:
        """The wire for what a run's TOML says: the learner's settings, and keys about the log."""
        known = {*cls.keys, *(field.name for field in fields(cls.settings_type))}
        unknown = [name for name in plain if name not in known]
        refuse_removed(cls.settings_type.removed, unknown)
        if unknown:
            near = get_close_matches(str(unknown[0]), known, 1)
            meant = f"did you mean {near[0]}?" if near else f"known are {', '.join(sorted(known))}"
            raise ConfigError(f"unknown setting {require.shown(unknown[0])}: {meant}")
        missing = [name for name in (*cls.needed, *cls.settings_type.needed()) if name not in plain]
        if set(missing) & set(cls.needed):
            raise ConfigError(f"the settings lack {', '.join(missing)}")
        log = {name: plain[name] for name in cls.keys if name in plain}
        rest = {name: value for name, value in plain.items() if name not in log}
        return cls(cls.settings_type.from_plain(cls.completed(rest, log)), log)

    @classmethod
    def completed(cls, plain: dict[str, Any], log: dict[str, Any]) -> dict[str, Any]:
        """The settings, with what follows from the keys about the log."""
        return plain

    @property
    def unanswered(self) -> float:
        """What a row that adds nothing counts as in a report."""
        return 0.0

    @property
    def meaning(self) -> str:
        """What reports are of, in a sentence."""
        return (
            "mean of each block's visitors; whoever gave no answer, or whose row has another "
            "decision, "
            f"counts with {self.unanswered:.4g}"
        )

    def estimated(self, report: Report) -> Report | None:
        """A report as the meaning says; None where what was earned is not known."""
        return report

    @property
    def lasting(self) -> dict[str, Any]:
        """What is said about the log that holds for all of a run."""
        return {}

    @abstractmethod
    def columns(self, header: Sequence[str]) -> list[str]:
        """The columns that are read, of those that the log has; `ConfigError` names what it
        lacks.
        """

    def contexts(self, rows: Table, columns: Sequence[str]) -> Any | None:
        """One context for each of these rows; None if the learner takes none."""
        return None

    @abstractmethod
    def feedback(self, rows: Table, columns: Sequence[str], tickets: Tickets) -> Any:
        """One entry or row for each of these rows, which met the decisions of these tickets."""

    def of_another_policy(self, rows: Table, columns: Sequence[str]) -> OfAnotherPolicy | None:
        """All of a log that another policy made, for a warm start; None if this run's decisions
        made it.
        """
        return None

    def named(self, decision: dict[str, Any], columns: Sequence[str]) -> dict[str, Any]:
        """A decision as plain data, in the words of the log."""
        return decision


class NumbersLogAdapter(LogAdapter):
    """A row is so many numbers, one column each: those that `columns` names, or all of the log,
    in order.
    """

    keys = ("columns",)
    size: ClassVar[str]
    """The setting that says how many; it may be left out where `columns` is given."""

    @classmethod
    def completed(cls, plain: dict[str, Any], log: dict[str, Any]) -> dict[str, Any]:
        if "columns" not in log:
            return plain
        return {cls.size: len(list_of_columns("columns", log["columns"]))} | plain

    def columns(self, header: Sequence[str]) -> list[str]:
        return row_columns(header, getattr(self.settings, self.size), self.log.get("columns"))

    def feedback(self, rows: Table, columns: Sequence[str], tickets: Tickets) -> Floats:
        return rows.numbers(columns)


def log_adapter_of(name: Any) -> type[LogAdapter]:
    """The wire of the learner of this name."""
    require.one_of("learner", name, tuple(HOMES))
    module = f"{HOMES[name]}.log_adapter"
    if find_spec(module) is None:
        raise ConfigError(f"{name} does not read logs: use it from Python")
    found: type[LogAdapter] = getattr(import_module(module), f"{name}LogAdapter")
    return found


def list_of_columns(key: str, names: Any) -> list[str]:
    """What a key about the log says: names of columns, each once."""
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise ConfigError(f"{key} must be a list of columns, got {require.shown(names)}")
    if len(set(names)) != len(names):
        raise ConfigError(f"{key} must be different columns, got {', '.join(names)}")
    return names


def check_decided(log: dict[str, Any], remedy: str) -> None:
    """Refuse a log of which nothing says that this very run decided what it shows: it might teach
    nothing.

    Whether rows agree with decisions is people's data, so only settings are asked.
    """
    said = log.get("slates")
    if said is None:
        raise ConfigError(
            f'the settings lack slates = "{DECIDED}", if the log has what this run decided{remedy}'
        )
    require.one_of("slates", said, (DECIDED,))


def check_propensity(log: dict[str, Any], taken: Sequence[str], what: str) -> None:
    """Refuse what is not said of the propensity of a logged arm or item, or said in vain."""
    if "propensity" not in log:
        raise ConfigError(
            f"the settings lack propensity: the column with the probability of the logged {what}, "
            f'or "{UNIFORM}" if all {what}s were equally likely'
        )
    propensity = log["propensity"]
    if not isinstance(propensity, str) or propensity in (*taken, ""):
        raise ConfigError(
            f'propensity must be a column, or "{UNIFORM}", got {require.shown(propensity)}'
        )
    if propensity == UNIFORM:
        if "least_propensity" in log:
            raise ConfigError(
                f'least_propensity is for a column of propensities, not for "{UNIFORM}"'
            )
    elif "least_propensity" not in log:
        raise ConfigError(
            "the settings lack least_propensity: a public number, the least probability that any "
            f"{what} had "
            "(the smallest in the log would be people's data)"
        )
    else:
        require.number("least_propensity", log["least_propensity"], 0.0, 1.0)
        if log["least_propensity"] == 0:
            raise ConfigError("least_propensity must be above 0: nobody would count")


def present(header: Sequence[str], names: Sequence[str]) -> list[str]:
    """These columns, which the log must have."""
    missing = [name for name in names if name not in header]
    if missing:
        raise ConfigError(
            f"the log lacks the columns {', '.join(missing)}: this learner reads {', '.join(names)}"
        )
    return list(names)


def row_columns(header: Sequence[str], width: int, names: Any = None) -> list[str]:
    """The columns of a row of so many numbers: by name, or without names all columns of the log, in
    order.

    >>> row_columns(["day", "tea", "milk"], 2, ["tea", "milk"]), row_columns(["tea", "milk"], 2)
    (['tea', 'milk'], ['tea', 'milk'])
    >>> row_columns(["day", "tea", "milk"], 2)
    Traceback (most recent call last):
    discreet.errors.ConfigError: a row has 2 numbers, and the log 3 columns: name 2 of them in `columns`
    """
    if names is None:
        if len(header) != width:
            raise ConfigError(
                f"a row has {width} numbers, and the log {len(header)} columns: "
                f"name {width} of them in `columns`"
            )
        return list(header)
    found = present(header, list_of_columns("columns", names))
    if len(found) != width:
        raise ConfigError(f"a row has {width} numbers, but `columns` names {len(found)}")
    return found


def shown(
    logged: Sequence[str], decisions: Integers, names: Sequence[str], *, ordered: bool
) -> Mask:
    """Which rows of a log were shown what was decided for them.

    A log has items separated by spaces, or a JSON list; decisions are item numbers, filled up with
    −1.

    >>> decided = np.array([[1, 0], [1, 0], [1, -1]])
    >>> shown(["milk tea", "tea milk", '["milk"]'], decided, ["tea", "milk"], ordered=True)
    array([ True, False,  True])
    """
    wanted: dict[bytes, list[str]] = {}
    matches = np.zeros(len(logged), dtype=np.bool_)
    for place, (text, items) in enumerate(zip(logged, decisions, strict=True)):
        key = items.tobytes()
        if key not in wanted:
            wanted[key] = [names[item] for item in items if item >= 0]
        matches[place] = _says(text.strip(), wanted[key], ordered)
    return matches


def _says(text: str, names: list[str], ordered: bool) -> bool:
    """Whether a text names these items."""
    if text == " ".join(names):
        return True
    found = names_in(text)
    return found == names if ordered else sorted(found) == sorted(names)
