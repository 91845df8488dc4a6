"""If these fail, a failed benchmark is overlooked, or the front door is measured wrongly."""

import sys
from pathlib import Path

import pytest

import links
import run
import test_docs
from measures import front_door
from measures.front_door import Figure


@pytest.fixture
def scripts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of benchmarks: one works, one fails, one says what it was given."""
    monkeypatch.setattr(run, "HERE", tmp_path)
    (tmp_path / "sums.py").write_text("print('{}')\n")
    (tmp_path / "tables.py").write_text("raise SystemExit('no table')\n")
    (tmp_path / "pickups.py").write_text("import sys\nopen(sys.argv[2], 'w').write(sys.argv[1])\n")
    return tmp_path


def test_a_benchmark_that_fails_does_not_stop_the_others(
    scripts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = str(scripts / "given")
    planned = run.planned(["tables", "sums", "pickups", "movielens"], None, given)
    assert run.run_all(planned) == {"tables": 1}
    assert Path(given).read_text() == "--pickups"
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "[1/4] sums …"
    assert lines[2] == "[2/4] movielens: skipped, lacks the option --movielens PATH"
    assert lines[-1].startswith("[4/4] tables: failed with exit code 1 after ")


def test_real_tables_wait_for_their_rival(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without diffprivlib the report would lose the figures of the last run."""
    monkeypatch.setattr(run, "DIFFPRIVLIB", Path("/nowhere/python"))
    (real,) = run.planned(["real"], None, None)
    assert real.lacks == "/nowhere/python, which `make bench` sets up"
    monkeypatch.setattr(run, "DIFFPRIVLIB", Path(sys.executable))
    assert run.planned(["real"], None, None)[0].arguments == (sys.executable,)


def test_an_unknown_benchmark_is_refused_with_the_known_names(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["run.py", "--only", "nosuch"])
    with pytest.raises(SystemExit):
        run.main()
    assert "invalid choice: 'nosuch'" in capsys.readouterr().err


# --- the front door


def test_the_front_door_counts_the_pages_by_the_test_that_runs_them() -> None:
    assert callable(getattr(test_docs, front_door.RUNS))
    assert Path(test_docs.__file__) == front_door.REPOSITORY / front_door.TESTS


def test_the_front_door_measures_the_readme_the_links_and_the_import(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(front_door, "REPEATS", 1)
    size = (front_door.REPOSITORY / "README.md").stat().st_size
    assert front_door.readme()[1:] == (size, "at most 6000", size <= 6000, "")
    broken = len(list(links.broken()))
    assert front_door.links() == Figure("broken_links", broken, "0", broken == 0)
    assert front_door.importing().value > 0


def test_a_missed_goal_is_shown() -> None:
    missed = Figure("pages_that_run", 3, "all", False, "docs/guides/shop")
    assert run.shown(missed) == "MISSED pages_that_run = 3 (all): docs/guides/shop"
    unknown = Figure("site_seconds", None, "under 60", None, "Zensical is not installed")
    assert run.shown(unknown) == "not measured site_seconds (under 60): Zensical is not installed"
