"""If these fail, a stopped experiment starts anew, or loses results."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from discreet.tasks import ResultStore, repeat

CALLS: list[float] = []


def halved(number: float) -> float:
    """An experiment that records its calls."""
    CALLS.append(number)
    return number / 2


def halves(numbers: list[float], path: Path) -> list[float]:
    """The experiment's results, with those of earlier runs from a file."""
    tasks = [(number,) for number in numbers]
    return repeat(halved, tasks, label="", workers=1, store=ResultStore(path))


def test_stored_results_are_not_computed_again_and_cut_off_ones_are(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "done.jsonl"
    CALLS.clear()
    assert halves([1.0, 3.0], path) == [0.5, 1.5]
    assert halves([1.0, 3.0, 5.0], path) == [0.5, 1.5, 2.5]
    assert CALLS == [1.0, 3.0, 5.0]
    lines = path.read_text().splitlines()
    assert [json.loads(line)["result"] for line in lines] == [0.5, 1.5, 2.5]
    path.write_text("\n".join([*lines[:2], lines[2][:-3]]))
    assert halves([1.0, 3.0, 5.0], path) == [0.5, 1.5, 2.5]
    assert CALLS == [1.0, 3.0, 5.0, 5.0]


def test_a_result_after_a_cut_off_line_is_a_line_of_its_own(tmp_path: Path) -> None:
    """Otherwise it is lost with that line, and computed again at every start."""
    path = tmp_path / "done.jsonl"
    for torn in ('{"task": "ab', '{"task": "ab", "result": 7}', "\ud800", "[" * 10**5):
        path.write_bytes(b'{"task": "whole", "result": 1}\n' + torn.encode(errors="surrogatepass"))
        store = ResultStore(path)
        store.keep("new", 2)
        store.keep("newer", 3)
        again = ResultStore(path)
        found = [again.find(key) for key in ("whole", "new", "newer")]
        assert found == [(True, 1), (True, 2), (True, 3)]
        assert again.find("ab") == ((True, 7) if torn.endswith("}") else (False, None))


def test_an_executor_of_the_caller_runs_the_tasks_and_stays_open() -> None:
    with ThreadPoolExecutor(2) as pool:
        assert repeat(halved, [(1.0,), (3.0,)], label="", executor=pool) == [0.5, 1.5]
        assert pool.submit(halved, 8.0).result() == 4.0
