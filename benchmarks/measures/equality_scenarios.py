"""Seeded runs of every mode of every learner: short ones of all cases, and long ones with every phase."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from discreet import (
    ContextualBandit,
    ContinuousMaximizer,
    Hedge,
    Privacy,
    RunningSum,
    SetMaximizer,
    SetMinimizer,
    StreamingLearner,
)
from discreet.arrivals import (
    BudgetAllocation,
    ConcaveOfLinear,
    FacilityLocation,
    GeneralisedLinearLoss,
    Gradient,
    GraphCut,
    HuberLoss,
    LogisticLoss,
    MinusModular,
    Multilinear,
    SetFunction,
    SoftmaxLoss,
    SquaredLoss,
)
from discreet.domains import Box, Knapsack, LpBall, PartitionMatroid, Simplex, UniformMatroid
from discreet.lab.cases import cases, keyed_cases, long_cases
from discreet.learners.forced import forced
from measures.equality_runs import Random, Scenario, of_case
from measures.equality_selections import selections

__all__ = ["scenarios"]

USUAL, PURE = Privacy(1.0, 1e-6), Privacy(1.0)
RETURNING = Privacy(1.0, 1e-6, contributions=3, keyed=True)
NAN = float("nan")
ITEMS, SLOTS = 12, 3
HOW = (
    *("person", "mask", "refused", "broken", "keyed", "events", "before"),
    *("single", "at_once", "resume", "replay"),
)
"""What says who comes and how, and is no setting of a learner."""


def scenarios() -> list[Any]:
    """All runs; no two have the same name."""
    short = [*cases(), *long_cases(), *keyed_cases()]
    kept = [case for case in short if "callable" not in case.name]
    found: list[Any] = [
        *(of_case(case) for case in short),
        *(of_case(case, name=f"{case.name}, resumed", resume=True) for case in kept),
        *slates(),
        *whole_preferences(),
        *costs(),
        *arms(),
        *points(),
        *samples(),
        *experts(),
        *sums(),
        *selections(),
    ]
    names = [each.name for each in found]
    if len(set(names)) < len(names):
        raise ValueError("two scenarios have the same name")
    return found


def _made(kind: type[Any], *arguments: Any, mode: str = "auto", **settings: Any) -> Callable[..., Any]:
    """Makes a learner, in a mode that is named if one is."""
    if mode == "auto":
        return lambda **more: kind(*arguments, **settings, **more)
    return lambda **more: forced(kind, mode, *arguments, **settings, **more)


def _some(items: int, always: int) -> Callable[[Random], Any]:
    """Masks with three quarters of the items; the first ones are always available."""

    def mask(generator: Random) -> Any:
        drawn = generator.random(items) < 0.75
        drawn[:always] = True
        return drawn

    return mask


# --- clicks and rewards of slates --------------------------------------------------------------------------


def _tastes(items: int, seed: int) -> Any:
    """Chances to click, one row per kind of visitor."""
    generator = np.random.default_rng(seed)
    chances = generator.beta(1, 30, size=(4, items))
    for kind in range(4):
        chances[kind, generator.choice(items, size=2, replace=False)] = generator.beta(4, 6, size=2)
    return chances


def _visitor(items: int, shift: int) -> Callable[[Random, int], Any]:
    """Visitors who would click some items; from round `shift` on, others click other items."""
    first = _tastes(items, 1)
    second = np.roll(first, items // 2, axis=1) * (first.max(axis=0) < 0.2)

    def person(generator: Random, round: int) -> Any:
        chances = first if round < shift else second
        return generator.random(items) < chances[generator.integers(4)]

    return person


def _click(liked: Any, slate: Any) -> Any:
    """The first item of the slate that a visitor likes."""
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
        shape: dict[str, Any] = {"items": ITEMS, "slots": SLOTS, "horizon": rounds, "privacy": USUAL} | more
        room = shape.get("max_items", shape["items"])
        shift = shape.pop("shift", 10**9)
        by_clicks = feedback == "clicks"
        usual = Scenario(
            name=f"SetMaximizer swap, {feedback}, {stream}, {name}",
            make=_made(SetMaximizer, feedback=feedback, stream=stream, **shape),
            person=_visitor(room, shift),
            rounds=rounds,
            answer=_click if by_clicks else _reward,
            refused=(0.777, ITEMS + 20, -1, "pear", True) if by_clicks else ("abc", [0.7, 0.1], NAN),
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
    later = ((19990, lambda learner: learner.extend(20_000)), (40_000, lambda learner: learner.extend(5000)))
    masked: dict[str, Any] = {"mask": _some(ITEMS, SLOTS + 1), "at_once": 700}
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
    yield scenario("explore, block", explore=0.2, block=900, privacy=Privacy(1.0, 1e-6, contributions=3))
    yield scenario("keyed", 6000, privacy=RETURNING, keyed=True)
    yield scenario("keyed, masks, report", 6000, privacy=RETURNING, keyed=True, report=0.2, **masked)
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
        yield replace(scenario("bound", bound=2.0), answer=lambda liked, slate: 2 * _reward(liked, slate))


def _log(feedback: str, rows: int, *, chances: bool = False) -> Callable[[Any], None]:
    """A warm start with slates of a uniform policy, or with chances of their own."""

    def before(learner: Any) -> None:
        generator, visitor = np.random.default_rng(8), _visitor(ITEMS, 10**9)
        log = []
        for round in range(rows):
            slate = generator.permutation(ITEMS)[:SLOTS]
            liked = visitor(generator, round)
            answer = _click(liked, slate) if feedback == "clicks" else _reward(liked, slate)
            log.append((slate.tolist(), answer))
        if chances:
            learner.warm_start(log, generator.uniform(0.02, 0.5, size=rows).tolist(), least_propensity=0.05)
        else:
            learner.warm_start(log)

    return before


# --- whole preferences -------------------------------------------------------------------------------------


def whole_preferences() -> Iterator[Scenario]:
    """Slates from rows and callables, in all streams."""
    yield from _preferences_of("sum", "drifting")
    yield from _preferences_of("fresh", "iid")
    yield from _preferences_of("experts", "adversarial")
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
    shape: dict[str, Any] = {"items": ITEMS, "slots": SLOTS, "horizon": 3000, "privacy": USUAL} | more
    usual = Scenario(
        name=f"SetMaximizer {name}",
        make=_made(SetMaximizer, **shape),
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
    callables: dict[str, Any] = {"person": _set_callable, "refused": (0.777, "abc"), "broken": _failing}
    yield scenario("usual")
    yield scenario("labels, masks", items=names, mask=_some(ITEMS, SLOTS + 1), at_once=170)
    yield scenario("pure, blocks", privacy=PURE, block=300)
    yield scenario("facility location", function=FacilityLocation, block=250)
    yield scenario("keyed", privacy=RETURNING, keyed=True, block=200)
    yield scenario("replay", replay=True)
    yield scenario("resumed", resume=True, at_once=210)
    if mode != "fresh":  # which holds visitors as rows
        yield scenario("callables", function=SetFunction, block=500, **callables)


def _set_callable(generator: Random, round: int) -> Any:
    worth = generator.uniform(0, 0.3, size=ITEMS)
    return lambda chosen: float(np.sqrt(worth[chosen].sum() / ITEMS))


def _failing(chosen: Any) -> float:
    raise ZeroDivisionError("nothing")


# --- costs of sets -----------------------------------------------------------------------------------------


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
        shape: dict[str, Any] = {"items": items, "horizon": 2000, "privacy": USUAL, "function": chain} | more
        make = _made(SetMinimizer, **shape)
        return Scenario(name=f"SetMinimizer {name}", make=make, rounds=2000, **who, **how)

    def tolerant(generator: Random, round: int) -> Any:
        worth = generator.uniform(-0.3, 0.3, size=items)
        return lambda chosen: float(worth[chosen].sum())

    callables: dict[str, Any] = {"person": tolerant, "refused": (0.777,), "broken": _failing}
    masked: dict[str, Any] = {"mask": _some(items, 1), "at_once": 70}
    for mode in ("gradients", "bound"):
        yield scenario(f"{mode}, usual", mode=mode)
        yield scenario(f"{mode}, masks", mode=mode, **masked)
        yield scenario(f"{mode}, pure", mode=mode, privacy=PURE, block=200)
        yield scenario(f"{mode}, adversarial", mode=mode, stream="adversarial")
        yield scenario(f"{mode}, keyed", mode=mode, privacy=RETURNING, keyed=True)
        yield scenario(f"{mode}, replay", mode=mode, replay=True, items=list("abcdef"))
        yield scenario(f"{mode}, resumed", mode=mode, resume=True)
        yield scenario(f"{mode}, callables", callables, mode=mode, function=None, block=250, bound=2.0)


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
            make=_made(SetMinimizer, feedback="bandit", stream=stream, **shape),
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

    masked: dict[str, Any] = {"mask": _some(items, 1), "at_once": 700}
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


# --- arms --------------------------------------------------------------------------------------------------


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
        make=_made(ContextualBandit, **shape),
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
        return _arms(f"{mode}, {name}", rounds, **({"features": features, "relevant": relevant} | more))

    added = ((500, lambda learner: learner.add_arm()), (1700, lambda learner: learner.add_arm()))
    named = ["arm 0", "arm 1", "arm 2"]
    masked: dict[str, Any] = {"mask": _some(3, 1), "at_once": 300}
    yield scenario("usual")
    yield scenario("loose", 20_000, privacy=Privacy(6.0, 1e-3))
    yield scenario("single, masks", single=500, **masked)
    yield scenario("report", report=0.3)
    yield scenario("report, masks, resumed", report=0.2, resume=True, **masked)
    yield scenario("bounds", context_bound=[2.0] * features, context_length=1.5, reward_range=(-1, 2))
    yield scenario("block", block=100, privacy=Privacy(1.0, 1e-6, contributions=2))
    yield scenario("more arms", max_arms=5, events=added)
    yield scenario("more arms, report", 20_000, max_arms=5, events=added, report=0.2)
    yield scenario("labels", arms=named, features=[f"feature {place}" for place in range(features)])
    yield scenario("keyed", privacy=RETURNING, keyed=True)
    yield scenario("resumed", resume=True)


# --- points and sets under constraints ---------------------------------------------------------------------


def points() -> Iterator[Scenario]:
    """All modes of ContinuousMaximizer."""
    items = 8
    shelves = PartitionMatroid((0, 0, 0, 0, 1, 1, 1, 1), (1, 2))
    prices = Knapsack((1.0, 2.0, 2.5, 1.0, 1.5, 0.5, 1.0, 2.0), 3.0)

    def scenario(mode: str, name: str, /, **more: Any) -> Scenario:
        how = {key: more.pop(key) for key in HOW if key in more}
        shape: dict[str, Any] = {"domain": shelves, "horizon": 3000, "privacy": USUAL} | more
        usual = Scenario(
            name=f"ContinuousMaximizer {mode}, {name}",
            make=_made(ContinuousMaximizer, **({"mode": mode} | shape)),
            person=lambda generator, round: generator.beta(1, 3, size=items),
            rounds=3000,
            refused=([0.7], "abc", [0.7] * (items - 1) + [NAN], [0.7] * (items - 1) + [1.5]),
            broken=[NAN] * items,
        )
        return replace(usual, **how)

    amounts: dict[str, Any] = {"play": "point", "function": ConcaveOfLinear("log", 3.0)}
    one = UniformMatroid(items, 2)
    shapes: list[tuple[str, dict[str, Any]]] = [
        ("fresh", {"stream": "iid"}),
        ("slates", {"domain": one}),
        ("vertex", {}),
        ("euclidean", {"domain": one, **amounts}),
    ]
    for mode, shape in shapes:
        yield scenario(mode, "usual", **shape)
        yield scenario(mode, "pure", **shape, privacy=PURE)
        yield scenario(mode, "block", **shape, block=100, privacy=Privacy(1.0, 1e-6, contributions=2))
        yield scenario(mode, "labels", **shape, labels=[f"item {place}" for place in range(items)])
        yield scenario(mode, "keyed", **shape, privacy=RETURNING, keyed=True)
        yield scenario(mode, "replay", **shape, replay=True)
        yield scenario(mode, "resumed", **shape, resume=True)
        yield scenario(mode, "single", **shape, single=300)
    yield scenario("slates", "facility location", domain=one, function=Multilinear(FacilityLocation()))
    yield scenario("fresh", "knapsack", stream="iid", domain=prices)
    yield scenario("vertex", "bound", bound=0.5)
    yield scenario("vertex", "points of a knapsack", domain=prices, play="point")
    yield scenario("vertex", "budget", domain=prices, function=BudgetAllocation())
    yield scenario("euclidean", "capped", domain=prices, play="point", function=ConcaveOfLinear("cap"))
    wide: dict[str, Any] = {"domain": UniformMatroid(44, 2), "broken": [NAN] * 44, "mode": "auto"}
    wide["person"] = lambda generator, round: generator.beta(1, 3, size=44)
    yield scenario("euclidean", "many items", **wide, **amounts)
    yield scenario("euclidean", "many items, pure", **wide, **amounts, privacy=PURE)
    yield scenario("euclidean", "callable", domain=one, play="point", function=Gradient(_slope, items))


def _slope(point: Any, row: Any) -> Any:
    """The gradient of a concave function of amounts."""
    return row / (1 + row @ point)


# --- samples -----------------------------------------------------------------------------------------------


def samples() -> Iterator[Scenario]:
    """All modes and losses of StreamingLearner."""
    bounds = {"feature_bound": 1.0, "target_bound": 1.0}
    losses: list[tuple[str, Any]] = [
        ("squared", SquaredLoss()),
        ("logistic", LogisticLoss()),
        ("huber", HuberLoss(0.3)),
        ("identity", GeneralisedLinearLoss("identity")),
        ("log", GeneralisedLinearLoss("log")),
        ("softmax", SoftmaxLoss(3)),
        ("callable", _residual),
    ]
    truth = np.array([0.5, -0.3, 0.0, 0.2, 0.1, 0.0, -0.2, 0.4])

    def scenario(mode: str, name: str, loss: Any = None, rounds: int = 3000, **more: Any) -> Scenario:
        loss = SquaredLoss() if loss is None else loss
        how = {key: more.pop(key) for key in HOW if key in more}
        features, noise = more.pop("features", 4), more.pop("noise", 0.1)
        intercept = int(more.get("intercept", False))
        classes = loss.classes if isinstance(loss, SoftmaxLoss) else 1
        domain = LpBall(classes * (features + intercept), 2, 2.0)
        shape: dict[str, Any] = (
            {"domain": domain, "loss": loss, "horizon": rounds, "privacy": USUAL} | bounds | more
        )

        def person(generator: Random, round: int) -> Any:
            row = generator.uniform(-0.5, 0.5, size=features)
            target = row @ truth[:features] + generator.normal(0, noise)
            if isinstance(loss, LogisticLoss):
                return row, float(target > 0)
            if isinstance(loss, SoftmaxLoss):
                return row, float((target > 0) + (target > 0.2))
            return row, abs(float(target)) if loss == GeneralisedLinearLoss("log") else float(target)

        return Scenario(
            name=f"StreamingLearner {mode}, {name}",
            make=_made(StreamingLearner, mode=mode, **shape),
            person=person,
            rounds=rounds,
            refused=([0.777], ([0.7] * 5, 0.1), ([0.7] * 4, NAN), ([float("inf")] * 4, 0.1), "abc"),
            broken=([NAN] * features, 0.3),
            **how,
        )

    refused = {
        "whitened": ("log", "softmax", "callable"),
        "passes": ("log", "callable"),
        "frank-wolfe": ("softmax",),
    }
    for mode in ("leader", "whitened", "passes", "frank-wolfe"):
        for name, loss in losses:
            if name not in refused.get(mode, ()):
                yield scenario(mode, name, loss)
        yield scenario(mode, "intercept", intercept=True)
        yield scenario(mode, "box", domain=Box(4, -0.5, 0.5))
        yield scenario(mode, "keyed", privacy=RETURNING, keyed=True)
        yield scenario(mode, "replay", replay=True)
        yield scenario(mode, "resumed", resume=True)
        yield scenario(mode, "loose", None, 12_000, privacy=Privacy(8.0, 1e-6))
        if mode != "passes":
            yield scenario(mode, "pure", privacy=PURE)
            yield scenario(mode, "block", block=100, single=300)
        if mode != "whitened":
            yield scenario(mode, "l1 ball", domain=LpBall(4, 1))
        if mode in ("leader", "frank-wolfe"):
            yield scenario(mode, "simplex, pure", domain=Simplex(4), privacy=PURE)
    for mode in ("leader", "whitened", "passes"):
        yield scenario(mode, "shares", events=((500, _weighted),))
    yield scenario("leader", "p between 1 and 2", domain=LpBall(4, 1.5))
    yield scenario("frank-wolfe", "l1 ball, logistic", LogisticLoss(), domain=LpBall(4, 1))
    yield scenario("frank-wolfe", "l1 ball, resumed", domain=LpBall(4, 1), resume=True)
    yield scenario("leader", "eight features", features=8)
    yield scenario("whitened", "eight features, noisy", None, 12_000, features=8, noise=0.9)
    yield scenario("whitened", "heavy tails", HuberLoss(0.05), 12_000, noise=0.9)
    yield scenario("passes", "logistic, loose", LogisticLoss(), 12_000, privacy=Privacy(8.0, 1e-6))
    yield scenario("passes", "classes, intercept", SoftmaxLoss(3), intercept=True)
    yield scenario("whitened", "long", None, 40_000)
    yield scenario("whitened", "logistic, intercept", LogisticLoss(), 12_000, intercept=True)


def _weighted(learner: Any) -> None:
    """Hand in samples that count in part, across releases; some shares are none."""
    generator = np.random.default_rng(6)
    rows, shares = generator.uniform(-0.5, 0.5, size=(700, 4)), generator.uniform(0, 1, size=700)
    shares[::9] = NAN
    learner.observe_stream(rows, rows[:, 0] / 2, shares)


def _residual(coefficients: Any, row: Any, target: float) -> Any:
    return row * (row @ coefficients - target)


# --- experts and sums --------------------------------------------------------------------------------------


def experts() -> Iterator[Scenario]:
    """Hedge, with a horizon and without an end."""

    def scenario(name: str, horizon: int | None, **more: Any) -> Scenario:
        how = {key: more.pop(key) for key in HOW if key in more}
        shape: dict[str, Any] = {"actions": 5, "horizon": horizon, "privacy": USUAL} | more
        return Scenario(
            name=f"Hedge softmax, {name}",
            make=_made(Hedge, **shape),
            person=lambda generator, round: generator.uniform(0, 1, size=5) * [1, 0.8, 0.6, 0.4, 0.2],
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
        shape: dict[str, Any] = {"dimension": 3, "horizon": horizon, "privacy": USUAL, "bound": 1.0} | more
        return Scenario(
            name=f"RunningSum {name}",
            make=_made(RunningSum, **shape),
            person=lambda generator, round: generator.uniform(-0.5, 1, size=3),
            rounds=rounds,
            refused=([0.7], "abc", [0.7, NAN, 0.1]),
            broken=[NAN] * 3,
            **how,
        )

    for mode in ("fresh", "honaker", "toeplitz"):
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
