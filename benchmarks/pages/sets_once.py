"""The sections of sets chosen once from records, and online under quotas or a budget."""

from collections.abc import Mapping
from typing import Any

from pages.text import blocks, counted, fixed, load, prose, source, table, with_error

KINDS = {
    "uniform": "homes, ten sites",
    "partition": "homes, four strips with quotas",
    "knapsack": "homes, sites within a budget",
}
SIZES = (
    ("1e4", "10⁴", "1"),
    ("1e3", "10³", "1"),
    ("1e4_eps0.1", "10⁴", "0.1"),
    ("1e3_eps0.1", "10³", "0.1"),
)
CASES = [
    *((words, people, epsilon, f"points_{kind}_{size}") for size, people, epsilon in SIZES
      for kind, words in KINDS.items()),
    ("liked titles", "10⁴", "1", "rows_coverage_1e4"),
    ("liked titles", "943", "1", "rows_coverage_943"),
    ("liked titles", "10⁴", "0.1", "rows_coverage_1e4_eps0.1"),
]  # fmt: skip
ONLINE = (
    ("alike over time", "10⁴", "1", "iid_1e4"),
    ("drifting", "10⁴", "1", "drift_1e4"),
    ("switching", "10⁴", "1", "switch_1e4"),
    ("alike over time", "10⁴", "0.1", "iid_1e4_eps0.1"),
    ("alike over time", "10⁵", "1", "iid_1e5"),
)


def selection() -> str:
    """Return the section of `SetSelector` and `ContinuousMaximizer`."""
    report = load("selection")
    share, online = report["share"], report["online"]
    return blocks(
        "## Sets chosen once, and online (`benchmarks/selection.py`)",
        prose("""
            300 sites or titles, ten to choose (`simulate/problems/selection.py`), δ = 10⁻⁶, though
            both modes give a pure guarantee. Share of the value that greedy without noise has for
            the same people (under a knapsack by density): mean ± standard error and the worst of
            twelve worlds; the defaults were chosen on others. Swaps on a noisy histogram may beat
            greedy.
        """),
        table(
            ("records", "people", "ε", "`SetSelector`", "worst", "histogram", "sampled"),
            [_row(*case, share) for case in CASES],
        ),
        table(
            ("claim", "measured"),
            [
                (
                    "10⁷ people × 50 items × 10 steps on two local Dask workers, time over that "
                    "of 10⁶",
                    f"{fixed(report['cluster_time_ratio_10x'], 1)} "
                    f"({fixed(report['cluster_seconds_1e7'], 0)} s)",
                ),
                ("memory of a worker, MB", fixed(report["cluster_worker_megabytes"], 0)),
            ],
        ),
        prose("""
            `ContinuousMaximizer`, online: 100 items, 5 slots, visitors whose tastes stay, drift or
            switch (`papers/rivals/continuous.py`): value of the sets that were played, burn-in
            counted, over that of the fractional points of non-private meta-Frank–Wolfe with K = 20
            copies. Mean ± standard error over twelve worlds, six at 10⁵ visitors. How gradients are
            clipped and the number of blocks were chosen on the seeds 0 to 5 and 500 to 511.
        """),
        table(
            ("people", "visitors", "ε", "default", "worst", '`stream="iid"`'),
            [
                (people, visitors, epsilon, with_error(online[key]), fixed(online[key]["worst"]),
                 with_error(online.get(f"{key}.fresh")))
                for people, visitors, epsilon, key in ONLINE
            ],
        ),
        source("selection"),
    )  # fmt: skip


def _row(
    records: str, people: str, epsilon: str, key: str, share: Mapping[str, Any]
) -> tuple[str, ...]:
    beside = (with_error(share.get(f"{key}.{mode}")) for mode in ("histogram", "sampled"))
    return (records, people, epsilon, with_error(share[key]), fixed(share[key]["worst"]), *beside)


def pickups() -> str:
    """Return the section of `SetSelector` on real points."""
    report = load("pickups")
    settings, share = report["settings"], report["share"]
    rows = [
        (people, *(with_error(share[f"{number}_people.{way}"]) for way in ("auto", "sampled")))
        for people, number in (("10³", 1000), ("10⁴", 10_000))
    ]
    return blocks(
        "## Sites near real pickups (`benchmarks/pickups.py --pickups` a file)",
        prose(f"""
            {counted(settings["points"])} pickups of a taxi service, scaled to the box; the people
            of a seed are drawn from them without replacement. Ten of {settings["sites"]} sites at ε
            = 1. Share of the value that greedy without noise has for the same people: mean ±
            standard error over twelve draws. The points are not part of the repository: the script
            takes any .npy file with two columns.
        """),
        table(("people", "`SetSelector`", "sampled"), rows),
        source("pickups"),
    )
