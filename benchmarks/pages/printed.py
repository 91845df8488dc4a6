"""The section of the papers' algorithms, rerun."""

from collections.abc import Mapping
from typing import Any

from pages.text import blocks, counted, fixed, load, prose, source, table

PROBLEMS = (
    ("slates", "slates, whole preferences", "FI-DP", "FI-DP"),
    ("rewards", "slates, rewards only", "BanditDP", "BanditDP"),
    ("clicks", "slates, clicks", "nothing printed", None),
    ("costs", "least cost, whole costs", "SUBMODPRFTL", "SUBMODPRFTL"),
    ("costs of sets", "least cost, sets shown", "BANDITSUBMODPRFTL", "BANDITSUBMODPRFTL"),
    ("regression", "regression, p = 1.5", "streaming Frank–Wolfe", "streaming Frank–Wolfe"),
    (
        "sparse regression",
        "regression, p = 1",
        "streaming Frank–Wolfe, l₁",
        "streaming Frank–Wolfe l1",
    ),
    ("arms", "arms given contexts", "GLM bandit", "GLM bandit"),
    ("sites", "sites chosen once", "DPCG", "DPCG"),
    ("points", "points online", "Algorithm 4 (PFTAL copies)", "PFTAL copies"),
    ("sets", "sets online", "DPMFW", "DPMFW"),
)
AT_LEAST = {"streaming Frank–Wolfe"}
"""Algorithms whose ε in the report is a lower bound."""


def published() -> str:
    """Return the section of the source papers."""
    report = load("published")
    shares, epsilon = report["shares"], report["epsilon"]
    return blocks(
        "## The papers, run again (`benchmarks/published.py`)",
        prose(f"""
            `discreet reproduce all --quick` from an empty folder takes
            {report["quick_seconds"]:.0f} s on two cores. It runs {report["algorithms"]} algorithms,
            each as printed and with sound noise, and shows {len(report["errata_shown"])} errata by
            computation. Algorithm 1 in Table 3 of the streaming paper, in its authors' setting,
            with noise drawn by Lemma 3.2: SubOpt over what is printed (two seeds; `discreet
            reproduce sco-tables` has ten, beside the printed figures):
        """),
        table(
            ("case", "SubOpt over printed"),
            [(_case(name), fixed(ratio, 2)) for name, ratio in report["table3_ratio"].items()],
        ),
        prose(f"""
            Share of the value without privacy at ε = 1, δ = 10⁻⁶ (regression 1/T), mean of two
            seeds; "sound" has the noise that ε allows. 0 is the value of random slates or arms,
            or of the best of nothing, everything and random sets; for sites and online sets random
            choices have {fixed(shares["sites"]["random"], 2)} and
            {fixed(shares["sets"]["random"], 2)}. "Private as printed": the ε of the printed noise
            where 1 is stated.
        """),
        table(
            (
                "problem",
                "people",
                "algorithm",
                "as printed",
                "private as printed?",
                "sound",
                "discreet",
            ),
            [_row(shares[key], epsilon, *words) for key, *words in PROBLEMS],
        ),
        "Each algorithm, its verdict and the errata: `docs/papers/algorithms.md`.",
        source("published"),
    )


def _case(name: str) -> str:
    p, horizon, dimension = name.split("_")
    return f"p = {p[1:]}, T = {horizon[1:]}, d = {dimension[1:]}"


def _row(
    share: Mapping[str, float],
    epsilon: Mapping[str, Any],
    problem: str,
    algorithm: str,
    verdict: str | None,
) -> tuple[str, ...]:
    return (
        problem,
        counted(int(share["people"])),
        algorithm,
        fixed(share.get("printed"), 2),
        "–" if verdict is None else _verdict(verdict, epsilon[verdict]),
        fixed(share.get("sound"), 2),
        fixed(share["discreet"], 2),
    )


def _verdict(algorithm: str, epsilon: float) -> str:
    if epsilon <= 1:
        return "yes"
    return f"no, ε {'≥' if algorithm in AT_LEAST else '='} {epsilon:.2f}"
