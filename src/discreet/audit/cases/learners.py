"""One case for every way of learning: what the contract suite and `discreet audit` run over.

A new learner joins by being listed here.
"""

from collections.abc import Callable
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
from discreet.arrays import Floats, Integers, Mask
from discreet.audit import Case
from discreet.audit.hostile_logs import with_log
from discreet.domains import Knapsack, LpBall, Simplex, UniformMatroid
from discreet.functions import (
    BudgetAllocation,
    ConcaveOfLinear,
    ConcaveOverModular,
    FacilityLocation,
    GraphCut,
    MinusModular,
    Quadratic,
    SetFunction,
    WeightedCoverage,
)
from discreet.learners.base import Learner
from discreet.learners.forced import forced
from discreet.losses import LogisticLoss, SoftmaxLoss, SquaredLoss

Terms = dict[str, Privacy]
"""A guarantee, as a learner takes it."""
Worth = Callable[[Integers], float]
"""What a person finds a set worth."""

HORIZON = 12
NAN, INFINITE = float("nan"), float("inf")
NOT_THREE_NUMBERS = (
    [1.0],
    [1.0] * 4,
    "abc",
    [[1.0, 2.0, 3.0]],
    [0.777, NAN, 0.0],
    [0.777, INFINITE, 0.0],
)
NOT_A_NUMBER = ("abc", [0.777, 0.1], NAN, INFINITE)


