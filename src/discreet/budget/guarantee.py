"""What is given: the promise a learner keeps, in words for everyone and in numbers for the
expert.
"""

from dataclasses import dataclass
from html import escape
from math import exp
from textwrap import fill
from typing import TYPE_CHECKING

from discreet.budget.ledger import Spending
from discreet.budget.privacy import Privacy

if TYPE_CHECKING:
    from dp_accounting.dp_event import DpEvent


@dataclass(frozen=True)
class Wording:
    """The words of a job in which its guarantee speaks.

    Parameters
    ----------
    unit
        What a person brings once, and is replaced by: "round", "sample", "record".
    seen
        What an attacker sees.
    results
        What has value.
    streams
        Whether what people bring later may depend on what was published before.
    """

    unit: str = "round"
    seen: str = "every decision"
    results: str = "decisions"
    streams: bool = True

    @property
    def units(self) -> str:
        """Several of them."""
        return " or ".join(f"{unit}s" for unit in self.unit.split(" or "))

    @property
    def did(self) -> str:
        """The verb for what a person does in a unit."""
        return "did" if self.unit == "round" else "brought"

    def combined(self, other: "Wording") -> "Wording":
        """The words for both jobs together."""
        if self == other:
            return self
        unit = self.unit if self.unit == other.unit else f"{self.unit} or {other.unit}"
        return Wording(unit, "all that is published", "results", self.streams or other.streams)


