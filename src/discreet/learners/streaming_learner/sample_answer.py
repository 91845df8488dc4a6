"""Samples of people, as feedback: pairs of features and a target, matrices, or rows by columns."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet import require
from discreet.arrays import Floats, Integers
from discreet.engine.declarations import Answer
from discreet.engine.request import Batch
from discreet.engine.signals import held
from discreet.entries import entries_of
from discreet.errors import ConfigError, OutOfBounds
from discreet.feedback import as_floats, each_number, from_text_or_complex, row_of
from discreet.functions.person import reading, result_or
from discreet.learners.streaming_learner.feature_rows import rows_at_once
from discreet.learners.streaming_learner.settings import StreamingLearnerSettings
from discreet.losses import Samples
from discreet.records.array_table import ArrayTable
from discreet.records.kinds import is_table
from discreet.records.samples import TableReader, cells_in


@dataclass(frozen=True, eq=False)
class Answers:
    """The samples of some rounds of one block."""

    rounds: Integers
    samples: Samples

    def pieces(self, numbers: int) -> Iterator["Answers"]:
        """Split into pieces with dense features, as large as memory allows at `numbers` per row."""
        first = 0
        for piece in self.samples.dense(rows_at_once(numbers)):
            end = first + len(piece)
            yield Answers(self.rounds[first:end], piece)
            first = end


@dataclass(frozen=True)
class SampleAnswer(Answer):
    """One sample per round: features and a target, as the settings describe them."""

    settings: StreamingLearnerSettings

    @property
    def blank(self) -> tuple[Floats, float]:
        """A sample without a target."""
        # A sample without a target adds nothing, with or without an intercept.
        return np.zeros(self.settings.features), float("nan")

    # --- samples of many rounds -------------------------------------------------------------------

    @held
    def rows(self, feedback: Any) -> Samples:
        """Return the samples of a pair (X, y), or of a sequence with one pair per round.

        A tuple is (X, y) only if X is a matrix (an array, a frame, a sparse matrix) with one row
        per target. Only the operator makes matrices; a single person's feedback consists of
        numbers, texts, lists and pairs. Any other tuple holds one person per entry, like a list, so
        the feedback of one person never decides how that of another is read.
        """
        if isinstance(feedback, Samples):
            return feedback
        if isinstance(feedback, tuple) and len(feedback) == 2 and are_many(*feedback):
            return self.streamed(*feedback)
        try:
            pairs = list(feedback)
        except Exception:
            raise OutOfBounds(
                "feedback must be a pair (array of features, targets), or a list of pairs "
                "(features, target)"
            ) from None
        return self._each(pairs)

    @held
    def streamed(self, features: object, targets: object, shares: object = None) -> Samples:
        """Return features and targets as samples; a malformed sample adds nothing.

        A share that is negative or not a number counts as 0.
        """
        if self.settings.columns is not None:
            if is_table(features):
                features = cells_in(features, self.settings.columns.features)
            self.settings.columns.check_numeric(features)
            samples = self._in_columns(ArrayTable.of_matrix(features, targets, self._names))
        elif _is_numeric(rows := entries_of(features)) and rows.ndim != 1:
            samples = Samples(features, targets if _is_numeric(targets) else each_number(targets))
        else:
            samples = self._each(_paired(features, targets))
        if shares is None:
            return samples
        weights = each_number(shares)
        if weights is None or weights.shape != samples.targets.shape:
            raise OutOfBounds("shares must have one number per round")
        samples.shares = np.where(weights >= 0, weights, 0.0)
        return samples

    def _each(self, pairs: list[Any]) -> Samples:
        """Return one sample per pair (features, target); NaN where a pair is malformed."""
        if self.settings.columns is not None:
            return self._in_columns(ArrayTable.of_people(pairs, self._names))
        features = np.full((len(pairs), self.settings.features), np.nan)
        targets = np.full(len(pairs), np.nan)
        for place, pair in enumerate(pairs):
            if type(pair) in (tuple, list) and len(pair) == 2:
                x = self._features(pair[0])
                y = as_floats(pair[1])
                if x is not None and y is not None and y.size == 1:
                    features[place] = x
                    targets[place] = y.reshape(-1)[0]
        return Samples(features, targets)

    # --- samples of tables ------------------------------------------------------------------------

    def table_reader(self, table: object, persons: object = None) -> "TableReader":
        """Return the reader of a table's samples."""
        columns = self.settings.columns
        if columns is None:
            raise ConfigError(
                "a table needs columns=Columns(features, target), or give features and targets"
            )
        return TableReader(table, columns, persons, shifts=self.settings.shifts)

    @property
    def _names(self) -> list[str]:
        """The columns that are read."""
        assert self.settings.columns is not None
        return self.settings.columns.read

    def _in_columns(self, rows: ArrayTable) -> Samples:
        """Return rows as samples, by the rules of the columns."""
        assert self.settings.columns is not None
        return self.settings.columns.samples(rows, shifts=self.settings.shifts)

    def _features(self, row: Any) -> Floats | None:
        """Return one row of features, which may be sparse; None if it is anything else."""
        width = self.settings.features
        if hasattr(row, "toarray") and row.shape in ((width,), (1, width)):
            with reading():
                return row_of(result_or(lambda: row.toarray().reshape(-1), None), width)
        return row_of(row, width)

    # --- samples of a batch -----------------------------------------------------------------------

    def read(self, batch: Batch) -> Answers:
        """Return the samples of a batch, with as many features as there are coefficients for."""
        samples = self._one_sample(batch.feedback) if batch.single else self._many_samples(batch)
        return Answers(batch.rounds, samples)

    def _many_samples(self, batch: Batch) -> Samples:
        """Return the samples that `rows` read, after a check of their number of features."""
        samples: Samples = batch.feedback
        width = self.settings.features
        if samples.features.shape != (len(batch), width):
            raise OutOfBounds(
                f"feedback must be a pair (features, targets) with {width} features per round"
            )
        return samples

    def _one_sample(self, pair: Any) -> Samples:
        """Return the sample of one person; a malformed one is refused."""
        if self.settings.columns is not None:
            return self._one_row(pair)
        if type(pair) not in (tuple, list) or len(pair) != 2:
            raise OutOfBounds("feedback must be a pair (features, target)")
        x = self._features(pair[0])
        y = as_floats(pair[1])
        if x is None or y is None or y.size != 1:
            raise OutOfBounds(
                f"feedback must be a pair ({self.settings.features} features, a target) of numbers"
            )
        if not (np.isfinite(x).all() and np.isfinite(y).all()):
            raise OutOfBounds(
                "feedback must be finite: replace NaN and infinite entries before you pass them on"
            )
        return Samples(x.reshape(1, -1), y.reshape(1))

    def _one_row(self, person: Any) -> Samples:
        """Return the sample of one person by the rules of the columns."""
        sample = self._in_columns(ArrayTable.of_people([person], self._names))
        if not (np.isfinite(sample.features).all() and np.isfinite(sample.targets).all()):
            raise OutOfBounds(
                "feedback must be a dictionary with the columns "
                f"{require.shown(', '.join(self._names))}, or a pair (features, target), with "
                "values that the settings admit"
            )
        return sample


