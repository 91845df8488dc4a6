"""Drawn pairs of streams: hostile people, who react to decisions and answer late or never.

One pair can be lived by a learner whose door records, by one whose door is forced, and by many
learners that draw their own noise. The transcript audit needs the first two, the attack on outputs
the third.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from discreet.arrays import Floats
from discreet.audit.cases.case import Case
from discreet.audit.doors import LOUD
from discreet.audit.hostile import STRANGE, complement, extreme_row, hostile, opposite
from discreet.audit.pair import REPLACED_PERSON, Fate, InBoth, Seeds
from discreet.engine.codec import fingerprint
from discreet.engine.problem import view_of
from discreet.learners.base import Learner

FATES: tuple[Fate, ...] = ("now", "now", "now", "soon", "late", "never")
"""The fates of rounds, as often as they are drawn."""
KINDS = ("other", "other", "opposite", "complement")
"""The kinds of replacements, as often as they are drawn."""


@dataclass(frozen=True)
class Replacement:
    """The feedback that comes in place of the replaced person's."""

    kind: str
    """`other` person, the `opposite` of the replaced feedback, or its `complement`."""
    malformed: tuple[object, ...] = ()
    """A malformed value that comes instead, if there is one."""
    never_answers: bool = False
    insists: bool = False
    """Whether the replaced person answers again beside all later answers."""

    @classmethod
    def drawn(cls, generator: np.random.Generator) -> "Replacement":
        """Draw a replacement.

        One in five is malformed, about one in seven never answers, one in three answers often.
        """
        kind = str(generator.choice(KINDS))
        malformed: tuple[object, ...] = ()
        if generator.random() < 0.2:
            malformed = (STRANGE[int(generator.integers(len(STRANGE)))],)
        never_answers = bool(generator.random() < 0.15)
        insists = bool(generator.random() < 0.3)
        return cls(kind, malformed, never_answers, insists)

    def turned(self, feedback: object) -> object:
        """Return the opposite or the complement of this feedback; None where there is none."""
        if self.kind == "opposite":
            return opposite(feedback)
        return complement(feedback) if self.kind == "complement" else None


@dataclass(frozen=True)
class Fates:
    """When each round is answered."""

    of_rounds: tuple[Fate, ...]

    @classmethod
    def drawn(cls, rounds: int, changed: list[int], generator: np.random.Generator) -> "Fates":
        """Draw one fate per round; the replaced person answers at once."""
        drawn = generator.choice(FATES, size=rounds).tolist()
        if generator.random() < 0.3:  # one person weighs most where nobody else answers
            drawn = ["never"] * rounds
        return cls(tuple(drawn)).with_changed(dict.fromkeys(changed, "now"))

    def with_changed(self, fates: dict[int, Fate]) -> "Fates":
        """Return these fates with other ones in some rounds."""
        return Fates(tuple(fates.get(round, fate) for round, fate in enumerate(self.of_rounds)))

    def only_of(self, rounds: tuple[int, ...]) -> "Fates":
        """Return these fates; all rounds but these are never answered."""
        return Fates(
            tuple(fate if round in rounds else "never" for round, fate in enumerate(self.of_rounds))
        )


class DrawnLog(NamedTuple):
    """The rows of a log in both streams, and whether one of them is replaced."""

    rows: InBoth[list[object]]
    is_replaced: bool


NO_LOG = DrawnLog(InBoth([], []), is_replaced=False)
NO_SILENCES: InBoth[frozenset[int]] = InBoth(frozenset(), frozenset())


