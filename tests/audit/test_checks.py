"""If these fail, an audit that finds nothing means nothing: it would miss a broken promise."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from discreet import Hedge, Privacy
from discreet.arrays import Floats, Integers
from discreet.audit import LEAKS, Case, audit_transcript, check_learner, weakened
from discreet.audit.cases.learners import long_cases
from discreet.audit.doors import noise_cost, ratio_range
from discreet.audit.life import Life
from discreet.audit.report import (
    CASE_OF_LEAK,
    WEAK_PAIRS,
    Size,
    audit_weakened,
    everything,
    run_audit,
    understated_caught,
)
from discreet.audit.transcript import measured_costs, neighbours
from discreet.audit.weakened import AGGREGATORS, FACTOR
from discreet.engine.flat_state import flat
from discreet.engine.plan import State
from discreet.engine.request import Block
from discreet.engine.view import View
from discreet.errors import ConfigError
from discreet.release.aggregators import Aggregate, PublicCells
from discreet.release.door import Door
from discreet.release.noise import DiscreteGaussian, DiscreteLaplace
from discreet.release.sums.disjoint import DisjointSum
from discreet.release.sums.prefix_sum import Noised


def hedge(**more: Any) -> Hedge:
    settings: dict[str, Any] = {"privacy": Privacy(1.0, 1e-6), "block": 4} | more
    return Hedge(3, 12, **settings)


CASE = Case(
    "hedge", hedge, lambda generator: generator.uniform(0, 1, size=3), ([1.0],), [np.nan] * 3
)


def test_a_case_made_by_a_user_passes_the_contract() -> None:
    check_learner(CASE)


def test_costs_are_those_of_the_proofs() -> None:
    assert noise_cost(DiscreteGaussian(10), [3, -4]) == 25 / 200
    assert noise_cost(DiscreteLaplace(10), [3, -4]) == 0.7
    assert ratio_range([4, 1], [1, 1]) == pytest.approx(np.log(4))
    assert ratio_range([4, 0], [1, 1]) == np.inf


ALL = everything(1.0, 1e-6)
UNDERSTATED = [f"{aggregator} understated by {FACTOR}" for aggregator in AGGREGATORS]


@pytest.mark.parametrize("name", [*LEAKS, *UNDERSTATED])
def test_the_audit_catches_every_weakened_copy(name: str) -> None:
    assert audit_weakened([name]) == {name: True}


@pytest.mark.night
@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_a_sensitivity_understated_by_a_little_is_caught_wherever_it_is_released(
    case: Case,
) -> None:
    """Every aggregator that passes the door of a case is caught within 40 pairs."""
    pairs = understated_caught(case)
    assert pairs, "nothing passes the door"
    assert all(count is not None and count <= WEAK_PAIRS for count in pairs.values()), pairs


RULES_ON_LEAKS = (
    "nothing_about_a_person_shows_before_their_release",
    "the_ledger_is_what_the_plan_charges_and_the_guarantee_says",
)


@pytest.mark.parametrize("name", LEAKS)
def test_the_contract_catches_every_leak_past_the_door(name: str) -> None:
    case = next(case for case in ALL if case.name == CASE_OF_LEAK.get(name, "hedge"))
    with LEAKS[name](), pytest.raises(AssertionError, match=r"shows in|the ledger|the guarantee"):
        check_learner(case, RULES_ON_LEAKS)


def test_a_new_property_of_a_learner_is_audited_without_being_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def newest(self: Hedge) -> float:
        return float(self.snapshot().block["gains"].sum())

    monkeypatch.setattr(Hedge, "newest", property(newest), raising=False)
    with pytest.raises(AssertionError, match="other than by the door: newest"):
        audit_transcript(CASE, pairs=10)


def test_releases_after_an_extended_horizon_are_compared_with_their_charges() -> None:
    case = next(case for case in long_cases() if case.name == "long, clicks, living catalogue")
    learner = case.make(seed=1)
    pair = neighbours(case, learner, seed=0, number=0)
    steps = Life(pair, learner, lambda name, value: None, replaced=False).lead()
    assert learner.horizon == 300
    assert len(steps) == learner.releases > 9


@pytest.mark.parametrize("case", long_cases(), ids=lambda case: case.name)
def test_exchanges_trials_and_a_second_screening_cost_no_more_than_is_charged(case: Case) -> None:
    audit_transcript(case, pairs=4, seed=1)


@pytest.mark.parametrize("case", long_cases()[:1], ids=lambda case: case.name)
def test_a_person_who_counts_ten_times_in_an_exchange_is_caught(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = PublicCells.add

    def heavy(self: PublicCells, aggregate: Aggregate, cells: Integers, numbers: Floats) -> None:
        for _ in range(10):
            honest(self, aggregate, cells, numbers)

    monkeypatch.setattr(PublicCells, "add", heavy)
    audited = measured_costs(case, pairs=60, seed=1, enough=1 + 1e-6)
    assert audited.largest_cost_over_charge > 1.5


def test_aggregators_are_honest_again_after_a_weakened_audit() -> None:
    with weakened():
        pass
    assert audit_transcript(CASE, pairs=5).largest_cost_over_charge <= 1


def test_noise_that_depends_on_people_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = DisjointSum.step

    def peeking(
        self: DisjointSum, public: State, hidden: State, addend: Integers, noised: Noised
    ) -> tuple[State, State]:
        noise = self.calibrated.noise
        assert isinstance(noise, DiscreteLaplace)
        scale = noise.scale * (1 + int(addend[0]) % 2)
        other = DisjointSum(replace(self.calibrated, noise=DiscreteLaplace(scale)))
        return honest(other, public, hidden, addend, noised)

    monkeypatch.setattr(DisjointSum, "step", peeking)
    with pytest.raises(AssertionError, match="noise or rate depends on data"):
        audit_transcript(CASE, pairs=60)


def test_a_public_state_that_shows_people_past_the_door_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    honest = View.release

    def leaking(
        self: View, mask_counts: State, hidden: State, block: Block, door: Door
    ) -> tuple[State, State]:
        released, hidden = honest(self, mask_counts, hidden, block, door)
        return flat(released) | {"seen": int(block["gains"].values.sum())}, hidden

    monkeypatch.setattr(View, "release", leaking)
    with pytest.raises(AssertionError, match="visible depends on a person"):
        audit_transcript(CASE, pairs=20)


def test_the_audit_writes_a_report_and_reads_it_back(tmp_path: Path) -> None:
    console = Console(quiet=True)
    settings: dict[str, Any] = {
        "size": Size(5, 20),
        "epsilon": 2.0,
        "delta": 1e-5,
        "seed": 1,
        "workers": 1,
    }
    report = run_audit(["hedge"], **settings, out=tmp_path, console=console)
    assert report["ok"]
    assert {row["learner"] for row in report["rows"]} == {"Hedge"}
    assert json.loads((tmp_path / "audit.json").read_text()) == report
    assert (tmp_path / "audit.png").stat().st_size > 0
    with ThreadPoolExecutor(1) as pool:  # nothing is computed again
        again = run_audit(["hedge"], **settings, out=tmp_path, console=console, engine=pool)
    assert again == report
    with pytest.raises(ConfigError, match="nothing is called"):
        run_audit(["fortune"], **settings, out=tmp_path, console=console)


def test_one_misspelt_name_among_several_is_refused_and_the_nearest_is_named(
    tmp_path: Path,
) -> None:
    settings: dict[str, Any] = {"size": Size(1, 8), "epsilon": 2.0, "delta": 1e-5, "seed": 1}
    with pytest.raises(ConfigError, match=r"nothing is called 'Hegde': .*did you mean Hedge"):
        run_audit(["hedge", "Hegde"], **settings, out=tmp_path, console=Console(quiet=True))
    assert not list(tmp_path.iterdir())
