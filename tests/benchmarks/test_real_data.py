"""If these fail, figures on real data come from another world than the page describes."""

from pathlib import Path

import numpy as np
import pytest

import movielens
import pickups
from rivals.slates import looked_at


@pytest.fixture
def ratings(tmp_path: Path) -> str:
    """Made-up ratings in MovieLens' format: 40 users, 30 titles, each user rates ten."""
    generator = np.random.default_rng(3)
    lines = [
        f"{user}\t{title}\t{generator.integers(1, 6)}\t88125{user:04}"
        for user in range(1, 41)
        for title in generator.choice(np.arange(1, 31), size=10, replace=False)
    ]
    path = tmp_path / "u.data"
    path.write_text("\n".join([*lines, "40\t30\t5\t881250000"]) + "\n")
    return str(path)


def test_a_visitor_clicks_only_titles_that_their_user_rated_high(ratings: str) -> None:
    liked = movielens.likes(ratings)
    rows = [line.split("\t") for line in Path(ratings).read_text().splitlines()]
    high = {(int(user) - 1, int(title) - 1) for user, title, stars, _ in rows if int(stars) >= 4}
    assert liked.shape == (40, 30)
    assert set(zip(*np.nonzero(liked), strict=True)) == high


def test_a_catalogue_is_drawn_from_all_titles_and_visitors_from_all_users(ratings: str) -> None:
    liked = movielens.likes(ratings)
    whole = movielens.world_of(liked, 30, 5000, seed=1)
    assert (whole.chances == 0.5 * liked).all()
    assert set(whole.types) == set(range(40))
    part = movielens.world_of(liked, 12, 100, seed=1)
    columns = {tuple(column) for column in liked.T}
    assert part.chances.shape == (40, 12)
    assert {tuple(column > 0) for column in part.chances.T} <= columns
    assert (part.types == movielens.world_of(liked, 12, 100, seed=1).types).all()


def test_all_ways_meet_the_world_of_a_file(ratings: str, monkeypatch: pytest.MonkeyPatch) -> None:
    small = movielens.Catalogue(titles=20, visitors=2000, seeds=1)
    monkeypatch.setitem(movielens.CATALOGUES, "small", small)
    for way in movielens.WAYS:
        assert -0.5 < movielens.share(ratings, "small", way, 5) < 1.1


def test_a_file_of_something_else_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "u.data"
    path.write_text("user,title\n1,2\n")
    with pytest.raises(SystemExit, match=r"^.*u\.data holds no lines 'user title rating time'.*$"):
        movielens.likes(str(path))
    with pytest.raises(SystemExit, match=r"^.*missing holds no lines .*$"):
        movielens.likes(str(tmp_path / "missing"))
    np.save(tmp_path / "three.npy", np.zeros((20_000, 3)))
    with pytest.raises(SystemExit, match=r"two columns and at least 10000 rows, got \(20000, 3\)$"):
        pickups.points_of(str(tmp_path / "three.npy"))


def test_thompson_sampling_learns_from_the_titles_that_were_looked_at() -> None:
    slates = np.array([[3, 1, 2], [3, 1, 2], [0, 4, 5]])
    seen = looked_at(slates, np.array([3, -1, 5]))
    assert seen.tolist() == [[True, False, False], [True, True, True], [True, True, True]]


def test_points_are_scaled_to_the_box(tmp_path: Path) -> None:
    points = np.random.default_rng(0).integers(5, 90, size=(10_000, 2)).astype(np.uint8)
    np.save(tmp_path / "points.npy", points)
    scaled = pickups.points_of(str(tmp_path / "points.npy"))
    assert scaled.min(axis=0).tolist() == [0.0, 0.0]
    assert scaled.max(axis=0).tolist() == [1.0, 1.0]
