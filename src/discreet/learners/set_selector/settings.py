"""The public settings of a set selector."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Self

from discreet import require
from discreet.domains import SetDomain
from discreet.engine.codec import OMITTED
from discreet.engine.settings import FOREIGN, UNWRITTEN, Settings
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
    """The parameters of `SetSelector` and the number of people, as public data."""

    domain: SetDomain
    function: Family
    labels: tuple[Label, ...] | None = None
    people: int | None = field(default=None, metadata=UNWRITTEN)
    """The number of people, which is known when `fit` is called."""
    horizon: int | None = field(default=None, metadata=UNWRITTEN)
    keyed: bool = field(default=False, metadata=OMITTED | UNWRITTEN)

    foreign: ClassVar[Mapping[str, str]] = FOREIGN | {
        "horizon": "leave it out, a selector chooses once"
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.horizon is not None:
            raise ConfigError("a selector chooses once: leave out horizon")
        if self.keyed:
            raise ConfigError(
                "a selector has no rounds that could be keyed by person: leave out keyed"
            )
        if self.people is not None:
            require.whole("people", self.people, 1, 2**26)
        if self.family is not None:
            self.family.width(self.domain.items)  # refuses functions that do not fit the domain
        if self.labels is not None and labelled(self.labels, "labels")[0] != self.domain.items:
            raise ConfigError(
                f"there must be one label for each of the {self.domain.items} items, got "
                f"{len(self.labels)}"
            )
        require.one_of("mode", self.mode, ("auto", "histogram", "sampled"))
        if self.mode == "histogram" and not self.has_cells:
            kind = type(self.function).__name__
            raise ConfigError(
                f"a histogram needs public cells, which {kind} has not: use Nearby or Types"
            )

    @property
    def family(self) -> SetFunctions | None:
        """The family of set functions; None if records are callables."""
        return None if isinstance(self.function, AnyFunction) else self.function

    @property
    def has_cells(self) -> bool:
        """Whether people fall into public cells."""
        return isinstance(self.function, Nearby | Types)

    @cached_property
    def count(self) -> int:
        """The number of people."""
        if self.people is None:
            raise ConfigError("the number of people is not known yet: call fit")
        return self.people

    @property
    def earns(self) -> bool:
        """Whether the value of the chosen set can be reported."""
        return True

    def as_plain(self) -> dict[str, object]:
        """Return plain data, which always contains `report`, as in files of all versions."""
        return super().as_plain() | {"report": self.report}

    @classmethod
    def translated(cls, given: dict[str, object]) -> dict[str, object]:
        """Return the fields with labels as a tuple, and with `AnyFunction` for callables."""
        function = given.get("function")
        if function is SetFunction:
            given = given | {"function": AnyFunction()}
        if given.get("labels") is None:
            return given
        return given | {"labels": tuple(require.listed("labels", given["labels"]))}

    @classmethod
    def from_plain(cls, plain: dict[str, object]) -> Self:
        """Return settings from plain data; refuse an oracle."""
        domain = plain.get("domain")
        if isinstance(domain, dict) and domain.get("kind") == "OracleMatroid":
            raise ConfigError(
                "an oracle is not stored in files: make the selector with it and without a journal"
            )
        return super().from_plain(plain)
