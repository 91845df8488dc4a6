"""If these fail, two releases may use the same noise, which then cancels out."""

import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

from discreet.errors import StateError
from discreet.release.noise import DiscreteLaplace
from discreet.release.randomness import seeded_bits, system_bits, this_process


def some_bits() -> list[int]:
    """Fifty draws of this thread's generator, which do not repeat by chance."""
    return [int(value) for value in DiscreteLaplace(2**48).draw(50, system_bits())]


def test_threads_do_not_share_random_bits() -> None:
    drawn: list[int] = []
    threads = [threading.Thread(target=lambda: drawn.extend(some_bits())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(drawn)) == 8 * 50


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_does_not_repeat_its_parent() -> None:
    some_bits()  # the parent's generator exists before the fork
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, " ".join(map(str, some_bits())).encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        theirs = {int(value) for value in pipe.read().split()}
    assert len(theirs) == 50
    assert not theirs & set(some_bits())


def test_two_processes_do_not_repeat_each_other() -> None:
    program = (
        "from discreet.release.noise import DiscreteLaplace; "
        "from discreet.release.randomness import system_bits; "
        "print(*DiscreteLaplace(2**48).draw(20, system_bits()))"
    )
    command = [sys.executable, "-c", program]
    runs = [
        subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(2)
    ]
    assert not set(runs[0].split()) & set(runs[1].split())


def test_a_fork_that_python_does_not_see_gets_random_bits_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A fork made in C runs no Python hooks: only the process id reveals it."""
    here = system_bits()
    before = this_process()
    assert system_bits() is here
    monkeypatch.setattr(os, "getpid", lambda: before[0] + 1)
    assert this_process() != before
    theirs = set(some_bits())
    assert system_bits() is not here
    monkeypatch.undo()
    assert not theirs & set(some_bits())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_with_a_process_id_used_before_gets_random_bits_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Process ids are used again, so forks are counted too."""
    some_bits()
    reader, writer = os.pipe()
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        monkeypatch.setattr(os, "getpid", lambda: parent)
        os.write(writer, " ".join(map(str, some_bits())).encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        theirs = {int(value) for value in pipe.read().split()}
    assert len(theirs) == 50
    assert not theirs & set(some_bits())


def test_generators_cannot_be_copied() -> None:
    with pytest.raises(StateError, match="repeat the noise"):
        pickle.dumps(system_bits())


def test_seeded_bits_repeat_for_the_same_release_only() -> None:
    first, again, other = (
        DiscreteLaplace(2**48).draw(10, seeded_bits(1, index)) for index in (0, 0, 1)
    )
    assert np.array_equal(first, again)
    assert not np.intersect1d(first, other).size
