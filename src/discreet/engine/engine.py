"""The engine: the one path from secret to public, for every learner.

    reserve the planned charge → release into new values → commit → use

The engine holds a problem and a journal, and never reads feedback itself; rounds,
tickets and the clock are in discreet/engine/rounds.py. A release is committed before anything of it
is used. A commit whose outcome is unknown is read back (discreet/engine/commits.py), and nothing is
drawn again. Signals wait meanwhile (discreet/engine/signals.py). A second Ctrl-C in the middle of a
release is like a crash: the draw is discarded before anyone has seen it, and the state stays what
it was. After any other error that follows a draw, the learner has failed for good, because the
error might depend on the drawn values.

Guarantee   docs/guarantees/engine.md, Theorems 1 to 3
"""

import os
import warnings
from collections.abc import Callable, Sized
from contextlib import suppress
from dataclasses import dataclass, replace
from os import getpid
from typing import NamedTuple

import numpy as np

from discreet.budget.guarantee import Guarantee
from discreet.budget.ledger import Ledger
from discreet.budget.privacy import Charge, Privacy, delta_notice
from discreet.engine import logs
from discreet.engine.coins import Coins
from discreet.engine.commits import CommitFailure, commit_and_read_back, store
from discreet.engine.flat_state import flat
from discreet.engine.formats import PRESENT
from discreet.engine.journal import FileJournal, Journal, MemoryJournal, as_journal
from discreet.engine.keys import coin_key, learner_identity, people_key
from discreet.engine.plan import Plan, State, Step
from discreet.engine.problem import Problem, view_of
from discreet.engine.request import EMPTY_REQUEST, Batch, Block
from discreet.engine.signals import held
from discreet.engine.snapshot import RoundsState, Snapshot
from discreet.engine.state_check import DOES_NOT_FIT, check_belongs, check_fits
from discreet.engine.view import View
from discreet.errors import ConfigError, DiscreetError, StateError
from discreet.release.aggregators import Aggregator
from discreet.release.door import Door
from discreet.release.randomness import FORKS, RandomBits, seeded_bits, system_bits, this_process

DoorMaker = Callable[[RandomBits, Charge, int], Door]


class BusyError(StateError):
    """A call came from inside another one: from a signal handler or a function of the operator."""


@dataclass(frozen=True, eq=False)
class Now:
    """The newest committed snapshot, its view, and what was aggregated since."""

    snapshot: Snapshot
    view: View
    block: Block
    step: Step | None
    end: int | None
    horizon: int | None


class _PublicEvent(NamedTuple):
    """A public event that is not known to be committed."""

    event: object
    revision: int
    public: State
    """The public state after the event."""


