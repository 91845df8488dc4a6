"""Log adapters turn rows of a log into feedback; each learner has one, in its `log_adapter.py`.

    adapter = log_adapter_of("StreamingLearner").from_plain(plain)     # plain: a run's TOML
    columns = adapter.columns(log.columns)              # ConfigError names what the log lacks
    contexts = adapter.contexts(rows, columns)          # None if the learner takes no context
    feedback = adapter.feedback(rows, columns, tickets) # of rows that met these decisions

An adapter reads public settings and the given rows, nothing else, and never a learner. A cell that
is not a number where one is expected counts as a missing answer, which adds nothing.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar, Protocol, Self, TypedDict, get_type_hints

import numpy as np

from discreet import require
from discreet.arrays import Floats, Integers, Mask
from discreet.engine.codec import admitted, needed_fields
from discreet.engine.labels import Label
from discreet.engine.readings import Report
from discreet.engine.settings import Settings, refuse_foreign
from discreet.engine.tickets import Tickets
from discreet.errors import ConfigError
from discreet.learners.homes import HOMES
from discreet.records.array_table import ArrayTable
from discreet.records.cells import Cells, unread_numbers
from discreet.records.log_cells import UNIFORM, names_in

DECIDED = "decided"
"""Value of `slates` for a log of the decisions of the run itself."""

UNLISTED = "an item that is not in the catalogue"
"""Rule of checks for logged slates and clicks."""


class Table(Cells, Protocol):
    """Some rows of a log, column by column: of a file, a query's result, or a partition."""

    def texts(self, name: str) -> list[str]:
        """Return a column as texts, lists as JSON; "" for a missing cell."""


@dataclass(frozen=True, eq=False)
class OfAnotherPolicy:
    """The log of another policy: one slate and answer per row, and the slates' propensities."""

    rows: Sequence[tuple[Sequence[object], object]] = field(repr=False)
    propensity: object = field(repr=False)
    """"uniform", or one or several propensities per row."""
    least_propensity: float | None


