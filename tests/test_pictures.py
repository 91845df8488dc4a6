"""If these fail, a picture hides its point, its names overlap, or some readers cannot read it."""

from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest

from discreet import pictures
from discreet.arrays import Floats
from discreet.svg.parts import COLOURS, LOOK

pytest.importorskip("matplotlib", reason="Matplotlib is not installed")

LINES = {
    "black": pictures.BLACK,
    "blue": pictures.BLUE,
    "gold": pictures.GOLD,
    "grey": pictures.GREY,
    "red": pictures.RED,
}
"""The colours of lines."""
VISION = {
    "usual": np.eye(3),
    "without red cones": np.array(
        [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]]
    ),
    "without green cones": np.array(
        [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]]
    ),
    "without blue cones": np.array(
        [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]]
    ),
}
"""How linear red, green and blue are seen: Machado, Oliveira and Fernandes (2009)."""
LEAST_DIFFERENCE = 20
"""A distance in CIELAB; one of 2 can just be seen."""


def linear(colour: str) -> Floats:
    """Return linear red, green and blue of a colour such as #1b6ca8."""
    parts = np.array([int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def cielab(light: Floats) -> Floats:
    """Return lightness and colour of linear red, green and blue."""
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    x, y, z = np.cbrt(np.maximum(to_xyz @ light / [0.9505, 1, 1.089], 0.008856))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def contrast(one: str, other: str) -> float:
    """Return the ratio of the luminances of two colours."""
    weights = np.array([0.2126, 0.7152, 0.0722])
    darker, lighter = sorted(float(weights @ linear(colour)) + 0.05 for colour in (one, other))
    return lighter / darker


@pytest.mark.parametrize("vision", VISION)
def test_lines_differ_for_colour_blind_readers(vision: str) -> None:
    seen = {
        name: cielab(np.clip(VISION[vision] @ linear(colour), 0, 1))
        for name, colour in LINES.items()
    }
    for one, other in combinations(seen, 2):
        assert np.linalg.norm(seen[one] - seen[other]) > LEAST_DIFFERENCE, (one, other)


@pytest.mark.parametrize("name", LINES)
def test_lines_stand_out_from_the_page(name: str) -> None:
    """The contrast is at least 3, as WCAG 2.2 demands of graphics."""
    assert contrast(LINES[name], "#ffffff") > 3


@pytest.mark.parametrize("name", COLOURS)
def test_lines_on_a_web_page_stand_out_by_day_and_by_night(name: str) -> None:
    """Therefore they have other colours than figures, which are on white paper only."""
    for page in ("#ffffff", "#14181d"):
        assert contrast(LOOK[name].removeprefix("color:"), page) > 3


def test_names_of_lines_that_end_close_together_do_not_overlap() -> None:
    figure, (axes,) = pictures.panels(1, (6, 4))
    axes.set_ylim(0, 1)
    ends = [(0.97, "one\nline"), (0.98, "another\nline"), (0.99, "a third"), (0.2, "far below")]
    pictures.name_lines(axes, [pictures.Name(height, text, "black") for height, text in ends])
    figure.draw_without_rendering()
    boxes = sorted((text.get_window_extent() for text in axes.texts), key=lambda box: box.y0)
    assert len(boxes) == 4
    assert all(lower.y1 <= upper.y0 + 1 for lower, upper in pairwise(boxes))
    assert boxes[-1].y1 <= axes.get_window_extent().y1 + 5
    assert abs(boxes[0].y0 - axes.transData.transform((0, 0.2))[1]) < 10


@pytest.mark.parametrize(("last", "scale"), [(1_000_000, "log"), (1000, "linear")])
def test_the_start_is_visible_where_many_people_follow(last: int, scale: str) -> None:
    _, (axes,) = pictures.panels(1, (6, 4))
    axes.plot([100, last], [0, 1])
    pictures.follow_people(axes, 100, last, "visitors")
    assert axes.get_xscale() == scale
    assert axes.get_xlim()[1] == last
    assert axes.get_xlabel().startswith("visitors so far")
    assert ("logarithmic" in axes.get_xlabel()) == (scale == "log")


def test_a_long_point_is_wrapped_within_its_panel_and_keeps_units() -> None:
    figure, (axes, _) = pictures.panels(2, (12, 4))
    pictures.state_point(axes, "A private shop keeps 98 % of the value " * 3, "one note " * 30)
    figure.draw_without_rendering()
    lines = axes.get_title(loc="left").splitlines()
    assert len(lines) > 1
    assert not any(line.startswith("%") for line in lines)
    note = axes.texts[0].get_window_extent()
    assert note.x1 < figure.bbox.width / 2


def test_a_figure_is_saved_without_a_display_and_leaves_nothing_behind(tmp_path: Path) -> None:
    import matplotlib

    backend = matplotlib.rcParams._get("backend")
    figure, (left, right) = pictures.panels(2, (6, 3))
    left.plot([0, 20_000], [0.0, 1.0], label="a line")
    pictures.mark_level(left, 0.5, "half")
    pictures.count_people(left)
    pictures.add_legend(left, loc="lower right")
    pictures.open_frame(right)
    pictures.save(figure, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
    assert matplotlib.rcParams._get("backend") == backend
