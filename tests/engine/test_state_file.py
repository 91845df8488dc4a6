"""If these fail, a damaged or forged state is accepted, or crashes the program."""

import json
import os
import stat
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet import Privacy, RunningSum, SetMaximizer, StateError
from discreet.engine import state_file
from discreet.engine.formats import FORMATS, PRESENT
from discreet.engine.snapshot import OpenRounds, RoundsState
from discreet.errors import DiscreetError
from discreet.learners.forced import forced

START = state_file.START.size


def saved(path: Path) -> RunningSum:
    """Return a running sum that was saved after three people."""
    sums = RunningSum(2, 10, Privacy(1.0, 1e-6), bound=1.0)
    for _ in range(3):
        sums.add([0.5, 0.5])
    sums.save(path)
    return sums


def sealed(header: Any, rest: bytes = b"") -> bytes:
    """Return a file with this header and a valid checksum."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    length = START + len(text) + len(rest) + 32
    start = state_file.START.pack(state_file.MAGIC, FORMATS.newest, *PRESENT, length, len(text))
    body = start + text + rest
    return body + sha256(body).digest()


def opened(content: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the header and the arrays of a file."""
    size = state_file.START.unpack(content[:START])[-1]
    return json.loads(content[START : START + size]), content[START + size : -32]


@contextmanager
def quickly(seconds: float = 3.0) -> Iterator[None]:
    """Fail if the work inside takes longer."""
    begin = time.monotonic()
    yield
    assert time.monotonic() - begin < seconds


def test_a_state_is_read_as_it_was_written(tmp_path: Path) -> None:
    """It has all parts: a half-filled block, open rounds with masks, and mask counts."""
    path = tmp_path / "shop.state"
    shop = SetMaximizer(5, 2, 2000, Privacy(1.0, 1e-6), feedback="clicks", explore=0.9, seed=1)
    shop.observe_many(np.zeros(7, dtype=np.int64))
    shop.open(available=np.array([True, False, True, True, False]))
    shop.open_many(3, available=np.array([True, True, True, False, True]))
    shop.open_many(2)
    shop.save(path)
    content = path.read_bytes()
    snapshot = state_file.decode(content, "shop.state")
    assert state_file.encode(snapshot) == content
    assert snapshot.rounds.clock == 13
    assert [part.rounds.tolist() for part in snapshot.rounds.open] == [[7, 8, 9, 10, 11, 12]]
    assert snapshot.block["found"].any()
    assert snapshot.rounds.mask_counts["counts"].any()
    assert snapshot.ledger == shop.snapshot().ledger


