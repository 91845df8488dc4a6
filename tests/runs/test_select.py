"""If these fail, a choice is made and paid for twice, or a map shows where people live."""

import json
import os
from pathlib import Path

import numpy as np
import polars
import pytest
from rich.console import Console

from discreet.errors import ConfigError
from discreet.runs.select import select_from

SETTINGS = """
epsilon = 1.0
columns = ["x", "y"]

[domain]
kind = "UniformMatroid"
items = 4
rank = 1

[function]
kind = "Nearby"
reach = 0.4
box = [[0.0, 1.0], [0.0, 1.0]]
sites = [[0.2, 0.2], [0.8, 0.2], [0.2, 0.8], [0.8, 0.8]]
"""
QUIET = Console(quiet=True)


@pytest.fixture
def homes(tmp_path: Path) -> Path:
    points = np.random.default_rng(0).normal([0.8, 0.2], 0.05, size=(2000, 2))
    frame = polars.DataFrame({"x": points[:, 0], "id": np.arange(2000), "y": points[:, 1]})
    frame.write_parquet(tmp_path / "homes.parquet")
    (tmp_path / "sites.toml").write_text(SETTINGS)
    return tmp_path


def test_a_choice_is_written_drawn_and_read_back(homes: Path) -> None:
    arguments = (homes / "sites.toml", [homes / "homes.parquet"], homes / "out", QUIET)
    first = select_from(*arguments)
    assert first["items"] == [1]
    assert json.loads((homes / "out" / "chosen.json").read_text()) == first
    assert (homes / "out" / "picture.png").stat().st_size > 5000
    assert "chosen for 2,000 people" in (homes / "out" / "report.md").read_text()
    assert select_from(*arguments)["items"] == first["items"]  # nothing is released again
    assert select_from(*arguments)["value"] == first["value"]


def test_the_folders_of_a_choice_survive_a_power_cut(
    homes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed: list[Path] = []
    true_sync = os.fsync

    def sync(descriptor: int) -> None:
        flushed.append(Path(f"/proc/self/fd/{descriptor}").readlink())
        true_sync(descriptor)

    monkeypatch.setattr(os, "fsync", sync)
    out = homes / "choices" / "first"
    select_from(homes / "sites.toml", [homes / "homes.parquet"], out, QUIET)
    for folder in (homes, out.parent, out):
        assert folder in flushed


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("epsilon = ", "is not TOML"),
        (SETTINGS.replace('"y"', '"z"'), "lacks the columns z"),
        (SETTINGS.replace("rank = 1", "rank = 9"), "rank"),
        (SETTINGS.replace("items = 4", "items = 5"), "4 sites"),
        (SETTINGS.replace('kind = "Nearby"', 'kind = "Far"'), "function"),
        ("method = 'sampled'\n" + SETTINGS, "method is no setting: leave it out"),
    ],
)
def test_bad_settings_are_refused_in_one_line_before_anything_is_spent(
    homes: Path, text: str, message: str
) -> None:
    (homes / "sites.toml").write_text(text)
    with pytest.raises(ConfigError, match=message) as refusal:
        select_from(homes / "sites.toml", [homes / "homes.parquet"], homes / "out", QUIET)
    assert "\n" not in str(refusal.value)
    assert not (homes / "out" / "state").exists()


def test_people_in_several_files_are_people_in_one(homes: Path) -> None:
    frame = polars.read_parquet(homes / "homes.parquet")
    frame[:900].write_parquet(homes / "a.parquet")
    frame[900:].write_parquet(homes / "b.parquet")
    (homes / "sites.toml").write_text("seed = 3\n" + SETTINGS)
    files = [homes / "a.parquet", homes / "b.parquet"]
    whole = select_from(homes / "sites.toml", [homes / "homes.parquet"], homes / "one", QUIET)
    parts = select_from(homes / "sites.toml", files, homes / "two", QUIET)
    assert parts == whole
    assert parts["people"] == 2000


def test_a_choice_is_written_as_a_whole_or_not_at_all(
    homes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = (homes / "sites.toml", [homes / "homes.parquet"], homes / "out", QUIET)
    first = select_from(*arguments)

    def stop(*names: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("discreet.runs.files.os.replace", stop)
    with pytest.raises(KeyboardInterrupt):
        select_from(*arguments)
    assert json.loads((homes / "out" / "chosen.json").read_text()) == first


def test_a_cluster_that_does_not_answer_is_refused_before_anything_is_spent(homes: Path) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed (pip install discreet[scale])")
    arguments = (homes / "sites.toml", [homes / "homes.parquet"], homes / "out", QUIET)
    with pytest.raises(ConfigError, match="no cluster answers at nowhere://"):
        select_from(*arguments, engine="nowhere://127.0.0.1:1")
    assert not (homes / "out" / "state").exists()
