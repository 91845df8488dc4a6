"""If these fail, a picture shows wrong numbers, cannot be read, or runs what a label says."""

import re
from contextlib import suppress
from math import inf, nan
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import ConfigError
from discreet.svg import Axis, Band, Bars, Groups, Level, Line, bars, curves, groups, meter
from discreet.texts import escaped, number_text, shortened, with_decimals

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = [
    "</title><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "]]><style>*{display:none}</style>",
    "&lt;b&gt; &amp; &#x0; \x00\x08\x7f\x85",
    "\ud800 half a letter, \ufffe",
    "\u202egnitirw",
    "",
]


def parsed(picture: str) -> ElementTree.Element:
    """Return the root of a picture that is well-formed."""
    root = ElementTree.fromstring(picture.encode())
    assert root.tag == f"{SVG}svg"
    return root


def texts(picture: str) -> list[str]:
    return [element.text or "" for element in parsed(picture).iter(f"{SVG}text")]


def alternative(picture: str) -> list[str]:
    """Return the title and the description."""
    root = parsed(picture)
    return [root.findtext(f"{SVG}title", ""), root.findtext(f"{SVG}desc", "")]


def points(picture: str, kind: str) -> list[list[tuple[float, float]]]:
    """Return the points of all paths of a class."""
    paths = [path for path in parsed(picture).iter(f"{SVG}path") if path.get("class") == kind]
    return [
        [(float(x), float(y)) for x, y in re.findall(r"([\d.-]+),([\d.-]+)", path.get("d", ""))]
        for path in paths
    ]


STEPS = Line([0, 1000, 3000], [0.25, 0.75], "clicks", Band([0.125, 0.5], [0.375, 1.0]))


def test_a_picture_can_be_read_without_seeing_it() -> None:
    picture = curves([STEPS, Level(0.9, "best")], title="Clicks rise", note="band: noise")
    assert parsed(picture).get("role") == "img"
    title, description = alternative(picture)
    assert title == "Clicks rise"
    assert description == (
        "band: noise; clicks: first 0.250, last 0.750, lowest 0.250, highest 0.750; best: 0.900"
    )
    told = alternative(bars(Bars(["tea", 7], [0.5, nan], [0.1, 0.1]), title="Gains"))
    assert told == ["Gains", "tea 0.50 ± 0.10; 7 unknown"]
    assert alternative(meter(0.5, "half")) == ["half", ""]


def test_axes_show_round_numbers_as_people_read_them() -> None:
    shown = texts(curves([STEPS], title="", y=Axis(percent=True)))
    assert {"0", "1,000", "2,000", "3,000", "20 %", "40 %", "100 %"} <= set(shown)
    wide = Line([1, 10, 1000, 100_000], [-0.002, 0.0, 0.001, 0.002])
    shown = texts(curves([wide], title="", x=Axis("people", logarithmic=True)))
    assert {"1", "10", "100", "1,000", "10,000", "100,000", "people", "−0.001", "0.000"} <= set(
        shown
    )
    narrow = Line([0.02, 0.05, 0.2], [1e6, 2e6, 3e6])
    shown = texts(curves([narrow], title="", x=Axis(logarithmic=True)))
    assert {"0.02", "0.05", "0.1", "0.2", "2,000,000"} <= set(shown)


def test_steps_are_level_between_their_edges_and_bands_go_around_them() -> None:
    picture = curves([STEPS], title="")
    (line,) = points(picture, "line")[1:]  # the first one is the sample in the legend
    assert len(line) == 4
    (start, low), (edge, same), (again, high), (end, _) = line
    assert (low, edge) == (same, again)
    assert high < low  # up is down
    assert (edge - start) * 2 == pytest.approx(end - edge, abs=0.2)
    (band,) = points(picture, "band")
    middle = (band[0][1] + band[-1][1]) / 2
    assert middle == pytest.approx(low, abs=0.2)


def test_an_unknown_number_leaves_a_gap() -> None:
    picture = curves([Line([0, 1, 2, 3, 4], [1.0, 2.0, nan, 2.0, inf])], title="")
    assert [len(path) for path in points(picture, "line")] == [2, 1]


def test_what_is_outside_of_the_range_is_drawn_at_its_border() -> None:
    noisy = Line([0, 1, 2], [0.5, 1e6])
    line = points(curves([noisy], title="", y=Axis(within=(0.0, 1.0))), "line")[0]
    rows = points(curves([noisy], title="", y=Axis(within=(0.0, 1.0))), "grid")
    assert line[-1][1] == min(row[0][1] for row in rows if row[0][1] == row[1][1])


def test_bars_begin_at_zero_and_whiskers_reach_both_ways() -> None:
    picture = bars(Bars(["up", "down", "sure"], [2.0, -1.0, 1.0], [1.0, 0.5, nan]), title="")
    up, down, sure = [
        (float(box.get("x", "")), float(box.get("width", "")))
        for box in parsed(picture).iter(f"{SVG}rect")
    ]
    zero = up[0]
    unit = up[1] / 2
    assert down == pytest.approx((zero - unit, unit), abs=0.2)
    assert sure == pytest.approx((zero, unit), abs=0.2)
    whiskers = points(picture, "whisker")
    assert len(whiskers) == 6  # a stroke and two tips each; none without a known error
    assert [x for x, _ in whiskers[0]] == pytest.approx([zero + unit, zero + 3 * unit], abs=0.2)
    assert "2.0 ± 1.0" in texts(picture)


