"""Whether a constructor's default is ever clearly behind another mode of discreet.

A cell is a learner, a public setting (feedback, `stream`, ε, δ, horizon, size) and a kind
of data stream (benchmarks/ways_of_learning/mixing.py). In every cell, "auto" and every other mode
that accepts the setting meet the same worlds with the same seeds; differences are paired by world.
Worlds come in batches of four until the error of the difference is at most 0.01 and "auto" is not
behind by more than matters, until "auto" is ahead by more than 4 errors, or until there are 24.
Some defaults were chosen while looking at worlds from 9000 on: judge them on others (--first-seed).

Writes one JSON object:

    auto_behind_best      per cell: mean of "auto", the best other mode, the distance of "auto"
                          behind it, errors
    beaten                cells where "auto" is behind by more than 0.02 (shares),
                          max(0.005, a tenth) (SubOpt, regret) or a tenth (noise), and by more than
                          4 errors
    unsettled             cells where it was behind by 2 to 4 errors: 24 new worlds then count
                          alone, against the mode that was best before
    worse_than_nothing    cells where "auto" is certainly worse than no learning
    dropped               cells with fewer than four worlds in which learning can gain: 0.03 per
                          visitor (costs), 0.01 per round (actions), 5 % of the loss of zeros
    pure_1e4, l1_pure_d50, small_eps_1e4
                          single figures
    pure_or_not           losses with δ = 1e-6 and with δ = 0: to allow δ > 0 should cost nothing
    adversary, alternating, adversary_price, adversary_microseconds
                          on streams that react, the cost of `stream="adversarial"` on calm ones
                          (benchmarks/ways_of_learning/adversaries.py), and the time of a round in
                          bulk
    streams               values of "auto" on the four kinds of stream, at ε = 1, δ = 1e-6
    modes, parameters     classes in the tables of modes, and parameters of constructors
    nodes_over_before     syntax nodes of src, examples and benchmarks, over those of 0.4.0

Clicks, rewards and single costs run at δ = 1e-6 only: their mode does not use δ, and there is no
other.

Results are stored by version and task, not by code: use --fresh, or delete the file of --keep,
whenever a learner changed.
"""

import argparse
import ast
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from inspect import signature
from itertools import product
from math import inf
from pathlib import Path
from random import Random
from typing import Any

from rich.console import Console

from discreet import Privacy, SetSelector, warm_up
from discreet.learners.homes import HOMES
from discreet.learners.registry import learner_named
from discreet.progress import shown
from discreet.tasks import ResultStore, repeat
from report import write
from ways_of_learning import MEASURES, Verdict, compare, verdict
from ways_of_learning.adversaries import microseconds
from ways_of_learning.mixing import DATA
from ways_of_learning.verdicts import mean_and_error

KEPT = Path(__file__).parent / ".ways.jsonl"
FIRST_SEED = 9000
FRESH = 1000
"""How far the worlds of a second run are from those of the first."""
ENOUGH = 0.01
"""An error of the difference up to this needs no more worlds."""
EPSILONS = (0.1, 0.3, 1.0, 5.0)
LARGER_EPSILONS = (0.3, 1.0, 5.0)
DELTAS = (0.0, 1e-6)
DELTA = 1e-6
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
QUICK_HORIZON, QUICK_CELLS = 10**4, 8

Setting = dict[str, Any]


@dataclass(frozen=True)
class Cell:
    """A group of ways_of_learning and a setting."""

    group: str
    setting: Setting

    @property
    def name(self) -> str:
        """The group, then the setting."""
        return f"{self.group}/" + " ".join(
            f"{key}={_short(value)}" for key, value in self.setting.items()
        )

    @property
    def cost(self) -> int:
        """About how long one world takes, in no unit."""
        setting = self.setting
        rounds = setting.get("horizon") or setting.get("people") or setting.get("releases")
        sizes = [setting.get(name, 1) for name in ("items", "dimension", "features", "actions")]
        return int(rounds * max(10, *sizes))


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class Scale:
    """Number of worlds that are run."""

    batch: int = 4
    most: int = 24
    again: int = 24
    shown: int = 12
    share: float = 1.0
    """Of the worlds of single figures."""


QUICK = Scale(most=4, again=8, shown=4, share=0.2)


# --- the grid


