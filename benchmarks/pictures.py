"""Write the pictures of README.md and of the site from the reports in results/.

    python benchmarks/pictures.py

`make results` runs it. Every number is read from a report, or follows from a definition.
"""

from collections.abc import Callable, Mapping
from math import exp, nan
from pathlib import Path

import numpy as np

from discreet.svg import Axis, Groups, Level, Line, curves, groups
from discreet.texts import percent
from pages.text import load

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "pictures"
WIDTH = 800
PROBLEMS = {
    "slates": "items to show, all tastes seen",
    "clicks": "items to show, clicks seen",
    "rewards": "items to show, one reward seen",
    "costs": "cheapest set, all costs seen",
    "costs of sets": "cheapest set, its cost seen",
    "regression": "linear model",
    "sparse regression": "sparse linear model",
    "arms": "an arm per person",
    "sites": "ten sites, chosen once",
    "points": "sets online, as points",
    "sets": "sets online, under quotas",
}
"""Names of the problems of published.json, in the order of the picture."""
DATA = {
    "breast_cancer": "tumours",
    "phishing": "phishing sites",
    "digits": "digits, 10 kinds",
    "digits_5_or_more": "digits, 2 kinds",
    "wine": "wines",
}
"""Names of the data of real.json."""
SMALL = 0.1
EPSILONS = np.geomspace(0.01, 10, 61)


def value() -> str:
    """Return the picture of the value that discreet and the printed algorithms keep."""
    shares = load("published")["shares"]
    ours = [above_random(shares[name], "discreet") for name in PROBLEMS]
    printed = [above_random(shares[name], "sound") for name in PROBLEMS]
    known = [share for share in printed if not np.isnan(share)]
    small = sum(share < SMALL for share in known)
    return groups(
        Groups(
            list(PROBLEMS.values()),
            {"discreet": ours, "printed, with private noise": printed},
        ),
        title=f"At ε = 1, discreet keeps {percent(min(ours), 0)} to {percent(max(ours), 0)} of the "
        f"value, {small} of {len(known)} printed algorithms less than {percent(SMALL, 0)}",
        note="Printed: the constants of the papers. Below 0 %: worse than random or trivial "
        "decisions. Two simulated worlds each",
        axis=Axis(
            "value kept: 0 % is random or trivial decisions, 100 % is without privacy",
            percent=True,
            within=(0.0, 1.0),
        ),
        width=WIDTH,
    )


def above_random(shares: Mapping[str, float], who: str) -> float:
    """Return a share of the value beyond random decisions; NaN where there is none.

    >>> above_random({"people": 1000, "discreet": 0.75, "random": 0.5}, "discreet")
    0.5
    """
    random = shares.get("random", 0.0)
    return (shares[who] - random) / (1 - random) if who in shares else nan


def real_data() -> str:
    """Return the picture of the accuracy on real data, beside diffprivlib."""
    accuracy = load("real")["accuracy"]
    series = {
        "discreet, ε = 1": ("discreet", "epsilon_1"),
        "diffprivlib, ε = 1": ("diffprivlib", "epsilon_1"),
        "without privacy": ("discreet", "non_private"),
    }
    found = {
        label: [accuracy[name][who][at] for name in DATA] for label, (who, at) in series.items()
    }
    ours, theirs, plain = (float(np.mean(numbers)) for numbers in found.values())
    return groups(
        Groups(list(DATA.values()), found),
        title=f"On real data at ε = 1, discreet is right in {percent(ours, 0)} of cases, "
        f"diffprivlib in {percent(theirs, 0)}",
        note=f"Without privacy: {percent(plain, 0)}. Means; δ = 10⁻⁵ for discreet; diffprivlib has "
        "the best setting in hindsight",
        axis=Axis("test rows classified right", percent=True, within=(0.0, 1.0)),
        width=WIDTH,
    )


def attacker() -> str:
    """Return the picture of how often the best attacker is right, by ε."""
    right = [_right(float(epsilon)) for epsilon in EPSILONS]
    return curves(
        [Line(EPSILONS.tolist(), right), Level(0.5, "a guess")],
        title=f"At ε = 1 the best attacker is right in {percent(_right(1.0), 0)} of cases, at "
        f"ε = 0.1 in {percent(_right(0.1), 0)}, at ε = 3 in {percent(_right(3.0), 0)}",
        note="The attacker knows everybody else, sees all decisions, and tells which of two people "
        "took part",
        x=Axis("ε, the privacy budget (δ = 0; logarithmic axis)", logarithmic=True),
        y=Axis("cases in which the attacker is right", percent=True, within=(0.4, 1.0)),
        width=WIDTH,
    )


def _right(epsilon: float) -> float:
    """Return how often the best attacker is right about one of two people, both as likely.

    >>> _right(0.0)
    0.5
    """
    return 1 / (1 + exp(-epsilon))


PICTURES: Mapping[str, Callable[[], str]] = {
    "value": value,
    "real_data": real_data,
    "attacker": attacker,
}


def main() -> None:
    """Write all pictures."""
    FOLDER.mkdir(exist_ok=True)
    for name, drawn in PICTURES.items():
        (FOLDER / f"{name}.svg").write_text(drawn() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