@pytest.mark.parametrize("label", HOSTILE)
def test_a_hostile_label_stays_a_text(label: str) -> None:
    pictures = [
        bars(Bars([label, "b"], [1.0, 2.0]), title=label, note=label, axis=Axis(label)),
        curves([Line([0, 1], [1.0], label), Level(2.0, label)], title=label, x=Axis(label)),
        meter(0.5, label),
    ]
    for picture in pictures:
        tags = {element.tag.removeprefix(SVG) for element in parsed(picture).iter()}
        assert tags <= {"svg", "title", "desc", "style", "text", "path", "rect", "g"}
        assert picture.count("<style>") == 1
        assert "\u202e" not in picture
        assert "alert(1)>" not in picture


@given(st.lists(st.integers(0, 0x10FFFF).map(chr)).map("".join))
def test_any_text_can_be_in_a_picture(text: str) -> None:
    assert parsed(meter(0.5, text)).findtext(f"{SVG}title") is not None
    assert "<" not in escaped(text)


NUMBERS = st.floats(allow_nan=True, allow_infinity=True)


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=6), st.booleans(), st.booleans())
def test_any_numbers_can_be_in_a_picture(
    pairs: list[tuple[float, float]], percent: bool, logarithmic: bool
) -> None:
    values, errors = map(list, zip(*pairs, strict=True))
    parsed(bars(Bars(range(len(pairs)), values, errors), title="", axis=Axis(percent=percent)))
    axis = Axis(percent=percent, logarithmic=logarithmic)
    with suppress(ConfigError):  # no number can be shown
        parsed(curves([Line(errors, values)], title="", x=axis, y=axis))


def test_equal_numbers_give_equal_pictures() -> None:
    def drawn() -> str:
        return curves([STEPS, Line([0, 3000], [0.1, 0.2])], title="Clicks", x=Axis("people"))

    assert drawn() == drawn()
    assert not re.search(r"\d\.\d\d", re.sub("<style>.*</style>", "", drawn()).split("</desc>")[1])


def test_a_picture_is_a_file_that_stands_alone(tmp_path: Path) -> None:
    path = tmp_path / "picture.svg"
    path.write_text(curves([STEPS], title="Clicks"), encoding="utf-8")
    root = ElementTree.parse(path).getroot()
    assert (root.get("width"), root.get("height"), root.get("viewBox")) == (
        "640",
        "300",
        "0 0 640 300",
    )
    style = root.findtext(f"{SVG}style", "")
    assert "prefers-color-scheme:dark" in style
    assert all(rule.startswith((".discreet-picture", "@media", "{")) for rule in rules(style))
    assert "style=" not in path.read_text(encoding="utf-8")


def rules(style: str) -> list[str]:
    return [rule for rule in re.split(r"(?<=})(?=[.@])", style) if rule]


def test_every_class_has_a_look_and_no_other_rules_are_written() -> None:
    picture = curves([STEPS, Level(0.5, "goal")], title="Clicks", x=Axis("people"))
    classes = {
        name
        for element in parsed(picture).iter()
        for name in element.get("class", "").split()
        if name != "discreet-picture"
    }
    style = parsed(picture).findtext(f"{SVG}style", "")
    assert set(re.findall(r"\.discreet-picture \.([a-z]+)", style)) == classes


def test_a_picture_without_numbers_is_refused() -> None:
    with pytest.raises(ConfigError, match="at least one number that can be shown"):
        curves([Line([0, 1], [nan])], title="")
    for lines in ([], [STEPS] * 5):
        with pytest.raises(ConfigError, match=f"has 1 to 4 lines, got {len(lines)}"):
            curves(lines, title="")


def test_numbers_have_the_digits_that_their_errors_allow() -> None:
    assert number_text(0.123456, 0.0312) == "0.123 ± 0.031"
    assert number_text(1234567.0, 4321.0) == "1,234,567 ± 4,321"
    assert number_text(0.5, 0.031, percent=True) == "50.0 ± 3.1 %"
    assert [number_text(one) for one in (0.0, 5.0, -12.345, 1e-7, 1e15, nan)] == [
        "0",
        "5",
        "−12.3",
        "1e-07",
        "1e+15",
        "unknown",
    ]
    assert with_decimals(-0.04, 1) == "0.0"
    assert shortened("x" * 40) == "x" * 31 + "…"


def test_a_group_of_bars_leaves_out_what_is_not_known() -> None:
    shown = Groups(["one", "two"], {"ours": [0.5, 1.2], "theirs": [nan, -0.3]})
    picture = groups(shown, title="Shares", axis=Axis(percent=True, within=(0.0, 1.0)))
    assert picture.count('class="bar"') == 3 + 2  # and two samples in the legend
    assert "one: ours 50 %; two: ours 120 %, theirs −30 %" in picture
    assert "nan" not in picture


def test_a_group_has_at_most_four_bars() -> None:
    series = {f"series {number}": [0.5] for number in range(5)}
    with pytest.raises(ConfigError, match="a group has 1 to 4 bars, got 5"):
        groups(Groups(["one"], series), title="Shares")
