"""A clinic learns which of three doses helps which patients, with privacy for every patient.

A patient's own dose depends on what the clinic knows about them. The doses of other patients and
everything that the clinic publishes do not reveal it.

    python examples/dosing.py --people 100000 --out pictures
"""

from argparse import ArgumentParser
from pathlib import Path

import numpy as np

from discreet import ContextualBandit, Privacy

try:
    import matplotlib.pyplot as plt
except ImportError:
    raise SystemExit("the picture needs matplotlib: pip install 'discreet[lab]'") from None

parser = ArgumentParser(description="Learn which dose helps which patients.")
parser.add_argument("--people", type=int, default=100_000)
parser.add_argument("--epsilon", type=float, default=1.0)
parser.add_argument(
    "--seed", type=int, help="repeats a run exactly; such a run is a simulation, not private"
)
parser.add_argument("--out", type=Path, default=Path("pictures"))
options = parser.parse_args()

# Effect of a feature of 1 instead of 0 on the probability that a dose helps, one row per dose.
DOSES = ("low", "medium", "high")
FEATURES = ("weight", "kidneys", "age", "blood pressure")
EFFECTS = np.array(
    [(-0.15, -0.12, 0.08, 0.05), (0.02, 0.03, 0.02, -0.03), (0.14, 0.12, -0.07, -0.04)]
)
AVERAGE = np.array([0.5, 0.58, 0.52])
generator = np.random.default_rng(0)

clinic = ContextualBandit(
    DOSES,
    FEATURES,
    options.people,
    Privacy(options.epsilon, 1e-6),
    context_bound=1.0,
    seed=options.seed,
)
seen = [0]
helped = [0.0]
best = 0.0
random = 0.0
while clinic.clock < options.people:
    # Publish new weights if a release is due; they serve all patients up to the next release.
    clinic.release_if_due()
    patients = generator.uniform(-1, 1, size=(clinic.rounds_until_release, len(FEATURES)))
    chances = AVERAGE + patients @ EFFECTS.T
    tickets = clinic.open_many(patients)
    given = chances[np.arange(len(patients)), tickets.numbers]
    clinic.close_many(tickets, generator.random(len(patients)) < given)
    seen.append(clinic.clock)
    helped.append(helped[-1] + given.sum())
    best += chances.max(axis=1).sum()
    random += chances.mean(axis=1).sum()

for dose, weights in clinic.decision["weights"].items():
    print(f"{dose:7}" + ", ".join(f"{name} {weight:+.2f}" for name, weight in weights.items()))
share = (helped[-1] - random) / (best - random)
print(f"{helped[-1]:,.0f} of {options.people:,} patients were helped; random doses help")
print(f"{random:,.0f}, the best dose for each {best:,.0f}: a share of {share:.1%}.")
print(clinic.guarantee)

figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.8), layout="constrained")
left.stairs(np.diff(helped) / np.diff(seen), seen, baseline=None, linewidth=2, label="discreet")
left.axhline(best / options.people, color="black", linestyle="--", label="the best dose for each")
left.axhline(random / options.people, color="black", linestyle=":", label="random doses")
left.set(xscale="log", xlim=(seen[1] / 3, options.people), xlabel="patients so far (log scale)")
left.set(ylabel="share of patients helped, per block")
left.set(title=f"The doses keep {share:.0%} of what the best doses gain (ε = {options.epsilon:g})")
left.legend(loc="upper left")
left.set_ylim(top=best / options.people + 0.05)
steps = np.linspace(-1, 1, 301)
across, up = np.meshgrid(steps, steps)
average = np.stack([across.ravel(), up.ravel(), 0 * up.ravel(), 0 * up.ravel()], axis=1)
ours = np.reshape(clinic.open_many(average).numbers, across.shape)
ideal = (AVERAGE + average @ EFFECTS.T).argmax(axis=1).reshape(across.shape)
tints = ["#dbe9f4", "#7fb3d8", "#1b6ca8"]
shown = right.contourf(across, up, ours, levels=[-0.5, 0.5, 1.5, 2.5], colors=tints)
right.contour(across, up, ideal, levels=[0.5, 1.5], colors="black", linestyles="--")
bar = figure.colorbar(shown, ticks=[0, 1, 2], ax=right)
bar.set_ticklabels([f"{dose} dose" for dose in DOSES])
right.set(xlabel="weight (0: average)", ylabel="kidneys (0: average)")
right.set(title="Doses in the end, other features average; dashed: the best doses")
options.out.mkdir(parents=True, exist_ok=True)
figure.savefig(options.out / "dosing.png", dpi=130)
print(f"Wrote {options.out / 'dosing.png'}")
