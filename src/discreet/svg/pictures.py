"""The pictures: curves, bars, groups of bars and meters."""

from collections.abc import Mapping, Sequence

from discreet.errors import ConfigError
from discreet.svg.data import Axis, Bars, Groups, Level, Line
from discreet.svg.parts import (
    COLOURS,
    EDGE,
    LETTER,
    box,
    coloured,
    drawn_line,
    heading,
    in_words,
    legend,
    picture,
    stroke,
    text,
)
from discreet.svg.scale import Scale
from discreet.texts import is_known, letters, number_text, shortened

ROW = 20.0
"""Height of a bar with its gap in pixels."""
ROOM = 7
"""Letters of a number at the end of the longest bar."""
THIN, GAP = 13.0, 10.0
"""Heights of a bar in a group, and of the gap between groups, in pixels."""


def curves(
    shapes: Sequence[Line | Level],
    *,
    title: str,
    note: str = "",
    x: Axis | None = None,
    y: Axis | None = None,
    width: int = 640,
    height: int = 300,
) -> str:
    """Return a picture of up to four lines with their bands, and of levels.

    Parameters
    ----------
    shapes
        The lines and the levels. A line with a name has an entry in the legend.
    title
        The point that the picture makes.
    note
        What a reader must know, such as the meaning of the band.
    x, y
        The axes.
    width, height
        The size in pixels.

    Examples
    --------
    >>> picture = curves([Line([0, 1, 2], [0.1, 0.2])], title="Clicks", y=Axis(percent=True))
    >>> "<title>Clicks</title>" in picture, "20 %" in picture
    (True, True)
    """
    x = x or Axis()
    y = y or Axis()
    lines = [shape for shape in shapes if isinstance(shape, Line)]
    levels = [shape for shape in shapes if isinstance(shape, Level)]
    if not 1 <= len(lines) <= len(COLOURS):
        raise ConfigError(f"a picture has 1 to {len(COLOURS)} lines, got {len(lines)}")
    parts, top = heading(title, note)
    if any(line.name for line in lines):
        parts += legend([line.name for line in lines], top + 16)
        top += 22
    if y.name:
        parts.append(text(EDGE, top + 18, y.name, "quiet"))
        top += 18
    bottom = height - (44.0 if x.name else 28.0)
    right = width - 2 * EDGE
    heights = [number for line in lines for number in line.heights]
    highest = top + (28 if levels else 14)  # the name of a level is above it
    down = Scale(y, [*heights, *(level.y for level in levels)], bottom, highest)
    rows = down.ticks(5)
    left = EDGE + 8 + LETTER * max(letters(row.text) for row in rows)
    across = Scale(x, [number for line in lines for number in line.x], left, right)
    for row in rows:
        parts.append(stroke("grid", (left, row.place), (right, row.place)))
        parts.append(text(left - 8, row.place + 4, row.text, "end"))
    for tick in across.ticks(6):
        parts.append(stroke("grid", (tick.place, bottom), (tick.place, bottom + 5)))
        parts.append(text(tick.place, bottom + 18, tick.text, "middle"))
    if x.name:
        parts.append(text((left + right) / 2, height - 8, x.name, "middle quiet"))
    for colour, line in zip(COLOURS, lines, strict=False):
        parts.append(coloured(colour, drawn_line(line, across, down)))
    for level in levels:
        place = down.at(level.y)
        parts.append(stroke("level", (left, place), (right, place)))
        parts.append(text(left + 4, place - 5, level.name, "quiet"))
    told = [note, *(in_words(line, y) for line in lines)]
    told += [f"{level.name}: {number_text(level.y, percent=y.percent)}" for level in levels]
    return picture(title, told, parts, width, height)


def bars(
    shown: Bars, *, title: str, note: str = "", axis: Axis | None = None, width: int = 640
) -> str:
    """Return a picture of horizontal bars, with their numbers at the right.

    Parameters
    ----------
    shown
        The bars, from top to bottom.
    title, note, width
        As for `curves`.
    axis
        The axis of the values; it is not logarithmic.

    Examples
    --------
    >>> picture = bars(Bars(["tea", "milk"], [0.5, 0.2], [0.1, 0.1]), title="Gains")
    >>> "<desc>tea 0.50 ± 0.10; milk 0.20 ± 0.10</desc>" in picture
    True
    """
    axis = axis or Axis()
    values = [float(value) for value in shown.values]
    given = shown.whiskers if shown.whiskers is not None else [0.0] * len(values)
    halves = [abs(half) if is_known(half) else 0.0 for half in map(float, given)]
    names = [shortened(name) for name in shown.names]
    numbers = [
        number_text(value, half, percent=axis.percent)
        for value, half in zip(values, halves, strict=True)
    ]
    parts, top = heading(title, note)
    left = EDGE + 8 + LETTER * max(map(letters, names), default=0)
    right = width - 2 * EDGE - LETTER * max(map(letters, numbers), default=0)
    tips = [value + half for value, half in zip(values, halves, strict=True)]
    tips += [value - half for value, half in zip(values, halves, strict=True)]
    across = Scale(axis, [0.0, *tips], left, right)
    first = top + 12
    bottom = first + ROW * len(names)
    below, height = _axis_below(axis, across, first, bottom)
    parts += below
    rows = zip(names, values, halves, numbers, strict=True)
    for row, (name, value, half, number) in enumerate(rows):
        middle = first + ROW * (row + 0.5)
        parts.append(text(left - 8, middle + 4, name, "end"))
        parts.append(text(width - EDGE, middle + 4, number, "end"))
        if is_known(value):
            start, end = sorted((across.at(0.0), across.at(value)))
            parts.append(
                coloured("one", [box("bar", start, middle - 6, max(end - start, 1.0), 12)])
            )
        if is_known(value) and half:
            parts += _whisker(across.at(value - half), across.at(value + half), middle)
    told = "; ".join(f"{name} {number}" for name, number in zip(names, numbers, strict=True))
    return picture(title, [note, told], parts, width, height)


