"""Rounds that wait for feedback, with what came with their questions.

Rounds opened one by one lie in a dictionary; rounds opened together are one group, with a flag per
round. A round is found by bisection, and a group from which most rounds have gone is copied without
them, so n answers take O(n log n) in whatever order they come. For the journal, rounds that were
opened one by one become groups too: a checkpoint writes a few arrays, not one entry per open round.
"""

from bisect import bisect_right
from collections.abc import Iterable
from operator import attrgetter

import numpy as np

from discreet.arrays import Integers, Mask
from discreet.engine.request import EMPTY_REQUEST, Request
from discreet.engine.snapshot import OpenRounds
from discreet.errors import StateError

FIRST = attrgetter("first")
STRETCH = 1024
"""Neighbouring groups of up to this many rounds in all are joined."""


class _Group:
    """Rounds in ascending order, a flag for each that still waits, and what came with their
    questions.
    """

    __slots__ = ("first", "is_run", "left", "request", "rounds", "waits")

    def __init__(self, rounds: Integers, request: Request) -> None:
        self.rounds = rounds
        self.request = request
        self.first = int(rounds[0])
        self.is_run = int(rounds[-1]) - self.first + 1 == len(rounds)
        self.waits = np.ones(len(rounds), dtype=np.bool_)
        self.left = len(rounds)
        """How many wait; too many after an interrupt, never too few."""

    def place(self, round: int) -> int:
        """Where a round stands, or would stand."""
        return round - self.first if self.is_run else int(self.rounds.searchsorted(round))

    def places(self, rounds: Integers) -> Integers:
        """The same for many rounds."""
        return rounds - self.first if self.is_run else self.rounds.searchsorted(rounds)

    def is_waiting(self, round: int) -> bool:
        """Whether this round is here and waits."""
        place = self.place(round)
        return place < len(self.rounds) and bool(self.rounds[place] == round and self.waits[place])

    @property
    def open(self) -> tuple[Integers, Request]:
        """The rounds that wait, and what came with their questions."""
        if self.waits.all():
            return self.rounds, self.request
        return self.rounds[self.waits], self.request[self.waits]


