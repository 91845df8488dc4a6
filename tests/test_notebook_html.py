"""If these fail, a notebook shows personal data, runs what a label says, or shows nothing."""

import subprocess
import sys
from typing import Any
from xml.etree import ElementTree

import numpy as np
import polars
import pytest

from discreet import (
    ContextualBandit,
    Hedge,
    Privacy,
    RunningSum,
    SetMaximizer,
    SetSelector,
    StreamingLearner,
    html,
    together,
)
from discreet.audit.cases.learners import cases
from discreet.domains import LpBall, UniformMatroid
from discreet.engine.readings import Report, Scores
from discreet.functions import ClickModel, Nearby
from discreet.learners.streaming_learner.published import Published
from discreet.losses import SquaredLoss
from discreet.records.check import NOT_PRIVATE, Check
from discreet.simulate.planning.plan import Plan, Share

USUAL = Privacy(1.0, 1e-6)
HOSTILE = "<img src=x onerror=alert(1)>\"'&\x00"
"""A label that would inject an element, end an attribute, or be no XML."""
SVG = "{http://www.w3.org/2000/svg}"
TAGS = {"div", "p", "table", "thead", "tbody", "tr", "th", "td", "span", "details", "summary"}
DRAWN = {"svg", "title", "desc", "style", "text", "path", "rect", "g"}


def page(shown: Any) -> ElementTree.Element:
    """Return the HTML of an object, which is well-formed and has no foreign element."""
    root = ElementTree.fromstring(shown._repr_html_())
    tags = {element.tag for element in root.iter()}
    assert tags <= TAGS | {"style"} | {f"{SVG}{tag}" for tag in DRAWN}
    for element in root.iter():
        assert not [name for name in element.attrib if name.startswith("on") or name == "href"]
        if element.tag == f"{SVG}svg":
            assert element.get("role") == "img"
            assert element.findtext(f"{SVG}title")
    return root


def text_of(shown: Any) -> str:
    """Return what a reader sees."""
    root = page(shown)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.removeprefix(SVG) == "style":
                child.text = ""
    return " ".join(" ".join(root.itertext()).split())


def plan_of_labels(value: str) -> Plan:
    """Return a plan whose facts have this text."""
    trials = [Share(1.0, 1000, 0.5, 0.01), Share(2.0, 4000, 0.95, None)]
    return Plan(
        facts={"method": value, "epsilon": 1.0, "delta": 0.0, "contributions": 1},
        in_words=value,
        world=value,
        worlds=4,
        who=value,
        value=value,
        people=1000,
        people_simulated=500,
        minutes_for_all_people=3,
        expected_share=0.5,
        standard_error=0.01,
        share_by_epsilon=trials,
        share_by_people=trials,
        epsilon_for_90_percent=None,
        people_for_90_percent=4000,
        minutes_for_more_people=None,
    )


def hostile_objects() -> list[Any]:
    """Return one object of each kind, with a hostile label wherever one may stand."""
    labels = ["tea", HOSTILE]
    hedge = Hedge(labels, horizon=10, privacy=Privacy(1.0), seed=1)
    shop = SetMaximizer(labels, 1, 10, USUAL, feedback="clicks", seed=1)
    arms = ContextualBandit(labels, [HOSTILE], 10, USUAL, seed=1)
    selector = SetSelector(
        UniformMatroid(2, 1), USUAL, function=ClickModel(), labels=labels, seed=1
    )
    return [
        hedge,
        hedge.scores(),
        hedge.guarantee,
        shop,
        shop.scores(),
        arms,
        together(hedge, shop),
        selector.fit(np.full((20, 2), 0.5)),
        Scores(np.array([0.5, 0.25]), None, tuple(labels)),
        Report(np.array([10]), np.array([0.5]), np.array([0.25]), HOSTILE),
        Published(labels, np.ones(2), np.ones(2), 0.0, 1.0),
        Check(2, 1, {HOSTILE: 1}, (HOSTILE,)),
        plan_of_labels(HOSTILE),
    ]


@pytest.mark.parametrize("shown", hostile_objects(), ids=lambda shown: type(shown).__name__)
def test_a_hostile_label_stays_a_text(shown: Any) -> None:
    page(shown)
    assert "<img" not in shown._repr_html_()


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_every_learner_shows_its_public_facts(case: Any) -> None:
    learner = case.make()
    text = text_of(learner)
    assert text.startswith(type(learner).__name__)
    assert f"epsilon spent: 0 of {learner.guarantee.epsilon:.3g}" in text
    assert f"docs/guarantees/{learner.guarantee.proof}" in text
    assert learner.facts["why"] in text


