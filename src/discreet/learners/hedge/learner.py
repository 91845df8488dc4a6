"""Private experts: follow the actions that gained most.

This file says what the learner is; how it draws actions is in draws.py beside it.

Guarantee   docs/guarantees/hedge.md
"""

from collections.abc import Sequence
from typing import ClassVar, Literal

from discreet.budget.privacy import Privacy
from discreet.learners.hedge.draws import Draws, HedgeSettings
from discreet.learners.labels import Label, labelled
from discreet.learners.learner import Checkpoint, JournalLike, Learner, Modes, privacy_settings
from discreet.turn.settings import NO_REPORT, refuses_removed

__all__ = ["Hedge"]


class Hedge(Learner):
    """Choose one of several actions each round, nearly as well as the best of them in hindsight.

    Guarantee: docs/guarantees/hedge.md. Privacy assumes nothing; the bound on the regret assumes gains that
    were fixed before the first round. A stream that reacts to the actions costs most of the value.

    Runtime: O(actions) a round and a release.

    Parameters
    ----------
    actions
        How many there are to choose from, or their labels: with labels actions are labels.
    horizon
        How many rounds; None if nobody knows.
    privacy
        What is asked for.
    bound
        Gains lie between 0 and `bound`; anything else is clipped.
    block
        How many rounds an action is kept; "auto" minimises the bound on the regret, with at most 1000 draws.
    seed, journal, checkpoint
        As for `SetMaximizer`.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet import Hedge, Privacy
    >>> experts = Hedge(["wait", "ask", "tell"], horizon=2000, privacy=Privacy(1.0, 1e-6), seed=1)
    >>> chosen = experts.replay(np.tile([0.2, 0.9, 0.4], (2000, 1)))
    >>> int((chosen == "ask").sum()) > 1500
    True
    """

    settings_type = HedgeSettings
    modes: ClassVar[Modes] = {"draws": Draws}

    @refuses_removed({**NO_REPORT, "stream": "leave it out, the bound holds for gains fixed in advance"})
    def __init__(
        self,
        actions: int | Sequence[Label],
        horizon: int | None,
        privacy: Privacy,
        *,
        bound: float = 1.0,
        block: int | Literal["auto"] = "auto",
        seed: int | None = None,
        journal: JournalLike = None,
        checkpoint: Checkpoint = None,
    ) -> None:
        count, labels = labelled(actions, "actions")
        settings = HedgeSettings(
            **privacy_settings(privacy),
            horizon=horizon,
            seed=seed,
            actions=count,
            labels=labels,
            bound=bound,
            block=block,
        )
        super().__init__(settings, journal, checkpoint)
