"""Make the golden files of the present format: states of every mode, a choice, and a run's folder.

    python tests/golden/make.py

It writes them to format_<number>/ beside this script, with `expected.json`, which has what they
must be read as and the answers with which they go on. All of it is seeded: the same checkout writes
the same bytes. The files of a format are final once a version that writes it is tagged, and are
never made again: a change of the state then needs an upgrader (discreet/engine/formats.py), which
makes a new format, and this script adds the folder of that format. Until 0.7.0 is tagged, format 7
may change, and this command makes its files again.
"""

import json
import shutil
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from discreet import Privacy, RunningSum, SetMinimizer, SetSelector
from discreet.audit import Case
from discreet.audit.cases.learners import cases, keyed_cases, long_cases
from discreet.domains import UniformMatroid
from discreet.engine.formats import FORMATS
from discreet.functions import ClickModel, Nearby
from discreet.learners.base import Learner
from discreet.runs.run import run_log
from discreet.runs.status import status_of

GOLDEN = Path(__file__).parent
EXPECTED = "expected.json"
MORE = (
    "clicks",
    "clicks, report",
    "clicks, long labels",
    "rewards, report",
    "arms, report",
    "points, bound, pure",
    "single costs, report",
    "streaming, columns",
    "streaming, corners",
    "streaming, passes, classes",
    "keyed, sum, disjoint",
    "keyed, clicks",
    "keyed, arms",
    "keyed, streaming, passes",
    "long, clicks",
    "log, clicks",
)
"""Cases whose state has parts that the first case of their mode lacks."""
RUN_SETTINGS = """\
learner = "SetMaximizer"
epsilon = 1.0
delta = 1e-6
seed = 1
horizon = 60
items = ["tea", "milk", "soap"]
slots = 2
block = 10
"""
RUN_ROWS = 44
"""Number of rows of the log that the run of the golden folder has read; the log has 60."""


def _numbers(width: int) -> Any:
    return lambda generator: generator.uniform(size=width)


MADE_HERE = (
    Case(
        "sum, without horizon",
        lambda **more: RunningSum(2, None, Privacy(1.0, 1e-6), bound=1.0, **more),
        _numbers(2),
    ),
    Case(
        "costs, gradients",
        lambda **more: SetMinimizer(4, 12, Privacy(20.0, 1e-6), **more),
        _numbers(4),
    ),
)
"""Cases of states that no case of the contract has."""


def golden_cases() -> list[Case]:
    """Return the first case of each mode of each learner, and those that add to them."""
    chosen = {}
    modes = set()
    for case in [*cases(), *MADE_HERE, *keyed_cases(), *long_cases()]:
        learner = case.make(seed=1)
        mode = (type(learner), learner.facts["method"])
        if case.name in MORE or case in MADE_HERE or mode not in modes:
            modes.add(mode)
            chosen[case.name] = case
    return list(chosen.values())


class _Life:
    """A learner of a case, and the people of the case in order of time."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.learner = case.make(seed=1)
        self.people = case.people(case.horizon)
        self.contexts = case.contexts(case.horizon)

    def open(self, count: int) -> tuple[Any, dict[str, object]]:
        """Open some rounds; return their tickets, and the arguments with which they were opened."""
        first = self.learner.clock
        what: object = count
        if self.contexts is not None:
            what = self.contexts[first : first + count]
        persons = self.case.whose_rounds(first, count)
        return self.learner.open_many(what, **persons), {"what": _plain(what), **persons}

    def answers(self, tickets: Any) -> list[object]:
        """Return the answers of the people who come now."""
        first = self.learner.clock - len(tickets)
        people = self.people[first : self.learner.clock]
        return [
            self.case.answered(person, decision)
            for person, decision in zip(people, tickets.decisions, strict=True)
        ]

    def until_saved(self) -> None:
        """Live half of the rounds in whole blocks, half a block more, and open one round."""
        learner = self.learner
        if self.case.log is not None:
            chance = np.random.default_rng(1)
            read = [self.case.log.person(chance) for _ in range(self.case.log.people)]
            self.case.log.read(learner, read)
        half = self.case.horizon // 2
        while learner.clock + learner.rounds_until_release <= half:
            tickets, _ = self.open(learner.rounds_until_release)
            learner.close_many(tickets, self.answers(tickets))
            learner.release_if_due()
        tickets, _ = self.open((learner.rounds_until_release + 1) // 2)
        learner.close_many(tickets, self.answers(tickets))
        if learner.rounds_until_release:
            request = {} if self.contexts is None else {"context": self.contexts[learner.clock]}
            masks = self.case.masks(1)
            if masks is not None:
                request["available"] = masks[0]
            learner.open(**request, **self.case.whose(learner.clock))

    def after(self) -> Iterator[dict[str, object]]:
        """Go on to three rounds after the next release; yield the questions and answers."""
        learner = self.learner
        left = 3 + learner.rounds_until_release
        while left:
            learner.release_if_due()
            count = min(left, learner.rounds_until_release, self.case.horizon - learner.clock)
            if not count:
                break
            tickets, asked = self.open(count)
            answers = self.answers(tickets)
            assert learner.close_many(tickets, answers).all()
            yield asked | {"answers": _plain(answers)}
            left -= count
        learner.release_if_due()


def _plain(value: Any) -> Any:
    """Return people's answers as JSON has them."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    return value


