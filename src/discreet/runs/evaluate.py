"""`discreet evaluate`: one release of what a slate would have earned, from another policy's log.

The log has one row per person: `slate` (the shown items, in order), `click` (the clicked item,
empty for none) or `reward` (a number from 0 to 1), and the propensity p of what was shown, unless
slates were drawn uniformly. A row that agrees with the policy is weighted by 1/p, clipped to
`clip`; all other rows count as zero:

    click     min(1/p, clip)           if the clicked item is at the policy's position for it;
                                       p: propensity of that item at that position
    reward    min(1/p, clip) · reward  if the slate is the policy's;
                                       p: propensity of the whole slate

The mean over all rows is released with noise, once. A malformed slate, answer or propensity counts
as zero; a log is refused only for the names and the types of its columns. A log with one row per
position or per event is read as one row per slate (`layout`).

Guarantee   docs/guarantees/evaluation.md, Theorems 1 (privacy) and 2 (what it estimates)
References  Horvitz, Thompson (1952); Ionides (2008), "Truncated Importance Sampling";
            Li et al. (2018), "Offline Evaluation of Ranking Policies with Click Models"
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import perm, sqrt
from pathlib import Path
from typing import Any, NotRequired, Required, TypedDict

import numpy as np
from rich.console import Console
from rich.table import Table

from discreet import require
from discreet.arrays import Floats
from discreet.budget.guarantee import Guarantee
from discreet.budget.privacy import Privacy
from discreet.budget.together import together
from discreet.engine.labels import Label
from discreet.errors import ConfigError
from discreet.learners.running_sum import RunningSum
from discreet.progress import bar
from discreet.records.log_cells import UNIFORM, item_text, names_in, numbers_in, weight_of
from discreet.records.sources import Source
from discreet.records.table import LogTable
from discreet.runs.files import read_toml
from discreet.runs.log_settings import LogSettings
from discreet.runs.status import CommittedRun

USUAL_CLIP = 10.0
"""Largest weight of a row, unless one is given."""
ANSWERS = ("click", "reward")
"""Columns of which a log has one."""


class Together(TypedDict):
    """The guarantee of an evaluation together with the run that learned the slate."""

    epsilon: float
    delta: float
    guarantee: str


class Evaluation(TypedDict):
    """The result of an evaluation, as `discreet evaluate --json` prints it."""

    slate: list[str]
    answer: str
    rows: int
    clip: float
    estimate: float
    noise_standard_deviation: float
    sampling_standard_deviation: float
    sampling_standard_deviation_at_most: float
    epsilon: float
    delta: float
    guarantee: str
    together_with_the_run: NotRequired[Together]


class PolicyKeys(TypedDict, total=False):
    """The TOML of a slate whose value is estimated: `discreet evaluate slate.toml`.

    Parameters
    ----------
    slate
        The items that the slate shows, in order: names or numbers.
    items
        The number of items from which slates are chosen, or their names; needed with
        `--propensity uniform`.
    """

    slate: Required[Sequence[Label]]
    items: int | Sequence[Label]


@dataclass(frozen=True)
class Policy:
    """A slate that is to be evaluated.

    Parameters
    ----------
    slate
        The items, in order.
    items
        The number of items from which slates are chosen, where it is known.
    guarantee
        The guarantee of the run that learned the slate.

    Examples
    --------
    >>> Policy(("tea", "milk"), items=10).uniform_weight("click")
    10.0
    """

    slate: tuple[str, ...]
    items: int | None = None
    guarantee: Guarantee | None = None

    def uniform_weight(self, answer: str) -> float:
        """Return 1/p of a uniform slate: p that one position agrees, or that the slate does."""
        if self.items is None:
            raise ConfigError(
                "uniform slates need the number of items: give `items` beside the slate"
            )
        return float(self.items if answer == "click" else perm(self.items, len(self.slate)))


def policy_from(path: Path) -> Policy:
    """Return the newest slate of a run, from its folder; or the `slate` of a TOML file.

    Parameters
    ----------
    path
        The folder of a run, or a TOML file with `slate` and, if slates were drawn uniformly,
        `items` (their number or their names).

    Raises
    ------
    ConfigError
        If the run decides no slates, or the file has no valid slate.
    """
    if path.is_dir():
        return _policy_of_run(path)
    plain = read_toml(path)
    try:
        require.known_keys(plain, PolicyKeys.__annotations__)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None
    slate: Any = plain.get("slate")
    items: object = plain.get("items")
    if not _is_slate(slate):
        raise ConfigError(f"{path}: slate must be a list of items, got {require.shown(slate)}")
    return _checked(path, [item_text(item) for item in slate], items)


def _is_slate(value: object) -> bool:
    """Return whether a value is a list of texts or whole numbers that is not empty."""
    if not isinstance(value, list) or not value:
        return False
    return all(type(item) in (str, int) for item in value)


def _policy_of_run(folder: Path) -> Policy:
    run = CommittedRun(folder)
    decision = run.decision
    if "slate" not in decision:
        raise ConfigError(
            f"the run in {folder} decides {', '.join(decision)}: only slates can be evaluated"
        )
    view = run.view
    active = view.phase.mode.active_names(view.public.catalogue)
    policy = _checked(folder, [item_text(item) for item in decision["slate"]], active)
    return Policy(policy.slate, policy.items, run.guarantee)


def _checked(path: Path, slate: list[str], items: object) -> Policy:
    if len(set(slate)) != len(slate):
        raise ConfigError(f"{path}: slate must have different items, got {', '.join(slate)}")
    if isinstance(items, list):
        names = [item_text(item) for item in items]
        unknown = [item for item in slate if item not in names]
        if unknown:
            raise ConfigError(f"{path}: slate has {', '.join(unknown)}, which items does not name")
        return Policy(tuple(slate), len(names))
    if items is None:
        return Policy(tuple(slate))
    return Policy(tuple(slate), require.whole("items", items, len(slate)))


def evaluate_log(
    policy: Policy,
    data: Path,
    privacy: Privacy,
    *,
    propensity: str,
    clip: float | None = None,
    log: LogSettings | None = None,
    answer: str | None = None,
    seed: int | None = None,
) -> Evaluation:
    """Release the clipped mean over the rows of a log, with its errors and its guarantee.

    Parameters
    ----------
    policy
        The slate to evaluate.
    data
        The log: a file, a folder of files, or a glob.
    privacy
        The budget of this release, and the largest number of rows per person.
    propensity
        The column with the propensities, or "uniform".
    clip
        The largest weight of a row; None: 10, or the weight that uniform slates have.
    log
        The names of the log's columns, and its layout; None: one row per slate.
    answer
        "click" or "reward"; None: the one of which the log has a column.
    seed
        Makes the release repeatable, and a simulation.

    Returns
    -------
    The estimate, the standard deviations of its noise and of its sampling, and the guarantee; for
    the slate of a run, the guarantee of both releases together too.

    Raises
    ------
    ConfigError
        If columns are missing, `clip` is too small for uniform slates, or a reward has the
        propensities of positions only.

    Guarantee   docs/guarantees/evaluation.md, Theorems 1 and 2
    """
    reading = log or LogSettings()
    column = None if propensity == UNIFORM else propensity
    slates = reading.opened(data, slots=len(policy.slate), propensity=column)
    answer = _answer_of(slates, propensity, answer)
    if answer == "reward" and column and reading.has_propensity_per_place and len(policy.slate) > 1:
        raise ConfigError(
            f"column {column} has a propensity per position, and a reward needs that of the slate: "
            "evaluate clicks, or a log with one row per slate"
        )
    bound = _clip_of(policy, answer, propensity, clip)
    names = ["slate", answer, *([] if propensity == UNIFORM else [propensity])]
    batches = [np.empty(0)]
    with bar("rows", slates.count()) as report:
        for rows_read in slates.batches(names):
            batches.append(weighted(policy, rows_read, answer, propensity))
            report(len(rows_read))
    values = np.concatenate(batches)
    rows = len(values)
    if not rows:
        raise ConfigError(f"{slates.name} has no rows: an evaluation needs some")
    total = RunningSum(1, rows, privacy, bound=bound, nonnegative=True, block=rows, seed=seed)
    total.observe_many(values.reshape(-1, 1))
    total.release_if_due()
    mean = float(total.total[0]) / rows
    noise = total.standard_deviation / rows
    evaluation: Evaluation = {
        "slate": list(policy.slate),
        "answer": answer,
        "rows": rows,
        "clip": bound,
        "estimate": mean,
        "noise_standard_deviation": noise,
        "sampling_standard_deviation": _sampling(min(mean + 2 * noise, bound / 2), bound, rows),
        "sampling_standard_deviation_at_most": _sampling(bound / 2, bound, rows),
        "epsilon": privacy.epsilon,
        "delta": privacy.delta,
        "guarantee": str(total.guarantee),
    }
    if policy.guarantee is not None:
        both = together(policy.guarantee, total)
        evaluation["together_with_the_run"] = {
            "epsilon": both.epsilon,
            "delta": both.delta,
            "guarantee": str(both),
        }
    return evaluation


def _sampling(mean: float, bound: float, rows: int) -> float:
    """Return the largest standard deviation of a mean of numbers in [0, bound].

    √(m · (bound − m) / rows)        m: their expectation
    """
    expectation = max(mean, 0.0)
    return sqrt(expectation * (bound - expectation) / rows)


def _answer_of(log: Source, propensity: str, answer: str | None) -> str:
    """Return the name of the column with the answers; refuse a log that lacks columns."""
    header = log.columns
    if answer is not None:
        require.one_of("answer", answer, ANSWERS)
    answers = [name for name in ANSWERS if name in header and answer in (None, name)]
    if len(answers) != 1:
        has = "may have both: choose with --answer" if answers else "has neither"
        raise ConfigError(f"the log must have a column click or a column reward, and {has}")
    needed = ["slate", *([] if propensity == UNIFORM else [propensity])]
    missing = [name for name in needed if name not in header]
    if missing:
        raise ConfigError(
            f"the log lacks the columns {', '.join(missing)}; --log names other columns and layouts"
        )
    return answers[0]


def _clip_of(policy: Policy, answer: str, propensity: str, clip: float | None) -> float:
    """Return the largest weight of a row; uniform slates have one weight, which is public."""
    if propensity != UNIFORM:
        return require.number("clip", USUAL_CLIP if clip is None else clip, 1.0, 1e9)
    weight = policy.uniform_weight(answer)
    bound = require.number("clip", weight if clip is None else clip, 1.0, 1e9)
    if bound < weight:
        raise ConfigError(
            f"clip = {bound:g} is below {weight:g}, the weight of every row that agrees: "
            "leave it out, or give at least that"
        )
    return weight


# --- people: what one row adds --------------------------------------------------------------------


def weighted(policy: Policy, log: LogTable, answer: str, propensity: str) -> Floats:
    """Return what each row adds before it is clipped: its weighted answer, or 0."""
    if propensity == UNIFORM:
        propensities: list[list[float]] = [[1 / policy.uniform_weight(answer)]] * len(log)
    else:
        propensities = [numbers_in(text) for text in log.texts(propensity)]
    if answer == "reward":
        return _weighted_rewards(policy, log, propensities)
    return _weighted_clicks(policy, log, propensities)


def _weighted_rewards(policy: Policy, log: LogTable, propensities: list[list[float]]) -> Floats:
    """Return reward / p for rows with the policy's slate, and 0 for others."""
    rewards = np.nan_to_num(np.clip(log.numbers(["reward"])[:, 0], 0.0, 1.0))
    slate = list(policy.slate)
    weights = [
        weight_of(chances, None) if names_in(text) == slate else 0.0
        for text, chances in zip(log.texts("slate"), propensities, strict=True)
    ]
    return np.asarray(rewards * np.array(weights), dtype=np.float64)