class LogAdapter(ABC):
    """Base class of log adapters: rows of a log as feedback for a learner with these settings."""

    settings_type: ClassVar[type[Settings]]
    log_type: ClassVar[type]
    """The keys about the log that a run's TOML may have besides the settings: a typed dictionary,
    or a dataclass, whose docstring describes them."""
    follows: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Settings that may be left out, each with the keys about the log from which it follows."""
    sized: ClassVar[tuple[str, ...]] = ()
    """Fields of described values that follow from the log, such as "LpBall.dimension"."""
    row: ClassVar[str] = "visitor"
    """One word for what a row of the log is."""

    def __init__(
        self, settings: Any, log: dict[str, object], labels: Sequence[Label] | None = None
    ) -> None:
        self.settings = settings
        self.log: dict[str, Any] = log
        """The keys about the log."""
        self.labels = labels
        """The items' labels, if public events may have added some; None: those of the settings."""

    @property
    def item_labels(self) -> Sequence[Label]:
        """The items' labels; none if items have no labels."""
        labels = getattr(self.settings, "labels", None) if self.labels is None else self.labels
        return labels or ()

    def with_labels(self, labels: Sequence[Label] | None) -> Self:
        """Return this adapter for items that have these labels by now."""
        return type(self)(self.settings, self.log, labels)

    @classmethod
    def log_keys(cls) -> dict[str, object]:
        """Return the keys about the log, each with its type."""
        hints = get_type_hints(cls.log_type)
        return {name: hints[name] for name in cls.log_type.__annotations__}

    @classmethod
    def needed(cls) -> list[str]:
        """Return the keys about the log that a run's TOML must have."""
        if is_dataclass(cls.log_type):
            return needed_fields(cls.log_type)
        required: frozenset[str] = getattr(cls.log_type, "__required_keys__", frozenset())
        return [name for name in cls.log_keys() if name in required]

    @classmethod
    def from_plain(cls, plain: dict[str, object], beside: Iterable[str] = ()) -> Self:
        """Return the adapter for a run's TOML: the learner's settings and keys about the log.

        Parameters
        ----------
        plain
            The TOML as plain data, without keys that the caller has read.
        beside
            Those keys, which a misspelt one may have meant.
        """
        keys = cls.log_keys()
        known = [*keys, *cls.settings_type.written(), *beside]
        unknown = [name for name in plain if name not in known]
        by_label = cls.settings_type.by_label.items()
        labels = {names: f"give {count} a list of labels" for count, names in by_label}
        refuse_foreign({**cls.settings_type.foreign, **labels}, unknown)
        require.known_keys(unknown, known)
        log = {name: plain[name] for name in keys if name in plain}
        cls.check_log(log, plain)
        rest = {name: value for name, value in plain.items() if name not in log}
        settings = cls.settings_type.from_plain(cls.completed(rest, log))
        for name, value in log.items():
            admitted(keys[name], value, name)
        return cls(settings, log)

    @classmethod
    def check_log(cls, log: dict[str, object], plain: dict[str, object]) -> None:
        """Refuse settings that lack keys about the log."""
        needed = cls.needed()
        if any(name not in log for name in needed):
            every = (*needed, *needed_fields(cls.settings_type))
            missing = [name for name in every if name not in plain]
            raise ConfigError(f"the settings lack {', '.join(missing)}")

    @classmethod
    def completed(cls, plain: dict[str, object], log: dict[str, object]) -> dict[str, object]:
        """Return the settings, completed by what follows from the keys about the log."""
        return plain

    @property
    def unanswered(self) -> float:
        """The value at which a row that adds nothing counts in a report."""
        return 0.0

    @property
    def meaning(self) -> str:
        """One sentence on what reports measure."""
        return (
            "mean of each block's visitors; a missing answer, or a row with another decision, "
            f"counts with {self.unanswered:.4g}"
        )

    def estimated(self, report: Report) -> Report | None:
        """Return a report in the sense of `meaning`; None if rewards are not known."""
        return report

    @property
    def beside(self) -> list[str]:
        """Columns that are read beside those of `columns`, such as that of the propensities."""
        propensity = self.log.get("propensity", UNIFORM)
        return [] if propensity == UNIFORM else [propensity]

    @property
    def warm_starts(self) -> bool:
        """Whether the whole log, of another policy, is read at once before the first round."""
        return False

    @property
    def slots(self) -> int | None:
        """The number of items of a logged slate; None if rows have no slates, so no layout."""
        return None

    def numeric(self, columns: Sequence[str]) -> list[str]:
        """Return which of these columns hold numbers, so that a column of texts teaches nothing."""
        return []

    @property
    def lasting(self) -> dict[str, object]:
        """The keys about the log that must stay the same throughout a run."""
        return {}

    @abstractmethod
    def columns(self, header: Sequence[str]) -> list[str]:
        """Return the columns of the log to read; a `ConfigError` names those that it lacks."""

    def answer_columns(self, header: Sequence[str]) -> list[str]:
        """Return the columns of answers to decisions that are known otherwise, by a ticket."""
        return self.columns(header)

    def context_columns(self, header: Sequence[str]) -> list[str]:
        """Return the columns of the contexts alone."""
        raise ConfigError("this learner does not use contexts: give the number of rounds")

    def check_columns(self, header: Sequence[str]) -> list[str]:
        """Return the columns that a check reads: of answers, and of decisions that are there."""
        return self.answer_columns(header)

    def contexts(self, rows: Table, columns: Sequence[str]) -> object:
        """Return one context per row; None if the learner takes none."""
        return None

    @abstractmethod
    def answers(self, rows: Table, columns: Sequence[str]) -> Any:
        """Return one answer per row, whichever decision it met."""

    def feedback(self, rows: Table, columns: Sequence[str], tickets: Tickets) -> object:
        """Return one entry or row of feedback per row; each met the decision of its ticket."""
        return self.answers(rows, columns)

    # --- checks, which are not private ------------------------------------------------------------

    def unreadable(self, rows: Table, columns: Sequence[str]) -> dict[str, Mask]:
        """Return which rows cannot be read, by the name of a rule; not private."""
        return unread_numbers(rows, self.numeric(columns))

    @property
    @abstractmethod
    def answer_names(self) -> list[str]:
        """The names of the numbers of an answer, for answers in arrays and lists."""

    def cells(self, answers: Any) -> Table:
        """Return answers in an array or a list as a table, so that they can be checked."""
        return ArrayTable.of_rows(answers, self.answer_names)

    # --- other policies ---------------------------------------------------------------------------

    def of_another_policy(self, rows: Table, columns: Sequence[str]) -> OfAnotherPolicy:
        """Return the whole log of another policy, for a warm start (`warm_starts`)."""
        raise ConfigError("this learner has no warm start: leave the log of another policy out")

    def named(self, decision: dict[str, object], columns: Sequence[str]) -> dict[str, object]:
        """Return a decision as plain data, with the names that the log uses."""
        return decision


class NumbersLog(TypedDict, total=False):
    """Keys about a log of numbers.

    Parameters
    ----------
    columns
        The columns of a row's numbers, in order. Without it they are those named like the labels,
        or all columns of the log.
    """

    columns: Sequence[str]


class NumbersLogAdapter(LogAdapter):
    """Adapter for rows of numbers: the columns named by `columns`, or all columns in order."""

    log_type = NumbersLog
    size: ClassVar[str]
    """Name of the setting with the length of a row; optional if `columns` is given."""

    def __init_subclass__(cls) -> None:
        cls.follows = {cls.size: ("columns",)}

    @classmethod
    def completed(cls, plain: dict[str, object], log: dict[str, object]) -> dict[str, object]:
        if "columns" not in log:
            return plain
        return {cls.size: len(list_of_columns("columns", log["columns"]))} | plain

    def columns(self, header: Sequence[str]) -> list[str]:
        return row_columns(header, getattr(self.settings, self.size), self.log.get("columns"))

    def numeric(self, columns: Sequence[str]) -> list[str]:
        return list(columns)

    @property
    def answer_names(self) -> list[str]:
        return names_of_row(getattr(self.settings, self.size), None)

    def answers(self, rows: Table, columns: Sequence[str]) -> Floats:
        return rows.numbers(columns)


