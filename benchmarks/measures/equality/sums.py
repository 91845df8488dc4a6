"""Runs of experts and of running sums."""

from collections.abc import Iterator
from typing import Any

from discreet import Hedge, Privacy, RunningSum
from measures.equality.runs import Scenario
from measures.equality.tools import HOW, NAN, PURE, RETURNING, USUAL, made


def experts() -> Iterator[Scenario]:
    """Hedge, with a horizon and without an end."""

    def scenario(name: str, horizon: int | None, **more: Any) -> Scenario:
        how = {key: more.pop(key) for key in HOW if key in more}
        shape: dict[str, Any] = {"actions": 5, "horizon": horizon, "privacy": USUAL} | more
        return Scenario(
            name=f"Hedge softmax, {name}",
            make=made(Hedge, **shape),
            person=lambda generator, round: (
                generator.uniform(0, 1, size=5) * [1, 0.8, 0.6, 0.4, 0.2]
            ),
            rounds=3000,
            refused=([0.7], "abc", [0.7] * 4 + [NAN]),
            broken=[NAN] * 5,
            **how,
        )

    for name, horizon in (("horizon", 3000), ("endless", None)):
        yield scenario(name, horizon, single=300)
        yield scenario(f"{name}, pure", horizon, privacy=PURE, bound=0.5)
        yield scenario(f"{name}, keyed", horizon, privacy=RETURNING, keyed=True)
        yield scenario(f"{name}, labels, replay", horizon, actions=list("abcde"), replay=True)
        yield scenario(f"{name}, resumed", horizon, resume=True)
    yield scenario("block", 3000, block=70, privacy=Privacy(1.0, 1e-6, contributions=2))


def sums() -> Iterator[Scenario]:
    """Running sums by every mechanism, with a horizon and without an end."""

    def scenario(name: str, horizon: int | None = 300, rounds: int = 300, **more: Any) -> Scenario:
        how = {key: more.pop(key) for key in HOW if key in more}
        shape: dict[str, Any] = {
            "dimension": 3,
            "horizon": horizon,
            "privacy": USUAL,
            "bound": 1.0,
        } | more
        return Scenario(
            name=f"RunningSum {name}",
            make=made(RunningSum, **shape),
            person=lambda generator, round: generator.uniform(-0.5, 1, size=3),
            rounds=rounds,
            refused=([0.7], "abc", [0.7, NAN, 0.1]),
            broken=[NAN] * 3,
            **how,
        )

    for mode in ("disjoint", "honaker", "toeplitz"):
        keyed: dict[str, Any] = {"mode": mode, "privacy": RETURNING, "keyed": True, "block": 20}
        yield scenario(f"{mode}, usual", mode=mode, block=4)
        yield scenario(f"{mode}, keyed", **keyed)
        yield scenario(f"{mode}, keyed, resumed", **keyed, resume=True)
        yield scenario(f"{mode}, replay", mode=mode, block=7, replay=True)
        yield scenario(f"{mode}, l1, nonnegative", mode=mode, norm=1, nonnegative=True, block=5)
    for name, privacy in (("pure", PURE), ("approximate", USUAL)):
        added = (
            (60, lambda learner: learner.add([0.5, 0.1, -0.2])),
            (61, lambda learner: learner.add([9.0, 0, 0])),
        )
        yield scenario(f"horizon, {name}", privacy=privacy, events=added)
        yield scenario(f"endless, {name}", None, privacy=privacy)
        yield scenario(f"endless, {name}, resumed", None, privacy=privacy, resume=True, block=3)
        yield scenario(f"largest entry, {name}", privacy=privacy, norm="inf", block=3)
