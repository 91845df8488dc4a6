"""A city and its homes: which ten of 300 sites are opened, without privacy and with it, and what it costs."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet import require, warm_up
from discreet.arrays import Floats
from discreet.budget.guarantee import Guarantee
from discreet.budget.privacy import Privacy
from discreet.lab.progress import Bar, silent
from discreet.lab.published import dpcg
from discreet.lab.selection import City, value_to
from discreet.learners.set_selector import SetSelector

__all__ = ["OPEN", "PUBLISHED", "STRICTER", "WITHOUT", "Opened", "SitesResult", "compute_sites"]

OPEN, STRICTER = "discreet", "discreet, stricter"
WITHOUT = "greedy and swaps"
PUBLISHED, BY_LOT = "DPCG, as published", "ten sites by lot"
TOWN = 11
"""Which of the made-up cities it is, if no seed is given."""
LOTS = 50
"""So many draws tell what sites by lot are worth."""
MOST_PEOPLE = 100_000
"""What each of 300 sites is worth to everybody is held in memory."""


@dataclass(frozen=True)
class Opened:
    """Some sites, and what they are worth to everybody together: 1 for somebody who lives next door."""

    chosen: list[int]
    value: float
    protection: str


@dataclass(frozen=True, eq=False)
class SitesResult:
    """Who would open which sites, for the same people."""

    homes: Floats
    sites: Floats
    reach: float
    privacy: Privacy
    choices: dict[str, Opened]
    by_lot: float
    guarantee: Guarantee
    why: str
    seconds: float
    simulated: bool

    @property
    def shares(self) -> dict[str, float]:
        """What each choice is worth, over what greedy and swaps without privacy find."""
        most = self.choices[WITHOUT].value
        shares = {name: opened.value / most for name, opened in self.choices.items()}
        return shares | {BY_LOT: self.by_lot / most}

    def report(self) -> dict[str, Any]:
        """The numbers, as plain data. Homes are made up; they stay out of it all the same."""
        return {
            "people": len(self.homes),
            "sites": len(self.sites),
            "epsilon": self.privacy.epsilon,
            "delta": self.privacy.delta,
            "share": self.shares,
            "chosen": {name: self.sites[opened.chosen].tolist() for name, opened in self.choices.items()},
            "seconds": self.seconds,
            "simulated": self.simulated,
        }


def compute_sites(people: int, privacy: Privacy, *, seed: int | None, bar: Bar = silent) -> SitesResult:
    """Let everybody open ten sites for the same people."""
    from discreet.decide.greedy import choose_facilities

    require.whole("people", people, 100, MOST_PEOPLE)
    warm_up()
    began = time.perf_counter()
    city = City.drawn(people, seed=TOWN if seed is None else seed)
    domain, worths = city.domain("uniform"), city.worths
    stricter = Privacy(privacy.epsilon / 10, privacy.delta)
    choices: dict[str, Opened] = {}
    with bar("choices", 4) as report:

        def opened(name: str, chosen: list[int], protection: str) -> None:
            choices[name] = Opened(chosen, value_to(worths, chosen), protection)
            report(1)

        opened(WITHOUT, choose_facilities(worths, np.ones(people), domain), "none")
        law: dpcg.Law = "gaussian" if privacy.delta > 0 else "laplace"
        asked = privacy.epsilon, privacy.delta
        published = dpcg.run(city.homes, city.nearby, domain, *asked, law=law, seed=seed or 0)
        opened(PUBLISHED, published.chosen, f"epsilon = {privacy.epsilon:g}")
        careful = SetSelector(domain, stricter, function=city.nearby, seed=seed).fit(city.homes)
        opened(STRICTER, careful.items, f"epsilon = {stricter.epsilon:g}")
        usual = SetSelector(domain, privacy, function=city.nearby, seed=seed).fit(city.homes)
        opened(OPEN, usual.items, f"epsilon = {privacy.epsilon:g}")
    lots = np.random.default_rng([seed or 0, 1])
    drawn = [lots.choice(domain.items, size=domain.rank, replace=False).tolist() for _ in range(LOTS)]
    return SitesResult(
        homes=city.homes,
        sites=np.array(city.sites),
        reach=city.nearby.reach,
        privacy=privacy,
        choices=choices,
        by_lot=float(np.mean([value_to(worths, each) for each in drawn])),
        guarantee=usual.guarantee,
        why=usual.why,
        seconds=time.perf_counter() - began,
        simulated=seed is not None,
    )
