# %% [markdown]
# # A regression of people's rows, published
#
# A jeweller publishes how the price of a diamond depends on its size and quality, from sales that
# are the customers' own business. The table has numbers, categories and empty cells. The published
# coefficients are in dollars, and hardly depend on any one sale.
#
# The sales of this notebook are made up. It needs `pip install 'discreet[tables,sklearn]'`.

# %%
import numpy as np
import polars

from discreet import Columns, Privacy, StreamingLearner
from discreet.domains import LpBall
from discreet.estimators import PrivateStreamingRegressor
from discreet.losses import SquaredLoss

CUTS = ["Fair", "Good", "Ideal"]


def sales(count: int, seed: int) -> polars.DataFrame:
    """Return simulated sales: 5,000 dollars per carat, more for a better cut, some cells empty."""
    shop = np.random.default_rng(seed)
    carat = shop.uniform(0.2, 3.0, count)
    cut = shop.integers(3, size=count)
    depth = np.where(shop.random(count) < 0.05, np.nan, shop.uniform(55, 68, count))
    price = 500 + 5000 * carat + np.array([0, 1000, 2500])[cut] + shop.normal(0, 500, count)
    columns = {"carat": carat, "cut": np.array(CUTS)[cut], "depth": depth, "price": price}
    return polars.DataFrame(columns, nan_to_null=True)


january = sales(40_000, seed=1)
january.head()

# %% [markdown]
# ## The columns
#
# Bounds, categories and the value for empty cells are public: choose them from what everybody
# knows, never from the table. Values outside the bounds are clipped.

# %%
columns = Columns(
    features=["carat", "cut", "depth"],
    target="price",
    bounds={"carat": (0, 3), "depth": (50, 70), "price": (0, 20_000)},
    categories={"cut": CUTS},
    fill={"depth": 61.8},
)

# %% [markdown]
# ## A regression that goes on
#
# New coefficients are released after every block of sales, and one budget pays for all releases.

# %%
prices = StreamingLearner(
    LpBall, SquaredLoss(), horizon=50_000, privacy=Privacy(epsilon=1.0, delta=1e-6), columns=columns
)
prices.observe_stream(january)
prices

# %% [markdown]
# Coefficients with their standard errors, which hold both noise and sampling. Those of a column's
# categories are differences from their mean.

# %%
prices.published

# %% [markdown]
# The sales of the next day go on where the last ones ended.

# %%
prices.observe_stream(sales(4000, seed=2))
prices.published.to_frame()

# %% [markdown]
# ## A finished table
#
# An estimator passes over the table many times and releases once, which is more accurate. It has
# the interface of scikit-learn. It spends a budget of its own: a sale that is in both pays twice,
# so publish one of them.

# %%
model = PrivateStreamingRegressor(epsilon=1.0, columns=columns).fit(january)
model.published_

# %%
round(model.score(sales(10_000, seed=3)), 3)  # R² on sales that it has not seen

# %% [markdown]
# ## What is promised

# %%
prices.guarantee
