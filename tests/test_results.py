"""If these fail, pages of results show other figures than reports, or benchmarks do not run."""

import json
import os
import re
import sys
from datetime import datetime, timedelta
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import discreet
import frame
import frame_versions as versions
import report as reports
import results_page as page
import run
from pages import front

REPOSITORY = Path(__file__).resolve().parent.parent
BENCHMARKS = REPOSITORY / "benchmarks"
HELPERS = {"report", "frame_versions", "results_page", "run"}
"""Modules that benchmarks import, and the scripts that run them and write the page of results."""
WORKERS = {"diffprivlib_peer": "real"}
"""Scripts that run in separate processes, and the benchmarks that start them."""
README = (REPOSITORY / "README.md").read_text()
PAGES = {path.relative_to(REPOSITORY).as_posix(): path.read_text() for path in front.pages()}
"""The README and the pages of docs/, by their paths from the root."""
NOT_MEASURED = {"3.11": "the version of Python"}
"""Decimals and percentages of the front page that no benchmark measures, and what they are."""
SCRIPTS = sorted({path.stem for path in BENCHMARKS.glob("*.py")} - HELPERS - WORKERS.keys())


@pytest.fixture
def report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module that writes reports, with a temporary folder."""
    monkeypatch.setattr(reports, "RESULTS", tmp_path / "results")
    return reports


def checkout(folder: Path, version: str) -> Path:
    package = folder / "src" / "discreet" / "__init__.py"
    package.parent.mkdir(parents=True)
    package.write_text(f'"""A package."""\n\n__version__ = "{version}"\n')
    return folder


# --- files


def test_the_page_of_results_is_made_from_the_reports() -> None:
    """If this fails, run `make results`."""
    assert page.page() == (BENCHMARKS / "RESULTS.md").read_text()


def test_the_page_names_every_report() -> None:
    named = set(
        re.findall(r"`benchmarks/results/([^`]+)`", (BENCHMARKS / "RESULTS.md").read_text())
    )
    assert named - {""} == {path.name for path in (BENCHMARKS / "results").iterdir()}


def test_every_report_can_be_parsed() -> None:
    reports = list((BENCHMARKS / "results").iterdir())
    assert reports
    for path in reports:
        assert path.suffix == ".json"
        assert isinstance(json.loads(path.read_text()), dict), path.name


# --- the front page and the pages of docs/


@pytest.mark.parametrize("page", PAGES)
def test_the_tables_of_a_page_hold_measured_figures(page: str) -> None:
    """If this fails, run `make results`."""
    assert front.with_figures(PAGES[page]) == PAGES[page]


def test_every_table_of_figures_stands_on_a_page() -> None:
    marked = {name for page in PAGES.values() for name in re.findall(r"<!-- figures: (\w+)", page)}
    assert marked == set(front.TABLES)


@pytest.mark.parametrize("page", front.SENTENCES)
def test_the_sentences_of_a_page_hold_measured_figures(page: str) -> None:
    words = " ".join(PAGES[page].split())
    assert not [sentence for sentence in front.sentences(page) if sentence not in words]


def test_the_front_page_has_no_other_figures() -> None:
    """A decimal or a percentage in a sentence is measured and checked above, or listed here."""
    words = " ".join(
        re.sub(r"```.*?```", "", front.MARKED.sub("", README), flags=re.DOTALL).split()
    )
    for sentence in front.sentences("README.md"):
        words = words.replace(sentence, "")
    words = re.sub(r"`[^`]*`", "", words)
    assert set(re.findall(r"\d+\.\d+|\d+ %", words)) == set(NOT_MEASURED)


# --- benchmarks


def test_run_knows_every_benchmark() -> None:
    assert set(run.NAMES) == set(SCRIPTS)
    assert len(run.NAMES) == len(SCRIPTS)
    target = (REPOSITORY / "Makefile").read_text().split("\nbench:", 1)[1].split("\n\n", 1)[0]
    assert " benchmarks/run.py" in target
    for worker, starter in WORKERS.items():
        assert f"{worker}.py" in (BENCHMARKS / f"{starter}.py").read_text()


def test_every_benchmark_writes_its_report() -> None:
    assert not [
        name for name in SCRIPTS if "    write(" not in (BENCHMARKS / f"{name}.py").read_text()
    ]


def test_a_report_is_printed_and_written_in_its_order(
    report: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(report, "circumstances", lambda settings: {"date": "today"})
    monkeypatch.setattr(sys, "argv", ["benchmarks/display.py", "1300"])
    first, second = {"b": 1, "a": {"δ": 0.5}}, {"b": 2}
    report.write(first)
    report.write(second)
    report.write(first, "display-before")
    made = {"made": {"date": "today"}}
    lines = [json.dumps(made | each) for each in (first, second, first)]
    assert capsys.readouterr().out.splitlines() == lines
    files = {path.name: path.read_text() for path in (tmp_path / "results").iterdir()}
    begin = '{\n  "made": {\n    "date": "today"\n  },\n'
    assert files == {
        "display.json": begin + '  "b": 2\n}\n',
        "display-before.json": begin + '  "b": 1,\n  "a": {\n    "δ": 0.5\n  }\n}\n',
    }


# --- circumstances


def test_every_report_states_its_date_versions_and_machine() -> None:
    for path in (BENCHMARKS / "results").iterdir():
        made = json.loads(path.read_text())["made"]
        assert {
            "date",
            "discreet",
            "python",
            "numpy",
            "numba",
            "peers",
            "machine",
        } <= made.keys(), path.name
        assert datetime.fromisoformat(made["date"]).utcoffset() == timedelta(0), path.name
        assert made["machine"].keys() == {"cpu", "cores"}, path.name


def test_a_new_report_names_its_versions_machine_and_seeds(
    report: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = ModuleType("__main__")
    vars(script).update(FIRST_SEED=7, TUNING_SEED=8, OTHER_SEEDS=range(100, 106), seeds_of=len)
    monkeypatch.setitem(sys.modules, "__main__", script)
    monkeypatch.setitem(sys.modules, "sklearn", ModuleType("sklearn"))
    made = report.circumstances({"first_seed": 9})
    assert made["discreet"] == discreet.__version__
    assert made["numpy"] == np.__version__
    assert made["peers"]["scikit-learn"] == version("scikit-learn")
    assert made["machine"]["cores"] == os.cpu_count()
    assert made["machine"]["cpu"]
    assert made["seeds"] == {"first_seed": 9, "tuning_seed": 8, "other_seeds": "100 to 105"}


def test_circumstances_without_a_repository_leave_the_commit_out(
    report: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    assert "commit" not in report.circumstances({})


# --- versions that frame.py can compare


def test_a_mode_has_one_name_in_all_versions() -> None:
    before, then, now = (set(versions.VERSIONS[version].modes) for version in ("0.4", "0.5", "0.6"))
    assert before == then <= now


@pytest.mark.parametrize(
    ("version", "preamble"),
    [("0.4.0", "0.4"), ("0.4.7", "0.4"), ("0.5.0", "0.5"), ("0.6.0", "0.6"), ("0.10.0", "0.6")],
)
def test_a_checkout_is_measured_with_the_preamble_of_its_version(
    version: str, preamble: str, tmp_path: Path
) -> None:
    stated = versions.version_of(checkout(tmp_path, version))
    assert stated == version
    assert versions.preamble_of(stated) is versions.VERSIONS[preamble]


def test_a_version_without_a_preamble_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(
        SystemExit, match=r"^version 0\.2\.1 .* known are 0\.4, 0\.5, 0\.6 and later$"
    ):
        versions.preamble_of(versions.version_of(checkout(tmp_path / "old", "0.2.1")))
    with pytest.raises(SystemExit, match=r"^.* is no checkout of discreet: .*$"):
        versions.version_of(tmp_path / "elsewhere")


def test_every_mode_of_this_version_can_be_made() -> None:
    preamble = versions.preamble_of(versions.version_of(REPOSITORY))
    names: dict[str, object] = {}
    exec(preamble.imports + frame.PEOPLE, names)
    for name, code in preamble.modes.items():
        made = eval(code, names)
        assert type(made).__name__ == name.split()[0], name
