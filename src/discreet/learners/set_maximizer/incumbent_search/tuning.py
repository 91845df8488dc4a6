"""The tuned constants of the screen-and-exchange mode, and the benchmarks that measure them.

benchmarks/display.py has streams of visitors who are alike, and worlds that are exchanged in the
middle: its worlds 0 to 29 are those that these constants were tuned on. benchmarks/ways.py has
streams that drift and alternate, and other sizes.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class ByFeedback:
    """A number for clicks, and one for rewards of whole slates."""

    clicks: float
    bandit: float

    def of(self, feedback: str) -> float:
        """Return the number for this kind of feedback."""
        found: float = getattr(self, feedback)
        return found


@dataclass(frozen=True)
class Tuning:
    """The tuned constants of this mode, each with its benchmark; per cents are of all rounds."""

    # --- the belief about gains
    guess: float = 0.05
    """Gain that an item is taken to have before anything was released (display.py)."""
    company: float = 0.12
    """Standard deviation by which one other item on the slate changes a gain, relative to it
    (display.py)."""
    most_contexts: int = 40
    """Largest number of contexts that are kept, the most precise ones (display.py, its times)."""
    most_interest: float = 0.6
    """Largest interest of one item (display.py)."""

    # --- screening
    most_screened: float = 0.35
    """Largest part of the horizon that one screening takes, if `explore` sets no limit
    (display.py)."""
    screened_of_explore: float = 0.5
    """Largest part of the trials that `explore` allows which one screening takes (display.py)."""
    random: ByFeedback = ByFeedback(clicks=3.0, bandit=2.0)
    """Per cent for random slates, at a pace of 1 (display.py)."""
    most_random: float = 16.0
    """Largest per cent for random slates (display.py, clicks_low_rate)."""
    thompson: ByFeedback = ByFeedback(clicks=1.0, bandit=0.85)
    """Per cent for each of Thompson's choices, at a pace of 1 (display.py)."""
    fixed: float = 0.7
    """Per cent for each leader that is fixed, at a pace of 1 (display.py, clicks)."""
    most_fixed: int = 3
    """Largest number of leaders that are fixed, one after the other (display.py, clicks)."""
    usual_rate: float = 0.05
    """Rate of clicks on an item at a pace of 1 (display.py, clicks_low_rate)."""
    crowd: float = 0.6
    """Power of the number of items per slot in the pace of screening (display.py)."""
    slower: ByFeedback = ByFeedback(clicks=-0.6, bandit=-0.4)
    """Power of the number of visitors in the pace of screening (display.py)."""
    slower_if_few: float = -0.85
    """The same power for clicks of fewer visitors than usual (display.py, clicks_low_rate)."""
    bold: ByFeedback = ByFeedback(clicks=0.7, bandit=1.0)
    """Part of its standard deviation by which a belief is moved in Thompson's draws
    (display.py)."""
    too_few_random: float = 1.3
    """Random slates go on if so many times as many as were shown are wanted (display.py,
    clicks_low_rate; warm.py)."""

    # --- trials
    patience: float = 0.1
    """Part of the rounds left that a discovery is credited with: others may supersede it
    (display.py)."""
    wider: float = 1.25
    """How much more uncertain exchanges are taken to be that were never tried in this company
    (display.py)."""
    most_tried: float = 0.5
    """Largest part of the rounds of a block that are trials (display.py)."""
    first_trial_clicks: int = 16
    """Rounds of the shortest trial (display.py, clicks)."""
    first_trial_rewards: int = 64
    """Rounds of the shortest trial: rewards of a whole slate vary more (display.py, bandit)."""

    # --- exchange blocks
    shortest_first: ByFeedback = ByFeedback(clicks=0.3, bandit=1.0)
    """Least per cent of the first exchange block; its per cent is the pace (display.py)."""
    longest_first: float = 10.0
    """Largest per cent of the first exchange block (display.py)."""
    growth: float = 1.2
    """Growth of exchange blocks (display.py)."""
    growth_at_usual_pace: float = 1.15
    """Growth of exchange blocks of clicks at a pace between 0.5 and 2 (display.py)."""
    too_short: float = 0.3
    """Part of an exchange block: fewer rounds after it are not worth another one (display.py)."""
    climb_first: int = 10
    """Largest number of exchanges at once after the screening (display.py)."""
    climb: int = 2
    """Largest number of exchanges at once after an exchange block (display.py)."""
    caution: float = 0.5
    """Standard deviations by which an exchange after a block must be better (display.py)."""

    # --- streams that may drift
    memory: float = 0.3
    """Share of the horizon in which estimates fade by 1/e (ways.py; display.py, exchanged)."""
    longest: float = 0.05
    """Longest exchange block, as a share of the horizon (ways.py; display.py, exchanged)."""
    alarm: float = 5.0
    """Standard deviations that are no chance (display.py, exchanged)."""
    fewest_blocks: int = 2
    """Exchange blocks of clicks before an alarm counts: the belief is still rough (display.py,
    exchanged)."""
    newest: float = 0.2
    """Least weight of the newest block in what the incumbent is known to earn (display.py,
    exchanged)."""
    most_screened_again: float = 0.1
    """Largest share of the horizon that all screening may take if an alarm starts it again
    (display.py, exchanged; ways.py)."""


TUNED = Tuning()
