"""Figures on the pages that people read: tables between markers, and sentences.

A table stands on any page between `<!-- figures: NAME -->` and `<!-- end of figures -->`; the names
are the keys of `TABLES`. `make results` regenerates it there. A sentence with a figure stands on
the page that `SENTENCES` gives it, word for word; move a sentence here when it moves there.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from pages import peers, traffic
from pages.text import fixed, load, table

REPOSITORY = Path(__file__).resolve().parents[2]
MARKED = re.compile(r"(<!-- figures: (\w+) -->\n).*?(<!-- end of figures -->)", re.DOTALL)
ZERO = "coefficients of zero"
RANDOM = "random arms"


def pages() -> Iterator[Path]:
    """Yield the README and all pages of docs/."""
    yield REPOSITORY / "README.md"
    yield from sorted((REPOSITORY / "docs").rglob("*.md"))


def with_figures(page: str) -> str:
    """Return the text of a page with every marked table regenerated."""
    return MARKED.sub(lambda match: f"{match[1]}{TABLES[match[2]]()}\n{match[3]}", page)


def sentences(page: str) -> list[str]:
    """Return the sentences with measured figures that a page holds, by its path from the root."""
    return [sentence() for sentence in SENTENCES.get(page, ())]


def _low_click_rates() -> str:
    share = load("display")["share"]
    early, late = (share[f"clicks_low_rate_{visitors}"]["mean"] for visitors in ("1e5", "1e6"))
    return (
        f"With the click rates of a real shop, 10⁵ visitors keep {fixed(early, 2)} of the value "
        f"and 10⁶ keep {fixed(late, 2)}."
    )


def _warm_start() -> str:
    without, lifted = (load("warm")[log]["first"]["mean"] for log in ("none", "uniform_2e4"))
    return (
        f"a log of 2·10⁴ lifts what the first 2·10⁴ visitors keep from {fixed(without, 2)} to "
        f"{fixed(lifted, 2)} (clicks, i.i.d.)"
    )


def _display() -> str:
    share = load("display")["share"]
    cases = (
        ("whole preferences", "10⁴", '`"iid"`', "iid_full_1e4"),
        ("whole preferences", "10⁵", '`"drifting"`', "drifting_full_1e5"),
        ("clicks", "10⁵", '`"iid"`', "clicks_iid_1e5"),
        ("clicks", "10⁶", '`"drifting"`', "clicks_drifting_1e6"),
        ("rewards of whole slates", "10⁶", '`"iid"`', "iid_bandit_1e6"),
        ("rewards of whole slates", "10⁶", '`"drifting"`', "drifting_bandit_1e6"),
    )
    return table(
        ("what the site sees", "visitors", "stream", "share", "baseline"),
        [(*words, fixed(share[key]["mean"], 2), "random slates") for *words, key in cases],
    )


def _costs() -> str:
    report = load("minimize")
    naive = "best of nothing, everything and random sets"
    whole, single = report["share"]["full"], report["share_of_hindsight"]["bandit_n20"]
    plain = "follow-the-leader without privacy"
    return table(
        ("what is seen", "items", "visitors", "share", "baseline", "1 is"),
        [
            ("whole cost functions", "50", "10⁵", fixed(whole["mean"], 2), naive, plain),
            (
                "the cost of the chosen set",
                "20",
                "3·10⁵",
                fixed(single["mean"], 2),
                naive,
                "the best fixed set",
            ),
        ],
    )


def _regression() -> str:
    worlds, diamonds = load("streaming")["other_worlds"], load("real")["r2"]["diamonds"]
    fit, stream = diamonds["discreet"], diamonds["discreet_stream"]
    cases = (
        ("independent", "plain"),
        ("that go together", "correlated"),
        ("a tenth as long as declared", "short"),
    )
    rows = [(words, fixed(1 - worlds[kind]["p2"]["auto"]), ZERO) for words, kind in cases]
    scores = f"{fixed(fit['epsilon_1'])} / {fixed(stream['epsilon_1'])}"
    rows.append(
        (
            "diamonds (54,000 real prices), `fit` / stream, R²",
            f"{scores} (least squares: {fixed(fit['non_private'])})",
            "the mean price",
        )
    )
    return table(("features", "share", "baseline"), rows)


def _arms() -> str:
    regret = load("contextual")["regret"]
    cases = (
        ("sparse: 5 of 100 features matter, 3 arms", "sparse_d100_gaussian", "fliphat",
         "FLIPHAT, which gets the number 5"),
        ("sparse: 5 of 1000, rewards 0 or 1", "sparse_d1000_bernoulli", "fliphat", "FLIPHAT"),
        ("dense: 10 features, 5 arms", "dense_10_5_1e5", "private_linucb",
         "private LinUCB with our noise"),
        ("digits: 64 features, 10 arms", "digits_1e5", "private_linucb",
         "private LinUCB with our noise"),
    )  # fmt: skip
    rows = []
    for world, key, name, rival in cases:
        cell = regret[key]
        best_rival = f"{_share(cell['rivals'][name])} ({rival})"
        not_private = _share(cell["rivals"]["linucb"])
        rows.append((world, _share(cell), best_rival, not_private, RANDOM))
    return table(
        ("world", "discreet", "best private rival", "not private (LinUCB)", "baseline"), rows
    )


def _share(cell: Mapping[str, float]) -> str:
    """Return the share of the value, 1 − regret."""
    return fixed(1 - cell["mean"], 2)


def _selection() -> str:
    share = load("selection")["share"]
    cases = (
        ("homes, ten sites", "10⁴", "points_uniform_1e4", "no site"),
        ("homes, ten sites", "10³", "points_uniform_1e3", "no site"),
        ("homes, sites within a budget", "10³", "points_knapsack_1e3", "no site"),
        ("liked titles", "10⁴", "rows_coverage_1e4", "no title"),
        ("liked titles", "943", "rows_coverage_943", "no title"),
    )
    rows = [
        (records, people, fixed(share[key]["mean"], 2), baseline)
        for records, people, key, baseline in cases
    ]
    return table(("records", "people", "share", "baseline"), rows)


def _real() -> str:
    """Return what is kept beside the peer that is not private, on real data."""
    titles, prices, sites = (load(name) for name in ("movielens", "tables", "pickups"))
    some, many = (titles["share"][name] for name in ("200_titles_1e5", "1682_titles_2e5"))
    slates = "random slates; the best fixed slate"
    rows = [
        ("MovieLens: 10 of 200 titles to show 10⁵ visitors, from clicks",
         f"{fixed(some['thompson']['mean'])} (Thompson sampling, MABWiser)",
         fixed(some["epsilon_1"]["mean"]), slates),
        ("MovieLens: 10 of 1,682 titles to show 2·10⁵ visitors, from clicks",
         f"{fixed(many['thompson']['mean'])} (Thompson sampling, MABWiser)",
         fixed(many["epsilon_1"]["mean"]), slates),
        ("diamonds: a regression of 54,000 prices, once", "1 (least squares, scikit-learn)",
         fixed(prices["diamonds_r2_fit"]["mean"]), "the mean price; least squares"),
        ("taxi pickups: 10 of 300 sites for 10⁴ people", "1 (greedy)",
         fixed(sites["share"]["10000_people.auto"]["mean"]), "no site; greedy"),
    ]  # fmt: skip
    columns = ("real data", "share, not private", "share, discreet at ε = 1", "0 and 1 stand for")
    return table(columns, rows)


TABLES: Mapping[str, Callable[[], str]] = {
    "display": _display,
    "costs": _costs,
    "regression": _regression,
    "arms": _arms,
    "selection": _selection,
    "real": _real,
    "libraries": peers.libraries,
    "traffic": traffic.kept,
    "traffic_people": traffic.needed,
    "helps": traffic.helps,
}
"""Tables that pages may hold, by the names in their markers."""
SENTENCES: Mapping[str, tuple[Callable[[], str], ...]] = {
    "docs/guides/shop.md": (_low_click_rates,),
    "docs/guides/another_policy.md": (_warm_start,),
    "docs/understand/choosing.md": (_low_click_rates, traffic.more_people),
}
"""Sentences with figures, by the page that holds them."""
