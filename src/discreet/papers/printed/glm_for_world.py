"""The GLM bandit with settings that suit a simulated world: as printed, and with sound noise."""

from typing import Any

import numpy as np

from discreet.papers.printed.glm_bandit import GlmBandit
from discreet.papers.printed.promise import AnyNoise, compared
from discreet.simulate.problems.contexts import LinearWorld, World


@compared()
def as_printed(
    world: World, horizon: int, *privacy: float, noise: AnyNoise = "printed", **settings: Any
) -> GlmBandit:
    """Return the published algorithm with the world's link and l_1 length of coefficients."""
    if isinstance(world, LinearWorld):
        settings.setdefault("link", world.link)
        settings.setdefault("radius", float(np.abs(world.coefficients).sum(axis=1).max()))
    return GlmBandit(world, horizon, *privacy, noise=noise, **settings)


def with_sound_noise(
    world: World,
    horizon: int,
    *privacy: float,
    blocks: int = 30,
    share: float = 0.05,
    clip: float = 0.25,
    gap: float = 2.0,
    **settings: Any,
) -> GlmBandit:
    """Return the algorithm with sound noise, steps on blocks, and a share of rounds as warm-up."""
    settings["warm_up"] = int(share * horizon / world.arms)
    settings["block"] = max(1, horizon // blocks)
    return as_printed(world, horizon, *privacy, noise="sound", clip=clip, gap=gap, **settings)
