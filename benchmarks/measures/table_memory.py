"""Print the peak memory of learning from a file, in megabytes above that after the imports.

python benchmarks/measures/table_memory.py FILE ROWS
"""

import sys
from pathlib import Path
from threading import Event, Thread

import nanoarrow  # noqa: F401  an import of the reader
import psutil

from discreet import Columns, Privacy, StreamingLearner, warm_up
from discreet.domains import LpBall
from discreet.losses import SquaredLoss
from discreet.records.files import open_table  # noqa: F401  an import of the reader

INTERVAL = 0.005
"""Seconds between two readings."""


class Peak:
    """The largest resident memory of this process while the block runs."""

    def __enter__(self) -> "Peak":
        self._process = psutil.Process()
        self.before = self.bytes = self._process.memory_info().rss
        self._ended = Event()
        self._thread = Thread(target=self._watch)
        self._thread.start()
        return self

    def _watch(self) -> None:
        while not self._ended.wait(INTERVAL):
            self.bytes = max(self.bytes, self._process.memory_info().rss)

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._thread.join()


def main() -> None:
    path, rows = Path(sys.argv[1]), int(sys.argv[2])
    warm_up()
    names = tuple(f"x{number}" for number in range(20))
    columns = Columns(names, "target", dict.fromkeys([*names, "target"], (-1.0, 1.0)))
    learner = StreamingLearner(LpBall, SquaredLoss, rows, Privacy(1.0, 1e-6), columns=columns)
    with Peak() as peak:
        learner.observe_stream(path)
    assert learner.clock == rows
    print((peak.bytes - peak.before) / 1e6)


if __name__ == "__main__":
    main()
