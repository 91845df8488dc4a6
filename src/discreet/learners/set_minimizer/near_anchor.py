"""Bandit: a belief about items and pairs of them, and priced trials near the set that seems cheapest.

Only the cost of the set that was played comes back. A screening tries random sets; then most rounds of a
block play the anchor, the set of least believed cost, and some try sets near it: as many, and as often, as
the chance of finding a cheaper one is worth. After each block every set's sum of costs is released, the
anchor's too, and the belief is brought up to date.

Each visitor is in one block and one public cell of it, and moves its sum by at most 2M: pure noise for the
whole ε. `stream="drifting"`: old trials fade, blocks stay short, and where the anchor costs something else
than was believed, they fade at once.

With a `report`, a share of ε pays for what each block's visitors cost, those with masks included. In the last
block nothing is tried and nobody is read; only a report reads it too, for its share of ε.

Guarantee   docs/guarantees/costs.md, Theorem 2, Lemma 2
Runtime     O(1) a round; a release O(400³ + 400 · n²); memory O(n² + 400 · n), whatever the horizon
References  Frazier, Powell, Dayanik (2008), "A Knowledge-Gradient Policy for Sequential Information
            Collection"
"""

from functools import cached_property
from math import exp, inf
from typing import Any, NamedTuple

import numpy as np

from discreet.arrays import Floats, Integers, Mask
from discreet.arrivals.feedback import as_numbers
from discreet.budget.privacy import pure
from discreet.errors import ConfigError
from discreet.learners.allotment import Allotment
from discreet.learners.earnings import Earnings
from discreet.learners.set_minimizer.belief import PairBelief, least_sets
from discreet.learners.set_minimizer.mode import CubeMode
from discreet.learners.standard_gain import standard_gain
from discreet.learners.streams import assumed_by
from discreet.release.door import Door
from discreet.release.gathering import Gathering, PublicCells
from discreet.release.noise import Once
from discreet.turn.coins import Coin, Coins
from discreet.turn.plan import Plan, State, Step, paid_by_cohorts
from discreet.turn.questions import Asked, Batch, Block
from discreet.turn.readings import Scores

__all__ = ["NearAnchor"]

SCREENED_ROUNDS = 40
"""Of each random set, divided by ε."""
SCREENED = 0.05
"""The largest part of the horizon that the screening takes, if `explore` sets no limit."""
SCREENED_OF_EXPLORE = 0.5
"""The largest part of the trials that `explore` allows which the screening takes."""
FEWEST_SETS = 36
GROWTH = 1.25
FIRST_BLOCK = 0.6
"""Of the screening."""
LONGEST = {"iid": 0.05, "drifting": 0.01}
"""Blocks, in parts of the horizon."""
DRAWS, MOST_FORCED, BEST_KEPT = 12, 40, 20
FIRST_TRIAL, DOUBLINGS = 20, 20
MOST_TRIED = 0.8
ALARM = 5.0
"""So many standard deviations off are no chance."""


class Lengths(NamedTuple):
    """Rounds of the screening and sets in it; and of the memory, the blocks and what a find is credited."""

    sets: int
    each: int
    longest: float
    memory: float
    ahead: float

    @property
    def screening(self) -> int:
        return self.sets * self.each


