"""Private experts: follow the actions that gained most.

This file says what the learner is; how it draws actions is in softmax.py beside it.

Guarantee   docs/guarantees/adversarial.md
"""

from collections.abc import Sequence
from typing import ClassVar, Literal

from discreet.budget.privacy import Privacy
from discreet.learners.base import Checkpoint, JournalLike, Learner, Modes
from discreet.learners.constructor import constructor
from discreet.learners.hedge.settings import HedgeSettings
from discreet.learners.hedge.softmax import Softmax
from discreet.learners.labels import Label


class Hedge(Learner):
    """Choose one of several actions each round, nearly as well as the best of them in hindsight.

    Every round draws its own action, so whoever makes the stream may have seen every decision
    before this round's: the bound on the regret, Theorem 2 (`facts["regret_bound"]`), holds against
    streams that react.

    Guarantee: docs/guarantees/adversarial.md. Neither privacy nor value assumes anything about the
    stream.

    Runtime: O(actions) a round and a release.

    Parameters
    ----------
    actions
        How many there are to choose from, or their labels: with labels actions are labels.
    horizon
        How many rounds, at least 2; None if nobody knows.
    privacy
        What is asked for.
    bound
        Gains lie between 0 and `bound`; anything else is clipped.
    block
        How many rounds are between two releases of totals; "auto" balances them with the noise,
        with at most
        1000 releases.
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
    modes: ClassVar[Modes] = {"softmax": Softmax}

    @constructor
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
        """Each argument is a field of `HedgeSettings`, but for `journal` and `checkpoint`."""
