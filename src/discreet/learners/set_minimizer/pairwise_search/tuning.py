"""The tuned constants of the pairs mode, each with its origin.

(minimize.py)       a default of benchmarks/minimize.py, chosen on its worlds 0 to 29
(before ways.py)    set with the mode, by a benchmark that no longer exists; benchmarks/ways.py
                    came later and measures it on streams that drift, alternate or change
"""

from dataclasses import dataclass, field

from discreet.learners.set_minimizer.pairwise_search.sizes import Sizes


@dataclass(frozen=True)
class Tuning:
    """The tuned constants of this mode: of blocks, trials and the posterior."""

    # --- screening --------------------------------------------------------------------------------

    screened_rounds: int = 40
    """Rounds of each random set, divided by ε (minimize.py)."""
    most_screened: float = 0.05
    """Largest share of the horizon in the screening, if `explore` is "auto" (minimize.py)."""
    most_screened_of_explore: float = 0.5
    """Largest share of the trials of `explore` in the screening (minimize.py)."""
    sets_per_item: int = 2
    """Random sets of the screening, per item (minimize.py)."""
    fewest_sets: int = 36
    """Least number of random sets of the screening (minimize.py)."""
    fewest_sets_of_short: int = 12
    """Least number of sets before a short horizon shortens the rounds of each (minimize.py)."""
    shrinking: float = 0.8
    """Factor by which sets, then rounds, of the screening shrink until they fit (minimize.py)."""

    # --- blocks -----------------------------------------------------------------------------------

    first_block: float = 0.6
    """First block after the screening, as a share of the screening (minimize.py)."""
    growth: float = 1.25
    """Factor by which blocks grow (minimize.py)."""
    longest_iid: float = 0.05
    """Longest block of an i.i.d. stream, as a share of the horizon (minimize.py)."""
    longest_drifting: float = 0.01
    """Longest block of a drifting stream, as a share of the horizon (before ways.py)."""
    longest_of_screening: float = 1.25
    """Longest block of a drifting stream, as a multiple of the screening, if that is longer
    (before ways.py)."""
    too_short: float = 0.3
    """Smallest remainder after a block, as a share of it, that gets a block (minimize.py)."""

    # --- drifting streams -------------------------------------------------------------------------

    memories: int = 6
    """Number of memories in the horizon (before ways.py)."""
    memory_of_screening: int = 12
    """Least memory, and least rounds that a discovery is credited with, as a multiple of the
    screening (before ways.py)."""
    ahead: float = 0.2
    """Rounds that a discovery is credited with, as a share of the horizon (before ways.py)."""
    alarm: float = 5.0
    """Deviation of the incumbent's cost that raises an alarm, in standard deviations (before
    ways.py)."""
    forgotten: float = 0.6
    """Share of the horizon by which memory fades at an alarm (before ways.py)."""

    # --- trials -----------------------------------------------------------------------------------

    starts: int = 40
    """Random starts of the search for the incumbent (minimize.py)."""
    candidate_starts: int = 6
    """Random starts of the search for the cheapest set of a posterior draw (minimize.py)."""
    forced_starts: int = 5
    """Starts of the search for the cheapest set with one item forced (minimize.py)."""
    draws: int = 12
    """Posterior draws whose cheapest sets are candidates (minimize.py)."""
    most_forced: int = 40
    """Largest number of items that are forced in or out (minimize.py)."""
    best_kept: int = 20
    """Number of the best tried sets that are candidates again (minimize.py)."""
    first_trial: int = 20
    """Fewest rounds of a trial (minimize.py)."""
    doublings: int = 20
    """Number of sizes of a trial that are compared, each twice the last (a bound on time)."""
    most_tried: float = 0.8
    """Largest share of a block in trials (minimize.py)."""
    largest_of_block: int = 8
    """Largest trial: the block divided by this (minimize.py)."""
    largest_of_trials: int = 4
    """Largest trial: all rounds of trials divided by this (minimize.py)."""

    # --- the posterior ----------------------------------------------------------------------------

    most_sets: int = 400
    """Largest number of tried sets in the posterior: the most precise ones (a bound on time)."""
    first_sizes: Sizes = field(
        default=Sizes(level=0.5, common_item=0.3, common_pair=0.2, item=0.18, pair=0.083, own=0.01)
    )
    """Sizes before anything was tried (minimize.py)."""
    least_sizes: Sizes = field(
        default=Sizes(
            level=0.5, common_item=0.01, common_pair=0.01, item=0.045, pair=0.04, own=0.005
        )
    )
    """Least sizes (minimize.py)."""
    largest_size: float = 2.0
    """Largest size (minimize.py)."""
    size_factor: float = 1.6
    """Factor of the steps of a size while it is learned (minimize.py)."""
    size_strength: float = 4.0
    """Precision of the prior of each logarithm of a size (minimize.py)."""
    sized_always: int = 6
    """Number of first blocks after each of which sizes are learned (minimize.py)."""
    sized_every: int = 5
    """Later blocks after which sizes are learned: every n-th (minimize.py)."""
    first_variance: float = 0.1
    """First estimate of the variance of one visitor's cost, in units of the bound
    (minimize.py).
    """
    least_variance: float = 0.01
    """Least variance of one visitor's cost (minimize.py)."""
    most_variance: float = 1.0
    """Largest variance of one visitor's cost: that of costs ±bound."""
    variance_strength: int = 16
    """Weight of the earlier variance, as a number of squared residuals (minimize.py)."""
    most_surprise: float = 10.0
    """Largest squared residual, in variances, so that a change of tastes does not count as noise
    (before ways.py)."""


TUNED = Tuning()
