"""The public settings of a set selector."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

from discreet import require
from discreet.domains import SetDomain
from discreet.engine.settings import Settings
from discreet.errors import ConfigError
from discreet.functions.places import Nearby, Types
from discreet.functions.sets import (
    AnyFunction,
    ClickModel,
    ConcaveOverModular,
    FacilityLocation,
    SetFunction,
    SetFunctions,
    WeightedCoverage,
)
from discreet.learners.labels import Label, labelled

Family = (
    ClickModel
    | FacilityLocation
    | ConcaveOverModular
    | WeightedCoverage
    | Nearby
    | Types
    | AnyFunction
)


@dataclass(frozen=True, kw_only=True)
class SetSelectorSettings(Settings):
    """What `SetSelector` is made with, and how many people there are: public data."""

    domain: SetDomain
    function: Family
    labels: tuple[Label, ...] | None = None
    people: int | None = None
    """How many there are: known when `fit` is called."""

    removed: ClassVar[Mapping[str, str]] = {
        "method": "leave it out, public cells decide; why of the choice says how it was made"
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.horizon is not None:
            raise ConfigError("a selector has no horizon: it chooses once")
        if self.keyed:
            raise ConfigError(
                "a selector has no rounds that could name their person: leave out keyed"
            )
        if self.people is not None:
            require.whole("people", self.people, 1, 2**26)
        if self.family is not None:
            self.family.width(self.domain.items)  # refuses functions that do not fit the domain
        if self.labels is not None and labelled(self.labels)[0] != self.domain.items:
            raise ConfigError(
                f"there must be one label for each of the {self.domain.items} items, got "
                f"{len(self.labels)}"
            )
        require.one_of("mode", self.mode, ("auto", "histogram", "sampled"))
        if self.mode == "histogram" and not self.has_cells:
            kind = type(self.function).__name__
            raise ConfigError(
                f"a histogram needs public cells (Nearby, Types), which {kind} has not"
            )

    @property
    def family(self) -> SetFunctions | None:
        """The family of set functions; None if people bring callables."""
        return None if isinstance(self.function, AnyFunction) else self.function

    @property
    def has_cells(self) -> bool:
        """Whether people fall into public cells."""
        return isinstance(self.function, Nearby | Types)

    @cached_property
    def count(self) -> int:
        """How many people there are."""
        if self.people is None:
            raise ConfigError("the number of people is known when fit is called")
        return self.people

    @property
    def earns(self) -> bool:
        """What the chosen set is worth can be reported."""
        return True

    def as_plain(self) -> dict[str, Any]:
        """The report is always named: it was there from the first."""
        return super().as_plain() | {"report": self.report}

    @classmethod
    def translated(cls, given: dict[str, Any]) -> dict[str, Any]:
        """Return fields for labels in any kind of list, and for people's own functions."""
        function = given.get("function")
        if function is SetFunction:
            given = given | {"function": AnyFunction()}
        if given.get("labels") is None:
            return given
        return given | {"labels": tuple(require.listed("labels", given["labels"]))}

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Self:
        """Refuses an oracle with the remedy."""
        domain = plain.get("domain")
        if isinstance(domain, dict) and domain.get("kind") == "OracleMatroid":
            raise ConfigError(
                "an oracle is not kept in files: make the selector with it and without a journal"
            )
        return super().from_plain(plain)
