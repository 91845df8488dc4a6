"""A shop publishes, after every shopper, how many have bought from each category so far.

All totals are public, and they do not reveal what one shopper bought.

    python examples/totals.py --people 50000 --out pictures
"""

from argparse import ArgumentParser
from pathlib import Path

import numpy as np

from discreet import Privacy, RunningSum

try:
    import matplotlib.pyplot as plt
except ImportError:
    raise SystemExit("the picture needs matplotlib: pip install 'discreet[lab]'") from None

parser = ArgumentParser(description="Publish running totals of what shoppers buy.")
parser.add_argument("--people", type=int, default=50_000)
parser.add_argument("--epsilon", type=float, default=1.0)
parser.add_argument(
    "--seed", type=int, help="repeats a run exactly; such a run is a simulation, not private"
)
parser.add_argument("--out", type=Path, default=Path("pictures"))
options = parser.parse_args()

# One row per shopper: 1 for every category that they bought from. A sale helps electronics.
CATEGORIES = ("groceries", "clothing", "electronics", "books")
generator = np.random.default_rng(0)
day = np.linspace(0, 28, options.people)
sale = np.exp(-((day - 17) ** 2) / 8)
chances = np.stack(
    [0.45 + 0 * day, 0.15 + 0.003 * day, 0.06 + 0.2 * sale, 0.1 - 0.02 * sale], axis=1
)
bought = (generator.random(chances.shape) < chances).astype(float)

# Each number that one shopper adds lies between 0 and 1, which needs less noise.
privacy = Privacy(options.epsilon, 1e-6)
shop = RunningSum(
    len(CATEGORIES),
    options.people,
    privacy,
    bound=1.0,
    norm="inf",
    nonnegative=True,
    seed=options.seed,
)
published = np.array([shop.add(row) for row in bought])
truth = bought.cumsum(axis=0)

for category, total, true in zip(CATEGORIES, published[-1], truth[-1], strict=True):
    print(f"{category:12} {total:10,.1f} published {true:10,.0f} in truth")
# Independent noise for each of n totals has to be √n times as large as for one total.
single = RunningSum(len(CATEGORIES), 1, privacy, bound=1.0, norm="inf", nonnegative=True)
single.add(bought[0])
independent = single.standard_deviation * options.people**0.5
saved = 1 - shop.standard_deviation / independent
print(f"The standard deviation of a total is {shop.standard_deviation:.0f} shoppers; with new")
print(f"noise for every total it would be {independent:,.0f}: {saved:.1%} of the error is saved.")
print(shop.guarantee)

figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.6), layout="constrained")
shoppers = np.arange(1, options.people + 1)
for column, category in enumerate(CATEGORIES):
    left.plot(shoppers, published[:, column], label=f"{category}, published")
    left.plot(
        shoppers, truth[:, column], ":", color="black", label="truth" if column == 3 else None
    )
left.set(xlabel="shoppers so far", ylabel="shoppers who bought")
off = f"{shop.standard_deviation:.0f}"
left.set(title=f"After {options.people:,} shoppers, a total is off by about {off}")
left.legend(loc="upper left")
twice = 2 * shop.standard_deviation
right.axhspan(-twice, twice, color="gainsboro", label="± 2 standard deviations")
right.plot(shoppers, published[:, 0] - truth[:, 0], linewidth=0.5, label=CATEGORIES[0])
right.set(
    xlabel="shoppers so far", ylabel="published − truth, shoppers", ylim=(-2.5 * twice, 2.5 * twice)
)
right.set(title=f"With new noise for every total, it would be {independent:,.0f}")
right.legend(loc="lower right")
options.out.mkdir(parents=True, exist_ok=True)
figure.savefig(options.out / "totals.png", dpi=130)
print(f"Wrote {options.out / 'totals.png'}")
