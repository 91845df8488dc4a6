"""Clicks and rewards, any or i.i.d. streams: screen all items, then exchange single slots around an anchor.

Every round shows a full slate. Screening blocks find the leaders among all items; then most rounds show the
anchor slate, and some, as many as are worth it, the anchor with one slot exchanged. After each block the
sums of its cells are released, the belief is brought up to date, and the anchor climbs where that is better.

Each visitor is in one block, and each block is released once, with pure noise for the whole ε: the first
click of a slate moves one count down and one up (l₁ 2); whether the last place was clicked, or what the slate
earned, moves one public cell (l₁ 1).

`stream="any"`: old cells fade, blocks stay short, and where the anchor earns something else than it used to,
everything is screened again.

Guarantee   docs/guarantees/sets.md, Theorem 6
Runtime     O(slots) a round; a release O(items · 40³) at most; memory O(slots · items), whatever the horizon
References  Russo et al. (2018), "A Tutorial on Thompson Sampling"; Frazier, Powell, Dayanik (2008)
"""

from functools import cached_property
from math import exp
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.budget.privacy import pure
from discreet.errors import ConfigError
from discreet.learners.set_maximizer.mode import SetMode
from discreet.learners.set_maximizer.slates import filled_up
from discreet.learners.set_maximizer.swap.belief import Belief
from discreet.learners.set_maximizer.swap.blocks import UNIT, ExchangeBlock, ScreeningBlock, shared_gains
from discreet.learners.set_maximizer.swap.exchanges import Found, after_exchanges
from discreet.learners.set_maximizer.swap.screening import (
    Screening,
    after_clicks,
    after_rewards,
    first_rate,
    random_table,
    thompson_table,
)
from discreet.learners.set_maximizer.swap.trials import Anchor, climbed, priced
from discreet.release.door import Door
from discreet.release.gathering import Gathering, OneChoice, PublicCells, PublicRows
from discreet.release.noise import Once
from discreet.turn.coins import Coin, Coins
from discreet.turn.plan import Plan, State, Step, paid_by_cohorts
from discreet.turn.problem import Asked, Batch, Block, Scores

__all__ = ["Swap"]

GUESS = 0.05
"""What an item is taken to gain before anything was released."""
MEMORY = 0.3
"""Of the horizon: how long a cell of an "any" stream is believed."""
LONGEST = 0.05
"""Of the horizon: the longest block of an "any" stream."""
MOST_SCREENED_AGAIN = 0.1
"""Of the horizon: alarms may screen again up to here."""
SCREENING, EXCHANGING, SETTLED = 0, 1, 2


