"""If these fail, a lost worker of a cluster loses or doubles people, or locations matter.

A real cluster has two worker processes, one of which is killed in the middle of a step.
"""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet import ConfigError, Partitions, Privacy, SetSelector
from discreet.domains import UniformMatroid
from discreet.functions import ClickModel, Nearby, SetFunction

distributed = pytest.importorskip(
    "distributed", reason="Dask is not installed (pip install discreet[scale])"
)
pytestmark = pytest.mark.filterwarnings("default")  # Dask's own, from its event loop

BOTH = Privacy(1.0, 1e-6)
SITES = tuple((x / 4, y / 4) for x in range(5) for y in range(5))
CITY = Nearby(SITES, 0.3, ((0.0, 1.0), (0.0, 1.0)))
EACH = 1500
"""Number of people in a partition."""


def likes(number: int) -> np.ndarray:
    """Return the people of a partition, made from its number alone."""
    generator = np.random.default_rng([3, number])
    return (generator.random((EACH, 8)) < np.linspace(0.05, 0.35, 8)).astype(np.float64)


def homes(number: int) -> np.ndarray:
    return np.random.default_rng([4, number]).normal([0.25, 0.75], 0.1, size=(EACH, 2))


class Kill:
    """Makes the people of a partition; kills the worker that reads partition 3 in a later pass."""

    def __init__(self, folder: Path, reading: int) -> None:
        self.folder = folder
        self.reading = reading

    def __call__(self, number: int) -> np.ndarray:
        if number == 3:
            reading = len(list(self.folder.glob("reading-*")))
            (self.folder / f"reading-{reading}-{os.getpid()}").touch()
            if reading == self.reading:
                (self.folder / f"killed-{os.getpid()}").touch()
                os.kill(os.getpid(), signal.SIGKILL)
        return likes(number)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            silence_logs=50,
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


def choice(
    engine: Any, people: Any, *, function: Any = ClickModel, items: int = 8, **more: Any
) -> dict[str, Any]:
    selector = SetSelector(
        UniformMatroid(items, 3), BOTH, function=function, engine=engine, seed=5, **more
    )
    return selector.fit(people).as_plain()


def test_the_choice_of_a_cluster_is_the_choice_of_one_machine(client: Any) -> None:
    parts = Partitions(4, likes)
    local = choice(None, parts, report=0.2)
    assert choice(client, parts, report=0.2) == local
    whole = np.concatenate([likes(number) for number in range(4)])
    assert choice(None, whole, report=0.2) == local  # the value, too: all integers are the same


def test_a_histogram_is_aggregated_on_the_workers(client: Any) -> None:
    parts = Partitions(4, homes)
    local = choice(None, parts, function=CITY, items=25)
    assert local["method"] == "histogram"
    assert choice(client.scheduler.address, parts, function=CITY, items=25) == local
    whole = np.concatenate([homes(number) for number in range(4)])
    assert choice(None, whole, function=CITY, items=25) == local


def test_a_worker_that_is_killed_in_the_middle_of_a_step_loses_and_doubles_nobody(
    client: Any, tmp_path: Path
) -> None:
    """Pass 0 counts people; pass 2 is the second step of the path."""
    before = set(client.scheduler_info()["workers"])
    chosen = choice(client, Partitions(6, Kill(tmp_path, reading=2)), report=0.2)
    assert len(list(tmp_path.glob("killed-*"))) == 1
    assert set(client.scheduler_info()["workers"]) != before  # a worker process died
    assert chosen == choice(None, Partitions(6, likes), report=0.2)


def test_local_rows_may_be_read_by_a_cluster(client: Any) -> None:
    rows = np.concatenate([likes(number) for number in range(2)])
    assert choice(client, rows) == choice(None, rows)
    assert choice(client, iter(rows)) == choice(None, rows)


def broken(number: int) -> np.ndarray:
    if number == 2:
        raise ValueError("the secret of 0.777")
    return likes(number)


def test_a_partition_that_cannot_be_read_is_named_and_nothing_is_spent(
    client: Any, tmp_path: Path
) -> None:
    for engine in (None, client):
        selector = SetSelector(
            UniformMatroid(8, 3),
            BOTH,
            function=ClickModel,
            engine=engine,
            journal=tmp_path / f"{engine is None}",
        )
        with pytest.raises(
            ConfigError, match=r"partition 2: .*ValueError.*nothing was spent"
        ) as refusal:
            selector.fit(Partitions(4, broken))
        assert "0.777" not in str(refusal.value)
        assert refusal.value.__cause__ is None
        chosen = selector.fit(Partitions(4, likes))
        assert chosen.guarantee.epsilon_spent <= 1.0


def test_callables_and_unreachable_clusters_are_refused() -> None:
    with pytest.raises(ConfigError, match="stay in this process"):
        SetSelector(UniformMatroid(3, 1), BOTH, function=SetFunction, engine="tcp://127.0.0.1:1")
    with pytest.raises(ConfigError, match="engine must be"):
        choice(3, Partitions(1, likes))
    with pytest.raises(ConfigError, match="no cluster answers at nowhere://"):
        choice("nowhere://127.0.0.1:1", Partitions(1, likes))
