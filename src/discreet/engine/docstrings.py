"""Docstrings as data: their first paragraph, and the text of each parameter."""

import re
from inspect import cleandoc

SECTION = re.compile(r"^(\w+)\n-+\n", re.MULTILINE)
"""The heading of a section, underlined."""


def summary(kind: type) -> str:
    """Return the first paragraph of a class's docstring as one line."""
    first, _, _ = cleandoc(kind.__doc__ or "").partition("\n\n")
    return " ".join(first.split())


def parameters(kind: type) -> dict[str, str]:
    """Return the text of each parameter in a class's docstring, each as one line.

    >>> class Slate:
    ...     '''A slate.
    ...
    ...     Parameters
    ...     ----------
    ...     first, last
    ...         Places of the slate,
    ...         from 0 on.
    ...     '''
    >>> parameters(Slate)
    {'first': 'Places of the slate, from 0 on.', 'last': 'Places of the slate, from 0 on.'}
    """
    parts = SECTION.split(cleandoc(kind.__doc__ or ""))
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    texts: dict[str, str] = {}
    names: list[str] = []
    for line in sections.get("Parameters", "").splitlines():
        if line and not line.startswith(" "):
            names = line.split(", ")
        for name in names if line.startswith(" ") else ():
            texts[name] = f"{texts.get(name, '')} {line.strip()}".strip()
    return texts
