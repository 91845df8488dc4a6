"""From one block to the next: what follows a screening or a block of exchanges, from released values only.

Guarantee   docs/guarantees/sets.md, Theorem 4
"""

from math import exp, inf
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.budget.privacy import pure
from discreet.learners.set_maximizer.mode import SetMode
from discreet.learners.set_maximizer.swap.belief import Belief
from discreet.learners.set_maximizer.swap.blocks import ScreeningBlock
from discreet.learners.set_maximizer.swap.exchanges import Found, after_exchanges
from discreet.learners.set_maximizer.swap.screening import (
    BOLD,
    MOST_SCREENED,
    SCREENED_OF_EXPLORE,
    Screening,
    after_clicks,
    after_rewards,
    first_rate,
    random_table,
    thompson_table,
)
from discreet.learners.set_maximizer.swap.trials import Anchor, climbed, priced
from discreet.learners.set_maximizer.swap.warm import after_log
from discreet.release.gathering import Gathering, OneChoice, PublicCells, PublicRows, Rows
from discreet.release.noise import Once
from discreet.turn.coins import Coin
from discreet.turn.plan import State

__all__ = ["EXCHANGING", "SCREENING", "SETTLED", "WARMING", "Course"]

MEMORY = 0.3
"""In how long estimates of a "drifting" stream fade by 1/e, as a share of the horizon."""
LONGEST = 0.05
"""The longest block of a "drifting" stream, as a share of the horizon."""
LIGHTEST = 1e-100
"""Rows of weights are never taken to be lighter."""
MOST_SCREENED_AGAIN = 0.1
"""Alarms start screening again while all screening takes at most this share of the horizon."""
SCREENING, EXCHANGING, SETTLED, WARMING = 0, 1, 2, 3


