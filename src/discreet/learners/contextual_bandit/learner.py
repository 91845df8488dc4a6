"""Which of K arms to play for a person, given their context.

This file says what the learner is; how it learns is in the files beside it, one an estimator.

Guarantee   docs/guarantees/contextual.md
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from discreet.budget.privacy import Privacy
from discreet.engine.readings import Scores
from discreet.errors import ConfigError
from discreet.learners.base import Checkpoint, JournalLike, Learner, Modes, guarded
from discreet.learners.constructor import constructor
from discreet.learners.contextual_bandit.arms import NewArm
from discreet.learners.contextual_bandit.ridge import Ridge
from discreet.learners.contextual_bandit.screen import Screen
from discreet.learners.contextual_bandit.settings import ContextualBanditSettings
from discreet.learners.labels import Label, label_of


class ContextualBandit(Learner):
    """Play the best arm for each person's context, and learn from the rewards, without giving
    anyone away.

    A person's own arm may depend on their context: it is their treatment, price or page, and theirs
    to see. Nobody else's arms, and nothing that is published, reveals them: joint differential
    privacy.

    Guarantee: docs/guarantees/contextual.md. Neighbours replace the context, the mask and the
    reward of one round. Protected is each person against everybody else together, whatever all of
    them see. Not protected: a person's own arm against whoever sees it; so keep logs of arms, and
    counts of arms, as safe as the contexts. Privacy assumes nothing; value assumes people that are
    alike over time and rewards that are about linear in the context.

    Masks (`available`) may be personal: which arms a person may be given is theirs, like their
    context. They must not depend on other people's contexts, arms or rewards (stock that sold out
    would tell). Among many, whoever has a mask that leaves no arm, or that is none, gets the arm of
    a malformed context without a mask, and their reward says nothing; a mask for all rounds that
    leaves none is refused.

    Runtime: O(arms · features) a decision. Memory, whatever the horizon: ridge 8·arms·features²
    numbers, screening 8·arms·features, and what open rounds brought with them (features numbers
    each).

    Parameters
    ----------
    arms
        How many there are, or their labels: with labels arms are labels, in decisions, masks and
        scores.
    features
        How many numbers a context has, or their names: contexts may then be dictionaries by name.
    horizon
        How many people.
    privacy
        What is asked for; needs `delta > 0`.
    relevant
        How many features an arm is expected to need: a number (those that matter are found first),
        or "all" (a ridge over all features). None: "all" up to 64 features, 5 beyond.
    reward_range
        The least and the largest reward; others are clipped.
    context_bound
        The largest absolute value of a feature: one number, or one a feature. Others are clipped.
        Public numbers: never read them off the data.
    context_length
        The longest a context may be (Euclidean); by default what the bounds allow. Longer ones are
        scaled down. A context that is not finite counts as zero, and still gets an arm.
    max_arms
        How many arms there may ever be, with those that `add_arm` adds; by default `arms`. Masks
        have one entry for each of them.
    block
        How many people are in the first block after preparation; later ones grow by a fifth.
    report
        The share of the budget, up to ½, that pays for `report()`.
    seed, journal, checkpoint
        As for `SetMaximizer`.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet import ContextualBandit, Privacy
    >>> clinic = ContextualBandit(["low", "high"], ["age", "weight"], 20_000, Privacy(1.0, 1e-6), seed=1)
    >>> people = np.random.default_rng(0)
    >>> while clinic.clock < 20_000:
    ...     due = clinic.release_if_due()
    ...     patients = people.uniform(-1, 1, size=(clinic.rounds_until_release, 2))
    ...     tickets = clinic.open_many(patients)
    ...     high = tickets.decisions == "high"
    ...     works = np.where(high, 0.5 + 0.4 * patients[:, 0], 0.5 - 0.4 * patients[:, 0])
    ...     counted = clinic.close_many(tickets, people.random(len(tickets)) < works)
    >>> clinic.act({"age": 0.8, "weight": 0.1})
    'high'
    >>> clinic.open([-0.8, 0.1]).decision
    'low'

    References
    ----------
    Han et al. (2022), "Optimal Private Streaming SCO in l_p-geometry", Algorithm 3.
    Shariff, Sheffet (2018), "Differentially Private Contextual Linear Bandits".
    """

    settings_type = ContextualBanditSettings
    modes: ClassVar[Modes] = {
        "ridge": Ridge,  # all features matter
        "screen": Screen,  # few of many features matter
    }

    @constructor
    def __init__(
        self,
        arms: int | Sequence[Label],
        features: int | Sequence[Label],
        horizon: int,
        privacy: Privacy,
        *,
        relevant: int | Literal["all"] | None = None,
        reward_range: tuple[float, float] = (0.0, 1.0),
        context_bound: float | Sequence[float] = 1.0,
        context_length: float | None = None,
        max_arms: int | None = None,
        block: int | Literal["auto"] = "auto",
        report: float = 0.0,
        seed: int | None = None,
        journal: JournalLike = None,
        checkpoint: Checkpoint = None,
    ) -> None:
        """Each argument is a field of `ContextualBanditSettings`, but for `journal` and
        `checkpoint`.
        """

    def scores(self, context: Any = None) -> Scores:
        """The reward that each arm is expected to bring, with standard deviations; from released
        values only.

        Decisions follow `decision["weights"]`. The best of noisy scores is on average too high:
        what is given here is drawn together as far as noise explains how far arms are apart, so
        that it is about right of the arm that is chosen.
        """
        return super().scores(context)

    @guarded
    def add_arm(self, label: Label | None = None) -> Label:
        """Add an arm, and give its label, or its number if arms have none.

        A public event: whether and when arms are added must not depend on earlier people's
        contexts, arms or rewards (an arm that replaces one which sold out would tell). It is played
        from the next block on, for one block in its share of rounds, and then on its merits.
        """
        named = self.settings.labels is not None
        if named != (label is not None):
            remedy = "have names: give one" if named else "have numbers: leave out the name"
            raise ConfigError(f"this learner's arms {remedy}")
        self._engine.settle(self._rounds.state())  # numbers follow from all events before
        arm = self._engine.view.learning.public.arms.announced
        name = label_of(arm if label is None else label, "arms")
        self._engine.note(NewArm(name), self._rounds.state())
        return name
