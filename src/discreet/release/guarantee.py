"""What is given: the promise a learner keeps, in words for everyone and in numbers for the expert."""

from dataclasses import dataclass
from math import exp
from textwrap import fill
from typing import Any

from discreet.release.conversion import epsilon_of
from discreet.release.ledger import event_of
from discreet.release.privacy import Charge, Privacy

__all__ = ["Guarantee"]


@dataclass(frozen=True)
class Guarantee:
    """The privacy that everything published so far has, and will have at the end.

    Parameters
    ----------
    privacy
        What was asked for.
    spent, total
        Charges of one round so far and at the end of the plan. All rounds of one person together cost `contributions` times
        (pure) or `contributions`² times (zCDP) that.
    releases, planned
        How often data has been turned into something public, and how often it will be (None: without end).
    notion
        "DP": anyone may see every decision. "joint DP": each person may see their own decision and everyone else's effect.
    assumes
        What the *value* of the decisions assumes about the stream, if anything. Privacy assumes nothing.
    simulated
        Made with `seed=`: reproducible, therefore not private.
    proof
        The page with theorem and proof.

    Examples
    --------
    >>> from discreet.release.privacy import zcdp
    >>> given = Guarantee(Privacy(1.0, 1e-6), spent=zcdp(0.0061), total=zcdp(0.02435), releases=10, planned=40, proof="turn.md")
    >>> print(given)
    Differential privacy for one round: whatever a person did in their round, anything published here is
    at most e^1 = 2.72 times as likely as if they had been somebody else, except with probability 1e-06.
    It holds against anyone who sees every decision and knows everybody else's data, and whatever the
    stream is. 10 of 40 releases made; spent so far: rho = 0.0061 of 0.02436 (epsilon = 0.478 of 1 at
    delta = 1e-06). Neighbours: replace one round. Noise and selections: exact integer samplers keyed by
    the operating system. Proof: docs/guarantees/turn.md
    """

    privacy: Privacy
    spent: Charge
    total: Charge
    releases: int
    planned: int | None
    notion: str = "DP"
    assumes: str = ""
    simulated: bool = False
    neighbours: str = "replace one round"
    proof: str = ""

    @property
    def epsilon(self) -> float:
        """The ε that was asked for, and holds at the end of the plan."""
        return self.privacy.epsilon

    @property
    def delta(self) -> float:
        """The δ that was asked for."""
        return self.privacy.delta

    @property
    def rho(self) -> float:
        """The zCDP spent so far by all rounds of the person who paid most."""
        return self._whole(self.spent).rho

    @property
    def epsilon_spent(self) -> float:
        """The ε that what is published so far amounts to, at the δ that was asked for."""
        whole = self._whole(self.spent)
        return whole.amount if whole.measure == "pure" else epsilon_of(whole.rho, self.privacy.delta)

    def event(self) -> Any:
        """The spending so far as a dp-accounting event, to compose with other systems (needs the extra `accounting`)."""
        return event_of(self._whole(self.spent))

    def _whole(self, charge: Charge) -> Charge:
        """A person's whole charge: the group privacy of their rounds."""
        rounds = self.privacy.contributions
        return charge * (rounds if charge.measure == "pure" else rounds**2)

    def __str__(self) -> str:
        return fill(self._warning() + " ".join([self._promise(), self._account(), self._fine_print()]), width=100)

    def _warning(self) -> str:
        if not self.simulated:
            return ""
        return "SIMULATED with a seed: the noise can be reproduced, so nothing is protected; what follows holds without one. "

    def _promise(self) -> str:
        rounds = self.privacy.contributions
        where = "their round" if rounds == 1 else f"up to {rounds} rounds"
        heading = "Differential privacy" if self.notion == "DP" else "Joint differential privacy"
        person = "one round" if rounds == 1 else f"{rounds} rounds of one person"
        failing = f", except with probability {self.delta:.3g}" if self.delta else ""
        seen = "every decision" if self.notion == "DP" else "every decision but the person's own"
        return (
            f"{heading} for {person}: whatever a person did in {where}, anything published here is at most "
            f"e^{self.epsilon:.3g} = {exp(min(self.epsilon, 700.0)):.3g} times as likely as if they had been somebody else{failing}. "
            f"It holds against anyone who sees {seen} and knows everybody else's data, and whatever the stream is."
        )

    def _account(self) -> str:
        planned = "" if self.planned is None else f" of {self.planned}"
        if self.spent.measure == "pure":
            spent = f"epsilon = {self.epsilon_spent:.3g} of {self.epsilon:.3g}"
        else:
            spent = (
                f"rho = {self.rho:.4g} of {self.privacy.whole.rho:.4g} "
                f"(epsilon = {self.epsilon_spent:.3g} of {self.epsilon:.3g} at delta = {self.delta:.3g})"
            )
        return f"{self.releases}{planned} releases made; spent so far: {spent}."

    def _fine_print(self) -> str:
        value = f" The value of the decisions assumes {self.assumes}; privacy does not." if self.assumes else ""
        source = "from a seed" if self.simulated else "keyed by the operating system"
        proof = f" Proof: docs/guarantees/{self.proof}" if self.proof else ""
        return f"Neighbours: {self.neighbours}.{value} Noise and selections: exact integer samplers {source}.{proof}"
