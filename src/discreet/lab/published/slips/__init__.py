"""Every slip of the papers that can be shown, shown: run one by its name, or all.

>>> print(SLIPS["the-tree-gives-twice-epsilon"]())
the-tree-gives-twice-epsilon (MIN) "TBAP is ε-differentially private ...": ... log density ratio = 2 — shown
"""

from discreet.lab.published.slips import greedy, slates, streaming, sums
from discreet.lab.published.slips.slip import Showing, Slip

__all__ = ["SLIPS", "Slip", "show_all"]

SLIPS: dict[str, Showing] = {
    name.replace("_", "-"): getattr(part, name)
    for part in (sums, slates, streaming, greedy)
    for name in part.__all__
}
"""By name; each computes its numbers when it is called."""


def show_all() -> list[Slip]:
    """All of them, computed now."""
    return [show() for show in SLIPS.values()]
