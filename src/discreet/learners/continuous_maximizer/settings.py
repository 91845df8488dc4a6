"""The public settings of a continuous maximiser."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

from discreet import require
from discreet.domains import Box, SetDomain
from discreet.engine.settings import Settings
from discreet.errors import ConfigError
from discreet.functions.allocations import BudgetAllocation, ConcaveOfLinear, Quadratic
from discreet.functions.continuous import Gradient, Multilinear
from discreet.learners.labels import Label, labelled
from discreet.learners.streams import Stream, check_stream, refuse_adversarial
from discreet.optim.euclidean import is_projected_onto

RELEASES = 160
"""How often a new point is decided, where nobody says."""
LOOKED_AT, MOST_LOOKED_AT = 0.01, 0.05
"""The share of people whose gradients' lengths set the bound, where nobody says: usually and at
most.
"""
ENOUGH = 40.0
"""So many people over ε are enough for that."""


@dataclass(frozen=True, kw_only=True)
class ContinuousMaximizerSettings(Settings):
    """What `ContinuousMaximizer` is made with: its parameters, as public data."""

    domain: SetDomain
    function: Multilinear | BudgetAllocation | ConcaveOfLinear | Quadratic | Gradient = (
        Multilinear()
    )
    labels: tuple[Label, ...] | None = None
    play: Literal["set", "point"] = "set"
    stream: Stream = "drifting"
    bound: float | Literal["auto"] = "auto"
    block: int | Literal["auto"] = "auto"

    removed: ClassVar[Mapping[str, str]] = {
        "oracle": "leave it out, points between vertices are decided where they pay; "
        "facts['method'] says so",
        "copies": "leave it out, one running total leads to the point",
    }

    def __post_init__(self) -> None:
        check_stream(self.stream)
        refuse_adversarial(self.stream, "stream='drifting', or SetMaximizer with whole preferences")
        if isinstance(self.domain, Box):
            raise ConfigError(
                "over a Box everybody's value is largest at the upper corner, whatever people "
                "bring: take a "
                "Knapsack or a matroid, which leave something to decide"
            )
        super().__post_init__()
        require.whole("horizon", self.horizon)
        self.function.width(self.domain.items)  # refuses functions that do not fit the domain
        if self.mode == "euclidean" and not (
            self.play == "point" and is_projected_onto(self.domain)
        ):
            raise ConfigError(
                "mode 'euclidean' decides points of quotas or of a knapsack with one budget, not "
                "of "
                f"{type(self.domain).__name__} with play={self.play!r}"
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
        """Which leader: for amounts, where mixtures may be best, the Euclidean one if it is
        cheap.
        """
        if self.mode == "vertex":
            return "vertex"
        mixed = self.mode == "euclidean" or (
            self.play == "point" and not isinstance(self.function, Multilinear)
        )
        return "euclidean" if mixed and is_projected_onto(self.domain) else "vertex"

    @property
    def rounds(self) -> int:
        """How many people."""
        assert self.horizon is not None
        return self.horizon

    @property
    def lengths(self) -> tuple[int, ...]:
        """The rounds of each block: growing like T·(i/R)^1.5, or all alike.

        The first one, if there is no bound, looks at lengths only.
        """
        rounds = self.rounds
        enough = min(MOST_LOOKED_AT * rounds, ENOUGH * self.contributions / self.epsilon)
        looked = max(1, int(LOOKED_AT * rounds), int(enough)) if self.bound == "auto" else 0
        left = rounds - looked
        if self.block != "auto":
            blocks = [self.block] * ((left - 1) // self.block)
        else:
            ends = [round(left * ((place + 1) / RELEASES) ** 1.5) for place in range(RELEASES)]
            ends = sorted({end for end in ends if 0 < end < left})
            blocks = [after - before for before, after in zip([0, *ends], ends, strict=False)]
        return (*([looked] if looked and looked < rounds else []), *blocks)

    @classmethod
    def translated(cls, given: dict[str, Any]) -> dict[str, Any]:
        """Return fields for labels in any kind of list."""
        if given.get("labels") is None:
            return given
        return given | {"labels": tuple(require.listed("labels", given["labels"]))}

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Self:
        """Refuses callables, and words of before, with the remedy."""
        check_stream(plain.get("stream"))
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
