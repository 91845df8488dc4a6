"""The section that sets discreet beside what people use today, misses included."""

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from pages.text import blocks, fixed, load, prose, significant, source, table

REPORTS = ("sampler", "real", "contextual", "streaming", "tables", "movielens", "selection",
           "pickups")  # fmt: skip
REAL = {
    "diamonds": "prices of diamonds, R²",
    "breast_cancer": "breast cancer, accuracy",
    "phishing": "phishing, accuracy",
    "digits": "ten digits, accuracy",
    "digits_5_or_more": "digits of 5 or more, accuracy",
    "wine": "wine, accuracy",
}
WORLDS = {
    "sparse_d100_gaussian": "5 of 100 features",
    "sparse_d1000_bernoulli": "5 of 1000 features, rewards 0 or 1",
    "sparse_logistic_d100": "5 of 100 features, logistic",
    "dense_10_5_1e5": "10 features",
    "digits_1e5": "digits, 64 features",
}
LIBRARIES = ("opendp", "diffprivlib", "mabwiser", "river")
"""Those that do a part of discreet's job."""
ALGORITHMS = {"fliphat": "FLIPHAT", "private_linucb": "private LinUCB"}
TITLES = {
    "200_titles_1e5": "MovieLens, 10 of 200 titles, 10⁵ visitors",
    "1682_titles_2e5": "MovieLens, 10 of 1682 titles, 2·10⁵ visitors",
}


class Row(NamedTuple):
    """One comparison with a peer: a figure of the peer's and ours, and which of them is better."""

    measure: str
    report: str
    peer: str
    private: bool
    theirs: float
    ours: float
    better: Literal["higher", "lower"] = "higher"
    library: str = ""
    """Distribution of a peer that is a library."""
    method: str = ""
    """Its method, if it has several."""

    @property
    def behind(self) -> bool:
        """Whether the peer's figure is better, as far as the table shows it."""
        theirs, ours = float(self.shown(self.theirs)), float(self.shown(self.ours))
        return ours < theirs if self.better == "higher" else ours > theirs

    @staticmethod
    def shown(value: float) -> str:
        """Return a figure with three decimals; from 10 on, without."""
        return f"{value:.3f}" if abs(value) < 10 else f"{value:.0f}"


def rows() -> list[Row]:
    """Return all comparisons: private peers first, then others."""
    found = [*_exact(), *_tables(), *_arms(), *_shares(), *_times()]
    return sorted(found, key=lambda row: not row.private)


def _exact() -> Iterator[Row]:
    report = load("sampler")
    times, selecting = report["nanoseconds"], report["selection_milliseconds"]
    for words, theirs, ours in (
        ("an exact Gaussian number, ns", times["opendp_gaussian"], times["gaussian"]),
        ("an exact Laplace number, ns", times["opendp_laplace"], times["laplace"]),
        ("a choice among 100,000, ms", selecting["opendp"], selecting["discreet"]),
    ):
        yield Row(words, "sampler", "OpenDP", True, theirs, ours, "lower", "opendp")
    for words, law in (("an exact Gaussian number, ns", "gaussian"),
                       ("an exact Laplace number, ns", "laplace")):  # fmt: skip
        floats = times["numpy_normal" if law == "gaussian" else "numpy_laplace"]
        yield Row(words, "sampler", "NumPy's floats", False, floats, times[law], "lower")


def _tables() -> Iterator[Row]:
    report = load("real")
    found: dict[str, Any] = {**report["accuracy"], **report["r2"]}
    for name, words in REAL.items():
        ours = found[name]["discreet"]
        for way, peer, library in (
            ("diffprivlib", "diffprivlib", "diffprivlib"),
            ("sufficient_statistics", "one-shot statistics", ""),
        ):
            theirs = found[name][way]["epsilon_1"]
            yield Row(words, "real", peer, True, theirs, ours["epsilon_1"], library=library)
        if name != "diamonds":
            yield Row(words, "real", "scikit-learn", False, ours["non_private"], ours["epsilon_1"],
                      library="scikit-learn", method="logistic regression")  # fmt: skip
    share = load("tables")["diamonds_r2_fit"]["mean"]  # both with predictions that are clipped
    yield Row("prices of diamonds, R² over that of least squares", "tables", "scikit-learn", False,
              1.0, share, library="scikit-learn", method="least squares")  # fmt: skip