class NearAnchor(CubeMode):
    """Sets near the one that seems cheapest; the default for the cost of the chosen set alone."""

    growing = (("belief.sets", "belief.means", "belief.precisions"), ("sets", "counts"), ("report",))

    _newest: tuple[State, Allotment, Integers] | None = None

    @classmethod
    def serves(cls, settings: Any) -> bool:
        return bool(settings.feedback == "bandit")

    @property
    def assumes(self) -> str:
        return assumed_by(self.settings.stream)

    def check(self) -> None:
        if self.settings.functions is not None:
            raise ConfigError("bandit feedback is a number: leave function")

    # --- the plan -----------------------------------------------------------------------------------------

    @cached_property
    def lengths(self) -> Lengths:
        settings, rounds = self.settings, self.settings.rounds
        explore = settings.explore
        most = (SCREENED if explore == "auto" else SCREENED_OF_EXPLORE * explore) * rounds
        sets, each = max(FEWEST_SETS, 2 * settings.items), max(2, round(SCREENED_ROUNDS / settings.epsilon))
        while sets * each > most and (sets > 12 or each > 1):
            sets, each = (max(12, int(0.8 * sets)), each) if sets > 12 else (sets, max(1, int(0.8 * each)))
        sets = max(1, min(sets, int(most)))
        if settings.stream == "iid":
            return Lengths(sets, each, LONGEST["iid"] * rounds, float(rounds), float(rounds))
        screening = sets * each
        longest = max(LONGEST["drifting"] * rounds, 1.25 * screening)
        return Lengths(
            sets, each, longest, max(rounds / 6, 12 * screening), max(0.2 * rounds, 12 * screening)
        )

    def _once(self, cells: int) -> Once[Any]:
        """Each visitor enters one turn: the whole ε but for the report, pure, which needs the least noise."""
        bound = self.settings.bound
        budget = pure(self.settings.epsilon / self.settings.contributions * (1 - self.settings.report))
        return Once.for_budget(budget, PublicCells((cells,), -bound, bound))

    @cached_property
    def plan(self) -> Plan:
        settings, lengths = self.settings, self.lengths
        once = self._once(lengths.sets)
        facts: dict[str, Any] = {
            "method": "pairs",
            "why": "visitors say what the set that was chosen cost, and nothing else",
            "block": lengths.screening,
            "explore": lengths.screening / settings.rounds,
            "noise_in_visitors": once.standard_deviation,
            "tries_of_a_set": lengths.each,
        }
        if lengths.each < 4 * once.standard_deviation or lengths.sets < settings.items:
            facts["warning"] = (
                "the horizon is too short: trials may cost as much as there is to gain before items are known"
            )
        total = paid_by_cohorts(settings.privacy, [pure(settings.epsilon / settings.contributions)])
        constants: tuple[Any, ...] = ("pairs", once.gathering, lengths)
        if self.earnings is not None:
            facts, constants = facts | self.earnings.facts, (*constants, *self.earnings.constants)
        return Plan(None, total, settings.rounds, None, facts, constants)

    @cached_property
    def earnings(self) -> Earnings | None:
        return Earnings.by_cohorts(self.settings, self.units)

    def step(self, index: int, public: State) -> Step | None:
        charge = pure(0.0) if public["settled"] else self._once(len(public["sets"])).charge
        if self.earnings is not None and public["length"]:
            charge += self.earnings.charge(index)
        return Step(public["length"], charge, cohort=index) if charge.amount else None

    # --- the hooks ----------------------------------------------------------------------------------------

    def start(self) -> tuple[State, State]:
        items, lengths = self.settings.items, self.lengths
        generator = Coin(self.name, 0).generator()
        sets = generator.random((lengths.sets, items)) < 0.5
        sets[:2] = np.array([False, True])[: len(sets), None]  # nothing, everything
        sets = np.unique(sets, axis=0)
        counts = np.full(len(sets), lengths.each)
        public: State = {"index": 0, "begin": 0, "blocks": 0, "settled": 0, "point": sets[0].astype(float)}
        length = int(counts.sum())
        public |= {"sets": sets, "counts": counts, "length": length, "tried": length}
        if self.earnings is not None:
            public |= self.earnings.start()[0]
        return self._settled_if_over(public | PairBelief.before(items).state()), {}

    def gatherings(self, public: State) -> dict[str, Gathering]:
        earned: dict[str, Gathering] = {}
        if self.earnings is not None and public["length"]:
            earned = {"earned": self.earnings.gathering(public["index"])}
        if public["settled"]:
            return earned
        return {"costs": self._once(len(public["sets"])).gathering} | earned

    def gather(self, public: State, block: Block, batch: Batch) -> None:
        costs = as_numbers(batch)
        if self.earnings is not None:
            self.earnings.add(block, costs)
        if "costs" not in block:
            return
        found = block["costs"].gathering
        assert isinstance(found, PublicCells)
        things = self._things(public, batch.rounds)
        cells = np.where(self._played(public, things, batch.asked), things, -1)
        found.add(block["costs"], cells[:, None], costs)

    def no_counts(self, public: State) -> State:
        return {} if public["settled"] else {"unread": np.zeros(len(public["sets"]), dtype=np.int64)}

    def tally(self, public: State, tally: State, rounds: Integers, asked: Asked, coins: Coins) -> None:
        """Rounds in which a mask changed the set are not read."""
        if public["settled"]:
            return
        things = self._things(public, rounds)
        np.add.at(tally["unread"], things[~self._played(public, things, asked)], 1)

    def release(
        self, public: State, tally: State, kept: State, block: Block, door: Door
    ) -> tuple[State, State]:
        if self.earnings is not None:
            end, rounds = public["begin"] + public["length"], public["length"]
            public, kept = self.earnings.next(public, kept, block, door, end=end, rounds=rounds)
        if public["settled"]:
            return public | {"index": door.index + 1, "begin": end, "length": 0}, {}
        settings, once = self.settings, self._once(len(public["sets"]))
        sums = door.release(once, block["costs"]) / settings.bound
        noise = once.standard_deviation**2
        counts = (public["counts"] - tally.get("unread", 0)).astype(np.float64)
        belief = PairBelief.of_state(public)
        if settings.stream == "drifting" and public["blocks"]:
            belief = self._alarmed(belief, public, counts[0], sums[0], noise)
        belief = belief.faded(exp(-public["length"] / self.lengths.memory))
        belief = belief.with_trials(public["sets"], counts, sums, noise)
        if not len(belief.sets):
            belief = PairBelief.of_state(public)
        public = public | {"index": door.index + 1, "begin": public["begin"] + public["length"]}
        return self._next_block(public, belief), {}

    def decide(self, public: State, rounds: Integers, asked: Asked, coins: Coins) -> Integers:
        """One set a row, in ascending order, filled up with −1; without what is unavailable."""
        shown = self._block(public)[1]
        return self.without_hidden(shown[self._things(public, rounds)], asked)

    def scores(self, public: State, index: int, context: Any) -> Scores:
        """What each item saves beside the rest of the anchor: the cost without it, less that with it."""
        belief, anchor = PairBelief.of_state(public), public["sets"][0]
        if not len(belief.sets):
            return Scores(np.zeros(belief.items), np.full(belief.items, 1.0))
        changed = anchor ^ np.eye(belief.items, dtype=np.bool_)
        more = belief.costs(changed)[0] - belief.costs(anchor[None])[0]
        doubt = np.sqrt(belief.variances_of_differences(changed, anchor))
        bound = self.settings.bound
        return Scores(np.where(anchor, more, -more) * bound, doubt * bound)

    def _block(self, public: State) -> tuple[Allotment, Integers]:
        """Which round plays which set, and the sets as rows of items."""
        if self._newest is None or self._newest[0] is not public:
            key = Coin(self.name, 1 + public["index"]).generator().bytes(16)
            sets: Mask = public["sets"]
            items = np.where(sets, np.arange(self.settings.items), self.settings.items)
            items = np.sort(items, axis=1)
            shown = np.where(items == self.settings.items, -1, items)
            self._newest = public, Allotment(public["counts"], int(public["counts"].sum()), key), shown
        return self._newest[1:]

    def _things(self, public: State, rounds: Integers) -> Integers:
        """The number of the set that each round plays; the anchor once everything is settled."""
        if public["settled"]:
            return np.zeros(len(rounds), dtype=np.int64)
        allotment = self._block(public)[0]
        if len(rounds) == 1:
            return np.array([allotment.of_one(int(rounds[0]) - public["begin"])])
        return allotment.of(rounds - public["begin"])

    def _played(self, public: State, things: Integers, asked: Asked) -> Mask:
        """Whether the whole set of each round was available."""
        if asked.available is None:
            return np.ones(len(things), dtype=np.bool_)
        return np.asarray((asked.available | ~public["sets"][things]).all(axis=1))

    # --- from one block to the next -----------------------------------------------------------------------

    def _alarmed(
        self, belief: PairBelief, public: State, count: float, total: float, noise: float
    ) -> PairBelief:
        """If the anchor costs something else than believed, all that was known counts for much less."""
        if count < 1:
            return belief
        anchor = public["sets"][0]
        expected, own = belief.costs(anchor[None])
        doubt = belief.variance / count + noise / count**2 + own[0] + belief.variance_of(anchor)
        if (total / count - expected[0]) ** 2 <= ALARM**2 * doubt:
            return belief
        return belief.faded(exp(-0.6 * self.settings.rounds / self.lengths.memory))

    def _next_block(self, public: State, belief: PairBelief) -> State:
        settings, lengths, number = self.settings, self.lengths, public["blocks"]
        generator = Coin(self.name, 2**40 + public["index"]).generator()
        left = settings.rounds - public["begin"]
        if number < 6 or number % 5 == 0:
            belief = belief.with_sizes(2 if number == 0 else 1)
        starts = np.concatenate([public["sets"][:1], generator.random((40, belief.items)) < 0.5])
        found = least_sets(belief.weights(0, generator), starts)
        near = np.unique(np.concatenate([found, belief.sets]), axis=0)
        anchor = near[belief.costs(near)[0].argmin()]
        first = FIRST_BLOCK * lengths.screening if settings.block == "auto" else settings.block
        length = int(max(1, min(first * GROWTH ** min(number, 200), lengths.longest, left)))
        public = public | belief.state() | {"blocks": number + 1, "length": length}
        sets, counts = anchor[None], np.array([length])
        if left - length >= 0.3 * length:
            ahead = min(left, lengths.ahead)
            candidates = self._candidates(belief, anchor, generator)
            most = min(MOST_TRIED * length, self._trials_left(public))
            sets, counts = self._priced(belief, anchor, candidates, length, ahead, most)
        public |= {"sets": sets, "counts": counts, "point": anchor.astype(float)}
        public["tried"] += length - int(counts[0])
        return self._settled_if_over(public)

    def _trials_left(self, public: State) -> float:
        """How many more visitors `explore` allows to meet a trial; the screening is one."""
        if self.settings.explore == "auto":
            return inf
        return float(self.settings.explore * self.settings.rounds - public["tried"])

    def _settled_if_over(self, public: State) -> State:
        """In the last block nothing is tried and nobody is read."""
        left = self.settings.rounds - public["begin"]
        if left - public["length"] >= 0.3 * public["length"]:
            return public
        return public | {"settled": 1, "length": left, "sets": public["sets"][:1], "counts": np.array([left])}

    def _candidates(self, belief: PairBelief, anchor: Mask, generator: np.random.Generator) -> Mask:
        """Sets near the anchor, the best that were tried, and those that are best by draws of the belief."""
        items = belief.items
        best = belief.sets[np.argsort(belief.costs(belief.sets)[0], kind="stable")[:BEST_KEPT]]
        changed = anchor ^ np.eye(items, dtype=np.bool_)
        some = generator.permutation(items)[:MOST_FORCED]
        weights = belief.weights(DRAWS + len(some), generator)
        believed = type(weights)(np.repeat(weights.linear[:1], len(some), axis=0), weights.pairs[:1])
        drawn = type(weights)(*(part[1 + DRAWS :] for part in weights))
        first = type(weights)(*(part[1 : 1 + DRAWS] for part in weights))
        starts = np.concatenate([anchor[None], generator.random((6, items)) < 0.5])
        sides = some, np.where(anchor, -1.0, 1.0)[some]
        found = [least_sets(believed, starts[:5], sides), least_sets(drawn, starts[:5], sides)]
        sets = np.unique(np.concatenate([best, changed, *found, least_sets(first, starts)]), axis=0)
        return np.asarray(sets[(sets != anchor).any(axis=1)])

    def _priced(
        self, belief: PairBelief, anchor: Mask, sets: Mask, length: int, ahead: float, most: float
    ) -> tuple[Mask, Integers]:
        """The anchor and the sets that are worth trying, and how often each; at most `most` trials."""
        means, own = belief.costs(sets)
        dearer = means - belief.costs(anchor[None])[0]
        variances = own + belief.variances_of_differences(sets, anchor)
        noise = self._once(1).standard_deviation ** 2
        best_rate, best_size = np.full(len(sets), -np.inf), np.zeros(len(sets), dtype=np.int64)
        sizes = FIRST_TRIAL * 2 ** np.arange(DOUBLINGS)
        for size in sizes[sizes <= max(min(length / 8, most / 4), FIRST_TRIAL)].tolist():
            step: Floats = variances / np.sqrt(variances + belief.variance / size + noise / size**2)
            rate = ahead * standard_gain(-dearer, step) / size - np.maximum(dearer, 0.0)
            best_size = np.where(rate > best_rate, size, best_size)
            best_rate = np.maximum(rate, best_rate)
        order = np.argsort(-best_rate, kind="stable")
        order = order[best_rate[order] > 0]
        order = order[np.cumsum(best_size[order]) <= most]
        counts = np.concatenate([[length - int(best_size[order].sum())], best_size[order]])
        return np.concatenate([anchor[None], sets[order]]), counts
