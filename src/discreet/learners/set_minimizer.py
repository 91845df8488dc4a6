"""Which set of items costs least, visitor after visitor.

This file says what the learner is; how it learns is in discreet/learners/costs/, one file a mode.

Guarantee   docs/guarantees/costs.md
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from discreet.arrivals.families import describe, family
from discreet.arrivals.feedback import as_callables, as_numbers, as_people
from discreet.decide.extensions import padded_sets
from discreet.errors import ConfigError, StateError
from discreet.learners.costs.gradients import Gradients
from discreet.learners.costs.mode import Mode, Setting
from discreet.learners.costs.trials import Trials
from discreet.learners.hedge import MOST_ACTIONS, MOST_ROUNDS
from discreet.learners.labels import labelled
from discreet.learners.set_learner import SetLearner
from discreet.release.arrays import Floats, Integers
from discreet.release.coins import Coin
from discreet.release.config import Config
from discreet.release.journal import Journal
from discreet.release.privacy import Privacy
from discreet.release.turn import Asked, Batch, Plan, State

__all__ = ["SetMinimizer", "SetMinimizerConfig"]


@dataclass(frozen=True, kw_only=True)
class SetMinimizerConfig(Config):
    """The public settings of a set minimiser."""

    items: int
    labels: list[str] | None = None
    feedback: str = "full"
    stream: str = "any"
    function: str = "SetFunction"
    curve: str | None = None
    covers: list[list[int]] | None = None
    edges: list[list[int]] | None = None
    directed: bool | None = None
    minus_modular: bool | None = None
    bound: float = 1.0
    clip: float | str = "auto"
    regulariser: str = "adaptive"
    explore: float | str = "auto"
    block: int | str = "auto"


class SetMinimizer(SetLearner):
    """Choose the set of least cost, round after round, without giving any visitor away.

    Which optional checks to switch off, which complements to bundle, which pixels belong together: every visitor has a submodular cost of
    any set, possibly negative, and the set is chosen before it is seen. Nothing about the size of the set is fixed.

    Guarantee: docs/guarantees/costs.md. Privacy assumes nothing; value compares with the best fixed set, for submodular costs.
    Runtime: O(items + numbers in a row) a visitor with a built-in function, items + 1 calls of a callable.

    Parameters
    ----------
    items
        How many there are, or their labels: `learner.labels[chosen]` names a set.
    horizon
        How many visitors.
    privacy
        What is asked for; with `delta=0` the guarantee is pure and costs much more value.
    feedback
        What `observe` takes. "full": a row for `function`, or a callable on integer arrays. "bandit": the cost of the set that was
        chosen, a number.
    function
        What a row means: a family of discreet.arrivals such as `MinusModular(GraphCut(edges))`. None: visitors bring callables
        (`discreet.arrivals.check_set_function(f, items, monotone=False)` tries whether one is submodular).
    bound
        Costs lie between −bound and bound: callables and numbers are clipped to it, and everyone's influence is limited accordingly.
    stream
        "any": nothing is assumed. "iid", for bandit feedback: visitors are alike over time; most trials come early.
    clip
        Full information: the longest that one visitor's subgradient may be, in units of the bound; longer ones are shortened. "auto" is
        1 (pure: 2, in l₁); 2√2 (pure: 4) shortens none.
    regulariser
        Full information: "adaptive" (as stiff as released totals call for), or "bound" (as stiff as the worst stream might).
    explore
        Bandit: the share of rounds that try sets; "auto" balances it.
    block
        Full information: how many visitors meet the same point.
    calibration
        "tight" only. The published constants do not keep what they promise; discreet.lab.published_costs runs them for comparison.

    Examples
    --------
    >>> from discreet import Privacy, SetMinimizer
    >>> from discreet.arrivals import GraphCut, MinusModular
    >>> together = MinusModular(GraphCut(((0, 1), (2, 3))))      # phone – case, tripod – bag
    >>> shop = SetMinimizer(["phone", "case", "tripod", "bag"], horizon=4000, privacy=Privacy(1.0, 1e-6), function=together, seed=1)
    >>> visitors = np.random.default_rng(0).random((4000, 6)) * [0.3, 0.3, 0.4, 0.0, -0.3, 0.0]    # two cuts, then four benefits
    >>> bundles = shop.replay(visitors)
    >>> [str(label) for label in shop.labels[shop.act()]]
    ['phone', 'case']

    When only the cost of the chosen set is known:

    >>> site = SetMinimizer(items=10, horizon=100_000, privacy=Privacy(1.0, 1e-6), feedback="bandit")
    >>> chosen = site.act()
    >>> site.observe(-0.2)

    References
    ----------
    Hazan, Kale (2012), "Online Submodular Minimization"; Cardoso, Cummings (2019), "Differentially Private Online Submodular
    Minimization".
    """

    configuration = SetMinimizerConfig
    proof = "costs.md"
    config: SetMinimizerConfig

    def __init__(
        self,
        items: int | Sequence[str],
        horizon: int,
        privacy: Privacy,
        *,
        feedback: Literal["full", "bandit"] = "full",
        function: Any = None,
        bound: float = 1.0,
        stream: Literal["any", "iid"] = "any",
        clip: float | Literal["auto"] = "auto",
        regulariser: Literal["adaptive", "bound"] = "adaptive",
        explore: float | Literal["auto"] = "auto",
        block: int | Literal["auto"] = "auto",
        calibration: Literal["tight"] = "tight",
        seed: int | None = None,
        journal: Journal | str | os.PathLike[str] | None = None,
    ) -> None:
        count, labels = labelled(items)
        config = SetMinimizerConfig(
            epsilon=privacy.epsilon, delta=privacy.delta, contributions=privacy.contributions, horizon=horizon, seed=seed,
            calibration=calibration, items=count, labels=labels, feedback=feedback,
            stream=stream, bound=bound, clip=clip, regulariser=regulariser, explore=explore, block=block, **describe(function),
        )  # fmt: skip
        super().__init__(config, journal)

    @property
    def point(self) -> Floats:
        """How likely each item is to be chosen: the newest released point of the cube."""
        point: Floats = self._turn.public["point"]
        return point.copy()

    @property
    def assumes(self) -> str:  # type: ignore[override]
        """What the value assumes."""
        alike = ", of visitors that are alike over time (i.i.d.)" if self.config.stream == "iid" else ""
        return "submodular costs" + alike

    def replay(self, rows: Any) -> Any:
        """Feed a log of cost functions and give each visitor's set, one a row, filled up with −1."""
        if self.config.feedback != "full" and not self._is_over():
            raise StateError("replay needs feedback='full': the cost depends on what was chosen; use preview and observe_many")
        return super().replay(rows)

    # --- the hooks --------------------------------------------------------------------------------------------------------------

    def plan(self) -> Plan:
        self._check_config()
        self._setting = self._make_setting()
        self._mode: Mode = self._make_mode()
        return self._mode.plan()

    def decide(self, public: State, round: int, asked: Asked, coin: Coin) -> Integers:
        order, sizes = self._mode.sizes(public, [round], coin.key)
        chosen = np.sort(order[: sizes[0]])
        if asked.available is None:
            return chosen
        available = np.asarray(asked.available, dtype=np.bool_)
        if available.shape != (self.config.items,):
            raise ConfigError(f"available must say yes or no for each of {self.config.items} items")
        return chosen[available[chosen]]

    def decide_many(self, public: State, rounds: range, coin_key: bytes) -> Integers:
        return padded_sets(*self._mode.sizes(public, rounds, coin_key))

    def blank(self) -> Any:
        if self.config.feedback == "bandit":
            return 0.0
        functions = self._setting.functions
        return (lambda chosen: 0.0) if functions is None else np.zeros(functions.width(self.config.items))

    # --- people and configuration -------------------------------------------------------------------------------------------------

    def _people(self, batch: Batch) -> Any:
        """Feedback as the mode wants it, every number in its range; `OutOfBounds` if it is of the wrong kind."""
        if self.config.feedback == "bandit":
            return as_numbers(batch, -self.config.bound, self.config.bound)
        functions = self._setting.functions
        return as_callables(batch, self.blank()) if functions is None else as_people(batch, functions, self.config.items)

    def _check_config(self) -> None:
        config = self.config
        config.check_whole("items", "horizon")
        if config.labels is not None and len({str(label) for label in config.labels}) != config.items:
            raise ConfigError("labels must be different from each other")
        if (config.horizon or 0) > MOST_ROUNDS or config.items > MOST_ACTIONS:
            raise ConfigError(f"at most {MOST_ACTIONS} items and {MOST_ROUNDS} rounds, got {config.items} and {config.horizon}")
        config.check_number("bound", 1e-100, 1e100)
        config.check_one_of(feedback=("full", "bandit"), stream=("any", "iid"), regulariser=("adaptive", "bound"))
        if config.calibration != "tight":
            raise ConfigError("the published constants are not private as printed: see discreet.lab.published_costs, or leave calibration")
        bandit = config.feedback == "bandit"
        if config.stream == "iid" and not bandit:
            raise ConfigError("stream='iid' is for bandit feedback: with whole cost functions every stream is learned alike")
        if config.explore != "auto":
            config.check_number("explore", 1e-9, 0.999)
            if not bandit:
                raise ConfigError("explore is for bandit feedback: leave it as it is")
        if bandit and (config.block != "auto" or config.clip != "auto" or config.regulariser != "adaptive"):
            raise ConfigError("block, clip and regulariser are for feedback='full': leave them as they are")
        if bandit and config.function != "SetFunction":
            raise ConfigError("bandit feedback is a number: leave function")
        if config.clip != "auto":
            config.check_number("clip", 1e-6, 4.0)
        if config.block != "auto":
            config.check_whole("block")

    def _make_setting(self) -> Setting:
        config = self.config
        functions = family(
            function=config.function, curve=config.curve, covers=config.covers, edges=config.edges, directed=config.directed,
            minus_modular=config.minus_modular,
        )  # fmt: skip
        if functions is not None:
            functions.width(config.items)  # refuses edges and covers that do not fit
        assert config.horizon is not None
        return Setting(config.items, config.horizon, config.privacy.budget, config.bound, functions, bytes.fromhex(config.hash))

    def _make_mode(self) -> Mode:
        config = self.config
        if config.feedback == "bandit":
            return Trials(self._setting, config.stream == "iid", None if config.explore == "auto" else float(config.explore))
        return Gradients(
            self._setting,
            block=None if config.block == "auto" else config.block,  # type: ignore[arg-type]
            clip=None if config.clip == "auto" else float(config.clip),
            adaptive=config.regulariser == "adaptive",
        )
