"""Noise and time of a running sum, compared with the square-root factorisation.

Prints one JSON line. Errors are the largest variance of a prefix, in units of the squared
sensitivity over 2ρ; the exactness of the shipped mechanism (integer σ, fixed-point coefficients,
rounding of the encoded vector) is counted. Memory is that of the whole state as it is kept: all
arrays, and a header.
"""

from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from discreet import Privacy, RunningSum, warm_up
from discreet.learners.forced import forced
from discreet.release.aggregators import Rows
from discreet.release.noise import DiscreteGaussian
from discreet.release.randomness import system_bits
from discreet.release.sums.factorisation import BUFFERS, square_root_norm
from discreet.release.sums.prefix_sum import METHODS, Stream, calibrate
from report import write

PRIVACY = Privacy(1.0, 1e-6)
DIMENSION = 1000
HORIZONS = (10**3, 10**4, 10**5, 10**6)


def largest_error(method: str, horizon: int) -> float:
    """Return the variance of the noisiest prefix of the shipped mechanism, relative to s²/2ρ."""
    sums = calibrate(PRIVACY, Stream(Rows((DIMENSION,)), horizon), method)
    all_ones = 2 ** ((horizon + 1).bit_length() - 1) - 1  # in binary: the noisiest prefix of a tree
    noisiest = max(sums.variance(count) for count in (horizon, all_ones))
    return noisiest / (sums.aggregator.sensitivity(2) ** 2 / (2 * PRIVACY.budget.rho))


def state_bytes(horizon: int) -> int:
    """Return the size of a sum's state after some steps."""
    sums = RunningSum(DIMENSION, horizon, PRIVACY, bound=1.0)
    for _ in range(20):
        sums.add(np.zeros(DIMENSION))
    return sums.state_bytes


def step_cost(method: str, repetitions: int = 2000) -> dict[str, float]:
    """Return the median time of a step and of an exact noise vector, measured alternately."""
    sums = forced(RunningSum, method, DIMENSION, 10**5, PRIVACY, bound=1.0)
    person = np.random.default_rng(0).normal(size=DIMENSION) / 40
    noise = DiscreteGaussian(2**24)
    bits = system_bits()
    steps, noises = [], []
    for repetition in range(repetitions):
        began = perf_counter()
        sums.add(person)
        middle = perf_counter()
        noise.draw(DIMENSION, bits)
        if repetition >= repetitions // 20:
            steps.append(middle - began)
            noises.append(perf_counter() - middle)
    return {
        "step_microseconds": median(steps) * 1e6,
        "noise_vector_microseconds": median(noises) * 1e6,
    }


def main() -> None:
    """Measure and print."""
    warm_up()
    errors: dict[str, Any] = {
        "sqrt": {str(horizon): square_root_norm(horizon) ** 2 for horizon in HORIZONS}
    }
    for method in METHODS:
        errors[method] = {str(horizon): largest_error(method, horizon) for horizon in HORIZONS}
    times = {method: step_cost(method) for method in METHODS}
    toeplitz = times["toeplitz"]
    report = {
        "error_over_sqrt_toeplitz": errors["toeplitz"]["100000"] / errors["sqrt"]["100000"],
        "step_cost_in_noise_vectors": toeplitz["step_microseconds"]
        / toeplitz["noise_vector_microseconds"],
        "memory_ratio": state_bytes(10**7) / state_bytes(10**5),
        "buffers": BUFFERS,
        "state_bytes": {str(horizon): state_bytes(horizon) for horizon in (*HORIZONS, 10**7)},
        "largest_error": errors,
        "times": times,
    }
    write(report)


if __name__ == "__main__":
    main()
