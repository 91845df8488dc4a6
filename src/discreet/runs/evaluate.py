"""`discreet evaluate`: what a slate would have earned, from a log of what others were shown, by one
release.

The log has a row a person with `slate` (the items that were shown, in order) and `click` (the item,
empty for none) or `reward` (a number from 0 to 1), and the chance with which that was shown, or
slates were drawn uniformly. A row whose slate agrees with the policy's counts with one over that
chance, at most `clip`:

    click     min(1/p, clip) if the clicked item stands where the policy puts it       p of that item there
    reward    min(1/p, clip) · reward if the slate is the policy's                     p of the whole slate

and the mean over all rows is published with noise, once. Whatever a row has in place of a slate, an
answer or a chance counts as zero; what is refused is refused from the settings, the names of
columns and their types.

Guarantee   docs/guarantees/evaluation.md, Theorems 1 (privacy) and 2 (what it estimates)
References  Horvitz, Thompson (1952); Ionides (2008), "Truncated Importance Sampling";
            Li et al. (2018), "Offline Evaluation of Ranking Policies with Click Models"
"""

from dataclasses import dataclass
from math import perm, sqrt
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from discreet import require
from discreet.arrays import Floats
from discreet.budget.guarantee import Guarantee
from discreet.budget.privacy import Privacy
from discreet.budget.together import together
from discreet.errors import ConfigError
from discreet.learners.running_sum import RunningSum
from discreet.records.log_cells import UNIFORM, item_text, names_in, numbers_in, weight_of
from discreet.records.table import LogTable, read_log
from discreet.runs.files import read_toml
from discreet.runs.status import CommittedRun

USUAL_CLIP = 10.0
ANSWERS = ("click", "reward")


@dataclass(frozen=True)
class Policy:
    """A slate that is to be valued, and how many items it was chosen from, where that is known."""

    slate: tuple[str, ...]
    items: int | None = None
    guarantee: Guarantee | None = None
    """Of the run that learned it."""

    def uniform_weight(self, answer: str) -> float:
        """One over the chance that a slate drawn uniformly agrees: at one place, or as a whole."""
        if self.items is None:
            raise ConfigError(
                "uniform slates need to know of how many items: say `items` beside the slate"
            )
        return float(self.items if answer == "click" else perm(self.items, len(self.slate)))


def policy_from(path: Path) -> Policy:
    """The newest slate of a run, from its folder; or `slate` (and `items`) of a TOML file."""
    if path.is_dir():
        return _policy_of_run(path)
    plain = read_toml(path)
    slate, items = plain.pop("slate", None), plain.pop("items", None)
    if plain:
        raise ConfigError(f"{path}: a policy has `slate` and `items`, not {', '.join(plain)}")
    if (
        not isinstance(slate, list)
        or not slate
        or not all(type(item) in (str, int) for item in slate)
    ):
        raise ConfigError(f"{path}: slate must be a list of items, got {require.shown(slate)}")
    return _checked(path, [item_text(item) for item in slate], items)


def _policy_of_run(folder: Path) -> Policy:
    snapshot = CommittedRun(folder)
    decision = snapshot.decision
    if "slate" not in decision:
        raise ConfigError(
            f"the run in {folder} decides {', '.join(decision)}: only slates can be evaluated"
        )
    view = snapshot.learning
    active = view.problem.active_names(view.public.catalogue)
    policy = _checked(folder, [item_text(item) for item in decision["slate"]], active)
    return Policy(policy.slate, policy.items, snapshot.guarantee)


def _checked(path: Path, slate: list[str], items: Any) -> Policy:
    if len(set(slate)) != len(slate):
        raise ConfigError(f"{path}: slate must have different items, got {', '.join(slate)}")
    if isinstance(items, list):
        names = [item_text(item) for item in items]
        strange = [item for item in slate if item not in names]
        if strange:
            raise ConfigError(f"{path}: slate has {', '.join(strange)}, which items does not name")
        items = len(names)
    elif items is not None:
        items = require.whole("items", items, len(slate))
    return Policy(tuple(slate), items)


