"""`discreet reproduce value`: shares of value as printed, with sound noise, and by discreet."""

from typing import TYPE_CHECKING

import numpy as np

from discreet import pictures
from discreet.papers.printed.catalogue import CATALOGUE
from discreet.papers.reproduce.report import Ask, Chapter, Grid, Part, Picture
from discreet.papers.reproduce.shares import PROBLEMS, Compared, Who, share
from discreet.tasks import repeat
from discreet.texts import percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D


FIRST_SEED = 900
EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)
FLOOR = -0.5
"""Smaller shares are drawn at this height."""
INTRODUCTION = """Shares of the value without privacy, δ = 10⁻⁶ (regression: 1/T). A share of 0 is
that of random slates or arms, of the best of nothing, everything and random sets, or of
coefficients of 0; for sites, points and online sets 0 is nothing at all, and the share of random
ones is shown. Regression counts 1 − SubOpt of the last coefficients, contexts 1 − regret over that
of uniform play. Every algorithm has its printed constants, untuned; “sound” has the noise, or the
rate, that ε and δ allow, and for GLM bandit and DPCG steps and clipping that suit that noise.
Worlds have seeds from 900 on; benchmarks and the choice of discreet's defaults use others."""
HALF = 0.5
LOOKS: dict[Who, tuple[str, str, str]] = {
    "printed": ("as printed", pictures.RED, "s-"),
    "sound": ("as printed, with sound noise", pictures.GOLD, "^-"),
    "discreet": ("discreet", pictures.BLUE, "o-"),
    "random": ("random decisions", pictures.BLACK, ":"),
}
"""Name, colour and style of each method's line."""
Shares = dict[tuple[str, Who, int, float], float]
"""Mean shares over seeds, by problem, algorithm, people and ε."""


def tell_value(ask: Ask) -> Chapter:
    """Measure shares against ε at one number of people, and against people at ε = 1."""
    seeds = ask.runs(usual=5, quick=2)
    shares = _measured(ask, seeds)
    parts: list[Part] = [
        INTRODUCTION.replace("\n", " "),
        _against_epsilon(shares, ask),
        _against_people(shares, ask),
        _verdicts(),
        Picture(
            "value",
            _draw(shares, ask),
            f"Share of value against ε, means over {seeds} seeds; shares below {FLOOR} are drawn "
            "there.",
        ),
    ]
    numbers = {
        name: [
            {"who": who, "people": people, "epsilon": epsilon, "share": mean}
            for (problem, who, people, epsilon), mean in shares.items()
            if problem == name and (who != "random" or epsilon == 1)
        ]
        for name in PROBLEMS
    }
    return Chapter("value", "What privacy leaves: printed constants and ours", parts, numbers)


def _measured(ask: Ask, seeds: int) -> Shares:
    settings = [
        (name, who, people, epsilon)
        for name, problem in PROBLEMS.items()
        for who in problem.who
        for people, epsilon in _sizes(problem, who, ask)
    ]
    tasks = [
        (*setting, seed) for setting in settings for seed in range(FIRST_SEED, FIRST_SEED + seeds)
    ]
    runs = repeat(share, tasks, label="value", workers=ask.workers, store=ask.store)
    means = np.reshape(runs, (len(settings), seeds)).mean(axis=1)
    shares: Shares = dict(zip(settings, means.tolist(), strict=True))
    for name, who, people, epsilon in settings:
        if who == "random":  # the same for every ε
            mean = shares[name, who, people, epsilon]
            shares |= {(name, who, people, other): mean for other in EPSILONS}
    return shares


def _people(problem: Compared, ask: Ask) -> tuple[int, int, int]:
    return problem.quick if ask.quick else problem.horizons


def _sizes(problem: Compared, who: Who, ask: Ask) -> list[tuple[int, float]]:
    """Return pairs (people, ε): all ε for the middle number of people, ε = 1 for the others."""
    few, middle, many = _people(problem, ask)
    if who == "random":
        return [(few, 1.0), (middle, 1.0), (many, 1.0)]
    return [(few, 1.0), *((middle, epsilon) for epsilon in EPSILONS), (many, 1.0)]