def cases(epsilon: float = 1.0, delta: float = 1e-6) -> list[Case]:
    """All of them, at this guarantee; those that are pure at (ε, 0)."""
    usual = {"privacy": Privacy(epsilon, delta)}
    pure = {"privacy": Privacy(epsilon)}
    with_intercept: dict[str, Any] = {
        "loss": LogisticLoss(),
        "intercept": True,
        "domain": LpBall(4),
    }
    twice = {"privacy": Privacy(epsilon, delta, contributions=2)}
    loose = {"privacy": Privacy(1000 * epsilon, delta)}  # for which a dozen samples are many
    classes: dict[str, Any] = {"loss": SoftmaxLoss(2), "domain": LpBall(6)}
    several: dict[str, Any] = {"stream": "iid", "items": 8, "slots": 3, "block": 8}
    wide: dict[str, Any] = {"features": 4, "horizon": 24}
    return [
        _sum("sum", usual),
        _sum("sum, toeplitz", usual, mode="toeplitz"),
        _sum("sum, blocks, toeplitz", usual, block=5, mode="toeplitz"),
        _sum("sum, honaker", usual, mode="honaker"),
        _sum("sum, honaker, pure", pure, mode="honaker"),
        _sum("sum, l1, nonnegative", usual, norm=1, nonnegative=True, mode="toeplitz"),
        _sum("sum, linf, two contributions", twice, norm="inf", mode="honaker"),
        _hedge("hedge", usual, block=4),
        _hedge("hedge, auto", usual),
        _hedge("hedge, pure", pure, block=3),
        _sets("sets", usual, block=4),
        _sets("sets, pure", pure, block=5),
        _sets(
            "sets, facility location, two contributions", twice, block=3, function=FacilityLocation
        ),
        _sets("sets, iid", usual, **several),
        _sets("sets, iid, concave, pure", pure, function=ConcaveOverModular(), **several),
        _sets(
            "sets, coverage",
            usual,
            block=4,
            function=WeightedCoverage(((1, 1, 0), (0, 1, 1), (1, 0, 0))),
        ),
        _sets("sets, adversarial", usual, block=2, stream="adversarial"),
        _sets(
            "sets, adversarial, facility location, two contributions",
            twice,
            block=3,
            stream="adversarial",
            function=FacilityLocation,
        ),
        _sets("sets, adversarial, pure", pure, block=5, stream="adversarial"),
        _callables("sets, callables", usual, block=5),
        _callables("sets, adversarial, callables", usual, block=5, stream="adversarial"),
        _rewards("rewards", usual, explore=0.8, block=2),
        _rewards("rewards, pure, bound", pure, explore=0.8, block=2, bound=4.0),
        _rewards("rewards, iid, two contributions", twice, stream="iid", explore=0.5, block=3),
        _rewards("rewards, report", usual, explore=0.8, block=2, report=0.3, bound=4.0),
        _clicks("clicks", usual, explore=0.5, block=2),
        _clicks("clicks, report", usual, explore=0.5, block=2, report=0.3),
        _clicks("clicks, iid, two contributions", twice, stream="iid", explore=0.5, block=2),
        _costs("costs", usual, block=4),
        _costs("costs, many releases", usual, block=1),
        _costs("costs, pure, bound", pure, block=5, mode="bound"),
        _costs("costs, adversarial", usual, block=4, stream="adversarial"),
        _cost_callables("costs, callables", usual, block=4),
        _trials("single costs", usual, explore=0.6, block=2),
        _trials(
            "single costs, iid, two contributions",
            twice,
            stream="iid",
            explore=0.8,
            block=3,
            bound=2.0,
        ),
        _trials("single costs, report", usual, explore=0.6, block=2, report=0.3),
        _arms("arms", usual, block=3),
        _arms("arms, report", usual, block=2, report=0.2),
        _arms(
            "arms, two contributions",
            twice,
            block=3,
            max_arms=4,
            context_bound=(1.0, 2.0),
            features=2,
        ),
        _arms(
            "arms, evened",
            {"privacy": Privacy(6 * epsilon, 1e-2)},
            block=5,
            features=1,
            horizon=100,
        ),
        _arms("arms, screen", usual, block=2, relevant=1),
        _arms(
            "arms, screen, report",
            usual,
            block=4,
            relevant=2,
            report=0.5,
            context_length=1.0,
            **wide,
        ),
        _points("points", usual, block=3),
        _points("points, bound, pure", pure, block=4, bound=0.5, play="point"),
        _points(
            "points, budget",
            usual,
            block=3,
            domain=Knapsack((1.0, 2.0, 2.5), 3.0),
            function=BudgetAllocation(),
        ),
        _points("points, iid", usual, block=8, stream="iid", domain=UniformMatroid(16, 2)),
        _points(
            "points, euclidean", usual, block=3, play="point", function=ConcaveOfLinear("log", 3.0)
        ),
        _points("points, capped", usual, block=3, play="point", function=ConcaveOfLinear("cap")),
        _amounts("points, quadratic", twice, block=3, play="point"),
        _streaming("streaming", usual, block=4),
        _streaming("streaming, one feature", usual, features=1, block=4),
        _streaming("streaming, pure", pure, block=5),
        _streaming("streaming, frank-wolfe", usual, block=4, mode="frank-wolfe"),
        _streaming("streaming, corners", usual, block=4, mode="frank-wolfe", domain=LpBall(3, 1)),
        _streaming(
            "streaming, simplex, pure", pure, block=3, mode="frank-wolfe", domain=Simplex(3)
        ),
        _streaming("streaming, logistic, intercept", usual, block=4, **with_intercept),
        _streaming("streaming, whitened", usual, block=4, mode="whitened"),
        _streaming("streaming, scaled, pure", pure, block=4, mode="whitened"),
        _streaming("streaming, passes", loose, mode="passes"),
        _streaming("streaming, passes, classes", usual, mode="passes", **classes),
    ]


