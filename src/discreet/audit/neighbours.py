"""Two streams that differ in one person: hostile people who react to decisions and answer late or
never.

The same lives can be led by a learner whose door records, by one whose door is forced, and by many
learners with noise of their own: the transcript audit does the former, attacks on outputs the
latter.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from discreet.arrays import Floats
from discreet.audit.cases.case import Case
from discreet.audit.doors import LOUD
from discreet.audit.hostile import STRANGE, complement, extreme_row, hostile, opposite
from discreet.engine.codec import fingerprint
from discreet.engine.problem import view_of
from discreet.learners.base import Learner


@dataclass(frozen=True)
class Neighbours:
    """A stream of people, and the same with one person replaced in the rounds that they take
    part in.
    """

    case: Case
    like: Learner
    """A learner of the settings that are put to the test."""
    changed: tuple[int, ...]
    """The replaced person's rounds."""
    seeds: tuple[int, int, int]
    """Of the people, of the person who replaces, and of what is public."""
    fates: np.ndarray
    """When each round is answered."""
    instead: str
    """What comes in place of the replaced person: another one, the opposite, or the complement."""
    strange: object
    """What nobody should bring, brought in place of the replaced person; `STRANGE` if nothing
    is.
    """
    never: bool
    """Whether who comes in place of the replaced person never answers."""
    contexts: tuple[Floats | None, Floats | None]
    """One context a round, without and with the replacement; None where learners take none."""
    loudness: int = 1
    """How many times as large as the law says the noise of transcripts is."""
    logs: tuple[list[object], list[object]] = ([], [])
    """Who is read before the first round, without and with the replacement."""
    in_log: bool = False
    """Whether a row of the log is replaced."""
    at_once: int | None = None
    """How many rounds are opened by a call, as far as a block goes; None: one, two or three."""
    owners: tuple[object, ...] | None = None
    """Whose each round is, where rounds name their person; None in it for those that do not."""
    silences: tuple[frozenset[int], frozenset[int]] = (frozenset(), frozenset())
    """Rounds in which the replaced person keeps silent, without and with the replacement."""
    steady: bool = False
    """Whether the replaced person brings the same in all their rounds: what adds up most."""

    @classmethod
    def drawn(cls, case: Case, like: Learner, generator: np.random.Generator) -> "Neighbours":
        """A pair, made up by a generator."""
        rounds = case.horizon
        several = int(generator.integers(1, min(like.settings.contributions, rounds) + 1))
        changed = sorted(generator.choice(rounds, size=several, replace=False).tolist())
        if like.settings.keyed:
            changed = _rounds_of_steps(like, generator, rounds, several)
        elif several == 1 and generator.random() < 0.5:  # short stages must not be missed
            changed = [_round_of_a_step(like, generator, rounds)]
        seeds = generator.integers(2**63, size=3)
        fates = generator.choice(["now", "now", "now", "soon", "late", "never"], size=rounds)
        if (
            generator.random() < 0.3
        ):  # nobody else: one person's weight is largest in an empty scale
            fates[:] = "never"
        fates[changed] = "now"
        instead = str(generator.choice(["other", "other", "opposite", "complement"]))
        strange: object = STRANGE
        if generator.random() < 0.2:
            strange = STRANGE[int(generator.integers(len(STRANGE)))]
        never = bool(generator.random() < 0.15)
        here = there = _hostile_contexts(case, generator)
        if here is not None and like.guarantee.notion == "joint DP" and generator.random() < 0.7:
            there, others = here.copy(), _hostile_contexts(case, generator)
            assert others is not None
            there[changed] = others[changed]
        people, other, public = (int(seed) for seed in seeds)
        logs, in_log = _logs(case, generator)
        if in_log:  # one of their rounds is a row of the log; with one round, the only one
            changed = changed[1:]
        pair = cls(
            case,
            like,
            tuple(changed),
            (people, other, public),
            fates,
            instead,
            strange,
            never,
            (here, there),
            LOUD if generator.random() < 0.5 else 1,
            logs,
            in_log,
        )
        return pair._named(generator) if like.settings.keyed else pair

    def _named(self, generator: np.random.Generator) -> "Neighbours":
        """The same, with names: others return too, and the replaced person answers in some
        rounds only.
        """
        rounds, fates = self.case.horizon, self.fates.copy()
        owners: list[object] = generator.integers(rounds, size=rounds).tolist()
        for round in self.changed:
            owners[round] = "the replaced person"
            fates[round] = generator.choice(["now", "soon"])
        for place in np.flatnonzero(generator.random(rounds) < 0.05):
            owners[place] = None
        chance = 0.4 if generator.random() < 0.5 else 0.0
        here, there = (
            frozenset(round for round in self.changed if generator.random() < chance)
            for _ in range(2)
        )
        steady = bool(generator.random() < 0.5)
        return replace(
            self, fates=fates, owners=tuple(owners), silences=(here, there), steady=steady
        )

    def alone(self) -> "Neighbours":
        """The same, but only the replaced person ever answers: what an attacker would arrange."""
        fates = np.where(np.isin(np.arange(self.case.horizon), self.changed), self.fates, "never")
        return replace(self, fates=fates, at_once=self.case.horizon)

    @property
    def contributions(self) -> int:
        """How often the replaced person takes part: rounds, and a row of the log."""
        return len(self.changed) + self.in_log

    @cached_property
    def hidden(self) -> set[int]:
        """Rounds whose decision only their own person sees: under joint privacy the replaced
        person's.
        """
        return set(self.changed) if self.like.guarantee.notion == "joint DP" else set()

    @property
    def masked(self) -> bool:
        """Whether some rounds come with a mask."""
        return True

    def prepare(self, learner: Learner) -> None:
        """Everything is drawn by now, whatever the learner does."""

    def contexts_of(self, rounds: range, *, replaced: bool) -> Floats | None:
        """One context per round, or None where learners take none."""
        contexts = self.contexts[replaced]
        return None if contexts is None else contexts[rounds.start : rounds.stop]

    def fate(self, round: int) -> str:
        """When a round is answered."""
        return str(self.fates[round])

    def silent(self, round: int, *, replaced: bool) -> bool:
        """Whether the replaced person keeps silent in a round."""
        return round in self.silences[replaced] or (
            replaced and self.never and round in self.changed
        )

    def answer(self, round: int, decision: object, *, replaced: bool) -> object:
        """What somebody answers."""
        return self._neighbour(round, decision) if replaced else self._someone(round, decision)

    def _someone(self, round: int, decision: object, seed: int | None = None) -> object:
        """Everybody reacts to the decision that they were shown, but to nothing else."""
        seed = self.seeds[0] if seed is None else seed
        words = [seed, round, int(fingerprint(np.asarray(decision))[:12], 16)]
        own = np.random.default_rng(seed if self.steady and round in self.changed else words)
        person = self.case.person(own)
        return hostile(person, decision, own) if own.random() < 0.7 else person

    def _neighbour(self, round: int, decision: object) -> object:
        if round not in self.changed:
            return self._someone(round, decision)
        if self.strange is not STRANGE:
            return self.strange
        change = {"opposite": opposite, "complement": complement}.get(self.instead)
        turned = None if change is None else change(self._someone(round, decision))
        found = self._someone(round, decision, self.seeds[1]) if turned is None else turned
        # A list in place of a tuple: the kind of a person's own container must not matter to
        # others.
        return list(found) if isinstance(found, tuple) and self.seeds[1] % 2 else found


