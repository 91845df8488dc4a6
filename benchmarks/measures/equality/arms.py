"""Runs of arms for contexts: ridge and screening."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from discreet import ContextualBandit, Privacy
from measures.equality.runs import Scenario
from measures.equality.tools import HOW, NAN, RETURNING, USUAL, made, some


def arms() -> Iterator[Scenario]:
    """Ridge and screening, with masks, reports and arms that come later."""
    yield from _arms_of("ridge", features=4, relevant="all")
    yield from _arms_of("screen", features=12, relevant=2)
    loose = Privacy(4.0, 1e-6)
    yield _arms("screen, many features", 20_000, features=80, relevant=None, privacy=loose)
    yield _arms("screen, one feature", 20_000, features=12, relevant=1, privacy=loose, report=0.2)


def _arms(name: str, rounds: int = 4000, **more: Any) -> Scenario:
    how = {key: more.pop(key) for key in HOW if key in more}
    shape: dict[str, Any] = {"arms": 3, "horizon": rounds, "privacy": USUAL} | more
    names = shape["features"]
    features = names if isinstance(names, int) else len(names)
    weights = np.random.default_rng(3).uniform(-0.4, 0.4, size=(5, 2))

    def reward(lots: Any, arm: Any) -> float:
        number = int(str(arm).split()[-1])  # of a label, or the number itself
        return float(lots[0] < 0.5 + weights[number] @ lots[1:])

    return Scenario(
        name=f"ContextualBandit {name}",
        make=made(ContextualBandit, **shape),
        person=lambda generator, round: generator.random(3),
        rounds=rounds,
        answer=reward,
        context=lambda generator: generator.uniform(-1, 1, size=features),
        refused=("abc", [0.7, 0.1], NAN),
        broken=NAN,
        full=False,
        **how,
    )


def _arms_of(mode: str, *, features: int, relevant: Any) -> Iterator[Scenario]:
    def scenario(name: str, rounds: int = 4000, **more: Any) -> Scenario:
        return _arms(
            f"{mode}, {name}", rounds, **({"features": features, "relevant": relevant} | more)
        )

    added = ((500, lambda learner: learner.add_arm()), (1700, lambda learner: learner.add_arm()))
    named = ["arm 0", "arm 1", "arm 2"]
    masked: dict[str, Any] = {"mask": some(3, 1), "at_once": 300}
    yield scenario("usual")
    yield scenario("loose", 20_000, privacy=Privacy(6.0, 1e-3))
    yield scenario("single, masks", single=500, **masked)
    yield scenario("report", report=0.3)
    yield scenario("report, masks, resumed", report=0.2, resume=True, **masked)
    yield scenario(
        "bounds", context_bound=[2.0] * features, context_length=1.5, reward_range=(-1, 2)
    )
    yield scenario("block", block=100, privacy=Privacy(1.0, 1e-6, contributions=2))
    yield scenario("more arms", max_arms=5, events=added)
    yield scenario("more arms, report", 20_000, max_arms=5, events=added, report=0.2)
    yield scenario("labels", arms=named, features=[f"feature {place}" for place in range(features)])
    yield scenario("keyed", privacy=RETURNING, keyed=True)
    yield scenario("resumed", resume=True)