def log_adapter_of(name: str) -> type[LogAdapter]:
    """Return the class of the log adapter of the learner with this name."""
    require.one_of("learner", name, tuple(HOMES))
    module = f"{HOMES[name]}.log_adapter"
    if find_spec(module) is None:
        raise ConfigError(f"{name} does not read logs: use it from Python")
    adapter: type[LogAdapter] = getattr(import_module(module), f"{name}LogAdapter")
    return adapter


def list_of_columns(key: str, names: object) -> list[str]:
    """Return the value of a key about the log, checked: names of columns, each once."""
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise ConfigError(f"{key} must be a list of columns, got {require.shown(names)}")
    if len(set(names)) != len(names):
        raise ConfigError(f"{key} must be different columns, got {', '.join(names)}")
    return names


def check_decided(log: dict[str, object], remedy: str) -> None:
    """Refuse a log that is not declared to hold this run's own decisions: it might teach nothing.

    Whether rows agree with decisions is people's data, so only the settings are checked.
    """
    slates = log.get("slates")
    if slates is None:
        raise ConfigError(
            f'the settings lack slates = "{DECIDED}", if the log has what this run decided{remedy}'
        )
    require.one_of("slates", slates, (DECIDED,))


def check_propensity(log: dict[str, object], reserved: Sequence[str], what: str) -> None:
    """Refuse missing, malformed or superfluous keys about the propensity of logged arms or items.

    Parameters
    ----------
    log
        The keys about the log.
    reserved
        Columns that have another meaning.
    what
        "arm" or "item", for the messages.
    """
    if "propensity" not in log:
        raise ConfigError(
            f"the settings lack propensity: the column with the probability of the logged {what}, "
            f'or "{UNIFORM}" if all {what}s were equally likely'
        )
    propensity = log["propensity"]
    if not isinstance(propensity, str) or propensity in (*reserved, ""):
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
            f"{what} had (the smallest in the log would be people's data)"
        )
    else:
        require.number("least_propensity", log["least_propensity"], 0.0, 1.0)
        if log["least_propensity"] == 0:
            raise ConfigError("least_propensity must be above 0: otherwise no row would count")


def names_of_row(width: int, labels: Sequence[Label] | None) -> list[str]:
    """Return the names of a row's numbers: the labels if there are as many, else their places."""
    fits = labels is not None and len(labels) == width
    return [str(name) for name in (labels if fits and labels is not None else range(width))]


def present(header: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return these columns; refuse a log that lacks some of them."""
    missing = [name for name in names if name not in header]
    if missing:
        raise ConfigError(
            f"the log lacks the columns {', '.join(missing)}: this learner reads "
            f"{', '.join(names)}; [rename] gives a column another name"
        )
    return list(names)


def row_columns(header: Sequence[str], width: int, names: object = None) -> list[str]:
    """Return the columns of a row of `width` numbers: those named, or all columns in order.

    >>> row_columns(["day", "tea", "milk"], 2, ["tea", "milk"]), row_columns(["tea", "milk"], 2)
    (['tea', 'milk'], ['tea', 'milk'])
    >>> row_columns(["day", "tea", "milk"], 2)    # doctest: +ELLIPSIS
    Traceback (most recent call last):
    discreet.errors.ConfigError: a row has 2 numbers, and the log 3 columns: name 2 of them ...
    """
    if names is None:
        if len(header) != width:
            raise ConfigError(
                f"a row has {width} numbers, and the log {len(header)} columns: "
                f"name {width} of them in `columns`, or leave out the others"
            )
        return list(header)
    columns = present(header, list_of_columns("columns", names))
    if len(columns) != width:
        raise ConfigError(f"a row has {width} numbers, but `columns` names {len(columns)}")
    return columns


def shown(
    logged: Sequence[str], decisions: Integers, names: Sequence[str], *, ordered: bool
) -> Mask:
    """Return per row of a log whether its slate is the one that was decided.

    Parameters
    ----------
    logged
        Slates as texts: items separated by spaces, or a JSON list.
    decisions
        One row of item numbers per slate, padded with −1.
    names
        The items' labels as texts, by number.
    ordered
        Whether the order of the items matters.

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
        matches[place] = _names_items(text.strip(), wanted[key], ordered)
    return matches


def _names_items(text: str, names: list[str], ordered: bool) -> bool:
    """Return whether a text names these items."""
    if text == " ".join(names):
        return True
    logged = names_in(text)
    return logged == names if ordered else sorted(logged) == sorted(names)
