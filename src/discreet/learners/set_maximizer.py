"""Which k of n items to show, visitor after visitor.

This file says what the learner is; how it learns is in discreet/learners/sets/, one file a mode.

Guarantee   docs/guarantees/sets.md
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from discreet.arrivals.families import describe, family
from discreet.arrivals.feedback import as_callables, as_numbers, as_people
from discreet.arrivals.set_functions import ClickModel
from discreet.errors import ConfigError, OutOfBounds, StateError
from discreet.learners.hedge import MOST_ACTIONS, MOST_ROUNDS
from discreet.learners.labels import labelled
from discreet.learners.set_learner import SetLearner
from discreet.learners.sets.bandit_experts import BanditExperts
from discreet.learners.sets.exploration import Exploration
from discreet.learners.sets.fresh import FreshGreedy
from discreet.learners.sets.hedge_expert import HedgeExpert
from discreet.learners.sets.mode import Mode, Setting
from discreet.learners.sets.race import Race
from discreet.learners.sets.sum_expert import SumExpert
from discreet.release.arrays import Integers
from discreet.release.coins import Coin
from discreet.release.config import Config
from discreet.release.journal import Journal
from discreet.release.privacy import Privacy
from discreet.release.turn import Asked, Batch, Plan, State

__all__ = ["SetMaximizer", "SetMaximizerConfig"]

FAMILIES = ("ClickModel", "FacilityLocation", "ConcaveOverModular", "WeightedCoverage", "SetFunction")


@dataclass(frozen=True, kw_only=True)
class SetMaximizerConfig(Config):
    """The public settings of a set maximiser."""

    items: int
    slots: int
    labels: list[str] | None = None
    feedback: str = "full"
    stream: str = "any"
    function: str = "ClickModel"
    curve: str | None = None
    covers: list[list[int]] | None = None
    bound: float = 1.0
    expert: str = "auto"
    explore: float | str = "auto"
    block: int | str = "auto"


class SetMaximizer(SetLearner):
    """Choose the best `slots` of `items`, round after round, without giving any visitor away.

    Each slot learns what complements the slots before it, from as much as a site gets to see: which shown item a visitor clicked
    (`feedback="clicks"`), only whether the slate was worth something ("bandit"), or the visitor's whole preferences ("full").

    Guarantee: docs/guarantees/sets.md. Privacy assumes nothing; value compares with the best fixed set, up to 1 − 1/e.
    Runtime: O(slots · items) a visitor; `replay` and `observe_many` take many at once in one compiled pass.

    Parameters
    ----------
    items
        How many there are, or their labels: `learner.labels[slate]` names a slate.
    slots
        How many to show.
    horizon
        How many visitors.
    privacy
        What is asked for; with `delta=0` the guarantee is pure and costs much more value.
    feedback
        What `observe` takes. "full": a row for `function`, or any callable on integer arrays. "bandit": a reward between 0 and
        `bound`. "clicks": the first shown item that was clicked, or None.
    stream
        "any": nothing is assumed. "iid": visitors are alike over time; learns faster, from each visitor once.
    function
        What a row means: ClickModel (default), FacilityLocation, ConcaveOverModular, WeightedCoverage(covers), or
        `SetFunction` if visitors bring callables.
    bound
        The most a callable or a reward may be worth; values are divided by it. Rows lie in [0, 1] already.
    expert
        How "any" streams are learned: "sum" (default for delta > 0), "hedge" (default for delta = 0 and whole preferences).
    explore
        Bandit and clicks: the share of rounds spent on trying items; "auto" balances it.
    block
        How many visitors see the same slate ("iid": the first block; blocks double).
    calibration
        "tight", or "published" for the paper's own rate, redrawn every round unless `block` says otherwise.

    Examples
    --------
    >>> from discreet import Privacy, SetMaximizer
    >>> shop = SetMaximizer(items=["tea", "milk", "soap", "rope"], slots=2, horizon=4000, privacy=Privacy(1.0, 1e-6), seed=1)
    >>> taste = np.random.default_rng(0).choice([0.05, 0.9], size=(4000, 4), p=[0.7, 0.3]) * [1.0, 0.8, 0.3, 0.2]
    >>> slates = shop.replay(taste)
    >>> [str(label) for label in shop.labels[slates[-1]]]
    ['tea', 'milk']

    Most sites see clicks only:

    >>> site = SetMaximizer(items=20, slots=3, horizon=1000, privacy=Privacy(1.0, 1e-6), feedback="clicks", stream="iid")
    >>> slate = site.act()                  # three items to show
    >>> site.observe(int(slate[1]))         # the one that was clicked, or None

    References
    ----------
    Streeter, Golovin (2008), "An Online Algorithm for Maximizing Submodular Functions"; Perez-Salazar, Cummings (2021),
    "Differentially Private Online Submodular Maximization".
    """

    configuration = SetMaximizerConfig
    proof = "sets.md"
    config: SetMaximizerConfig

    def __init__(
        self,
        items: int | Sequence[str],
        slots: int,
        horizon: int,
        privacy: Privacy,
        *,
        feedback: Literal["full", "bandit", "clicks"] = "full",
        stream: Literal["any", "iid"] = "any",
        function: Any = ClickModel,
        bound: float = 1.0,
        expert: Literal["auto", "hedge", "sum"] = "auto",
        explore: float | Literal["auto"] = "auto",
        block: int | Literal["auto"] = "auto",
        calibration: Literal["tight", "published"] = "tight",
        seed: int | None = None,
        journal: Journal | str | os.PathLike[str] | None = None,
    ) -> None:
        described = describe(function)
        if unknown := set(described) - {"function", "curve", "covers"}:
            raise ConfigError(f"maximising needs monotone functions: {function!r} has {', '.join(sorted(unknown))}; see SetMinimizer")
        count, labels = labelled(items)
        config = SetMaximizerConfig(
            epsilon=privacy.epsilon, delta=privacy.delta, contributions=privacy.contributions, horizon=horizon, seed=seed,
            calibration=calibration, items=count, slots=slots, labels=labels,
            feedback=feedback, stream=stream, explore=explore, bound=bound, expert=expert, block=block, **described,
        )  # fmt: skip
        super().__init__(config, journal)

    @property
    def assumes(self) -> str:  # type: ignore[override]
        """What the value assumes."""
        return "visitors that are alike over time (i.i.d.)" if self.config.stream == "iid" else ""

    def replay(self, rows: Any) -> Any:
        """Feed a log of whole preferences and give each visitor's slate."""
        if self.config.feedback != "full" and not self._is_over():
            raise StateError("replay needs feedback='full': rewards and clicks depend on what was shown; use preview and observe_many")
        return super().replay(rows)

    # --- the hooks --------------------------------------------------------------------------------------------------------------

    def plan(self) -> Plan:
        self._check_config()
        self._numbers = {label: number for number, label in enumerate(self.config.labels or [])}
        self._setting = self._make_setting()
        self._mode: Mode = self._make_mode()
        return self._mode.plan()

    def decide(self, public: State, round: int, asked: Asked, coin: Coin) -> Integers:
        if asked.available is None:
            return self._mode.decide(public, round, None)
        available = np.asarray(asked.available, dtype=np.bool_)
        if available.shape != (self.config.items,) or not available.any():
            raise ConfigError(f"available must say yes or no for each of {self.config.items} items, and yes at least once")
        return self._mode.decide(public, round, available)

    def decide_many(self, public: State, rounds: range, coin_key: bytes) -> Any:
        return self._mode.decide_many(public, rounds)

    def blank(self) -> Any:
        if self.config.feedback == "bandit":
            return 0.0
        if self.config.feedback == "clicks":
            return None
        return (lambda chosen: 0.0) if self._setting.functions is None else np.zeros(self._setting.width)

    # --- people -----------------------------------------------------------------------------------------------------------------

    def _people(self, batch: Batch) -> Any:
        """Feedback as the mode wants it, every number in its range; `OutOfBounds` if it is of the wrong kind."""
        if self.config.feedback == "bandit":
            return as_numbers(batch, 0.0, self.config.bound) / self.config.bound
        if self.config.feedback == "clicks":
            return self._clicks(batch)
        functions = self._setting.functions
        return as_callables(batch, self.blank()) if functions is None else as_people(batch, functions, self.config.items)

    def _clicks(self, batch: Batch) -> Integers:
        """The clicked items, −1 for none."""
        clicks = [batch.feedback] if batch.single else batch.feedback
        if len(clicks) != len(batch.rounds):
            raise OutOfBounds("feedback must be one click, an item or None, a round")
        if isinstance(clicks, np.ndarray) and clicks.dtype.kind == "i" and clicks.ndim == 1:
            items = np.where((clicks >= -1) & (clicks < self.config.items), clicks, -2).astype(np.int64)
        else:
            items = np.array([self._item(click) for click in clicks], dtype=np.int64)
        if batch.single and items[0] == -2:
            raise OutOfBounds("feedback must be a shown item (its number or label), or None")
        return np.maximum(items, -1)

    def _item(self, click: Any) -> int:
        """The number of an item, −1 for none, −2 for something else."""
        if click is None:
            return -1
        if isinstance(click, str):
            return self._numbers.get(click, -2)
        if isinstance(click, bool | np.bool_) or not isinstance(click, int | np.integer | float):
            return -2
        return int(click) if 0 <= click < self.config.items and click == int(click) else -2

    # --- the configuration ------------------------------------------------------------------------------------------------------

    def _check_config(self) -> None:
        config = self.config
        config.check_whole("items", "slots", "horizon")
        if config.slots > config.items:
            raise ConfigError(f"slots ({config.slots}) must not exceed items ({config.items})")
        if config.labels is not None and len(set(config.labels)) != config.items:
            raise ConfigError("labels must be different from each other")
        if (config.horizon is not None and config.horizon > MOST_ROUNDS) or config.items > MOST_ACTIONS:
            raise ConfigError(f"at most {MOST_ACTIONS} items and {MOST_ROUNDS} rounds, got {config.items} and {config.horizon}")
        if not 1e-100 <= config.bound <= 1e100:
            raise ConfigError(f"bound must be finite and greater than 0 (1e-100 to 1e100), got {config.bound}")
        if config.bound != 1 and config.feedback != "bandit" and config.function != "SetFunction":
            raise ConfigError(f"bound is for callables and rewards; rows of {config.function} lie in [0, 1] already, got {config.bound}")
        if config.function not in FAMILIES:
            raise ConfigError(
                f"function must be one of {', '.join(FAMILIES)}, got {config.function!r}: maximising needs monotone functions"
            )
        config.check_one_of(
            feedback=("full", "bandit", "clicks"),
            stream=("any", "iid"),
            expert=("auto", "hedge", "sum"),
            calibration=("tight", "published"),
        )
        if config.explore != "auto" and (config.feedback == "full" or not 0 < float(config.explore) < 1):
            raise ConfigError(f"explore is a share of rounds between 0 and 1, for bandit and clicks only, got {config.explore!r}")
        experts = config.feedback == "bandit" and config.stream == "any" and (config.expert == "hedge" or config.calibration == "published")
        if config.feedback != "full" and not experts and (config.expert not in ("auto", "sum") or config.block != "auto"):
            raise ConfigError("bandit and clicks have one way to learn (any bandit streams: also expert='hedge'): leave expert and block")
        if config.feedback == "clicks" and config.calibration == "published":
            raise ConfigError("nothing is published for clicks: leave calibration as it is")
        if experts and config.block not in ("auto", 1):
            raise ConfigError(
                f"bandit experts are redrawn after explorations (block='auto') or every round (block=1), got {config.block!r}"
            )
        if config.stream == "iid" and (config.expert != "auto" or config.calibration == "published"):
            raise ConfigError("stream='iid' has one way to learn: leave expert and calibration as they are")
        if config.calibration == "published" and config.expert == "sum":
            raise ConfigError("calibration='published' is for the paper's experts: use expert='hedge' or 'auto'")

    def _make_setting(self) -> Setting:
        config = self.config
        functions = family(function=config.function, curve=config.curve, covers=config.covers)
        name = bytes.fromhex(config.hash)
        assert config.horizon is not None
        return Setting(config.items, config.slots, config.horizon, config.privacy.budget, config.bound, functions, config.block, name)

    def _make_mode(self) -> Mode:
        config = self.config
        explore = None if config.explore == "auto" else float(config.explore)
        if config.feedback == "bandit" and (config.expert == "hedge" or config.calibration == "published"):
            published = (config.epsilon, config.delta) if config.calibration == "published" else None
            return BanditExperts(self._setting, explore, published)
        if config.feedback != "full":
            clicks = config.feedback == "clicks"
            return Race(self._setting, clicks, explore) if config.stream == "iid" else Exploration(self._setting, clicks, explore)
        if config.stream == "iid":
            return FreshGreedy(self._setting)
        if config.calibration == "published":
            return HedgeExpert(self._setting, published=(config.epsilon, config.delta))
        expert = config.expert if config.expert != "auto" else ("hedge" if config.privacy.pure else "sum")
        return HedgeExpert(self._setting) if expert == "hedge" else SumExpert(self._setting)
