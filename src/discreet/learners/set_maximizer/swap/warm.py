"""A log of another policy, read once before the first visitor: what its rows add, and what is believed then.

A row shows item a at place j with chance p_j, and has a first click or a reward of the whole slate. It weighs
w_j = min(least/p_j, 1), least a public number, and adds

    clicks     w_j in the cell of the clicked item                                     one choice
    rewards    reward · w_j / slots in the cell of each of the first `slots` items     a vector, l₁ ≤ 1

Of N rows, with μ the interest of an item, and places looked at as long as nothing before them was clicked:

    E(clicks of a)  = N · least · Σ_j P(first click at j | a there) ≈ N · least · μ_a · Σ_{j<slots} (1 − μ̄)^j
    E(rewards of a) = N · least · mean over places of E(reward | a there)

so no views are released: what each item is expected to have been looked at is public once μ̄ is. Chances below
`least` count as `least`, which makes rare items look worse, never better. Uniform slates have one weight, 1.

Guarantee   docs/guarantees/sets.md, Theorem 7
References  Horvitz, Thompson (1952); Ionides (2008), "Truncated Importance Sampling"
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discreet import require
from discreet.arrays import Floats, Integers
from discreet.arrivals.feedback import as_floats
from discreet.errors import ConfigError, StateError
from discreet.learners.logged import UNIFORM, weight_of
from discreet.learners.set_maximizer.swap.belief import Belief
from discreet.learners.set_maximizer.swap.screening import after_clicks, after_rewards, first_rate
from discreet.turn.plan import State

__all__ = ["OF_LOGS", "Logged", "after_log", "clicks_of", "rewards_of", "warming"]

OF_LOGS = (
    "or one row of the log that came before (its people are taken to be others than the visitors: "
    "whoever is in both takes part twice)"
)
"""What neighbours may differ in, besides rounds."""
LEAST = 1e-9
"""Of propensities that may be declared."""
CHUNK = 2**20
"""Numbers of rows of rewards that are held at once."""


@dataclass(frozen=True, eq=False)
class Logged:
    """The rows of a log, a slate and its answer each, and the chances of what they show.

    `chances` has an entry a row, a number for all places or one for each; None if slates were uniform.
    """

    rows: Sequence[Any] = field(repr=False)
    chances: Any = field(repr=False)
    least: float

    @classmethod
    def checked(cls, rows: Any, propensity: Any, least: float | None, items: int) -> "Logged":
        """What `warm_start` was given, refused by what is public of it: how many rows, and the settings."""
        if not isinstance(rows, list | tuple):
            raise ConfigError("rows must be a list of (slate, answer), one a person of the log")
        require.whole("the number of rows", len(rows))
        if isinstance(propensity, str):
            require.one_of("propensity", propensity, (UNIFORM,))
            if least is not None:
                raise ConfigError(f'least_propensity is for chances of single rows, not for "{UNIFORM}"')
            return cls(rows, None, 1 / items)
        if not isinstance(propensity, list | tuple | np.ndarray) or len(propensity) != len(rows):
            raise ConfigError(
                f'propensity must be "{UNIFORM}" or have one entry for each of {len(rows)} rows: '
                "a number, or one for each place"
            )
        if least is None:
            raise ConfigError(
                "least_propensity is missing: a public number, the least chance that counts as it is "
                "(the smallest in the log would be people's data)"
            )
        return cls(rows, propensity, require.number("least_propensity", least, LEAST, 1.0))

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def event(self) -> State:
        """What is public of it."""
        return {"log.rows": len(self.rows), "log.least": self.least}

    @property
    def answers(self) -> list[Any]:
        """Of each row, as it stands there."""
        return [self.shown(row)[1] for row in range(len(self.rows))]

    def weight(self, row: int, place: int) -> float:
        """What a row counts for the item at a place; 0 if its chance there is none."""
        if self.chances is None:
            return 1.0
        chances = as_floats(self.chances[row])
        if chances is None or chances.ndim > 1:
            return 0.0
        return min(self.least * weight_of(chances.reshape(-1).tolist(), place), 1.0)

    def shown(self, row: int) -> tuple[list[Any], Any]:
        """A row's slate and answer; an empty slate if it has none."""
        entry = self.rows[row]
        if type(entry) not in (list, tuple) or len(entry) != 2:
            return [], None
        slate, answer = entry
        if type(slate) is np.ndarray:
            slate = slate.tolist()
        return (list(slate), answer) if type(slate) in (list, tuple) else ([], None)


