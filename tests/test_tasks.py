"""Experiments that go on where they were stopped."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from discreet.tasks import ResultStore, repeat

CALLS: list[float] = []


def halved(number: float) -> float:
    CALLS.append(number)
    return number / 2


def test_what_was_done_is_not_done_again_and_a_line_cut_short_is(tmp_path: Path) -> None:
    place = tmp_path / "folder" / "done.jsonl"
    CALLS.clear()
    assert repeat(halved, [(1.0,), (3.0,)], label="", workers=1, store=ResultStore(place)) == [
        0.5,
        1.5,
    ]
    assert repeat(
        halved, [(1.0,), (3.0,), (5.0,)], label="", workers=1, store=ResultStore(place)
    ) == [0.5, 1.5, 2.5]
    assert CALLS == [1.0, 3.0, 5.0]
    lines = place.read_text().splitlines()
    assert [json.loads(line)["result"] for line in lines] == [0.5, 1.5, 2.5]
    place.write_text("\n".join([*lines[:2], lines[2][:-3]]))
    assert repeat(
        halved, [(1.0,), (3.0,), (5.0,)], label="", workers=1, store=ResultStore(place)
    ) == [0.5, 1.5, 2.5]
    assert CALLS == [1.0, 3.0, 5.0, 5.0]


def test_a_result_after_a_line_cut_short_is_a_line_of_its_own(tmp_path: Path) -> None:
    """Otherwise it is lost with the torn line, and done again at every start."""
    place = tmp_path / "done.jsonl"
    for torn in ('{"task": "ab', '{"task": "ab", "result": 7}', "\ud800", "[" * 10**5):
        place.write_bytes(b'{"task": "whole", "result": 1}\n' + torn.encode(errors="surrogatepass"))
        store = ResultStore(place)
        store.keep("new", 2)
        store.keep("newer", 3)
        again = ResultStore(place)
        assert [again.find(key) for key in ("whole", "new", "newer")] == [
            (True, 1),
            (True, 2),
            (True, 3),
        ]
        assert again.find("ab") == ((True, 7) if torn.endswith("}") else (False, None))


def test_an_executor_of_ones_own_does_the_work_and_stays_open() -> None:
    with ThreadPoolExecutor(2) as pool:
        assert repeat(halved, [(1.0,), (3.0,)], label="", executor=pool) == [0.5, 1.5]
        assert pool.submit(halved, 8.0).result() == 4.0
