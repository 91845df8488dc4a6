"""Whose round it is: of a person's rounds in one block, only the first one that they open counts.

Which one counts is fixed when rounds are opened, never by who answers: a person who kept silent in
one round and answered in another would otherwise move two places of what is aggregated, where one
is accounted for.

People are named by a text or a whole number. Only digests are kept, under a secret key of the
block, while the block is open: about 120 bytes a person, and as much for a round that does not
count.

Guarantee   docs/guarantees/returning.md, Theorem 1
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from types import NoneType
from typing import Any
from unicodedata import normalize

import numpy as np

from discreet.arrays import Integers, Mask
from discreet.engine.snapshot import PeopleState
from discreet.errors import ConfigError

Name = bytes | None
"""Whose round it is: a name, `NOBODY` if it must not count, None if nobody said."""
NOBODY = b""
"""Of a round whose person should have been named, and was not."""
KINDS = (str, int, float, np.generic, NoneType)
"""What a name, or what stands in its place, may be."""
MOST_BITS = 2048
"""Of a whole number that names somebody; a longer one is no name."""
EXACT: dict[type, int] = {np.float16: 2**11, np.float32: 2**24, float: 2**53}
"""Floats from here on stand for several whole numbers each, so they are no names."""
WHOLE = re.compile(r"[+-]?[0-9]+")
FLOAT = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?([eE]\+[0-9]+)?")
"""How whole numbers are written as texts, by themselves and in a column that has missing values."""


@dataclass(frozen=True)
class Entered:
    """What opening some rounds changed: people who had none before, and rounds that do not
    count.
    """

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
        """The inverse of `state`."""
        people = cls(state.key)
        people._seen = {row.tobytes() for row in state.digests}
        people._silent = set(state.silent.tolist())
        return people

    def state(self) -> PeopleState | None:
        """Everything here, for the journal; None if there is nothing."""
        if not self._seen and not self._silent:
            return None
        digests = np.frombuffer(b"".join(sorted(self._seen)), dtype=np.uint8).reshape(-1, 16)
        return PeopleState(self._key, digests, np.array(sorted(self._silent), dtype=np.int64))

    def digest(self, name: bytes) -> bytes:
        """What a name is known by here."""
        keyed = self._keyed.copy()
        keyed.update(name)
        return keyed.digest()

    def enter(self, first: int, names: Sequence[Name]) -> Entered:
        """Rounds from `first` on are opened by these people, in this order."""
        seen, new, silent = self._seen, [], []
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
        """These rounds were refused after all, and never opened."""
        self._seen.difference_update(entered.people)
        self._silent.difference_update(entered.silent)

    def counts(self, round: int) -> bool:
        """Whether feedback of this round is added."""
        return round not in self._silent

    def counting(self, rounds: Integers) -> Mask:
        """The same, for many rounds."""
        silent = self._silent
        return np.array([round not in silent for round in rounds.tolist()], dtype=np.bool_)


def name_of(person: Any, *, keyed: bool) -> Name:
    """The name of the person who opens one round; a mistake is refused."""
    if person is None and not keyed:
        return None
    if person is None:
        raise ConfigError(
            "every round must name its person (keyed): hand in person=, a text or whole number"
        )
    name = _written(person)
    if not name:
        raise ConfigError("a person must be named by a text or a whole number")
    return name


def names_of(persons: Any, count: int, *, keyed: bool) -> list[Name] | None:
    """The names of the people who open so many rounds; None if they are not named.

    Whoever is not named, or by something else than a text or a whole number, adds nothing; where
    rounds need not name their person, None says that nobody knows whose it is, and the round
    counts. If all are named by things of other kinds, that is a mistake of the program, and
    refused.
    """
    if persons is None and not keyed:
        return None
    if persons is None:
        raise ConfigError("every round must name its person (keyed): hand in persons=, one a round")
    if hasattr(persons, "to_numpy"):
        persons = persons.to_numpy()
    if isinstance(persons, np.ndarray):  # of short floats, each stays what it is: see `EXACT`
        persons = (
            list(persons) if persons.ndim and persons.dtype.type in EXACT else persons.tolist()
        )
    if not isinstance(persons, list | tuple) or len(persons) != count:
        raise ConfigError(f"persons must be a list of {count} texts or whole numbers, one a round")
    unknown = NOBODY if keyed else None
    names = [unknown if person is None else _written(person) for person in persons]
    if not any(names) and not all(isinstance(person, KINDS) for person in persons):
        raise ConfigError("persons must be texts or whole numbers, and none of these is")
    return names


def _written(person: object) -> bytes:
    """A text or a whole number as bytes, `NOBODY` for anything else.

    7, 7.0 (as a column with missing values holds it), "7", " 7", "7.0" and "007" are the same
    person: to take two people for one is safe, to take one for two is not.
    """
    kind = type(person)
    if isinstance(person, np.generic):
        person = person.item()
    if type(person) is str:
        text = normalize("NFC", person.strip())
        if WHOLE.fullmatch(text):
            digits = text.lstrip("+-").lstrip("0") or "0"
            return (digits if text[0] != "-" or digits == "0" else f"-{digits}").encode()
        if not FLOAT.fullmatch(text) or not float(text).is_integer():
            return text.encode("utf-8", "surrogatepass")
        person = float(text)
    if type(person) is float:
        most = EXACT.get(kind, EXACT[float])
        person = int(person) if person.is_integer() and abs(person) < most else None
    return b"%d" % person if type(person) is int and person.bit_length() < MOST_BITS else NOBODY
