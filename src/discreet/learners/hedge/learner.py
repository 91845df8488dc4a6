"""Private prediction with expert advice: the public class `Hedge`.

The mode, which draws the actions, is in softmax.py.

Guarantee   docs/guarantees/adversarial.md
"""

from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np

from discreet.budget.privacy import Privacy
from discreet.engine.tickets import Decision
from discreet.learners.base import Checkpoint, JournalLike, Learner, Modes
from discreet.learners.constructor import constructor
from discreet.learners.hedge.settings import HedgeSettings
from discreet.learners.hedge.softmax import Softmax
from discreet.learners.labels import Item


class Hedge(Learner[Decision, np.ndarray]):
    """Choose one of several actions each round, nearly as well as the best of them in hindsight.

    Every round draws its action with new randomness, so the stream may depend on all earlier
    decisions: the bound on the regret, Theorem 2 (`facts["regret_bound"]`), holds against
    adversaries that react.

    Guarantee: docs/guarantees/adversarial.md. Neither privacy nor value assumes anything about the
    stream.

    Runtime: O(actions) per round and per release.

    Parameters
    ----------
    actions
        Number of actions, or their labels; with labels, decisions are labels.
    horizon
        Number of rounds, at least 2; None if it is unknown.
    privacy
        The guarantee, a `Privacy`.
    bound
        Largest gain: gains are clipped to the interval from 0 to `bound`.
    block
        Number of rounds between two releases of totals. "auto" balances it with the noise, with at
        most 1000 releases.
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

    References
    ----------
    Freund, Schapire (1997), "A Decision-Theoretic Generalization of On-Line Learning and an
    Application to Boosting".
    Perez-Salazar, Cummings (2021), "Differentially Private Online Submodular Maximization".
    """

    settings_type = HedgeSettings
    modes: ClassVar[Modes] = {"softmax": Softmax}

    @constructor
    def __init__(
        self: "Hedge[Item]",
        actions: int | Sequence[Item],
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
