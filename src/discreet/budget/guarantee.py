"""The guarantee of a learner, as a text for all readers and as numbers for experts."""

from dataclasses import dataclass
from math import exp
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

from discreet import html
from discreet.budget.ledger import Spending
from discreet.budget.privacy import Privacy

if TYPE_CHECKING:
    from dp_accounting.dp_event import DpEvent

PROOFS = Path(__file__).parent.parent / "guarantees"
"""The folder of the pages with theorems and proofs, in a checkout and in an installed wheel."""

SIMULATED = "SIMULATED with a seed: the noise can be reproduced, so nothing is protected"
"""What a text, a page or a picture of a learner with a seed begins with."""


@dataclass(frozen=True)
class Wording:
    """The terms of a learner in the text of its guarantee.

    Parameters
    ----------
    unit
        The unit that neighbours differ in: "round", "sample", "record".
    seen
        The published results that an attacker sees.
    results
        The results whose value may rest on assumptions.
    streams
        Whether later data may depend on earlier results.
    """

    unit: str = "round"
    seen: str = "every decision"
    results: str = "decisions"
    streams: bool = True

    @property
    def units(self) -> str:
        """The plural of `unit`."""
        return " or ".join(f"{unit}s" for unit in self.unit.split(" or "))

    @property
    def did(self) -> str:
        """The verb for a person's part in a unit."""
        return "did" if self.unit == "round" else "brought"

    def combined(self, other: "Wording") -> "Wording":
        """Return the terms for two learners together."""
        if self == other:
            return self
        unit = self.unit if self.unit == other.unit else f"{self.unit} or {other.unit}"
        return Wording(unit, "all that is published", "results", self.streams or other.streams)


