"""If these fail, a default is called better or worse than another mode by a wrong measure."""

import json
from pathlib import Path

import numpy as np
import pytest

import report
import ways
from discreet import ConfigError, Privacy, SetMaximizer, SetMinimizer, StreamingLearner
from discreet.domains import LpBall
from discreet.simulate.problems.problem import pieces
from ways_of_learning import GROUPS, MEASURES, coefficients, compare, costs, slates, verdict
from ways_of_learning.mixing import Mixing
from ways_of_learning.modes import is_same
from ways_of_learning.passing import Moments, best_fixed

BOTH = Privacy(1.0, 1e-6)


# --- streams


def test_an_alternating_stream_changes_at_the_releases_of_the_learner_that_meets_it() -> None:
    learner = SetMaximizer(10, 2, 1000, BOTH, seed=1)
    changing = slates.drawn("alternate", 1000, items=10, seed=1)
    kinds = len(changing.chances) // 2
    worlds = []
    for piece in pieces(learner, 1000, 10_000):
        types = changing.met(piece, learner.releases)
        assert ((types >= kinds) == (learner.releases % 2 == 1)).all()
        worlds.append(bool(types[0] >= kinds))
        learner.observe_many(changing.chances[types])
    assert learner.releases > 5
    assert worlds == [number % 2 == 1 for number in range(len(worlds))]


def test_the_best_slate_in_hindsight_is_that_of_the_visitors_who_came() -> None:
    changing = slates.drawn("alternate", 1000, items=10, seed=2)
    blocks = (20, 400)
    came = []
    for block in blocks:
        learner = SetMaximizer(10, 2, 1000, BOTH, block=block, seed=1)
        _, world = slates.played(learner, changing, seed=1)
        came.append(world)
        rows = world.rows(0, 1000)
        slate = world.best_slate(2)
        assert world.worth(slate) == pytest.approx((1 - np.prod(1 - rows[:, slate], axis=1)).sum())
        start = learner.settings.block
        assert (world.types[:start] == changing.types[:start]).all()
    assert not np.array_equal(came[0].types, came[1].types)


def test_the_best_set_in_hindsight_is_that_of_the_visitors_who_came() -> None:
    world = costs.drawn("alternate", 400, items=6, seed=3)
    assert isinstance(world, costs.ChangingBundles)
    again = SetMinimizer(6, 400, BOTH, function=world.function, seed=1)
    rows = []
    for piece in pieces(again, 400, 10_000):
        source = world.other if again.releases % 2 else world
        rows.append(source.rows(piece.start, piece.stop))
        again.observe_many(rows[-1])
    together = np.concatenate(rows)
    learner = SetMinimizer(6, 400, BOTH, function=world.function, seed=1)
    _, hindsight = costs.spent(learner, world)
    np.testing.assert_allclose(hindsight.totals, together.sum(axis=0))
    sets = (np.arange(64)[:, None] >> np.arange(6)) % 2
    every = [world.costs(together, chosen.astype(float)).sum() for chosen in sets]
    assert hindsight.best == pytest.approx(min(every), abs=1e-3)


def test_drifting_and_exchanged_streams_end_in_the_second_world() -> None:
    drift = Mixing("drift", 10_000, seed=1).of_other(range(10_000), 0)
    assert drift[:1000].mean() < 0.1
    assert drift[-1000:].mean() > 0.9
    exchange = Mixing("exchange", 10, seed=1).of_other(range(3, 8), 4)
    assert exchange.tolist() == [False, False, True, True, True]


def test_an_unknown_stream_is_refused() -> None:
    with pytest.raises(ConfigError, match="data must be one of"):
        Mixing("odd", 10, seed=1)  # type: ignore[arg-type]


def test_the_best_fixed_coefficients_are_the_least_squares_inside_a_ball() -> None:
    generator = np.random.default_rng(0)
    features = generator.normal(size=(500, 3))
    moments = Moments.none(3)
    moments.add(features, features @ [0.3, -0.2, 0.1])
    np.testing.assert_allclose(best_fixed(LpBall(3), moments), [0.3, -0.2, 0.1], atol=1e-6)
    moments.add(features, features @ [9.0, 0.0, 0.0])
    assert np.linalg.norm(best_fixed(LpBall(3), moments)) == pytest.approx(1.0)


# --- modes


def test_the_default_mode_has_its_own_value_and_is_not_run_twice() -> None:
    problem = coefficients.over("2", "plain", 500, BOTH, 4)
    samples = problem.people(9)
    outcomes = [
        problem.outcome(problem.learner(samples, 5, mode=mode), samples)
        for mode in ("auto", "leader")
    ]
    assert outcomes[0] == outcomes[1]
    setting = {
        "kind": "plain",
        "p": "2",
        "dimension": 4,
        "horizon": 500,
        "epsilon": 1.0,
        "delta": 1e-6,
    }
    values = compare("streaming", setting, 9)
    assert "leader" not in values
    assert {"auto", "whitened", "frank-wolfe"} == set(values)


