"""Clicks and rewards: screen all items, then exchange single slots around an anchor.

Every round shows a full slate. Screening blocks find the leaders among all items; then most rounds show the
anchor slate, and some, as many as are worth it, the anchor with one slot exchanged. After each block the
sums of its cells are released, the belief is brought up to date, and the anchor climbs where that is better.

Each visitor is in one block, and each block is released once, with pure noise for the whole ε: the first
click of a slate moves one count down and one up (l₁ 2); whether the last place was clicked, or what the slate
earned, moves one public cell (l₁ 1).

With a `report`, a share of ε pays for what each block's visitors earned. Once nothing is tried any more,
nobody is read; only a report reads the visitors who are left too, in one release at the end, for its share.

`stream="drifting"`: old cells fade, blocks stay short, and where the anchor earns something else than it used
to, everything is screened again.

Guarantee   docs/guarantees/sets.md, Theorem 4, Lemma 6
Runtime     O(slots) a round; a release O(items · 40³) at most; memory O(slots · items), whatever the horizon
References  Russo et al. (2018), "A Tutorial on Thompson Sampling"; Frazier, Powell, Dayanik (2008)
"""

from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from discreet.arrays import Integers
from discreet.budget.privacy import pure
from discreet.errors import ConfigError, StateError
from discreet.learners.earnings import Earnings
from discreet.learners.set_maximizer.mode import first_of, item_of
from discreet.learners.set_maximizer.slates import filled_up
from discreet.learners.set_maximizer.swap.belief import Belief
from discreet.learners.set_maximizer.swap.blocks import UNIT, ExchangeBlock, ScreeningBlock, shared_gains
from discreet.learners.set_maximizer.swap.course import EXCHANGING, SCREENING, SETTLED, WARMING, Course
from discreet.learners.set_maximizer.swap.screening import Screening
from discreet.learners.set_maximizer.swap.trials import Anchor
from discreet.learners.set_maximizer.swap.warm import OF_LOGS, clicks_of, rewards_of, warming
from discreet.release.door import Door
from discreet.release.gathering import Gathering, OneChoice, PublicCells, PublicRows, Rows
from discreet.turn.coins import Coin, Coins
from discreet.turn.plan import Plan, State, Step, paid_by_cohorts
from discreet.turn.questions import Asked, Batch, Block
from discreet.turn.readings import Scores

__all__ = ["Swap"]

GUESS = 0.05
"""What an item is taken to gain before anything was released."""


