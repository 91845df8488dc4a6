"""What little traffic keeps: the section of the page of results, and tables of other pages."""

from collections.abc import Callable, Mapping
from itertools import pairwise

from pages.text import blocks, counted, fixed, load, prose, source, table, with_error

BASELINES = {
    "shop_20": "random slates",
    "shop_100": "random slates",
    "arms": "random arms",
    "stream": "coefficients of zero",
    "fit": "coefficients of zero",
    "sites": "no site",
}
ENOUGH = 0.7
"""Share of the value that `needed` asks for."""
MARGIN = 0.02
"""Difference of shares that counts as none."""
NEVER = "more than {}"

Shares = Mapping[str, Mapping[str, Mapping[str, Mapping[str, float]]]]
"""Mean shares, with standard deviations, by job, ε and number of people."""


def traffic() -> str:
    """Return the section of shares by job, ε and number of people."""
    return blocks(
        "## What little traffic keeps (`benchmarks/traffic.py`)",
        prose("""
            Share of the value by job, ε and number of people, at δ = 10⁻⁶: mean ± standard
            deviation over twelve worlds that nothing was tuned on. A share of 0 is the baseline, 1
            the best fixed decision in hindsight (of sites: what greedy without noise finds, which
            may be exceeded). Arms and slates are judged from the first visitor on, regressions and
            sites by the last result.
        """),
        _table(with_error, 2),
        prose(more_people()),
        source("traffic"),
    )


def kept() -> str:
    """Return the table of mean shares, without deviations."""
    return _table(lambda cell, digits: fixed(cell["mean"], digits), 2)


def needed() -> str:
    """Return the table of the fewest people from whom on `ENOUGH` of the value is kept."""
    report = load("traffic")
    shares: Shares = report["share"]
    epsilons = list(next(iter(shares.values())))
    return table(
        ("job", *(f"ε = {epsilon}" for epsilon in epsilons)),
        [
            (words, *(_fewest(shares[job][epsilon]) for epsilon in epsilons))
            for job, words in report["settings"]["jobs"].items()
        ],
    )


def more_people() -> str:
    """Return the sentence that compares more people with a larger ε."""
    pairs = _compared(load("traffic")["share"])
    as_good = sum(more >= larger - MARGIN for more, larger in pairs)
    return (
        f"In {as_good} of {len(pairs)} pairs of cells of one job, about three times the people "
        f"kept at least as much as about three times ε (to within {MARGIN})."
    )


def helps() -> str:
    """Return the table of what else raises the share at ε = 1, with pairs measured alike."""
    shares: Shares = load("traffic")["share"]
    display, warm, returning = load("display")["share"], load("warm"), load("returning")
    names = returning["share, uneven, T=10000, c=30"]
    pairs = (
        ("ten times the people", "5 of 100 items, clicks: 3,000 to 30,000 visitors",
         _mean(shares, "shop_100", 3_000), _mean(shares, "shop_100", 30_000)),
        ("better feedback", "10⁶ visitors, 100 items: rewards per slate to clicks",
         display["iid_bandit_1e6"]["mean"], display["clicks_iid_1e6"]["mean"]),
        ("better feedback", "10⁵ visitors, 100 items: clicks to whole preferences",
         display["clicks_iid_1e5"]["mean"], display["iid_full_1e5"]["mean"]),
        ("a log of other people", "first 2·10⁴ visitors, clicks: without to after a log of 2·10⁴",
         warm["none"]["first"]["mean"], warm["uniform_2e4"]["first"]["mean"]),
        ("one fit instead of a stream", "a regression from 1,000 people",
         _mean(shares, "stream", 1_000), _mean(shares, "fit", 1_000)),
        ("rounds that name their person",
         "whole preferences, 10⁴ visits, up to 30 per person, most people come once",
         names[0][0], names[1][0]),
    )  # fmt: skip
    return table(
        ("what", "where", "share before", "share after"),
        [(what, where, fixed(low, 2), fixed(high, 2)) for what, where, low, high in pairs],
    )


def _mean(shares: Shares, job: str, people: int) -> float:
    """Return the mean share of a job at ε = 1."""
    return shares[job]["1"][str(people)]["mean"]


def _table(entry: Callable[[Mapping[str, float], int], str], digits: int) -> str:
    """Return one row per job and ε, one column per number of people."""
    report = load("traffic")
    shares: Shares = report["share"]
    rows = [
        (words, epsilon, *(entry(cell, digits) for cell in cells.values()), BASELINES[job])
        for job, words in report["settings"]["jobs"].items()
        for epsilon, cells in shares[job].items()
    ]
    people = [f"{counted(int(number))} people" for number in _people(shares)]
    return table(("job", "ε", *people, "baseline"), rows)


def _fewest(cells: Mapping[str, Mapping[str, float]]) -> str:
    """Return the least number of people from which on every larger one keeps enough."""
    fewest = NEVER.format(counted(int(list(cells)[-1])))
    for people, cell in reversed(list(cells.items())):
        if cell["mean"] < ENOUGH:
            break
        fewest = counted(int(people))
    return fewest


def _people(shares: Shares) -> list[str]:
    return list(next(iter(next(iter(shares.values())).values())))


def _compared(shares: Shares) -> list[tuple[float, float]]:
    """Return the shares of three times the people, and of three times ε, for each cell."""
    people = _people(shares)
    return [
        (cells[epsilon][more]["mean"], cells[larger][few]["mean"])
        for cells in shares.values()
        for epsilon, larger in pairwise(cells)
        for few, more in pairwise(people)
    ]
