"""One constructor for every learner: a declared signature whose arguments become settings.

    class Hedge(Learner):
        settings_type = HedgeSettings

        @constructor
        def __init__(self, actions: int, horizon: int | None, privacy: Privacy, …) -> None:
            '''Each argument is a field of `HedgeSettings`, but for `journal` and `checkpoint`.'''

The signature is what people and type checkers read; the settings are what is checked, hashed and
saved. An omitted argument has the default of the settings. A learner can also be made from its
settings (`from_settings`).
"""

from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from inspect import signature
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from discreet.engine.settings import Settings, refuse_foreign
from discreet.errors import ConfigError


class Constructed(Protocol):
    """A class that can be constructed from settings."""

    settings_type: type[Settings]

    def _begin(self, settings: object, **storage: object) -> None:
        """Begin with these settings; `storage` holds the arguments that are not settings."""


Arguments = ParamSpec("Arguments")
Made = TypeVar("Made", bound=Any)


def constructor(
    declared: Callable[Concatenate[Made, Arguments], None],
) -> Callable[Concatenate[Made, Arguments], None]:
    """Return a constructor with the declared signature.

    Its arguments become settings, by name. Settings as the first argument are used unchanged. A
    keyword that is a setting of other learners raises a `ConfigError` with the reason.
    """
    parameters = signature(declared)

    @wraps(declared)
    def construct(self: Made, /, *arguments: Arguments.args, **named: Arguments.kwargs) -> None:
        made: Constructed = self
        kind = made.settings_type
        if arguments and isinstance(arguments[0], Settings):
            check_settings(type(made), arguments[0])
            inside = [name for name in named if name in _fields_of(kind)]
            if inside:
                raise ConfigError(
                    f"{inside[0]} is part of the settings: change it there (dataclasses.replace)"
                )
            made._begin(*arguments, **named)
            return
        refuse_foreign(kind.foreign, set(named) - set(parameters.parameters))
        declared(self, *arguments, **named)  # Python itself refuses a wrong call
        given = dict(parameters.bind(self, *arguments, **named).arguments)
        del given["self"]
        of_settings = {"privacy", *_fields_of(kind)}
        storage = {name: given.pop(name) for name in list(given) if name not in of_settings}
        made._begin(kind.from_arguments(**given), **storage)

    return construct


def check_settings(owner: Any, settings: Settings) -> None:
    """Refuse the settings of another learner."""
    if type(settings) is not owner.settings_type:
        wanted = owner.settings_type.__name__
        given = type(settings).__name__
        raise ConfigError(f"{owner.__name__} takes {wanted}, got {given}")


def _fields_of(kind: type[Settings]) -> set[str]:
    return {field.name for field in fields(kind)}
