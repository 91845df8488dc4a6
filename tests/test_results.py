"""The results of the benchmarks are files, and the benchmarks can be run."""

import json
import re
import sys
from pathlib import Path

import pytest

import frame
import frame_versions
import report

REPOSITORY = Path(__file__).resolve().parent.parent
BENCHMARKS = REPOSITORY / "benchmarks"
HELPERS = {"report", "frame_versions"}
"""Modules that benchmarks import."""
WORKERS = {"diffprivlib_peer": "real"}
"""Scripts that run in processes of their own, and the benchmarks that start them."""
SCRIPTS = sorted({path.stem for path in BENCHMARKS.glob("*.py")} - HELPERS - WORKERS.keys())


def checkout(folder: Path, version: str) -> Path:
    package = folder / "src" / "discreet" / "__init__.py"
    package.parent.mkdir(parents=True)
    package.write_text(f'"""A package."""\n\n__version__ = "{version}"\n')
    return folder


# --- files


def test_every_linked_report_exists() -> None:
    linked = re.findall(r"\]\((results/[^)]+)\)", (BENCHMARKS / "RESULTS.md").read_text())
    assert linked
    assert not [link for link in linked if not (BENCHMARKS / link).is_file()]


def test_tables_hold_no_pasted_reports() -> None:
    lines = (BENCHMARKS / "RESULTS.md").read_text().splitlines()
    assert not [line[:80] for line in lines if line.startswith("{")]


def test_every_report_can_be_parsed() -> None:
    reports = list((BENCHMARKS / "results").iterdir())
    assert reports
    for path in reports:
        assert path.suffix == ".json"
        assert isinstance(json.loads(path.read_text()), dict), path.name


def test_make_bench_runs_every_benchmark() -> None:
    target = (REPOSITORY / "Makefile").read_text().split("\nbench:", 1)[1].split("\n\n", 1)[0]
    assert not [name for name in SCRIPTS if f" benchmarks/{name}.py" not in target]
    for worker, starter in WORKERS.items():
        assert f"{worker}.py" in (BENCHMARKS / f"{starter}.py").read_text()


def test_every_benchmark_writes_its_report() -> None:
    assert not [name for name in SCRIPTS if "    write(" not in (BENCHMARKS / f"{name}.py").read_text()]


def test_a_report_is_printed_and_written_in_its_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(report, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(sys, "argv", ["benchmarks/display.py", "1300"])
    first, second = {"b": 1, "a": {"δ": 0.5}}, {"b": 2}
    report.write(first)
    report.write(second)
    report.write(first, "display-before")
    assert capsys.readouterr().out.splitlines() == [json.dumps(each) for each in (first, second, first)]
    files = {path.name: path.read_text() for path in (tmp_path / "results").iterdir()}
    assert files == {
        "display.json": '{\n  "b": 2\n}\n',
        "display-before.json": '{\n  "b": 1,\n  "a": {\n    "δ": 0.5\n  }\n}\n',
    }


# --- versions that frame.py can compare


def test_versions_give_the_same_name_to_the_same_mode() -> None:
    before, then, now = (set(frame_versions.VERSIONS[version].modes) for version in ("0.4", "0.5", "0.6"))
    assert before == then <= now


@pytest.mark.parametrize(
    ("version", "words"),
    [("0.4.0", "0.4"), ("0.4.7", "0.4"), ("0.5.0", "0.5"), ("0.6.0", "0.6"), ("0.10.0", "0.6")],
)
def test_a_checkout_is_measured_in_the_words_of_its_version(version: str, words: str, tmp_path: Path) -> None:
    found = frame_versions.version_of(checkout(tmp_path, version))
    assert found == version
    assert frame_versions.preamble_of(found) is frame_versions.VERSIONS[words]


def test_a_version_without_words_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"^version 0\.2\.1 .* known are 0\.4, 0\.5, 0\.6 and later$"):
        frame_versions.preamble_of(frame_versions.version_of(checkout(tmp_path / "old", "0.2.1")))
    with pytest.raises(SystemExit, match=r"^.* is no checkout of discreet: .*$"):
        frame_versions.version_of(tmp_path / "elsewhere")


def test_every_mode_of_this_version_can_be_made() -> None:
    preamble = frame_versions.preamble_of(frame_versions.version_of(REPOSITORY))
    words: dict[str, object] = {}
    exec(preamble.imports + frame.PEOPLE, words)
    for name, code in preamble.modes.items():
        made = eval(code, words)
        assert type(made).__name__ == name.split()[0], name