class Swap(Course):
    """Slates from screening and exchanges around an anchor; the default for clicks and rewards."""

    growing = (
        ("belief.contexts", "belief.means", "belief.precisions"),
        ("trial_slots", "trial_items", "trial_rounds"),
        ("table",),
        ("prefix",),
        ("report",),
    )

    _newest: tuple[State, ScreeningBlock | ExchangeBlock | None] | None = None

    @classmethod
    def serves(cls, settings: Any) -> bool:
        return bool(settings.feedback != "full")

    def check(self) -> None:
        stages = self._planned.stages(GUESS)
        if sum(stage.length for stage in stages) >= self.settings.rounds:
            raise ConfigError(
                f"a horizon of {self.settings.rounds} is too short for {len(stages)} screening blocks: "
                "use fewer slots, or explore less"
            )

    @property
    def _planned(self) -> Screening:
        """The blocks that find the leaders, as planned before anyone came."""
        return self.screening(self.first_catalogue() | {"rounds": self.settings.rounds})

    # --- the plan -----------------------------------------------------------------------------------------

    @cached_property
    def plan(self) -> Plan:
        settings, stages = self.settings, self._planned.stages(GUESS)
        views = stages[0].length * settings.slots / settings.items
        noise = self.once(self.first_gathering).standard_deviation
        facts: dict[str, Any] = {
            "method": "swap",
            "why": "visitors say what they think of what they were shown, and of nothing else",
            "block": stages[0].length,
            "explore": self._planned.length(GUESS) / settings.rounds,
            "noise_in_visitors": noise,
            "first_views_of_an_item": views,
        }
        if 0.1 * views < noise:
            facts["warning"] = (
                "the horizon is too short: at first, noise is larger than what a good item can gain"
            )
        budget = pure(settings.epsilon / settings.contributions)
        total = paid_by_cohorts(settings.privacy, [budget])
        constants: tuple[Any, ...] = ("swap", self.first_gathering, UNIT)
        if self.earnings is not None:
            facts, constants = facts | self.earnings.facts, (*constants, *self.earnings.constants)
        return Plan(None, total, settings.rounds, None, facts, constants)

    @cached_property
    def earnings(self) -> Earnings | None:
        return Earnings.by_cohorts(self.settings, self.units)

    def step(self, index: int, public: State) -> Step | None:
        length, is_settled = public["length"], public["kind"] == SETTLED
        charge = pure(0.0) if is_settled else self.once(self.gathering(public)).charge
        if self.earnings is not None and length:
            charge += self.earnings.charge(index)
        # A last block in which nobody is read needs no release, until there are rounds after it.
        is_over = is_settled and public["begin"] + length == public["rounds"]
        return None if is_over and not charge.amount else Step(length, charge, cohort=index)

    # --- the hooks ----------------------------------------------------------------------------------------

    def start(self) -> tuple[State, State]:
        settings = self.settings
        belief = Belief.before(settings.room, slots=settings.slots, interest=GUESS)
        public: State = {"index": 0, "begin": 0, "screened": 0, "tried": 0}
        public |= {"level": 0.5, "slate": self.first_slate()}
        public |= self.first_catalogue() | {"rounds": settings.rounds}
        if self.earnings is not None:
            public |= self.earnings.start()[0]
        return public | self.screened_from_here(public, belief), {}

    def layout(self, public: State, index: int) -> tuple[State, State]:
        expected, kept = self.start()
        if public["kind"] not in (SCREENING, EXCHANGING, SETTLED, WARMING):
            raise StateError("no block is like this one")
        if not 0 <= public["next"] < len(self.screening(public).stages(GUESS)):
            raise StateError("no stage of screening is like this one")
        if "log.rows" in public:
            expected |= {"log.rows": 0, "log.least": 1.0, "log.random": 0}
        return expected, kept

    def gatherings(self, public: State) -> dict[str, Gathering]:
        earned: dict[str, Gathering] = {}
        if self.earnings is not None and public["length"]:
            earned = {"earned": self.earnings.gathering(public["index"])}
        if public["kind"] == SETTLED:
            return earned  # nothing is learned any more
        return {"found": self.once(self.gathering(public)).gathering} | earned

    def noted(self, public: State, event: State) -> State:
        """Also a log of another policy that is to be read, of so many rows and with so large weights."""
        if "log.rows" not in event:
            return super().noted(public, event)
        return warming(public, event) | {"kind": WARMING}

    def neighbours_after(self, public: State) -> str:
        return self.neighbours + ("; " + OF_LOGS if "log.rows" in public else "")

    def gather(self, public: State, block: Block, batch: Batch) -> None:
        if public["kind"] == WARMING:
            self._gather_log(public, block, batch)
            return
        slates = self.decide(public, batch.rounds, batch.asked, batch.coins)
        # Read even when nothing is gathered any more: what is malformed is refused all the same.
        people: Any = self.clicks(public, batch, slates) if self.by_clicks else self.rewards(batch)
        here, positions = self._block(public), batch.rounds - public["begin"]
        if self.earnings is not None:
            self.earnings.add(block, self.clicked(people, slates) if self.by_clicks else people)
        if here is None:
            return
        found = block["found"].gathering
        if isinstance(here, ExchangeBlock) and isinstance(found, PublicCells):
            cells, last = here.read(positions, None if batch.asked.available is None else slates)
            numbers = (people == last).astype(np.float64) if self.by_clicks else people
            found.add(block["found"], cells[:, None], numbers)
        elif isinstance(found, OneChoice) and isinstance(here, ScreeningBlock):
            hit = (here.candidates(slates) == people[:, None]).any(axis=1)
            found.add(block["found"], np.where(hit, people, -1))
        elif isinstance(found, PublicCells):
            everyone = np.full((len(slates), 1), self.settings.room)
            found.add(block["found"], np.concatenate([slates, everyone], axis=1), people)
        elif isinstance(found, PublicRows):
            found.add(block["found"], slates, shared_gains(slates, public["belief.interest"])[0], people)

    def _gather_log(self, public: State, block: Block, batch: Batch) -> None:
        logged, found, slots = batch.feedback, block["found"].gathering, self.settings.slots
        numbers = self.numbers(public)
        item, first = partial(item_of, numbers), partial(first_of, numbers)
        if isinstance(found, OneChoice):
            found.add(block["found"], *clicks_of(logged, slots, item, first))
            return
        assert isinstance(found, Rows)
        rewards = np.clip(self.rewards(replace(batch, feedback=logged.answers)), 0.0, 1.0)
        for vectors in rewards_of(logged, slots, item, rewards, self.settings.room):
            found.add(block["found"], vectors)

    def no_counts(self, public: State) -> State:
        here = self._block(public)
        return {} if here is None else here.no_counts()

    def tally(self, public: State, tally: State, rounds: Integers, asked: Asked, coins: Coins) -> None:
        """How masks change what is counted: only what is shown counts."""
        here = self._block(public)
        if here is not None:
            here.count_masked(rounds - public["begin"], asked.available, tally)

    def release(
        self, public: State, tally: State, kept: State, block: Block, door: Door
    ) -> tuple[State, State]:
        here, length, kind = self._block(public), public["length"], public["kind"]
        public = public | {"index": door.index + 1, "begin": public["begin"] + length}
        public |= self.next_catalogue(public)
        if self.earnings is not None and length:
            public, kept = self.earnings.next(public, kept, block, door, end=public["begin"], rounds=length)
        if kind == SETTLED:
            is_over = public["begin"] == public["rounds"]
            return public | {"length": 0} if is_over else self.goes_on(public), {}
        once = self.once(self.gathering(public))
        sums = door.release(once, block["found"])
        noise = (once.standard_deviation * once.gathering.bound) ** 2
        if kind == WARMING:
            return self.after_warming(public, sums, noise), {}
        assert here is not None
        if isinstance(here, ScreeningBlock):
            counts = (here.planned(public["length"]) + tally.get("counts", 0)) / UNIT
            return self.after_screening(public, here, sums, counts, noise), {}
        views = (here.planned() + tally.get("views", 0)) / UNIT
        return self.after_exchanging(public, sums - tally.get("more", 0) / UNIT, views, noise), {}

    def decide(self, public: State, rounds: Integers, asked: Asked, coins: Coins) -> Integers:
        here = self._block(public)
        if here is None:
            slates = np.tile(public["slate"], (len(rounds), 1))
            return (
                slates if asked.available is None else filled_up(slates, asked.available, self.order(public))
            )
        if len(rounds) == 1:
            return here.slate_of_one(int(rounds[0]) - public["begin"], asked.available)[None].copy()
        return here.slates(rounds - public["begin"], asked.available)

    def order(self, public: State) -> Integers:
        order: Integers = public["order"]
        return order

    def scores(self, public: State, index: int, context: Any) -> Scores:
        """What each item is believed to gain in each slot, behind the rest of the slate."""
        gains, count = Anchor.of(Belief.of_state(public), public["slate"]).gains, len(self.names(public))
        return Scores(gains.means[:, :count], np.sqrt(gains.variances)[:, :count])

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
