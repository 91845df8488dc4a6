"""Bandit feedback: Bayesian search around an incumbent set, with a posterior over items and pairs.

    trials      random sets in the screening; then the incumbent and sets near it    trials.py
    settled     the incumbent; nobody is read                                        trials.py

Only the cost of the played set is observed. A screening tries random sets. Then most rounds of a
block play the incumbent, the set of least posterior mean cost, and some try sets near it: as many,
and as often, as the expected improvement is worth (planner.py). After each block the sum of costs
of every set is released, the incumbent's too, and the posterior is updated (posterior.py).

Each visitor is in one block and one public cell of it, and moves its sum by at most 2M: pure noise
for the whole ε. With `stream="drifting"` old trials fade and blocks stay short; if the incumbent's
cost differs from its posterior mean by more than chance, old trials fade at once.

With a `report`, a share of ε pays for the mean cost of each block's visitors, those with masks
included. In the last block nothing is tried and nobody is read, except for a report.

Guarantee   docs/guarantees/costs.md, Theorem 2, Lemma 2
Runtime     O(1) per round; O(400³ + 400 · n²) per release; memory O(n² + 400 · n)
References  Frazier, Powell, Dayanik (2008), "A Knowledge-Gradient Policy for Sequential Information
            Collection"
"""

from functools import cached_property
from typing import Any

from discreet.budget.privacy import pure
from discreet.engine.phases import Adaptive
from discreet.engine.statistics import Report, Units
from discreet.errors import ConfigError
from discreet.learners.answers import Entry
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

PHASES: dict[type[object], type[PairsPhase[Any]]] = {TrialsPlan: Trials, SettledPlan: Settled}
"""The phase of a block, by the class of its plan, `Public.phase`."""


class PairwiseSearch(CubeMode):
    """Mode for bandit feedback: Bayesian search around an incumbent set.

    A Gaussian posterior over the weights of items and pairs predicts the cost of every set; trials
    of sets near the incumbent are priced by their expected improvement.
    """

    def check(self) -> None:
        if self.settings.functions is not None:
            raise ConfigError("bandit feedback is a number: leave function out")

    @property
    def answer(self) -> Entry:
        return Entry(0.0)

    @cached_property
    def planner(self) -> Planner:
        """Planner of the next block."""
        return Planner(self.settings)

    # --- what is measured -------------------------------------------------------------------------

    @cached_property
    def phases(self) -> Adaptive:
        settings = self.settings
        whole = pure(settings.epsilon / settings.contributions)
        lengths = self.planner.lengths
        first = costs_release(settings, lengths.screening.sets)
        constants = "pairwise-search", first.aggregator, lengths
        return Adaptive(PHASES, settings.rounds, whole, self.report, constants)

    @cached_property
    def report(self) -> tuple[Report, ...]:
        """The report of costs; none if no budget is set aside for it."""
        bound = self.settings.bound
        return Report.of_settings(self.settings, Units(low=-bound, high=bound, what="mean cost"))

    @property
    def first(self) -> Public:
        return self.planner.first

    @property
    def facts(self) -> dict[str, object]:
        settings = self.settings
        screening = self.planner.lengths.screening
        first = costs_release(settings, screening.sets).calibrated
        facts: dict[str, object] = {
            "method": "pairwise-search",
            "why": "visitors report the cost of the chosen set only",
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
        return facts
