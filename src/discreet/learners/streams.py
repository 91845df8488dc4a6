"""The words of `stream=`: what the value of decisions may assume about the people who come.

    "iid"        people are alike over time: most value soonest
    "drifting"   tastes may drift, change a few times or alternate; the stream does not react to decisions

Privacy rests on neither. docs/streams.md has what each learner keeps under each word, and the test that
checks it.
"""

from typing import Any, Literal

from discreet.errors import ConfigError

__all__ = ["ALIKE", "MOVING", "Stream", "assumed_by", "check_stream"]

Stream = Literal["drifting", "iid"]
ALIKE = "people that are alike over time (i.i.d.)"
MOVING = "a stream that does not react to what is decided, nor to when blocks end; tastes may drift or change"


def assumed_by(stream: Stream) -> str:
    """What value assumes under this word."""
    return ALIKE if stream == "iid" else MOVING


def check_stream(word: Any) -> None:
    """Refuse words that are no longer, or not yet, promised.

    >>> check_stream("any")
    Traceback (most recent call last):
    discreet.errors.ConfigError: stream='any' is called 'drifting' now: write stream='drifting'
    """
    if isinstance(word, str) and word == "any":
        raise ConfigError("stream='any' is called 'drifting' now: write stream='drifting'")
    if isinstance(word, str) and word == "adversarial":
        raise ConfigError(
            "stream='adversarial' is not offered: no value is promised if the stream reacts to decisions: "
            "leave out stream"
        )
