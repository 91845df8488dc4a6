"""Logs of events, impressions and clicks that share an id, read as one row per impression.

    time      request  event  slate      item          slate      click
    12:00:00  a7       view   soap tea                 soap tea   tea
    12:00:09  b2       view   milk rope         →      milk rope
    12:00:31  a7       click             tea

A click counts if it has the id of an impression, its item is on the slate, and its time is at most
`wait` after that of the impression. The first such click in the log counts. Rows are in the order
of the impressions, with the other columns of the impression. The log is read twice: first the
clicks, which are held in memory (40 bytes per click), then the impressions, in batches.

A request is one person. The number and the order of rows, the ids and the kinds of events are
public, the word of the operator's logger; all other cells are that person's. Each impression is one
row, whatever is in its cells; that row depends on the rows of its id only. An impression without an
id, a slate or a readable time gives a blank row, an empty slate without a click. A click without
a readable time or item does not count. If several impressions have one id, the clicks are those of
the first, whatever is in its cells, and the others give blank rows if there are clicks: no cell of
one of them can move a click to another. In a text file a line that cannot be read keeps its id and
its event, which are the first columns (`Source.with_keys`). In JSON lines, they
should be the first keys.

An impression at the end of the log may not have got its click yet: write the log when the waiting
time of its last impression is over.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from math import isfinite

import numpy as np
import polars

from discreet.arrays import Floats, Integers
from discreet.entries import cells_of
from discreet.errors import ConfigError
from discreet.records.json_lines import AnyName
from discreet.records.log_cells import key_text, names_in
from discreet.records.positions import CLICK, ITEM, REWARD, SLATE
from discreet.records.sources import Source
from discreet.records.table import LogTable

HIDDEN = (ITEM, REWARD)
"""Columns of other names, or without a meaning for an impression."""
DIGEST = 16
"""Bytes by which ids and items are compared."""
EXACT = 6
"""Decimals of a difference of times, in seconds: stamps are exact to a microsecond."""


@dataclass(frozen=True, eq=False)
class _Clicks:
    """All clicks of a log, in order of their ids' digests, those of one id in order of the log."""

    ids: np.ndarray
    items: np.ndarray
    times: Floats
    is_taken: np.ndarray
    """Whether an impression had the id of this click; set at the first click of an id."""

    @classmethod
    def of(cls, ids: list[bytes], items: list[bytes], times: list[Floats]) -> "_Clicks":
        """Return the clicks with these digests, one text of them per batch."""
        found = np.frombuffer(b"".join(ids), dtype=f"S{DIGEST}")
        order = np.argsort(found, kind="stable")
        all_items = np.frombuffer(b"".join(items), dtype=f"V{DIGEST}")[order]
        all_times = np.concatenate([np.empty(0), *times])[order]
        return cls(found[order], all_items, all_times, np.zeros(len(order), dtype=np.bool_))

    def places(self, ids: Sequence[bytes]) -> tuple[Integers, Integers]:
        """Return where the clicks of each id begin and end."""
        wanted = np.array(ids, dtype=f"S{DIGEST}")
        return np.searchsorted(self.ids, wanted, "left"), np.searchsorted(self.ids, wanted, "right")

    def first(self, begin: int, end: int, slate: str, since: float, wait: float) -> str | None:
        """Return the first item of these clicks that is on the slate, in time; None for none."""
        with np.errstate(all="ignore"):  # a warning would reveal a person's data
            later = np.round(self.times[begin:end] - since, EXACT)
        shown = {_digest(name): name for name in names_in(slate)}
        for place in np.flatnonzero((later >= 0) & (later <= wait)):
            item = shown.get(self.items[begin + place].tobytes())
            if item is not None:
                return item
        return None


@dataclass(frozen=True, eq=False)
class EventRows(Source):
    """A log of impressions and clicks, as a table with one row per impression.

    Parameters
    ----------
    source
        The log, with the request and the event among its keys.
    request, event, time
        The columns with the id, the kind and the time of an event.
    impression, click
        The kinds of events that are read; others are left out.
    wait
        The largest time from an impression to its click, in seconds.
    """

    source: Source
    request: str
    event: str
    time: str
    impression: str
    click: str
    wait: float

    def __post_init__(self) -> None:
        if not self.source.is_rereadable:
            raise ConfigError(
                "a log of events is read twice, and this table can be read only once: "
                "write it to a file first"
            )

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.source.name

    @property
    def columns(self) -> list[str]:
        header = self.source.columns
        if isinstance(header, AnyName):
            return AnyName(without=HIDDEN)
        return [*(name for name in header if name not in (*HIDDEN, CLICK)), CLICK]

    def count(self) -> int | None:
        return None

    def frames(self, names: Sequence[str]) -> Iterator[polars.DataFrame]:
        clicks = self._clicks()
        beside = [name for name in names if name not in (SLATE, CLICK)]
        read = [self.request, self.event, self.time, SLATE, *beside]
        for frame in self._events(self.impression, read):
            slates, clicked = self._joined(frame, clicks)
            made = {
                SLATE: polars.Series(SLATE, slates, dtype=polars.Object),
                CLICK: polars.Series(CLICK, clicked, dtype=polars.Object),
            }
            yield polars.DataFrame([made[name] if name in made else frame[name] for name in names])

    def _events(self, kind: str, names: Sequence[str]) -> Iterator[polars.DataFrame]:
        """Yield the events of one kind, with these columns."""
        for frame in self.source.frames(list(dict.fromkeys(names))):
            found = [key_text(value) == kind for value in cells_of(frame[self.event])]
            if any(found):
                yield frame.filter(polars.Series(found))

    def _clicks(self) -> _Clicks:
        """Read all clicks that have an id, an item and a time."""
        ids: list[bytes] = []
        items: list[bytes] = []
        times: list[Floats] = []
        for frame in self._events(self.click, [self.request, self.event, self.time, ITEM]):
            keys = [key_text(value) for value in cells_of(frame[self.request])]
            names = [key_text(value) for value in cells_of(frame[ITEM])]
            ids.append(b"".join(_digest(key) for key in keys))
            items.append(b"".join(_digest(name) for name in names))
            times.append(LogTable(frame).seconds(self.time))
        return _Clicks.of(ids, items, times)

    def _joined(
        self, frame: polars.DataFrame, clicks: _Clicks
    ) -> tuple[list[str], list[str | None]]:
        """Return the slate and the click of each impression; "" and None for a blank row."""
        keys = [key_text(value) for value in cells_of(frame[self.request])]
        slates = LogTable(frame).texts(SLATE)
        times = LogTable(frame).seconds(self.time).tolist()
        begins, ends = clicks.places([_digest(key) for key in keys])
        clicked: list[str | None] = [None] * len(keys)
        for row, (begin, end) in enumerate(zip(begins.tolist(), ends.tolist(), strict=True)):
            is_taken = begin < end and bool(clicks.is_taken[begin])
            clicks.is_taken[begin : min(begin + 1, end)] = True
            if keys[row] is None or not isfinite(times[row]) or is_taken:
                slates[row] = ""
            elif begin < end:
                clicked[row] = clicks.first(begin, end, slates[row], times[row], self.wait)
        return slates, clicked


def _digest(text: str | None) -> bytes:
    """Return a short digest of a text; of an empty cell, one that no text has."""
    content = b"" if text is None else b"=" + text.encode(errors="surrogatepass")
    return blake2b(content, digest_size=DIGEST).digest()
