"""If these fail, a learner that is written by the guide does not hold the contract."""

from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import discreet
from discreet import BudgetError, ConfigError, Privacy, StateError, extend
from discreet.audit import RULES, Case, audit_transcript, check_learner
from discreet.learners.base import Learner
from discreet.learners.registry import learner_named, register
from poll import Asking, Poll, PollSettings, Public, RunningVotes

PRIVACY = Privacy(1.0, 1e-6)


def made(**settings: Any) -> Poll:
    usual: dict[str, Any] = {"options": 3, "horizon": 12, "privacy": PRIVACY, "block": 4}
    poll: Poll = Poll(**(usual | settings))
    return poll


def vote(generator: np.random.Generator) -> int:
    return int(generator.integers(3))


POLL = Case("poll", made, person=vote, refused=(3, 0.5, "x"), broken="x")


@pytest.mark.parametrize("rule", RULES)
def test_a_learner_by_the_guide_holds_the_contract(rule: str) -> None:
    check_learner(POLL, [rule])


def test_a_learner_by_the_guide_costs_at_most_what_it_charges() -> None:
    audited = audit_transcript(POLL, pairs=100)
    assert 0.5 < audited.largest_cost_over_charge <= 1.0


def test_a_registered_learner_is_loaded_by_its_name(tmp_path: Path) -> None:
    poll = made(seed=1)
    poll.replay(np.array([1, 1, 1, 1]))
    poll.save(tmp_path / "poll")
    loaded = discreet.load(tmp_path / "poll")
    assert type(loaded) is learner_named("Poll") is Poll
    assert loaded.clock == 4


def test_a_learner_that_nobody_registered_is_refused_with_the_remedy(tmp_path: Path) -> None:
    class Unknown(Poll):
        pass

    settings = made(seed=1).settings
    Unknown.from_settings(settings, tmp_path / "state").detach()
    with pytest.raises(StateError, match="import the module that registers it"):
        discreet.load(tmp_path / "state")


def test_a_learner_cannot_take_the_name_of_another() -> None:
    class Hedge(Learner):
        pass

    with pytest.raises(ConfigError, match="discreet has a learner called Hedge"):
        register(Hedge)


def test_two_classes_cannot_share_a_name_that_files_know_them_by() -> None:
    other = type("Poll", (Poll,), {"__module__": "other_package"})
    with pytest.raises(ConfigError, match="poll has a learner called Poll"):
        register(other)
    assert register(Poll) is learner_named("Poll")


@pytest.mark.parametrize("wrong", [3, int, None], ids=repr)
def test_only_a_learner_can_be_registered(wrong: Any) -> None:
    with pytest.raises(ConfigError, match="register takes a subclass of Learner"):
        register(wrong)


# --- other statistics, with the names of `discreet.extend` alone ----------------------------------


class Newest(Asking):
    """The leader of the newest block, from its own noisy counts."""

    def update(self, released: extend.Released) -> Public:
        return Public(int(released[self.mode.votes].argmax()))


class Drawn(Asking):
    """One option of the newest block, drawn at the door by its votes."""

    def update(self, released: extend.Released) -> Public:
        votes, door = released[self.mode.votes]
        return Public(door.select(self.mode.selection, votes))


class Voting(extend.Mode):
    """Votes of one block at a time."""

    settings: PollSettings
    promise = RunningVotes.promise
    decisions = RunningVotes.decisions
    first = Public()
    phase: ClassVar[type[Asking]]
    votes: Any

    @cached_property
    def answer(self) -> extend.OneOf:
        return extend.OneOf(self.settings.options)

    @cached_property
    def choice(self) -> extend.OneChoice:
        return extend.OneChoice((self.settings.options,))

    @cached_property
    def phases(self) -> extend.Scheduled:
        blocks = extend.EqualBlocks(self.settings.horizon, self.settings.block)
        return extend.Scheduled.one(self.phase, blocks, self.votes)