@dataclass(frozen=True)
class Guarantee:
    """The privacy that everything published so far has, and will have at the end.

    Parameters
    ----------
    privacy
        What was asked for.
    spent, total
        What one round costs so far and at the end of the plan. All rounds of one person together
        cost `contributions` times (pure) or `contributions`² times (zCDP) that, less where rounds
        name their person (`Spending.times`).
    releases, planned
        How often data has been turned into something public, and how often it will be (None:
        without end).
    notion
        "DP": anyone may see every decision. "joint DP": a person's own decision depends on their
        context and is for them alone; everybody else's decisions together give nothing of them
        away.
    assumes
        What the *value* of the decisions assumes about the stream, if anything. Privacy assumes
        nothing.
    simulated
        Made with `seed=`: reproducible, therefore not private.
    proof
        The page with theorem and proof.
    parts
        Of several learners (`discreet.together`): the guarantee of each. `spent` and `total` are
        then what all rounds of one person cost.
    words
        The words of the job: rounds, samples or records.

    Examples
    --------
    >>> from discreet.budget.privacy import zcdp
    >>> spent, total = Spending(zcdp(0.0061)), Spending(zcdp(0.02435))
    >>> print(Guarantee(Privacy(1.0, 1e-6), spent, total, releases=10, planned=40, proof="engine.md"))
    Differential privacy for one round: whatever a person did in their round, anything published here is
    at most e^1 = 2.72 times as likely as if they had been somebody else, except with probability 1e-06.
    It holds against anyone who sees every decision and knows everybody else's data, and whatever the
    stream is.
    10 of 40 releases made; spent so far: epsilon = 0.478 of 1 at delta = 1e-06 (rho = 0.0061 of
    0.02436). Neighbours: replace one round. Noise and selections: exact integer samplers keyed by the
    operating system. Proof: docs/guarantees/engine.md
    """

    privacy: Privacy
    spent: Spending
    total: Spending
    releases: int
    planned: int | None
    notion: str = "DP"
    assumes: str = ""
    simulated: bool = False
    neighbours: str = "replace one round"
    proof: str = ""
    parts: tuple["Guarantee", ...] = ()
    words: Wording = Wording()

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
        return self.spent.rho(self.privacy)

    @property
    def epsilon_spent(self) -> float:
        """The ε that what is published so far amounts to, at the δ that was asked for."""
        return self.spent.epsilon(self.privacy)

    def event(self) -> "DpEvent":
        """The spending so far as a dp-accounting event, to compose with other systems.

        Needs the extra `accounting`.
        """
        return self.spent.event(self.privacy)

    def _repr_html_(self) -> str:
        """The same text, for notebooks."""
        colour = "#b3261e" if self.simulated else "#1b6ca8"
        style = f"border-left:4px solid {colour};padding-left:0.8em;max-width:48em"
        return f'<p style="{style}">{escape(str(self))}</p>'

    def __str__(self) -> str:
        details = " ".join([*self._not_protected(), self._account(), self._fine_print()])
        return f"{fill(self._warning() + self._promise(), width=100)}\n{fill(details, width=100)}"

    def _warning(self) -> str:
        if not self.simulated:
            return ""
        return (
            "SIMULATED with a seed: the noise can be reproduced, so nothing is protected; "
            "what follows holds without one. "
        )

    def _promise(self) -> str:
        """Two sentences: what is promised, and against whom."""
        heading = "Differential privacy" if self.notion == "DP" else "Joint differential privacy"
        person, where = self._who()
        failing = f", except with probability {self.delta:.3g}" if self.delta else ""
        times = exp(min(self.epsilon, 700.0))
        did, published, seen = self.words.did, "anything published here is", self.words.seen
        if self.notion != "DP":
            did, seen = "brought and did", "every decision but the person's own"
            published = "anything published here, and everybody else's decisions together, are"
        stream = ", and whatever the stream is" if self.words.streams else ""
        return (
            f"{heading} for {person}: whatever a person {did} in {where}, {published} "
            f"at most e^{self.epsilon:.3g} = {times:.3g} times as likely "
            f"as if they had been somebody else{failing}. "
            f"It holds against anyone who sees {seen} and knows everybody else's data{stream}."
        )

    def _not_protected(self) -> list[str]:
        if self.notion == "DP":
            return []
        return [
            "NOT protected: a person's own decision, which follows from what they brought, "
            "against whoever "
            "sees it. Logs of decisions, and counts of them, are as sensitive as what people "
            "brought."
        ]

    def _who(self) -> tuple[str, str]:
        """Whose data is protected, and where it may be."""
        unit, units = self.words.unit, self.words.units
        if not self.parts:
            most = self.privacy.contributions
            if self.privacy.keyed:
                blocks = "block" if most == 1 else "blocks"
                return f"all {units} of one person in {most} {blocks}", f"up to {most} {blocks}"
            if most == 1:
                return f"one {unit}", f"their {unit}"
            return f"{most} {units} of one person", f"up to {most} {units}"
        each = [part.privacy.contributions for part in self.parts]
        if max(each) == 1:
            return f"one {unit} of each of {len(each)} learners", f"their {units}"
        if len(set(each)) == 1:
            return (
                f"{each[0]} {units} of one person in each of {len(each)} learners",
                f"those {units}",
            )
        counts = ", ".join(map(str, each[:-1])) + f" and {each[-1]}"
        return f"{counts} {units} of one person in {len(each)} learners", f"those {units}"

    def _whose(self) -> str:
        """What rounds that name their person mean, and what is left to the caller."""
        most, pays = self.privacy.contributions, self.total.payments(self.privacy)
        bounded = self.planned is not None and self.planned <= most
        word = "there are no more" if bounded else "the caller's word"
        return (
            f"Every {self.words.unit} names its person, and the first that they open in a block, "
            "between two "
            f"releases, counts; nobody is in more than {most} of these: {word}. "
            f"All {self.words.units} of a person cost {pays} times what one does."
        )

    def _account(self) -> str:
        planned = "" if self.planned is None else f" of {self.planned}"
        spent = f"epsilon = {self.epsilon_spent:.3g} of {self.epsilon:.3g}"
        if self.delta:
            spent += f" at delta = {self.delta:.3g}"
            if not (self.spent.pure or (self.parts and self.total.pure)):
                spent += f" (rho = {self.rho:.4g} of {self.privacy.whole.rho:.4g})"
        return f"{self.releases}{planned} releases made; spent so far: {spent}."

    def _fine_print(self) -> str:
        sentences = [f"Neighbours: {self.neighbours}."]
        if self.privacy.keyed:
            sentences.append(self._whose())
        if any(part.privacy.keyed for part in self.parts):
            sentences.append(
                "In learners whose rounds name their person, blocks are counted, between two "
                "releases each, "
                "and the first round that they open in a block counts; names are the caller's "
                "word."
            )
        if self.assumes:
            privacy = (
                "neither does privacy" if self.assumes.startswith("nothing") else "privacy does not"
            )
            sentences.append(
                f"The value of the {self.words.results} assumes {self.assumes}; {privacy}."
            )
        source = "from a seed" if self.simulated else "keyed by the operating system"
        sentences.append(f"Noise and selections: exact integer samplers {source}.")
        if self.proof:
            sentences.append(f"Proof: docs/guarantees/{self.proof}")
        return " ".join(sentences)
