"""If these fail, a newcomer whose machine lacks something does not learn what to do."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from discreet.arrays import Floats
from discreet.cli import app
from discreet.engine.formats import FORMATS
from discreet.learners.running_sum import RunningSum
from discreet.release.noise import DiscreteGaussian
from discreet.release.randomness import RandomBits
from discreet.runs.doctor import BRINGS, EXTRAS, examine


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def examined(*options: str) -> Result:
    return CliRunner().invoke(app, ["doctor", *options])


def test_a_sound_machine_is_ok_and_nothing_stays_behind(tmp_path: Path) -> None:
    findings = {finding.name: finding for finding in examine()}
    essential = {name for name, finding in findings.items() if finding.essential}
    assert essential == {"versions", "randomness", "exact sampler", "self-test"}
    assert all(findings[name].fine for name in (*essential, "proofs", "file locks"))
    assert "ns per draw" in findings["exact sampler"].says
    assert (
        findings["state files"].says
        == f"format {FORMATS.newest} is written, {FORMATS.read} is read"
    )
    assert {f"extra {name}" for name in EXTRAS} < findings.keys()
    assert list(tmp_path.iterdir()) == []
    shown = examined()
    assert shown.exit_code == 0
    assert {f"extra {name}" for name in EXTRAS} == BRINGS.keys()
    assert all(f"({brings})" in shown.output for brings in BRINGS.values())


def test_the_name_of_each_check_is_shown_before_it_runs() -> None:
    begun: list[str] = []
    assert begun == [finding.name for finding in examine(begun.append)]


def test_a_learner_that_releases_nonsense_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RunningSum, "add", lambda learner, vector: np.full(1, 1e6))
    (learner,) = (finding for finding in examine() if finding.name == "self-test")
    assert (learner.fine, learner.essential) == (False, True)
    assert learner.says.startswith("a released total is far from the truth: pip install ")


def test_proofs_that_are_not_installed_come_with_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("discreet.budget.guarantee.PROOFS", tmp_path)
    (proofs,) = (finding for finding in examine() if finding.name == "proofs")
    assert (proofs.fine, proofs.essential) == (False, False)
    assert proofs.says == f"no page in {tmp_path}: pip install --force-reinstall discreet"


def test_a_missing_extra_comes_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    report = json.loads(examined("--json").output)
    says = {
        finding["name"]: finding["says"] for finding in report["findings"] if not finding["fine"]
    }
    assert report["ok"] is True
    assert says["extra tables"] == "polars missing: pip install 'discreet[tables]'"
    assert says["extra lab"] == "polars missing: pip install 'discreet[lab]'"


def test_a_cache_that_cannot_be_written_is_found_and_nothing_else_is_compiled() -> None:
    program = """
from numba.core.caching import _CacheLocator
def refuse(self):
    raise OSError("read-only")
_CacheLocator.ensure_cache_path = refuse
from discreet.cli import main
main()
"""
    command = [sys.executable, "-W", "ignore", "-c", program, "doctor", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    report = json.loads(done.stdout)
    (cache,) = (finding for finding in report["findings"] if finding["name"] == "compiler cache")
    assert (report["ok"], cache["fine"]) == (True, False)
    assert "set NUMBA_CACHE_DIR to a folder that you can write" in cache["says"]


@pytest.mark.parametrize("broken", ["draws", "numba"])
def test_a_sampler_that_does_not_work_is_broken_and_exits_with_one(
    broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def draw(noise: DiscreteGaussian, size: int, bits: RandomBits) -> Floats:
        if broken == "numba":
            raise ImportError("Numba needs NumPy 2.0 or less")
        return np.zeros(size)

    monkeypatch.setattr(DiscreteGaussian, "draw", draw)
    result = examined()
    assert result.exit_code == 1
    assert "broken" in result.output
    assert "pip install" in result.output
    assert examined("--json").exit_code == 1


def test_locks_that_do_not_hold_come_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fcntl.flock", lambda lock, how: None)
    (locks,) = (finding for finding in examine() if finding.name == "file locks")
    assert (locks.fine, locks.essential) == (False, False)
    assert "local disk" in locks.says
