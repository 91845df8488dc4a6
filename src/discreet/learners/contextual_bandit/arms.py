"""The arms that can be played: those of the settings, and those that were added later.

An arm that is announced in one block is played from the next one on: for one block in an equal
share of rounds (it is *young*), and then according to its scores.
"""

import json
from dataclasses import dataclass, replace

import numpy as np

from discreet.arrays import Mask, repeated
from discreet.engine.labels import Label, Labels
from discreet.errors import ConfigError
from discreet.learners.contextual_bandit.settings import ContextualBanditSettings
from discreet.learners.labels import names_by_number


@dataclass(frozen=True)
class NewArm:
    """Public event that announces an arm with this label."""

    label: Label


@dataclass(frozen=True, eq=False)
class Allowed:
    """The arms that some rounds may play."""

    arms: Mask | None
    """One row per round; None if each round may play every active arm."""
    without_arms: Mask | None = None
    """The rounds whose own mask leaves no arm; None if there is none."""


EVERY_ARM = Allowed(None)


@dataclass(frozen=True)
class Arms:
    """The arms of a block, and those that are announced for the next one.

    >>> arms = Arms.first(2).with_announced("c")
    >>> arms.active, arms.next().active, arms.next().young, arms.next().next().young
    (2, 3, 1, 0)
    """

    active: int
    """Number of arms that can be played in this block."""
    young: int
    """Number of them, the last ones, that were not played before this block."""
    announced: int
    """Number of arms that can be played from the next block on."""
    added: str
    """Labels of the arms that were added, as JSON."""

    @classmethod
    def first(cls, count: int) -> "Arms":
        """Return the arms of the first block."""
        return cls(active=count, young=0, announced=count, added="[]")

    @property
    def known(self) -> int:
        """Number of arms that were played before this block."""
        return self.active - self.young

    def next(self) -> "Arms":
        """Return the arms of the next block."""
        young = self.announced - self.active
        return replace(self, active=self.announced, young=young)

    def with_announced(self, label: Label) -> "Arms":
        """Return the arms with one more announced."""
        added = [*json.loads(self.added), label]
        return replace(self, announced=self.announced + 1, added=json.dumps(added))

    def labels(self, settings: ContextualBanditSettings) -> Labels:
        """Return the labels of all arms, announced ones included; numbers without labels."""
        first = names_by_number(settings.arms, settings.labels)
        return Labels((*first, *json.loads(self.added)), "one")

    def fits(self, slots: int) -> bool:
        """Return whether the counts are consistent, and within `slots` arms."""
        return 0 < self.active <= self.announced <= slots and 0 <= self.young <= self.active

    # --- masks --------------------------------------------------------------------------------

    def refuse_none_left(self, available: Mask | None) -> None:
        """Refuse a mask for all rounds that leaves no arm."""
        if available is None or available.ndim != 1:
            return
        if not available[: self.active].any():
            raise ConfigError(
                "none of the arms that can be played now is available: make one available"
            )

    def allowed(self, available: Mask | None, count: int) -> Allowed:
        """Return the arms that `count` rounds with these masks may play.

        A mask for all rounds, or of a single request, must leave an arm. In a batch with one mask
        per person, a person whose mask leaves no arm is treated like one without a mask and with a
        malformed context, and their reward adds nothing: the mask of one person must not decide
        whether other people get an arm.
        """
        if available is None:
            return EVERY_ARM
        allowed = available.copy()
        if available.ndim == 1:
            allowed[self.active :] = False
            return Allowed(repeated(allowed, count))
        allowed[:, self.active :] = False
        without_arms = np.asarray(~allowed.any(axis=1))
        allowed[without_arms, : self.active] = True
        return Allowed(allowed, without_arms)

    def every_row(self, shape: tuple[int, ...]) -> Mask:
        """Return a mask of the active arms with this shape."""
        return np.broadcast_to(np.arange(shape[1]) < self.active, shape)
