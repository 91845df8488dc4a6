"""If these fail, a learner that somebody writes by the guide does not hold the contract."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet
from discreet import ConfigError, Privacy, StateError
from discreet.audit import RULES, Case, audit_transcript, check_learner
from discreet.learners.base import Learner
from discreet.learners.registry import learner_named, register
from poll import Poll

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