@dataclass(frozen=True)
class Neighbours:
    """A stream of people, and that stream with one person replaced in all their rounds (a `Pair`).

    Parameters
    ----------
    case, like
        The people that come, and a learner with the settings that are audited.
    changed
        The rounds of the replaced person.
    seeds
        The seeds of the people, of the replacement, and of public coins and masks.
    fates
        When each round is answered.
    replacement
        The feedback in place of the replaced person's.
    contexts
        One context per round, in both streams; None where learners take none.
    loudness
        The factor by which a transcript's noise exceeds its law.
    log
        The rows that are read before the first round.
    at_once
        The number of rounds opened per call, as far as a block goes; None: as the case says.
    owners
        The person of each round, where rounds name their person; None in rounds that do not.
    silences
        The rounds in which the replaced person does not answer, in both streams.
    steady
        Whether the replaced person brings the same in all rounds: that adds up most.
    """

    case: Case
    like: Learner
    changed: tuple[int, ...]
    seeds: Seeds
    fates: Fates
    replacement: Replacement
    contexts: InBoth[Floats | None]
    loudness: int = 1
    log: DrawnLog = NO_LOG
    at_once: int | None = None
    owners: tuple[object, ...] | None = None
    silences: InBoth[frozenset[int]] = NO_SILENCES
    steady: bool = False

    @classmethod
    def drawn(cls, case: Case, like: Learner, generator: np.random.Generator) -> "Neighbours":
        """Draw a pair from a generator."""
        changed = _changed_rounds(case.horizon, like, generator)
        seeds = Seeds(*generator.integers(2**63, size=3).tolist())
        fates = Fates.drawn(case.horizon, changed, generator)
        replacement = Replacement.drawn(generator)
        contexts = _contexts(case, like, changed, generator)
        log = _log(case, generator)
        # A replaced row of the log is one of the person's contributions.
        rounds = changed[1:] if log.is_replaced else changed
        pair = cls(
            case,
            like,
            changed=tuple(rounds),
            seeds=seeds,
            fates=fates,
            replacement=replacement,
            contexts=contexts,
            loudness=LOUD if generator.random() < 0.5 else 1,
            log=log,
        )
        return pair._named(generator) if like.settings.keyed else pair

    def _named(self, generator: np.random.Generator) -> "Neighbours":
        """Return the pair with names: others return too, and some rounds are not answered."""
        rounds = self.case.horizon
        owners: list[object] = generator.integers(rounds, size=rounds).tolist()
        fates: dict[int, Fate] = {}
        for round in self.changed:
            owners[round] = REPLACED_PERSON
            fates[round] = "now" if generator.choice(["now", "soon"]) == "now" else "soon"
        for nameless in np.flatnonzero(generator.random(rounds) < 0.05):
            owners[nameless] = None
        chance = 0.4 if generator.random() < 0.5 else 0.0
        without, with_replacement = (
            frozenset(round for round in self.changed if generator.random() < chance)
            for _ in range(2)
        )
        return replace(
            self,
            fates=self.fates.with_changed(fates),
            owners=tuple(owners),
            silences=InBoth(without, with_replacement),
            steady=bool(generator.random() < 0.5),
        )

    def alone(self) -> "Neighbours":
        """Return the pair in which only the replaced person answers: an attacker's best case."""
        return replace(self, fates=self.fates.only_of(self.changed), at_once=self.case.horizon)

    @property
    def logs(self) -> InBoth[list[object]]:
        """The rows that are read before the first round, in both streams."""
        return self.log.rows

    @property
    def in_log(self) -> bool:
        """Whether a row of the log is replaced."""
        return self.log.is_replaced

    @property
    def contributions(self) -> int:
        """The number of the replaced person's rounds and rows of the log."""
        return len(self.changed) + self.in_log

    @cached_property
    def hidden(self) -> set[int]:
        """Rounds whose decision only their own person sees: the changed ones in joint privacy."""
        return set(self.changed) if self.like.guarantee.notion == "joint DP" else set()

    @property
    def masked(self) -> bool:
        """Whether some rounds come with a mask."""
        return True

    def prepare(self, learner: Learner) -> None:
        """Do nothing: all of the pair is drawn."""

    def contexts_of(self, rounds: range, *, replaced: bool) -> Floats | None:
        """Return one context per round, or None where learners take none."""
        contexts = self.contexts[replaced]
        return None if contexts is None else contexts[rounds.start : rounds.stop]

    def fate(self, round: int) -> Fate:
        """Return when a round is answered."""
        return self.fates.of_rounds[round]

    def silent(self, round: int, *, replaced: bool) -> bool:
        """Return whether the replaced person does not answer in a round."""
        if round in self.silences[replaced]:
            return True
        return replaced and self.replacement.never_answers and round in self.changed

    def insists(self, round: int, *, replaced: bool) -> bool:
        """Return whether the person of a round answers again beside all later answers."""
        return replaced and self.replacement.insists and round in self.changed

    def answer(self, round: int, decision: object, *, replaced: bool) -> object:
        """Return the feedback of a round's person to the decision."""
        if replaced and round in self.changed:
            return self._replaced(round, decision)
        return self._feedback(round, decision, self.seeds.people)

    def _feedback(self, round: int, decision: object, seed: int) -> object:
        """Feedback of a person whose answer depends on the shown decision only."""
        decided = int(fingerprint(np.asarray(decision))[:12], 16)
        steady = self.steady and round in self.changed
        own = np.random.default_rng(seed if steady else [seed, round, decided])
        person = self.case.person(own)
        return hostile(person, decision, own) if own.random() < 0.7 else person

    def _replaced(self, round: int, decision: object) -> object:
        """Feedback that comes in place of the replaced person's."""
        if self.replacement.malformed:
            return self.replacement.malformed[0]
        feedback = self.replacement.turned(self._feedback(round, decision, self.seeds.people))
        if feedback is None:
            feedback = self._feedback(round, decision, self.seeds.replacement)
        # A list in place of a tuple: a person's own container must not matter to others.
        if isinstance(feedback, tuple) and self.seeds.replacement % 2:
            return list(feedback)
        return feedback