@dataclass(frozen=True)
class Guarantee:
    """The privacy of everything published so far, and at the end of the plan.

    Parameters
    ----------
    privacy
        The privacy asked for.
    spent, total
        The price of one round so far, and at the end of the plan. All rounds of one person together
        cost `contributions` times (pure) or `contributions`² times (zCDP) as much, less where
        rounds name their person (`Spending.times`).
    releases, planned
        The number of releases so far, and in the whole plan (None: without end).
    notion
        "DP": anyone may see every decision. "joint DP": a person's own decision depends on their
        context and is for them alone; the decisions of all others together protect them.
    assumes
        What the *value* of the decisions assumes about the stream, if anything. Privacy assumes
        nothing.
    simulated
        Whether the noise comes from a `seed`: reproducible, therefore not private.
    neighbours
        The change of the data that the guarantee covers.
    proof
        The page with theorem and proof; `proof_path` is its file.
    parts
        The guarantees of the learners in a joint guarantee (`discreet.together`). `spent` and
        `total` are then the price of all rounds of one person.
    words
        The terms of the learner: rounds, samples or records.

    Examples
    --------
    >>> from discreet.budget.privacy import zcdp
    >>> spent = Spending(zcdp(0.0061))
    >>> total = Spending(zcdp(0.02435))
    >>> usual = Privacy(1.0, 1e-6)
    >>> guarantee = Guarantee(usual, spent, total, releases=10, planned=40, proof="engine.md")
    >>> print(guarantee)  # doctest: +NORMALIZE_WHITESPACE
    Differential privacy for one round: whatever a person did in their round, anything published
    here is at most e^1 = 2.72 times as likely as if they had been another person, except with
    probability 1e-06. It holds against anyone who sees every decision and knows everybody else's
    data, and whatever the stream is.
    10 of 40 releases made; spent so far: epsilon = 0.478 of 1 at delta = 1e-06 (rho = 0.0061 of
    0.02436). Neighbours: replace one round. Noise and selections: exact integer samplers keyed by
    the operating system. Proof: docs/guarantees/engine.md
    >>> guarantee.proof_path.read_text().splitlines()[0]
    '# Releases, snapshots and crashes'
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
        """The ε asked for, which holds at the end of the plan."""
        return self.privacy.epsilon

    @property
    def delta(self) -> float:
        """The δ asked for."""
        return self.privacy.delta

    @property
    def rho(self) -> float:
        """The ρ of zCDP spent so far, for all rounds of the person who paid most."""
        return self.spent.rho(self.privacy)

    @property
    def epsilon_spent(self) -> float:
        """The ε of everything published so far, at the δ asked for."""
        return self.spent.epsilon(self.privacy)

    @property
    def proof_path(self) -> Path:
        """The file with theorem and proof, or the folder of all proofs if none is named."""
        return PROOFS / self.proof

    def event(self) -> "DpEvent":
        """Return the spending so far as a dp-accounting event, to compose with other systems.

        Needs the extra `accounting`.
        """
        return self.spent.event(self.privacy)

    def _repr_html_(self) -> str:
        """Return the spent budget as a bar, and the text, for notebooks."""
        heading = "Differential privacy" if self.notion == "DP" else "Joint differential privacy"
        learners = [
            (f"learner {number}, {part.neighbours}", part._account())
            for number, part in enumerate(self.parts, 1)
        ]
        return html.block(
            self.meter,
            self._promise(),
            *self._not_protected(),
            html.facts(learners),
            html.paragraph(f"{self._account()} {self._fine_print()}", "quiet"),
            title=f"{heading}: {self.asked}",
            warning=self.warning,
        )

    @property
    def warning(self) -> str:
        """A sentence that says that the noise comes from a seed; "" if it does not."""
        if not self.simulated:
            return ""
        return f"{SIMULATED}; the following text holds without a seed."

    @property
    def asked(self) -> str:
        """The ε and the δ asked for, as a text."""
        failing = f", delta = {self.delta:.3g}" if self.delta else ""
        return f"epsilon = {self.epsilon:.3g}{failing}"

    @property
    def meter(self) -> html.Html:
        """The share of ε that is spent, as a bar with a text."""
        spent = self.epsilon_spent
        text = f"epsilon spent: {spent:.3g} of {self.epsilon:.3g}"
        return html.metered(spent / self.epsilon, text)

    @property
    def folded(self) -> html.Html:
        """The text as HTML that opens when a reader clicks its heading."""
        return html.folded(f"Guarantee: {self.asked}", *self.paragraphs)

    def __str__(self) -> str:
        return "\n".join(fill(text, width=100) for text in self.paragraphs)

    @property
    def paragraphs(self) -> tuple[str, str]:
        """The text without line breaks: the promise, then the account and all else."""
        details = [*self._not_protected(), self._account(), self._fine_print()]
        return f"{self.warning} {self._promise()}".strip(), " ".join(details)

    def _promise(self) -> str:
        """Two sentences: the guarantee, and the attacker against whom it holds."""
        heading = "Differential privacy" if self.notion == "DP" else "Joint differential privacy"
        person, where = self._who()
        failing = f", except with probability {self.delta:.3g}" if self.delta else ""
        times = exp(min(self.epsilon, 700.0))
        did = self.words.did
        seen = self.words.seen
        published = "anything published here is"
        if self.notion != "DP":
            did = "brought and did"
            seen = "every decision but the person's own"
            published = "anything published here, and everybody else's decisions together, are"
        stream = ", and whatever the stream is" if self.words.streams else ""
        return (
            f"{heading} for {person}: whatever a person {did} in {where}, {published} "
            f"at most e^{self.epsilon:.3g} = {times:.3g} times as likely "
            f"as if they had been another person{failing}. "
            f"It holds against anyone who sees {seen} and knows everybody else's data{stream}."
        )

    def _not_protected(self) -> list[str]:
        """The exception of joint DP: a person's own decision."""
        if self.notion == "DP":
            return []
        return [
            "NOT protected: a person's own decision, which follows from what they brought, "
            "against anyone who sees it. Logs of decisions, and counts of them, are as sensitive "
            "as what people brought."
        ]

    def _who(self) -> tuple[str, str]:
        """The protected data, and the rounds or blocks that it may be in."""
        unit = self.words.unit
        units = self.words.units
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
        """The meaning of rounds that name their person, and what the caller must ensure."""
        most = self.privacy.contributions
        pays = self.total.payments(self.privacy)
        bounded = self.planned is not None and self.planned <= most
        limit = "the plan has no more" if bounded else "the caller ensures this"
        return (
            f"Every {self.words.unit} names its person. In each block, between two releases, only "
            f"the first {self.words.unit} that a person opens counts. "
            f"Nobody is in more than {most} blocks: {limit}. "
            f"All {self.words.units} of a person together cost {pays} times as much as one."
        )

    def _account(self) -> str:
        """The releases made and the privacy spent so far."""
        planned = "" if self.planned is None else f" of {self.planned}"
        spent = f"epsilon = {self.epsilon_spent:.3g} of {self.epsilon:.3g}"
        if self.delta:
            spent += f" at delta = {self.delta:.3g}"
            if not (self.spent.pure or (self.parts and self.total.pure)):
                spent += f" (rho = {self.rho:.4g} of {self.privacy.whole.rho:.4g})"
        return f"{self.releases}{planned} releases made; spent so far: {spent}."

    def _fine_print(self) -> str:
        """The neighbours, the assumptions, the source of the noise, and the proof."""
        sentences = [f"Neighbours: {self.neighbours}."]
        if self.privacy.keyed:
            sentences.append(self._whose())
        if any(part.privacy.keyed for part in self.parts):
            sentences.append(
                "In learners whose rounds name their person, blocks between two releases are "
                "counted instead of rounds: only the first round that a person opens in a block "
                "counts. The caller ensures that names are right."
            )
        if self.assumes:
            sentences.append(
                f"The value of the {self.words.results} assumes {self.assumes}; privacy does not."
            )
        source = "from a seed" if self.simulated else "keyed by the operating system"
        sentences.append(f"Noise and selections: exact integer samplers {source}.")
        if self.proof:
            sentences.append(f"Proof: docs/guarantees/{self.proof}")
        return " ".join(sentences)