def _grid(**choices: Iterable[Any]) -> Iterator[Setting]:
    """Return all combinations."""
    for values in product(*choices.values()):
        yield dict(zip(choices, values, strict=True))


def _spread(settings: Iterable[Setting], count: int) -> list[Setting]:
    """Return a fixed random choice of settings."""
    return Random(0).sample(list(settings), count)


def _sized(settings: Iterable[Setting], sizes: Sequence[tuple[int, int]]) -> Iterator[Setting]:
    """Return each setting with each number of items and slots."""
    for setting, (items, slots) in product(settings, sizes):
        yield setting | {"items": items, "slots": slots}


def _worded(**choices: Iterable[Any]) -> Iterator[Setting]:
    """Return settings with `stream="drifting"` on every kind of data and "iid" on i.i.d. data."""
    yield from _grid(word=("drifting",), data=DATA, **choices)
    yield from _grid(word=("iid",), data=("iid",), **choices)


def set_maximizer() -> Iterator[Setting]:
    """Return cells of whole preferences, then of clicks and rewards."""
    budgets: dict[str, Any] = {"epsilon": EPSILONS, "delta": DELTAS}
    whole = _worded(feedback=("full",), horizon=(10**3, 10**4, 10**5), **budgets)
    yield from _sized(whole, ((10, 2), (100, 5)))
    budgets = {"epsilon": LARGER_EPSILONS, "delta": (DELTA,)}
    partial = _worded(feedback=("clicks", "bandit"), horizon=(10**4, 10**5), **budgets)
    yield from _sized(partial, ((20, 3), (100, 5)))


def set_minimizer() -> Iterator[Setting]:
    """Return cells of whole cost functions (no "iid"), then of single costs."""
    horizons = (10**3, 10**4, 10**5)
    whole: Setting = {"feedback": ("full",), "word": ("drifting",), "items": (10, 30), "data": DATA}
    yield from _grid(**whole, horizon=horizons, epsilon=EPSILONS, delta=DELTAS)
    single: Setting = {"feedback": ("bandit",), "items": (10, 20), "horizon": (10**4, 10**5)}
    yield from _worded(**single, epsilon=LARGER_EPSILONS, delta=(DELTA,))


def streaming() -> Iterator[Setting]:
    """Return cells of last coefficients, over balls and simplices."""
    kinds = ("drawn", "plain", "short", "correlated", "noisy")
    horizons = (10**3, 3 * 10**3, 10**4, 3 * 10**4, 10**5)
    shared: Setting = {"horizon": horizons, "epsilon": EPSILONS, "delta": DELTAS}
    yield from _spread(_grid(kind=kinds, p=("2",), dimension=(4, 10, 40, 100), **shared), 70)
    yield from _spread(_grid(kind=kinds, p=("1",), dimension=(10, 50, 200), **shared), 32)
    yield from _spread(
        _grid(kind=("drawn",), p=("simplex",), dimension=(10, 50, 200), **shared), 24
    )
    yield from _spread(_grid(kind=kinds, p=("inf",), dimension=(10, 100), **shared), 24)


def streaming_passing() -> Iterator[Setting]:
    """Return cells of coefficients over time, on streams that change."""
    data = ("drift", "exchange", "alternate")
    shared: Setting = {"epsilon": LARGER_EPSILONS, "delta": DELTAS, "data": data}
    wide = _grid(
        kind=("plain", "noisy"),
        p=("2",),
        dimension=(4, 10, 40),
        horizon=(10**4, 3 * 10**4),
        **shared,
    )
    yield from _spread(wide, 36)
    yield from _spread(
        _grid(kind=("plain",), p=("1",), dimension=(50,), horizon=(10**4,), **shared), 8
    )


def streaming_classes() -> Iterator[Setting]:
    """Return cells of last coefficients in logistic loss."""
    sizes: Setting = {"dimension": (10, 40), "horizon": (3 * 10**3, 10**4, 3 * 10**4)}
    yield from _spread(
        _grid(kind=("plain", "short"), **sizes, epsilon=LARGER_EPSILONS, delta=DELTAS), 16
    )


