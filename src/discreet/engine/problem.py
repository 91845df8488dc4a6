"""A problem: a mode, with all that follows from its declarations before the first person.

    plan       when data is released, and what each release costs
    start()    public and hidden state before the first round
    view(…)    the view of a block, given the state after the release before

State has four parts: `public` (everything that releases produced: all that decisions read),
`mask_counts` (public counts that grow within a block), `hidden` (noise buffers and sums that
outlive a block: never shown) and `block` (aggregates since the last release; the engine empties
it).

Guarantee   docs/guarantees/engine.md
"""

from functools import cached_property
from typing import Any, final

from discreet.engine.coins import Coins
from discreet.engine.flat_state import Published, flat
from discreet.engine.mode import Mode
from discreet.engine.phase import Position
from discreet.engine.phases import Scheduled, noise_of_report, state_of
from discreet.engine.plan import Plan, State
from discreet.engine.settings import Settings
from discreet.engine.snapshot import Snapshot
from discreet.engine.view import View
from discreet.errors import ConfigError


@final
class Problem:
    """What follows from the declarations of a mode.

    Guarantee: docs/guarantees/engine.md.
    """

    def __init__(self, mode: Mode) -> None:
        self.mode = mode
        self.settings: Settings = mode.settings
        self.promise = mode.promise
        self.questions = mode.questions
        self.answer = mode.answer

    def __reduce__(self) -> tuple[type["Problem"], tuple[Mode]]:
        return Problem, (self.mode,)

    @cached_property
    def plan(self) -> Plan:
        """When data is released, and the charge of each release."""
        return self.mode.phases.plan(self.settings.privacy)

    @cached_property
    def facts(self) -> dict[str, object]:
        """Public numbers for a person who plans with this learner."""
        return self.mode.facts | noise_of_report(self.mode.phases.statistics)

    def start(self) -> tuple[Published[Any], State]:
        """Return the public state, typed, and the hidden state before the first round."""
        states, hidden = state_of((each, each.start()) for each in self.mode.phases.statistics)
        published = Published(self.mode.first, states)
        own = flat(published.learned)
        if any(key.startswith(f"{name}.") for name in states for key in own):
            raise ConfigError("a part of the public state has the name of a statistic: rename it")
        return published, hidden

    def view(self, public: Any, index: int, begin: int, coins: Coins) -> View:
        """Return the view of the block that begins with `begin` and ends with release `index`.

        `public` is the public state from `start` or from the release before: typed, or flat as
        files store it.
        """
        if not isinstance(public, Published):
            public = Published.of_flat(self._public_type, self._names, public)
        phases = self.mode.phases
        if isinstance(phases, Scheduled):
            run, number = phases.at(index)
            phase = run.phase(self.mode, public.learned, Position(index, begin, number, coins))
            return View(self, phase, public.states, run.measured)
        kind = phases.phase(public.learned)
        phase = kind(self.mode, public.learned, Position(index, begin, index, coins))
        return View(self, phase, public.states, phases.measured(phase))

    @cached_property
    def _public_type(self) -> type[Any]:
        return type(self.mode.first)

    @cached_property
    def _names(self) -> tuple[str, ...]:
        """The names of all statistics."""
        return tuple({statistic.name: None for statistic in self.mode.phases.statistics})


def view_of(problem: Problem, snapshot: Snapshot) -> View:
    """Return the view of a problem after a snapshot: all that a replica needs to decide."""
    return problem.view(snapshot.public, snapshot.index, snapshot.begin, Coins(snapshot.coin_key))