def _weighted_clicks(policy: Policy, log: LogTable, propensities: list[list[float]]) -> Floats:
    """Return 1/p for rows whose click is on an item at the policy's position, and 0 for others."""
    positions = {item: position for position, item in enumerate(policy.slate)}
    clicked = [
        positions.get("" if value is None else item_text(value)) for value in log.values("click")
    ]
    weights = [
        weight_of(chances, position)
        if position is not None and _agrees(text, position, policy)
        else 0.0
        for text, position, chances in zip(log.texts("slate"), clicked, propensities, strict=True)
    ]
    return np.array(weights)


def _agrees(text: str, position: int, policy: Policy) -> bool:
    """Return whether the slate in this text has the policy's item at this position."""
    names = names_in(text)
    return len(names) > position and names[position] == policy.slate[position]


def show_evaluation(evaluation: Evaluation, console: Console) -> None:
    """Print an evaluation as a table, with its guarantees."""
    slate = ", ".join(evaluation["slate"])
    table = Table(show_header=False, title=f"What {slate} would have earned")
    what = "clicks per person" if evaluation["answer"] == "click" else "reward per person"
    table.add_row(what, f"{evaluation['estimate']:.4g}")
    table.add_row("  noise", f"± {evaluation['noise_standard_deviation']:.2g}")
    sampling = evaluation["sampling_standard_deviation"]
    table.add_row("  sampling, at most about", f"± {sampling:.2g}")
    table.add_row("rows of the log", f"{evaluation['rows']:,}")
    table.add_row("largest weight of a row", f"{evaluation['clip']:g}")
    console.print(table)
    console.print(evaluation["guarantee"], soft_wrap=True)
    if "together_with_the_run" in evaluation:
        console.print("If the same people are in the run and in the log:")
        console.print(evaluation["together_with_the_run"]["guarantee"], soft_wrap=True)
    console.print("Every evaluation spends its own epsilon: for the same people they add up.")
