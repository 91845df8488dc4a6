"""If these fail, two people may be hidden by the same noise, which then cancels out."""

import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

from discreet.errors import StateError
from discreet.release.coins import Coin
from discreet.release.noise import uniform_below
from discreet.release.randomness import seeded_words, system_words


def some_words() -> list[int]:
    return uniform_below(2**62, 50, system_words()).tolist()


def test_threads_do_not_share_words() -> None:
    drawn: list[int] = []
    threads = [threading.Thread(target=lambda: drawn.extend(some_words())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(drawn)) == 8 * 50


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_does_not_repeat_its_parent() -> None:
    some_words()  # the parent's generator exists before the fork
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, " ".join(map(str, some_words())).encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        theirs = {int(word) for word in pipe.read().split()}
    assert len(theirs) == 50
    assert not theirs & set(some_words())


def test_two_processes_do_not_repeat_each_other() -> None:
    program = "from discreet.release.noise import uniform_below as u; from discreet.release.randomness import system_words as s; print(*u(2**62, 20, s()))"  # noqa: E501
    runs = [subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout for _ in range(2)]
    assert not set(runs[0].split()) & set(runs[1].split())


def test_generators_cannot_be_copied() -> None:
    with pytest.raises(StateError, match="repeat the noise"):
        pickle.dumps(system_words())


def test_simulations_repeat_themselves_and_nothing_else() -> None:
    first, again, other = (uniform_below(2**62, 10, seeded_words(1, index)) for index in (0, 0, 1))
    assert np.array_equal(first, again)
    assert not np.intersect1d(first, other).size


def test_coins_depend_on_key_and_round_only() -> None:
    faces = [Coin(b"k" * 16, round).below(1000) for round in range(300)]
    assert faces == [Coin(b"k" * 16, round).below(1000) for round in range(300)]
    assert len(set(faces)) > 200
    assert faces != [Coin(b"x" * 16, round).below(1000) for round in range(300)]
    assert all(0 <= Coin(b"k" * 16, round).uniform() < 1 for round in range(300))
