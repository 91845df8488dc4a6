"""What the ways of learning of `ContextualBandit` share: contexts that come in, and arms that are played.

    score of arm a = offset_a + ⟨weights_a, context⟩        from released values

Until there is a release, arms are played uniformly by public coins. Afterwards the best score is played. An
arm that was added later is played in its share of rounds, by public coins, for one whole block. Scores are in
units of half the rewards' range, around its middle.

Guarantee   docs/guarantees/contextual.md, Theorem 1 (joint differential privacy)
"""

import json
from abc import abstractmethod
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np

from discreet.arrays import Floats, Integers, Mask, repeated
from discreet.arrivals.contexts import as_contexts, by_feature
from discreet.arrivals.feedback import as_numbers
from discreet.budget.privacy import Charge
from discreet.decide.ridge import drawn_together
from discreet.errors import ConfigError, StateError
from discreet.learners.contextual_bandit.settings import ContextualBanditSettings
from discreet.learners.labels import names_by_number
from discreet.learners.streams import ALIKE
from discreet.turn.coins import Coins
from discreet.turn.flat import FlatProblem
from discreet.turn.labels import Label, Labels
from discreet.turn.plan import State
from discreet.turn.questions import Asked, Batch
from discreet.turn.readings import Scores

__all__ = ["FAR_APART", "ArmsMode", "People", "kernels"]

FAR_APART = 1e6
"""How far arms are apart that cannot be compared, as one alone: scores are not drawn together then."""


class People(NamedTuple):
    """Those whose feedback came in: admitted contexts, rewards in [−1, 1], arms (−1: no reward came)."""

    contexts: Floats
    rewards: Floats
    arms: Integers


