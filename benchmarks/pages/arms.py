"""The section of contextual arms."""

from collections.abc import Mapping
from typing import Any

from pages.text import blocks, fixed, load, prose, source, table, with_error

WORLDS = (
    ("sparse, d = 100, Gaussian", "sparse_d100_gaussian"),
    ("sparse, d = 100, 0 or 1", "sparse_d100_bernoulli"),
    ("sparse, d = 1000, Gaussian", "sparse_d1000_gaussian"),
    ("sparse, d = 1000, 0 or 1", "sparse_d1000_bernoulli"),
    ("sparse, logistic, d = 100, 0 or 1", "sparse_logistic_d100"),
    ("sparse, d = 100, K = 10, 0 or 1", "sparse_k10_d100_bernoulli"),
    ("sparse, d = 100, 20 features per arm, 0 or 1", "sparse_20_relevant_bernoulli"),
    ('– with `relevant="all"`', "sparse_20_relevant_told_all"),
    ("sparse, d = 100, correlated (½ with neighbours), Gaussian", "sparse_correlated_d100"),
    ("sparse, d = 100, skewed signs, Gaussian", "sparse_skewed_d100"),
    ("dense, d = 10, K = 5", "dense_10_5_1e5"),
    ("dense, d = 20, K = 10", "dense_20_10_1e5"),
    ("dense, d = 20, K = 10, T = 10⁶", "dense_20_10_1e6"),
    ("dense, d = 5, K = 5, T = 10⁴", "dense_5_5_1e4"),
    ("dense, logistic, d = 10, K = 5", "logistic_10_5_1e5"),
    ("digits, d = 64, K = 10", "digits_1e5"),
    ("digits, d = 64, K = 10, T = 3·10⁵", "digits_3e5"),
)
RIVALS = ("fliphat", "private_linucb", "linucb")
OTHERS = (
    ("private LinUCB as published", "private_linucb_printed"),
    ("Algorithm 3 as printed (not private)", "glm_bandit_printed"),
    ("Algorithm 3 with sound noise", "glm_bandit_sound"),
    ("local privacy", "local_private"),
    ("Thompson sampling, not private", "thompson"),
    ("lasso, not private", "lasso"),
)


def contextual() -> str:
    """Return the section of `ContextualBandit`."""
    report = load("contextual")
    regret = report["regret"]
    logistic, many = regret["sparse_logistic_d100"], regret["sparse_20_relevant_bernoulli"]
    wide = regret["sparse_20_relevant_told_all"]
    return blocks(
        "## Which arm, given the context (`benchmarks/contextual.py`)",
        prose("""
            Regret of `ContextualBandit` over that of uniform play (0 is perfect), every round
            counted, ε = 1, δ = 10⁻⁶, T = 10⁵ unless stated: mean ± standard error over worlds on
            which nothing was tuned, and the worst world. Sparse worlds have three arms and five
            relevant features per arm unless stated; "dense" contexts are known to have length 1;
            `simulate/problems/contexts.py` draws them. Ours has its defaults. Rivals play the same
            people, each with the best settings of its grid in two other worlds of the same kind;
            FLIPHAT's scheme (with our noise) gets the number of relevant features as a parameter.
            Private LinUCB has our tighter noise. At d = 1000 LinUCB and private LinUCB have their
            usual settings and two worlds, since a world takes a minute.
        """),
        table(
            (
                "world",
                "worlds",
                "discreet",
                "worst",
                "FLIPHAT",
                "private LinUCB",
                "LinUCB, no privacy",
            ),
            [_row(words, regret[name]) for words, name in WORLDS if name in regret],
        ),
        "Other algorithms at d = 100, Gaussian:",
        table(
            ("algorithm", "regret"),
            [
                (words, with_error(regret["sparse_d100_gaussian"]["rivals"][name]))
                for words, name in OTHERS
                if name in regret["sparse_d100_gaussian"]["rivals"]
            ],
        ),
        prose(f"""
            Weak: with a logistic link FLIPHAT, which gets the number of features, has
            {fixed(logistic["rivals"]["fliphat"]["mean"])} where we have {fixed(logistic["mean"])}.
            With twenty relevant features per arm and none of this stated, screening loses as much
            as its rivals ({fixed(many["mean"])}), and a ridge over all features less
            ({fixed(wide["mean"])}). The best settings of private LinUCB in sparse worlds lie at the
            edge of its grid (strongest shift, fewest blocks).
        """),
        table(("claim", "measured"), _claims(report)),
        source("contextual"),
    )


def _row(words: str, cell: Mapping[str, Any]) -> tuple[str, ...]:
    rivals = (with_error(cell["rivals"].get(name)) for name in RIVALS)
    return (words, str(cell["worlds"]), with_error(cell), fixed(cell["worst"]), *rivals)


def _claims(report: Mapping[str, Any]) -> list[tuple[str, str]]:
    decide, update = report["microseconds"]["decide"], report["microseconds"]["update"]
    ridge, screen = report["memory"]["ridge_50_20"], report["memory"]["screen_1000_3"]
    return [
        (
            "regret over FLIPHAT's in the same worlds, d = 1000, Gaussian",
            fixed(report["over_fliphat_d1000_gaussian"], 2),
        ),
        ("– rewards 0 or 1", fixed(report["over_fliphat_d1000_bernoulli"], 2)),
        (
            "a decision at d = 50, K = 20, one row, over MABWiser's `LinUCB.predict`, times as "
            "fast",
            f"{fixed(report['decide_speedup_over_mabwiser'], 0)} "
            f"({fixed(decide['discreet'], 0)} µs against {fixed(decide['mabwiser'], 0)})",
        ),
        (
            "– over river's `LinUCBDisjoint.pull`",
            f"{fixed(report['decide_speedup_over_river'], 0)} ({fixed(decide['river'], 0)} µs)",
        ),
        (
            "an answer over MABWiser's `partial_fit`, times as fast",
            f"{fixed(report['update_speedup_over_mabwiser'], 0)} "
            f"({fixed(update['discreet'], 0)} µs against {fixed(update['mabwiser'], 0)})",
        ),
        (
            "state at T = 10⁸ over that at 10⁵, ridge (d = 50, K = 20)",
            f"{fixed(ridge['1e8'] / ridge['1e5'])} ({fixed(ridge['1e8'] / 1e6, 1)} MB)",
        ),
        (
            "– screening (d = 1000, K = 3)",
            f"{fixed(screen['1e8'] / screen['1e5'])} ({fixed(screen['1e8'] / 1e3, 0)} kB)",
        ),
    ]
