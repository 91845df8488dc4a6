"""Open rounds: growth of the time per answer and per checkpoint with the open rounds."""

from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

from discreet import Hedge, Privacy

ANSWER = [1.0, 0.0, 0.5]


def answers_one_by_one() -> float:
    """Seconds for 10⁴ answers over seconds for 2·10³, to one `open_many`, in random order."""
    return round(
        min(_answers(10_000) for _ in range(3)) / min(_answers(2_000) for _ in range(3)), 2
    )


def _answers(count: int) -> float:
    hedge = Hedge(3, 40_000, Privacy(1.0), block=20_000, seed=1)
    tickets = list(hedge.open_many(count))
    order = np.random.default_rng(0).permutation(count)
    begin = perf_counter()
    for place in order:
        hedge.close(tickets[place], ANSWER)
    return perf_counter() - begin


def checkpoint_with_many_open() -> float:
    """Time per answer with `checkpoint=1` and 16,000 rounds open, over the time with 100 open."""
    return round(_checkpoint(16_000) / _checkpoint(100), 2)


def _checkpoint(count: int, answers: int = 50) -> float:
    """Return the median time per answer, to rounds that were opened one by one."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "hedge.state"
        hedge = Hedge(3, 40_000, Privacy(1.0), block=20_000, seed=1, journal=path, checkpoint=1)
        tickets = [hedge.open() for _ in range(count)]
        order = np.random.default_rng(0).permutation(count)[:answers]
        seconds = []
        for place in order:
            begin = perf_counter()
            hedge.close(tickets[place], ANSWER)
            seconds.append(perf_counter() - begin)
        hedge.detach()
    return float(np.median(seconds))
