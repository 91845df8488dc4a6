"""The engine: one way from secret to public, for every learner.

    reserve the planned charge → release into new values → commit → swap

It has a problem (the hooks) and a journal, and never looks at feedback itself; rounds, tickets and
the clock are in discreet/engine/rounds.py. What was drawn is committed before anything of it is
used. A commit whose outcome is unknown is read back, and never drawn again. Signals wait meanwhile
(discreet/engine/signals.py). A second Ctrl-C in the middle of a release is like a crash: what was
drawn is dropped, nobody has seen it, and the state stays what it was. Any other error after a draw
fails for good, because it might depend on what was drawn.

Guarantee   docs/guarantees/engine.md, Theorems 1 to 3
"""

import os
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

import numpy as np

from discreet.budget.guarantee import Guarantee
from discreet.budget.ledger import Ledger
from discreet.budget.privacy import Charge, Privacy
from discreet.engine.codec import fingerprint
from discreet.engine.coins import Coins
from discreet.engine.flat_state import flat
from discreet.engine.journal import FileJournal, Journal, MemoryJournal, as_journal
from discreet.engine.plan import Plan, State, Step
from discreet.engine.problem import Problem, view_of
from discreet.engine.request import EMPTY_REQUEST, Batch, Block
from discreet.engine.signals import held
from discreet.engine.snapshot import RoundsState, Snapshot
from discreet.engine.state_check import check_fits
from discreet.engine.view import View, nobody
from discreet.errors import ConfigError, DiscreetError, StateError
from discreet.release.aggregators import Aggregator
from discreet.release.door import Door
from discreet.release.randomness import RandomBits, seeded_bits, system_bits, this_process

DoorMaker = Callable[[RandomBits, Charge, int], Door]


class BusyError(StateError):
    """A call from inside another one, by a signal handler or a function of the operator."""


@dataclass(frozen=True, eq=False)
class _Now:
    """A turn, the view that it led to, and what was aggregated since."""

    snapshot: Snapshot
    view: View[Any]
    block: Block
    step: Step | None
    end: int | None
    horizon: int | None


