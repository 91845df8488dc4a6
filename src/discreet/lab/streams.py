"""Made-up people, as lifelike as need be."""

import numpy as np

from discreet.arrays import Floats

__all__ = ["CATEGORIES", "shoppers"]

CATEGORIES = ("groceries", "clothing", "electronics", "books")


def shoppers(people: int, *, days: int = 28, seed: int = 0) -> Floats:
    """What shoppers bought, in order of arrival: whether something of each category, one row a person.

    Shares drift over the days, follow the week, and rise for one category during a sale.
    """
    generator = np.random.default_rng(seed)
    day = np.arange(people) * days / people
    weekend = (day % 7 >= 5).astype(float)
    sale = np.exp(-((day - 0.6 * days) ** 2) / 8)
    chances = np.stack(
        [
            0.45 + 0.10 * weekend,
            0.15 + 0.05 * np.sin(2 * np.pi * day / days),
            0.06 + 0.20 * sale,
            0.10 + 0.04 * weekend - 0.02 * sale,
        ],
        axis=1,
    )
    return (generator.random((people, len(CATEGORIES))) < chances).astype(np.float64)