def test_two_learners_are_equal_only_with_equal_modes_settings_and_plans() -> None:
    def model(mode: str, horizon: int = 10_000, dimension: int = 100) -> StreamingLearner:
        return coefficients.over("2", "plain", horizon, BOTH, dimension).learner(mode=mode)

    assert not is_same(model("auto"), model("leader"))
    assert not is_same(model("auto"), model("auto", horizon=20_000))
    # "whitened" measures second moments, "auto" does not
    assert not is_same(model("auto"), model("whitened"))
    assert is_same(model("auto", dimension=4), model("whitened", dimension=4))


def test_every_group_has_a_measure() -> None:
    assert GROUPS.keys() == MEASURES.keys()


# --- verdicts


def test_a_world_with_nothing_to_gain_is_left_out_and_such_a_cell_is_dropped() -> None:
    edges, visitors = np.array([[0, 1]]), 100
    nothing = costs.Hindsight(edges, np.array([0.5, 0.5, 0.0]), visitors)
    assert nothing.share(0.0) is None
    something = costs.Hindsight(edges, np.array([0.0, 20.0, -20.0]), visitors)
    assert something.share(-10.0) == pytest.approx(0.5)
    assert verdict([{}] * 24, "share") is None
    assert verdict([{}] * 21 + [{"auto": 0.5, "sum": 0.6}] * 3, "share") is None


def test_small_or_uncertain_differences_do_not_beat_a_default() -> None:
    small = verdict([{"auto": 0.5, "sum": 0.51}] * 4, "share")
    assert small is not None
    assert not small.is_beaten
    doubtful = verdict(
        [{"auto": 0.5, "sum": 0.5 + more} for more in (0.0, 0.1, 0.05, 0.2, 0.01, 0.1)], "share"
    )
    assert doubtful is not None
    assert doubtful.is_unsettled
    assert not doubtful.is_beaten


def test_a_smaller_loss_is_better_and_noise_is_compared_in_proportion() -> None:
    loss = verdict([{"auto": 0.5, "leader": 0.1, "corners": 0.9}] * 4, "loss")
    assert loss is not None
    assert (loss.best, loss.is_beaten) == ("leader", True)
    assert loss.behind == pytest.approx(0.4)
    noise = verdict([{"auto": 20.0, "toeplitz": 20.0, "fresh": 16.0}], "noise")
    assert noise is not None
    assert noise.behind == pytest.approx(0.25)
    worse = verdict([{"auto": 1.2 + small} for small in (0.0, 0.01, 0.0, 0.01)], "loss")
    assert worse is not None
    assert worse.is_worse_than_nothing


def test_new_worlds_judge_the_mode_that_was_best_before() -> None:
    worlds = [{"auto": 0.5, "sum": 0.6, "hedge": 0.9}] * 4
    judged = verdict(worlds, "share", best="sum")
    assert judged is not None
    assert judged.best == "sum"
    assert judged.behind == pytest.approx(0.1)


# --- the benchmark


def test_cells_are_unique_and_quick_ones_are_some_of_them() -> None:
    names = [cell.name for cell in ways.cells()]
    assert len(set(names)) == len(names) > 1000
    quick = {cell.name for cell in ways.cells(quick=True)}
    assert quick < set(names)
    assert {cell.group for cell in ways.cells()} == set(GROUPS) - {"adversary"}  # single figures


def test_the_report_has_all_keys_and_a_second_run_reads_stored_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ways.THREADS:
        monkeypatch.setenv(name, "1")  # restored after the test
    stored = tmp_path / "stored.jsonl"
    out = tmp_path / "ways-part.json"
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    options = ["--quick", "--only", "hedge", "--workers", "1", "--keep", str(stored)]
    ways.main(options)
    found = json.loads(out.read_text())
    assert found.keys() == {
        "made",
        "settings",
        "auto_behind_best",
        "beaten",
        "unsettled",
        "worse_than_nothing",
        "dropped",
        "pure_1e4",
        "l1_pure_d50",
        "small_eps_1e4",
        "pure_or_not",
        "streams",
        "adversary",
        "alternating",
        "adversary_price",
        "adversary_microseconds",
        "modes",
        "parameters",
        "nodes_over_before",
    }
    assert (found["modes"], found["parameters"]) == (19, 94)
    assert set(found["streams"]) == {
        f"hedge/none/{data}" for data in ("iid", "drift", "exchange", "alternate")
    }
    for entry in found["auto_behind_best"].values():
        assert {"auto", "best", "behind", "error", "seeds"} <= entry.keys()
    lines = stored.read_text()
    ways.main(options)
    assert stored.read_text() == lines
    again = json.loads(out.read_text())
    assert again | {"made": found["made"]} == found


def test_an_unknown_learner_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        ways.main(["--only", "bandits"])
    assert "--only must name one of" in capsys.readouterr().err
