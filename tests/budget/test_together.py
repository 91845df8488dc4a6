"""If these fail, several learners reveal more about the same people than is stated."""

from itertools import product
from math import exp

import numpy as np
import pytest

import discreet
from discreet import ConfigError, ContextualBandit, Guarantee, Privacy, RunningSum
from discreet.budget.conversion import epsilon_of
from discreet.budget.ledger import Spending
from discreet.budget.privacy import pure, zcdp
from discreet.budget.together import together

USUAL = Privacy(1.0, 1e-6)
RHO = USUAL.budget.amount


def given(
    privacy: Privacy,
    total: Spending,
    *,
    notion: str = "DP",
    assumes: str = "",
    simulated: bool = False,
) -> Guarantee:
    """A guarantee with half of its total spent."""
    return Guarantee(
        privacy,
        spent=Spending(total.everyone / 2, total.pure / 2, total.zcdp / 2),
        total=total,
        releases=1,
        planned=2,
        notion=notion,
        assumes=assumes,
        simulated=simulated,
    )


def test_pure_learners_add_up_without_a_delta() -> None:
    joint = together(
        given(Privacy(1.0), Spending(pure(1.0))), given(Privacy(0.5), Spending(pure(0.5)))
    )
    assert joint.delta == 0
    assert 1.5 <= joint.epsilon < 1.5 + 1e-12
    assert joint.epsilon_spent == pytest.approx(0.75)
    assert (joint.releases, joint.planned) == (2, 4)


def test_zcdp_adds_up_before_it_is_converted_to_epsilon() -> None:
    joint = together(given(USUAL, Spending(zcdp(RHO))), given(USUAL, Spending(zcdp(0.0), zcdp=RHO)))
    assert joint.epsilon == pytest.approx(epsilon_of(2 * RHO, 1e-6), rel=1e-9)
    assert joint.epsilon < 1.5
    assert joint.rho == pytest.approx(RHO)


def test_a_large_pure_epsilon_is_added_and_many_small_ones_are_converted() -> None:
    concentrated = given(USUAL, Spending(zcdp(RHO)))
    large = together(given(Privacy(1.0), Spending(pure(1.0))), concentrated)
    assert large.epsilon == pytest.approx(2.0, rel=1e-6)
    small = [given(Privacy(0.01), Spending(pure(0.01)))] * 20
    many = together(concentrated, *small)
    assert many.epsilon == pytest.approx(epsilon_of(RHO + 20 * 0.01**2 / 2, 1e-6), rel=1e-6)
    assert many.epsilon < 1.05
    both = together(concentrated, *small, given(Privacy(1.0), Spending(pure(1.0))))
    assert both.epsilon == pytest.approx(1.0 + many.epsilon, rel=1e-6)


def test_the_joint_epsilon_is_the_least_of_all_ways_of_counting() -> None:
    amounts = [0.003, 0.02, 0.05, 0.1, 0.2, 0.4]
    parts = [given(Privacy(amount), Spending(pure(amount))) for amount in amounts]
    joint = together(*parts, given(USUAL, Spending(zcdp(0.001))))

    def counted(converted: tuple[bool, ...]) -> float:
        entries = list(zip(amounts, converted, strict=True))
        added = sum(amount for amount, as_zcdp in entries if not as_zcdp)
        rho = 0.001 + sum(amount**2 / 2 for amount, as_zcdp in entries if as_zcdp)
        return added + epsilon_of(rho, 1e-6)

    best = min(map(counted, product([False, True], repeat=len(amounts))))
    assert best <= joint.epsilon <= best * (1 + 1e-9)


def test_a_learner_with_cohorts_of_both_kinds_counts_with_both_or_as_zcdp() -> None:
    mixed = given(USUAL, Spending(zcdp(0.001), pure=0.5, zcdp=0.01))
    other = given(USUAL, Spending(zcdp(0.002)))
    both = 0.5 + epsilon_of(0.001 + 0.01 + 0.002, 1e-6)
    assert together(mixed, other).epsilon == pytest.approx(both)
    little = given(USUAL, Spending(zcdp(0.001), pure=0.05, zcdp=0.01))
    concentrated = epsilon_of(0.001 + 0.01 + 0.002, 1e-6)  # 0.05²/2 is below the cohort's 0.01
    assert together(little, other).epsilon == pytest.approx(concentrated)