class Engine:
    """Turns what a problem aggregated into what it publishes, surely.

    Parameters
    ----------
    problem
        The hooks.
    kind
        The name under which the learner is loaded again.
    journal
        Where turns are kept: a path, a journal, or None for memory.
    door
        What makes the door of each release; audits put one of their own here.
    """

    def __init__(
        self,
        problem: Problem,
        kind: str,
        journal: Journal | str | os.PathLike[str] | None = None,
        *,
        door: DoorMaker = Door,
    ) -> None:
        self.problem = problem
        self.kind = kind
        self._door = door
        self._check_plan()
        _warn_of_delta(problem.plan, problem.settings.privacy)
        self._process = this_process()
        self._journal = as_journal(journal)
        self._unsettled: Snapshot | None = None
        """A release that is drawn, and whose commit is not known to be done."""
        self._published: Any = None
        """What that release publishes, typed."""
        self.noted: tuple[int, State] | None = None
        """A public event whose commit may be done, for `settle`: its revision, and the public
        state then.
        """
        self._failed = False
        try:
            self._begin()
        except BaseException:
            self._journal.close()
            raise

    # --- what may be read -------------------------------------------------------------------------

    @property
    def committed(self) -> Snapshot:
        """The newest turn; its `block` and `rounds` are as of its commit."""
        return self._now.snapshot

    @property
    def block(self) -> Block:
        """What was aggregated since the last release."""
        return self._now.block

    @property
    def view(self) -> View[Any]:
        """The block that people are in: what is public, and the hooks that serve it."""
        return self._now.view

    @property
    def step(self) -> Step | None:
        """The block that people are in, up to the next release; None after the last one."""
        return self._now.step

    @property
    def end(self) -> int | None:
        """The round before which the next release is made, or the horizon after the last one."""
        return self._now.end

    @property
    def horizon(self) -> int | None:
        """How many rounds are planned by now."""
        return self._now.horizon

    @property
    def is_drawn(self) -> bool:
        """Whether this block's release is drawn and waits to be committed: who answers now is
        too late.
        """
        return self._unsettled is not None and self._unsettled.index > self.committed.index

    @property
    def is_forked(self) -> bool:
        """Whether this process is a fork of the one that made this engine."""
        return this_process() != self._process

    @property
    def guarantee(self) -> Guarantee:
        """What everything published so far promises."""
        return guarantee_of(self.problem, self.committed)

    @property
    def keeps_files(self) -> bool:
        """Whether turns are kept in a file."""
        return isinstance(self._journal, FileJournal)

    def check(self) -> None:
        """Refuse to go on where going on would break a promise."""
        if self._failed:
            raise StateError(
                "a release failed after its noise was drawn: this learner cannot go on; start a "
                "new one"
            )
        if this_process() != self._process:
            raise StateError(
                "this learner was forked: two copies would spend one budget twice; make one in "
                "each process"
            )

    # --- the turn ---------------------------------------------------------------------------------

    def gather(self, batch: Batch) -> None:
        """Add people up."""
        now = self._now
        now.view.gather(now.block, now.view.read(batch))

    @property
    def additions(self) -> int:
        """How often something was added to this block: unchanged, nobody was counted."""
        count = 0
        for aggregate in self._now.block.values():
            count += aggregate.additions
        return count

    def rehearse(self, batch: Batch) -> None:
        """Refuse feedback as `gather` would, and add nothing."""
        view = self._now.view
        view.gather(nobody(view), view.read(batch))

    @held
    def release(self, clock: int, mask_counts: State) -> None:
        """Make the release that is due; whoever's feedback is missing by now adds nothing."""
        if not self.is_drawn:
            self._unsettled = self._drawn(clock, mask_counts)
        assert self._unsettled is not None
        self._settle(self._unsettled)

    def _drawn(self, clock: int, mask_counts: State) -> Snapshot:
        """Reserve the planned charge, then release into new values, of which nothing is used
        yet.
        """
        snapshot, view, step = self._now.snapshot, self._now.view, self._now.step
        assert step is not None
        ledger = snapshot.ledger.charge(step.charge, cohort=step.cohort)
        door = self._door(self._bits(snapshot.index), step.charge, snapshot.index)
        try:
            published, hidden = view.release(mask_counts, snapshot.hidden, self.block, door)
            public = flat(published)
        except KeyboardInterrupt:
            raise  # a second Ctrl-C: it comes from outside, and knows nothing of the draw
        except BaseException:
            if door.opened:
                self._fail(RoundsState(clock, mask_counts=mask_counts))
            raise
        self._published = published
        return Snapshot(  # not `replace`, which takes 2 µs more
            identity=snapshot.identity,
            kind=snapshot.kind,
            settings=snapshot.settings,
            settings_hash=snapshot.settings_hash,
            calibration=snapshot.calibration,
            epoch=snapshot.epoch,
            index=snapshot.index + 1,
            begin=clock,
            public=public,
            hidden=hidden,
            block={},
            ledger=ledger,
            coin_key=self._coin_key(snapshot.index + 1),
            rounds=RoundsState(clock),
            revision=snapshot.revision,
        )

    def _settle(self, snapshot: Snapshot) -> None:
        """Commit, and only then swap. If the outcome is unknown, read it back; never draw again."""
        failed = self._commit(snapshot)
        if failed is not None:
            raise StateError(
                f"a release could not be committed ({failed.cause}): nothing was shown, everyone "
                "is counted; "
                f"{self.problem.retry}"
            )
        self._take(snapshot, self._published)
        self._unsettled = self._published = None

    def _commit(self, snapshot: Snapshot) -> "_NotCommitted | None":
        """Commit a turn; None if it is kept for certain, as the journal says or as it is read
        back.
        """
        try:
            self._journal.commit(snapshot)
            return None
        except Exception as error:
            # A driver's own text may hold sums: only ours is passed on.
            cause = str(error) if isinstance(error, StateError) else type(error).__name__
        try:
            newest = self._journal.latest()
        except Exception:
            return _NotCommitted(cause, is_certain=False)
        is_kept = newest is not None and _which(newest) == _which(snapshot)
        return None if is_kept else _NotCommitted(cause, is_certain=True)

    def _fail(self, rounds: RoundsState) -> None:
        self._failed = True
        with suppress(Exception):  # the error that led here is the one to be seen
            # Nobody goes on from here, so what people brought is not kept either.
            self._journal.commit(replace(self.committed, block={}, rounds=rounds, failed=True))

    def _take(self, snapshot: Snapshot, published: Any = None) -> None:
        """Go on from a turn; `published` is its public state, typed, if that is at hand."""
        for value in snapshot.public.values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
        public = snapshot.public if published is None else published
        view = self.problem.view(public, snapshot.index, snapshot.begin, Coins(snapshot.coin_key))
        block = self._held(snapshot.block, view.aggregators()) if snapshot.block else nobody(view)
        step, horizon = view.step, view.horizon
        end = horizon if step is None else snapshot.begin + step.rounds
        # At once: an interrupt sees the old state or the new one.
        self._now = _Now(snapshot, view, block, step, end, horizon)

    def _held(self, values: dict[str, np.ndarray], aggregators: dict[str, Aggregator]) -> Block:
        """What was aggregated before the state was kept."""
        try:
            return {
                name: aggregator.holding(values[name]) for name, aggregator in aggregators.items()
            }
        except (KeyError, ConfigError):
            raise StateError(
                "the state does not fit its settings: restore it from where it was copied"
            ) from None

    # --- public events ----------------------------------------------------------------------------

    @held
    def note(self, event: Any, rounds: RoundsState) -> None:
        """Commit a change of what is public that costs nothing: it must not depend on anyone's
        data.
        """
        if self.is_drawn:
            raise StateError(
                "a release waits to be committed: release_if_due() first, then the public event"
            )
        self.settle(rounds)
        self.noted = self.committed.revision + 1, flat(self.view.noted(event))
        failed = self._committed_event(rounds)
        if failed is not None and failed.is_certain:
            self.noted = None
            raise StateError(
                f"a public event could not be kept ({failed.cause}): nothing changed, try again"
            )
        if failed is not None:
            raise StateError(
                f"nobody knows whether a public event was kept ({failed.cause}): release_if_due() "
                "tries again"
            )

    @held
    def settle(self, rounds: RoundsState) -> None:
        """Commit the earlier public event that is not known to be kept, if there is one.

        It was promised to be tried again, so it is not dropped, whatever the journal says now.
        """
        failed = self._committed_event(rounds)
        if failed is not None:
            raise StateError(
                f"an earlier public event is not kept yet ({failed.cause}): release_if_due() "
                "tries again; "
                "nothing else was done"
            )

    def _committed_event(self, rounds: RoundsState) -> "_NotCommitted | None":
        """Commit the public event that waits for it, if one does, and only then use it."""
        if self.noted is None:
            return None
        revision, public = self.noted
        changed = replace(self.snapshot(rounds), public=public, revision=revision)
        failed = self._commit(changed)
        if failed is None:
            self._take(changed)
            self.noted = None
        return failed

    @held
    def admit(self, event: Any, people: Any, rounds: RoundsState) -> None:
        """Read people who come all at once and in no round, as a log has them, and make their
        release.

        The public event leads to a step of no rounds, whose release reads these people alone.
        Event, charge and release are one commit: a kill before it leaves nothing of them, and they
        may be handed in again; after it, all is done. What nobody has seen is never kept beside
        what somebody will.
        """
        if self.is_drawn:
            raise StateError(
                "a release waits to be committed: release_if_due() first, then the log"
            )
        self.settle(rounds)
        before = self._now
        try:
            public, revision = flat(self.view.noted(event)), self.committed.revision + 1
            self._take(replace(self.committed, public=public, block={}, revision=revision))
            places = np.arange(len(people))
            self.gather(Batch(places, people, EMPTY_REQUEST))
            self.release(rounds.clock, rounds.mask_counts)
        except BaseException:
            if not self.is_drawn and self.committed.index == before.snapshot.index:
                self._now = before  # nothing was drawn, or nobody has seen it and it is dropped
            raise

    # --- keeping ----------------------------------------------------------------------------------

    def snapshot(self, rounds: RoundsState) -> Snapshot:
        """The whole state as it is now."""
        values = {name: aggregate.values for name, aggregate in self.block.items()}
        return replace(self.committed, block=values, rounds=rounds)

    @held
    def checkpoint(self, rounds: RoundsState) -> None:
        """Keep what was aggregated since the last release."""
        self._refuse_older(rounds)
        self._keep(self.snapshot(rounds))

    def _keep(self, snapshot: Snapshot) -> None:
        try:
            self._journal.commit(snapshot)
        except StateError:
            raise
        except Exception as error:  # a driver's own text may hold sums
            raise StateError(
                f"the state could not be kept ({type(error).__name__}): try again"
            ) from None

    def _refuse_older(self, rounds: RoundsState) -> None:
        """The journal may hold a later turn or event already: the state before must not take its
        place.
        """
        if self.is_drawn:
            raise StateError(
                "a release waits to be committed: release_if_due() first, then save the state"
            )
        self.settle(rounds)

    @held
    def save(self, path: str | os.PathLike[str], rounds: RoundsState) -> None:
        """Write the whole state to a file, which becomes the journal."""
        self._refuse_older(rounds)
        snapshot = self.snapshot(rounds)
        if isinstance(self._journal, FileJournal):
            if self._journal.path.resolve() != FileJournal(path).path.resolve():
                name = self._journal.path.name
                raise StateError(
                    f"the state is kept in {name} already: a second file could spend the budget "
                    "twice"
                )
            self._journal.commit(snapshot)
        elif isinstance(self._journal, MemoryJournal):
            # Swapped first: an interrupt must not leave a file beside a learner that does not
            # commit to it.
            before, file = self._journal, FileJournal(path, hold=False)
            self._journal = file
            try:
                file.create(snapshot)
            except BaseException:
                if not file.created:
                    self._journal = before
                raise
        else:
            raise StateError(
                "the state is kept in this learner's journal already: "
                "a second copy could spend the budget twice"
            )

    def detach(self) -> None:
        """Give up the journal's lock, so that others can load the file."""
        self._journal.close()

    def _begin(self) -> None:
        """Go on from the journal's newest turn, or from the first one."""
        found = self._journal.claim(self._accept)
        if found is None:
            found = self._first()
            self._keep(found)
            self._take(found)
            return
        check_fits(self.problem, found)
        try:
            self._take(found)
        except DiscreetError:
            raise
        except Exception:  # a checksum can be made anew: what lies there may be anything
            raise StateError("the state does not fit its settings: restore the file") from None

    def _first(self) -> Snapshot:
        """The turn before anyone came."""
        public, hidden = self.problem.start()
        settings = self.problem.settings
        return Snapshot(
            identity=self._identity(),
            kind=self.kind,
            settings=settings.as_plain(),
            settings_hash=settings.hash,
            calibration=self.problem.plan.calibration,
            epoch=0,
            index=0,
            begin=0,
            public=flat(public),
            hidden=hidden,
            block={},
            ledger=Ledger(settings.privacy),
            coin_key=self._coin_key(0),
        )

    def _accept(self, found: Snapshot) -> None:
        """Refuse a turn that this learner cannot go on from."""
        if (found.kind, found.settings_hash) != (self.kind, self.problem.settings.hash):
            raise StateError(
                f"the journal belongs to other settings (of {found.kind}): use discreet.load, or "
                "another file"
            )
        if found.calibration != self.problem.plan.calibration:
            raise StateError(
                "this state was calibrated by another version of discreet or its parts: "
                "go on with that version"
            )
        if found.failed:
            raise StateError(
                "a release of this state failed after its noise was drawn: "
                "it cannot go on; start a new learner"
            )

    def _check_plan(self) -> None:
        try:
            Ledger.of(self.problem.settings.privacy, self.problem.plan.total)
        except DiscreetError as error:
            raise ConfigError(f"the plan does not fit the budget: {error}") from error

    # --- randomness -------------------------------------------------------------------------------

    def _identity(self) -> str:
        settings = self.problem.settings
        if settings.seed is None:
            return os.urandom(8).hex()
        return f"simulated {fingerprint(self.kind, settings.hash)[:16]}"

    def _bits(self, index: int) -> RandomBits:
        seed = self.problem.settings.seed
        return system_bits() if seed is None else seeded_bits(seed, index)

    def _coin_key(self, index: int) -> bytes:
        return self._key("coins", index)

    def people_key(self) -> bytes:
        """A secret for the names of this block's people."""
        return self._key("people", self.committed.index)

    def _key(self, what: str, index: int) -> bytes:
        seed = self.problem.settings.seed
        if seed is None:
            return os.urandom(16)
        return blake2b(f"discreet {what} {seed} {index}".encode(), digest_size=16).digest()


