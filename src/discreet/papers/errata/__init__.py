"""The papers' errata, each shown by computation: call one by its name.

>>> print(ERRATA["the-tree-gives-twice-epsilon"]())
the-tree-gives-twice-epsilon (MIN) "TBAP is ε-differentially private ...": ... ratio = 2. ...
"""

from dataclasses import replace
from types import ModuleType

from discreet.papers.errata import greedy, slates, streaming, sums
from discreet.papers.errata.erratum import Erratum, Showing

__all__ = ["ERRATA", "Erratum"]


def _named(part: ModuleType, name: str) -> Showing:
    return lambda: replace(getattr(part, name)(), name=name.replace("_", "-"), paper=part.PAPER)


ERRATA = {
    name.replace("_", "-"): _named(part, name)
    for part in (sums, slates, streaming, greedy)
    for name in part.__all__
}
"""The errata by name; each computes its numbers when it is called."""
