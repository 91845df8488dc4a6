# %% [markdown]
# # Which dose for which patient
#
# A clinic chooses one of three doses for each patient from what it knows about them, and sees
# whether the dose helped. A patient's own dose depends on their context and is theirs to see.
# Everything else, the doses of all others included, hardly depends on any one patient.
#
# The patients of this notebook are made up.

# %%
import numpy as np

from discreet import ContextualBandit, Privacy

FEATURES = ["age", "weight", "kidney"]
DOSES = ["low", "usual", "high"]
EFFECTS = np.array([(-0.3, 0.0, 0.1), (0.0, 0.0, 0.0), (0.3, 0.0, -0.1)])  # per dose and feature

clinic = ContextualBandit(
    DOSES,
    features=FEATURES,  # within ±1; more is clipped
    horizon=50_000,  # patients who are planned for
    privacy=Privacy(epsilon=1.0, delta=1e-6),
    report=0.1,  # a tenth of the budget publishes how many patients were helped
)
clinic

# %% [markdown]
# ## One patient
#
# `act` takes the context and returns a dose, `observe` takes a reward between 0 and 1.

# %%
dose = clinic.act({"age": 0.3, "weight": -0.1, "kidney": 0.8})
clinic.observe(1.0)
dose

# %% [markdown]
# ## Many patients
#
# All patients between two releases are served from the same published weights.

# %%
people = np.random.default_rng(0)

while clinic.clock < 50_000:
    clinic.release_if_due()
    patients = people.uniform(-1, 1, size=(clinic.rounds_until_release, len(FEATURES)))
    tickets = clinic.open_many(patients)
    chances = 0.5 + (patients * EFFECTS[tickets.numbers]).sum(axis=1)
    clinic.close_many(tickets, people.random(len(patients)) < chances)
clinic

# %% [markdown]
# ## What was learned
#
# An old patient, then a young one: the reward that is expected of each dose, and how sure that is.

# %%
clinic.scores({"age": 0.9, "weight": 0.0, "kidney": 0.0})

# %%
clinic.scores({"age": -0.9, "weight": 0.0, "kidney": 0.0})

# %% [markdown]
# The report is the mean reward of the doses that were given: random doses help half of the
# patients.

# %%
clinic.report()

# %% [markdown]
# ## What is promised
#
# The guarantee also states what is **not** protected: a patient's own dose, against those who see
# it, because it follows from what the patient brought.

# %%
clinic.guarantee
