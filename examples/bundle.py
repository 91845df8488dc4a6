"""A shop learns which accessories to bundle with a camera, with privacy for every customer.

Every customer has a cost for any bundle: it is higher if complementary items are separated, and
lower with every item that the customer wants. The bundle is chosen before the cost is observed.

    python examples/bundle.py --people 100000 --out pictures
"""

from argparse import ArgumentParser
from itertools import combinations
from pathlib import Path

import numpy as np

from discreet import Privacy, SetMinimizer
from discreet.functions import GraphCut, MinusModular

try:
    import matplotlib.pyplot as plt
except ImportError:
    raise SystemExit("the picture needs matplotlib: pip install 'discreet[lab]'") from None

parser = ArgumentParser(description="Learn which accessories to bundle.")
parser.add_argument("--people", type=int, default=100_000)
parser.add_argument("--epsilon", type=float, default=1.0)
parser.add_argument(
    "--seed", type=int, help="repeats a run exactly; such a run is a simulation, not private"
)
parser.add_argument("--out", type=Path, default=Path("pictures"))
options = parser.parse_args()

# One row per customer: the cost of separating each pair, then the value of each item alone.
GROUPS = (
    ("lens", "filter", "hood"),
    ("tripod", "remote", "level"),
    ("bag", "strap"),
    ("drone", "charger"),
)
WANTED = (0.25, 0.0, -0.05, 0.15, -0.15, -0.2, -0.05, 0.2, -0.3, 0.1)
items = [item for group in GROUPS for item in group]
pairs = [
    (items.index(one), items.index(two)) for group in GROUPS for one, two in combinations(group, 2)
]
generator = np.random.default_rng(3)
cuts = generator.uniform(0, 0.1, size=(options.people, len(pairs)))
values = generator.normal(WANTED, 0.2, size=(options.people, len(items))) / 3
rows = np.concatenate([cuts, values], axis=1)

function = MinusModular(GraphCut(tuple(pairs)))
shop = SetMinimizer(
    items, options.people, Privacy(options.epsilon, 1e-6), function=function, seed=options.seed
)
bundles = shop.replay(rows)  # one bundle per customer, decided before the customer's row was read
inside = np.array([[item in bundle for item in items] for bundle in bundles], dtype=float)
one, two = np.transpose(pairs)
costs = (cuts * (inside[:, one] != inside[:, two])).sum(axis=1) - (values * inside).sum(axis=1)

# The baselines: nothing at all, or everything; and the best of all bundles, in hindsight.
every = np.indices((2,) * len(items)).reshape(len(items), -1).T
means = (every[:, one] != every[:, two]) @ cuts.mean(axis=0) - every @ values.mean(axis=0)
naive = min(means[0], means[-1])
least = means.min()
best = every[means.argmin()] == 1

print(f"Bundled: {', '.join(shop.act())}.")
print(f"Best in hindsight: {', '.join(np.array(items)[best])}.")
share = (naive - costs.mean()) / (naive - least)
print(
    f"Share of the best bundle's saving over nothing or everything, learning included: {share:.1%}."
)
print(shop.guarantee)

figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.6), layout="constrained")
starts = np.unique(
    np.append(0, np.geomspace(min(100, options.people), options.people, 25).astype(int))
)
counts = np.diff(starts)
means = np.add.reduceat(costs, starts[:-1]) / counts
left.stairs(means, starts, baseline=None, linewidth=2, label="discreet")
left.axhline(naive, color="black", linestyle=":", label="nothing or everything")
left.axhline(least, color="black", linestyle="--", label="best bundle in hindsight")
left.set(
    ylabel="cost per customer",
    title=f"The shop saves {share:.0%} of what the best bundle saves (ε = {options.epsilon:g})",
)
left.legend(loc="upper right")
shares = np.add.reduceat(inside, starts[:-1]) / counts[:, None]
image = right.pcolormesh(starts, range(len(items) + 1), shares.T, cmap="Blues", vmin=0, vmax=1)
figure.colorbar(image, ax=right, label="share of bundles with the item")
names = [f"{item} ✓" if wanted else item for item, wanted in zip(items, best, strict=True)]
right.set_yticks(np.arange(len(items)) + 0.5, names)
right.set(title="The bundle over time (✓: in the best bundle in hindsight)")
for axes in (left, right):
    axes.set(
        xscale="log",
        xlim=(min(50, options.people / 2), options.people),
        xlabel="customers so far (log scale)",
    )
options.out.mkdir(parents=True, exist_ok=True)
figure.savefig(options.out / "bundle.png", dpi=130)
print(f"Wrote {options.out / 'bundle.png'}")
