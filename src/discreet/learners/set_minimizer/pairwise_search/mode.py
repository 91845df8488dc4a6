"""Bandit: a belief about items and pairs of them, and priced trials near the set that seems
cheapest.

    trials      random sets in the screening; then the anchor, and sets near it     trials.py
    settled     the anchor; nobody is read                                          trials.py

Only the cost of the set that was played comes back. A screening tries random sets; then most rounds
of a block play the anchor, the set of least believed cost, and some try sets near it: as many, and
as often, as the chance of finding a cheaper one is worth (planner.py). After each block every set's
sum of costs is released, the anchor's too, and the belief is brought up to date (belief.py).

Each visitor is in one block and one public cell of it, and moves its sum by at most 2M: pure noise
for the whole ε. `stream="drifting"`: old trials fade, blocks stay short, and where the anchor costs
something else than was believed, they fade at once.

With a `report`, a share of ε pays for what each block's visitors cost, those with masks included.
In the last block nothing is tried and nobody is read; only a report reads it too, for its share of
ε.

Guarantee   docs/guarantees/costs.md, Theorem 2, Lemma 2
Runtime     O(1) a round; a release O(400³ + 400 · n²); memory O(n² + 400 · n), whatever the horizon
References  Frazier, Powell, Dayanik (2008), "A Knowledge-Gradient Policy for Sequential Information
            Collection"
"""

from functools import cached_property
from typing import Any

from discreet.budget.privacy import pure
from discreet.engine.coins import Coins
from discreet.engine.flat_state import of_flat
from discreet.engine.plan import Plan, State, paid_by_cohorts
from discreet.engine.view import View
from discreet.errors import ConfigError
from discreet.learners.reported_view import started_with, with_report
from discreet.learners.reporting import BlockReporting, Units, planned_with
from discreet.learners.set_minimizer.mode import CubeMode
from discreet.learners.set_minimizer.pairwise_search.phase import PairsPhase
from discreet.learners.set_minimizer.pairwise_search.planner import Planner
from discreet.learners.set_minimizer.pairwise_search.public import (
    Public,
    SettledPlan,
    TrialsPlan,
    costs_release,
)
from discreet.learners.set_minimizer.pairwise_search.trials import Settled, Trials
from discreet.learners.set_minimizer.settings import SetMinimizerSettings
from discreet.learners.streams import assumed_by

PHASES: dict[type[Any], type[PairsPhase[Any]]] = {TrialsPlan: Trials, SettledPlan: Settled}
"""The phase of a block, by the class of its plan, `Public.phase`."""


class PairwiseSearch(CubeMode):
    """Sets near the one that seems cheapest; the default for the cost of the chosen set alone."""

    @classmethod
    def serves(cls, settings: SetMinimizerSettings) -> bool:
        return settings.feedback == "bandit"

    def check(self) -> None:
        if self.settings.functions is not None:
            raise ConfigError("bandit feedback is a number: leave function")

    @property
    def assumes(self) -> str:
        return assumed_by(self.settings.stream)

    def blank(self) -> float:
        return 0.0

    @cached_property
    def planner(self) -> Planner:
        """What plans the next block."""
        return Planner(self.settings, self.name)

    # --- the plan ---------------------------------------------------------------------------------

    @cached_property
    def plan(self) -> Plan:
        settings, screening = self.settings, self.planner.lengths.screening
        first = costs_release(settings, screening.sets).calibrated
        facts: dict[str, Any] = {
            "method": "pairs",
            "why": "visitors say what the set that was chosen cost, and nothing else",
            "block": screening.length,
            "explore": screening.length / settings.rounds,
            "noise_in_visitors": first.standard_deviation,
            "tries_of_a_set": screening.each,
        }
        is_rough = screening.each < 4 * first.standard_deviation
        if is_rough or screening.sets < settings.items:
            facts["warning"] = (
                "the horizon is too short: trials may cost as much as there is to gain before "
                "items are known"
            )
        budget = pure(settings.epsilon / settings.contributions)
        total = paid_by_cohorts(settings.privacy, [budget])
        constants = ("pairs", first.aggregator, self.planner.lengths)
        plan = Plan(None, total, settings.rounds, None, facts, constants)
        return planned_with(self.reporting, plan)

    @cached_property
    def reporting(self) -> BlockReporting | None:
        """How costs are reported; None if nothing is paid for that."""
        bound = self.settings.bound
        units = Units(low=-bound, high=bound, what="mean cost")
        return BlockReporting.of_settings(self.settings, units)

    # --- from one release to the next -------------------------------------------------------------

    def start(self) -> tuple[Any, State]:
        return started_with(self.reporting, self.planner.first, {})

    def view(self, public: State, index: int, begin: int, coins: Coins) -> View[Any]:
        typed = of_flat(Public, public)
        phase = PHASES[type(typed.phase)]
        view = phase(self, typed, index, begin, coins, typed.phase)
        return with_report(view, self.reporting, public)
