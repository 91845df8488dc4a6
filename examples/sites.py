"""A city opens ten of 300 sites near its people, without revealing any home.

A site has value 1 for a home next door and 0 for a home beyond its reach; each person uses the
nearest open site.

    python examples/sites.py --people 5000 --out pictures
"""

from argparse import ArgumentParser
from pathlib import Path

import numpy as np

from discreet import Privacy, SetSelector
from discreet.domains import UniformMatroid
from discreet.functions import Nearby

try:
    import matplotlib.pyplot as plt
except ImportError:
    raise SystemExit("the picture needs matplotlib: pip install 'discreet[lab]'") from None

parser = ArgumentParser(description="Open ten sites near people whose homes stay private.")
parser.add_argument("--people", type=int, default=5000)
parser.add_argument("--epsilon", type=float, default=1.0)
parser.add_argument(
    "--seed", type=int, help="repeats a run exactly; such a run is a simulation, not private"
)
parser.add_argument("--out", type=Path, default=Path("pictures"))
options = parser.parse_args()

# One row per person: their home, around one of eight centres. The box and the sites are public.
REACH = 0.15
OPEN = 10
sites = np.array([((x + 0.5) / 20, (y + 0.5) / 15) for x in range(20) for y in range(15)])
generator = np.random.default_rng(11)
centres = generator.uniform(0.1, 0.9, size=(8, 2))
spreads = generator.uniform(0.02, 0.1, size=(8, 1))
centre = generator.integers(8, size=options.people)
homes = np.clip(
    centres[centre] + spreads[centre] * generator.normal(size=(options.people, 2)), 0, 1
)

nearby = Nearby(tuple(map(tuple, sites)), REACH, box=((0.0, 1.0), (0.0, 1.0)))
domain = UniformMatroid(len(sites), OPEN)
chosen = SetSelector(domain, Privacy(options.epsilon), function=nearby, seed=options.seed).fit(
    homes
)
# The baseline: the same selector with an epsilon so large that noise is negligible.
without = SetSelector(domain, Privacy(1e4), function=nearby, seed=options.seed).fit(homes)

distances = np.linalg.norm(homes[:, None] - sites, axis=2)
values = np.maximum(1 - distances / REACH, 0)
private = float(values[:, chosen.numbers].max(axis=1).sum())
best = float(values[:, without.numbers].max(axis=1).sum())

print(f"Opened: {', '.join(f'({x:.2f}, {y:.2f})' for x, y in sites[chosen.numbers])}")
print(f"They have {private / best:.1%} of the value of ten sites chosen without privacy.")
print(f"How: {chosen.why}.")
print(chosen.guarantee)

figure, axes = plt.subplots(figsize=(7, 7.6), layout="constrained")
axes.scatter(*homes.T, s=3, color="#e0a458", alpha=0.4, linewidths=0, label="homes (synthetic)")
axes.scatter(*sites.T, s=3, color="lightgrey", label="sites that could be opened")
rings = {"s": 220, "color": "black", "facecolors": "none"}
axes.scatter(*sites[without.numbers].T, **rings, label="opened without privacy")
axes.scatter(
    *sites[chosen.numbers].T, s=70, color="#1b6ca8", label=f"opened with ε = {options.epsilon:g}"
)
for place, site in enumerate(sites[chosen.numbers]):
    name = None if place else "reach of a site"
    circle = plt.Circle(
        site, REACH, fill=False, color="#1b6ca8", linestyle="--", linewidth=0.7, label=name
    )
    axes.add_patch(circle)
title = f"Ten sites have {private / best:.1%} of the value without privacy"
axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", xlabel="east", ylabel="north")
figure.suptitle(title, fontsize=11)
key = figure.legend(loc="outside lower center", ncols=2, frameon=False)
for dots in key.legend_handles[:2]:
    dots.set_sizes([20])
options.out.mkdir(parents=True, exist_ok=True)
figure.savefig(options.out / "sites.png", dpi=130)
print(f"Wrote {options.out / 'sites.png'}")