class Engine:
    """Releases what a problem has aggregated, exactly once, and stores the state in a journal.

    Parameters
    ----------
    problem
        A mode, with the plan and the first state that follow from it.
    kind
        The name under which the learner is loaded again.
    journal
        Where snapshots are stored: a path, a journal, or None for memory.
    door
        Makes the door of each release; audits pass their own.

    Guarantee: docs/guarantees/engine.md, Theorems 1 to 3.
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
        self.unsettled: Snapshot | None = None
        """The snapshot after a release that is drawn and not known to be committed."""
        self._published: object = None
        """The public state of that snapshot, typed."""
        self.noted: _PublicEvent | None = None
        """A public event that is not known to be committed; `settle` commits it."""
        self.failed = False
        """Whether a release failed after its draw, so that the learner cannot go on."""
        try:
            self._begin()
        except BaseException:
            self._journal.close()
            raise

    # --- readings --------------------------------------------------------------------------------

    @property
    def committed(self) -> Snapshot:
        """The newest committed snapshot; its `block` and `rounds` are those of the commit."""
        return self.now.snapshot

    @property
    def block(self) -> Block:
        """The aggregates since the last release, by the name of their aggregator."""
        return self.now.block

    @property
    def view(self) -> View:
        """The view of the current block: its phase, with what follows from it."""
        return self.now.view

    @property
    def step(self) -> Step | None:
        """The current block and its release; None after the last release."""
        return self.now.step

    @property
    def end(self) -> int | None:
        """The round before which the next release is made, or the horizon after the last one."""
        return self.now.end

    @property
    def horizon(self) -> int | None:
        """Number of rounds planned so far; None without end."""
        return self.now.horizon

    @property
    def is_drawn(self) -> bool:
        """Whether the release of this block is drawn and not committed: answers are late now."""
        return self.unsettled is not None and self.unsettled.index > self.committed.index

    @property
    def is_forked(self) -> bool:
        """Whether this process is a fork of the one that made this engine."""
        return this_process() != self._process

    @property
    def guarantee(self) -> Guarantee:
        """The privacy guarantee of everything published so far."""
        return guarantee_of(self.problem, self.committed)

    @property
    def keeps_files(self) -> bool:
        """Whether snapshots are stored in a file."""
        return isinstance(self._journal, FileJournal)

    @property
    def _path(self) -> object:
        """The file of the journal; None without one."""
        return self._journal.path if isinstance(self._journal, FileJournal) else None

    @property
    def _whose(self) -> logs.Whose:
        """What log records call this learner."""
        return logs.Whose(self.kind, self.committed.identity)

    def check(self) -> None:
        """Raise `StateError` if a release failed."""
        if self.failed:
            raise StateError(
                "a release failed after its noise was drawn: this learner cannot go on; start a "
                "new one"
            )

    def check_process(self) -> None:
        """Raise `StateError` if this process is a fork."""
        if (getpid(), FORKS[0]) != self._process:  # `this_process`, in place: for every call
            raise StateError(
                "this learner was forked: two copies would spend one budget twice; make one in "
                "each process"
            )

    # --- releases ---------------------------------------------------------------------------------

    def gather(self, batch: Batch) -> None:
        """Read the feedback of a batch and add it to the block."""
        now = self.now
        now.view.count(now.block, batch)

    def rehearse(self, batch: Batch) -> None:
        """Raise as `gather` would for this batch, and add nothing."""
        view = self.now.view
        view.count(view.empty_block(), batch)

    @held
    def release(self, clock: int, mask_counts: State) -> None:
        """Make the release that is due; people whose feedback is missing add nothing."""
        if self.unsettled is None or not self.is_drawn:
            self.unsettled = self._drawn(clock, mask_counts)
        assert self.unsettled is not None
        self._commit_release(self.unsettled)

    def _drawn(self, clock: int, mask_counts: State) -> Snapshot:
        """Reserve the planned charge, then release into new values that nothing uses yet."""
        now = self.now
        snapshot = now.snapshot
        step = now.step
        assert step is not None
        ledger = snapshot.ledger.charge(step.charge, cohort=step.cohort)
        door = self._door(self._bits(snapshot.index), step.charge, snapshot.index)
        try:
            published, hidden = now.view.release(mask_counts, snapshot.hidden, now.block, door)
            public = flat(published)
        except KeyboardInterrupt:
            raise  # a second Ctrl-C: it comes from outside, and does not depend on the draw
        except BaseException:
            if door.opened:
                self._fail(RoundsState(clock, mask_counts=mask_counts))
            raise
        finally:
            door.shut()  # a phase may have kept it: nothing is drawn outside the release
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
            coin_key=coin_key(self.problem.settings, snapshot.index + 1),
            rounds=RoundsState(clock),
            revision=snapshot.revision,
        )

    def _commit_release(self, snapshot: Snapshot) -> None:
        """Commit a drawn release, and only then use it."""
        failure = commit_and_read_back(self._journal, snapshot)
        if failure is not None:
            logs.not_committed(self._whose, snapshot.index, failure.cause)
            raise StateError(
                f"a release could not be committed ({failure.cause}): nothing was shown, all "
                f"answers are counted; {self.problem.promise.retry}"
            )
        self._take(snapshot, self._published)
        self.unsettled = None
        self._published = None
        self._log_release()

    def _log_release(self) -> None:
        """Log the newest release, and the end of the plan."""
        if not logs.LOGGER.isEnabledFor(logs.INFO):
            return
        now = self.now
        privacy = self.problem.settings.privacy
        spent = now.snapshot.ledger.spent.epsilon(privacy)
        rounds = now.snapshot.begin
        logs.released(self._whose, now.snapshot.index, rounds, spent, privacy)
        if now.step is None:
            logs.finished(self._whose, rounds)

    def _fail(self, rounds: RoundsState) -> None:
        """Mark the learner as failed, in the journal too if that is possible."""
        self.failed = True
        with suppress(Exception):  # the error that led here is the one to be raised
            # No learner goes on from here, so people's data is not stored either.
            self._journal.commit(replace(self.committed, block={}, rounds=rounds, failed=True))

    def _take(self, snapshot: Snapshot, published: object = None) -> None:
        """Go on from a snapshot; `published` is its public state, typed, if that is at hand."""
        for value in snapshot.public.values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
        public = snapshot.public if published is None else published
        view = self.problem.view(public, snapshot.index, snapshot.begin, Coins(snapshot.coin_key))
        if snapshot.block:
            block = _restored_block(snapshot.block, view.aggregators())
        else:
            block = view.empty_block()
        step = view.step
        horizon = view.horizon
        end = horizon if step is None else snapshot.begin + step.rounds
        # One assignment: an interrupt sees the old state or the new one. A plain attribute, because
        # every round reads it several times.
        self.now = Now(snapshot, view, block, step, end, horizon)

    # --- public events ----------------------------------------------------------------------------

    @held
    def note(self, event: object, rounds: RoundsState) -> None:
        """Commit a public event: it costs nothing, and must not depend on any person's data."""
        if self.is_drawn:
            raise StateError(
                "a release waits to be committed: release_if_due() first, then the public event"
            )
        self.commit_pending_event(rounds)
        revision = self.committed.revision + 1
        self.noted = _PublicEvent(event, revision, flat(self.view.after(event)))
        failure = self._commit_event(rounds)
        if failure is not None and failure.is_certain:
            self.noted = None
            raise StateError(
                f"a public event could not be committed ({failure.cause}): nothing changed, "
                "try again"
            )
        if failure is not None:
            raise StateError(
                f"a public event may or may not be committed ({failure.cause}): "
                "release_if_due() tries again"
            )

    @held
    def commit_pending_event(self, rounds: RoundsState) -> None:
        """Commit the earlier public event that is not known to be committed, if there is one.

        The error of `note` has promised another attempt, so the event is never dropped.
        """
        failure = self._commit_event(rounds)
        if failure is not None:
            raise StateError(
                f"an earlier public event is not committed yet ({failure.cause}): "
                "release_if_due() tries again; nothing else was done"
            )

    def _commit_event(self, rounds: RoundsState) -> CommitFailure | None:
        """Commit the pending public event, if there is one, and only then use it."""
        if self.noted is None:
            return None
        changed = replace(
            self.snapshot(rounds), public=self.noted.public, revision=self.noted.revision
        )
        failure = commit_and_read_back(self._journal, changed)
        if failure is None:
            self._take(changed)
            event = self.noted.event
            self.noted = None
            logs.noted(self._whose, event)
        return failure

    @held
    def admit(self, event: object, people: Sized, rounds: RoundsState) -> None:
        """Read people who come all at once and in no round, such as a log, and release.

        The public event leads to a step of no rounds, whose release reads these people alone.
        Event, charge and release are one commit: a kill before it leaves no trace of them, and the
        people may be passed again; after it, all is done. So a journal never holds unpublished
        people beside a block that will be published.
        """
        if self.is_drawn:
            raise StateError(
                "a release waits to be committed: release_if_due() first, then the log"
            )
        self.commit_pending_event(rounds)
        before = self.now
        try:
            public = flat(self.view.after(event))
            revision = self.committed.revision + 1
            self._take(replace(self.committed, public=public, block={}, revision=revision))
            logs.announced(self._whose, event)
            places = np.arange(len(people))
            self.gather(Batch(places, people, EMPTY_REQUEST))
            self.release(rounds.clock, rounds.mask_counts)
        except BaseException:
            if not self.is_drawn and self.committed.index == before.snapshot.index:
                self.now = before  # no draw was made, or it is discarded unseen
            raise

    # --- storing the state ------------------------------------------------------------------------

    def snapshot(self, rounds: RoundsState) -> Snapshot:
        """Return the whole state of this moment."""
        values = {name: aggregate.values for name, aggregate in self.block.items()}
        return replace(self.committed, block=values, rounds=rounds)

    @held
    def checkpoint(self, rounds: RoundsState) -> None:
        """Store what was aggregated since the last release."""
        self._refuse_older(rounds)
        store(self._journal, self.snapshot(rounds))

    def _refuse_older(self, rounds: RoundsState) -> None:
        """Raise `StateError` if the journal may already hold a later release or event.

        The state before it must not overwrite it.
        """
        if self.is_drawn:
            raise StateError(
                "a release waits to be committed: release_if_due() first, then save the state"
            )
        self.commit_pending_event(rounds)

    @held
    def save(self, path: str | os.PathLike[str], rounds: RoundsState) -> None:
        """Write the whole state to a file, which becomes the journal."""
        self._refuse_older(rounds)
        snapshot = self.snapshot(rounds)
        if isinstance(self._journal, FileJournal):
            if self._journal.path.resolve() != FileJournal(path).path.resolve():
                raise StateError(
                    f"the state is stored in {self._journal.path.name} already: save it there, a "
                    "second file could spend the budget twice"
                )
            self._journal.commit(snapshot)
        elif isinstance(self._journal, MemoryJournal):
            self._move_to(FileJournal(path, hold=False), snapshot)
        else:
            raise StateError(
                "the state is stored in this learner's journal already: use that one, a second "
                "copy could spend the budget twice"
            )

    def _move_to(self, file: FileJournal, snapshot: Snapshot) -> None:
        """Make a new file the journal.

        The journal is replaced first: an interrupt must not leave a file beside a learner that does
        not commit to it.
        """
        before = self._journal
        self._journal = file
        try:
            file.create(snapshot)
        except BaseException:
            if not file.created:
                self._journal = before
            raise

    def detach(self) -> None:
        """Give up the journal's lock, so that others can load the file."""
        self._journal.close()

    # --- the first state --------------------------------------------------------------------------

    def _begin(self) -> None:
        """Go on from the journal's newest snapshot, or from the first one."""
        newest = self._journal.claim(self._accept)
        if newest is None:
            first = self._first()
            store(self._journal, first)
            self._take(first)
            logs.made(self._whose, self.problem, self._path)
            return
        self._take(newest)
        logs.loaded(self._whose, newest.index, newest.rounds.clock, self._path)

    def _accept(self, newest: Snapshot) -> Snapshot:
        """Return the snapshot to go on from; a refused one leaves its file as it was."""
        check_belongs(self.problem, self.kind, newest)
        accepted = replace(newest, calibration=self.problem.plan.calibration, version=str(PRESENT))
        check_fits(self.problem, accepted)
        try:
            self._take(accepted)
        except DiscreetError:
            raise
        except Exception:  # a checksum can be forged: the content may be anything
            raise StateError(DOES_NOT_FIT) from None
        return accepted

    def _first(self) -> Snapshot:
        """Return the snapshot before the first round."""
        public, hidden = self.problem.start()
        settings = self.problem.settings
        return Snapshot(
            identity=learner_identity(self.kind, settings),
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
            coin_key=coin_key(settings, 0),
        )

    def _check_plan(self) -> None:
        try:
            Ledger.of(self.problem.settings.privacy, self.problem.plan.total)
        except DiscreetError as error:
            raise ConfigError(f"the plan does not fit the budget: {error}") from error

    # --- randomness -------------------------------------------------------------------------------

    def _bits(self, index: int) -> RandomBits:
        """Return the random bits of one release, for its noise."""
        seed = self.problem.settings.seed
        return system_bits() if seed is None else seeded_bits(seed, index)

    def people_key(self) -> bytes:
        """Return a secret key for the digests of this block's people."""
        return people_key(self.problem.settings, self.committed.index)