def test_mask_counts_that_do_not_fit_the_learner_are_refused(tmp_path: Path) -> None:
    """Compiled code adds to mask counts, and relies on their shape."""
    path = tmp_path / "shop.state"
    shop = SetMaximizer(6, 2, 2000, Privacy(1.0, 1e-6), feedback="clicks", seed=1)
    shop.open(available=np.arange(6) > 1)
    shop.save(path)
    shop.detach()
    header, rest = opened(path.read_bytes())
    header["rounds"]["mask_counts"]["counts"]["shape"] = [2, 3]
    path.write_bytes(sealed(header, rest))
    with pytest.raises(StateError, match="does not fit its settings"):
        discreet.load(path)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda content: content[:-1], "truncated"),
        (lambda content: content[:100], "truncated"),
        (lambda content: content[:12], "truncated"),
        (lambda content: content[:3], "truncated"),
        (lambda content: content[:-40] + bytes([content[-40] ^ 1]) + content[-39:], "altered"),
        (lambda content: content.replace(b'"horizon": 10', b'"horizon": 99'), "altered"),
        (lambda content: content + b"more", "altered"),
        (
            lambda content: content[:8] + struct.pack("<HHHH", 999, 8, 2, 1) + content[16:],
            r"^sum.state needs discreet 8\.2\.1 or newer \(it has format 999, this version reads .*"
            "pip install --upgrade discreet$",
        ),
        (
            lambda content: content[:8] + (6).to_bytes(2, "little") + content[10:],
            r"^sum.state is older than discreet 0\.7\.0 \(it has format 6.*: begin again",
        ),
        (lambda content: b"PK" + content[2:], "not a discreet state file"),
        (lambda content: b"", "truncated|not a discreet state file"),
    ],
)
def test_a_damaged_file_is_refused_with_the_cause(
    tmp_path: Path, damage: Callable[[bytes], bytes], message: str
) -> None:
    path = tmp_path / "sum.state"
    saved(path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(StateError, match=message):
        discreet.load(path)


@settings(max_examples=60)
@given(st.data())
def test_no_flipped_bit_goes_unnoticed(data: st.DataObject) -> None:
    content = bytearray(_example())
    content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(StateError):
        state_file.decode(bytes(content), "sum.state")


def _example() -> bytes:
    sums = RunningSum(2, 10, Privacy(1.0, 1e-6), bound=1.0, seed=1)
    sums.add([0.5, 0.5])
    return state_file.encode(sums.snapshot())


# --- other files


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null", "/dev/urandom"])
def test_a_device_is_no_state(device: str) -> None:
    with quickly(), pytest.raises(StateError, match="not a discreet state file"):
        discreet.load(device)


def test_a_pipe_is_no_state_and_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with quickly(), pytest.raises(StateError, match="not a discreet state file"):
        discreet.load(tmp_path / "pipe")
    with quickly(), pytest.raises(StateError):
        RunningSum(1, 10, Privacy(1.0), bound=1.0, journal=tmp_path / "pipe")


def test_a_folder_is_no_state(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    descriptors = len(os.listdir("/proc/self/fd"))
    for attempt in (
        lambda: discreet.load(tmp_path / "folder"),
        lambda: RunningSum(1, 10, Privacy(1.0), bound=1.0, journal=tmp_path / "folder"),
        lambda: RunningSum(1, 10, Privacy(1.0), bound=1.0).save(tmp_path / "folder"),
    ):
        with pytest.raises(StateError):
            attempt()
    assert len(os.listdir("/proc/self/fd")) == descriptors


@pytest.mark.parametrize(
    "path",
    ["x" * 300, "no\0name", "nowhere/at/all", "sum.state/inside", ""],
    ids=["long", "nul", "nowhere", "inside", "folder"],
)
def test_an_impossible_path_raises_no_foreign_error(tmp_path: Path, path: str) -> None:
    (tmp_path / "sum.state").write_bytes(b"")
    with pytest.raises(DiscreetError):
        discreet.load(str(tmp_path) + "/" + path)
    with pytest.raises(DiscreetError):
        RunningSum(1, 10, Privacy(1.0), bound=1.0, journal=str(tmp_path) + "/" + path)


@pytest.mark.parametrize(
    "start", [b"", state_file.MAGIC, sealed({})], ids=["nothing", "name", "header"]
)
def test_a_huge_file_is_refused_before_it_is_read(tmp_path: Path, start: bytes) -> None:
    """The file has eight gigabytes of zeros, and the process may use three."""
    path = tmp_path / "huge.state"
    path.write_bytes(start)
    os.truncate(path, 2**33)
    program = (
        "import resource, sys, discreet\n"
        "resource.setrlimit(resource.RLIMIT_AS, (3 * 2**30, 3 * 2**30))\n"
        "try:\n"
        "    discreet.load(sys.argv[1])\n"
        "except discreet.StateError:\n"
        "    sys.exit(7)\n"
    )
    with quickly(20.0):
        run = subprocess.run(
            [sys.executable, "-c", program, str(path)], capture_output=True, check=False
        )
    assert run.returncode == 7, run.stderr.decode()[-300:]


# --- malformed content with a valid checksum


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"DISCREET"',
        b"[" * 100_000,
        b'{"a":' * 50_000,
        b"9" * 10_000,
        b"\xff\xfe",
        b"NaN",
        {},
        {"public": 1, "hidden": [], "block": None},
    ],
)
def test_a_malformed_header_is_refused(tmp_path: Path, header: Any) -> None:
    path = tmp_path / "sum.state"
    path.write_bytes(sealed(header))
    with quickly(), pytest.raises(StateError, match="makes no sense"):
        discreet.load(path)