class Course(SetMode):
    """Which block comes next, how long it is, what it shows and what it is gathered with."""

    @property
    def by_clicks(self) -> bool:
        return self.settings.feedback == "clicks"

    @property
    def forgets(self) -> bool:
        return self.settings.stream == "drifting"

    def screening(self, public: State) -> Screening:
        """Which blocks find the leaders, among the items that live now."""
        settings, living = self.settings, int(public["living"].sum())
        explore = settings.explore
        most = MOST_SCREENED if explore == "auto" else SCREENED_OF_EXPLORE * explore
        return Screening(living, settings.slots, public["rounds"], settings.feedback, most)

    def trials_left(self, public: State) -> float:
        """How many more visitors `explore` allows to see a trial; screenings are trials."""
        if self.settings.explore == "auto":
            return inf
        return float(self.settings.explore * public["rounds"] - public["screened"] - public["tried"])

    def _longest(self, public: State) -> float:
        """The rounds of the next block of exchanges, as long as nothing stops it."""
        rounds, number = public["rounds"], public["blocks"]
        if self.settings.block != "auto":
            return float(self.settings.block)
        pace = self.screening(public).pace(public["belief.centre"])
        percent = min(max(pace, 0.3), 10.0) if self.by_clicks else min(max(pace, 1.0), 10.0)
        growth = 1.15 if self.by_clicks and 0.5 < pace < 2 else 1.2
        first, most = percent / 100 * rounds, LONGEST * rounds
        length = float(first * growth**number)
        return min(length, max(most, first)) if self.forgets else length

    def once(self, gathering: Gathering) -> Once[Any]:
        """Each visitor enters one turn: the whole ε but for the report, pure, which needs the least noise."""
        budget = pure(self.settings.epsilon / self.settings.contributions * (1 - self.settings.report))
        return Once.for_budget(budget, gathering, most=2**20)  # fine enough for rewards times weights

    @property
    def first_gathering(self) -> Gathering:
        items, slots = self.settings.room, self.settings.slots
        return OneChoice((items,)) if self.by_clicks else PublicCells((items + 1,), copies=slots + 1)

    @property
    def log_gathering(self) -> Gathering:
        """Of a log of another policy: its slates are people's data, so the cells are too."""
        items = (self.settings.room,)
        return OneChoice(items) if self.by_clicks else Rows(items, norm=1, nonnegative=True)

    def gathering(self, public: State) -> Gathering:
        """First clicks; rewards, and of whom; rewards times public weights; cells of exchanges."""
        if public["kind"] == WARMING:
            return self.log_gathering
        if public["kind"] == EXCHANGING:
            return PublicCells((self.settings.slots, self.settings.room))
        if self.by_clicks or public["stage"] == 0:
            return self.first_gathering
        return PublicRows((self.settings.room,), length=public["heaviest"])

    def horizon(self, public: State) -> int:
        rounds: int = public["rounds"]
        return rounds

    def learns_on(self, public: State) -> bool:
        return bool(public["kind"] != SETTLED or public["begin"] + public["length"] < public["rounds"])

    def extended(self, public: State, rounds: int) -> State:
        """More rounds; what block people are in stays as it is, and the next one is planned with them."""
        return public | {"rounds": public["rounds"] + rounds}

    def goes_on(self, public: State) -> State:
        """The block after one in which nobody was read, now that there are more rounds."""
        belief = Belief.of_state(public)
        slate = self._greedy(public, belief, public["slate"])
        return self._exchanging(public | {"slate": slate}, belief)

    def screened_from_here(self, public: State, belief: Belief) -> State:
        """The first block of a screening: random slates."""
        generator = Coin(self.name, 2**40 + public["index"]).generator()
        table = random_table(public["living"], self.settings.slots, generator)
        length = self.screening(public).stages(belief.centre)[0].length
        length = min(length, public["rounds"] - public["begin"])
        return self._common(public, belief) | {
            "kind": SCREENING,
            "stage": 0,
            "next": 0,
            "blocks": 0,
            "length": length,
            "since": public["begin"],
            "screened": public["screened"] + length,
            "table": table,
            "prefix": np.zeros(0, dtype=np.int64),
            "heaviest": float(self.settings.slots),
            "reference": np.array([0.0, -1.0]),
        }

    def _common(self, public: State, belief: Belief) -> State:
        order = np.argsort(-belief.interest, kind="stable")
        nothing = np.zeros(0, dtype=np.int64)
        trials = {"trial_slots": nothing, "trial_items": nothing, "trial_rounds": nothing}
        return public | belief.state() | {"order": order} | trials

    def after_screening(
        self, public: State, here: ScreeningBlock, sums: Floats, counts: Floats, noise: float
    ) -> State:
        belief, slots = Belief.of_state(public), self.settings.slots
        level = public["level"]
        if self.by_clicks:
            if public["stage"] == 0:
                rate = first_rate(sums.sum(), max(1, public["length"]), slots)
                counts = counts * max(sums.sum(), 1e-9) / (rate * max(counts.sum(), 1e-9))
                belief = Belief.before(self.settings.room, slots=slots, interest=rate)
            belief = after_clicks(belief, here.prefix, sums, counts[0], noise)
        elif public["stage"] == 0:
            level = float(np.clip(sums[-1] / public["length"], 1e-3, 0.95))
            rate = 1 - (1 - level) ** (1 / slots)
            belief = Belief.before(self.settings.room, slots=slots, interest=rate)
            weight = (1 - rate) ** (slots - 1)
            surplus, shown = weight * (sums[:-1] - level * counts[0]), weight**2 * counts[0]
            belief = after_rewards(
                belief, surplus, shown, reward_variance=level * (1 - level), noise=weight**2 * noise
            )
        else:
            # Slates of leaders may all be worth less than their items promise: that tells no two apart.
            surplus = sums - counts[1]
            surplus = surplus - counts[2] * surplus.sum() / max(counts[2].sum(), 1e-9)
            belief = after_rewards(
                belief, surplus, counts[0], reward_variance=level * (1 - level), noise=noise
            )
        slate = self._greedy(public, belief, here.prefix)
        return self._next_stage(self._common(public, belief) | {"level": level, "slate": slate}, belief)

    def after_warming(self, public: State, sums: Floats, noise: float) -> State:
        """After a log: as after so many random slates."""
        belief, level = after_log(public, sums, noise, slots=self.settings.slots, by_clicks=self.by_clicks)
        slate = self._greedy(public, belief, np.zeros(0, dtype=np.int64))
        public = public | {"kind": SCREENING, "level": level, "slate": slate}
        return self._next_stage(self._common(public, belief), belief)

    def _next_stage(self, public: State, belief: Belief) -> State:
        """More random slates, if visitors click more rarely than was thought; or the stage that follows."""
        stages, slots = self.screening(public).stages(belief.centre), self.settings.slots
        generator = Coin(self.name, 2**40 + public["index"]).generator()
        stage, slate = public["stage"] + 1, public["slate"]
        random = public["begin"] - public["since"]
        goes_on = self.by_clicks or "log.rows" in public
        if goes_on and not public["next"] and stages[0].length > 1.3 * random:
            missing = min(stages[0].length - random, public.get("log.random", stages[0].length))
            public |= {"stage": stage, "length": missing, "screened": public["screened"] + missing}
            table = random_table(public["living"], slots, generator)
            if not self.by_clicks:
                block = ScreeningBlock(table, public["prefix"], belief.interest, public["order"], "gains")
                public |= {"heaviest": max(block.heaviest, LIGHTEST)}
            return self._settled_if_over(public | {"table": table})
        following = public["next"] + 1
        if following == len(stages):
            slate = climbed(belief, slate, public["living"], steps=10, caution=0.0).slate
            return self._exchanging(public | {"slate": slate.copy(), "table": public["table"][:1]}, belief)
        prefix = slate[: stages[following].fixed].copy()
        bold = BOLD[self.settings.feedback]
        table = thompson_table(belief, prefix, slots, public["living"], generator, bold=bold)
        length = stages[following].length
        public |= {"prefix": prefix, "stage": stage, "next": following, "length": length, "table": table}
        public |= {"screened": public["screened"] + length}
        block = ScreeningBlock(table, prefix, belief.interest, public["order"], "gains")
        return self._settled_if_over(public | {"heaviest": max(block.heaviest, LIGHTEST)})

    def _greedy(self, public: State, belief: Belief, prefix: Integers) -> Integers:
        """What lives of the prefix, filled up with one leader after another."""
        slate = prefix[public["living"][prefix]].tolist()
        while len(slate) < self.settings.slots:
            means = belief.gains([slate]).means[0]
            means[~public["living"]] = -np.inf
            means[slate] = -np.inf
            slate.append(int(np.argmax(means)))
        return np.array(slate, dtype=np.int64)

    def _exchanging(self, public: State, belief: Belief) -> State:
        """The next block of exchanges, or the last block, in which nothing is tried."""
        rounds, left = public["rounds"], public["rounds"] - public["begin"]
        length = int(max(1, min(self._longest(public), left)))
        if left - length < 0.3 * length:
            return public | {"kind": SETTLED, "length": left}
        ahead = min(left - length, MEMORY * rounds) if self.forgets else left - length
        public = public | {"kind": EXCHANGING, "length": length, "blocks": public["blocks"] + 1}
        noise = self.once(self.gathering(public)).standard_deviation ** 2
        level = public["level"]
        trials = priced(
            belief,
            Anchor.of(belief, public["slate"]),
            public["living"],
            rounds=length,
            most=self.trials_left(public),
            ahead=ahead,
            reward_variance=None if self.by_clicks else level * (1 - level),
            noise_variance=noise,
        )
        return public | {
            "trial_slots": trials.slots,
            "trial_items": trials.items,
            "trial_rounds": trials.rounds,
            "tried": public["tried"] + int(trials.rounds.sum()),
        }

    def _settled_if_over(self, public: State) -> State:
        left = public["rounds"] - public["begin"]
        if public["length"] < left:
            return public
        return public | {"kind": SETTLED, "length": left}

    def after_exchanging(self, public: State, sums: Floats, views: Floats, noise: float) -> State:
        belief, rounds = Belief.of_state(public), public["rounds"]
        anchor = Anchor.of(belief, public["slate"])
        if self.forgets:
            belief = belief.faded(exp(-public["length"] / (MEMORY * rounds)))
        found = Found(anchor, sums, views, noise)
        level = public["level"]
        after = after_exchanges(belief, found, public["reference"], None if self.by_clicks else level)
        belief = after.belief.with_interest()
        public = self._common(public, belief) | {"reference": after.reference, "level": after.level}
        length = self.screening(public).length(belief.centre)
        again = public["screened"] + length <= MOST_SCREENED_AGAIN * rounds
        again = again and length <= self.trials_left(public)
        surprised = after.surprised and (public["blocks"] > 2 or not self.by_clicks)
        if self.forgets and surprised and again:
            before = Belief.before(belief.items, slots=self.settings.slots, interest=belief.centre)
            return self._settled_if_over(self.screened_from_here(public, before))
        slate = self._greedy(public, belief, public["slate"])
        slate = climbed(belief, slate, public["living"], steps=2, caution=0.5).slate
        return self._exchanging(public | {"slate": slate.copy()}, belief)
