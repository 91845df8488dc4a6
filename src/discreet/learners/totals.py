"""A running sum inside a learner's state."""

from discreet.release.arrays import Floats, Integers
from discreet.release.door import Door
from discreet.release.sums import PrefixSum
from discreet.release.turn import State

__all__ = ["next_total"]


def next_total(sums: PrefixSum, public: State, secret: State, addend: Integers, door: Door) -> tuple[Floats, State, State]:
    """The next prefix of a running sum that lives in a learner's state under names that begin with "sum."."""
    if door.index == 0:
        before = sums.start()
    else:
        kept = [{name[4:]: value for name, value in state.items() if name.startswith("sum.")} for state in (public, secret)]
        before = kept[0], kept[1]
    after = door.prefix(sums, *before, addend.reshape(-1))
    named = [{f"sum.{name}": value for name, value in state.items()} for state in after]
    return after[0]["prefix"].reshape(addend.shape), named[0], named[1]
