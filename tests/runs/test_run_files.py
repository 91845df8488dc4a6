"""If these fail, a run that was killed loses or repeats decisions, or reads other columns."""

import builtins
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars
import pytest
from rich.console import Console

import discreet
from discreet import (
    ConfigError,
    StateError,
)
from discreet.runs.decisions import Decisions
from discreet.runs.run import run_log
from discreet.runs.status import status_of
from runs.logs import BASE, SHOP, run

# --- kills ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("before", "every"), [("nothing", "3"), ("short.csv", "3")])
def test_a_run_that_is_killed_at_any_line_goes_on_as_if_it_had_not_been(
    tmp_path: Path, before: str, every: str
) -> None:
    """Kills hit the writing of columns.json too, at the first start and at later ones."""
    (tmp_path / "shop.toml").write_text(
        BASE + 'horizon = 20\nitems = ["tea", "milk"]\nslots = 1\nblock = 10\n'
    )
    (tmp_path / "log.csv").write_text("tea,milk\n" + "0.5,0.2\n" * 12)
    (tmp_path / "short.csv").write_text("tea,milk\n" + "0.5,0.2\n" * 5)
    program = Path(__file__).with_name("killing.py")
    result = subprocess.run(
        [sys.executable, program, tmp_path, before, every],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    results = json.loads(result.stdout)
    assert results["broken"] == [], result.stderr
    assert results["killed"] > 50
    assert results["ways"] > 5


def test_columns_json_is_never_rewritten(tmp_path: Path) -> None:
    log = polars.DataFrame({"tea": [0.5] * 50, "milk": [0.1] * 50, "soap": [0.2] * 50})
    run(tmp_path, SHOP, log.head(20))
    columns = tmp_path / "out" / "columns.json"
    first = columns.stat()
    run(tmp_path, SHOP, log)
    second = columns.stat()
    assert (first.st_ino, first.st_mtime_ns) == (second.st_ino, second.st_mtime_ns)
    columns.write_text("")
    with pytest.raises(ConfigError, match="is not what a run wrote"):
        run(tmp_path, SHOP, log)


def test_decisions_are_read_once_per_run_however_many_releases_it_makes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = (
        BASE + 'learner = "RunningSum"\ndimension = 1\nbound = 1.0\nblock = 5\nhorizon = 600\n'
    )
    log = polars.DataFrame({"cups": [1.0] * 600})
    run(tmp_path, settings, log.head(300))
    opened: list[str] = []
    true_open = io.open

    def counting(file: Any, *arguments: Any, **named: Any) -> Any:
        opened.append(str(file))
        return true_open(file, *arguments, **named)

    monkeypatch.setattr(io, "open", counting)
    monkeypatch.setattr(builtins, "open", counting)
    assert run(tmp_path, settings, log)["releases"] == 120
    assert sum(name.endswith("decisions.jsonl") for name in opened) == 1
    monkeypatch.undo()
    lines = (tmp_path / "out" / "decisions.jsonl").read_text().splitlines()
    assert [json.loads(line)["release"] for line in lines] == list(range(121))


def test_half_a_line_is_written_again_whole(tmp_path: Path) -> None:
    path = tmp_path / "decisions.jsonl"
    path.write_text('{"release": 0}\n{"release": 1, "sla')
    with Decisions(path, 1) as decisions:
        for release in range(3):
            decisions.note({"release": release})
    assert path.read_text() == '{"release": 0}\n{"release": 1}\n{"release": 2}\n'


SUMS = BASE + 'learner = "RunningSum"\ndimension = 1\nbound = 1.0\nblock = 5\nhorizon = 60\n'
CUPS = polars.DataFrame({"cups": [1.0] * 60})


def damaged(content: bytes, how: str) -> bytes:
    """Return the content of decisions.jsonl with four releases, damaged."""
    lines = content.splitlines(keepends=True)
    return {
        "a line is lost": b"".join(lines[:2] + lines[3:]),
        "the first is lost": b"".join(lines[1:]),
        "a line is twice": b"".join(lines[:2] + lines[1:]),
        "two are exchanged": b"".join([lines[1], lines[0], *lines[2:]]),
        "no number": content.replace(b'"release": 2', b'"release": "2"'),
        "a float": content.replace(b'"release": 2', b'"release": 2.0'),
        "true": content.replace(b'"release": 1,', b'"release": true,'),
        "one more": content + b'{"release": 5}\n',
        "not text": content.replace(b'"release": 2', b"\xff\x00"),
        "deep": b"".join(lines[:2]) + b"[" * 10**5 + b"\n" + b"".join(lines[3:]),
        "a false gap": b"".join(
            [*lines[:2], lines[3].replace(b"{", b'{"missing_releases": [1, 2], ')]
        ),
        "empty lines": content.replace(b"\n", b"\n\n"),
    }[how]


@pytest.mark.parametrize(
    "how",
    [
        "a line is lost",
        "the first is lost",
        "a line is twice",
        "two are exchanged",
        "no number",
        "a float",
        "true",
        "one more",
        "not text",
        "deep",
        "a false gap",
        "empty lines",
    ],
)
def test_decisions_that_are_damaged_are_refused_in_one_line(tmp_path: Path, how: str) -> None:
    run(tmp_path, SUMS, CUPS.head(20))
    path = tmp_path / "out" / "decisions.jsonl"
    whole = path.read_bytes()
    path.write_bytes(damaged(whole, how))
    before = json.loads((tmp_path / "out" / "report.json").read_text())
    with pytest.raises(
        StateError, match=r"restore the file, or move it away|restore the newest state"
    ) as caught:
        run(tmp_path, SUMS, CUPS)
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == damaged(whole, how)  # the file is not changed
    learner = discreet.load(tmp_path / "out" / "state")
    assert learner.releases == before["releases"]  # nothing was learned meanwhile
    learner.detach()
    path.write_bytes(whole)
    assert run(tmp_path, SUMS, CUPS)["releases"] == 12
    assert [json.loads(line)["release"] for line in path.read_text().splitlines()] == list(
        range(13)
    )


def test_the_newest_line_is_written_again_after_a_power_cut(tmp_path: Path) -> None:
    run(tmp_path, SUMS, CUPS.head(20))
    path = tmp_path / "out" / "decisions.jsonl"
    whole = path.read_bytes()
    for left in (whole[: whole.rindex(b"{")], whole[:-7], whole[: whole.rindex(b"{")] + bytes(30)):
        path.write_bytes(left)
        run(tmp_path, SUMS, CUPS.head(20))
        assert path.read_bytes() == whole


def test_releases_that_no_run_saw_are_named(tmp_path: Path) -> None:
    run(tmp_path, SUMS, CUPS.head(20))
    path = tmp_path / "out" / "decisions.jsonl"
    elsewhere = discreet.load(tmp_path / "out" / "state")
    for _ in range(3):
        elsewhere.observe_many([[1.0]] * 5)
        assert elsewhere.release_if_due()
    elsewhere.detach()
    run(tmp_path, SUMS, CUPS)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["release"] for line in lines] == [0, 1, 2, 3, 4, *range(7, 13)]
    assert lines[5]["missing_releases"] == [5, 6]
    assert all("missing_releases" not in line for line in lines[:5] + lines[6:])
    path.unlink()
    assert run(tmp_path, SUMS, CUPS)["releases"] == 12
    assert json.loads(path.read_text())["missing_releases"] == [0, 11]