def _axis_below(axis: Axis, across: Scale, top: float, bottom: float) -> tuple[list[str], int]:
    """The grid behind bars with its numbers and name below, and the height of the picture."""
    parts = []
    for tick in across.ticks(5):
        parts.append(stroke("grid", (tick.place, top), (tick.place, bottom + 5)))
        parts.append(text(tick.place, bottom + 18, tick.text, "middle"))
    height = round(bottom + (44 if axis.name else 28))
    if axis.name:
        parts.append(text((across.start + across.end) / 2, height - 8, axis.name, "middle quiet"))
    return parts, height


def _whisker(start: float, end: float, middle: float) -> list[str]:
    """A horizontal stroke with a tip at each end."""
    tips = [stroke("whisker", (tip, middle - 4), (tip, middle + 4)) for tip in (start, end)]
    return [stroke("whisker", (start, middle), (end, middle)), *tips]


def groups(
    shown: Groups, *, title: str, note: str = "", axis: Axis | None = None, width: int = 640
) -> str:
    """Return a picture of groups of up to four horizontal bars, with their numbers at their ends.

    Parameters
    ----------
    shown
        The groups, from top to bottom.
    title, note, width
        As for `curves`.
    axis
        The axis of the values; it is not logarithmic, and its range holds 0.

    Examples
    --------
    >>> shares = Groups(["shop", "town"], {"private": [0.9, 0.8], "rival": [0.5, float("nan")]})
    >>> picture = groups(shares, title="Kept", axis=Axis(percent=True))
    >>> "<desc>shop: private 90 %, rival 50 %; town: private 80 %</desc>" in picture
    True
    """
    axis = axis or Axis()
    if not 1 <= len(shown.series) <= len(COLOURS):
        raise ConfigError(f"a group has 1 to {len(COLOURS)} bars, got {len(shown.series)}")
    names = [shortened(name) for name in shown.names]
    parts, top = heading(title, note)
    parts += legend(list(shown.series), top + 20, bars=True)
    first = top + 38
    left = EDGE + 8 + LETTER * max(map(letters, names), default=0)
    right = width - EDGE - LETTER * ROOM
    numbers = [value for values in shown.series.values() for value in values if is_known(value)]
    across = Scale(axis, [0.0, *numbers], left, right)
    group = THIN * len(shown.series) + GAP
    bottom = first + group * len(names)
    below, height = _axis_below(axis, across, first, bottom)
    parts += below
    told = [note]
    for row, name in enumerate(names):
        values = {series: given[row] for series, given in shown.series.items()}
        middle = first + group * (row + 0.5)
        parts.append(text(left - 8, middle + 4, name, "end"))
        parts += _group(values, axis, across, middle - THIN * len(values) / 2)
        words = [
            f"{series} {number_text(value, percent=axis.percent)}"
            for series, value in values.items()
            if is_known(value)
        ]
        told.append(f"{name}: {', '.join(words)}")
    return picture(title, told, parts, width, height)


def _group(values: Mapping[str, float], axis: Axis, across: Scale, top: float) -> list[str]:
    """The bars of a group, with their numbers."""
    parts = []
    for place, (colour, value) in enumerate(zip(COLOURS, values.values(), strict=False)):
        if is_known(value):
            upper = top + THIN * place
            start, end = sorted((across.at(0.0), across.at(value)))
            parts.append(
                coloured(colour, [box("bar", start, upper + 1, max(end - start, 2.0), THIN - 2)])
            )
            number = number_text(value, percent=axis.percent)
            parts.append(text(end + 6, upper + THIN - 2.5, number))
    return parts


def meter(share: float, told: str, *, width: int = 160) -> str:
    """Return a small bar that is filled up to a share, between 0 and 1, with its text alternative.

    >>> "epsilon spent: 48 %" in meter(0.48, "epsilon spent: 48 %")
    True
    """
    filled = width * min(max(share, 0.0), 1.0) if is_known(share) else 0.0
    parts = [box("track", 0, 0, width, 10), coloured("one", [box("bar", 0, 0, filled, 10)])]
    return picture(told, [], parts, width, 10)
