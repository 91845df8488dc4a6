"""The section of sets of least cost."""

from pages.text import blocks, fixed, interval, load, prose, source, table, with_error

SINGLE = (
    ("cuts, drifting", "20, 3·10⁵", "bandit_n20"),
    ("cuts, i.i.d.", "20, 3·10⁵", "bandit_n20_iid"),
    ("cuts, drifting", "10, 10⁶", "bandit"),
    ("– noise off", "10, 10⁶", "bandit_noise_off"),
    ("cuts, i.i.d.", "10, 10⁶", "bandit_iid"),
    ("– the paper's algorithm as published", "10, 10⁶", "bandit_published"),
)
WHOLE = (
    ("default", "full"),
    ("– noise off", "full_noise_off"),
    ("– δ = 0", "full_pure"),
    ("– mode `bound`", "full_bound"),
    ("– the paper's algorithm as published", "full_published"),
)
POOLED = (
    ("concave costs, drifting", "share_bandit_concave"),
    ("two worlds that alternate, drifting", "share_bandit_alternating"),
)


def minimize() -> str:
    """Return the section of `SetMinimizer`."""
    report = load("minimize")
    single, whole = report["share_of_hindsight"], report["share"]
    times = report["microseconds_a_round"]
    return blocks(
        "## Sets of least cost (`benchmarks/minimize.py`)",
        prose("""
            Cuts plus a modular term, costs in [−1, 1], ε = 1, δ = 10⁻⁶, burn-in counted: mean ±
            standard deviation and the worst over twelve worlds that nothing was tuned on; defaults
            were chosen on the worlds 0 to 29.

            The cost of the chosen set alone: share of the gain of the best fixed set over the best
            of nothing, everything and random sets.
        """),
        table(
            ("world", "items, visitors", "share ± sd", "worst"),
            [
                (world, size, with_error(single[key]), fixed(single[key]["worst"]))
                for world, size, key in SINGLE
                if key in single
            ],
        ),
        prose("""
            Some worlds of these kinds have next to nothing to gain; their shares are the sum of
            gains over the sum of the best fixed sets' gains (20 items, 3·10⁵ visitors), without an
            interval:
        """),
        table(
            ("world", "pooled share"),
            [(world, fixed(report[key])) for world, key in POOLED if key in report],
        ),
        prose("""
            Whole costs, 50 items, 10⁵ visitors: share of what non-private
            follow-the-regularised-leader gains over the best of nothing, everything and random
            sets. That leader has a new point every round and the best of five regularisers in
            hindsight.
        """),
        table(
            ("way", "share ± sd", "worst"),
            [
                (way, with_error(whole[key]), fixed(whole[key]["worst"]))
                for way, key in WHOLE
                if key in whole
            ],
        ),
        table(
            ("claim", "measured"),
            [
                (
                    "power of T at which regret grows (95 % interval), whole costs",
                    interval(report["slope_full"]),
                ),
                ("– single costs", interval(report["slope_bandit"])),
                (
                    "a round at 1000 items with a built-in function over a NumPy callable, times "
                    "as fast",
                    f"{fixed(report['speedup_builtin'], 0)} ({fixed(times['builtin'], 0)} µs "
                    "against "
                    f"{fixed(times['callable'] / 1000, 0)} ms)",
                ),
            ],
        ),
        source("minimize"),
    )
