# %% [markdown]
# # Which products to show, from clicks alone
#
# A tea shop shows three of its nine teas to every visitor and sees which one they click. It
# learns which three to show. Everything that it publishes is differentially private: slates,
# scores and reports hardly depend on what any one visitor clicked.
#
# The visitors of this notebook are made up.

# %%
import numpy as np

from discreet import Privacy, SetMaximizer

TEAS = ["green", "black", "white", "oolong", "mint", "rooibos", "chai", "camomile", "matcha"]
LIKED = {"mint": 0.25, "chai": 0.2, "matcha": 0.15, "oolong": 0.12}  # how likely a click is

shop = SetMaximizer(
    TEAS,
    slots=3,
    horizon=100_000,  # visitors who are planned for
    privacy=Privacy(epsilon=1.0),
    feedback="clicks",
    stream="iid",  # visitors are alike over time; this affects value, never privacy
    report=0.1,  # a tenth of the budget publishes how many visitors clicked
)
shop

# %% [markdown]
# ## One visitor
#
# `act` returns a slate, `observe` takes the click, or None.

# %%
slate = shop.act()
shop.observe(slate[0])
slate

# %% [markdown]
# ## Many visitors
#
# Between two releases the same published values decide for everybody, so visitors can be served in
# any order. An answer may come late, or never.

# %%
visitors = np.random.default_rng(0)


def click(shown: list[str]) -> str | None:
    """Return the first product that a simulated visitor likes, or None."""
    return next((tea for tea in shown if visitors.random() < LIKED.get(tea, 0.04)), None)


while shop.clock < 60_000:
    shop.release_if_due()
    tickets = shop.open_many(shop.rounds_until_release)
    shop.close_many(tickets, [click(shown) for shown in tickets.decisions])
shop

# %% [markdown]
# ## What was learned
#
# Scores are estimated gains of each product in each slot, from released values only. They may be
# published.

# %%
shop.scores()

# %% [markdown]
# The report is the share of visitors who clicked, with its noise. Trials of slates come first.

# %%
shop.report()

# %% [markdown]
# ## What is promised
#
# The guarantee covers everything above. It states the budget that is spent so far, what the value
# of slates rests on, and the page with the proof, which comes with the library.

# %%
shop.guarantee

# %%
shop.guarantee.proof_path.read_text().splitlines()[:4]