class Waiting:
    """The open rounds of one block.

    Whatever takes rounds out clears their flags first, so that an interrupt never leaves a round to
    be counted twice. The groups are in ascending order, and below all rounds that lie in the
    dictionary.
    """

    def __init__(self, open: Iterable[OpenRounds] = ()) -> None:
        self._alone: dict[int, Request] = {}
        self._groups: list[_Group] = []
        self._touched: list[_Group] = []
        """Groups that rounds were taken from, to be cleaned up when that cannot be undone any
        more.
        """
        for part in sorted(open, key=lambda part: int(part.edges[0])):
            request = EMPTY_REQUEST
            if part.context is not None or part.available is not None:
                request = Request(part.context, part.available)
            self._groups.append(_Group(part.rounds, request))

    def __contains__(self, round: int) -> bool:
        group = self._group(round)
        return round in self._alone or (group is not None and group.is_waiting(round))

    # --- opening and closing ----------------------------------------------------------------------

    def add(self, round: int, request: Request) -> None:
        """One round waits, a later one than all before."""
        self._alone[round] = request

    def add_many(self, rounds: Integers, request: Request) -> None:
        """Many rounds wait, in ascending order, all later than those before."""
        self._settle()
        self._append(_Group(rounds, request))

    def take(self, round: int) -> Request:
        """Take a round out, and give what came with its question; `StateError` if it does not
        wait.
        """
        request = self._alone.pop(round, None)
        if request is not None:
            return request
        self._sweep()
        group = self._group(round)
        if group is None or not group.is_waiting(round):
            raise _not_open(round)
        place = group.place(round)
        group.waits[place] = False
        group.left -= 1
        self._touched.append(group)
        return group.request.row(place)

    def take_many(self, rounds: Integers) -> Request:
        """Take rounds out, all or none; what came with their questions is in the order of the
        rounds.
        """
        order, ascending = None, rounds
        if (rounds[1:] <= rounds[:-1]).any():
            order = np.argsort(rounds)
            ascending = rounds[order]
            if (ascending[1:] == ascending[:-1]).any():
                raise StateError("a round stands twice among the tickets: hand in each once")
        self._settle()
        found: list[tuple[_Group, Integers]] = []
        parts: list[tuple[Integers, Request]] = []
        begin = 0
        while begin < len(ascending):
            group, end = self._group(int(ascending[begin])), begin
            if group is not None:
                end = int(ascending.searchsorted(group.rounds[-1], side="right"))
            if group is None or end == begin:
                raise _not_open(int(ascending[begin]))
            here = ascending[begin:end]
            places = group.places(here)
            fine = (group.rounds[places] == here) & group.waits[places]
            if not fine.all():
                raise _not_open(int(here[~fine][0]))
            found.append((group, places))
            parts.append(
                (
                    np.arange(begin, end) if order is None else order[begin:end],
                    group.request[places],
                )
            )
            begin = end
        for group, places in found:
            group.waits[places] = False
            group.left -= len(places)
            self._touched.append(group)
        request = _joined(parts, len(rounds))
        if order is not None and len(parts) == 1:
            request = request[np.argsort(order)]
        return request

    def put_back(self, round: int, request: Request) -> None:
        """The round waits after all: the inverse of the last `take`."""
        group = self._group(round)
        if group is not None and round <= group.rounds[-1]:
            self.put_back_many(np.array([round]))
        else:
            self._alone[round] = request

    def put_back_many(self, rounds: Integers) -> None:
        """These rounds wait after all: the inverse of the last `take_many`."""
        for group in self._touched:
            here = rounds[(rounds >= group.first) & (rounds <= group.rounds[-1])]
            group.waits[group.places(here)] = True
            group.left += len(here)

    # --- keeping ----------------------------------------------------------------------------------

    def state(self) -> tuple[OpenRounds, ...]:
        """All that wait, for the journal."""
        self._settle()
        groups: list[_Group] = []
        for group in self._groups:
            if groups and _fit(groups[-1], group):
                groups[-1] = _together(groups[-1], group)
            elif group.left:
                groups.append(group)
        self._groups = groups
        opened = [group.open for group in groups]
        return tuple(
            OpenRounds.of(rounds, request.context, request.available)
            for rounds, request in opened
            if len(rounds)
        )

    # --- groups -----------------------------------------------------------------------------------

    def _group(self, round: int) -> _Group | None:
        """The one group that this round may lie in."""
        at = bisect_right(self._groups, round, key=FIRST)
        return self._groups[at - 1] if at else None

    def _settle(self) -> None:
        """Make a group of the rounds that were opened one by one."""
        self._sweep()
        if not self._alone:
            return
        rounds = sorted(self._alone)  # one that was put back stands at the end
        questions = [self._alone[round] for round in rounds]
        request = EMPTY_REQUEST
        if any(question is not EMPTY_REQUEST for question in questions):
            parts = [(np.array([place]), question) for place, question in enumerate(questions)]
            request = _joined(parts, len(rounds))
        group = _Group(np.array(rounds, dtype=np.int64), request)
        self._alone = {}  # first: whatever interrupts this, no round stands in both places
        self._append(group)

    def _append(self, group: _Group) -> None:
        if self._groups and _fit(self._groups[-1], group):
            self._groups[-1] = _together(self._groups[-1], group)
        else:
            self._groups.append(group)

    def _sweep(self) -> None:
        """Copy groups from which most rounds have gone without these, so that their questions go
        too.
        """
        touched, self._touched = self._touched, []
        for group in touched:
            if 2 * group.left > len(group.rounds):
                continue
            at = bisect_right(self._groups, group.first, key=FIRST) - 1
            rounds, request = group.open
            self._groups[at : at + 1] = [_Group(rounds, request)] if len(rounds) else []


def _not_open(round: int) -> StateError:
    return StateError(f"round {round} is not open: it has its feedback, or was never asked for")


def _fit(group: _Group, other: _Group) -> bool:
    """Whether two neighbours are small enough to be joined."""
    return group.left + other.left <= STRETCH


def _together(group: _Group, other: _Group) -> _Group:
    """One group of all that wait in two."""
    (rounds, request), (more, beside) = group.open, other.open
    count = len(rounds) + len(more)
    parts = [(np.arange(len(rounds)), request), (np.arange(len(rounds), count), beside)]
    filled = [part for part in parts if len(part[0])]
    if not filled:
        return group
    return _Group(np.concatenate([rounds, more]), _joined(filled, count))


def _joined(parts: list[tuple[Integers, Request]], count: int) -> Request:
    """What came with questions that were asked in different calls, one row per round."""
    if all(request.context is None and request.available is None for _, request in parts):
        return EMPTY_REQUEST
    if len(parts) == 1:
        return parts[0][1]
    contexts, masks = None, None
    for places, request in parts:
        if request.context is not None:
            contexts = np.zeros((count, request.context.shape[1])) if contexts is None else contexts
            contexts[places] = request.context
        if request.available is not None:
            masks = _all_available(count, request.available) if masks is None else masks
            masks[places] = request.available
    return Request(contexts, masks)


def _all_available(count: int, mask: Mask) -> Mask:
    return np.ones((count, mask.shape[-1]), dtype=np.bool_)
