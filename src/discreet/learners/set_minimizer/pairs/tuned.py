"""Constants of the pairs mode that were tuned, each with the benchmark that chose it.

"minimize" is benchmarks/minimize.py: its cases with feedback="bandit", on worlds 0 to 29. "ways" is
benchmarks/ways.py: streams that drift, alternate, or change.
"""

from dataclasses import dataclass, field

from discreet.learners.set_minimizer.pairs.sizes import Sizes

__all__ = ["TUNED", "Tuned"]


@dataclass(frozen=True)
class Tuned:
    """Constants of blocks, trials and the belief."""

    # --- screening --------------------------------------------------------------------------------

    screened_rounds: int = 40
    """Rounds of each random set, divided by ε (minimize)."""
    most_screened: float = 0.05
    """Largest share of the horizon that the screening takes, if `explore` is "auto" (minimize)."""
    most_screened_of_explore: float = 0.5
    """Largest share of the trials that `explore` allows which the screening takes (minimize)."""
    sets_per_item: int = 2
    """Random sets of the screening, per item (minimize)."""
    fewest_sets: int = 36
    """Random sets of the screening, if there are few items (minimize)."""
    fewest_sets_of_short: int = 12
    """Random sets of the screening, before a short horizon takes rounds of each (minimize)."""
    shrinking: float = 0.8
    """Factor by which sets, then rounds, of the screening fall until they fit (minimize)."""

    # --- blocks -----------------------------------------------------------------------------------

    first_block: float = 0.6
    """First block after the screening, as a share of the screening (minimize)."""
    growth: float = 1.25
    """Factor by which blocks grow (minimize)."""
    longest_iid: float = 0.05
    """Longest block of an i.i.d. stream, as a share of the horizon (minimize)."""
    longest_drifting: float = 0.01
    """Longest block of a drifting stream, as a share of the horizon (ways)."""
    longest_of_screening: float = 1.25
    """Longest block of a drifting stream, as a multiple of the screening, if that is more (ways)."""
    too_short: float = 0.3
    """Fewer rounds after a block, as a share of it, are not worth another one (minimize)."""

    # --- drifting streams -------------------------------------------------------------------------

    memories: int = 6
    """Number of memories in the horizon (ways)."""
    memory_of_screening: int = 12
    """Memory, and rounds a find is credited with, as a multiple of the screening, if more (ways)."""
    ahead: float = 0.2
    """Rounds that a find is credited with, as a share of the horizon (ways)."""
    alarm: float = 5.0
    """Standard deviations by which the anchor is off when an alarm is raised (ways)."""
    forgotten: float = 0.6
    """Share of the horizon that passes for the memory at an alarm (ways)."""

    # --- trials -----------------------------------------------------------------------------------

    starts: int = 40
    """Random sets from which the anchor is searched (minimize)."""
    candidate_starts: int = 6
    """Random sets from which sets that are cheapest by a draw of the belief are searched (minimize)."""
    forced_starts: int = 5
    """Sets from which a set with one item forced in or out is searched (minimize)."""
    draws: int = 12
    """Draws of the belief whose cheapest sets are candidates (minimize)."""
    most_forced: int = 40
    """Items that are forced in or out, at most (minimize)."""
    best_kept: int = 20
    """Sets tried before that are candidates again (minimize)."""
    first_trial: int = 20
    """Fewest rounds of a trial (minimize)."""
    doublings: int = 20
    """Number of sizes of a trial that are compared, each twice the one before (a bound on time)."""
    most_tried: float = 0.8
    """Largest share of a block that trials take (minimize)."""
    largest_of_block: int = 8
    """A trial takes at most the block divided by this (minimize)."""
    largest_of_trials: int = 4
    """A trial takes at most all rounds of trials divided by this (minimize)."""

    # --- the belief -------------------------------------------------------------------------------

    most_sets: int = 400
    """Tried sets that the belief keeps: those with the most precise means (a bound on time)."""
    first_sizes: Sizes = field(
        default=Sizes(level=0.5, common_item=0.3, common_pair=0.2, item=0.18, pair=0.083, own=0.01)
    )
    """Sizes before anything was tried (minimize)."""
    least_sizes: Sizes = field(
        default=Sizes(level=0.5, common_item=0.01, common_pair=0.01, item=0.045, pair=0.04, own=0.005)
    )
    """Sizes never fall below these (minimize)."""
    largest_size: float = 2.0
    """Sizes never exceed this (minimize)."""
    size_factor: float = 1.6
    """Factor by which a size is changed while it is learned (minimize)."""
    size_strength: float = 4.0
    """Precision of the prior of each logarithm of a size (minimize)."""
    sized_always: int = 6
    """First blocks after each of which sizes are learned; then after every fifth (minimize)."""
    sized_every: int = 5
    """Number of blocks between two that learn sizes, later (minimize)."""
    first_variance: float = 0.1
    """Variance of one visitor's cost before anything is known, in units of the bound (minimize)."""
    least_variance: float = 0.01
    """Variance of one visitor's cost, at least (minimize)."""
    most_variance: float = 1.0
    """Variance of one visitor's cost, at most: that of costs ±bound."""
    variance_strength: int = 16
    """Number of surprises that the variance believed before counts for (minimize)."""
    most_surprise: float = 10.0
    """A surprise counts for at most this: a change of tastes must not pass for noise (ways)."""


TUNED = Tuned()
"""What the mode uses."""
