"""A clinic and its patients: how many each way of choosing doses helps, and which dose goes to whom."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet import warm_up
from discreet.arrays import Floats, Integers
from discreet.budget.guarantee import Guarantee
from discreet.budget.privacy import Privacy
from discreet.lab.contextual import LearnerPolicy, LinearWorld, Played, play
from discreet.lab.contextual_rivals import RIVALS
from discreet.lab.progress import Bar, silent
from discreet.learners.contextual_bandit import ContextualBandit

__all__ = ["DISCREET", "DOSES", "MAPPED", "Clinic", "DosingResult", "compute_dosing"]

DOSES = ("low", "medium", "high")
FEATURES = ("age", "weight", "kidneys", "liver", "height", "blood pressure", "smoker", "gene variant")
EFFECTS = (
    (0.08, -0.13, -0.10, -0.04, 0.0, 0.03, -0.02, 0.05),
    (0.02, 0.02, 0.03, 0.02, 0.0, -0.04, 0.02, -0.03),
    (-0.07, 0.12, 0.11, 0.05, 0.02, 0.0, 0.03, -0.04),
)
"""What a feature of 1 in place of 0 adds to the chance that a dose helps, one row a dose."""
EXTRA = (0.0, 0.08, 0.02)
"""What the average patient's chance is beyond ½, by dose."""
YES_OR_NO = 2
"""So many of the last features are −1 or 1; the others lie between."""
MAPPED = ("weight", "kidneys")
"""The two features over which doses are mapped."""
MAP_STEPS = 81
MOST_AT_ONCE = 1_000_000
"""So many patients tell what the best doses are worth to all."""

DISCREET = "discreet"
CONTENDERS = {
    "by lot": "uniform",
    "Algorithm 3, as printed": "glm_bandit_printed",
    "private LinUCB, as published": "private_linucb_printed",
    "private LinUCB, tight noise": "private_linucb",
    "LinUCB": "linucb",
}
"""Others who choose, and what they are called among the rivals."""
PROTECTED = {
    "by lot": "perfect",
    "Algorithm 3, as printed": "not as printed",
    "LinUCB": "none",
}
"""What is protected where it is not what was asked for."""


@dataclass(frozen=True, eq=False)
class Clinic(LinearWorld):
    """Patients with eight features between −1 and 1, and how likely each of three doses helps them."""

    @classmethod
    def made(cls) -> "Clinic":
        """The clinic of the story; always the same."""
        return cls(
            features=len(FEATURES),
            arms=len(DOSES),
            context_bound=1.0,
            context_length=None,
            coefficients=np.array(EFFECTS),
            offsets=np.array(EXTRA),
            link="identity",
            reward="bernoulli",
        )

    def contexts(self, count: int, generator: np.random.Generator) -> Floats:
        """So many new patients."""
        patients = generator.uniform(-1, 1, size=(count, self.features))
        patients[:, -YES_OR_NO:] = np.sign(patients[:, -YES_OR_NO:])
        return patients


@dataclass(frozen=True)
class DosingResult:
    """How everybody did with the same patients, and the doses that average patients get in the end."""

    patients: int
    privacy: Privacy
    runs: dict[str, Played]
    best: float
    """How many the best dose for each would have helped, on average over luck."""
    by_lot: float
    """How many doses by lot help."""
    weights: dict[str, dict[str, float]]
    """What was released in the end, by dose and feature."""
    map: Integers
    """Doses that we give in the end, over the two mapped features; the other features are 0."""
    best_map: Integers
    guarantee: Guarantee
    seconds: float
    simulated: bool

    @property
    def helped(self) -> dict[str, float]:
        """How many patients each contender helped, on average over luck."""
        stake = self.best - self.by_lot
        return {name: self.best - run.regret * stake for name, run in self.runs.items()}

    @property
    def agreement(self) -> float:
        """The share of the map in which we give the best dose."""
        return float((self.map == self.best_map).mean())

    def protection(self, name: str) -> str:
        """What a contender promises its patients."""
        return PROTECTED.get(name, f"epsilon = {self.privacy.epsilon:g}")

    def report(self) -> dict[str, Any]:
        """The numbers, as plain data."""
        return {
            "patients": self.patients,
            "epsilon": self.privacy.epsilon,
            "delta": self.privacy.delta,
            "helped": self.helped | {"best dose for each": self.best},
            "regret": {name: run.regret for name, run in self.runs.items()},
            "weights": self.weights,
            "agreement_of_the_maps": self.agreement,
            "seconds": self.seconds,
            "simulated": self.simulated,
        }


def compute_dosing(patients: int, privacy: Privacy, *, seed: int | None, bar: Bar = silent) -> DosingResult:
    """Let everybody choose doses for the same patients."""
    learner = ContextualBandit(DOSES, FEATURES, patients, privacy, seed=seed)
    warm_up()
    began = time.perf_counter()
    clinic, luck = Clinic.made(), seed or 0
    runs: dict[str, Played] = {}
    with bar("patients", patients * (len(CONTENDERS) + 1)) as report:
        for name, rival in CONTENDERS.items():
            chooses = RIVALS[rival](clinic, patients, privacy.epsilon, privacy.delta, seed=luck)
            runs[name] = play(clinic, chooses, patients, seed=luck, report=report)
        runs[DISCREET] = play(clinic, LearnerPolicy(learner), patients, seed=luck, report=report)
    grid = mapped_patients()
    # The plan is over, and whoever asks now is answered from what was released.
    ours = np.asarray(learner.open_many(grid).decisions, dtype=np.int64)
    best = clinic.means(grid).argmax(axis=1)
    chances = clinic.sample(min(patients, MOST_AT_ONCE), np.random.default_rng([luck, 1])).means
    return DosingResult(
        patients=patients,
        privacy=privacy,
        runs=runs,
        best=float(chances.max(axis=1).mean()) * patients,
        by_lot=float(chances.mean()) * patients,
        weights=learner.decision["weights"],
        map=ours.reshape(MAP_STEPS, MAP_STEPS),
        best_map=best.reshape(MAP_STEPS, MAP_STEPS),
        guarantee=learner.guarantee,
        seconds=time.perf_counter() - began,
        simulated=seed is not None,
    )


def mapped_patients() -> Floats:
    """Average patients but for the two mapped features: the first grows from column to column."""
    steps = np.linspace(-1, 1, MAP_STEPS)
    across, up = (FEATURES.index(name) for name in MAPPED)
    grid = np.zeros((MAP_STEPS, MAP_STEPS, len(FEATURES)))
    grid[:, :, across] = steps[None, :]
    grid[:, :, up] = steps[:, None]
    return grid.reshape(-1, len(FEATURES))
