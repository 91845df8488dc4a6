"""Runs of sets of least cost: whole costs, and costs of the chosen set alone."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from discreet import Privacy, SetMinimizer
from discreet.functions import GraphCut, MinusModular
from measures.equality.runs import Random, Scenario
from measures.equality.tools import HOW, NAN, PURE, RETURNING, USUAL, failing, made, some


def costs() -> Iterator[Scenario]:
    """Whole costs, and costs of the chosen set alone."""
    yield from _whole_costs()
    yield from _single_costs("iid")
    yield from _single_costs("drifting")


def _whole_costs() -> Iterator[Scenario]:
    items = 6
    chain = MinusModular(GraphCut(tuple((place, place + 1) for place in range(items - 1))))
    width = 2 * items - 1
    rows: dict[str, Any] = {
        "person": lambda generator, round: generator.uniform(-0.2, 0.3, size=width).clip(0),
        "refused": ([0.7], "abc", [0.7] * (width - 1) + [NAN]),
        "broken": [NAN] * width,
    }

    def scenario(name: str, who: dict[str, Any] = rows, **more: Any) -> Scenario:
        how = {key: more.pop(key) for key in HOW if key in more}
        shape: dict[str, Any] = {
            "items": items,
            "horizon": 2000,
            "privacy": USUAL,
            "function": chain,
        } | more
        make = made(SetMinimizer, **shape)
        return Scenario(name=f"SetMinimizer {name}", make=make, rounds=2000, **who, **how)

    def tolerant(generator: Random, round: int) -> Any:
        worth = generator.uniform(-0.3, 0.3, size=items)
        return lambda chosen: float(worth[chosen].sum())

    callables: dict[str, Any] = {"person": tolerant, "refused": (0.777,), "broken": failing}
    masked: dict[str, Any] = {"mask": some(items, 1), "at_once": 70}
    for mode in ("gradients", "bound"):
        yield scenario(f"{mode}, usual", mode=mode)
        yield scenario(f"{mode}, masks", mode=mode, **masked)
        yield scenario(f"{mode}, pure", mode=mode, privacy=PURE, block=200)
        yield scenario(f"{mode}, adversarial", mode=mode, stream="adversarial")
        yield scenario(f"{mode}, keyed", mode=mode, privacy=RETURNING, keyed=True)
        yield scenario(f"{mode}, replay", mode=mode, replay=True, items=list("abcdef"))
        yield scenario(f"{mode}, resumed", mode=mode, resume=True)
        yield scenario(
            f"{mode}, callables", callables, mode=mode, function=None, block=250, bound=2.0
        )


def _single_costs(stream: str) -> Iterator[Scenario]:
    items = 6
    generator = np.random.default_rng(2)
    own = generator.uniform(-0.3, 0.3, size=items)
    pairs = np.triu(generator.uniform(0, 0.2, size=(items, items)), 1)

    def cost(noise: float, chosen: Any) -> float:
        numbers = np.asarray([item for item in chosen if item >= 0], dtype=np.int64)
        return float(noise + own[numbers].sum() - pairs[np.ix_(numbers, numbers)].sum())

    def scenario(name: str, rounds: int = 20_000, **more: Any) -> Scenario:
        how = {key: more.pop(key) for key in HOW if key in more}
        shape: dict[str, Any] = {"items": items, "horizon": rounds, "privacy": USUAL} | more
        usual = Scenario(
            name=f"SetMinimizer pairs, {stream}, {name}",
            make=made(SetMinimizer, feedback="bandit", stream=stream, **shape),
            person=lambda generator, round: generator.normal(0, 0.3),
            rounds=rounds,
            answer=cost,
            refused=("abc", [0.7, 0.1], NAN),
            broken=NAN,
            full=False,
        )
        return replace(usual, **how)

    def shifted(generator: Random, round: int) -> float:
        return generator.normal(0, 0.3) + (0.8 if round > 20_000 else -0.3)

    masked: dict[str, Any] = {"mask": some(items, 1), "at_once": 700}
    yield scenario("usual")
    yield scenario("long", 100_000)
    yield scenario("loose", 40_000, privacy=Privacy(8.0, 1e-6))
    yield scenario("shift", 40_000, privacy=Privacy(8.0, 1e-6), person=shifted)
    yield scenario("pure, explore, block", explore=0.3, block=900, privacy=PURE, bound=2.0)
    yield scenario("single", 6000, single=1000)
    yield scenario("masks", 6000, single=300, **masked)
    yield scenario("report", report=0.3)
    yield scenario("report, masks", 6000, report=0.2, **masked)
    yield scenario("keyed", 6000, privacy=RETURNING, keyed=True)
    yield scenario("resumed", 6000, resume=True)
    yield scenario("report, resumed", 6000, resume=True, report=0.2)
