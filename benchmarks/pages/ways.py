"""The sections of defaults beside other modes, and of streams that react."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from pages.text import blocks, fixed, joined, load, prose, significant, source, table, with_error

SLATES = "`SetMaximizer`, whole preferences"
COSTS = "`SetMinimizer`, whole costs"
POINTS = "`ContinuousMaximizer`, points"
BANDIT = "`ContextualBandit`"
STREAM = "`StreamingLearner`"
Place = tuple[str, str, str | None, str]
"""A learner, one of its modes, a cell in which it is far ahead, and a remark."""
PLACES: tuple[Place, ...] = (
    ("`RunningSum`", "disjoint", None,
     "up to 64 releases with δ = 0; 8 of one number with δ = 10⁻⁶"),
    ("`RunningSum`", "honaker", None, "1000 releases with δ = 0"),
    ("`RunningSum`", "toeplitz", None, "δ = 10⁻⁶ with ten numbers or 1000 releases"),
    (SLATES, "disjoint-greedy",
     "set_maximizer/word=iid data=iid feedback=full horizon=10000 epsilon=0.1 delta=0 items=100 "
     "slots=5", ""),
    (SLATES, "gain-sum", None, 'the only one for `stream="drifting"`'),
    (SLATES, "ordered-experts", None, 'the only one for `stream="adversarial"`'),
    ("`SetMaximizer`, clicks and rewards", "incumbent-search", None, "the only one"),
    (COSTS, "gradients",
     "set_minimizer/feedback=full word=drifting items=30 data=exchange horizon=10000 epsilon=5 "
     "delta=0", ""),
    (COSTS, "bound",
     "set_minimizer/feedback=full word=drifting items=10 data=alternate horizon=1000 epsilon=1 "
     "delta=1e-06",
     'the only one for `stream="adversarial"`'),
    ("`SetMinimizer`, single costs", "pairwise-search", None, "the only one"),
    (POINTS, "euclidean",
     "continuous_point/function=concave horizon=1000 epsilon=1 delta=0 data=exchange items=10 "
     "slots=2", ""),
    (POINTS, "vertex",
     "continuous_point/function=multilinear horizon=1000 epsilon=1 delta=0 data=exchange items=10 "
     "slots=2",
     'sets of other matroids and knapsacks with `stream="drifting"`'),
    ("`ContinuousMaximizer`, sets", "quota-sets", None,
     'the gain sums of `SetMaximizer`, for quotas with `stream="drifting"`'),
    ("`ContinuousMaximizer`, sets", "disjoint-sets", None,
     'the disjoint greedy of `SetMaximizer`, for every matroid and knapsack with `stream="iid"`'),
    (BANDIT, "ridge", "contextual/kind=dense features=64 horizon=100000 epsilon=5 delta=1e-06", ""),
    (BANDIT, "screen",
     "contextual/kind=sparse features=64 horizon=100000 epsilon=0.3 delta=1e-06", ""),
    (STREAM, "leader",
     "streaming/kind=plain p=1 dimension=200 horizon=10000 epsilon=5 delta=1e-06", ""),
    (STREAM, "whitened",
     "streaming/kind=short p=2 dimension=4 horizon=3000 epsilon=1 delta=1e-06", ""),
    (STREAM, "scaled rows",
     "streaming/kind=short p=2 dimension=40 horizon=3000 epsilon=5 delta=0", ""),
    (STREAM, "frank-wolfe",
     "streaming_passing/kind=plain p=2 dimension=40 horizon=30000 epsilon=5 delta=1e-06 "
     "data=alternate",
     "the default for corners"),
    (STREAM, "passes (`fit`)",
     "fit/p=2 dimension=10 horizon=1000 kind=uniform epsilon=0.3 delta=1e-06", ""),
    ("`SetSelector`", "histogram", "selector/world=city people=1000 epsilon=0.1 delta=0", ""),
    ("`SetSelector`", "sampled", None, "the only one for rows and callables"),
    ("`Hedge`", "softmax", None, "the only one"),
)  # fmt: skip


def ways() -> str:
    """Return the section of defaults beside other modes."""
    report = load("ways")
    cells, beaten, worse = (
        report[key] for key in ("auto_behind_best", "beaten", "worse_than_nothing")
    )
    return blocks(
        "## Is the default ever behind? (`benchmarks/ways.py`)",
        prose(f"""
            Public settings by learner (δ 0 and 10⁻⁶, ε 0.1 to 5, horizons from 10³, small and large
            sizes) on streams that are i.i.d., drift, are exchanged once, or alternate with the
            learner's own public blocks. The mode that a constructor takes meets every other mode
            that accepts the setting, on the same worlds, from {report["settings"]["first_seed"]}
            on. *Beaten*: behind by more than 0.02 (shares), or a tenth and 0.005 (SubOpt, regret),
            and by more than 4 standard errors. *Worse than nothing*: SubOpt or regret above 1.05, a
            share below −0.05, by more than 4 standard errors.

            **These worlds are not untouched**: several defaults of regressions, `fit`, costs and
            points were changed after looking at earlier results on them (the stiffness of short
            streams was debugged there), so the counts for those groups flatter; believe the run on
            fresh worlds below. Two yardsticks were changed after a first look: running sums are
            compared by their noisiest release, which is what they make least, and costs by their
            share over random sets, the start.
        """),
        _counts(cells, beaten, worse),
        source("ways"),
        *_fresh(report),
        *_points(),
        "### Where each mode is the best",
        prose("""
            A mode exists because it is ahead somewhere, or because no other does what it does. One
            cell in which a mode is far ahead of the next best: difference ± standard error (shares;
            SubOpt of coefficients; regret of arms).
        """),
        table(
            ("learner", "mode", "ahead of the next best by", "where"),
            [_place(place, cells) for place in PLACES],
        ),
        "### Beaten",
        "The figure of the default, the better mode, and how far it is ahead ± standard error:",
        table(
            ("learner", "setting", "default", "better mode", "ahead by"),
            [_beaten(name, cells[name]) for name in beaten],
        ),
        table(("figure", "measured ± standard error"), _figures(report)),
        source("ways"),
    )


def _group(cell: str) -> str:
    return cell.split("/")[0]


def _setting(cell: str) -> str:
    """Return a setting as words: p = 2, dimension = 10, …"""
    return (
        cell.split("/")[1]
        .replace("=", " = ")
        .replace(" = ", "\0")
        .replace(" ", ", ")
        .replace("\0", " = ")
    )


def _counts(cells: Iterable[str], beaten: Iterable[str], worse: Iterable[str]) -> str:
    counts = [Counter(map(_group, names)) for names in (cells, beaten, worse)]
    rows = [(group, *(str(count[group]) for count in counts)) for group in counts[0]]
    total = ("all", *(str(sum(count.values())) for count in counts))
    return table(("learner", "cells", "beaten", "worse than nothing"), [*rows, total])


def _fresh(report: Mapping[str, Any]) -> list[str]:
    """Return the run on new worlds, on which nothing was chosen."""
    fresh = load("ways-fresh")
    cells, beaten, worse = (
        fresh[key] for key in ("auto_behind_best", "beaten", "worse_than_nothing")
    )
    counts = [Counter(map(_group, names)) for names in (cells, beaten, report["beaten"], worse)]
    head = (
        "learner",
        "cells",
        "beaten, fresh worlds",
        "beaten, worlds above",
        "worse than nothing, fresh",
    )
    return [
        prose(f"""
            On worlds from {fresh["settings"]["first_seed"]} on, which were run once, after
            everything was chosen (regressions, `fit`, `ContinuousMaximizer`): {len(beaten)} of
            {len(cells)} cells beaten, {len(worse)} worse than nothing. SubOpt of two single
            regressions (of the last table of this section): {with_error(fresh["l1_pure_d50"])} and
            {with_error(fresh["small_eps_1e4"], 4)}. Costs and the rest were not run again.
        """),
        table(head, [(group, *(str(count[group]) for count in counts)) for group in counts[0]]),
        source("ways-fresh"),
    ]


def _points() -> list[str]:
    """Return the run on the points of `ContinuousMaximizer`."""
    points = load("ways-points")
    cells, beaten = points["auto_behind_best"], points["beaten"]
    ahead = [fixed(cells[name]["behind"]) for name in beaten]
    modes = joined(sorted({f"`{cells[name]['best']}`" for name in beaten}))
    functions = joined(sorted({name.split("function=")[1].split()[0] for name in beaten}))
    return [
        prose(f"""
            In 0.5 one default changed: which mode moves the points of `ContinuousMaximizer`, since
            the benchmark had never compared the one that it fell back to. On worlds from
            {points["settings"]["first_seed"]} on, run once after that: {len(beaten)} of
            {len(cells)} cells beaten, all of {functions} functions, by {modes} (by
            {joined(ahead)}), {len(points["worse_than_nothing"])} worse than nothing.
        """),
        source("ways-points"),
    ]


def _place(place: Place, cells: Mapping[str, Mapping[str, Any]]) -> tuple[str, str, str, str]:
    learner, mode, name, words = place
    if name is None:
        ahead = "the least noise" if learner == "`RunningSum`" else "–"
        return learner, mode, ahead, words
    cell = cells[name]
    other = "the default" if cell["behind"] > 0 else cell["best"]
    ahead = f"{fixed(abs(cell['behind']))} ± {fixed(cell['error'])} ({other})"
    return learner, mode, ahead, "; ".join(filter(None, (_setting(name), words)))


def _beaten(name: str, cell: Mapping[str, Any]) -> tuple[str, ...]:
    ahead = f"{fixed(cell['behind'])} ± {fixed(cell['error'])}"
    return _group(name), _setting(name), fixed(cell["auto"]), cell["best"], ahead


def _figures(report: Mapping[str, Any]) -> list[tuple[str, str]]:
    routes = report["pure_or_not"]
    return [
        ("share of `SetMaximizer(100, 5, 10⁴, Privacy(1.0))`", with_error(report["pure_1e4"])),
        (
            "SubOpt, l₁ ball, d = 50, 10 relevant, T = 2·10⁴, ε = 1, δ = 0",
            with_error(report["l1_pure_d50"]),
        ),
        (
            "SubOpt, p = 2, d = 10, T = 10⁴, ε = 0.3, δ = 10⁻⁶",
            with_error(report["small_eps_1e4"], 4),
        ),
        *(
            (f"loss with δ = 10⁻⁶ over the smaller of both routes, {name}", fixed(cell["ratio"], 2))
            for name, cell in routes.items()
        ),
    ]


def adversary() -> str:
    """Return the section of streams that react to decisions."""
    report, streams = load("ways-adversary"), load("ways")["streams"]
    punish, alternate = report["adversary"], report["alternating"]
    calm, times = report["adversary_price"], report["adversary_microseconds"]
    hedge = [
        with_error(streams[f"hedge/none/{data}"])
        for data in ("iid", "drift", "exchange", "alternate")
    ]
    rows = [
        (
            "`Hedge`, 10 actions",
            with_error(punish["hedge"], 4),
            f"regret {with_error(alternate['hedge'], 4)}",
            f"regret {with_error(calm['hedge'], 4)}",
        ),
        (
            '`SetMaximizer(stream="adversarial")`, 20 items, 3 slots',
            with_error(punish["slates"], 4),
            f"earns {with_error(alternate['slates'], 4)}; the best fixed slate 0.75",
            "–",
        ),
        (
            "– 100 items, 5 slots",
            "–",
            "–",
            f"share {with_error(calm['slates_1e4'])} at 10⁴ visitors, "
            f"{with_error(calm['slates_1e5'])} at 10⁵",
        ),
        (
            '`SetMinimizer(stream="adversarial")`, 8 items',
            with_error(punish["costs"], 4),
            f"regret {with_error(alternate['costs'], 4)}",
            f"share {with_error(calm['costs'])}",
        ),
    ]
    return blocks(
        "## Streams that react (`benchmarks/ways.py --only adversary`)",
        prose(f"""
            ε = 1, δ = 10⁻⁶, 2·10⁴ rounds unless stated: mean ± standard error over
            {punish["hedge"]["seeds"]} worlds from {report["settings"]["first_seed"]} on, that
            nothing was chosen on. "Punish": the decision of the round before is worth nothing.
            "Alternate": only some candidates are worth anything, others from one public block to
            the next.
        """),
        table(("learner", "punish: regret per round", "alternate", "calm"), rows),
        prose(f"""
            A round takes {significant(times["hedge"])} µs in bulk (experts),
            {significant(times["slates"])} µs (slates, 100 items, 5 slots). `Hedge` on other streams
            (20 actions, 10⁴ rounds; what is lost between the best action and one at random):
            {hedge[0]} i.i.d., {hedge[1]} drifting, {hedge[2]} exchanged, {hedge[3]} alternating.
        """),
        source("ways-adversary", "ways"),
    )