# --- reading feedback -----------------------------------------------------------------------------


def _is_numeric(part: object) -> bool:
    """Whether this is one array of numbers, a frame of numbers, or a sparse matrix."""
    part = entries_of(part)
    return hasattr(part, "tocsr") or (isinstance(part, np.ndarray) and part.dtype.kind in "biuf")


def _paired(features: object, targets: object) -> list[tuple[object, object]]:
    """Return one pair (features, target) per round; entries may be of any type."""
    try:
        return list(zip(_one_per_round(features), _one_per_round(targets), strict=True))
    except Exception:
        raise OutOfBounds(
            "feedback must be a pair (features, targets): one row and one target per round"
        ) from None


def _one_per_round(part: Any) -> list[object]:
    """Return a list with one entry per round."""
    part = entries_of(part)
    # One odd entry makes NumPy convert all of them to texts, or to complex numbers.
    is_converted = isinstance(part, np.ndarray) and part.dtype.kind in "cUS"
    if is_converted:
        part = from_text_or_complex(part)
    return list(part)


def are_many(features: object, targets: Any) -> bool:
    """Whether these are a matrix and one target per row, rather than the feedback of two people."""
    shape: tuple[int, ...] = getattr(features, "shape", ())
    is_list = isinstance(targets, list | np.ndarray) or hasattr(targets, "to_numpy")
    return len(shape) == 2 and is_list and bool(len(targets) == shape[0])