class Swap(SetMode):
    """Slates from screening and exchanges around an anchor; the default for clicks and rewards."""

    _newest: tuple[State, ScreeningBlock | ExchangeBlock | None] | None = None

    @classmethod
    def serves(cls, settings: Any) -> bool:
        return bool(settings.feedback != "full" and settings.expert in ("auto", "swap"))

    def check(self) -> None:
        stages = self.screening.stages(GUESS)
        if sum(stage.length for stage in stages) >= self.settings.rounds:
            raise ConfigError(
                f"a horizon of {self.settings.rounds} is too short for {len(stages)} screening blocks: "
                "use fewer slots, or explore less"
            )

    @property
    def by_clicks(self) -> bool:
        return self.settings.feedback == "clicks"

    @property
    def forgets(self) -> bool:
        return self.settings.stream == "any"

    # --- the plan -----------------------------------------------------------------------------------------

    @cached_property
    def screening(self) -> Screening:
        settings = self.settings
        share = None if settings.explore == "auto" else settings.explore
        return Screening(settings.items, settings.slots, settings.rounds, settings.feedback, share)

    def _longest(self, public: State) -> float:
        """The rounds of the next block of exchanges, as long as nothing stops it."""
        settings, number = self.settings, public["blocks"]
        if settings.block != "auto":
            return float(settings.block)
        pace = self.screening.pace(public["belief.centre"])
        percent = min(max(pace, 0.3), 10.0) if self.by_clicks else min(max(pace, 1.0), 10.0)
        growth = 1.15 if self.by_clicks and 0.5 < pace < 2 else 1.2
        first, most = percent / 100 * settings.rounds, LONGEST * settings.rounds
        length = float(first * growth**number)
        return min(length, max(most, first)) if self.forgets else length

    @cached_property
    def plan(self) -> Plan:
        settings, stages = self.settings, self.screening.stages(GUESS)
        views = stages[0].length * settings.slots / settings.items
        noise = self._once(self._first_gathering).standard_deviation
        facts: dict[str, Any] = {
            "expert": "swap",
            "block": stages[0].length,
            "explore": self.screening.length(GUESS) / settings.rounds,
            "noise_in_visitors": noise,
            "first_views_of_an_item": views,
        }
        if 0.1 * views < noise:
            facts["warning"] = (
                "the horizon is too short: at first, noise is larger than what a good item can gain"
            )
        budget = pure(settings.epsilon / settings.contributions)
        total = paid_by_cohorts(settings.privacy, [budget])
        return Plan(self._step, total, settings.rounds, None, facts, ("swap", self._first_gathering, UNIT))

    def _step(self, index: int, public: State) -> Step | None:
        if public["kind"] == SETTLED:
            return None
        return Step(public["length"], self._once(self._gathering(public)).charge, cohort=index)

    def _once(self, gathering: Gathering) -> Once:
        """Each visitor enters one release: the whole ε, pure, which needs the least noise."""
        budget = pure(self.settings.epsilon / self.settings.contributions)
        return Once.for_budget(budget, gathering, most=2**20)  # fine enough for rewards times weights

    @property
    def _first_gathering(self) -> Gathering:
        items, slots = self.settings.items, self.settings.slots
        return OneChoice((items,)) if self.by_clicks else PublicCells((items + 1,), copies=slots + 1)

    def _gathering(self, public: State) -> Gathering:
        """First clicks; rewards, and of whom; rewards times public weights; cells of exchanges."""
        if public["kind"] == EXCHANGING:
            return PublicCells((self.settings.slots, self.settings.items))
        if self.by_clicks or public["stage"] == 0:
            return self._first_gathering
        return PublicRows((self.settings.items,), length=public["heaviest"])

    # --- the hooks ----------------------------------------------------------------------------------------

    def start(self) -> tuple[State, State]:
        settings = self.settings
        belief = Belief.before(settings.items, slots=settings.slots, interest=GUESS)
        public: State = {"index": 0, "begin": 0, "screened": 0, "level": 0.5, "slate": self.first_slate()}
        return public | self._screened_from_here(public, belief), {}

    def gatherings(self, public: State) -> dict[str, Gathering]:
        if public["kind"] == SETTLED:
            return {}  # nobody is read any more
        return {"found": self._once(self._gathering(public)).gathering}

    def gather(self, public: State, block: Block, batch: Batch) -> None:
        slates = self.decide(public, batch.rounds, batch.asked, batch.coins)
        # Read even when nothing is gathered any more: what is malformed is refused all the same.
        people: Any = self.clicks(batch, slates) if self.by_clicks else self.rewards(batch)
        here, positions = self._block(public), batch.rounds - public["begin"]
        if here is None:
            return
        found = block["found"].gathering
        if isinstance(here, ExchangeBlock) and isinstance(found, PublicCells):
            cells, last = here.read(positions, batch.asked.available)
            numbers = (people == last).astype(np.float64) if self.by_clicks else people
            found.add(block["found"], cells[:, None], numbers)
        elif isinstance(found, OneChoice) and isinstance(here, ScreeningBlock):
            hit = (here.candidates(slates) == people[:, None]).any(axis=1) & (people >= 0)
            found.add(block["found"], np.where(hit, people, -1))
        elif isinstance(found, PublicCells):
            everyone = np.full((len(slates), 1), self.settings.items)
            found.add(block["found"], np.concatenate([slates, everyone], axis=1), people)
        elif isinstance(found, PublicRows):
            found.add(block["found"], slates, shared_gains(slates, public["belief.interest"])[0], people)

    def tally(self, public: State, rounds: Integers, asked: Asked, coins: Coins) -> State:
        """How masks change what is counted: only what is shown counts."""
        here, positions = self._block(public), rounds - public["begin"]
        if isinstance(here, ScreeningBlock):
            shown = here.slates(positions, asked.available)
            return {"counts": here.counted(shown) - here.counted(here.slates(positions, None))}
        if isinstance(here, ExchangeBlock):
            views, more = here.counted(positions, here.slates(positions, asked.available))
            planned, _ = here.counted(positions, here.slates(positions, None))
            return {"views": views - planned, "more": more}
        return {}

    def release(
        self, public: State, tally: State, kept: State, block: Block, door: Door
    ) -> tuple[State, State]:
        once = self._once(self._gathering(public))
        sums, noise = door.release(once, block["found"]), once.standard_deviation**2
        here = self._block(public)
        public = public | {"index": door.index + 1, "begin": public["begin"] + public["length"]}
        if isinstance(here, ScreeningBlock):
            counts = (here.planned(public["length"]) + tally.get("counts", 0)) / UNIT
            return self._after_screening(public, here, sums, counts, noise), {}
        assert here is not None
        views = (here.planned() + tally.get("views", 0)) / UNIT
        return self._after_exchanging(public, sums - tally.get("more", 0) / UNIT, views, noise), {}

    def decide(self, public: State, rounds: Integers, asked: Asked, coins: Coins) -> Integers:
        here = self._block(public)
        if here is None:
            slates = np.tile(public["slate"], (len(rounds), 1))
            return slates if asked.available is None else filled_up(slates, asked.available, public["order"])
        if len(rounds) == 1 and asked.available is None:
            return here.slate_of_one(int(rounds[0]) - public["begin"])[None].copy()
        return here.slates(rounds - public["begin"], asked.available)

    def scores(self, public: State, index: int, context: Any) -> Scores:
        """What each item is believed to gain in each slot, behind the rest of the slate."""
        gains = Anchor.of(Belief.of_state(public), public["slate"]).gains
        return Scores(gains.means, np.sqrt(gains.variances))

    def _block(self, public: State) -> ScreeningBlock | ExchangeBlock | None:
        """The rounds that people are in: made once from what is public."""
        if self._newest is None or self._newest[0] is not public:
            self._newest = public, self._made(public)
        return self._newest[1]

    def _made(self, public: State) -> ScreeningBlock | ExchangeBlock | None:
        interest, order = public["belief.interest"], public["order"]
        if public["kind"] == SCREENING:
            kind = "views" if self.by_clicks else "shown" if public["stage"] == 0 else "gains"
            return ScreeningBlock(public["table"], public["prefix"], interest, order, kind)
        if public["kind"] == EXCHANGING:
            trials = public["trial_slots"], public["trial_items"], public["trial_rounds"]
            key = Coin(self.name, 1 + public["index"]).generator().bytes(16)
            return ExchangeBlock(
                public["slate"], *trials, public["length"], key, interest, order, self.by_clicks
            )
        return None

    # --- from one block to the next -----------------------------------------------------------------------

    def _screened_from_here(self, public: State, belief: Belief) -> State:
        """The first block of a screening: random slates."""
        generator = Coin(self.name, 2**40 + public["index"]).generator()
        table = random_table(self.settings.items, self.settings.slots, generator)
        length = min(self.screening.stages(belief.centre)[0].length, self.settings.rounds - public["begin"])
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

    def _after_screening(
        self, public: State, here: ScreeningBlock, sums: Floats, counts: Floats, noise: float
    ) -> State:
        belief, slots = Belief.of_state(public), self.settings.slots
        level = public["level"]
        if self.by_clicks:
            if public["stage"] == 0:
                rate = first_rate(sums.sum(), max(1, public["length"]), slots)
                counts = counts * max(sums.sum(), 1e-9) / (rate * max(counts.sum(), 1e-9))
                belief = Belief.before(self.settings.items, slots=slots, interest=rate)
            belief = after_clicks(belief, here.prefix, sums, counts[0], noise)
        elif public["stage"] == 0:
            level = float(np.clip(sums[-1] / public["length"], 1e-3, 0.95))
            rate = 1 - (1 - level) ** (1 / slots)
            belief = Belief.before(self.settings.items, slots=slots, interest=rate)
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
        slate = self._greedy(belief, here.prefix)
        return self._next_stage(self._common(public, belief) | {"level": level, "slate": slate}, belief)

    def _next_stage(self, public: State, belief: Belief) -> State:
        """More random slates, if visitors click more rarely than was thought; or the stage that follows."""
        stages, slots = self.screening.stages(belief.centre), self.settings.slots
        generator = Coin(self.name, 2**40 + public["index"]).generator()
        stage, slate = public["stage"] + 1, public["slate"]
        random = public["begin"] - public["since"]
        if self.by_clicks and not public["next"] and stages[0].length > 1.3 * random:
            missing = stages[0].length - random
            public |= {"stage": stage, "length": missing, "screened": public["screened"] + missing}
            return self._settled_if_over(public | {"table": random_table(belief.items, slots, generator)})
        following = public["next"] + 1
        if following == len(stages):
            slate = climbed(belief, slate, steps=10, caution=0.0).slate
            return self._exchanging(public | {"slate": slate.copy(), "table": public["table"][:1]}, belief)
        prefix = slate[: stages[following].fixed].copy()
        table = thompson_table(belief, prefix, slots, generator)
        length = stages[following].length
        public |= {"prefix": prefix, "stage": stage, "next": following, "length": length, "table": table}
        public |= {"screened": public["screened"] + length}
        block = ScreeningBlock(table, prefix, belief.interest, public["order"], "gains")
        return self._settled_if_over(public | {"heaviest": block.heaviest})

    def _greedy(self, belief: Belief, prefix: Integers) -> Integers:
        """The prefix, filled up with one leader after another."""
        slate = prefix.tolist()
        while len(slate) < self.settings.slots:
            means = belief.gains([slate]).means[0]
            means[slate] = -np.inf
            slate.append(int(np.argmax(means)))
        return np.array(slate, dtype=np.int64)

    def _exchanging(self, public: State, belief: Belief) -> State:
        """The next block of exchanges, or the last block, in which nothing is tried."""
        settings, left = self.settings, self.settings.rounds - public["begin"]
        length = int(max(1, min(self._longest(public), left)))
        if left - length < 0.3 * length:
            return public | {"kind": SETTLED, "length": left}
        ahead = min(left - length, MEMORY * settings.rounds) if self.forgets else left - length
        public = public | {"kind": EXCHANGING, "length": length, "blocks": public["blocks"] + 1}
        noise = self._once(self._gathering(public)).standard_deviation ** 2
        level = public["level"]
        trials = priced(
            belief,
            Anchor.of(belief, public["slate"]),
            rounds=length,
            ahead=ahead,
            reward_variance=None if self.by_clicks else level * (1 - level),
            noise_variance=noise,
        )
        return public | {
            "trial_slots": trials.slots,
            "trial_items": trials.items,
            "trial_rounds": trials.rounds,
        }

    def _settled_if_over(self, public: State) -> State:
        left = self.settings.rounds - public["begin"]
        if public["length"] < left:
            return public
        return public | {"kind": SETTLED, "length": left}

    def _after_exchanging(self, public: State, sums: Floats, views: Floats, noise: float) -> State:
        belief, settings = Belief.of_state(public), self.settings
        anchor = Anchor.of(belief, public["slate"])
        if self.forgets:
            belief = belief.faded(exp(-public["length"] / (MEMORY * settings.rounds)))
        found = Found(anchor, sums, views, noise)
        level = public["level"]
        after = after_exchanges(belief, found, public["reference"], None if self.by_clicks else level)
        belief = after.belief.with_interest()
        public = self._common(public, belief) | {"reference": after.reference, "level": after.level}
        screened = public["screened"] + self.screening.length(belief.centre)
        again = screened <= MOST_SCREENED_AGAIN * settings.rounds
        surprised = after.surprised and (public["blocks"] > 2 or not self.by_clicks)
        if self.forgets and surprised and again:
            before = Belief.before(settings.items, slots=settings.slots, interest=belief.centre)
            return self._settled_if_over(self._screened_from_here(public, before))
        slate = climbed(belief, public["slate"], steps=2, caution=0.5).slate
        return self._exchanging(public | {"slate": slate.copy()}, belief)
