"""Parts of a picture: its look, its frame with the text alternative, texts, strokes and paths."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise

from discreet.svg.data import Axis, Line
from discreet.svg.scale import Scale
from discreet.texts import escaped, is_known, letters, number_text, shortened

FRAME = (
    ".discreet-picture{font-size:12px;line-height:1;max-width:100%;height:auto}"
    ".discreet-picture text{fill:currentColor}"
    ".discreet-picture:root{font-family:system-ui,sans-serif;color:#1f2328;background:#fff}"
    "@media (prefers-color-scheme:dark)"
    "{.discreet-picture:root{color:#e6e8eb;background:#14181d}}"
)
"""The look of every picture. Only a picture in a file of its own is `:root`."""

LOOK = {
    "title": "font-size:14px;font-weight:600",
    "quiet": "opacity:.75",
    "end": "text-anchor:end",
    "middle": "text-anchor:middle",
    "grid": "stroke:currentColor;opacity:.15",
    "level": "stroke:currentColor;opacity:.75;stroke-dasharray:2 3",
    "track": "fill:currentColor;opacity:.15",
    "line": "stroke:currentColor;stroke-width:2;fill:none;stroke-linejoin:round",
    "band": "fill:currentColor;opacity:.2",
    "bar": "fill:currentColor;opacity:.6",
    "whisker": "stroke:currentColor;stroke-width:1.2;opacity:.8",
    "one": "color:#2a80c5",
    "two": "color:#cf6f22",
    "three": "color:#259174",
    "four": "color:#9a6cb4",
    "two line": "stroke-dasharray:7 3",
    "three line": "stroke-dasharray:2 2",
    "four line": "stroke-dasharray:9 2 2 2",
}
"""The look of each class, in colours that suit light and dark pages; "a b" is a class b in an a."""

COLOURS = ("one", "two", "three", "four")
"""Classes of the lines of a picture, in order; they differ in dashes, too."""
LETTER = 6.6
"""Estimated width of a letter in pixels; no text is measured."""
EDGE = 12.0
"""Margin of a picture in pixels."""

Point = tuple[float, float]


def picture(title: str, told: Sequence[str], parts: Sequence[str], width: int, height: int) -> str:
    """Return a picture of these parts; `title` and what is `told` are its text alternative."""
    description = "; ".join(text for text in told if text)
    described = f"<desc>{escaped(description)}</desc>" if description else ""
    drawn = "".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="discreet-picture" role="img" '
        f'width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
        f"<title>{escaped(title)}</title>{described}<style>{_style(drawn)}</style>{drawn}</svg>"
    )


def _style(drawn: str) -> str:
    """The rules for the classes that were drawn."""
    classes = " ".join(re.findall('class="([^"]*)"', drawn))
    return _rules_for(frozenset(classes.split()))


@cache
def _rules_for(used: frozenset[str]) -> str:
    rules = [
        f".discreet-picture .{kind.replace(' ', ' .')}{{{look}}}"
        for kind, look in LOOK.items()
        if used.issuperset(kind.split())
    ]
    return FRAME + "".join(rules)


def heading(title: str, note: str) -> tuple[list[str], float]:
    """Return the title and the note, and the height below them."""
    parts = [text(EDGE, 22, title, "title")]
    if not note:
        return parts, 26.0
    return [*parts, text(EDGE, 42, note, "quiet")], 42.0


def legend(names: Sequence[str], height: float, *, bars: bool = False) -> list[str]:
    """Return names with a sample of their line or bar, from left to right; "" has no entry."""
    parts = []
    place = EDGE
    for colour, name in zip(COLOURS, map(shortened, names), strict=False):
        if name:
            sample = stroke("line", (place, height), (place + 26, height))
            if bars:
                sample = box("bar", place, height - 5, 26, 10)
            parts.append(coloured(colour, [sample]))
            parts.append(text(place + 32, height + 4, name))
            place += 52 + LETTER * letters(name)
    return parts


def coloured(colour: str, parts: Sequence[str]) -> str:
    """Return parts in one of the `COLOURS`."""
    return f'<g class="{colour}">{"".join(parts)}</g>'


def text(x: float, y: float, shown: str, kind: str = "") -> str:
    """Return a text at a place."""
    named = f' class="{kind}"' if kind else ""
    return f'<text{named} x="{pixels(x)}" y="{pixels(y)}">{escaped(shown)}</text>'


def stroke(kind: str, *points: Point, closed: bool = False) -> str:
    """Return a path through points."""
    joined = "L".join(f"{pixels(x)},{pixels(y)}" for x, y in points)
    return f'<path class="{kind}" d="M{joined}{"Z" if closed else ""}"/>'


def box(kind: str, x: float, y: float, width: float, height: float) -> str:
    """Return a rectangle."""
    return (
        f'<rect class="{kind}" x="{pixels(x)}" y="{pixels(y)}" width="{pixels(width)}" '
        f'height="{pixels(height)}" rx="2"/>'
    )


def pixels(length: float) -> str:
    """Return a length with at most one decimal."""
    return f"{round(length, 1) + 0.0:.8g}"


# --- lines ----------------------------------------------------------------------------------------


def drawn_line(line: Line, across: Scale, down: Scale) -> list[str]:
    """Return the band and the line, without the stretches where they are unknown."""
    parts = []
    if line.band is not None:
        ranges = list(zip(line.band.low, line.band.high, strict=True))
        for run in _runs(line.x, ranges, across, down):
            there = [(place, down.at(low)) for place, (low, _) in run]
            back = [(place, down.at(high)) for place, (_, high) in reversed(run)]
            parts.append(stroke("band", *there, *back, closed=True))
    for run in _runs(line.x, [(number,) for number in line.y], across, down):
        points = [(place, down.at(number)) for place, (number,) in run]
        parts.append(stroke("line", *points))
    return parts


Run = list[tuple[float, tuple[float, ...]]]
"""Neighbouring points that are all known: positions, each with one or several heights."""


def _runs(
    x: Sequence[float], heights: Sequence[tuple[float, ...]], across: Scale, down: Scale
) -> Iterator[Run]:
    """Yield the runs of a line of points or of steps."""
    edges = zip(x, x, strict=True) if len(x) == len(heights) else pairwise(x)
    run: Run = []
    for (start, end), numbers in zip(edges, heights, strict=True):
        if across.shows(start) and across.shows(end) and all(map(down.shows, numbers)):
            places = [across.at(start), across.at(end)][: 1 if start == end else 2]
            run += [(place, numbers) for place in places]
        elif run:
            yield run
            run = []
    if run:
        yield run


def in_words(line: Line, axis: Axis) -> str:
    """Return a line in words: its first, last, lowest and highest number."""
    known = [number for number in line.y if is_known(number)]
    numbers = {"first": known[:1], "last": known[-1:]}
    if known:
        numbers |= {"lowest": [min(known)], "highest": [max(known)]}
    told = [
        f"{name} {number_text(one, percent=axis.percent)}"
        for name, found in numbers.items()
        for one in found
    ]
    return f"{line.name}: {', '.join(told)}" if line.name else ", ".join(told)