def warming(public: State, event: State) -> State:
    """What is public once a log is to be read; refused after the first release, or once there was one."""
    if "log.rows" in public or public["index"] > 0:
        raise StateError("a warm start comes once, before the first visitor: go on with visitors")
    # The log counts as random slates that were shown before the first visitor came.
    shown = int(min(event["log.rows"] * event["log.least"] * public["living"].sum(), 2.0**53))
    random = public["length"]
    return (
        public
        | event
        | {
            "length": 0,
            "since": public["begin"] - shown,
            "screened": public["screened"] - random,
            "log.random": random,
        }
    )


def clicks_of(
    logged: Logged, slots: int, item: Callable[[Any], int], first: Callable[[Any, Integers], int]
) -> tuple[Integers, Floats]:
    """The clicked item of each row, −1 for none, and its weight.

    `item` numbers an item, and `first` finds the first of several clicks; either gives what is negative for
    nobody's. A click counts in the first `slots` places only.
    """
    cells = np.full(len(logged), -1, dtype=np.int64)
    weights = np.zeros(len(logged))
    for row in range(len(logged)):
        slate, click = logged.shown(row)
        if click is None or not slate:
            continue
        numbers = [item(name) for name in slate]
        clicked = first(click, np.array(numbers, dtype=np.int64))
        if clicked >= 0 and clicked in numbers[:slots]:
            cells[row] = clicked
            weights[row] = logged.weight(row, numbers.index(clicked))
    return cells, weights


def rewards_of(
    logged: Logged, slots: int, item: Callable[[Any], int], rewards: Floats, items: int
) -> Iterator[Floats]:
    """Chunks of vectors, one a row: the reward of each shown item, weighted, over the number of slots."""
    size = max(1, CHUNK // items)
    for begin in range(0, len(logged), size):
        people = range(begin, min(begin + size, len(logged)))
        vectors = np.zeros((len(people), items))
        for place, row in enumerate(people):
            if not rewards[row] > 0:
                continue
            slate, _ = logged.shown(row)
            for slot, name in enumerate(slate[:slots]):
                number = item(name)
                if number >= 0:
                    vectors[place, number] += rewards[row] * logged.weight(row, slot) / slots
        yield vectors


def after_log(
    public: State, sums: Floats, noise: float, *, slots: int, by_clicks: bool
) -> tuple[Belief, float]:
    """The belief after the released sums of a log, whose noise has this variance; and what a slate earns."""
    items, living = len(sums), public["living"]
    views = public["log.rows"] * public["log.least"]
    mean, doubt = float(sums[living].mean()) / views, noise / living.sum() / views**2
    level = _level(mean, doubt, public["belief.centre"], slots)
    rate = first_rate(level, 1.0, slots)
    if by_clicks:
        belief = Belief.before(items, slots=slots, interest=rate)
        looks = views * (1 - (1 - rate) ** slots) / rate
        return after_clicks(belief, np.zeros(0, dtype=np.int64), sums, looks * living, noise), 0.5
    belief = Belief.before(items, slots=slots, interest=rate)
    others, shows = (1 - rate) ** (slots - 1), views * slots
    surplus = others * (sums * slots - level * shows)
    weights = others**2 * shows * living
    scaled = (others * slots) ** 2 * noise
    return after_rewards(belief, surplus, weights, reward_variance=level, noise=scaled), level


def _level(found: float, doubt: float, guess: float, slots: int) -> float:
    """What a slate earns: as it was found; as far as that is the noise of a short log, as it was guessed."""
    expected = 1 - (1 - guess) ** slots
    usual = (0.8 * expected) ** 2
    return float(np.clip(expected + usual / (usual + doubt) * (found - expected), 1e-3, 0.95))
