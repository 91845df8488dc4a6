"""Completion of arguments in the shell, by words that need no import of the learners.

discreet --install-completion        then, in a new shell:  discreet audit Set<TAB>
"""

from collections.abc import Callable


def completed(*words: str) -> Callable[[str], list[str]]:
    """Return a function that completes the beginning of one of these words.

    >>> completed("Hedge", "SetMaximizer", "SetMinimizer")("Set")
    ['SetMaximizer', 'SetMinimizer']
    """
    return lambda incomplete: [word for word in words if word.startswith(incomplete)]