def fit() -> Iterator[Setting]:
    """Return cells of the estimators' `fit`."""
    sizes: Setting = {"dimension": (4, 10, 40, 100), "horizon": (10**3, 10**4, 3 * 10**4)}
    shared: Setting = {"kind": ("uniform", "correlated"), "epsilon": LARGER_EPSILONS}
    yield from _spread(_grid(p=(1.0, 2.0), **sizes, **shared, delta=(DELTA,)), 40)
    yield from _spread(_grid(p=(1.0, 2.0), **sizes, **shared, delta=(0.0,)), 10)


def continuous_set() -> Iterator[Setting]:
    """Return cells of sets under quotas."""
    settings = _worded(horizon=(10**3, 10**4), epsilon=EPSILONS, delta=DELTAS)
    yield from _sized(settings, ((10, 2), (100, 5)))


def continuous_point() -> Iterator[Setting]:
    """Return cells of points under quotas."""
    shared: Setting = {"epsilon": LARGER_EPSILONS, "delta": DELTAS, "data": ("iid", "exchange")}
    settings = _grid(function=("multilinear", "concave"), horizon=(10**3, 10**4), **shared)
    yield from _sized(settings, ((10, 2), (100, 5)))


def contextual() -> Iterator[Setting]:
    """Return cells of arms by context."""
    sizes: Setting = {"features": (10, 30, 64), "horizon": (10**4, 10**5)}
    yield from _grid(kind=("sparse", "dense"), **sizes, epsilon=LARGER_EPSILONS, delta=(DELTA,))


def hedge() -> Iterator[Setting]:
    """Return cells of actions."""
    sizes: Setting = {"actions": (4, 20), "horizon": (10**3, 10**4)}
    yield from _grid(**sizes, epsilon=EPSILONS, delta=DELTAS, data=DATA)


def selector() -> Iterator[Setting]:
    """Return cells of one choice from many people."""
    yield from _grid(world=("city", "films"), people=(10**3, 10**4), epsilon=EPSILONS, delta=DELTAS)


def running_sum() -> Iterator[Setting]:
    """Return cells of the noise of running sums."""
    yield from _grid(dimension=(1, 10), releases=(8, 64, 1000), epsilon=EPSILONS, delta=DELTAS)


GRID = (
    set_maximizer,
    set_minimizer,
    streaming,
    streaming_passing,
    streaming_classes,
    fit,
    continuous_set,
    continuous_point,
    contextual,
    hedge,
    selector,
    running_sum,
)


def cells(*, quick: bool = False, only: Sequence[str] = ()) -> list[Cell]:
    """Return all cells of the selected groups, short runs first."""
    found: list[Cell] = []
    for settings in GRID:
        if not _is_wanted(settings.__name__, only):
            continue
        group = [Cell(settings.__name__, setting) for setting in settings()]
        if quick:
            short = [cell for cell in group if cell.setting.get("horizon", 0) <= QUICK_HORIZON]
            group = Random(0).sample(short, min(QUICK_CELLS, len(short)))
        found += group
    return sorted(found, key=lambda cell: cell.cost)


def _is_wanted(group: str, only: Sequence[str]) -> bool:
    """Return whether a group, or the learner that its name begins with, is selected."""
    return not only or any(group == learner or group.startswith(f"{learner}_") for learner in only)


# --- single figures

