"""Everything discreet raises on purpose.

A message is one line: what is wrong, the value if it is configuration, the remedy. A message about
a person's data names the field and the rule, never the value: an error text is seen by people who
may not see the data. What was refused changed nothing.
"""

LONGEST = 600
"""Characters of a message: of a longer one the beginning and the end, where the remedy is, are
kept.
"""
ENDING = 200
"""How many of them are of the end."""


class DiscreetError(Exception):
    """The parent of all errors of this library. Its text is one line that every terminal can show.

    >>> str(DiscreetError("a file\\nof two lines"))
    'a file of two lines'
    """

    def __init__(self, message: object = "") -> None:
        super().__init__(_one_line(str(message)))


def _one_line(text: str) -> str:
    """A text without line breaks, control characters and half letters, of at most `LONGEST`
    characters.
    """
    if len(text) > LONGEST:
        text = f"{text[: LONGEST - ENDING]} … {text[-ENDING:]}"
    if text.isprintable():
        return text
    words = " ".join(text.split())
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in words)


class ConfigError(DiscreetError, ValueError):
    """A parameter is wrong; the message shows its value and the rule."""


class BudgetError(DiscreetError):
    """A release would spend more privacy than was reserved for it. Nothing was drawn."""


class HorizonReached(DiscreetError):
    """Feedback came after the last planned round."""


class OutOfBounds(DiscreetError, ValueError):
    """A person's feedback has the wrong shape or type, or is not finite. The value is not shown."""


class StateError(DiscreetError):
    """A call at the wrong time, or a saved state that cannot be used; the message names the
    cause.
    """