class ArmsMode(FlatProblem):
    """A way of learning which arm to play, given the context."""

    notion = "joint DP"
    neighbours = "replace the context, the mask and the reward of one round"
    proof = "contextual.md"
    takes_context = True
    settings: ContextualBanditSettings

    @property
    def assumes(self) -> str:
        return f"{ALIKE} and rewards about linear in the context"

    @property
    def candidates(self) -> int:
        return self.settings.slots

    @cached_property
    def budget(self) -> Charge:
        """What learning may cost a person; the rest of the budget pays for the report."""
        return self.settings.privacy.budget * (1 - self.settings.report)

    # --- what is public -----------------------------------------------------------------------------------

    def nothing_learned(self) -> State:
        """The public state before the first release: all arms alike."""
        features, slots = self.settings.features, self.settings.slots
        return {
            "stage": 0,
            "learned": 0,
            "weights": np.zeros((features, slots)),
            "offsets": np.zeros(slots),
            "apart": 0.0,
            "resolved": 1.0,
            "living": self.settings.arms,
            "young": 0,
            "announced": self.settings.arms,
            "added": "[]",
        }

    def next_block(self, public: State) -> State:
        """What the next block begins with, whatever is released: the arms that were announced in this one."""
        return {
            "stage": public["stage"] + 1,
            "living": public["announced"],
            "young": public["announced"] - public["living"],
            "announced": public["announced"],
            "added": public["added"],
        }

    def noted(self, public: State, event: dict[str, Any]) -> State:
        """One more arm, which is played from the next block on."""
        if public["announced"] >= self.settings.slots:
            raise ConfigError(
                f"there is room for {self.settings.slots} arms: give a larger max_arms from the start"
            )
        if self.step(public["stage"] + 1, public) is None:
            raise StateError("no release is planned after the next block: a new arm would never be learned")
        label = event["add_arm"]
        if str(label) in [str(known) for known in self.names(public)]:
            raise ConfigError(f"there is an arm {label!r} already")
        added = [*json.loads(public["added"]), label]
        return public | {"announced": public["announced"] + 1, "added": json.dumps(added)}

    _named: tuple[str, Labels] | None = None

    def names(self, public: State) -> list[Label]:
        return list(self._arms(public).names)

    def labels(self, public: State) -> Labels | None:
        return None if self.settings.labels is None else self._arms(public)

    def _arms(self, public: State) -> Labels:
        """The names of all arms, those of later ones included."""
        if self._named is None or self._named[0] != public["added"]:
            first = names_by_number(self.settings.arms, self.settings.labels)
            self._named = public["added"], Labels((*first, *json.loads(public["added"])), "one")
        return self._named[1]

    def plain(self, public: State) -> dict[str, Any]:
        settings = self.settings
        names = names_by_number(settings.features, settings.feature_labels)
        weights = public["weights"] * settings.half_range
        offsets = public["offsets"] * settings.half_range + settings.middle
        found = {}
        for arm, label in enumerate(self.names(public)[: public["living"]]):
            used = np.flatnonzero(weights[:, arm])
            found[label] = {names[place]: float(weights[place, arm]) for place in used}
        arms = dict(zip(found, offsets.tolist(), strict=False))
        return {"offsets": arms, "weights": found}

    # --- who comes in -------------------------------------------------------------------------------------

    def layout(self, public: State, index: int) -> tuple[State, State]:
        if not 0 < public["announced"] <= self.settings.slots:
            raise StateError(f"there is room for {self.settings.slots} arms")
        return super().layout(public, index)

    def blank_question(self) -> Asked:
        return Asked(np.zeros((1, self.settings.features)))

    def asked(self, context: Any, available: Any, count: int, *, one: bool = False) -> Asked:
        if context is None:
            raise ConfigError(f"this learner needs a context: {self.settings.features} numbers")
        if self.settings.feature_labels is not None:
            context = by_feature(context, self.settings.feature_labels, one=one)
        contexts = as_contexts(context, self.settings.features, count, one=one)
        if available is None or one or np.shape(available) != (count, self.settings.slots):
            return Asked(contexts, self._masks(available, count, one))
        return Asked(contexts, available)  # one row per person, of whom some may have no arm left

    def people(self, public: State, batch: Batch) -> People:
        """Whose feedback came in, with the arms that they were given."""
        settings = self.settings
        rewards = as_numbers(batch)
        came = np.isfinite(rewards)
        contexts, arms = self._played(public, batch.rounds, batch.asked, batch.coins)
        if batch.asked.available is not None and batch.asked.available.ndim == 2:
            came &= batch.asked.available[:, : public["living"]].any(axis=1)
        with np.errstate(all="ignore"):
            scaled = (rewards - settings.middle) / settings.half_range
        scaled = np.where(came, np.minimum(np.maximum(scaled, -1.0), 1.0), 0.0)
        return People(contexts, scaled, np.where(came, arms, -1))

    def blank(self) -> Any:
        return float("nan")

    # --- which arm ----------------------------------------------------------------------------------------

    def decide(self, public: State, rounds: Integers, asked: Asked, coins: Coins) -> Integers:
        return self._played(public, rounds, asked, coins)[1]

    def single(self, decisions: Integers) -> int:
        return int(decisions[0])

    def scores(self, public: State, index: int, context: Any) -> Scores:
        if not public["learned"]:
            raise StateError("nothing is released yet: ask for scores after the first release")
        values, deviations = self.predicted(public, self.asked(context, None, 1, one=True).context)
        return Scores(values[0], deviations[0])

    def predicted(self, public: State, contexts: Floats) -> tuple[Floats, Floats]:
        """The reward that every living arm is expected to bring, and its standard deviation, by context.

        Arms are decided for by their scores. The best of noisy scores is on average too high, so predictions
        are drawn together as far as noise explains how far arms are apart.
        """
        contexts, values = self._scored(public, contexts)
        living, scale = public["living"], self.settings.half_range
        deviations = self.uncertain(public, contexts)[:, :living]
        values, deviations = drawn_together(
            values[:, :living], deviations, public["apart"], public["resolved"], most=1.0
        )
        return values * scale + self.settings.middle, deviations * scale

    def _scored(self, public: State, contexts: Floats) -> tuple[Floats, Floats]:
        """Contexts within their bounds (zero where they are not finite), and the score of every arm."""
        settings = self.settings
        admitted: Floats = np.empty_like(contexts)
        scores = np.empty((len(contexts), settings.slots))
        kernels().score_arms(
            contexts, settings.bounds, settings.length, public["weights"], public["offsets"], admitted, scores
        )
        return admitted, scores

    def uncertain(self, public: State, contexts: Floats) -> Floats:
        """The standard deviation of every score, one row a context."""
        spread = np.empty((len(contexts), self.settings.slots))
        kernels().spread_of_arms(self.mapped(public, contexts), public["covariances"], spread)
        return spread

    @abstractmethod
    def mapped(self, public: State, contexts: Floats) -> Floats:
        """Contexts as the regressions see them: contexts × arms × numbers."""

    def _played(self, public: State, rounds: Integers, asked: Asked, coins: Coins) -> tuple[Floats, Integers]:
        """Admitted contexts, and the arms that these rounds play.

        An arm is a function of what is public and of its person's own context.
        """
        contexts = asked.context
        if contexts is None:  # nobody asked: to see what would be played
            contexts = np.zeros((len(rounds), self.settings.features))
        allowed, without_arms = self._allowed(public, asked.available, len(rounds))
        if without_arms is not None:
            contexts = np.where(without_arms[:, None], np.nan, contexts)
        contexts, scores = self._scored(public, contexts)
        if not public["learned"]:
            return contexts, _uniform(allowed, public["living"], coins.uniform(rounds))
        if public["young"]:
            return contexts, self._among(public, scores, allowed, coins.uniform(rounds))
        if allowed is not None:
            scores = np.where(allowed, scores, -np.inf)
        elif public["living"] < self.settings.slots:
            scores = scores[:, : public["living"]]
        return contexts, np.asarray(scores.argmax(axis=1))

    def foreseen(self, public: State) -> State:
        return public | self.next_block(public)

    def admitted(self, public: State, asked: Asked) -> Asked:
        mask = asked.available
        if mask is not None and mask.ndim == 1 and not mask[: public["living"]].any():
            raise ConfigError("none of the arms that can be played now is available: make one available")
        return asked

    def _allowed(self, public: State, available: Any, count: int) -> tuple[Mask | None, Mask | None]:
        """Which arms these rounds may play, one row a round (None: all that live); and who has none.

        A mask for all rounds, or the one of a single question, must leave an arm. Among many with masks of
        their own, whoever has none left is treated like somebody without a mask and with a malformed context,
        and their answer says nothing: one person's mask must not decide whether others are answered.
        """
        if available is None:
            return None, None
        living = public["living"]
        if available.ndim == 1:
            allowed = available.copy()
            allowed[living:] = False
            return repeated(allowed, count), None
        allowed = available.copy()
        allowed[:, living:] = False
        without_arms = ~allowed.any(axis=1)
        allowed[without_arms, :living] = True
        return allowed, without_arms

    def _among(self, public: State, scores: Floats, allowed: Mask | None, coins: Floats) -> Integers:
        """The best of the arms that are known; a new arm in its share of rounds."""
        living, young = public["living"], public["young"]
        known = living - young
        if allowed is None:
            allowed = np.broadcast_to(np.arange(self.settings.slots) < living, scores.shape)
        best = np.where(allowed, scores, -np.inf)[:, :known].argmax(axis=1)
        tried = known + np.minimum((coins * living).astype(np.int64), young - 1)
        rows = np.arange(len(scores))
        wanted = coins < young / living
        without_known = ~allowed[:, :known].any(axis=1)
        arms = np.where(wanted & allowed[rows, tried], tried, best)
        return np.where(without_known, _uniform(allowed, living, coins), arms)


@cache
def kernels() -> Any:
    """The compiled decisions, imported on first use."""
    from discreet.decide import kernels as compiled

    return compiled


def _uniform(allowed: Mask | None, living: int, coins: Floats) -> Integers:
    """One of the arms that may be played, all equally likely."""
    if allowed is None:
        return (coins * living).astype(np.int64)
    places = (coins * allowed.sum(axis=1)).astype(np.int64)
    return np.asarray((np.cumsum(allowed, axis=1) > places[:, None]).argmax(axis=1))
