"""Runs of slates from clicks and rewards: the default mode in all its phases."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from discreet import Privacy, SetMaximizer
from measures.equality.runs import Random, Scenario
from measures.equality.tools import HOW, NAN, PURE, RETURNING, USUAL, made, some

ITEMS, SLOTS = 12, 3


def _tastes(items: int, seed: int) -> Any:
    """Return click probabilities, one row per type of visitor."""
    generator = np.random.default_rng(seed)
    chances = generator.beta(1, 30, size=(4, items))
    for kind in range(4):
        chances[kind, generator.choice(items, size=2, replace=False)] = generator.beta(4, 6, size=2)
    return chances


def _visitor(items: int, shift: int) -> Callable[[Random, int], Any]:
    """Return visitors who would click some items, and other items from round `shift` on."""
    first = _tastes(items, 1)
    second = np.roll(first, items // 2, axis=1) * (first.max(axis=0) < 0.2)

    def person(generator: Random, round: int) -> Any:
        chances = first if round < shift else second
        return generator.random(items) < chances[generator.integers(4)]

    return person


def _click(liked: Any, slate: Any) -> Any:
    """Return the first item of the slate that a visitor likes."""
    return next((int(item) for item in slate if item >= 0 and liked[item]), None)


def _reward(liked: Any, slate: Any) -> float:
    return float(_click(liked, slate) is not None)


def slates() -> Iterator[Scenario]:
    """The default slate mode in all its phases."""
    for feedback in ("clicks", "bandit"):
        for stream in ("iid", "drifting"):
            yield from _slates_of(feedback, stream)


def _slates_of(feedback: str, stream: str) -> Iterator[Scenario]:
    def scenario(name: str, rounds: int = 20_000, **more: Any) -> Scenario:
        how = {key: more.pop(key) for key in HOW if key in more}
        shape: dict[str, Any] = {
            "items": ITEMS,
            "slots": SLOTS,
            "horizon": rounds,
            "privacy": USUAL,
        } | more
        room = shape.get("max_items", shape["items"])
        shift = shape.pop("shift", 10**9)
        by_clicks = feedback == "clicks"
        usual = Scenario(
            name=f"SetMaximizer incumbent-search, {feedback}, {stream}, {name}",
            make=made(SetMaximizer, feedback=feedback, stream=stream, **shape),
            person=_visitor(room, shift),
            rounds=rounds,
            answer=_click if by_clicks else _reward,
            refused=(0.777, ITEMS + 20, -1, "pear", True)
            if by_clicks
            else ("abc", [0.7, 0.1], NAN),
            broken=99 if by_clicks else NAN,
            full=False,
        )
        return replace(usual, **how)

    events = (
        (1000, lambda learner: learner.add_item()),
        (3000, lambda learner: learner.retire(2)),
        (9000, lambda learner: learner.change(add=[None], retire=[5], extend=4000)),
        (15000, lambda learner: learner.add_item(2)),
        (23990, lambda learner: learner.change(extend=6000, retire=[0])),
    )
    catalogue: dict[str, Any] = {"max_items": 16, "events": events}
    later = (
        (19990, lambda learner: learner.extend(20_000)),
        (40_000, lambda learner: learner.extend(5000)),
    )
    masked: dict[str, Any] = {"mask": some(ITEMS, SLOTS + 1), "at_once": 700}
    yield scenario("usual")
    yield scenario("long", 120_000, items=40, slots=4)
    yield scenario("rare", 60_000, items=60, slots=5, privacy=Privacy(0.3, 1e-6))
    yield scenario("pure", privacy=PURE)
    yield scenario("shift", 150_000, shift=75_000)
    yield scenario("shift, loose", 60_000, shift=30_000, privacy=Privacy(8.0, 1e-6))
    yield scenario("single", 6000, single=1500)
    yield scenario("masks", 6000, single=400, **masked)
    yield scenario("report", report=0.2)
    yield scenario("report, masks", 6000, report=0.3, **masked)
    yield scenario(
        "explore, block", explore=0.2, block=900, privacy=Privacy(1.0, 1e-6, contributions=3)
    )
    yield scenario("keyed", 6000, privacy=RETURNING, keyed=True)
    yield scenario(
        "keyed, masks, report", 6000, privacy=RETURNING, keyed=True, report=0.2, **masked
    )
    yield replace(scenario("catalogue", **catalogue), rounds=30_000)
    yield replace(scenario("catalogue, report", report=0.1, **catalogue), rounds=30_000)
    yield replace(scenario("extended", events=later[:1]), rounds=40_000)
    yield replace(scenario("extended, report", events=later, report=0.1), rounds=45_000)
    yield scenario("log", before=_log(feedback, 3000))
    yield scenario("short log", before=_log(feedback, 100))
    yield scenario("log with chances", before=_log(feedback, 2000, chances=True), report=0.2)
    yield scenario("resumed", 6000, resume=True)
    yield scenario("log, resumed", 6000, resume=True, before=_log(feedback, 500))
    yield scenario("one slot", slots=1)
    if feedback == "bandit":
        yield replace(
            scenario("bound", bound=2.0), answer=lambda liked, slate: 2 * _reward(liked, slate)
        )


def _log(feedback: str, rows: int, *, chances: bool = False) -> Callable[[Any], None]:
    """Return a warm start with slates of a uniform policy, or with given propensities."""

    def before(learner: Any) -> None:
        generator, visitor = np.random.default_rng(8), _visitor(ITEMS, 10**9)
        log = []
        for round in range(rows):
            slate = generator.permutation(ITEMS)[:SLOTS]
            liked = visitor(generator, round)
            answer = _click(liked, slate) if feedback == "clicks" else _reward(liked, slate)
            log.append((slate.tolist(), answer))
        if chances:
            learner.warm_start(
                log, generator.uniform(0.02, 0.5, size=rows).tolist(), least_propensity=0.05
            )
        else:
            learner.warm_start(log)

    return before
