"""Tuned constants of the incumbent search, and the benchmarks that measure them.

benchmarks/display.py has streams of visitors who are alike, and worlds that are exchanged in the
middle: its worlds 0 to 29 are those that these constants were tuned on. benchmarks/ways.py has
streams that drift and alternate, and other sizes.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class ByFeedback:
    """One number for clicks, and one for rewards of whole slates."""

    clicks: float
    bandit: float

    def of(self, feedback: str) -> float:
        """Return the number for this kind of feedback."""
        number: float = getattr(self, feedback)
        return number


@dataclass(frozen=True)
class Tuning:
    """Tuned constants of this mode; per cents are of all rounds.

    Each names the benchmark that it was tuned on; where none is named, no record says what chose
    it.
    """

    # --- the posterior of gains (posterior.py)
    guess: float = 0.05
    """Gain that an item is taken to have before the first release (display.py)."""
    first_spread: float = 0.8
    """Standard deviation of items around the centre before the first release, relative to it."""
    company: float = 0.12
    """Standard deviation of the effect of one other item on a gain, relative to it (display.py)."""
    least_company_interest: float = 0.5
    """Least interest, relative to the centre, from which effects of other items are computed."""
    most_contexts: int = 40
    """Largest number of contexts in the state: the most precise ones (display.py, its times)."""
    least_gain: float = 0.02
    """Smallest posterior mean gain, relative to the centre."""
    least_interest: float = 0.2
    """Smallest interest of one item, relative to the centre."""
    most_interest: float = 0.6
    """Largest interest of one item (display.py)."""
    fewest_for_prior: int = 3
    """Fewest items with a cell from which the prior is estimated."""
    least_spread: float = 0.06
    """Smallest estimated standard deviation of items around the centre, relative to it."""
    least_centre: float = 1e-4
    """Smallest estimated centre."""
    prior_iterations: int = 5
    """Number of reweighted steps of the estimate of the prior."""

    # --- screening (screening.py, schedule.py, tables.py)
    most_screened: float = 0.35
    """Largest share of the horizon that one screening takes without `explore` (display.py)."""
    screened_of_explore: float = 0.5
    """Largest share of the trials that `explore` allows for one screening (display.py)."""
    random: ByFeedback = ByFeedback(clicks=3.0, bandit=2.0)
    """Per cent for random slates, at a pace of 1 (display.py)."""
    most_random: float = 16.0
    """Largest per cent for random slates (display.py, clicks_low_rate)."""
    thompson: ByFeedback = ByFeedback(clicks=1.0, bandit=0.85)
    """Per cent for each block of Thompson sampling, at a pace of 1 (display.py)."""
    fixed: float = 0.7
    """Per cent for each leader that is fixed, at a pace of 1 (display.py, clicks)."""
    most_fixed: int = 3
    """Largest number of leaders that are fixed, one after the other (display.py, clicks)."""
    usual_rate: float = 0.05
    """Click rate of an item at a pace of 1 (display.py, clicks_low_rate)."""
    most_rate: float = 2.0
    """Largest click rate that shortens a screening, relative to the usual rate."""
    usual_items_per_slot: float = 20.0
    """Number of items per slot at a pace of 1."""
    usual_visitors: ByFeedback = ByFeedback(clicks=1e5, bandit=1e6)
    """Number of visitors at a pace of 1."""
    items_per_slot_power: float = 0.6
    """Power of the number of items per slot in the pace of screening (display.py)."""
    visitors_power: ByFeedback = ByFeedback(clicks=-0.6, bandit=-0.4)
    """Power of the number of visitors in the pace of screening (display.py)."""
    visitors_power_if_few: float = -0.85
    """Power of the number of visitors for clicks of few visitors (display.py, clicks_low_rate)."""
    bold: ByFeedback = ByFeedback(clicks=0.7, bandit=1.0)
    """Standard deviation of Thompson's draws, relative to that of the posterior (display.py)."""
    too_few_random: float = 1.3
    """Random slates go on if the wanted number is at least this multiple of the shown one
    (display.py, clicks_low_rate; warm.py)."""
    fewest_views: float = 5.0
    """Number of views up to which a screened item counts as not seen."""
    least_screened_chance: float = 0.4
    """Smallest click probability in variances of screened cells, relative to the centre."""
    most_level: float = 0.95
    """Largest mean reward of a slate after a screening: the interest of its items follows."""
    least_level: float = 1e-3
    """Smallest mean reward of a slate; after exchange blocks, 1 minus it is the largest."""
    log_spread: float = 0.8
    """Prior standard deviation of the mean reward in a log, relative to the expected one."""

    # --- trials (trials.py)
    patience: float = 0.1
    """Share of the remaining rounds credited to a discovery: others may supersede it
    (display.py)."""
    wider: float = 1.25
    """Additional variance, relative, of exchanges never tried with this slate (display.py)."""
    most_tried: float = 0.5
    """Largest share of the rounds of a block that are trials (display.py)."""
    largest_trial: float = 0.25
    """Largest share of the trials of a block that one exchange takes."""
    first_trial_clicks: int = 16
    """Rounds of the shortest trial (display.py, clicks)."""
    first_trial_rewards: int = 64
    """Rounds of the shortest trial: rewards of a whole slate vary more (display.py, bandit)."""

    # --- exchange blocks (exchange.py, planner.py)
    shortest_first: ByFeedback = ByFeedback(clicks=0.3, bandit=1.0)
    """Least per cent of the first exchange block; its per cent is the pace (display.py)."""
    longest_first: float = 10.0
    """Largest per cent of the first exchange block (display.py)."""
    growth: float = 1.2
    """Growth of exchange blocks (display.py)."""
    growth_at_usual_pace: float = 1.15
    """Growth of exchange blocks of clicks at a pace between 0.5 and 2 (display.py)."""
    too_short: float = 0.3
    """Share of an exchange block: fewer rounds after it are not worth another one (display.py)."""
    least_chance: float = 0.2
    """Smallest click probability in variances of exchange cells, relative to the centre."""
    most_chance: float = 0.5
    """Largest click probability in variances of cells."""
    own_doubt: float = 0.5
    """Share of the variance of the exchanged item's gain that the gains of its rivals inherit."""
    climb_first: int = 10
    """Largest number of exchanges at once after the screening (display.py)."""
    climb: int = 2
    """Largest number of exchanges at once after an exchange block (display.py)."""
    caution: float = 0.5
    """Standard deviations by which an exchange after a block must be better (display.py)."""

    # --- drifting streams (exchange.py, planner.py)
    memory: float = 0.3
    """Share of the horizon in which precisions fade by 1/e (ways.py; display.py, exchanged)."""
    longest: float = 0.05
    """Longest exchange block, as a share of the horizon (ways.py; display.py, exchanged)."""
    alarm: float = 5.0
    """Standard deviations from which a change is an alarm (display.py, exchanged)."""
    alarm_doubt: float = 2.0
    """Factor of the posterior variance of the incumbent's gains in the test of an alarm."""
    fewest_blocks: int = 2
    """Exchange blocks of clicks before an alarm counts: the posterior is still rough (display.py,
    exchanged)."""
    newest: float = 0.2
    """Least weight of the newest block in the incumbent's mean reward (display.py, exchanged)."""
    most_screened_again: float = 0.1
    """Largest share of the horizon for all screening if an alarm starts it again (display.py,
    exchanged; ways.py)."""


TUNED = Tuning()
