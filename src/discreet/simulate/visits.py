"""People come to a learner in the pieces that its releases leave."""

from collections.abc import Iterator

from discreet.learners.learner import Learner

__all__ = ["pieces"]


def pieces(learner: Learner, people: int, largest: int) -> Iterator[range]:
    """People 0, 1, 2, … in pieces that cross no release and are not too large to hold.

    Whoever takes a piece hands in the feedback of all in it before asking for the next.
    """
    first = 0
    while first < people:
        learner.turn()
        count = min(max(1, learner.rounds_until_release), largest, people - first)
        yield range(first, first + count)
        first += count
