"""Cases of `SetMaximizer`: whole preferences, one reward per slate, or the clicked item."""

from dataclasses import replace
from typing import Any

import numpy as np

from discreet import Privacy, SetMaximizer
from discreet.arrays import Floats, Mask
from discreet.audit.cases.case import Case
from discreet.audit.cases.parts import (
    HORIZON,
    MARKER,
    NAN,
    NOT_A_NUMBER,
    Arguments,
    Budgets,
    failing,
    maker,
    mask_of,
    not_in_unit_range,
    numbers,
    worth,
)
from discreet.audit.hostile_logs import with_log
from discreet.functions import ConcaveOverModular, FacilityLocation, SetFunction, WeightedCoverage

IID: Arguments = {"stream": "iid", "items": 8, "slots": 3, "block": 8}
"""Settings of whole preferences whose visitors are alike over time."""
LONG_LABELS = [2**60 + number for number in range(1, 5)]
"""Labels that a float does not tell apart."""
SHOP: Arguments = {"items": 6, "slots": 3}
"""Settings of the long cases."""
CHANGES = (
    (15, "add_item", None),
    (55, "retire", 1),
    (150, "extend", 140),
    (150, "add_item", None),
    (150, "add_item", 1),
    (200, "retire", 6),
)
"""Public events of the cases with a changing catalogue."""


def cases(budgets: Budgets) -> list[Case]:
    """Return one case per mode."""
    return [
        *_cases_of_preferences(budgets),
        *_cases_of_adversarial_streams(budgets),
        *_cases_of_rewards(budgets),
        *_cases_of_clicks(budgets),
    ]


def _cases_of_preferences(budgets: Budgets) -> list[Case]:
    coverage = WeightedCoverage(((1, 1, 0), (0, 1, 1), (1, 0, 0)))
    return [
        _sets("sets", budgets.usual, block=4),
        _sets("sets, pure", budgets.pure, block=5),
        _sets(
            "sets, facility location, two contributions",
            budgets.twice,
            block=3,
            function=FacilityLocation,
        ),
        _sets("sets, iid", budgets.usual, **IID),
        _sets("sets, iid, concave, pure", budgets.pure, function=ConcaveOverModular(), **IID),
        _sets("sets, coverage", budgets.usual, block=4, function=coverage),
        _callables("sets, callables", budgets.usual, block=5),
    ]


def _cases_of_adversarial_streams(budgets: Budgets) -> list[Case]:
    return [
        _sets("sets, adversarial", budgets.usual, block=2, stream="adversarial"),
        _sets(
            "sets, adversarial, facility location, two contributions",
            budgets.twice,
            block=3,
            stream="adversarial",
            function=FacilityLocation,
        ),
        _sets("sets, adversarial, pure", budgets.pure, block=5, stream="adversarial"),
        _callables("sets, adversarial, callables", budgets.usual, block=5, stream="adversarial"),
    ]


def _cases_of_rewards(budgets: Budgets) -> list[Case]:
    usual = budgets.usual
    return [
        _rewards("rewards", usual, explore=0.8, block=2),
        _rewards("rewards, pure, bound", budgets.pure, explore=0.8, block=2, bound=4.0),
        _rewards(
            "rewards, iid, two contributions", budgets.twice, stream="iid", explore=0.5, block=3
        ),
        _rewards("rewards, report", usual, explore=0.8, block=2, report=0.3, bound=4.0),
    ]


def _cases_of_clicks(budgets: Budgets) -> list[Case]:
    return [
        _clicks("clicks", budgets.usual, explore=0.5, block=2),
        _clicks("clicks, report", budgets.usual, explore=0.5, block=2, report=0.3),
        _clicks(
            "clicks, iid, two contributions", budgets.twice, stream="iid", explore=0.5, block=2
        ),
        _clicks("clicks, long labels", budgets.usual, explore=0.5, block=4, items=LONG_LABELS),
    ]


def keyed_cases(budgets: Budgets) -> list[Case]:
    """Return one case per mode whose rounds name their person."""
    twice = budgets.returning(2)
    long = _rewards("keyed, rewards, long", twice, explore=0.8, block=10, horizon=40)
    return [
        _sets("keyed, sets, iid", budgets.returning(5), **IID),
        _rewards("keyed, rewards", twice, stream="iid", explore=0.5, block=3),
        replace(long, at_once=8),
        _clicks("keyed, clicks", twice, stream="iid", explore=0.5, block=3),
    ]


