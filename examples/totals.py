"""A shop publishes, after every shopper, how many have bought from each category so far.

Everyone sees all totals; nobody can tell from them what one shopper bought.

    python examples/totals.py --people 50000 --out pictures
"""

from argparse import ArgumentParser
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from discreet import Privacy, RunningSum

parser = ArgumentParser(description="Publish running totals of what shoppers buy.")
parser.add_argument("--people", type=int, default=50_000)
parser.add_argument("--epsilon", type=float, default=1.0)
parser.add_argument(
    "--seed", type=int, help="repeats a run exactly; such a run is a simulation, not private"
)
parser.add_argument("--out", type=Path, default=Path("pictures"))
asked = parser.parse_args()

# One row per shopper: 1 for every category that they bought from. A sale helps electronics.
CATEGORIES = ("groceries", "clothing", "electronics", "books")
generator = np.random.default_rng(0)
day = np.linspace(0, 28, asked.people)
sale = np.exp(-((day - 17) ** 2) / 8)
chances = np.stack(
    [0.45 + 0 * day, 0.15 + 0.003 * day, 0.06 + 0.2 * sale, 0.1 - 0.02 * sale], axis=1
)
bought = (generator.random(chances.shape) < chances).astype(float)

# No number that one shopper adds is larger than 1 or negative: less noise is needed to hide them.
privacy = Privacy(asked.epsilon, 1e-6)
shop = RunningSum(
    len(CATEGORIES), asked.people, privacy, bound=1.0, norm="inf", nonnegative=True, seed=asked.seed
)
published = np.array([shop.add(row) for row in bought])
truth = bought.cumsum(axis=0)

for category, total, true in zip(CATEGORIES, published[-1], truth[-1], strict=True):
    print(f"{category:12} {total:10,.1f} published {true:10,.0f} in truth")
# Noise drawn anew for each of n totals has to be √n times as large as for one total.
single = RunningSum(len(CATEGORIES), 1, privacy, bound=1.0, norm="inf", nonnegative=True)
single.add(bought[0])
afresh = single.standard_deviation * asked.people**0.5
print(
    f"The standard deviation of a total is {shop.standard_deviation:.0f} shoppers; with new noise "
    "for every"
)
print(
    f"total it would be {afresh:,.0f}: {1 - shop.standard_deviation / afresh:.1%} of the error is "
    "saved."
)
print(shop.guarantee)

figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.6), layout="constrained")
shoppers = np.arange(1, asked.people + 1)
for column, category in enumerate(CATEGORIES):
    left.plot(shoppers, published[:, column], label=f"{category}, published")
    left.plot(
        shoppers, truth[:, column], ":", color="black", label="truth" if column == 3 else None
    )
left.set(xlabel="shoppers so far", ylabel="shoppers who bought", title="Totals after every shopper")
left.legend(loc="upper left")
twice = 2 * shop.standard_deviation
right.axhspan(-twice, twice, color="gainsboro", label="± 2 standard deviations")
right.plot(shoppers, published[:, 0] - truth[:, 0], linewidth=0.5, label=CATEGORIES[0])
right.set(xlabel="shoppers so far", ylabel="published − truth", ylim=(-2.5 * twice, 2.5 * twice))
right.set(title=f"Error of a total (new noise each time: ± {2 * afresh:,.0f})")
right.legend(loc="lower right")
asked.out.mkdir(parents=True, exist_ok=True)
figure.savefig(asked.out / "totals.png", dpi=130)
print(f"Wrote {asked.out / 'totals.png'}")
