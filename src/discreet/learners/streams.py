"""The values of `stream=`: what the value of decisions may assume about the stream of people.

    "iid"          people are alike over time: most value soonest
    "drifting"     tastes may drift, change a few times or alternate; the stream does not react
    "adversarial"  nothing: an adversary may have seen every earlier decision

Privacy assumes none of them. docs/understand/streams.md lists the value that each learner retains
under each setting, and the test that checks it.
"""

from typing import Literal

from discreet.errors import ConfigError

Stream = Literal["drifting", "iid", "adversarial"]
ADVERSARIAL = (
    "only that the arrival of an answer does not depend on the decision of its own round (an "
    "adversary may have seen every earlier decision)"
)
ALIKE = "people who are alike over time (i.i.d.)"
MOVING = (
    "a stream that reacts neither to decisions nor to the ends of blocks (tastes may drift or "
    "change)"
)


def assumed_by(stream: Stream) -> str:
    """Return what value assumes under this setting, in words."""
    return {"iid": ALIKE, "drifting": MOVING, "adversarial": ADVERSARIAL}[stream]


def refuse_adversarial(stream: object, holds: str) -> None:
    """Refuse "adversarial" where no bound against streams that react is known.

    `holds` names what to use instead.

    >>> refuse_adversarial("adversarial", "stream='iid'")    # doctest: +ELLIPSIS
    Traceback (most recent call last):
    discreet.errors.ConfigError: stream='adversarial' is not offered here, ...: use stream='iid'
    """
    if isinstance(stream, str) and stream == "adversarial":
        raise ConfigError(
            "stream='adversarial' is not offered here, because no value is guaranteed against "
            f"streams that react to decisions: use {holds}"
        )
