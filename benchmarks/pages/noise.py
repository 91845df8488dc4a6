"""The sections of exact samplers and running sums."""

from pages.text import blocks, counted, fixed, load, prose, source, table


def sampler() -> str:
    """Return the section of exact noise."""
    report = load("sampler")
    times, selecting = report["nanoseconds"], report["selection_milliseconds"]
    return blocks(
        "## Exact samplers (`benchmarks/sampler.py`)",
        table(
            ("claim", "measured"),
            [
                (
                    "exact Gaussian vectors over OpenDP's integer Gaussian, per coordinate, times "
                    "as fast",
                    f"{fixed(report['gaussian_speedup_over_opendp'], 0)} "
                    f"({fixed(times['gaussian'], 0)} ns "
                    f"against {fixed(times['opendp_gaussian'] / 1000, 1)} µs)",
                ),
                (
                    "exact Laplace over OpenDP's integer Laplace, times as fast",
                    f"{fixed(report['laplace_speedup_over_opendp'], 0)} "
                    f"({fixed(times['laplace'], 0)} ns "
                    f"against {fixed(times['opendp_laplace'] / 1000, 1)} µs)",
                ),
                (
                    "exact selection among 100,000 over OpenDP's noisy max, times as fast",
                    f"{fixed(report['selection_speedup_over_opendp'], 0)} "
                    f"({fixed(selecting['discreet'], 1)} ms against "
                    f"{fixed(selecting['opendp'], 0)})",
                ),
                (
                    "cost of the exact Gaussian over NumPy's float normal, 100,000 coordinates",
                    fixed(report["gaussian_cost_over_numpy"], 1),
                ),
                (
                    "cost of the exact Laplace over NumPy's float Laplace",
                    fixed(report["laplace_cost_over_numpy"], 1),
                ),
            ],
        ),
        source("sampler"),
    )


def sums() -> str:
    """Return the section of `RunningSum`."""
    report = load("sums")
    errors, state = report["largest_error"], report["state_bytes"]
    return blocks(
        "## Running sums (`benchmarks/sums.py`)",
        prose(f"""
            Largest variance of a prefix, in units of s²/2ρ, at d = 1000, ε = 1, δ = 10⁻⁶; for our
            mechanisms with integer σ, fixed-point coefficients and rounding counted. These are
            computed, not sampled. Toeplitz has {report["buffers"]} buffers.
        """),
        table(
            ("releases", "Honaker's tree", "Toeplitz", "square root, whole history"),
            [
                (
                    counted(int(releases)),
                    fixed(errors["honaker"][releases], 1),
                    fixed(errors["toeplitz"][releases], 2),
                    fixed(errors["sqrt"][releases], 2),
                )
                for releases in errors["sqrt"]
            ],
        ),
        table(
            ("claim", "measured"),
            [
                (
                    f"Toeplitz error over the square root at 10⁵ releases, {report['buffers']} "
                    "buffers",
                    fixed(report["error_over_sqrt_toeplitz"], 4),
                ),
                (
                    "a step at d = 1000, in exact noise vectors",
                    fixed(report["step_cost_in_noise_vectors"], 2),
                ),
                (
                    "state at 10⁷ releases over that at 10⁵",
                    f"{fixed(report['memory_ratio'], 2)} ({counted(state['10000000'])} bytes)",
                ),
            ],
        ),
        source("sums"),
    )