WRONG: list[Any] = [
    None, True, -1, 2**70, 1e308, "", "x", "9" * 50, [], [[]], {},
    {"$array": "<f8", "shape": [2**40]}, {"$array": "O", "shape": [1]}, {"$array": "<f8"},
    {"$array": "<f8", "shape": [-1]}, {"$array": "<f8", "shape": "ab"}, [1, 2, 3],
]  # fmt: skip
FIELDS = [
    "identity", "kind", "settings", "settings_hash", "calibration", "epoch", "index", "begin",
    "public", "hidden", "block", "ledger", "coin_key", "rounds", "failed", "settings.epsilon",
    "settings.horizon", "settings.dimension", "public.sum.prefix", "public.total",
    "hidden.sum.steps", "block.sum", "ledger.everyone", "ledger.cohort",
    "rounds.clock", "rounds.open", "rounds.mask_counts",
]  # fmt: skip


@pytest.mark.parametrize("field", FIELDS)
def test_a_state_with_one_wrong_field_raises_no_foreign_error(tmp_path: Path, field: str) -> None:
    """Such a state is refused, or goes on."""
    path = tmp_path / "sum.state"
    saved(path)
    content = path.read_bytes()
    for wrong in WRONG:
        header, rest = opened(content)
        place = header
        *outer, last = field.split(".", 1)
        for name in outer:
            place = place[name]
        assert last in place
        place[last] = wrong
        path.write_bytes(sealed(header, rest))
        try:
            with quickly():
                loaded = discreet.load(path)
                loaded.detach()
        except StateError:
            pass
        except Exception as error:
            pytest.fail(f"{field} = {wrong!r}: {type(error).__name__}: {error}")


def test_missing_arrays_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "sum.state"
    saved(path)
    header, rest = opened(path.read_bytes())
    path.write_bytes(sealed(header, rest[:-8]))
    with pytest.raises(StateError, match="makes no sense"):
        discreet.load(path)


def test_a_forged_ledger_that_is_spent_refuses_the_next_release(tmp_path: Path) -> None:
    """A forged ledger cannot be told from a true one, but it cannot overspend either."""
    path = tmp_path / "sum.state"
    sums = forced(RunningSum, "honaker", 1, 8, Privacy(1.0), bound=1.0, journal=path)
    sums.add([1.0])
    sums.detach()
    header, rest = opened(path.read_bytes())
    header["ledger"]["everyone"] = str(2**96)  # all of ε = 1
    path.write_bytes(sealed(header, rest))
    loaded = discreet.load(path)
    assert isinstance(loaded, RunningSum)
    with pytest.raises(discreet.BudgetError):
        loaded.add([1.0])
    assert loaded.releases == 1


def test_only_plain_values_can_be_stored() -> None:
    sums = RunningSum(1, 10, Privacy(1.0), bound=1.0)
    snapshot = sums.snapshot()
    odd: list[Any] = [object(), np.array([object()]), np.array(["text"]), {"nested": 1}, [1]]
    for context in odd:
        rounds = RoundsState(1, (OpenRounds(np.array([0, 1]), context=context),))
        with pytest.raises(StateError, match="plain arrays, numbers and strings"):
            state_file.encode(replace(snapshot, rounds=rounds))


@pytest.mark.parametrize("size", [1, 100, 10**6])
def test_a_file_is_flushed_whole_before_its_name_and_its_folder_after(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a power cut leaves an empty file under the name of the state."""
    done: list[Any] = []
    fsync = os.fsync
    rename = os.replace

    def flushed(descriptor: int) -> None:
        status = os.fstat(descriptor)
        done.append("folder" if stat.S_ISDIR(status.st_mode) else status.st_size)
        fsync(descriptor)

    def renamed(*paths: Any) -> None:
        done.append("name")
        rename(*paths)

    monkeypatch.setattr(os, "fsync", flushed)
    monkeypatch.setattr(os, "replace", renamed)
    state_file.write(tmp_path / "sum.state", b"x" * size)
    assert done == [size, "name", "folder"]


def test_a_file_written_over_another_is_whole_or_untouched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "sum.state"
    state_file.write(path, b"first")

    def dies(*paths: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", dies)
    with pytest.raises(KeyboardInterrupt):
        state_file.write(path, b"second")
    assert path.read_bytes() == b"first"
    assert os.listdir(tmp_path) == ["sum.state"]
