"""`discreet reproduce`: the papers' tables, rates, values and errata, recomputed in one report."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from discreet import pictures, warm_up
from discreet.papers.reproduce.errata import tell_errata
from discreet.papers.reproduce.rates import tell_rates
from discreet.papers.reproduce.report import Ask, Experiment, print_chapter, write_report
from discreet.papers.reproduce.sco_tables import tell_sco_tables
from discreet.papers.reproduce.value import tell_value
from discreet.progress import shown
from discreet.tasks import ResultStore

__all__ = ["EXPERIMENTS", "reproduce"]

EXPERIMENTS: dict[str, Experiment] = {
    "sco-tables": tell_sco_tables,
    "rates": tell_rates,
    "value": tell_value,
    "errata": tell_errata,
}


def reproduce(
    names: Sequence[str],
    folder: Path,
    *,
    console: Console,
    quick: bool = False,
    seeds: int | None = None,
    workers: int = 2,
) -> dict[str, Any]:
    """Run experiments, write one report, and return the numbers of each experiment.

    Parameters
    ----------
    names
        Experiments to run, of `EXPERIMENTS`.
    folder
        Folder of the report. Runs that the folder already holds are not repeated.
    quick
        Whether fewer runs and fewer people suffice.
    seeds
        Number of runs per setting; by default what the experiment sets.
    """
    pictures.require_matplotlib()
    warm_up()
    began = time.perf_counter()
    ask = Ask(quick, seeds, ResultStore(folder / "done.jsonl"), workers)
    with shown(console):
        chapters = [EXPERIMENTS[name](ask) for name in names]
    for chapter in chapters:
        print_chapter(chapter, console)
    written = write_report(chapters, folder, "The papers, run again")
    seconds = time.perf_counter() - began
    listed = ", ".join(str(path) for path in written)
    console.print(f"Wrote {listed} in {seconds:.0f} s", soft_wrap=True)
    return {chapter.name: chapter.numbers for chapter in chapters} | {"seconds": seconds}
