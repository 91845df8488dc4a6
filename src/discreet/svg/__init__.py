"""Pictures as SVG texts: lines and steps with bands, bars, and meters.

Numbers go in, a string comes out. It stands in an HTML page, or alone as a file. Equal numbers give
equal strings, so that a test can compare a committed picture. The look is in CSS classes, all under
`.discreet-picture`. Inside a page a picture takes the colour of the page's text; alone it has a
background of its own, light or dark as the reader prefers.

    curves([Line(...), Level(...)], title=..., x=Axis(...), y=Axis(...))
    bars(Bars(names, values, whiskers), title=..., axis=Axis(...))
    groups(Groups(names, {series: values, ...}), title=..., axis=Axis(...))
    meter(0.48, "epsilon spent")
"""

from discreet.svg.data import MOST_BARS, Axis, Band, Bars, Groups, Level, Line
from discreet.svg.pictures import bars, curves, groups, meter

__all__ = [
    "MOST_BARS",
    "Axis",
    "Band",
    "Bars",
    "Groups",
    "Level",
    "Line",
    "bars",
    "curves",
    "groups",
    "meter",
]
