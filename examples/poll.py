"""A learner of your own: which option is ahead in a poll, published after every block.

Each person names one of a few options. After every block of people a noisy running count of all
votes is released, and the option that leads it is shown until the next release. A learner needs
four classes: settings, a view (the hooks of a block), a problem (the plan), and the class that
users see. docs/develop/learner.md explains each of them.

Guarantee   docs/guarantees/sums.md, Theorems 2 and 3: one budget pays for all releases together

    python examples/poll.py
"""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from discreet import OutOfBounds, Privacy, require
from discreet.arrays import Integers
from discreet.engine.coins import Coins
from discreet.engine.flat_state import of_flat
from discreet.engine.plan import Plan, State
from discreet.engine.problem import Problem
from discreet.engine.request import Batch, Block, Request
from discreet.engine.schedule import EqualBlocks
from discreet.engine.settings import Settings
from discreet.engine.view import View
from discreet.feedback import as_numbers
from discreet.learners.base import Checkpoint, JournalLike, Learner, Modes
from discreet.learners.constructor import constructor
from discreet.learners.registry import register
from discreet.learners.running_total import RunningTotal
from discreet.release.aggregators import Aggregator, OneChoice
from discreet.release.door import Door


@dataclass(frozen=True, kw_only=True)
class PollSettings(Settings):
    """Public settings: they are hashed, checked, and the same in Python, TOML and state files."""

    horizon: int  # declared again, because this learner cannot do without one
    options: int
    block: int = 100

    def __post_init__(self) -> None:
        super().__post_init__()
        require.whole("options", self.options, 2)
        require.whole("block", self.block)


@dataclass(frozen=True)
class Public:
    """What releases have produced: the noisy running count, and the option that leads it."""

    votes: State
    leader: int


class PollView(View[Public]):
    """The hooks of a block, in the order in which a round meets them."""

    problem: "RunningVotes"

    def aggregators(self) -> dict[str, Aggregator]:
        return {"votes": self.problem.votes.aggregator}

    def decide(self, rounds: Integers, request: Request) -> Integers:
        return np.full(len(rounds), self.public.leader)

    def read(self, batch: Batch) -> Integers:
        votes = as_numbers(batch)
        options = np.arange(self.problem.settings.options)
        valid = np.isin(votes, options)
        if batch.single and not valid.all():
            raise OutOfBounds(f"a vote must be a whole number below {len(options)}")
        return np.where(valid, votes, -1.0).astype(np.int64)  # −1 adds nothing

    def gather(self, block: Block, answers: Integers) -> None:
        # One vote per person: the aggregator states how far one person can move the counts.
        self.problem.votes.aggregator.add(self.problem.votes.of(block), answers)

    def release(
        self, mask_counts: State, hidden: State, block: Block, door: Door
    ) -> tuple[Public, State]:
        total = self.problem.votes.next(self.public.votes, hidden, block, door)
        return Public(total.public, int(total.values.argmax())), total.hidden

    def plain(self) -> dict[str, object]:
        return {"leader": self.public.leader}


class RunningVotes(Problem):
    """The one mode of the poll: what it aggregates, when it releases, and what that costs."""

    proof = "sums.md"
    settings: PollSettings

    @cached_property
    def votes(self) -> RunningTotal[OneChoice]:
        settings = self.settings
        schedule = EqualBlocks(settings.horizon, settings.block)
        choice = OneChoice((settings.options,))
        return RunningTotal("votes", choice, schedule, settings.privacy, people=settings.block)

    @cached_property
    def plan(self) -> Plan:
        return self.votes.plan({"method": "running-votes", "why": "it is the only mode"})

    def start(self) -> tuple[Public, State]:
        votes, hidden = self.votes.start()
        return Public(votes, leader=0), hidden

    def view(self, public: State | Public, index: int, begin: int, coins: Coins) -> PollView:
        return PollView(self, of_flat(Public, public), index, begin, coins)

    def blank(self) -> int:
        return -1


@register
class Poll(Learner):
    """Which of a few options is ahead, for each person of a stream."""

    settings_type = PollSettings
    modes: ClassVar[Modes] = {"running-votes": RunningVotes}

    @constructor
    def __init__(
        self,
        options: int,
        horizon: int,
        privacy: Privacy,
        *,
        block: int = 100,
        seed: int | None = None,
        journal: JournalLike = None,
        checkpoint: Checkpoint = None,
    ) -> None:
        """Each argument is a setting, but for `journal` and `checkpoint`."""


def main() -> None:
    """Ask 10,000 people, of whom 40 % prefer option 2."""
    poll = Poll(options=4, horizon=10_000, privacy=Privacy(1.0, 1e-6), seed=1)
    votes = np.random.default_rng(1).choice(4, size=10_000, p=[0.2, 0.2, 0.4, 0.2])
    shown = poll.replay(votes)
    poll.release_if_due()  # the last block is released when the next decision is asked for, or here
    print(
        f"{np.mean(np.asarray(shown) == 2):.1%} of the people were shown option 2, which is ahead."
    )
    print(poll.guarantee)


if __name__ == "__main__":
    main()