def test_a_learner_shows_nothing_of_people_before_their_release() -> None:
    hedge = Hedge(3, 40, USUAL, block=10, seed=1)
    shown = []
    for gains in ([0.123456, 0.0, 0.0], [0.0, 1.0, 1.0]):
        hedge = Hedge(3, 40, USUAL, block=10, seed=1)
        hedge.observe_many([gains] * 4)
        shown.append(hedge._repr_html_())
    assert shown[0] == shown[1]
    assert "123456" not in shown[0]
    assert "4 of 40" in text_of(hedge)


def test_a_learner_shows_its_decision() -> None:
    shop = SetMaximizer([f"sku {number}" for number in range(60)], 50, 99, USUAL, seed=1)
    text = text_of(shop)
    assert "now: slate" in text
    assert "… 50 in all" in text
    assert all(str(label) in text for label in shop.decision["slate"][:40])
    assert "Now: chances" in text_of(Hedge(["tea", "milk"], 9, USUAL))
    assert "the 10 largest of 12" in text_of(Hedge(12, 9, USUAL))
    arms = ContextualBandit(2, 8, 400, USUAL, seed=1)
    assert "now: weights none yet" in text_of(arms)
    contexts = np.random.default_rng(0).uniform(-1, 1, (400, 8))
    while arms.clock < 400:
        arms.release_if_due()
        part = contexts[arms.clock :][: arms.rounds_until_release]
        arms.close_many(arms.open_many(part), np.clip(part[:, 0], 0, 1))
    arms.release_if_due()
    assert "… 8 in all" in text_of(arms)
    sums = RunningSum(12, None, USUAL, bound=1.0)
    assert "0, 0, 0, 0, 0, 0, 0, 0, 0, 0, … 12 in all" in text_of(sums)
    assert "0, without end" in text_of(sums)
    classes = StreamingLearner(
        LpBall(3), SquaredLoss(), 400, USUAL, feature_bound=1.0, target_bound=1.0, intercept=True
    )
    assert "now: intercept 0" in text_of(classes)


def test_a_seeded_run_stands_out_as_simulated() -> None:
    for seed, warns in ((1, True), (None, False)):
        hedge = Hedge(3, 40, USUAL, seed=seed)
        shop = SetMaximizer(
            3, 1, 400, USUAL, feedback="clicks", stream="iid", report=0.1, seed=seed
        )
        while shop.releases < 1:
            shop.observe_many([None] * shop.rounds_until_release)
            shop.release_if_due()
        model = StreamingLearner(
            LpBall(2), SquaredLoss(), 100, USUAL, feature_bound=1.0, target_bound=1.0, seed=seed
        )
        readings = (hedge.scores(), shop.report(), model.published)
        for shown in (hedge, hedge.guarantee, *readings):
            assert ("discreet-block warns" in shown._repr_html_()) == warns
            assert ("SIMULATED with a seed" in text_of(shown)) == warns


def test_a_guarantee_shows_its_text_and_what_is_spent() -> None:
    sums = RunningSum(1, 100, USUAL, bound=1.0, seed=1)
    sums.add([1.0])
    text = text_of(sums.guarantee)
    for paragraph in sums.guarantee.paragraphs:
        assert paragraph.removeprefix(sums.guarantee.warning).strip()[:80] in text
    assert f"epsilon spent: {sums.guarantee.epsilon_spent:.3g} of 1" in text
    joint = text_of(together(sums, Hedge(3, 40, USUAL)))
    assert "learner 1, replace one round 1 of 100 releases made" in joint
    assert "learner 2, replace one round 0 of" in joint


def test_scores_show_the_largest_candidates_with_their_noise() -> None:
    many = Scores(np.arange(100.0), np.full(100, 0.5), tuple(range(100)))
    text = text_of(many)
    assert "the 20 largest of 100" in text
    assert "99 99.0 ± 1.0" in text
    assert "79 79.0" not in text
    sums = RunningSum(2, 10, USUAL, bound=1.0).scores()
    assert "Scores" in text_of(sums)
    assert list(sums.as_dict()) == sums.to_frame()["label"].to_list() == [0, 1]
    slots = text_of(Scores(np.ones((12, 2)), None, ("tea", "milk")))
    assert "Scores in slot 1 of 12" in slots
    assert "the next slots" in slots
    assert "slot 11" not in slots


def test_a_report_shows_the_course_of_what_was_earned() -> None:
    report = Report(
        np.array([100, 300]), np.array([0.25, 0.5]), np.array([0.01, 0.01]), "share who clicked"
    )
    text = text_of(report)
    assert "What was earned: share who clicked, block by block" in text
    assert "first 25 %, last 50 %" in text
    long = Report(np.arange(1, 1501), np.arange(1500.0), np.ones(1500))
    assert "the newest 1,000 of 1,500" in text_of(long)
    none = Report(np.zeros(0, np.int64), np.zeros(0), np.zeros(0))
    assert "Nothing is released yet." in text_of(none)


