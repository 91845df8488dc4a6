"""Public settings of `ContinuousMaximizer`."""

from dataclasses import dataclass, field
from typing import ClassVar, Literal, Self

from discreet import require
from discreet.domains import Box, SetDomain
from discreet.engine.codec import OMITTED
from discreet.engine.settings import UNWRITTEN, Settings
from discreet.errors import ConfigError
from discreet.functions.allocations import BudgetAllocation, ConcaveOfLinear, Quadratic
from discreet.functions.continuous import Gradient, Multilinear
from discreet.learners.labels import Label, labelled
from discreet.learners.streams import Stream, refuse_adversarial
from discreet.optim.euclidean import is_projected_onto

RELEASES = 160
"""Number of releases with `block="auto"`, before blocks of no round are dropped."""
LOOKED_AT = 0.01
"""Usual share of people whose gradient lengths set the bound with `bound="auto"`."""
MOST_LOOKED_AT = 0.05
"""Largest share of people whose gradient lengths set the bound."""
ENOUGH = 40.0
"""Number of people, times ε, that is enough for the bound."""


@dataclass(frozen=True, kw_only=True)
class ContinuousMaximizerSettings(Settings):
    """Parameters of `ContinuousMaximizer`, as public data."""

    domain: SetDomain
    function: Multilinear | BudgetAllocation | ConcaveOfLinear | Quadratic | Gradient = (
        Multilinear()
    )
    labels: tuple[Label, ...] | None = None
    play: Literal["set", "point"] = "set"
    stream: Stream = "drifting"
    bound: float | Literal["auto"] = "auto"
    block: int | Literal["auto"] = "auto"
    report: float = field(default=0.0, metadata=OMITTED | UNWRITTEN)

    needs_horizon: ClassVar[bool] = True

    def __post_init__(self) -> None:
        refuse_adversarial(self.stream, "stream='drifting', or SetMaximizer with whole preferences")
        if isinstance(self.domain, Box):
            raise ConfigError(
                "over a Box the upper corner is the best point for every person: "
                "use a Knapsack or a matroid"
            )
        super().__post_init__()
        self.function.width(self.domain.items)  # refuses functions that do not fit the domain
        if self.mode == "euclidean" and not (
            self.play == "point" and is_projected_onto(self.domain)
        ):
            raise ConfigError(
                "mode 'euclidean' decides points of quotas or of a knapsack with one budget, "
                f"not of {type(self.domain).__name__} with play={self.play!r}"
            )
        if self.bound != "auto":
            require.number("bound", self.bound, 1e-8, 1e8)
        if self.block != "auto":
            require.whole("block", self.block)
        if self.labels is not None and labelled(self.labels)[0] != self.domain.items:
            raise ConfigError(
                f"there must be one label for each of the {self.domain.items} items, got "
                f"{len(self.labels)}"
            )

    @property
    def leads(self) -> Literal["vertex", "euclidean"]:
        """The leader: Euclidean for points of functions of amounts, if its projection is cheap."""
        if self.mode == "vertex":
            return "vertex"
        has_amounts = self.play == "point" and not isinstance(self.function, Multilinear)
        is_mixed = self.mode == "euclidean" or has_amounts
        return "euclidean" if is_mixed and is_projected_onto(self.domain) else "vertex"

    @property
    def rounds(self) -> int:
        """Number of people."""
        assert self.horizon is not None
        return self.horizon

    @property
    def lengths(self) -> tuple[int, ...]:
        """Rounds of each block: block i of R ends at T·(i/R)^1.5, or all have the same length.

        Without a given bound, one block more comes first, in which gradient lengths are counted.
        """
        rounds = self.rounds
        enough = min(MOST_LOOKED_AT * rounds, ENOUGH * self.contributions / self.epsilon)
        looked_at = max(1, int(LOOKED_AT * rounds), int(enough)) if self.bound == "auto" else 0
        left = rounds - looked_at
        if self.block != "auto":
            blocks = [self.block] * ((left - 1) // self.block)
        else:
            ends = [round(left * ((place + 1) / RELEASES) ** 1.5) for place in range(RELEASES)]
            ends = sorted({end for end in ends if 0 < end < left})
            blocks = [after - before for before, after in zip([0, *ends], ends, strict=False)]
        first = [looked_at] if looked_at and looked_at < rounds else []
        return (*first, *blocks)

    @classmethod
    def translated(cls, given: dict[str, object]) -> dict[str, object]:
        """Return the fields with labels as a tuple."""
        if given.get("labels") is None:
            return given
        return given | {"labels": tuple(require.listed("labels", given["labels"]))}

    @classmethod
    def from_plain(cls, plain: dict[str, object]) -> Self:
        """Return settings from plain data; callables are refused with the remedy."""
        for name, kind in (
            ("domain", "OracleMatroid"),
            ("function", "Gradient"),
            ("family", "SampledSets"),
        ):
            within = plain.get("function") if name == "family" else plain
            described = within.get(name) if isinstance(within, dict) else None
            if isinstance(described, dict) and described.get("kind") == kind:
                raise ConfigError(
                    f"a {name} that is a callable is not kept in files: make the learner with it "
                    "and journal=path"
                )
        return super().from_plain(plain)
