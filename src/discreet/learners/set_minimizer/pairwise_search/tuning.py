"""The tuned constants of the pairs mode, and what is known of where they come from.

(minimize.py)       a default of benchmarks/minimize.py, whose worlds 0 to 29 defaults were chosen on
(before ways.py)    set with the mode, by no benchmark that was kept; benchmarks/ways.py came later
                    and measures it on streams that drift, alternate or change
"""

from dataclasses import dataclass, field

from discreet.learners.set_minimizer.pairwise_search.sizes import Sizes


@dataclass(frozen=True)
class Tuning:
    """The tuned constants of this mode: of blocks, trials and the belief."""

    # --- screening --------------------------------------------------------------------------------

    screened_rounds: int = 40
    """Rounds of each random set, divided by ε (minimize.py)."""
    most_screened: float = 0.05
    """Largest share of the horizon that the screening takes, if `explore` is "auto"
    (minimize.py).
    """
    most_screened_of_explore: float = 0.5
    """Largest share of the trials that `explore` allows which the screening takes (minimize.py)."""
    sets_per_item: int = 2
    """Random sets of the screening, per item (minimize.py)."""
    fewest_sets: int = 36
    """Random sets of the screening, if there are few items (minimize.py)."""
    fewest_sets_of_short: int = 12
    """Random sets of the screening, before a short horizon takes rounds of each (minimize.py)."""
    shrinking: float = 0.8
    """Factor by which sets, then rounds, of the screening fall until they fit (minimize.py)."""

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
    """Longest block of a drifting stream, as a multiple of the screening, if that is more
    (before ways.py)."""
    too_short: float = 0.3
    """Fewer rounds after a block, as a share of it, are not worth another one (minimize.py)."""

    # --- drifting streams -------------------------------------------------------------------------

    memories: int = 6
    """Number of memories in the horizon (before ways.py)."""
    memory_of_screening: int = 12
    """Memory, and rounds that a find is credited with, at least: as a multiple of the screening
    (before ways.py)."""
    ahead: float = 0.2
    """Rounds that a find is credited with, as a share of the horizon (before ways.py)."""
    alarm: float = 5.0
    """Standard deviations by which the anchor is off when an alarm is raised (before ways.py)."""
    forgotten: float = 0.6
    """Share of the horizon that passes for the memory at an alarm (before ways.py)."""

    # --- trials -----------------------------------------------------------------------------------

    starts: int = 40
    """Random sets from which the anchor is searched (minimize.py)."""
    candidate_starts: int = 6
    """Random sets from which sets that are cheapest by a draw of the belief are searched
    (minimize.py).
    """
    forced_starts: int = 5
    """Sets from which a set with one item forced in or out is searched (minimize.py)."""
    draws: int = 12
    """Draws of the belief whose cheapest sets are candidates (minimize.py)."""
    most_forced: int = 40
    """Items that are forced in or out, at most (minimize.py)."""
    best_kept: int = 20
    """Sets tried before that are candidates again (minimize.py)."""
    first_trial: int = 20
    """Fewest rounds of a trial (minimize.py)."""
    doublings: int = 20
    """Number of sizes of a trial that are compared, each twice the one before (a bound on time)."""
    most_tried: float = 0.8
    """Largest share of a block that trials take (minimize.py)."""
    largest_of_block: int = 8
    """A trial takes at most the block divided by this (minimize.py)."""
    largest_of_trials: int = 4
    """A trial takes at most all rounds of trials divided by this (minimize.py)."""

    # --- the belief -------------------------------------------------------------------------------

    most_sets: int = 400
    """Tried sets that the belief keeps: those with the most precise means (a bound on time)."""
    first_sizes: Sizes = field(
        default=Sizes(level=0.5, common_item=0.3, common_pair=0.2, item=0.18, pair=0.083, own=0.01)
    )
    """Sizes before anything was tried (minimize.py)."""
    least_sizes: Sizes = field(
        default=Sizes(
            level=0.5, common_item=0.01, common_pair=0.01, item=0.045, pair=0.04, own=0.005
        )
    )
    """Sizes never fall below these (minimize.py)."""
    largest_size: float = 2.0
    """Sizes never exceed this (minimize.py)."""
    size_factor: float = 1.6
    """Factor by which a size is changed while it is learned (minimize.py)."""
    size_strength: float = 4.0
    """Precision of the prior of each logarithm of a size (minimize.py)."""
    sized_always: int = 6
    """First blocks after each of which sizes are learned; then after every fifth (minimize.py)."""
    sized_every: int = 5
    """Number of blocks between two that learn sizes, later (minimize.py)."""
    first_variance: float = 0.1
    """Variance of one visitor's cost before anything is known, in units of the bound
    (minimize.py).
    """
    least_variance: float = 0.01
    """Variance of one visitor's cost, at least (minimize.py)."""
    most_variance: float = 1.0
    """Variance of one visitor's cost, at most: that of costs ±bound."""
    variance_strength: int = 16
    """Number of surprises that the variance believed before counts for (minimize.py)."""
    most_surprise: float = 10.0
    """A surprise counts for at most this: a change of tastes must not pass for noise (before
    ways.py).
    """


TUNED = Tuning()
