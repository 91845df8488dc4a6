"""Everything discreet raises on purpose.

A message is one line: what is wrong, the value if it is configuration, the remedy. A message about a person's
data names the field and the rule, never the value: an error text is seen by people who may not see the data.
What was refused changed nothing.
"""

__all__ = ["BudgetError", "ConfigError", "DiscreetError", "HorizonReached", "OutOfBounds", "StateError"]


class DiscreetError(Exception):
    """The parent of all errors of this library."""


class ConfigError(DiscreetError, ValueError):
    """A parameter is wrong; the message shows its value and the rule."""


class BudgetError(DiscreetError):
    """A release would spend more privacy than was reserved for it. Nothing was drawn."""


class HorizonReached(DiscreetError):
    """Feedback came after the last planned round."""


class OutOfBounds(DiscreetError, ValueError):
    """A person's feedback has the wrong shape or type, or is not finite. The value is not shown."""


class StateError(DiscreetError):
    """A call at the wrong time, or a saved state that cannot be used; the message names the cause."""
