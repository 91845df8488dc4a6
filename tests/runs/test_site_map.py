"""If these fail, a map is turned or stretched, or shows what was not released."""

from math import cos, radians

import numpy as np
import pytest

from discreet import Privacy, SetSelector
from discreet.domains import UniformMatroid
from discreet.functions import Nearby
from discreet.learners.set_selector import Chosen
from discreet.runs.site_map import Density, Orientation, draw_map

pytest.importorskip("matplotlib", reason="Matplotlib is not installed")

TOWN = Nearby(  # latitude, longitude
    sites=((52.45, 13.35), (52.55, 13.45), (52.5, 13.4)),
    reach=0.03,
    box=((52.4, 52.6), (13.2, 13.5)),
)
COLUMNS = ["latitude", "longitude"]


@pytest.fixture(scope="module")
def chosen() -> Chosen:
    homes = np.random.default_rng(0).normal([52.55, 13.33], 0.005, size=(4000, 2))
    selector = SetSelector(
        UniformMatroid(3, 2), Privacy(1.0), function=TOWN, labels=["a$_", "_b", "c$^"], seed=1
    )
    return selector.fit(homes)


@pytest.mark.parametrize(
    ("columns", "east", "is_geographic"),
    [
        (["latitude", "longitude"], 1, True),
        (["lon", "lat"], 0, True),
        (["pickup_lat", "pickup_lng"], 1, True),
        (["startLng", "startLat"], 0, True),
        (["Y", "X"], 1, False),
        (["x", "y"], 0, False),
        (["northing", "easting"], 1, False),
        (["height", "y"], 0, False),
        (["lat", "across"], 1, False),
        (["age", "income"], 0, False),
        (["latency", "exit"], 0, False),
        (None, 0, False),
    ],
)
def test_east_is_on_the_right_by_the_names_of_columns(
    columns: list[str] | None, east: int, is_geographic: bool
) -> None:
    orientation = Orientation.of(columns)
    assert (orientation.east, orientation.north) == (east, 1 - east)
    assert orientation.is_geographic == is_geographic
    if columns is not None:
        assert orientation.names == (columns[east], columns[1 - east])


def test_a_map_has_longitude_across_latitude_up_and_true_proportions(chosen: Chosen) -> None:
    axes = draw_map(TOWN, COLUMNS, chosen).axes[0]
    assert axes.get_xlabel() == "longitude, degrees"
    assert axes.get_ylabel() == "latitude, degrees"
    assert axes.get_xlim() == (13.2, 13.5)
    assert axes.get_ylim() == (52.4, 52.6)
    assert axes.get_aspect() == pytest.approx(1 / cos(radians(52.5)))
    (dots,) = (part for part in axes.collections if part.get_array() is None)
    assert np.allclose(np.asarray(dots.get_offsets()), np.array(TOWN.sites)[:, ::-1])
    plain = draw_map(TOWN, ["p", "q"], chosen).axes[0]
    assert plain.get_aspect() == 1
    assert plain.get_xlim() == (52.4, 52.6)


def test_the_shading_is_the_released_counts_where_people_were_counted(chosen: Chosen) -> None:
    assert chosen.counts is not None
    axes, bar = draw_map(TOWN, COLUMNS, chosen).axes
    (mesh,) = (part for part in axes.collections if part.get_array() is not None)
    people = np.asarray(mesh.get_array())
    density = Density.of(TOWN, chosen)
    assert density is not None
    assert density.merged == 1
    assert np.array_equal(people, np.maximum(chosen.counts, 0))  # rows of both are north
    north, east = np.unravel_index(people.argmax(), people.shape)
    assert abs(52.4 + 0.2 * (north + 0.5) / people.shape[0] - 52.55) < 0.02
    assert abs(13.2 + 0.3 * (east + 0.5) / people.shape[1] - 13.33) < 0.02
    assert bar.get_xlabel().startswith("people per cell")


def test_merged_cells_have_the_people_of_their_parts(chosen: Chosen) -> None:
    counts = np.arange(400.0 * 250).reshape(400, 250)
    density = Density(TOWN, chosen, counts, 2.8)
    people, edges = density.drawn()
    assert density.merged > 1
    assert people.sum() == counts.sum()
    assert people[0, 0] == counts[: density.merged, : density.merged].sum()
    assert [len(edge) - 1 for edge in edges] == list(people.shape)
    assert (edges[0][0], edges[0][-1]) == (52.4, 52.6)


def test_without_a_released_histogram_there_is_no_density(chosen: Chosen) -> None:
    homes = np.random.default_rng(0).normal([52.55, 13.33], 0.005, size=(4000, 2))
    plain = {
        "mode": "sampled",
        "epsilon": 1.0,
        "delta": 0.0,
        "domain": {"kind": "UniformMatroid", "items": 3, "rank": 2},
        "function": {"kind": "Nearby", "sites": TOWN.sites, "reach": 0.03, "box": TOWN.box},
    }
    settings = SetSelector.settings_type.from_plain(plain)
    sampled = SetSelector.from_settings(settings).fit(homes)
    assert sampled.counts is None
    (axes,) = figure_axes = draw_map(TOWN, COLUMNS, sampled).axes
    assert len(figure_axes) == 1
    assert all(part.get_array() is None for part in axes.collections)


def test_the_title_counts_people_within_reach_from_released_counts_only(chosen: Chosen) -> None:
    counts = np.zeros((20, 30))
    counts[5, 15] = 3000  # latitude 52.455, longitude 13.355: beside the first site
    counts[19, 0] = 1000
    released = Chosen(
        items=["first"],
        numbers=[0],
        method="histogram",
        why="",
        guarantee=chosen.guarantee,
        trace=[],
        value=(2000.0, 5.0),
        people=4000,
        counts=counts,
        counts_deviation=2.8,
    )
    title = draw_map(TOWN, COLUMNS, released).axes[0].get_title("left")
    assert title == "1 of 3 sites reach about 3,000 of 4,000 people (simulated, not private)"


def test_names_of_sites_are_written_as_they_are(chosen: Chosen) -> None:
    """A name with a $ would be taken as a formula; one that begins with _ would be left out."""
    figure = draw_map(TOWN, COLUMNS, chosen)
    figure.draw_without_rendering()
    legend = figure.axes[0].get_legend()
    assert legend is not None
    texts = [text.get_text() for text in legend.get_texts()]
    assert texts[:2] == [str(item) for item in chosen.items]
    assert texts[2:] == ["reach: 0.03°", "not chosen"]


def test_a_chosen_site_outside_the_box_is_on_the_map() -> None:
    town = Nearby(sites=((1.1, 0.5),), reach=0.4, box=((0.0, 1.0), (0.0, 1.0)))
    homes = np.full((500, 2), 0.9)
    chosen = SetSelector(UniformMatroid(1, 1), Privacy(1.0), function=town).fit(homes)
    left, right = draw_map(town, ["x", "y"], chosen).axes[0].get_xlim()
    assert (left, right) == (0.0, 1.1)