def test_every_learner_counts_with_its_own_contributions() -> None:
    thrice = Privacy(1.0, 1e-6, contributions=3)
    twice = Privacy(1.0, contributions=2)
    joint = together(given(thrice, Spending(thrice.budget)), given(USUAL, Spending(zcdp(RHO))))
    assert joint.epsilon == pytest.approx(epsilon_of(2 * RHO, 1e-6), rel=1e-9)
    assert "3 and 1 rounds of one person in 2 learners" in " ".join(str(joint).split())
    alone = together(given(twice, Spending(twice.budget)), given(twice, Spending(twice.budget)))
    assert alone.epsilon == pytest.approx(2.0)
    assert "2 rounds of one person in each of 2 learners" in str(alone)


def test_the_joint_guarantee_states_the_weakest_notion_and_all_assumptions() -> None:
    strict = given(USUAL, Spending(zcdp(0.01)), assumes="calm weather")
    weak = given(USUAL, Spending(zcdp(0.01)), notion="joint DP", simulated=True)
    joint = together(strict, weak)
    text = " ".join(str(joint).split())
    assert (joint.notion, joint.simulated) == ("joint DP", True)
    assert text.startswith("SIMULATED")
    assert "Joint differential privacy for one round of each of 2 learners" in text
    assert "assumes calm weather; privacy does not" in text
    assert "Proof: docs/guarantees/ledger.md" in text
    assert "SIMULATED" in joint._repr_html_()
    assert (together(strict, strict).notion, together(strict, strict).simulated) == ("DP", False)


def test_learners_state_their_spending_and_nested_groups_are_one_group() -> None:
    visits = RunningSum(1, 5000, USUAL, bound=1.0)
    doses = ContextualBandit(2, 2, 1000, Privacy(1.0, 1e-5))
    none = RunningSum(1, 8, Privacy(1.0), bound=1.0)
    assert together(visits, doses).epsilon_spent == 0
    visits.add([1.0])
    joint = discreet.together(visits, doses)
    assert joint.epsilon_spent == pytest.approx(epsilon_of(visits.guarantee.rho, 1e-5))
    assert joint.delta == 1e-5
    assert together(joint, none) == together(visits, doses, none)
    assert together(visits, none, delta=1e-3).epsilon < together(visits, none).epsilon


def test_the_event_is_at_least_as_revealing_as_the_parts() -> None:
    dp_event = pytest.importorskip("dp_accounting").dp_event
    joint = together(given(Privacy(1.0), Spending(pure(1.0))), given(USUAL, Spending(zcdp(RHO))))
    concentrated, alone = joint.event().events
    assert concentrated.rho == pytest.approx(RHO / 2)
    assert isinstance(alone, dp_event.RandomizedResponseDpEvent)
    assert alone.noise_parameter == pytest.approx(2 / (exp(0.5) + 1))


