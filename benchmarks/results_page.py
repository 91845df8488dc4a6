"""Write benchmarks/RESULTS.md and the figures of README.md and docs/ from the reports in results/.

    python benchmarks/results_page.py

`make results` runs it. Every figure on the page is read from a report; the text is in pages/.
"""

from pathlib import Path

from pages import (
    arms,
    costs,
    display,
    frame,
    front,
    noise,
    peers,
    printed,
    quick,
    regression,
    sets_once,
    tables,
    traffic,
    ways,
)
from pages.text import RESULTS, blocks, joined, load, prose

PAGE = Path(__file__).resolve().parent / "RESULTS.md"
SECTIONS = (
    peers.peers,
    quick.quick,
    display.display,
    display.movielens,
    display.warm,
    display.returning,
    costs.minimize,
    regression.streaming,
    regression.real,
    tables.tables,
    arms.contextual,
    sets_once.selection,
    sets_once.pickups,
    traffic.traffic,
    noise.sampler,
    noise.sums,
    ways.adversary,
    ways.ways,
    printed.published,
    frame.mended,
    frame.frame,
    frame.readability,
)


def page() -> str:
    """Return the whole page of results."""
    return blocks(_header(), *(section() for section in SECTIONS)) + "\n"


def _header() -> str:
    made = [load(path.stem)["made"] for path in sorted(RESULTS.glob("*.json"))]
    machines = sorted(
        {f"{one['machine']['cores']} cores of an {one['machine']['cpu']}" for one in made}
    )
    versions = [
        f"{words} {joined(sorted({one[key] for one in made}))}"
        for key, words in (("python", "Python"), ("numpy", "NumPy"), ("numba", "Numba"))
    ]
    return blocks(
        "# Results",
        prose(f"""
            `make results` makes this page from the files in `benchmarks/results`, one per script;
            `make bench` measures again and writes those files. Every figure here is in one of them.

            Measured on {joined(machines)}, {joined(versions)}. The line below each table names its
            file and says when, with which version of discreet and its peers, and on which seeds it
            was measured. "Committed": the run is older than such records; date, version and commit
            are those of the last change of its file in the repository. Every ratio compares things
            measured in the same run. ± is a standard error or a standard deviation (sd), as stated
            above each table; where a table has neither, the file holds none.
        """),
    )


def main() -> None:
    """Write the page of results, and the marked tables of all other pages."""
    PAGE.write_text(page(), encoding="utf-8")
    for path in front.pages():
        before = path.read_text(encoding="utf-8")
        after = front.with_figures(before)
        if after != before:
            path.write_text(after, encoding="utf-8")


if __name__ == "__main__":
    main()