def guarantee_of(problem: Problem, snapshot: Snapshot) -> Guarantee:
    """Return the privacy guarantee of everything that was published up to a snapshot."""
    privacy = problem.settings.privacy
    promise = view_of(problem, snapshot).promise
    neighbours = promise.neighbours
    if privacy.keyed:
        neighbours = (
            f"replace all that one person brings, in {promise.words.units} that stay theirs"
        )
    return Guarantee(
        privacy,
        spent=snapshot.ledger.spent,
        total=problem.plan.total,
        releases=snapshot.index,
        planned=problem.plan.releases,
        notion=promise.notion,
        neighbours=neighbours,
        assumes=promise.assumes,
        simulated=problem.settings.seed is not None,
        proof=promise.proof,
        words=promise.words,
    )


def _restored_block(values: dict[str, np.ndarray], aggregators: dict[str, Aggregator]) -> Block:
    """Return the aggregates of a block that was stored before its release."""
    try:
        return {name: aggregator.holding(values[name]) for name, aggregator in aggregators.items()}
    except (KeyError, ConfigError):
        raise StateError(DOES_NOT_FIT) from None


def _warn_of_delta(plan: Plan, privacy: Privacy) -> None:
    """Warn if delta is so large that publishing a person's data as it is would be allowed."""
    notice = delta_notice(privacy.delta, plan.horizon or 0) if plan.total.takes_delta else ""
    if notice:
        warnings.warn(notice, stacklevel=2)