FULL: Setting = {"feedback": "full", "word": "drifting", "data": "iid", "items": 100, "slots": 5}
QUOTAS: Setting = {"word": "drifting", "data": "iid", "items": 100, "slots": 5, "horizon": 10**4}
BUNDLES: Setting = {"feedback": "full", "word": "drifting", "data": "iid", "items": 30}
BALL: Setting = {"kind": "drawn", "p": "2"}
FIGURES: dict[str, tuple[Cell, int]] = {
    "pure_1e4": (
        Cell("set_maximizer", FULL | {"horizon": 10**4, "epsilon": 1.0, "delta": 0.0}),
        24,
    ),
    "l1_pure_d50": (
        Cell(
            "streaming",
            BALL | {"p": "1", "dimension": 50, "horizon": 20_000, "epsilon": 1.0, "delta": 0.0},
        ),
        12,
    ),
    "small_eps_1e4": (
        Cell(
            "streaming", BALL | {"dimension": 10, "horizon": 10**4, "epsilon": 0.3, "delta": DELTA}
        ),
        12,
    ),
}
"""Cells, and over how many worlds."""
PURE_OR_NOT: dict[str, Cell] = {
    "streaming_d10": Cell("streaming", BALL | {"dimension": 10, "horizon": 3000, "epsilon": 1.0}),
    "streaming_d4": Cell("streaming", BALL | {"dimension": 4, "horizon": 3000, "epsilon": 1.0}),
    "set_minimizer": Cell("set_minimizer", BUNDLES | {"horizon": 1000, "epsilon": 5.0}),
    "set_maximizer": Cell("set_maximizer", FULL | {"horizon": 10**4, "epsilon": 1.0}),
    "continuous_maximizer": Cell("continuous_set", QUOTAS | {"epsilon": 1.0}),
}
PURE_WORLDS = 48
RATIO = 0.001
"""Is added to both losses of a ratio."""
WORDS = ("drifting", "iid")
STREAMS: dict[str, tuple[str, tuple[str, ...], Setting]] = {
    "set_maximizer_full": ("set_maximizer", WORDS, FULL | {"horizon": 10**5}),
    "set_maximizer_clicks": (
        "set_maximizer",
        WORDS,
        FULL | {"feedback": "clicks", "horizon": 10**5},
    ),
    "set_maximizer_bandit": (
        "set_maximizer",
        WORDS,
        FULL | {"feedback": "bandit", "horizon": 10**5},
    ),
    "set_minimizer_full": ("set_minimizer", WORDS[:1], BUNDLES | {"horizon": 10**5}),
    "set_minimizer_bandit": (
        "set_minimizer",
        WORDS,
        BUNDLES | {"feedback": "bandit", "items": 20, "horizon": 10**5},
    ),
    "continuous_maximizer": ("continuous_set", WORDS, QUOTAS),
    "streaming": (
        "streaming_passing",
        (),
        {"kind": "plain", "p": "2", "dimension": 10, "horizon": 10**4},
    ),
    "hedge": ("hedge", (), {"actions": 20, "horizon": 10**4}),
}
"""Groups, the words that they take, and a setting without word and data stream."""


TESTED: Setting = {"horizon": 20_000, "epsilon": 1.0, "delta": DELTA}
CALM: dict[str, Setting] = {
    "slates_1e4": {"learner": "slates", "horizon": 10**4},
    "slates_1e5": {"learner": "slates", "horizon": 10**5},
    "hedge": {"learner": "hedge"},
    "costs": {"learner": "costs"},
}
REACTING = ("hedge", "slates", "costs")
ADVERSARIES: dict[str, dict[str, Setting]] = {
    "adversary": {name: TESTED | {"learner": name, "stream": "punish"} for name in REACTING},
    "alternating": {name: TESTED | {"learner": name, "stream": "alternate"} for name in REACTING},
    "adversary_price": {
        name: TESTED | {"stream": "iid"} | setting for name, setting in CALM.items()
    },
}
"""Regret per round; on alternating slates what they earn; on calm slates and costs the share."""


# --- how much there is

NODES_BEFORE = 318_356
"""Syntax nodes in 0.4.0."""


