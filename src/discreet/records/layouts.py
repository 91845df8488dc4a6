"""Layouts of logs of slates: `[layout]` of a run's TOML.

    (none)                      one row per slate: slate, click or reward, and propensities
    kind = "positions"          one row per position: item, position, click or reward (positions.py)
    kind = "events"             one row per event: impressions and clicks with an id (events.py)

    [layout]                    [layout]
    kind = "positions"          kind = "events"
    request = "request_id"      request = "request_id"
                                event = "event"
                                impression = "view"
                                click = "click"
                                time = "timestamp"
                                wait = "30 minutes"

A layout is a source around another one, with one row per slate, so that learners read all logs
alike. Columns have the names that `[rename]` gives them.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from discreet import require
from discreet.engine.codec import admitted, check_fields
from discreet.errors import ConfigError
from discreet.records.events import EventRows
from discreet.records.positions import CLICK, ITEM, POSITION, REWARD, SLATE, PositionRows
from discreet.records.sources import Source

WAIT = re.compile(r"(\d+(?:\.\d+)?) ?(second|minute|hour|day)s?")
SECONDS = {"second": 1.0, "minute": 60.0, "hour": 3600.0, "day": 86_400.0}


@dataclass(frozen=True)
class Positions:
    """A log with one row per position of a slate: item, position, click or reward.

    Parameters
    ----------
    request
        The column that all rows of a slate share, such as an id. Without it, slates have one item.
    """

    KIND: ClassVar[str] = "positions"

    request: str | None = None

    def __post_init__(self) -> None:
        check_fields(self)

    def opened(self, log: Source, slots: int, propensity: str | None) -> Source:
        """Return the slates of a log; refuse a log that lacks columns."""
        if self.request is None and slots != 1:
            raise ConfigError(
                "layout: without request every row is a slate of one item, and a slate has "
                f"{slots}: name the column that all rows of a slate share"
            )
        place = [] if self.request is None else [self.request, POSITION]
        _check_columns(log, [ITEM, *place])
        if REWARD not in log.columns:
            _check_columns(log, [CLICK])
        if self.request is None:
            return PositionRows(log, None, propensity)
        return PositionRows(log.with_keys([self.request]), self.request, propensity)


@dataclass(frozen=True)
class Events:
    """A log with one row per event: impressions and clicks with the id of a request.

    Parameters
    ----------
    request
        The column with an id that an impression shares with its clicks.
    event
        The column with the kind of each event.
    impression
        The kind of event that shows a slate.
    click
        The kind of event that clicks an item.
    time
        The column with the time of each event.
    wait
        The longest time from an impression to its click, such as "30 minutes" (seconds, minutes,
        hours, days). A later click does not count.
    """

    KIND: ClassVar[str] = "events"

    request: str
    event: str
    impression: str
    click: str
    time: str
    wait: str

    def __post_init__(self) -> None:
        check_fields(self)
        if self.impression == self.click:
            raise ConfigError(
                f"layout: impression and click must be two kinds of events, got {self.click!r}"
            )
        self.seconds  # noqa: B018  refuses a text that is no duration

    @cached_property
    def seconds(self) -> float:
        """The largest time from an impression to its click."""
        found = WAIT.fullmatch(self.wait.strip())
        if found is None:
            raise ConfigError(
                'layout: wait must be a duration such as "30 minutes" (seconds, minutes, hours, '
                f"days), got {require.shown(self.wait)}"
            )
        number, unit = found.groups()
        return float(number) * SECONDS[unit]

    def opened(self, log: Source, slots: int, propensity: str | None) -> Source:
        """Return the slates of a log; refuse a log that lacks columns."""
        _check_columns(log, [self.request, self.event, self.time, SLATE, ITEM])
        return EventRows(
            log.with_keys([self.request, self.event, self.time]),
            self.request,
            self.event,
            self.time,
            self.impression,
            self.click,
            self.seconds,
        )


Layout = Positions | Events


def layout_of(plain: object) -> Layout | None:
    """Return the layout that settings declare; None for one row per slate.

    >>> layout_of({"kind": "positions", "request": "request_id"})
    Positions(request='request_id')
    >>> layout_of({"kind": "position"})    # doctest: +ELLIPSIS
    Traceback (most recent call last):
    discreet.errors.ConfigError: layout must be positions or events, got 'position', did you ...
    """
    if plain is None:
        return None
    try:
        layout = admitted(Layout, plain, "layout")
    except ConfigError as error:
        text = str(error)
        raise ConfigError(text if text.startswith("layout") else f"layout: {text}") from None
    assert isinstance(layout, Positions | Events)
    return layout


def laid_out(log: Source, layout: Layout | None, *, slots: int, propensity: str | None) -> Source:
    """Return a log with one row per slate.

    Parameters
    ----------
    log
        The log, in its layout; its columns have the names of `[rename]`.
    layout
        Its layout; None: it has one row per slate already.
    slots
        The number of items of a slate.
    propensity
        The column with propensities; None without one.

    Raises
    ------
    ConfigError
        If the log lacks columns, or can be read only once and the layout requires two readings.
    """
    return log if layout is None else layout.opened(log, slots, propensity)


def _check_columns(log: Source, names: list[str]) -> None:
    """Refuse a log that lacks columns of its layout."""
    header = log.columns
    missing = [name for name in names if name not in header]
    if missing:
        raise ConfigError(
            f"layout: {log.name} lacks the columns {', '.join(missing)}; "
            "[rename] gives a column another name"
        )
