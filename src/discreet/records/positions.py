"""Logs with one row per position of a slate, read as one row per slate.

    request  item   position  click  propensity          slate             click  propensity
    a7       soap   1         0      0.2                 ["soap", "tea"]   tea    [0.2, 0.1]
    a7       tea    2         1      0.1          →      ["milk", "rope"]         [0.1, 0.3]
    b2       milk   1         0      0.1
    b2       rope   2         0      0.3

Rows belong to one request while the cells of the column `request` stay equal: an id, or a time
stamp where no two requests share one. Places are in the order of `position`, which counts from any
number. The click is the first clicked item by position, and the reward is the sum over the rows.
Propensities are one number per position. All other columns have the value of the first row.

A request is one person. The number and the order of rows and the ids are public, the word of the
operator's logger; all other cells are that person's. The row of a request depends on its own rows
only: if one of them is malformed (an item, a position, an answer or a propensity), if two have the
same position, or if there are more than MOST_PLACES, its row is blank, an empty slate without an
answer. It still is a row, so neither the number nor the content of other rows changes. A row
without an id is a request of its own, and blank. In a text file a line that cannot be read keeps
its id, which is the first column (`Source.with_keys`). In JSON lines, the id
should be the first key.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import NamedTuple

import polars

from discreet.arrays import Floats
from discreet.entries import cells_of
from discreet.records.json_lines import AnyName
from discreet.records.log_cells import item_text, key_text
from discreet.records.sources import Source
from discreet.records.table import LogTable

ITEM, POSITION, CLICK, REWARD, SLATE = "item", "position", "click", "reward", "slate"
"""Names of columns."""
MOST_PLACES = 1000
"""The largest number of rows of a request; a longer request is blank, so memory stays bounded."""
LONGEST_ITEM = 1000
"""The largest number of characters of an item; a longer one is malformed."""
CLICKS = {"true": 1.0, "false": 0.0, "": 0.0}
"""Texts of answers that are no numbers; an empty cell is no click."""


class _Place(NamedTuple):
    """One row of the log: an item at a position, with its answer."""

    position: float
    item: str
    click: bool
    reward: float
    propensity: float


@dataclass
class _Request:
    """The rows of one request that were read so far."""

    key: str | None
    first: int
    """The number of its first row in the present frame."""
    beside: polars.DataFrame | None = None
    """Other columns of its first row, if that is in an earlier frame."""
    places: list[_Place | None] = field(default_factory=list)
    """Its rows, None for a malformed one; at most one more than MOST_PLACES."""

    def add(self, place: _Place | None) -> None:
        if len(self.places) <= MOST_PLACES:
            self.places.append(place)

    @property
    def slate(self) -> list[_Place]:
        """The places in order; empty for a blank row."""
        places = [place for place in self.places if place is not None]
        is_whole = len(places) == len(self.places) <= MOST_PLACES
        if not is_whole or len({place.position for place in places}) < len(places):
            return []
        return sorted(places)


@dataclass(frozen=True, eq=False)
class PositionRows(Source):
    """A log with one row per position, as a table with one row per slate.

    Parameters
    ----------
    source
        The log, with the request among its keys.
    request
        The column that is equal in all rows of a request; None: every row is a slate of one item,
        and its position is not read.
    propensity
        The column with the propensity of each place; None without one.
    """

    source: Source
    request: str | None
    propensity: str | None

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.source.name

    @property
    def columns(self) -> list[str]:
        header = self.source.columns
        if isinstance(header, AnyName):
            return AnyName(without=(ITEM, POSITION))
        return [SLATE, *(name for name in header if name not in (ITEM, POSITION, SLATE))]

    @property
    def is_rereadable(self) -> bool:
        return self.source.is_rereadable

    def count(self) -> int | None:
        return self.source.count() if self.request is None else None

    def frames(self, names: Sequence[str]) -> Iterator[polars.DataFrame]:
        made = {SLATE, CLICK, REWARD, self.propensity}
        beside = [name for name in names if name not in made]
        keys = [] if self.request is None else [self.request, POSITION]
        cells = [ITEM, *(name for name in names if name in made and name != SLATE)]
        current: _Request | None = None
        for frame in self.source.frames(list(dict.fromkeys([*keys, *cells, *beside]))):
            done: list[_Request] = []
            rows = zip(self._keys(frame), self._places(frame, names), strict=True)
            for number, (key, place) in enumerate(rows):
                if current is None or key is None or key != current.key:
                    done += [] if current is None else [current]
                    current = _Request(key, number)
                current.add(None if key is None and self.request is not None else place)
            yield from self._finished(done, frame.select(beside), names)
            if current is not None and current.beside is None:
                current.beside = frame.select(beside)[current.first : current.first + 1]
        if current is not None:
            yield from self._finished([current], polars.DataFrame(), names)

    def _keys(self, frame: polars.DataFrame) -> list[str | None]:
        """Return the id of each row; None for an empty one, or without a column of ids."""
        if self.request is None:
            return [None] * frame.height
        return [key_text(value) for value in cells_of(frame[self.request])]

    def _places(self, frame: polars.DataFrame, names: Sequence[str]) -> list[_Place | None]:
        """Return each row as a place; None for a malformed one."""
        rows = LogTable(frame)
        count = frame.height
        items = [_item(value) for value in rows.values(ITEM)]
        positions = [0.0] * count if self.request is None else _numbers(rows, POSITION)
        clicks = _clicks(rows) if CLICK in names else [0.0] * count
        rewards = _numbers(rows, REWARD) if REWARD in names else [0.0] * count
        has_chances = self.propensity is not None and self.propensity in names
        chances = _numbers(rows, str(self.propensity)) if has_chances else [1.0] * count
        return [
            _Place(position, item, click == 1, reward, chance)
            if item is not None
            and isfinite(position)
            and click in (0.0, 1.0)
            and isfinite(reward)
            and 0 < chance <= 1
            else None
            for position, item, click, reward, chance in zip(
                positions, items, clicks, rewards, chances, strict=True
            )
        ]

    def _finished(
        self, done: list[_Request], beside: polars.DataFrame, names: Sequence[str]
    ) -> Iterator[polars.DataFrame]:
        """Yield the rows of whole requests; the first may have begun in an earlier frame."""
        if done and done[0].beside is not None:
            yield self._rows(done[:1], done[0].beside, names)
            done = done[1:]
        if done:
            firsts = [request.first for request in done]
            yield self._rows(done, beside[firsts] if beside.width else beside, names)

    def _rows(
        self, done: list[_Request], beside: polars.DataFrame, names: Sequence[str]
    ) -> polars.DataFrame:
        """Return one row per request; `beside` has their other columns."""
        slates = [request.slate for request in done]
        return polars.DataFrame([self._column(name, slates, beside) for name in names])

    def _column(
        self, name: str, slates: list[list[_Place]], beside: polars.DataFrame
    ) -> polars.Series:
        """Return one column of the rows with these slates."""
        if name == SLATE:
            items = [json.dumps([place.item for place in slate]) for slate in slates]
            return polars.Series(name, items, dtype=polars.String)
        if name == CLICK:
            # Objects: an item may have characters that a column of texts refuses.
            return polars.Series(name, list(map(_clicked, slates)), dtype=polars.Object)
        if name == REWARD:
            return polars.Series(name, list(map(_earned, slates)), dtype=polars.Float64)
        if name == self.propensity:
            chances = [json.dumps([place.propensity for place in slate]) for slate in slates]
            return polars.Series(name, chances, dtype=polars.String)
        return beside[name]


def _item(value: object) -> str | None:
    """Return an item as a text; None if it is empty or too long."""
    text = key_text(value)
    return None if text is None or len(text) > LONGEST_ITEM else text


def _numbers(rows: LogTable, name: str) -> list[float]:
    numbers: Floats = rows.numbers([name])[:, 0]
    return list(numbers.tolist())


def _clicks(rows: LogTable) -> list[float]:
    """Return 1 for a click, 0 for none, another number for a malformed cell."""
    texts = ("" if value is None else item_text(value) for value in rows.values(CLICK))
    return [
        CLICKS.get(text.lower(), number)
        for text, number in zip(texts, _numbers(rows, CLICK), strict=True)
    ]


def _clicked(slate: list[_Place]) -> str | None:
    """Return the first clicked item of a slate; None for none."""
    return next((place.item for place in slate if place.click), None)


def _earned(slate: list[_Place]) -> float | None:
    """Return the reward of a slate; None if it is blank."""
    return sum(place.reward for place in slate) if slate else None