def _logs(
    case: Case, generator: np.random.Generator
) -> tuple[tuple[list[object], list[object]], bool]:
    """Who is in the log, without and with a replaced row; in every second pair nobody is
    replaced there.
    """
    if case.log is None:
        return ([], []), False
    here = [
        case.log.person(generator) for _ in range(int(generator.integers(1, case.log.people + 1)))
    ]
    if generator.random() < 0.5:
        return (here, here), False
    there = here.copy()
    there[int(generator.integers(len(here)))] = case.log.person(generator)
    return (here, there), True


def _round_of_a_step(like: Learner, generator: np.random.Generator, rounds: int) -> int:
    """A round of a block, all blocks equally likely, as far as the plan is known from the start."""
    blocks = _steps_of(like, rounds)
    first, length = blocks[int(generator.integers(len(blocks)))] if blocks else (0, rounds)
    return first + int(generator.integers(length))


def _rounds_of_steps(
    like: Learner, generator: np.random.Generator, rounds: int, several: int
) -> list[int]:
    """Rounds of one person in so many blocks, one or some in each."""
    blocks = _steps_of(like, rounds)
    found: list[int] = []
    for block in generator.choice(len(blocks), size=min(several, len(blocks)), replace=False):
        first, length = blocks[block]
        count = int(generator.integers(1, min(length, 3) + 1))
        found += (first + generator.choice(length, size=count, replace=False)).tolist()
    return sorted(found)


def _steps_of(like: Learner, rounds: int) -> list[tuple[int, int]]:
    """The first round and the length of each block, as far as the plan is known from the start."""
    problem = type(like).problem_for(like.settings)
    first, steps, begin = view_of(problem, like.snapshot()).step, problem.plan.steps, 0
    blocks: list[tuple[int, int]] = []
    while (step := steps(len(blocks)) if steps else first) is not None and begin < rounds:
        blocks.append((begin, min(step.rounds, rounds - begin)))
        begin += step.rounds
    return blocks


def _hostile_contexts(case: Case, generator: np.random.Generator) -> Floats | None:
    """One context a round, ordinary or extreme; None if the learner takes none."""
    contexts = case.contexts(case.horizon, int(generator.integers(2**31)))
    if contexts is not None:
        for round in np.flatnonzero(generator.random(len(contexts)) < 0.6):
            contexts[round] = extreme_row(contexts[round], generator)
    return contexts