class BlockCounts(Voting):
    """One release per block, paid by the people of the block."""

    phase = Newest

    @cached_property
    def votes(self) -> extend.OneRelease[extend.OneChoice]:
        return extend.OneRelease.for_budget("votes", self.settings.privacy.budget, self.choice)


class BlockDraws(Voting):
    """One draw per block."""

    phase = Drawn

    @cached_property
    def selection(self) -> extend.Selection:
        return extend.Selection.for_budget(self.settings.privacy.budget, self.choice, draws=1)

    @cached_property
    def votes(self) -> extend.Interactive[extend.OneChoice]:
        return extend.Interactive("votes", self.choice, (self.draw,))

    @property
    def draw(self) -> extend.Draws:
        """The draw, as the mode declares it."""
        return extend.Draws(self.selection, 1, self.settings.privacy.budget.measure)


class Understated(BlockDraws):
    """A mode that declares another draw than it makes, at half of its cost."""

    @property
    def draw(self) -> extend.Draws:
        half = extend.Selection.for_budget(self.settings.privacy.budget * 0.5, self.choice, draws=1)
        return extend.Draws(half, 1, self.settings.privacy.budget.measure)


@extend.register
class BlockPoll(extend.Learner):
    """The option that leads the newest block; the length of blocks decides the mode."""

    settings_type = PollSettings
    modes: ClassVar[extend.Modes] = {
        "counts": BlockCounts,
        "draws": BlockDraws,
        "understated": Understated,
    }

    @classmethod
    def choose(cls, settings: PollSettings) -> str:
        return {3: "draws", 6: "understated"}.get(settings.block, "counts")


@pytest.mark.parametrize("block", [4, 3])
def test_other_statistics_need_no_other_names_and_hold_the_contract(block: int) -> None:
    def make(**settings: Any) -> BlockPoll:
        usual: dict[str, Any] = {"options": 3, "horizon": 12, "privacy": PRIVACY, "block": block}
        return BlockPoll(**(usual | settings))

    case = Case("block poll", make, person=vote, refused=(3, 0.5, "x"), broken="x")
    check_learner(case)
    assert 0.5 < audit_transcript(case, pairs=50).largest_cost_over_charge <= 1.0


def test_a_draw_beyond_its_declared_price_is_refused_at_the_door() -> None:
    poll = BlockPoll(options=3, horizon=12, privacy=PRIVACY, block=6, seed=1)
    poll.observe_many([1] * 6)
    with pytest.raises(BudgetError, match="the next draw costs"):
        poll.release_if_due()
    assert poll.releases == 0


# --- what a mode of an author must not do ---------------------------------------------------------


def test_a_door_that_a_phase_has_kept_is_shut_after_the_release() -> None:
    """What is left of its charge pays for no draw that no commit would hold."""
    kept: list[Any] = []

    class Keeping(Drawn):
        def update(self, released: extend.Released) -> Public:
            kept.append(released[self.mode.votes])
            return Public()

    class KeepingVotes(BlockDraws):
        phase = Keeping

    class Kept(Poll):
        modes: ClassVar[Any] = {"keeping": KeepingVotes}

    poll = Kept.from_settings(made(seed=1).settings)
    poll.replay([1] * 4)
    poll.release_if_due()
    votes, door = kept[0]
    mode: Any = poll._engine.problem.mode
    with pytest.raises(BudgetError, match="this door is shut"):
        door.select(mode.selection, votes)


def test_questions_of_an_author_are_asked_in_every_round() -> None:
    class Masked(extend.Questions):
        def request(self, *asked: Any, **how: Any) -> extend.Request:
            request = super().request(*asked, **how)
            if request.available is None:
                raise ConfigError("every round needs a mask")
            return request

    class MaskedVotes(RunningVotes):
        questions = Masked(3)

    class MaskedPoll(Poll):
        modes: ClassVar[Any] = {"masked": MaskedVotes}

    poll = MaskedPoll.from_settings(made(seed=1).settings)
    for ask in (poll.act, poll.open):
        with pytest.raises(ConfigError, match="every round needs a mask"):
            ask()
    assert poll.clock == 0
    poll.act(available=[True, True, False])
    assert poll.clock == 1