def reading(learner: Learner) -> dict[str, object]:
    """Return what a learner must read as, whichever version of discreet wrote its file."""
    given = learner.guarantee
    return {
        "learner": type(learner).__name__,
        "mode": learner.facts["method"],
        "clock": learner.clock,
        "releases": learner.releases,
        "decision": _plain(learner.decision),
        "ledger": learner.snapshot().ledger.as_plain(),
        "guarantee": {
            "epsilon": given.epsilon,
            "delta": given.delta,
            "spent": given.epsilon_spent,
            "planned": given.planned,
            "simulated": given.simulated,
        },
    }


def chosen(settings: dict[str, Any], people: object, journal: Path) -> dict[str, Any]:
    """Return the choice of a selector with these plain settings."""
    of_file = SetSelector.settings_type.from_plain(settings)
    choice = SetSelector.from_settings(of_file, journal).fit(people)
    spent = choice.guarantee.epsilon_spent
    counts = None if choice.counts is None else choice.counts.tolist()
    plain = choice.as_plain()
    return {name: plain[name] for name in ("numbers", "people", "value", "trace")} | {
        "mode": choice.method,
        "counts": counts,
        "spent": spent,
    }


def _states(folder: Path) -> dict[str, object]:
    """Write one file per case; return what is expected of each."""
    expected: dict[str, object] = {}
    for case in golden_cases():
        life = _Life(case)
        life.until_saved()
        name = case.name.replace(", ", "-").replace(" ", "_") + ".state"
        life.learner.save(folder / name)
        content = (folder / name).read_bytes()
        expected[name] = reading(life.learner) | {"after": list(life.after())}
        life.learner.detach()
        (folder / name).write_bytes(content)  # as it was before the rest of the life
    return expected


def _choices(folder: Path) -> dict[str, object]:
    """Write one file per mode of `SetSelector`; return what is expected of each."""
    expected: dict[str, object] = {}
    sites = Nearby(((0.0, 0.0), (1.0, 0.0), (0.5, 1.0)), 0.8, ((0.0, 1.0), (0.0, 1.0)))
    for mode, function, width in (("histogram", sites, 2), ("sampled", ClickModel(), 3)):
        people = np.random.default_rng(1).uniform(size=(40, width)).tolist()
        selector = SetSelector(
            UniformMatroid(3, 2), Privacy(1.0, 1e-6), function=function, report=0.2, seed=1
        )
        settings = selector.settings.as_plain()
        name = f"choice-{mode}.state"
        choice = chosen(settings, people, folder / name)
        expected[name] = choice | {"settings": settings, "records": people}
    return expected


def _run(folder: Path) -> dict[str, object]:
    """Write the folder of a run over the first rows of a log; return what is expected of it."""
    chance = np.random.default_rng(1)
    rows = [",".join(f"{value:.2f}" for value in chance.uniform(size=3)) for _ in range(60)]
    folder.mkdir()
    (folder / "run.toml").write_text(RUN_SETTINGS)
    first = folder / "first.csv"
    for path, count in ((first, RUN_ROWS), (folder / "log.csv", len(rows))):
        path.write_text("\n".join(["tea,milk,soap", *rows[:count]]) + "\n")
    run_log(folder / "run.toml", first, folder / "out", Console(quiet=True))
    first.unlink()
    return {**status_of(folder / "out")}


def main() -> None:
    """Write all golden files of the present format."""
    folder = GOLDEN / f"format_{FORMATS.newest}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # small horizons have large deltas
        expected = {
            "states": _states(folder),
            "choices": _choices(folder),
            "run": _run(folder / "run"),
        }
    for lock in folder.rglob(".*.lock"):
        lock.unlink()
    text = json.dumps(expected, indent=None, sort_keys=True)
    (folder / EXPECTED).write_text(text.replace('}, "', '},\n"') + "\n")
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    sys.stdout.write(f"{folder.name}: {len(expected['states'])} states, {size:,} bytes\n")


if __name__ == "__main__":
    main()
