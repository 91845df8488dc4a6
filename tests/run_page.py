"""Run the examples of a page in this process, with the same random keys in every run.

    python -W error tests/run_page.py docs/guides/shop.md

Readers get keys of the operating system, so an example shows what holds in nearly every run. Here
the keys are fixed, so that a test of a page never fails by chance.
"""

import doctest
import os
import sys
from hashlib import shake_256
from itertools import count

_numbers = count()


def fixed_key(size: int) -> bytes:
    """Return the next key of a fixed sequence, in place of `os.urandom`."""
    return shake_256(b"page %d" % next(_numbers)).digest(size)


def main() -> None:
    """Run the examples; failures are printed, and end with exit code 1."""
    os.urandom = fixed_key
    ran = doctest.testfile(sys.argv[1], module_relative=False, optionflags=doctest.ELLIPSIS)
    sys.exit(bool(ran.failed) or not ran.attempted)


if __name__ == "__main__":
    main()