def _against_epsilon(shares: Shares, ask: Ask) -> Grid:
    rows = []
    for name, problem in PROBLEMS.items():
        people = _people(problem, ask)[1]
        for who in problem.who:
            cells = [_cell(shares[name, who, people, epsilon]) for epsilon in EPSILONS]
            rows.append([problem.title, _label(problem, who), f"{people:,}", *cells])
    headings = ["problem", "algorithm", "people", *(f"ε = {epsilon:g}" for epsilon in EPSILONS)]
    return Grid("Share of value against ε", headings, rows)


def _against_people(shares: Shares, ask: Ask) -> Grid:
    rows = []
    for name, problem in PROBLEMS.items():
        numbers = _people(problem, ask)
        for who in problem.who:
            cells = [f"{_cell(shares[name, who, people, 1.0])} of {people:,}" for people in numbers]
            rows.append([problem.title, _label(problem, who), *cells])
    headings = ["problem", "algorithm", "few people", "more", "many"]
    return Grid("Share of value at ε = 1", headings, rows)


def _label(problem: Compared, who: Who) -> str:
    if who == "printed":
        return f"{problem.printed}, {LOOKS[who][0]}"
    return {"sound": "– with sound noise"}.get(who, LOOKS[who][0])


def _cell(share: float) -> str:
    return "below −10" if share < -10 else f"{share:.2f}".replace("-", "−")


def _verdicts() -> str:
    """Return a sentence that names the algorithms that are not private as printed."""
    printed = [problem.printed for problem in PROBLEMS.values() if problem.printed is not None]
    broken = [name for name in printed if not CATALOGUE[name].verdict.private]
    whole = [name for name in printed if CATALOGUE[name].verdict.private]
    given = ", ".join(f"{name} ({CATALOGUE[name].verdict.given} for 1)" for name in broken)
    return (
        "As printed, these give a larger ε than is claimed, so their shares belong to that ε: "
        f"{given}. Private as printed, and noisier than ε needs: {', '.join(whole)}."
    )


def _point(shares: Shares, ask: Ask) -> str:
    """Return the point of the picture as a sentence with its numbers."""
    at_one: dict[Who, list[float]] = {
        who: [
            shares[name, who, _people(problem, ask)[1], 1.0]
            for name, problem in PROBLEMS.items()
            if who in problem.who
        ]
        for who in LOOKS
    }
    ours = at_one["discreet"]
    sound = at_one["sound"]
    return (
        f"At ε = 1, discreet keeps {percent(min(ours), 0)} to {percent(max(ours), 0)} of the "
        f"value; with sound noise, {sum(share < HALF for share in sound)} of {len(sound)} printed "
        f"algorithms keep less than {percent(HALF, 0)}"
    )


def _draw(shares: Shares, ask: Ask) -> "Figure":
    """Draw one panel per problem."""
    figure, panels = pictures.panel_grid(len(PROBLEMS), columns=4, size=3.1)
    lines: dict[str, Line2D] = {}
    for number, (axes, (name, problem)) in enumerate(zip(panels, PROBLEMS.items(), strict=True)):
        people = _people(problem, ask)[1]
        for who in problem.who:
            label, colour, style = LOOKS[who]
            heights = [max(FLOOR, shares[name, who, people, epsilon]) for epsilon in EPSILONS]
            (lines[label],) = axes.plot(
                EPSILONS, heights, style, color=colour, markersize=4, clip_on=False
            )
        for level in (0.0, 1.0):
            axes.axhline(level, color="#dddddd", linewidth=0.8, zorder=0)
        axes.set(xscale="log", ylim=(FLOOR, 1.05), yticks=(FLOOR, 0.0, 0.5, 1.0))
        pictures.count_percent(axes)
        axes.set_xticks(EPSILONS, [f"{epsilon:g}" for epsilon in EPSILONS])
        axes.minorticks_off()
        axes.set_ylabel("" if number % 4 else "share of the value")
        axes.set_xlabel("ε (smaller: stricter)" if number >= len(PROBLEMS) - 4 else "")
        beside = "nothing printed" if problem.printed is None else problem.printed
        note = f"{people:,} people, {beside}"
        pictures.state_point(axes, problem.title, note, size=pictures.NAME_SIZE)
        pictures.open_frame(axes)
    pictures.state_point_of_all(figure, _point(shares, ask))
    pictures.add_common_legend(figure, lines, columns=len(lines))
    return figure
