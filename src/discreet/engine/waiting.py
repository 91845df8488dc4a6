"""Open rounds: those that wait for feedback, with their requests.

Rounds opened one by one are in a dictionary; rounds opened together are one group, with a flag per
round. A round is found by bisection, and a group most of whose rounds are closed is replaced by a
copy without these, so n answers take O(n log n) in any order. For the journal, rounds that were
opened one by one become groups too: a checkpoint writes a few arrays, not one entry per open round.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from discreet.arrays import Integers, Mask
from discreet.engine.request import EMPTY_REQUEST, Request
from discreet.engine.snapshot import OpenRounds

FIRST = attrgetter("first")
MOST_JOINED = 1024
"""Adjacent groups with at most this many open rounds in all are joined."""


class _Part(NamedTuple):
    """The request of some rounds, and their places in a larger one."""

    places: Integers
    request: Request


class Taken(NamedTuple):
    """Which of many rounds waited, and the request of those, in their order."""

    waited: Mask
    request: Request


class _Group:
    """Rounds in ascending order, a flag per round that still waits, and their request."""

    __slots__ = ("first", "is_run", "left", "request", "rounds", "waits")

    def __init__(self, rounds: Integers, request: Request) -> None:
        self.rounds = rounds
        self.request = request
        self.first = int(rounds[0])
        self.is_run = int(rounds[-1]) - self.first + 1 == len(rounds)
        self.waits = np.ones(len(rounds), dtype=np.bool_)
        self.left = len(rounds)
        """Number of rounds that wait; after an interrupt it may be too large, never too small."""

    def place(self, round: int) -> int:
        """Return the place of a round in this group, or where it would be inserted."""
        return round - self.first if self.is_run else int(self.rounds.searchsorted(round))

    def places(self, rounds: Integers) -> Integers:
        """Return the places of many rounds."""
        return rounds - self.first if self.is_run else self.rounds.searchsorted(rounds)

    def is_waiting(self, round: int) -> bool:
        """Return whether this group has the round, and it waits."""
        place = self.place(round)
        return place < len(self.rounds) and bool(self.rounds[place] == round and self.waits[place])

    @property
    def open(self) -> tuple[Integers, Request]:
        """The rounds that wait, and their request."""
        if self.waits.all():
            return self.rounds, self.request
        return self.rounds[self.waits], self.request[self.waits]


class Waiting:
    """The open rounds of one block.

    Every method that takes rounds out clears their flags first, so that an interrupt never leaves a
    round to be counted twice. The groups are in ascending order, and before all rounds in the
    dictionary.
    """

    def __init__(self, open: Iterable[OpenRounds] = ()) -> None:
        self._alone: dict[int, Request] = {}
        self._groups: list[_Group] = []
        self._touched: list[_Group] = []
        """Groups that rounds were taken from, to be compacted once that cannot be undone."""
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
        """Add one round, which is later than all before."""
        self._alone[round] = request

    def add_many(self, rounds: Integers, request: Request) -> None:
        """Add many rounds in ascending order, all later than those before."""
        self._settle()
        self._append(_Group(rounds, request))

    def take(self, round: int) -> Request | None:
        """Take a round out, and return its request; None if it does not wait."""
        request = self._alone.pop(round, None)
        if request is not None:
            return request
        self._sweep()
        group = self._group(round)
        if group is None or not group.is_waiting(round):
            return None
        place = group.place(round)
        group.waits[place] = False
        group.left -= 1
        self._touched.append(group)
        return group.request.row(place)

    def take_many(self, rounds: Integers) -> Taken:
        """Take out those of many rounds that wait, each once, in any order.

        A round that does not wait is left out. It must not refuse the others: one person may answer
        twice, or invent a round.
        """
        self._settle()
        order = None
        ascending = rounds
        is_first: Mask | np.bool_ = np.True_
        if (rounds[1:] <= rounds[:-1]).any():
            order = np.argsort(rounds, kind="stable")
            ascending = rounds[order]
            is_first = np.append(True, ascending[1:] != ascending[:-1])
        waited = np.zeros(len(rounds), dtype=np.bool_)
        located: list[tuple[_Group, Integers]] = []
        parts: list[_Part] = []
        count = 0
        for group, begin, end in self._groups_of(ascending):
            in_group = ascending[begin:end]
            places = group.places(in_group)
            waits = (group.rounds[places] == in_group) & group.waits[places]
            waited[begin:end] = waits = waits & np.broadcast_to(is_first, len(rounds))[begin:end]
            if not waits.all():
                places = places[waits]
            if len(places):
                located.append((group, places))
                parts.append(_Part(np.arange(count, count + len(places)), group.request[places]))
                count += len(places)
        for group, places in located:
            group.waits[places] = False
            group.left -= len(places)
            self._touched.append(group)
        request = _joined(parts, count)
        if order is None:
            return Taken(waited, request)
        were_waiting = np.empty_like(waited)
        were_waiting[order] = waited
        return Taken(were_waiting, request[np.argsort(order[waited])])

    def put_back(self, round: int, request: Request) -> None:
        """Undo the last `take`: the round waits again."""
        group = self._group(round)
        if group is not None and round <= group.rounds[-1]:
            self.put_back_many(np.array([round]))
        else:
            self._alone[round] = request

    def put_back_many(self, rounds: Integers) -> None:
        """Undo the last `take_many`: the rounds wait again."""
        for group in self._touched:
            in_group = rounds[(rounds >= group.first) & (rounds <= group.rounds[-1])]
            group.waits[group.places(in_group)] = True
            group.left += len(in_group)

    # --- the journal ------------------------------------------------------------------------------

    def state(self) -> tuple[OpenRounds, ...]:
        """Return all rounds that wait, for the journal."""
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
        """Return the one group that may have this round; None if there is none."""
        after = bisect_right(self._groups, round, key=FIRST)
        return self._groups[after - 1] if after else None

    def _groups_of(self, ascending: Integers) -> Iterator[tuple[_Group, int, int]]:
        """Yield the groups that may have some of these rounds, and which part of them."""
        if not len(ascending):
            return
        after = bisect_right(self._groups, int(ascending[0]), key=FIRST)
        for group in self._groups[max(after - 1, 0) :]:
            if group.first > ascending[-1]:
                return
            begin = int(ascending.searchsorted(group.first))
            end = int(ascending.searchsorted(group.rounds[-1], side="right"))
            if begin < end:
                yield group, begin, end

    def _settle(self) -> None:
        """Make a group of the rounds that were opened one by one."""
        self._sweep()
        if not self._alone:
            return
        rounds = sorted(self._alone)  # a round that was put back is at the end
        requests = [self._alone[round] for round in rounds]
        request = EMPTY_REQUEST
        if any(single is not EMPTY_REQUEST for single in requests):
            parts = [_Part(np.array([place]), single) for place, single in enumerate(requests)]
            request = _joined(parts, len(rounds))
        group = _Group(np.array(rounds, dtype=np.int64), request)
        self._alone = {}  # first: even after an interrupt, no round is in both places
        self._append(group)

    def _append(self, group: _Group) -> None:
        if self._groups and _fit(self._groups[-1], group):
            self._groups[-1] = _together(self._groups[-1], group)
        else:
            self._groups.append(group)

    def _sweep(self) -> None:
        """Replace groups most of whose rounds are closed by copies without these."""
        touched, self._touched = self._touched, []
        for group in touched:
            if 2 * group.left > len(group.rounds):
                continue
            place = bisect_right(self._groups, group.first, key=FIRST) - 1
            rounds, request = group.open
            self._groups[place : place + 1] = [_Group(rounds, request)] if len(rounds) else []


def _fit(group: _Group, other: _Group) -> bool:
    """Return whether two adjacent groups are small enough to be joined."""
    return group.left + other.left <= MOST_JOINED


def _together(group: _Group, other: _Group) -> _Group:
    """Return one group of all rounds that wait in two adjacent ones."""
    first_rounds, first_request = group.open
    second_rounds, second_request = other.open
    boundary = len(first_rounds)
    count = boundary + len(second_rounds)
    parts = [
        _Part(np.arange(boundary), first_request),
        _Part(np.arange(boundary, count), second_request),
    ]
    filled = [part for part in parts if len(part.places)]
    if not filled:
        return group
    return _Group(np.concatenate([first_rounds, second_rounds]), _joined(filled, count))


def _joined(parts: list[_Part], count: int) -> Request:
    """Return one request, with one row per round, for questions of different calls."""
    if all(part.request.context is None and part.request.available is None for part in parts):
        return EMPTY_REQUEST
    if len(parts) == 1:
        return parts[0].request
    contexts = None
    masks = None
    for places, request in parts:
        if request.context is not None:
            if contexts is None:
                contexts = np.zeros((count, request.context.shape[1]))
            contexts[places] = request.context
        if request.available is not None:
            if masks is None:
                masks = _all_available(count, request.available)
            masks[places] = request.available
    return Request(contexts, masks)


def _all_available(count: int, mask: Mask) -> Mask:
    return np.ones((count, mask.shape[-1]), dtype=np.bool_)
