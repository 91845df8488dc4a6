"""Log adapter of `StreamingLearner`: one sample per row, in the columns `features` and `target`.

The number of coefficients follows from the features, the intercept and the classes, so the domain
may omit it:

    features = ["age", "income"]
    target = "spent"
    domain = "LpBall"

Columns may have rules, which are those of `Columns`:

    bounds = { age = [18, 100], income = [0, 200000], spent = [0, 5000] }
    categories = { region = ["north", "south"] }
    dates = { joined = "years since 2020-01-01" }
    fill = { income = 30000 }
    other = { region = "south" }

Then features are scaled inside, and coefficients are in the units of the log.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from discreet import require
from discreet.arrays import Mask
from discreet.errors import ConfigError
from discreet.learners.log_adapter import LogAdapter, Table, list_of_columns, present
from discreet.learners.streaming_learner.sample_answer import are_many
from discreet.learners.streaming_learner.settings import StreamingLearnerSettings
from discreet.losses import Samples
from discreet.records.array_table import ArrayTable, one_per_person
from discreet.records.cells import unread_numbers
from discreet.records.columns import Columns

RULES = ("bounds", "categories", "dates", "fill", "other")
"""Keys about the columns of the log, besides their names."""


class StreamingLearnerLogAdapter(LogAdapter):
    """Reads the rows of a log as samples."""

    settings_type = StreamingLearnerSettings
    settings: StreamingLearnerSettings
    log_type = Columns
    follows: ClassVar[Mapping[str, tuple[str, ...]]] = dict.fromkeys(
        ("feature_bound", "target_bound"), ("bounds", "categories")
    )
    sized = ("LpBall.dimension", "Box.dimension", "Simplex.dimension")
    row = "sample"

    @classmethod
    def completed(cls, plain: dict[str, object], log: dict[str, object]) -> dict[str, object]:
        features = list_of_columns("features", log["features"])
        if not isinstance(log["target"], str) or log["target"] in features:
            raise ConfigError(
                "target must be a column, and none of the features, got "
                f"{require.shown(log['target'])}"
            )
        if any(name in log for name in RULES):
            described = {name: log[name] for name in cls.log_keys() if name in log}
            return plain | {"columns": {"kind": "Columns"} | described}
        domain = plain.get("domain")
        domain = {"kind": domain} if isinstance(domain, str) else domain
        if not isinstance(domain, dict):
            return plain
        loss = plain.get("loss")
        classes = loss.get("classes", 1) if isinstance(loss, dict) else 1
        width = len(features) + (plain.get("intercept") is True)
        dimension = width * (classes if type(classes) is int else 1)
        declared = domain.get("dimension", dimension)
        if declared != dimension:
            raise ConfigError(
                f"dimension must be {dimension} with these features, got "
                f"{require.shown(declared)}: leave it out"
            )
        return plain | {"domain": domain | {"dimension": dimension}}

    def columns(self, header: Sequence[str]) -> list[str]:
        return present(header, [*self.log["features"], self.log["target"]])

    def answer_columns(self, header: Sequence[str]) -> list[str]:
        rules = self.settings.columns
        if rules is None:
            raise ConfigError(
                "a table needs columns=Columns(features, target), or give features and targets"
            )
        return present(header, rules.read)

    @property
    def answer_names(self) -> list[str]:
        rules = self.settings.columns
        if rules is not None:
            return rules.read
        return [*(f"feature {place}" for place in range(self.settings.features)), "target"]

    def cells(self, answers: Any) -> Table:
        """Return a pair (features, targets), or a list with one pair or dictionary per sample."""
        if isinstance(answers, tuple) and len(answers) == 2 and are_many(*answers):
            return ArrayTable.of_matrix(*answers, self.answer_names)
        return ArrayTable.of_people(one_per_person(answers), self.answer_names)

    def unreadable(self, rows: Table, columns: Sequence[str]) -> dict[str, Mask]:
        rules = self.settings.columns
        return unread_numbers(rows, columns) if rules is None else rules.unreadable(rows)

    def answers(self, rows: Table, columns: Sequence[str]) -> Samples:
        rules = self.settings.columns
        if rules is not None:
            return rules.samples(rows, shifts=self.settings.shifts)
        numbers = rows.numbers(columns)
        return Samples(numbers[:, :-1], numbers[:, -1])

    def numeric(self, columns: Sequence[str]) -> list[str]:
        rules = self.settings.columns
        if rules is None:
            return list(columns)
        return rules.numeric

    def named(self, decision: dict[str, Any], columns: Sequence[str]) -> dict[str, object]:
        if self.settings.columns is not None:
            return decision
        coefficients = decision["coefficients"]
        features = columns[:-1]
        if self.settings.classes > 1:
            rows = [dict(zip(features, row, strict=True)) for row in coefficients]
            return decision | {"coefficients": rows}
        return decision | {"coefficients": dict(zip(features, coefficients, strict=True))}