def _arms() -> Iterator[Row]:
    regret = load("contextual")["regret"]
    for world, words in WORLDS.items():
        ours, rivals = regret[world]["mean"], regret[world]["rivals"]
        for name, peer in (*ALGORITHMS.items(), ("linucb", "LinUCB")):
            if name in rivals:
                private = name in ALGORITHMS
                theirs = rivals[name]["mean"]
                yield Row(
                    f"arms, {words}, share", "contextual", peer, private, 1 - theirs, 1 - ours
                )


def _shares() -> Iterator[Row]:
    titles = load("movielens")["share"]
    for key, words in TITLES.items():
        yield Row(f"{words}, share", "movielens", "MABWiser", False,
                  titles[key]["thompson"]["mean"], titles[key]["epsilon_1"]["mean"],
                  library="mabwiser", method="Thompson sampling")  # fmt: skip
    chosen, pickups = load("selection")["share"], load("pickups")["share"]
    for words, report, cell in (
        ("ten sites, 10³ simulated homes, share", "selection", chosen["points_uniform_1e3"]),
        ("ten titles, 943 simulated people, share", "selection", chosen["rows_coverage_943"]),
        ("ten sites, 10³ pickups, share", "pickups", pickups["1000_people.auto"]),
        ("ten sites, 10⁴ pickups, share", "pickups", pickups["10000_people.auto"]),
    ):
        yield Row(words, report, "greedy", False, 1.0, cell["mean"])


def _times() -> Iterator[Row]:
    arms, speed, files = load("contextual")["microseconds"], load("streaming"), load("tables")
    for peer, library in (("MABWiser", "mabwiser"), ("river", "river")):
        if library in arms["decide"]:
            yield Row("a decision, 50 features, 20 arms, µs", "contextual", peer, False,
                      arms["decide"][library], arms["decide"]["discreet"], "lower",
                      library, "LinUCB")  # fmt: skip
    yield Row("a sample of a regression in blocks, times as fast", "streaming", "river", False,
              1.0, speed["speedup_over_river"], library="river")  # fmt: skip
    yield Row("the same, time over that of mini-batches", "streaming", "NumPy", False, 1.0,
              speed["cost_over_numpy_minibatch"], "lower")  # fmt: skip
    yield Row("rows of a CSV file, times as fast", "tables", "Polars", False, 1.0,
              files["csv_over_polars"])  # fmt: skip
    yield Row("rows of an Arrow stream, times as fast", "tables", "a NumPy array", False, 1.0,
              files["arrow_over_numpy"]["as_it_is"])  # fmt: skip


def peers() -> str:
    """Return the section."""
    found = rows()
    behind = sum(row.behind for row in found)
    return blocks(
        "## Beside the peers",
        prose(f"""
            All comparisons with other libraries and algorithms in one table, at ε = 1; those with
            private peers come first. discreet is behind in {behind} of {len(found)} rows, which
            say so. A share is 0 for the baseline and 1 for the best fixed decision or for greedy;
            the sections below state baselines, errors and settings. A peer that is not private
            shows what privacy and discreet's schedule cost together. Versions are those that the
            reports record; older reports record none.
        """),
        table(
            ("measure", "peer", "private", "peer's", "discreet's", ""),
            [_line(row) for row in found],
        ),
        source(*REPORTS),
    )


def _line(row: Row) -> tuple[str, ...]:
    private = "yes" if row.private else "no"
    return (row.measure, _named(row), private, _figure(row.theirs), _figure(row.ours),
            "behind" if row.behind else "")  # fmt: skip


def libraries() -> str:
    """Return the table of the libraries that do a part of discreet's job."""
    return table(
        ("measure", "library", "private", "its figure", "discreet's", ""),
        [_line(row) for row in rows() if row.library in LIBRARIES],
    )


def _named(row: Row) -> str:
    """Return the peer with the version that its report records, and its method."""
    version = load(row.report)["made"]["peers"].get(row.library)
    method = f" ({row.method})" if row.method else ""
    return f"{row.peer} {version}{method}" if version else f"{row.peer}{method}"


def _figure(value: float) -> str:
    if abs(value) >= 10:
        return fixed(value, 0)
    return fixed(value) if abs(value) >= 0.1 else significant(value)
