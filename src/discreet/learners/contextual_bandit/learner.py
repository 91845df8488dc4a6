"""Private contextual bandit: choose one of K arms for a person, given their context.

This file holds the public class; each estimator is in a file of its own beside it.

Guarantee   docs/guarantees/contextual.md
"""

from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np

from discreet.budget.privacy import Privacy
from discreet.engine.readings import Scores
from discreet.engine.tickets import Decision
from discreet.errors import ConfigError
from discreet.learners.base import Checkpoint, JournalLike, Learner, Modes, guarded
from discreet.learners.constructor import constructor
from discreet.learners.contextual_bandit.arms import NewArm
from discreet.learners.contextual_bandit.ridge import Ridge
from discreet.learners.contextual_bandit.screen import Screen
from discreet.learners.contextual_bandit.settings import ContextualBanditSettings
from discreet.learners.labels import Item, Label, label_of


class ContextualBandit(Learner[Decision, np.ndarray]):
    """Choose the best arm for the context of each person, and learn from private rewards.

    The arm of a person may depend on their own context: it is their treatment, price or page. The
    arms of all other people, and all published values together, do not reveal a person's data. This
    is joint differential privacy.

    Guarantee: docs/guarantees/contextual.md. Neighbours differ in the context, the mask and the
    reward of one round. Each person is protected against all other people together, even if these
    share all they see. A person's own arm is not protected from those who see it, so store logs of
    arms, and counts of arms, as safely as the contexts. Privacy assumes nothing; value assumes
    people who are alike over time and rewards that are about linear in the context.

    Masks (`available`) may be personal, like contexts. They must not depend on the contexts, arms
    or rewards of other people (an arm that is sold out would reveal them). In a batch, a person
    whose mask is malformed or leaves no arm gets the arm of a malformed context without a mask, and
    their reward adds nothing. A mask for all rounds that leaves no arm is refused.

    Runtime: O(arms · features) per decision. Memory does not depend on the horizon: the ridge takes
    8·arms·features² numbers, screening 8·arms·features, and each open round its context.

    Parameters
    ----------
    arms
        The number of arms, or their labels. With labels, decisions, masks and scores use them.
    features
        The number of features of a context, or their names; with names, contexts may be
        dictionaries by name.
    horizon
        The number of people.
    privacy
        The requested guarantee; `delta` must be positive.
    relevant
        The number of features that an arm is expected to need: a number (features that matter are
        selected first), or "all" (a ridge over all features). None means "all" up to 64 features,
        and 5 beyond.
    reward_range
        The least and the largest reward; other rewards are clipped.
    context_bound
        The largest absolute value of a feature: one number, or one per feature. Larger values are
        clipped. The bounds are public: never compute them from the data.
    context_length
        The largest Euclidean norm of a context; by default the largest that the bounds allow.
        Longer contexts are scaled down. A context that is not finite counts as zero, and still gets
        an arm.
    max_arms
        The number of arms there may ever be, with those that `add_arm` adds; by default `arms`.
        Masks have one entry for each of them.
    block
        The number of people in the first block after the preparations; later blocks grow by a
        fifth.
    report
        The share of the budget, up to ½, that pays for `report()`.
    seed, journal, checkpoint
        See `SetMaximizer`.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet import ContextualBandit, Privacy
    >>> clinic = ContextualBandit(
    ...     ["low", "high"], ["age", "weight"], 20_000, Privacy(1.0, 1e-6), seed=1
    ... )
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

    @classmethod
    def choose(cls, settings: ContextualBanditSettings) -> str:
        return "screen" if settings.screens else "ridge"

    @constructor
    def __init__(
        self: "ContextualBandit[Item]",
        arms: int | Sequence[Item],
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
        """Take the fields of `ContextualBanditSettings`, a `journal` and a `checkpoint`."""

    def scores(self, context: object = None) -> Scores:
        """Return the predicted reward of each arm in a context, with standard deviations.

        Predictions use released values only. Decisions follow `decision["weights"]`, whose largest
        score is on average too high. Predictions are therefore shrunk towards each other as far as
        noise explains their differences, which makes the one of the chosen arm about unbiased.

        Parameters
        ----------
        context
            One number per feature, or a dictionary by name.

        Raises
        ------
        StateError
            Before the first release of scores.
        """
        return super().scores(context)

    @guarded
    def add_arm(self, label: Label | None = None) -> Label:
        """Add an arm and return its label, or its number if arms have no labels.

        This is a public event: it must not depend on the contexts, arms or rewards of people (an
        arm that replaces one which is sold out would reveal them). The arm is played from the next
        block on: for one block in an equal share of rounds, then according to its scores.

        Parameters
        ----------
        label
            The label of the arm; None if arms have no labels.

        Raises
        ------
        ConfigError
            If there are `max_arms` arms already, or the label is missing, superfluous or taken.
        StateError
            If no release is planned after the next block.
        """
        has_labels = self.settings.labels is not None
        if has_labels != (label is not None):
            remedy = "have labels: give one" if has_labels else "have numbers: leave out the label"
            raise ConfigError(f"this learner's arms {remedy}")
        self._engine.commit_pending_event(
            self._rounds.state()
        )  # numbers follow from all events before
        arm = self._engine.view.public.arms.announced
        name = label_of(arm if label is None else label, "arms")
        self._engine.note(NewArm(name), self._rounds.state())
        return name