def test_coefficients_show_their_intervals_and_a_table() -> None:
    one = Published(["size", "age"], np.array([2.0, -1.0]), np.array([0.1, np.nan]), 5.0, 0.5)
    text = text_of(one)
    assert "size 2.00 ± 0.20; age −1" in text
    assert "intercept 5 0.500" in text
    zeros = np.zeros((22, 1))
    classes = text_of(Published(["size"], zeros, zeros, zeros[:, 0], zeros[:, 0]))
    assert "class 19" in classes
    assert "and 2 more classes" in classes


def test_a_check_is_shown_with_its_warning() -> None:
    text = text_of(Check(4, 2, {"milk: no number": 2}, ("the log has 4 rows",)))
    assert NOT_PRIVATE in text
    assert "Note: the log has 4 rows" in text
    assert "milk: no number 2" in text


def test_a_choice_shows_its_items_and_their_worth() -> None:
    sites = tuple((x / 2, y / 2) for x in range(3) for y in range(3))
    city = Nearby(sites, reach=0.3, box=((0.0, 1.0), (0.0, 1.0)))
    selector = SetSelector(UniformMatroid(9, 2), Privacy(1.0), function=city, seed=1)
    chosen = selector.fit(np.full((500, 2), 0.5))
    text = text_of(chosen)
    assert "Chosen set of 2" in text
    assert "Worth of the set" in text
    assert "people 500" in text


def test_a_plan_shows_its_curves() -> None:
    text = text_of(plan_of_labels("slates"))
    assert "The value that this budget keeps" in text
    assert "Share of the value by epsilon" in text
    assert "all 1,000: takes minutes=3" in text
    assert "epsilon needed for 90 % none: 2 gives 95.0 %" in text


# --- blocks ---------------------------------------------------------------------------------------


def test_a_long_table_says_how_many_rows_are_left_out() -> None:
    shown = html.table(["number"], [(number,) for number in range(1060)])
    assert shown.count("<tr>") == 51
    assert "and 1,010 more rows" in shown
    assert html.table(["number"], []) == ""


# --- frames ---------------------------------------------------------------------------------------


def test_results_become_frames_with_one_row_per_entry() -> None:
    labels: list[str | int] = ["tea", 7]
    hedge = Hedge(labels, horizon=10, privacy=Privacy(1.0), seed=1)
    frame = hedge.scores().to_frame()
    assert frame.columns == ["label", "value", "standard_deviation"]
    assert frame["label"].to_list() == ["tea", "7"]
    slots = Scores(np.array([[0.5, 0.25], [0.0, 1.0]]), None, (1, 2**70)).to_frame()
    assert slots.rows()[1][:3] == (0, str(2**70), 0.25)
    assert slots["slot"].to_list() == [0, 0, 1, 1]
    assert slots["standard_deviation"].is_nan().all()
    report = Report(np.array([10, 20]), np.array([0.5, 0.6]), np.array([0.1, 0.2])).to_frame()
    assert report.rows() == [(10, 0.5, 0.1), (20, 0.6, 0.2)]
    assert report.columns == ["rounds", "value", "standard_deviation"]
    check = Check(4, 2, {"milk: no number": 2}).to_frame()
    assert check.rows() == [("milk: no number", 2)]
    assert Check(4, 0).to_frame().schema == {"rule": polars.String, "rows": polars.Int64}


def test_a_choice_becomes_a_frame_in_the_order_of_its_draws() -> None:
    selector = SetSelector(
        UniformMatroid(3, 2), USUAL, function=ClickModel(), labels=["a", "b", "c"], seed=1
    )
    chosen = selector.fit(np.full((20, 3), 0.5))
    frame = chosen.to_frame()
    assert frame.columns == ["item", "number", "worth"]
    assert frame["item"].to_list() == [traced.item for traced in chosen.trace]
    assert frame["worth"].is_nan().all()  # only a histogram gives them
    assert [["a", "b", "c"][number] for number in frame["number"]] == frame["item"].to_list()


def test_frames_without_polars_are_refused_in_one_line() -> None:
    program = (
        "import sys; sys.modules['polars'] = None; import numpy as np;"
        "from discreet.engine.readings import Scores;"
        "scores = Scores(np.ones(2), None, (0, 1)); scores._repr_html_(); scores.to_frame()"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.stderr.splitlines()[-1] == (
        "discreet.errors.ConfigError: frames need Polars: pip install 'discreet[tables]'"
    )