@pytest.mark.parametrize(
    ("learners", "options", "message"),
    [
        ((), {}, "two or more learners, got 0"),
        ((given(USUAL, Spending(zcdp(0.01))),), {}, "two or more learners, got 1"),
        (
            (given(USUAL, Spending(zcdp(0.01))), USUAL),
            {},
            "takes learners and guarantees, got Privacy",
        ),
        ((given(USUAL, Spending(zcdp(0.01))),) * 2, {"delta": 0.0}, "state a delta > 0"),
        ((given(USUAL, Spending(zcdp(0.01))),) * 2, {"delta": 2.0}, "delta must"),
    ],
)
def test_arguments_without_a_joint_guarantee_are_refused(
    learners: tuple[object, ...], options: dict[str, float], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        together(*learners, **options)


def _smallest_delta(ratios: np.ndarray, chances: np.ndarray, epsilon: float) -> float:
    """The exact δ at ε of a law of log-ratios."""
    return float((chances * np.maximum(0.0, 1 - np.exp(epsilon - ratios))).sum())


@pytest.mark.parametrize("kinds", ["pz", "zz", "pp", "ppz"])
def test_the_joint_guarantee_covers_the_exact_law_of_independent_mechanisms(kinds: str) -> None:
    """Randomised responses, the worst pure mechanisms, and discrete Gaussians on a small grid."""
    parts = []
    laws = []
    for kind in kinds:
        if kind == "p":
            truth = exp(0.3) / (exp(0.3) + 1)
            laws.append((np.array([truth, 1 - truth]), np.array([0.3, -0.3])))
            parts.append(given(Privacy(0.3), Spending(pure(0.3))))
        else:
            sigma = 6
            steps = np.arange(-60, 61)
            weights = np.exp(-(steps**2) / (2 * sigma**2))
            laws.append((weights / weights.sum(), (1 - 2 * steps) / (2 * sigma**2)))
            rho = 1 / (2 * sigma**2)
            parts.append(given(Privacy(1.0, 1e-3), Spending(zcdp(rho))))
    joint = together(*parts)
    chances = np.ones(1)
    ratios = np.zeros(1)
    for law, ratio in laws:
        chances = np.outer(chances, law).reshape(-1)
        ratios = np.add.outer(ratios, ratio).reshape(-1)
    assert _smallest_delta(ratios, chances, joint.epsilon) <= joint.delta + 1e-12
    assert _smallest_delta(ratios, chances, joint.epsilon * 0.6) > joint.delta  # 0.6 ε is false


def test_the_worse_of_two_cohorts_is_not_enough_if_it_is_picked_after_a_draw() -> None:
    """One learner pays zCDP; the other pays a pure ε in one cohort, or zCDP in another.

    A person whose cohort is picked after the first learner's draw loses more than in the worse of
    both cohorts, and no more than the joint guarantee states.
    """
    delta = 1e-2
    sigma = 3
    other_sigma = 3
    rho = 1 / (2 * sigma**2)
    other_rho = 1 / (2 * other_sigma**2)
    steps = np.arange(-40, 41)

    def gaussian(width: float) -> tuple[np.ndarray, np.ndarray]:
        weights = np.exp(-(steps**2) / (2 * width**2))
        return weights / weights.sum(), (1 - 2 * steps) / (2 * width**2)

    chances, ratios = gaussian(other_sigma)
    own, own_ratios = gaussian(sigma)

    def deltas(epsilon: float, paid: float) -> tuple[float, float, float]:
        """δ at ε if the cohort is pure, if it is zCDP, and if the worse is picked after a draw."""
        truth = exp(paid) / (exp(paid) + 1)
        response = np.array([truth, 1 - truth])
        response_ratios = np.array([paid, -paid])
        after = [
            (
                _smallest_delta(z + response_ratios, response, epsilon),
                _smallest_delta(z + own_ratios, own, epsilon),
            )
            for z in ratios
        ]
        first, second = np.array(after).T
        return (
            float(chances @ first),
            float(chances @ second),
            float(chances @ np.maximum(first, second)),
        )

    paid = 0.55
    stated = together(
        given(Privacy(1.0, delta), Spending(zcdp(0.0), pure=paid, zcdp=rho)),
        given(Privacy(1.0, delta), Spending(zcdp(other_rho))),
    ).epsilon
    as_pure, as_zcdp, picked = deltas(1.0, paid)
    assert picked > max(as_pure, as_zcdp) * 1.01
    _, _, picked_at_stated = deltas(stated, paid)
    assert picked_at_stated <= delta


def test_learners_without_releases_have_the_least_epsilon() -> None:
    none = Guarantee(USUAL, Spending(zcdp(0.0)), Spending(zcdp(0.0)), releases=0, planned=None)
    joint = together(none, none)
    assert (joint.epsilon, joint.epsilon_spent, joint.planned) == (1e-9, 0.0, None)
    assert joint.spent == Spending(zcdp(0.0))
