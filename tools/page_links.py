"""An extension of griffe: pages that docstrings name become links on the site's reference pages.

>>> linked("Guarantee: docs/guarantees/sets.md, Theorem 1")
'Guarantee: [docs/guarantees/sets.md](../guarantees/sets.md), Theorem 1'
"""

import re
from typing import Any

from griffe import Extension, Object

PAGE = re.compile(r"docs/(\w+/\w+)\.md")


def linked(text: str) -> str:
    """Return a docstring with links to the pages that it names, seen from reference/."""
    return PAGE.sub(r"[docs/\1.md](../\1.md)", text)


class PageLinks(Extension):  # type: ignore[misc]  # the tests' environment has no griffe
    """Links the pages that the docstring of an object names."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Rewrite the docstring of an object that was loaded from source."""
        if obj.docstring is not None:
            obj.docstring.value = linked(obj.docstring.value)