def guarantee_of(problem: Problem, snapshot: Snapshot) -> Guarantee:
    """What everything that was published up to this turn of a problem promises."""
    privacy = problem.settings.privacy
    returning = f"replace all that one person brings, in {problem.words.units} that stay theirs"
    return Guarantee(
        privacy,
        spent=snapshot.ledger.spent,
        total=problem.plan.total,
        releases=snapshot.index,
        planned=problem.plan.releases,
        notion=problem.notion,
        neighbours=returning if privacy.keyed else view_of(problem, snapshot).neighbours,
        assumes=problem.assumes,
        simulated=problem.settings.seed is not None,
        proof=problem.proof,
        words=problem.words,
    )


def _warn_of_delta(plan: Plan, privacy: Privacy) -> None:
    """Warn if the chance of failing is so large that a whole person may be published; by public
    numbers.
    """
    people = plan.horizon or 0
    if plan.total.takes_delta and privacy.delta * people > 1 + 1e-9:
        warnings.warn(
            f"delta = {privacy.delta:.3g} is more than 1/{people}, one over the number of people: "
            "choose far "
            "less, or publishing somebody's data as it is would be allowed",
            stacklevel=2,
        )


@dataclass(frozen=True)
class _NotCommitted:
    """Why a turn could not be committed, and whether it is certain that it was not."""

    cause: str
    is_certain: bool


def _which(snapshot: Snapshot) -> tuple[int, bytes, int, int]:
    """Tells a turn from all others of its learner: drawn, drawn again, or changed by a public
    event.
    """
    return snapshot.index, snapshot.coin_key, snapshot.epoch, snapshot.revision