def evaluate_log(
    policy: Policy,
    data: Path,
    privacy: Privacy,
    *,
    propensity: str,
    clip: float | None = None,
    seed: int | None = None,
) -> dict[str, Any]:
    """The clipped mean with noise, how far off it may be, and the guarantee; one release of all
    rows.
    """
    log = read_log(data)
    answer = _answer_of(log, propensity)
    bound = _clip_of(policy, answer, propensity, clip)
    rows = require.whole("the number of rows", len(log))
    values = weighted(policy, log, answer, propensity)
    total = RunningSum(1, rows, privacy, bound=bound, nonnegative=True, block=rows, seed=seed)
    total.observe_many(values.reshape(-1, 1))
    total.release_if_due()
    mean, noise = float(total.total[0]) / rows, total.standard_deviation / rows
    found = {
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
        found["together_with_the_run"] = {
            "epsilon": both.epsilon,
            "delta": both.delta,
            "guarantee": str(both),
        }
    return found


def _sampling(mean: float, bound: float, rows: int) -> float:
    """The most that the mean of numbers in [0, bound] with this expectation can vary from log to
    log.
    """
    return sqrt(max(mean, 0.0) * (bound - max(mean, 0.0)) / rows)


def _answer_of(log: LogTable, propensity: str) -> str:
    """Which column has the answers."""
    header = log.columns
    there = [name for name in ANSWERS if name in header]
    if len(there) != 1:
        has = "both" if there else "neither"
        raise ConfigError(f"the log must have a column click or a column reward, and has {has}")
    needed = ["slate", *([] if propensity == UNIFORM else [propensity])]
    missing = [name for name in needed if name not in header]
    if missing:
        raise ConfigError(f"the log lacks the columns {', '.join(missing)}")
    return there[0]


def _clip_of(policy: Policy, answer: str, propensity: str, clip: float | None) -> float:
    """The largest weight a row may have; for uniform slates there is only one weight, and it is
    public.
    """
    if propensity != UNIFORM:
        return require.number("clip", USUAL_CLIP if clip is None else clip, 1.0, 1e9)
    weight = policy.uniform_weight(answer)
    bound = require.number("clip", weight if clip is None else clip, 1.0, 1e9)
    if bound < weight:
        raise ConfigError(
            f"clip = {bound:g} is below {weight:g}, the weight of every row that agrees: "
            "leave it out, or say at least that"
        )
    return weight


# --- people: what one row adds


def weighted(policy: Policy, log: LogTable, answer: str, propensity: str) -> Floats:
    """What each row adds before it is clipped: its answer over the chance of what was shown, or
    0.
    """
    slates = log.texts("slate")
    if propensity == UNIFORM:
        chances: list[list[float]] = [[1 / policy.uniform_weight(answer)]] * len(log)
    else:
        chances = [numbers_in(text) for text in log.texts(propensity)]
    if answer == "reward":
        rewards = np.nan_to_num(np.clip(log.numbers(["reward"])[:, 0], 0.0, 1.0))
        whole = [names_in(text) == list(policy.slate) for text in slates]
        weights = [
            weight_of(chance, None) if same else 0.0
            for same, chance in zip(whole, chances, strict=True)
        ]
        return np.asarray(rewards * np.array(weights), dtype=np.float64)
    places = {item: place for place, item in enumerate(policy.slate)}
    clicked = [
        places.get("" if value is None else item_text(value)) for value in log.values("click")
    ]
    return np.array(
        [
            weight_of(chance, place) if place is not None and _stands(text, place, policy) else 0.0
            for text, place, chance in zip(slates, clicked, chances, strict=True)
        ]
    )


def _stands(text: str, place: int, policy: Policy) -> bool:
    """Whether the slate in this text has the policy's item at this place."""
    names = names_in(text)
    return len(names) > place and names[place] == policy.slate[place]


def show_evaluation(found: dict[str, Any], console: Console) -> None:
    """The same as a table."""
    table = Table(show_header=False, title=f"What {', '.join(found['slate'])} would have earned")
    what = "clicks a person" if found["answer"] == "click" else "reward a person"
    table.add_row(what, f"{found['estimate']:.4g}")
    table.add_row("  noise", f"± {found['noise_standard_deviation']:.2g}")
    table.add_row("  sampling, at most about", f"± {found['sampling_standard_deviation']:.2g}")
    table.add_row("rows of the log", f"{found['rows']:,}")
    table.add_row("a row weighs at most", f"{found['clip']:g}")
    console.print(table)
    console.print(found["guarantee"], soft_wrap=True)
    if "together_with_the_run" in found:
        console.print("If the same people are in the run and in the log:")
        console.print(found["together_with_the_run"]["guarantee"], soft_wrap=True)
    console.print("Every evaluation spends its own epsilon: for the same people they add up.")
