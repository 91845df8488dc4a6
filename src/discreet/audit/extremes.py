"""Searched pairs of streams: two people who are as far apart as an aggregator allows.

One life shows which aggregators pass the door in which release (`targets`). Each of them gets a
pair. Its two people are searched when the block of that release begins (search.py), because what
people can move depends on what is public by then.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import zip_longest

import numpy as np

from discreet.arrays import Floats
from discreet.audit.cases.case import Case, LogOfCase
from discreet.audit.doors import Passed, Tape
from discreet.audit.life import Life
from discreet.audit.pair import REPLACED_PERSON, Fate, InBoth, Seeds
from discreet.audit.search import FarPair, Search, Target, farthest_from
from discreet.engine.engine import DoorMaker
from discreet.engine.problem import view_of
from discreet.learners.base import Learner

ROWS = 40
"""Number of rows of a log that are tried."""


def targets(case: Case, like: Learner, seed: int) -> list[Target]:
    """Return all kinds of passages with their releases.

    Each kind comes once, with its first release; then each again with its next release, and so on.
    """
    tape = Tape()
    learner = type(like).from_settings(replace(like.settings, seed=seed), door=tape.recording)
    unchanged = Extremes(case, like, target=None, seeds=Seeds(seed, seed, seed))
    Life(unchanged, learner, lambda name, value: None, replaced=False, closely=False).lead()
    by_kind: dict[Passed, list[Target]] = defaultdict(list)
    for index in sorted(tape.stages):
        for passed in sorted(tape.stages[index]):
            by_kind[passed].append(Target(passed, index))
    in_turn = zip_longest(*(by_kind[passed] for passed in sorted(by_kind)))
    return [target for several in in_turn for target in several if target is not None]


@dataclass
class Extremes:
    """Two streams in which a person at one end is replaced by one at the other end (a `Pair`).

    Nobody else answers, unless a background is needed.

    Parameters
    ----------
    case, like
        The people that come, and a learner with the settings that are audited.
    target
        The passage that is to be moved; None if nobody is replaced.
    seeds
        The seeds of the people, of the replacement, and of public coins.
    loudness
        The factor by which a transcript's noise exceeds its law.
    repeated
        Whether the person comes as often as allowed and brings the same: that adds up most.
    """

    case: Case
    like: Learner
    target: Target | None
    seeds: Seeds
    loudness: int = 1
    repeated: bool = False
    logs: InBoth[list[object]] = field(init=False)
    in_log: bool = field(default=False, init=False)
    masked: bool = field(default=False, init=False)
    at_once: int | None = field(init=False)

    def __post_init__(self) -> None:
        self.at_once = self.case.horizon
        self.logs = InBoth([], [])
        self._far_pair: FarPair | None = None
        self._block = range(0)
        self._further_rounds: dict[int, list[int]] = {}
        """By release: rounds in which the person comes again."""
        self._contexts = self.case.contexts(self.case.horizon, self.seeds.people)
        if self.case.log is not None:
            self._fill_logs(self.case.log)

    def alone(self) -> "Extremes":
        """Return this pair: nobody else answers but before a background."""
        return self

    @property
    def changed(self) -> tuple[int, ...]:
        """The rounds of the replaced person."""
        if self._far_pair is None:
            return ()
        further = [round for rounds in self._further_rounds.values() for round in rounds]
        return tuple(sorted([self._far_pair.round, *further]))

    @property
    def contributions(self) -> int:
        """The number of contributions of the replaced person."""
        return max(1, len(self.changed))

    @property
    def owners(self) -> tuple[object, ...] | None:
        """The person of each round, where rounds name their person."""
        if not self.like.settings.keyed:
            return None
        changed = self.changed
        return tuple(
            REPLACED_PERSON if round in changed else round for round in range(self.case.horizon)
        )

    @property
    def hidden(self) -> set[int]:
        """Rounds whose decision only their own person sees: the changed ones in joint privacy."""
        return set(self.changed) if self.like.guarantee.notion == "joint DP" else set()

    def prepare(self, learner: Learner) -> None:
        """Search the two people once the block begins whose release is the target."""
        if self.target is None or self.in_log:
            return
        if self._far_pair is None:
            self._search(learner, self.target)
        if self._far_pair is not None and self.repeated:
            self._come_again(learner, self.target.index, self._far_pair)

    def _search(self, learner: Learner, target: Target) -> None:
        if learner.releases != target.index or not learner.rounds_until_release:
            return
        problem = type(learner).problem_for(learner.settings)
        step = view_of(problem, learner.snapshot()).step
        if step is None:
            return
        search = Search(self.case, learner, step, target, seeds=self.seeds, loudness=self.loudness)
        self._block = search.block
        self._far_pair = search.far_pair()

    def _come_again(self, learner: Learner, target: int, far_pair: FarPair) -> None:
        """Add rounds of the same person.

        They are in the target's block; where rounds name their person, in each of the next blocks.
        """
        settings = self.like.settings
        index = learner.releases
        left = settings.contributions - len(self.changed)
        if left <= 0 or index in self._further_rounds:
            return
        if not settings.keyed and index == target:
            others = [round for round in self._block if round != far_pair.round]
            self._further_rounds[index] = others[:left]
        elif settings.keyed and index > target and learner.rounds_until_release:
            self._further_rounds[index] = [learner.clock]

    def contexts_of(self, rounds: range, *, replaced: bool) -> Floats | None:
        """Return one context per round, or None where learners take none."""
        if self._contexts is None:
            return None
        rows = self._contexts[rounds.start : rounds.stop].copy()
        if self._far_pair is None:
            return rows
        background = self._far_pair.background
        for place, round in enumerate(rounds):
            if round in self.changed:
                rows[place] = self._far_pair.people[replaced].context
            elif background is not None and round in self._block:
                rows[place] = background.context
        return rows

    def fate(self, round: int) -> Fate:
        """Return when a round is answered: at once by those who answer at all."""
        if self._far_pair is None:
            return "never"
        in_background = self._far_pair.background is not None and round in self._block
        return "now" if in_background or round in self.changed else "never"

    def silent(self, round: int, *, replaced: bool) -> bool:
        """Return False: the replaced person answers in all their rounds."""
        return False

    def insists(self, round: int, *, replaced: bool) -> bool:
        """Return False: each person answers once."""
        return False

    def answer(self, round: int, decision: object, *, replaced: bool) -> object:
        """Return the feedback of a round's person, which does not depend on the decision."""
        assert self._far_pair is not None
        if round in self.changed:
            return self._far_pair.people[replaced].feedback
        assert self._far_pair.background is not None
        return self._far_pair.background.feedback

    def _fill_logs(self, log: LogOfCase) -> None:
        """Draw one row; where the log's release is the target, two that are far apart."""
        generator = np.random.default_rng([self.seeds.people, 5])
        rows = [log.person(generator) for _ in range(ROWS)]
        self.logs = InBoth(rows[:1], rows[:1])
        if self.target is None or self.target.index:
            return
        self.in_log = True
        pass_through = self._reading(log)
        passed = self.target.passed
        one = farthest_from(rows[0], rows, pass_through, Tape(self.loudness), passed)
        other = farthest_from(one, rows, pass_through, Tape(self.loudness), passed)
        self.logs = InBoth([one], [other])

    def _reading(self, log: LogOfCase) -> Callable[[DoorMaker, object], None]:
        """Return a function that makes a learner with a door read one row."""
        settings = replace(self.like.settings, seed=self.seeds.public)

        def read(door: DoorMaker, row: object) -> None:
            log.read(type(self.like).from_settings(settings, door=door), [row])

        return read
