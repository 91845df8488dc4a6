"""If these fail, a choice is made and paid for twice, or a map shows where people live."""

import json
import os
import sys
from pathlib import Path
from textwrap import dedent

import numpy as np
import polars
import pytest
from rich.console import Console

from discreet.cli.runs import SITES
from discreet.errors import ConfigError
from discreet.runs import select
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
LISTED = "[[0.2, 0.2], [0.8, 0.2], [0.2, 0.8], [0.8, 0.8]]"
BOX = "box = [[0.0, 1.0], [0.0, 1.0]]"
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
        ("method = 'sampled'\n" + SETTINGS, "unknown key 'method'"),
        (
            SETTINGS.replace(BOX, "box = [0.0, 1.0]"),
            r"box\[0\] must be a list of 2 values",
        ),
        (SETTINGS.replace(BOX, "box = [[0, 1, 2], [0, 1]]"), "list of 2 values, got a list of 3"),
        (SETTINGS.replace(BOX, "box = [[0, 1]]"), "for each of the 2 coordinates of a site, got 1"),
        (SETTINGS.replace("[[0.2, 0.2],", "[[0.2],"), "same number of coordinates"),
        (SETTINGS.replace(LISTED, "'none.csv'"), "none.csv does not exist"),
        (SETTINGS.replace(LISTED, "'other.csv'"), "other.csv lacks the columns y"),
        (SETTINGS.replace(LISTED, "'odd.csv'"), "odd.csv: site 2 must have numbers in .* x, y"),
        ("labels = 'name'\n" + SETTINGS.replace(LISTED, "'odd.csv'"), "lacks the columns name"),
        (SETTINGS.replace("columns", "#").replace(LISTED, "'odd.csv'"), "needs columns"),
        (SETTINGS + "[rename]\nlon = 3", "rename must be a table"),
        (SETTINGS + "[rename]\nlon = 'longitude'", "must give names that `columns` lists"),
        (SETTINGS + "[rename]\nlon = 'x'\neast = 'x'", "rename gives two columns the same name"),
        (SETTINGS + "[rename]\nlon = 'x'", "lacks the columns lon"),
    ],
)
def test_bad_settings_are_refused_in_one_line_before_anything_is_spent(
    homes: Path, text: str, message: str
) -> None:
    (homes / "sites.toml").write_text(text)
    (homes / "other.csv").write_text("x,name\n0.2,north\n")
    (homes / "odd.csv").write_text("y,x\n0.2,0.3\nfar,0.3\n")
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


def test_a_folder_and_a_glob_of_files_are_the_people_of_one_file(homes: Path) -> None:
    frame = polars.read_parquet(homes / "homes.parquet")
    (homes / "parts").mkdir()
    frame[:900].write_parquet(homes / "parts" / "part-0.parquet")
    frame[900:].write_parquet(homes / "parts" / "part-1.parquet")
    (homes / "sites.toml").write_text("seed = 3\n" + SETTINGS)
    whole = select_from(homes / "sites.toml", [homes / "homes.parquet"], homes / "one", QUIET)
    for place in (homes / "parts", homes / "parts" / "part-*.parquet"):
        out = homes / f"out-{place.name[:4]}"
        assert select_from(homes / "sites.toml", [place], out, QUIET) == whole
    with pytest.raises(ConfigError, match="matches no file"):
        select_from(homes / "sites.toml", [homes / "none-*.csv"], homes / "none", QUIET)


def test_sites_and_their_names_come_from_a_file_beside_the_settings(
    homes: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    (homes / "sites.csv").write_text(
        "name,north,east\nMill,0.2,0.2\nPark,0.2,0.8\nDock,0.8,0.2\nHill,0.8,0.8\n"
    )
    settings = SETTINGS.replace(LISTED, "'sites.csv'").replace("items = 4\n", "")
    settings = settings.replace('["x", "y"]', '["east", "north"]')
    rename = "[rename]\nx = 'east'\ny = 'north'\n"
    (homes / "sites.toml").write_text(f"labels = 'name'\n{settings}\n{rename}")
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    chosen = select_from(homes / "sites.toml", [homes / "homes.parquet"], homes / "out", QUIET)
    assert chosen["items"] == ["Park"]
    assert chosen["numbers"] == [1]
    assert "| 1 | 1 | Park |" in (homes / "out" / "report.md").read_text()


def test_the_settings_that_the_docstring_and_the_help_show_work_as_they_stand(
    tmp_path: Path,
) -> None:
    generator = np.random.default_rng(1)
    places = generator.uniform([13.3, 52.4], [13.5, 52.6], size=(500, 2))
    frame = polars.DataFrame(places, schema=["longitude", "latitude"])
    frame.write_csv(tmp_path / "homes.csv")
    names = polars.Series("name", [f"site {number}" for number in range(20)])
    frame[:20].with_columns(names).write_csv(tmp_path / "sites.csv")
    assert select.__doc__ is not None
    blocks = dedent(select.__doc__.split("longitude and latitude:\n")[1].split("Sites are")[0])
    of_help = SITES.split("latitude:\n")[1].replace("\\[", "[")
    for number, (text, rank) in enumerate([(blocks, 2), (of_help, 10)]):
        (tmp_path / "sites.toml").write_text(text)
        out = tmp_path / f"out{number}"
        chosen = select_from(tmp_path / "sites.toml", [tmp_path / "homes.csv"], out, QUIET)
        assert len(chosen["items"]) == rank
        assert chosen["items"][0].startswith("site ")


def test_the_map_is_not_drawn_from_records(homes: Path) -> None:
    """The choice is read back, and drawn again, although everyone has moved since."""
    arguments = (homes / "sites.toml", [homes / "homes.parquet"], homes / "out", QUIET)
    select_from(*arguments)
    before = (homes / "out" / "picture.png").read_bytes()
    everyone = np.full(2000, 0.1)
    polars.DataFrame({"x": everyone, "y": everyone}).write_parquet(homes / "homes.parquet")
    select_from(*arguments)
    assert (homes / "out" / "picture.png").read_bytes() == before


def test_without_matplotlib_nothing_is_spent(homes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ConfigError, match="pictures need matplotlib"):
        select_from(homes / "sites.toml", [homes / "homes.parquet"], homes / "out", QUIET)
    assert not (homes / "out").exists()


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
