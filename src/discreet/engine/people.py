"""People who return: only the first round that a person opens in a block counts.

Which round counts is fixed when rounds are opened, never by who answers: a person who was silent in
one round and answered in another would otherwise move two entries of the aggregates, where one is
accounted for.

People are named by a text or a whole number. Only digests are stored, under a secret key of the
block, while the block is open: about 120 bytes per person, and as much per round that does not
count.

Guarantee   docs/guarantees/returning.md, Theorem 1
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from unicodedata import normalize

import numpy as np

from discreet.arrays import Integers, Mask
from discreet.engine.snapshot import PeopleState
from discreet.entries import WHOLE, entries_of, listed, plain_entry
from discreet.errors import ConfigError

Name = bytes | None
"""The person of a round: a name, `NOBODY` if the round must not count, None if unnamed."""
NOBODY = b""
"""Name of a round whose person should have been named, and was not."""
MOST_BITS = 2048
"""Whole numbers of at least this many bits are no names."""
MOST_CHARACTERS = 1000
"""Longer texts, other than ASCII, are no names: their normal form may take quadratic time."""
FLOAT = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?([eE]\+[0-9]+)?")
"""Whole numbers as texts, as floats of a column with missing values."""


@dataclass(frozen=True)
class Entered:
    """What opening some rounds has changed: new people's digests, and silent rounds."""

    people: list[bytes]
    silent: list[int]


class People:
    """The people who have opened rounds of the current block.

    >>> people = People(bytes(16))
    >>> entered = people.enter(0, names_of(["ann", 7, "ann", "7"], 4, keyed=True))
    >>> people.counting(np.arange(4))
    array([ True,  True, False, False])
    """

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._keyed = blake2b(key=key, digest_size=16)
        self._seen: set[bytes] = set()
        self._silent: set[int] = set()

    @classmethod
    def restored(cls, state: PeopleState) -> "People":
        """Return the people of a stored state."""
        people = cls(state.key)
        people._seen = {row.tobytes() for row in state.digests}
        people._silent = set(state.silent.tolist())
        return people

    def state(self) -> PeopleState | None:
        """Return the digests and silent rounds for the journal; None if there are none."""
        if not self._seen and not self._silent:
            return None
        digests = np.frombuffer(b"".join(sorted(self._seen)), dtype=np.uint8).reshape(-1, 16)
        return PeopleState(self._key, digests, np.array(sorted(self._silent), dtype=np.int64))

    def digest(self, name: bytes) -> bytes:
        """Return the keyed digest of a name."""
        keyed = self._keyed.copy()
        keyed.update(name)
        return keyed.digest()

    def enter(self, first: int, names: Sequence[Name]) -> Entered:
        """Note that these people open the rounds from `first` on, in this order."""
        seen = self._seen
        new = []
        silent = []
        for round, name in enumerate(names, first):
            if name is None:
                continue
            digest = self.digest(name) if name else NOBODY
            if digest and digest not in seen:
                seen.add(digest)
                new.append(digest)
            else:
                silent.append(round)
        self._silent.update(silent)
        return Entered(new, silent)

    def leave(self, entered: Entered) -> None:
        """Undo `enter`: these rounds were refused, and never opened."""
        self._seen.difference_update(entered.people)
        self._silent.difference_update(entered.silent)

    def counts(self, round: int) -> bool:
        """Return whether feedback of this round counts."""
        return round not in self._silent

    def counting(self, rounds: Integers) -> Mask:
        """Return for each of many rounds whether its feedback counts."""
        silent = self._silent
        return np.array([round not in silent for round in rounds.tolist()], dtype=np.bool_)


def name_of(person: object, *, keyed: bool) -> Name:
    """Return the name of the person who opens one round; raise `ConfigError` if it is none."""
    if person is None and not keyed:
        return None
    if person is None:
        raise ConfigError(
            "every round must name its person (keyed): pass person=, a text or whole number"
        )
    name = _written(person)
    if not name:
        raise ConfigError("a person must be named by a text or a whole number")
    return name


def names_of(persons: object, count: int, *, keyed: bool) -> list[Name] | None:
    """Return the names of the people who open `count` rounds; None if they are not named.

    A person without a name, or whose name is neither a text nor a whole number, adds nothing. Where
    rounds need not name their person, the round of a person named None is unnamed and counts.
    Containers are refused for their type and length only: one entry may decide an array's dtype.
    """
    if persons is None and not keyed:
        return None
    if persons is None:
        raise ConfigError("every round must name its person (keyed): pass persons=, one per round")
    persons = entries_of(persons, with_nulls=True)
    if isinstance(persons, np.ndarray):
        persons = listed(persons) if persons.ndim else None
    if not isinstance(persons, list | tuple) or len(persons) != count:
        raise ConfigError(
            f"persons must be a list of {count} texts or whole numbers, one per round"
        )
    return each_name(persons, keyed=keyed)


def each_name(persons: Sequence[object], *, keyed: bool) -> list[Name]:
    """Return the name of each person; `NOBODY` for one who is not named as they should be."""
    unknown = NOBODY if keyed else None
    return [unknown if person is None else _written(person) for person in persons]


def _written(person: object) -> bytes:
    """Return a text or a whole number as bytes, `NOBODY` for anything else.

    7, 7.0 (from a column with missing values), "7", " 7", "7.0" and "007" are the same person: to
    take two people for one is safe, to take one for two is not.
    """
    person = plain_entry(person)
    if type(person) is str:
        if len(person) > MOST_CHARACTERS and not person.isascii():
            return NOBODY
        text = normalize("NFC", person.strip())
        if WHOLE.fullmatch(text):
            return _canonical(text).encode()
        if not FLOAT.fullmatch(text) or not float(text).is_integer():
            return text.encode("utf-8", "surrogatepass")
        person = plain_entry(float(text))
    return b"%d" % person if type(person) is int and person.bit_length() < MOST_BITS else NOBODY


def _canonical(text: str) -> str:
    """Return a whole number in digits without a plus sign and leading zeros."""
    digits = text.lstrip("+-").lstrip("0") or "0"
    is_negative = text[0] == "-" and digits != "0"
    return f"-{digits}" if is_negative else digits