def test_a_line_is_on_disk_before_the_next_release_and_folders_are_flushed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A power cut loses files, and names of files, that were not flushed."""
    events: list[str] = []
    true_sync = os.fsync
    true_replace = os.replace
    true_mkdir = Path.mkdir

    def sync(descriptor: int) -> None:
        events.append(f"flush {os.readlink(f'/proc/self/fd/{descriptor}')}")
        true_sync(descriptor)

    def replace(source: Any, target: Any) -> None:
        events.append(f"replace {target}")
        true_replace(source, target)

    def mkdir(path: Path, *arguments: Any, **named: Any) -> None:
        if not path.exists():
            events.append(f"make {path}")
        true_mkdir(path, *arguments, **named)

    (tmp_path / "run.toml").write_text(SUMS)
    CUPS.write_csv(tmp_path / "log.csv")
    out = tmp_path / "runs" / "first" / "out"
    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(os, "replace", replace)
    monkeypatch.setattr(Path, "mkdir", mkdir)
    run_log(tmp_path / "run.toml", tmp_path / "log.csv", out, Console(quiet=True))
    monkeypatch.undo()
    for folder in (out, out.parent, out.parent.parent):
        made = events.index(f"make {folder}")
        assert f"flush {folder.parent}" in events[made : made + 2]
    for place, event in enumerate(events):
        if event.startswith("replace "):
            assert events[place + 1] == f"flush {Path(event.removeprefix('replace ')).parent}"
    commits = [place for place, event in enumerate(events) if event == f"replace {out / 'state'}"]
    lines = [
        place for place, event in enumerate(events) if event == f"flush {out / 'decisions.jsonl'}"
    ]
    assert len(lines) == 13
    releases = commits[-13:-1]  # the last commit saves the open block
    for line, commit in zip(lines[1:], releases, strict=True):
        assert commit < line
    for line, following in zip(lines[1:-1], releases[1:], strict=True):
        assert line < following


# --- columns.json ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [b"", b"[" * 10**5, b"{}", b'{"columns": 5, "log": {}, "check": ""}', b"\xff", b"[1]"],
)
def test_columns_that_are_damaged_are_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    run(tmp_path, SUMS, CUPS.head(20))
    path = tmp_path / "out" / "columns.json"
    whole = path.read_bytes()
    for wrong in (content, whole.replace(b"cups", b"cupz")):
        path.write_bytes(wrong)
        with pytest.raises(ConfigError, match=r"columns\.json is not what a run wrote: .*copy$"):
            run(tmp_path, SUMS, CUPS)
        with pytest.raises(ConfigError, match=r"columns\.json is not what a run wrote: .*copy$"):
            status_of(tmp_path / "out")
    path.write_bytes(whole)
    assert run(tmp_path, SUMS, CUPS)["releases"] == 12


def test_a_missing_columns_file_is_not_guessed(tmp_path: Path) -> None:
    """A log with its columns in another order would be added to the same sums."""
    settings = SUMS.replace("dimension = 1", "dimension = 2")
    log = polars.DataFrame({"north": [0.5] * 60, "south": [0.1] * 60})
    run(tmp_path, settings, log.head(20))
    (tmp_path / "out" / "columns.json").unlink()
    with pytest.raises(ConfigError, match=r"columns\.json is missing.* restore it"):
        run(tmp_path, settings, log.select("south", "north"))
