"""What little traffic keeps: the share of value against the number of people and ε; δ = 10⁻⁶.

Each cell is the mean share over worlds that nothing was tuned on, with its standard deviation. The
jobs are those of `discreet plan`: small enough for a site or a team that begins.
"""

import sys
from collections.abc import Callable
from statistics import mean, stdev
from typing import Any, NamedTuple

from discreet import Privacy
from discreet.progress import bar, hidden, shown
from discreet.simulate.problems.contextual import Contextual
from discreet.simulate.problems.display import Display
from discreet.simulate.problems.problem import Problem
from discreet.simulate.problems.regression import Coefficients
from discreet.simulate.problems.selection import Selection
from report import write

DELTA = 1e-6
FIRST_SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 2600
SEEDS = range(FIRST_SEED, FIRST_SEED + 12)
PEOPLE = (1_000, 3_000, 10_000, 30_000, 100_000)
EPSILONS = (0.3, 1.0, 3.0)


class Job(NamedTuple):
    """A job, by the problem that it makes of a number of people and a budget."""

    words: str
    problem: Callable[[int, Privacy], Problem[Any, Any]]


JOBS = {
    "shop_20": Job(
        "3 of 20 items, from clicks",
        lambda people, privacy: Display(people, privacy, 20, 3, "clicks", "iid"),
    ),
    "shop_100": Job(
        "5 of 100 items, from clicks",
        lambda people, privacy: Display(people, privacy, 100, 5, "clicks", "iid"),
    ),
    "arms": Job(
        "3 arms, 5 features",
        lambda people, privacy: Contextual(people, privacy, 3, 5),
    ),
    "stream": Job(
        "a regression in a stream, 5 features",
        lambda people, privacy: Coefficients(people, privacy, 5),
    ),
    "fit": Job(
        "a regression once, 5 features",
        lambda people, privacy: Coefficients(people, privacy, 5, once=True),
    ),
    "sites": Job(
        "10 of 300 sites, once",
        lambda people, privacy: Selection(people, privacy, 300, 10, "city"),
    ),
}


def share(job: str, people: int, epsilon: float) -> dict[str, float]:
    """Return the mean share of a job over the worlds, with its standard deviation."""
    problem = JOBS[job].problem(people, Privacy(epsilon, DELTA))
    shares = [problem.share(seed) for seed in SEEDS]
    return {"mean": mean(shares), "standard_deviation": stdev(shares)}


def main() -> None:
    """Measure all cells; the report has one entry per job, ε and number of people."""
    cells = [(job, epsilon, people) for job in JOBS for epsilon in EPSILONS for people in PEOPLE]
    shares: dict[str, dict[str, dict[str, dict[str, float]]]] = {}
    with shown(), bar("cells", len(cells)) as report, hidden():
        for job, epsilon, people in cells:
            by_epsilon = shares.setdefault(job, {}).setdefault(f"{epsilon:g}", {})
            by_epsilon[str(people)] = share(job, people, epsilon)
            report(1)
    words = {name: job.words for name, job in JOBS.items()}
    write({"settings": {"first_seed": FIRST_SEED, "jobs": words}, "share": shares})


if __name__ == "__main__":
    main()
