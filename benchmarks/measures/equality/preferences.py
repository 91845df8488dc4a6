"""Runs of slates from whole preferences."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from discreet import SetMaximizer
from discreet.functions import FacilityLocation, SetFunction
from measures.equality.runs import Random, Scenario
from measures.equality.tools import HOW, NAN, PURE, RETURNING, USUAL, failing, made, some

ITEMS, SLOTS = 12, 3


def whole_preferences() -> Iterator[Scenario]:
    """Slates from rows and callables, in all streams."""
    yield from _preferences_of("gain-sum", "drifting")
    yield from _preferences_of("disjoint-greedy", "iid")
    yield from _preferences_of("ordered-experts", "adversarial")
    events = (
        (400, lambda learner: learner.add_item()),
        (900, lambda learner: learner.retire(1)),
        (1500, lambda learner: learner.change(add=[None, 1])),
    )
    wide = {"max_items": ITEMS + 2, "block": 200, "events": events}
    yield _preferences("sum, catalogue", room=ITEMS + 2, **wide)
    yield _preferences("experts, catalogue", room=ITEMS + 2, stream="adversarial", **wide)


def _preferences(name: str, *, room: int = ITEMS, **more: Any) -> Scenario:
    how = {key: more.pop(key) for key in HOW if key in more}
    shape: dict[str, Any] = {
        "items": ITEMS,
        "slots": SLOTS,
        "horizon": 3000,
        "privacy": USUAL,
    } | more
    usual = Scenario(
        name=f"SetMaximizer {name}",
        make=made(SetMaximizer, **shape),
        person=lambda generator, round: generator.beta(1, 4, size=room),
        rounds=3000,
        refused=([0.7], "abc", [0.7] * (room - 1) + [1.5], [0.7] * (room - 1) + [NAN]),
        broken=[NAN] * room,
    )
    return replace(usual, **how)


def _preferences_of(mode: str, stream: str) -> Iterator[Scenario]:
    def scenario(name: str, **more: Any) -> Scenario:
        return _preferences(f"{mode}, {name}", stream=stream, **more)

    names = [f"item {number}" for number in range(ITEMS)]
    callables: dict[str, Any] = {
        "person": _set_callable,
        "refused": (0.777, "abc"),
        "broken": failing,
    }
    yield scenario("usual")
    yield scenario("labels, masks", items=names, mask=some(ITEMS, SLOTS + 1), at_once=170)
    yield scenario("pure, blocks", privacy=PURE, block=300)
    yield scenario("facility location", function=FacilityLocation, block=250)
    yield scenario("keyed", privacy=RETURNING, keyed=True, block=200)
    yield scenario("replay", replay=True)
    yield scenario("resumed", resume=True, at_once=210)
    if mode != "disjoint-greedy":  # which holds visitors as rows
        yield scenario("callables", function=SetFunction, block=500, **callables)


def _set_callable(generator: Random, round: int) -> Any:
    worth = generator.uniform(0, 0.3, size=ITEMS)
    return lambda chosen: float(np.sqrt(worth[chosen].sum() / ITEMS))