def long_cases(budgets: Budgets) -> list[Case]:
    """Return cases that are long enough for exchanges, trials, and a second screening."""
    usual = budgets.usual
    return [
        _clicks("long, clicks", usual, horizon=200, explore=0.3, block=60, **SHOP),
        _clicks("long, clicks, screened again", usual, horizon=600, explore=0.3, block=60, **SHOP),
        _rewards("long, rewards", usual, horizon=1000, explore=0.3, block=160, **SHOP),
        _clicks("long, clicks, report", usual, horizon=240, explore=0.5, block=60, report=0.2),
        *_cases_of_catalogues(budgets),
        *_cases_of_logs(budgets),
    ]


def _cases_of_catalogues(budgets: Budgets) -> list[Case]:
    """Cases whose items change along the way."""
    settings: Arguments = SHOP | {
        "max_items": 8,
        "horizon": 160,
        "explore": 0.3,
        "block": 40,
    }
    found = [
        _clicks("long, clicks, living catalogue", budgets.usual, **settings),
        _rewards("long, rewards, living catalogue", budgets.usual, **settings),
    ]
    return [replace(case, available=_with_the_first, events=CHANGES, horizon=300) for case in found]


def _cases_of_logs(budgets: Budgets) -> list[Case]:
    """Cases that start from the log of another policy."""
    settings: Arguments = SHOP | {"horizon": 60, "explore": 0.3, "block": 20}
    clicks = _clicks("log, clicks", budgets.usual, **settings)
    uniform = _clicks("log, clicks, uniform", budgets.twice, **settings)
    rewards = _rewards("log, rewards", budgets.usual, **settings)
    return [
        with_log(clicks, least=0.1, **SHOP),
        with_log(uniform, least=None, **SHOP),
        with_log(rewards, least=0.1, **SHOP),
    ]


def _sets(name: str, privacy: Privacy, **settings: object) -> Case:
    usual = {"items": 3, "slots": 2, "horizon": HORIZON, "privacy": privacy}
    merged: Arguments = usual | settings
    items: int = merged["items"]
    covers = isinstance(merged.get("function"), WeightedCoverage)
    return Case(
        name,
        maker(SetMaximizer, merged),
        person=_light if covers else numbers(items),
        refused=not_in_unit_range(3),
        broken=[NAN] * items,
        available=mask_of(items),
    )


def _light(generator: np.random.Generator) -> Floats:
    """A person whose weights add up to less than one."""
    return generator.uniform(0, 0.3, size=3)


def _callables(name: str, privacy: Privacy, **settings: object) -> Case:
    usual = {
        "items": 3,
        "slots": 2,
        "horizon": HORIZON,
        "function": SetFunction,
        "privacy": privacy,
    }
    return Case(
        name,
        maker(SetMaximizer, usual | settings),
        person=worth(0.0),
        refused=(MARKER, "abc"),
        broken=failing,
        available=mask_of(3),
    )


def _rewards(name: str, privacy: Privacy, **settings: object) -> Case:
    usual = {
        "items": 4,
        "slots": 2,
        "horizon": HORIZON,
        "feedback": "bandit",
        "privacy": privacy,
    }
    merged: Arguments = usual | settings

    def person(generator: np.random.Generator) -> float:
        return float(generator.uniform())

    return Case(
        name,
        maker(SetMaximizer, merged),
        person,
        refused=NOT_A_NUMBER,
        broken=NAN,
        available=mask_of(merged["items"]),
        full=False,
        horizon=merged["horizon"],
    )


def _clicks(name: str, privacy: Privacy, **settings: object) -> Case:
    usual = {
        "items": 4,
        "slots": 2,
        "horizon": HORIZON,
        "feedback": "clicks",
        "privacy": privacy,
    }
    merged: Arguments = usual | settings
    labels = merged["items"] if isinstance(merged["items"], list) else range(merged["items"])
    items = len(labels)

    def person(generator: np.random.Generator) -> int | None:
        clicked = int(generator.integers(items + 1))
        return labels[clicked - 1] if clicked else None

    return Case(
        name,
        maker(SetMaximizer, merged),
        person,
        refused=(MARKER, items, -1, "pear", [1, items], True),
        broken=99,
        available=mask_of(items),
        full=False,
        horizon=merged["horizon"],
        answer=_if_shown,
    )


def _if_shown(item: object, slate: Any) -> object:
    """The click of a person who likes one item."""
    return item if item is not None and item in slate else None


def _with_the_first(generator: np.random.Generator) -> Mask:
    """A mask of eight items with the first one, which is never retired."""
    mask = mask_of(8)(generator)
    mask[0] = True
    return mask