def long_cases(epsilon: float = 1.0, delta: float = 1e-6) -> list[Case]:
    """Long enough for exchanges, trials and screening again: for audits, not for every rule."""
    usual = {"privacy": Privacy(epsilon, delta)}
    twice = {"privacy": Privacy(epsilon, delta, contributions=2)}
    shop: dict[str, Any] = {"items": 6, "slots": 3}
    found = [
        _clicks("long, clicks", usual, horizon=200, explore=0.3, block=60, **shop),
        _clicks("long, clicks, screened again", usual, horizon=600, explore=0.3, block=60, **shop),
        _rewards("long, rewards", usual, horizon=1000, explore=0.3, block=160, **shop),
        _trials("long, trials", usual, items=4, horizon=600, explore=0.3, block=70),
        _streaming("streaming, callable", usual, block=4, loss=_gradient, bound=0.5),
        _clicks("long, clicks, report", usual, horizon=240, explore=0.5, block=60, report=0.2),
    ]
    active = {"max_items": 8, "horizon": 160, "explore": 0.3, "block": 40} | shop
    changes = (
        (15, "add_item", None),
        (55, "retire", 1),
        (150, "extend", 140),
        (150, "add_item", None),
        (150, "add_item", 1),
        (200, "retire", 6),
    )
    catalogues = [
        _clicks("long, clicks, living catalogue", usual, **active),
        _rewards("long, rewards, living catalogue", usual, **active),
    ]
    found += [
        replace(case, available=_with_the_first, events=changes, horizon=300) for case in catalogues
    ]
    short: dict[str, Any] = shop | {"horizon": 60, "explore": 0.3, "block": 20}
    found += [
        with_log(_clicks("log, clicks", usual, **short), items=6, slots=3, least=0.1),
        with_log(_clicks("log, clicks, uniform", twice, **short), items=6, slots=3, least=None),
        with_log(_rewards("log, rewards", usual, **short), items=6, slots=3, least=0.1),
    ]
    return [replace(case, at_once=case.horizon // 5) for case in found]


def keyed_cases(epsilon: float = 1.0, delta: float = 1e-6) -> list[Case]:
    """Learners whose rounds name their person, who returns."""

    def returning(contributions: int, delta: float = delta) -> Terms:
        return {"privacy": Privacy(epsilon, delta, contributions=contributions, keyed=True)}

    several: dict[str, Any] = {"stream": "iid", "items": 8, "slots": 3, "block": 8}
    found = [
        _sum("keyed, sum, fresh", returning(4), mode="fresh", block=2),
        _sum("keyed, sum, fresh, more than blocks", returning(40), mode="fresh", block=3),
        _sum("keyed, sum, fresh, pure", returning(2, 0.0), mode="fresh", block=3),
        _sum("keyed, sum, toeplitz", returning(2), mode="toeplitz", block=2),
        _sum("keyed, sum, honaker", returning(3), mode="honaker", block=2),
        _hedge("keyed, hedge", returning(2), block=3),
        _sets("keyed, sets, iid", returning(5), **several),
        _rewards("keyed, rewards", returning(2), stream="iid", explore=0.5, block=3),
        replace(
            _rewards("keyed, rewards, long", returning(2), explore=0.8, block=10, horizon=40),
            at_once=8,
        ),
        _clicks("keyed, clicks", returning(2), stream="iid", explore=0.5, block=3),
        _trials("keyed, single costs", returning(4), explore=0.6, block=2),
        _arms("keyed, arms", returning(2), block=3),
        _streaming("keyed, streaming, whitened", returning(3), block=4, mode="whitened"),
        _streaming("keyed, streaming, passes", returning(3), mode="passes"),
    ]
    return [replace(case, keyed=True) for case in found]


def _made(make: type[Learner], fixed: dict[str, Any]) -> Callable[..., Learner]:
    """Makes the learner with these settings; in a mode that is named, if one is."""
    settings = {name: value for name, value in fixed.items() if name != "mode"}
    if "mode" not in fixed:
        return lambda **more: make(**(settings | more))
    return lambda **more: forced(make, fixed["mode"], **(settings | more))


def three_numbers(generator: np.random.Generator) -> Floats:
    """An ordinary person: three numbers between 0 and 1."""
    return generator.uniform(0, 1, size=3)


def numbers(count: int) -> Callable[[np.random.Generator], Floats]:
    """An ordinary person with so many numbers between 0 and 1."""
    return lambda generator: generator.uniform(0, 1, size=count)


def mask_of(items: int) -> Callable[[np.random.Generator], Mask]:
    """A mask with about two thirds of the items, at least one."""

    def mask(generator: np.random.Generator) -> Mask:
        made = generator.random(items) < 0.7
        made[generator.integers(items)] = True
        return made

    return mask


def _sum(name: str, privacy: Terms, **settings: Any) -> Case:
    fixed = {"dimension": 3, "horizon": HORIZON, "bound": 1.0} | privacy | settings
    return Case(name, _made(RunningSum, fixed), three_numbers, NOT_THREE_NUMBERS, [NAN] * 3)


def _hedge(name: str, privacy: Terms, **settings: Any) -> Case:
    fixed = {"actions": 3, "horizon": HORIZON} | privacy | settings
    return Case(name, _made(Hedge, fixed), three_numbers, NOT_THREE_NUMBERS, [NAN] * 3)


def _with_the_first(generator: np.random.Generator) -> Mask:
    """A mask of eight items, of which the first is never retired."""
    mask = mask_of(8)(generator)
    mask[0] = True
    return mask


def _sets(name: str, privacy: Terms, **settings: Any) -> Case:
    fixed = {"items": 3, "slots": 2, "horizon": HORIZON} | privacy | settings
    items = fixed["items"]
    refused = (*NOT_THREE_NUMBERS, [0.777, -0.1, 0.0], [0.777, 1.5, 0.0])
    person = _few if isinstance(settings.get("function"), WeightedCoverage) else numbers(items)
    return Case(
        name, _made(SetMaximizer, fixed), person, refused, [NAN] * items, available=mask_of(items)
    )


def _few(generator: np.random.Generator) -> Floats:
    return generator.uniform(0, 0.3, size=3)


def _callables(name: str, privacy: Terms, **settings: Any) -> Case:
    fixed = (
        {"items": 3, "slots": 2, "horizon": HORIZON, "function": SetFunction} | privacy | settings
    )
    refused = (0.777, "abc")
    return Case(
        name, _made(SetMaximizer, fixed), _worth(0.0), refused, _failing, available=mask_of(3)
    )


def _worth(low: float) -> Callable[[np.random.Generator], Worth]:
    """A person whose sets are worth the sum of their items."""

    def person(generator: np.random.Generator) -> Worth:
        worth = generator.uniform(low, 0.3, size=3)
        return lambda chosen: float(worth[chosen].sum())

    return person


def _failing(chosen: Integers) -> float:
    raise ZeroDivisionError("0.777")


def _rewards(name: str, privacy: Terms, **settings: Any) -> Case:
    fixed: dict[str, Any] = (
        {"items": 4, "slots": 2, "horizon": HORIZON, "feedback": "bandit"} | privacy | settings
    )

    def person(generator: np.random.Generator) -> float:
        return float(generator.uniform())

    case = Case(name, _made(SetMaximizer, fixed), person, NOT_A_NUMBER, NAN, full=False)
    return replace(case, available=mask_of(fixed["items"]), horizon=fixed["horizon"])


def _clicks(name: str, privacy: Terms, **settings: Any) -> Case:
    fixed: dict[str, Any] = (
        {"items": 4, "slots": 2, "horizon": HORIZON, "feedback": "clicks"} | privacy | settings
    )

    def person(generator: np.random.Generator) -> int | None:
        clicked = int(generator.integers(fixed["items"] + 1))
        return clicked - 1 if clicked else None

    refused = (0.777, fixed["items"], -1, "pear", [1, fixed["items"]], True)
    case = Case(name, _made(SetMaximizer, fixed), person, refused, 99, full=False)
    return replace(
        case, available=mask_of(fixed["items"]), horizon=fixed["horizon"], answer=_if_shown
    )


def _if_shown(item: object, slate: Any) -> object:
    """The click of a person who likes one item."""
    return item if item is not None and item in slate else None


def _costs(name: str, privacy: Terms, **settings: Any) -> Case:
    function = MinusModular(GraphCut(((0, 1), (1, 2))))
    fixed = {"items": 3, "horizon": HORIZON, "function": function} | privacy | settings
    refused = (*NOT_THREE_NUMBERS, [0.777, -0.1, 0.0, 0.0, 0.0])

    def person(generator: np.random.Generator) -> Floats:
        return generator.uniform(0, 0.3, size=5)

    return Case(name, _made(SetMinimizer, fixed), person, refused, [NAN] * 5, available=mask_of(3))


def _cost_callables(name: str, privacy: Terms, **settings: Any) -> Case:
    fixed = {"items": 3, "horizon": HORIZON} | privacy | settings
    return Case(
        name, _made(SetMinimizer, fixed), _worth(-0.3), (0.777,), _failing, available=mask_of(3)
    )


def _trials(name: str, privacy: Terms, **settings: Any) -> Case:
    fixed: dict[str, Any] = (
        {"items": 2, "horizon": HORIZON, "feedback": "bandit"} | privacy | settings
    )

    def person(generator: np.random.Generator) -> float:
        return float(generator.uniform(-1, 1))

    case = Case(name, _made(SetMinimizer, fixed), person, NOT_A_NUMBER, NAN, full=False)
    return replace(case, available=mask_of(fixed["items"]), horizon=fixed["horizon"])


def _arms(name: str, privacy: Terms, **settings: Any) -> Case:
    fixed: dict[str, Any] = {"arms": 3, "features": 2, "horizon": HORIZON} | privacy | settings
    features: int = fixed["features"]

    def reward(generator: np.random.Generator) -> float:
        return float(generator.uniform())

    def context(generator: np.random.Generator) -> Floats:
        return generator.uniform(-1, 1, size=features)

    mask = _first_of(settings.get("max_arms", 3))
    return Case(
        name,
        _made(ContextualBandit, fixed),
        reward,
        NOT_A_NUMBER,
        NAN,
        context=context,
        available=mask,
        full=False,
        horizon=fixed["horizon"],
    )


def _first_of(arms: int) -> Callable[[np.random.Generator], Mask]:
    """A mask in which an arm that is there from the start is available."""

    def mask(generator: np.random.Generator) -> Mask:
        made = generator.random(arms) < 0.7
        made[generator.integers(3)] = True
        return made

    return mask


def _points(name: str, privacy: Terms, **settings: Any) -> Case:
    fixed: dict[str, Any] = (
        {"domain": UniformMatroid(3, 2), "horizon": HORIZON} | privacy | settings
    )
    refused = (*NOT_THREE_NUMBERS, [0.777, -0.1, 0.0], [0.777, 1.5, 0.0])
    items = fixed["domain"].items
    return Case(name, _made(ContinuousMaximizer, fixed), numbers(items), refused, [NAN] * items)


def _amounts(name: str, privacy: Terms, **settings: Any) -> Case:
    """Two gains, and how far the two items are in each other's and their own way."""
    fixed = (
        {"domain": UniformMatroid(2, 1), "function": Quadratic(), "horizon": HORIZON}
        | privacy
        | settings
    )
    refused = (
        *NOT_THREE_NUMBERS,
        [0.777] * 4,
        [0.777, 0.5, 0.9, 0.9, 0.9],
        [0.777, -0.1, 0.0, 0.0, 0.0],
    )

    def person(generator: np.random.Generator) -> list[float]:
        ways = generator.uniform(0, 0.2, size=3)
        return [*generator.uniform(0.4, 1, size=2), *ways]

    return Case(name, _made(ContinuousMaximizer, fixed), person, refused, [NAN] * 5)


def _gradient(coefficients: Floats, x: Floats, y: float) -> Floats:
    return x * (x @ coefficients - y)


def _streaming(name: str, privacy: Terms, *, features: int = 3, **settings: Any) -> Case:
    usual = {
        "domain": LpBall(features),
        "loss": SquaredLoss(),
        "feature_bound": 1.0,
        "target_bound": 1.0,
    }
    fixed = usual | {"horizon": HORIZON} | privacy | settings
    refused = (
        [0.777],
        ([0.777] * (features + 1), 0.1),
        ([0.777] * features, NAN),
        ([INFINITE] * features, 0.1),
        "abc",
        ([0.777] * features, "y"),
    )

    def person(generator: np.random.Generator) -> tuple[Floats, float]:
        target = generator.uniform(-1, 1)
        if isinstance(fixed["loss"], SoftmaxLoss):
            target = target > 0  # a class
        return generator.uniform(-1, 1, size=features), float(target)

    return Case(name, _made(StreamingLearner, fixed), person, refused, ([NAN] * features, 0.3))
