"""If these fail, every process compiles its kernels again, or a kernel has the law of last week."""

import subprocess
import sys
from pathlib import Path

KERNELS = """
from functools import cache
from discreet.compiled import called_by_kernels, compiled

@cache
def sum_of(law):
    called = called_by_kernels(law)

    @compiled
    def add_up(numbers):
        total = 0.0
        for number in numbers:
            total += called(number)
        return total

    return add_up
"""
LAWS = """
def double(number):
    return 2.0 * number

def square(number):
    return number * number
"""
PROGRAM = """
import kernels, laws, numpy as np
for law in (laws.double, laws.square):
    made = kernels.sum_of(law)
    print(made(np.array([1.0, 3.0])), sum(made.stats.cache_hits.values()))
"""


def printed(folder: Path) -> list[str]:
    """What a new process computes, and how many kernels it finds in the cache."""
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, cwd=folder
    )
    return run.stdout.splitlines()


def test_kernels_of_a_law_are_found_in_the_cache_until_the_law_changes(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(KERNELS)
    (tmp_path / "laws.py").write_text(LAWS)
    assert printed(tmp_path) == ["8.0 0", "10.0 0"]
    assert printed(tmp_path) == ["8.0 1", "10.0 1"]

    (tmp_path / "laws.py").write_text(LAWS.replace("2.0", "5.0"))
    assert printed(tmp_path) == ["20.0 0", "10.0 1"]
