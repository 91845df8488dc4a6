"""The words of `stream=`: what the value of decisions may assume about the people who come.

    "iid"          people are alike over time: most value soonest
    "drifting"     tastes may drift, change a few times or alternate; the stream does not react to decisions
    "adversarial"  nothing: whoever makes the stream may have seen every decision before this round's

Privacy rests on none of them. docs/streams.md has what each learner keeps under each word, and the
test that checks it.
"""

from typing import Any, Literal

from discreet.errors import ConfigError

Stream = Literal["drifting", "iid", "adversarial"]
ADVERSARIAL = (
    "nothing but answers that come whatever this round decides: whoever makes the stream may have "
    "seen every "
    "decision before this round's"
)
ALIKE = "people that are alike over time (i.i.d.)"
MOVING = "a stream that does not react to what is decided, nor to when blocks end; tastes may drift or change"


def assumed_by(stream: Stream) -> str:
    """What value assumes under this word."""
    return {"iid": ALIKE, "drifting": MOVING, "adversarial": ADVERSARIAL}[stream]


def check_stream(word: Any) -> None:
    """Refuse words that are no longer used.

    >>> check_stream("any")
    Traceback (most recent call last):
    discreet.errors.ConfigError: stream='any' is called 'drifting' now: write stream='drifting'
    """
    if isinstance(word, str) and word == "any":
        raise ConfigError("stream='any' is called 'drifting' now: write stream='drifting'")


def refuse_adversarial(stream: Any, holds: str) -> None:
    """Refuse the word where no bound against streams that react is known, and say what to use
    instead.

    >>> refuse_adversarial("adversarial", "stream='drifting'")    # doctest: +ELLIPSIS
    Traceback (most recent call last):
    discreet.errors.ConfigError: stream='adversarial' is not offered here, ...: use stream='drifting'
    """
    if isinstance(stream, str) and stream == "adversarial":
        raise ConfigError(
            "stream='adversarial' is not offered here, no value is promised if streams react to "
            "decisions: "
            f"use {holds}"
        )