def sizes() -> dict[str, Any]:
    """Return the numbers of modes and parameters, and the amount of code."""
    learners: list[Any] = [*map(learner_named, HOMES), SetSelector]
    repository = Path(__file__).resolve().parent.parent
    files = [
        path
        for folder in ("src", "examples", "benchmarks")
        for path in (repository / folder).rglob("*.py")
    ]
    nodes = sum(1 for path in files for _ in ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    return {
        "modes": sum(len(set(learner.modes.values())) for learner in learners),
        "parameters": sum(len(signature(learner).parameters) for learner in learners),
        "nodes_over_before": nodes / NODES_BEFORE,
    }


# --- running


@dataclass(frozen=True)
class Bench:
    """How tasks are run, and where results are stored."""

    scale: Scale
    first_seed: int
    workers: int
    store: ResultStore | None

    def run(self, label: str, tasks: list[tuple[Any, ...]]) -> list[dict[str, float]]:
        """The values of ways, one mapping per task."""
        return repeat(compare, tasks, label=label, workers=self.workers, store=self.store)

    def measured(self, grid: Sequence[Cell]) -> dict[str, Verdict | None]:
        """The verdict on each cell, by name."""
        worlds: dict[str, list[dict[str, float]]] = {cell.name: [] for cell in grid}
        waiting = list(grid)
        for first in range(0, self.scale.most, self.scale.batch):
            seeds = range(self.first_seed + first, self.first_seed + first + self.scale.batch)
            pairs = [(cell, seed) for cell in waiting for seed in _seeds_of(cell, seeds)]
            tasks: list[tuple[Any, ...]] = [
                (cell.group, cell.setting, seed) for cell, seed in pairs
            ]
            for (cell, _), values in zip(
                pairs, self.run(f"worlds from {seeds.start}", tasks), strict=True
            ):
                worlds[cell.name].append(values)
            waiting = [
                cell for cell in waiting if _is_open(verdict(worlds[cell.name], _measure(cell)))
            ]
        return {cell.name: verdict(worlds[cell.name], _measure(cell)) for cell in grid}

    def measured_again(
        self, grid: Sequence[Cell], before: dict[str, Verdict]
    ) -> dict[str, Verdict | None]:
        """The verdict on fresh worlds, against the way that was best before."""
        first = self.first_seed + FRESH
        seeds = range(first, first + self.scale.again)
        tasks: list[tuple[Any, ...]] = [
            (cell.group, cell.setting, seed) for cell in grid for seed in seeds
        ]
        values = iter(self.run("fresh worlds", tasks))
        found = {}
        for cell in grid:
            worlds = [next(values) for _ in seeds]
            found[cell.name] = verdict(worlds, _measure(cell), best=before[cell.name].best)
        return found

    def alone(self, label: str, pairs: Sequence[tuple[Cell, int]]) -> list[list[float]]:
        """The values of "auto" in cells, each over a number of worlds."""
        counts = [max(4, round(count * self.scale.share)) for _, count in pairs]
        tasks: list[tuple[Any, ...]] = [
            (cell.group, cell.setting, self.first_seed + number, True)
            for (cell, _), count in zip(pairs, counts, strict=True)
            for number in range(count)
        ]
        values = iter(self.run(label, tasks))
        return [
            [world.get("auto", inf) for world in (next(values) for _ in range(count))]
            for count in counts
        ]


def _measure(cell: Cell) -> Any:
    return MEASURES[cell.group]


def _seeds_of(cell: Cell, seeds: range) -> range:
    """Return the worlds of a batch; computed noise needs one."""
    return seeds[:1] if _measure(cell) == "noise" else seeds


def _is_open(found: Verdict | None) -> bool:
    """Return whether a cell needs more worlds: not if "auto" is certainly ahead.

    Where "auto" seems to be behind, all worlds are run: an error of few worlds is itself uncertain.
    """
    if found is None or (found.matters and found.measure != "noise"):
        return True
    return found.error > ENOUGH and found.behind > -4 * found.error


def _summary(values: Sequence[float]) -> dict[str, float] | None:
    """Return mean, error and number of the worlds with something to gain."""
    known = [value for value in values if value < inf]
    if len(known) < 2:
        return None
    mean, error = mean_and_error(known)
    return {"mean": mean, "error": error, "seeds": len(known)}


def figures(bench: Bench, only: Sequence[str]) -> dict[str, Any]:
    """Return single figures; None for a learner that is not selected."""
    wanted = {name: pair for name, pair in FIGURES.items() if _is_wanted(pair[0].group, only)}
    values = bench.alone("figures", list(wanted.values()))
    found = {name: _summary(each) for name, each in zip(wanted, values, strict=True)}
    return {name: found.get(name) for name in FIGURES}


def pure_or_not(bench: Bench, only: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return the losses with δ = 1e-6 and δ = 0, with the error of the paired difference."""
    wanted = {name: cell for name, cell in PURE_OR_NOT.items() if _is_wanted(cell.group, only)}
    both = [
        (Cell(cell.group, cell.setting | {"delta": delta}), PURE_WORLDS)
        for cell in wanted.values()
        for delta in (DELTA, 0.0)
    ]
    values = iter(bench.alone("pure or not", both))
    found = {}
    for name, cell in wanted.items():
        pairs = [pair for pair in zip(next(values), next(values), strict=True) if max(pair) < inf]
        if _measure(cell) == "share":
            pairs = [(1 - allowed, 1 - pure) for allowed, pure in pairs]
        delta, pure = (mean_and_error(each)[0] for each in zip(*pairs, strict=True))
        error = mean_and_error([allowed - strict for allowed, strict in pairs])[1]
        ratio = (delta + RATIO) / (min(delta, pure) + RATIO)
        found[name] = {
            "delta": delta,
            "pure": pure,
            "ratio": ratio,
            "error": error,
            "seeds": len(pairs),
        }
    return found


def adversaries(bench: Bench, only: Sequence[str]) -> dict[str, Any]:
    """Return results on streams that react; empty if they are not selected."""
    if not _is_wanted("adversary", only):
        return dict.fromkeys((*ADVERSARIES, "adversary_microseconds"))
    cells = [
        Cell("adversary", setting) for group in ADVERSARIES.values() for setting in group.values()
    ]
    values = iter(bench.alone("streams that react", [(cell, bench.scale.shown) for cell in cells]))
    found: dict[str, Any] = {
        group: {name: _summary(next(values)) for name in settings}
        for group, settings in ADVERSARIES.items()
    }
    took = {name: microseconds(name, 20_000, Privacy(1.0, DELTA)) for name in ("hedge", "slates")}
    return found | {"adversary_microseconds": took}


def streams(bench: Bench, only: Sequence[str]) -> dict[str, Any]:
    """Return the value of "auto" by learner, `stream` and kind of data."""
    wanted: dict[str, Cell] = {}
    for name, (group, words, setting) in STREAMS.items():
        if not _is_wanted(group, only):
            continue
        for word, data in product(words or ("none",), DATA):
            worded = {"word": word} if words else {}
            budget = {"epsilon": 1.0, "delta": DELTA}
            wanted[f"{name}/{word}/{data}"] = Cell(
                group, setting | worded | budget | {"data": data}
            )
    values = bench.alone("streams", [(cell, round(bench.scale.shown)) for cell in wanted.values()])
    return {name: _summary(each) for name, each in zip(wanted, values, strict=True)}


def report(bench: Bench, grid: Sequence[Cell], only: Sequence[str]) -> dict[str, Any]:
    """Return the whole report."""
    single = figures(bench, only) | {
        "pure_or_not": pure_or_not(bench, only),
        "streams": streams(bench, only),
        **adversaries(bench, only),
    }
    measured = bench.measured(grid)
    verdicts = {name: found for name, found in measured.items() if found is not None}
    unsettled = [name for name, found in verdicts.items() if found.is_unsettled]
    again = bench.measured_again([cell for cell in grid if cell.name in unsettled], verdicts)
    verdicts |= {name: found for name, found in again.items() if found is not None}
    return {
        "auto_behind_best": {name: found.plain() for name, found in verdicts.items()},
        "beaten": [name for name, found in verdicts.items() if found.is_beaten],
        "unsettled": unsettled,
        "worse_than_nothing": [
            name for name, found in verdicts.items() if found.is_worse_than_nothing
        ],
        "dropped": [name for name, found in measured.items() if found is None],
        **single,
        **sizes(),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, write the JSON, and print how many cells are beaten."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quick", action="store_true", help="a small part of the grid: about five minutes"
    )
    parser.add_argument(
        "--only", action="append", default=[], metavar="LEARNER", help="may be repeated"
    )
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    parser.add_argument("--keep", type=Path, default=KEPT, help="results of tasks")
    parser.add_argument(
        "--fresh", action="store_true", help="delete the kept results of tasks first"
    )
    options = parser.parse_args(arguments)
    names = [*(settings.__name__ for settings in GRID), "adversary"]
    for learner in options.only:
        if not any(_is_wanted(name, [learner]) for name in names):
            parser.error(f"--only must name one of {', '.join(names)}, got {learner}")
    if options.fresh:
        options.keep.unlink(missing_ok=True)
    os.environ.update(dict.fromkeys(THREADS, "1"))  # each worker has one core
    warm_up()
    console = Console(stderr=True)
    scale = QUICK if options.quick else Scale()
    bench = Bench(scale, options.first_seed, options.workers, ResultStore(options.keep))
    with shown(console):
        found = report(bench, cells(quick=options.quick, only=options.only), options.only)
    settings = {"first_seed": options.first_seed, "quick": options.quick, "only": options.only}
    write({"settings": settings} | found, "ways-part" if options.quick or options.only else "ways")
    counts = {
        name: len(found[name]) for name in ("auto_behind_best", "beaten", "unsettled", "dropped")
    }
    console.print(counts)


if __name__ == "__main__":
    main()