# --- parts of a drawn pair ------------------------------------------------------------------------


def _changed_rounds(horizon: int, like: Learner, generator: np.random.Generator) -> list[int]:
    """Draw the rounds of the replaced person, in order."""
    most = min(like.settings.contributions, horizon)
    count = int(generator.integers(1, most + 1))
    rounds: list[int] = sorted(generator.choice(horizon, size=count, replace=False).tolist())
    if like.settings.keyed:
        return _rounds_in_blocks(like, horizon, count, generator)
    if count == 1 and generator.random() < 0.5:  # so that short blocks are not missed
        return [_round_in_a_block(like, horizon, generator)]
    return rounds


class _Block(NamedTuple):
    """A block of the plan."""

    first: int
    rounds: int


def _round_in_a_block(like: Learner, horizon: int, generator: np.random.Generator) -> int:
    """Draw a round of a block; all blocks that are known from the start are equally likely."""
    blocks = _planned_blocks(like, horizon)
    block = _Block(0, horizon)
    if blocks:
        block = blocks[int(generator.integers(len(blocks)))]
    return block.first + int(generator.integers(block.rounds))


def _rounds_in_blocks(
    like: Learner, horizon: int, count: int, generator: np.random.Generator
) -> list[int]:
    """Draw rounds of one person in `count` blocks, one to three per block."""
    blocks = _planned_blocks(like, horizon)
    rounds: list[int] = []
    for place in generator.choice(len(blocks), size=min(count, len(blocks)), replace=False):
        block = blocks[place]
        size = int(generator.integers(1, min(block.rounds, 3) + 1))
        rounds += (block.first + generator.choice(block.rounds, size=size, replace=False)).tolist()
    return sorted(rounds)


def _planned_blocks(like: Learner, horizon: int) -> list[_Block]:
    """Return the blocks that are known from the start, up to the horizon."""
    problem = type(like).problem_for(like.settings)
    first_step = view_of(problem, like.snapshot()).step
    steps = problem.plan.steps
    begin = 0
    blocks: list[_Block] = []
    while begin < horizon:
        step = first_step if steps is None else steps(len(blocks))
        if step is None:
            break
        blocks.append(_Block(begin, min(step.rounds, horizon - begin)))
        begin += step.rounds
    return blocks


def _contexts(
    case: Case, like: Learner, changed: list[int], generator: np.random.Generator
) -> InBoth[Floats | None]:
    """Draw the contexts of both streams; under joint privacy the replaced person's may differ."""
    contexts = _hostile_contexts(case, generator)
    if contexts is None or like.guarantee.notion != "joint DP" or generator.random() >= 0.7:
        return InBoth(contexts, contexts)
    others = _hostile_contexts(case, generator)
    assert others is not None
    replaced = contexts.copy()
    replaced[changed] = others[changed]
    return InBoth(contexts, replaced)


def _hostile_contexts(case: Case, generator: np.random.Generator) -> Floats | None:
    """Draw one context per round, ordinary or extreme; None if the learner takes none."""
    contexts = case.contexts(case.horizon, int(generator.integers(2**31)))
    if contexts is not None:
        for round in np.flatnonzero(generator.random(len(contexts)) < 0.6):
            contexts[round] = extreme_row(contexts[round], generator)
    return contexts


def _log(case: Case, generator: np.random.Generator) -> DrawnLog:
    """Draw the rows of the log; in every second pair one of them is replaced."""
    if case.log is None:
        return NO_LOG
    count = int(generator.integers(1, case.log.people + 1))
    rows = [case.log.person(generator) for _ in range(count)]
    if generator.random() < 0.5:
        return DrawnLog(InBoth(rows, rows), is_replaced=False)
    replacement = case.log.person(generator)
    place = int(generator.integers(len(rows)))
    replaced = rows.copy()
    replaced[place] = replacement
    return DrawnLog(InBoth(rows, replaced), is_replaced=True)
