"""The errors that discreet raises on purpose.

A message is one line: the fault, the value if it is configuration, and the remedy. A message about
a person's data names the field and the rule, never the value, because people who may not see the
data read error messages. A refused call changes nothing.
"""

LONGEST = 600
"""The largest number of characters of a message; longer ones lose their middle."""
ENDING = 200
"""The number of characters after the cut: the end of a message names the remedy."""


class DiscreetError(Exception):
    """Base class of all errors of this library; the text is one printable line.

    Examples
    --------
    >>> str(DiscreetError("a file\\nof two lines"))
    'a file of two lines'
    """

    def __init__(self, message: object = "") -> None:
        super().__init__(_one_line(str(message)))


def _one_line(text: str) -> str:
    """A text of at most `LONGEST` characters, without line breaks or unprintable characters."""
    if len(text) > LONGEST:
        text = f"{text[: LONGEST - ENDING]} … {text[-ENDING:]}"
    if text.isprintable():
        return text
    joined = " ".join(text.split())
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in joined)


class ConfigError(DiscreetError, ValueError):
    """A parameter is wrong; the message states its value and the rule."""


class BudgetError(DiscreetError):
    """A release would spend more privacy than was reserved for it; nothing was drawn."""


class HorizonReached(DiscreetError):
    """Feedback arrived after the last planned round."""


class OutOfBounds(DiscreetError, ValueError):
    """A person's feedback has the wrong shape or type, or is not finite; it is not shown."""


class StateError(DiscreetError):
    """A call came at the wrong time, or a saved state cannot be used."""
