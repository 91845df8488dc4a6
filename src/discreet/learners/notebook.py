"""A learner as HTML, for notebooks: what its public properties give, and nothing else."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from discreet import html, svg
from discreet.texts import number_text

if TYPE_CHECKING:
    from discreet.learners.readable import Readable

MOST_NUMBERS = 10
"""The largest number of numbers of a decision that are shown."""
MOST_FEATURES = 5
"""The largest number of features of an arm that are shown."""


def page_of(learner: "Readable") -> str:
    """Return the clock, the spent budget, the method, the current decision and the guarantee."""
    guarantee = learner.guarantee
    facts = learner.facts
    rows: list[tuple[str, object]] = [
        ("rounds", _rounds(learner.clock, learner.horizon)),
        ("releases", _releases(guarantee.releases, guarantee.planned)),
        ("privacy", guarantee.meter),
    ]
    if guarantee.proof:
        rows.append(("proof", f"docs/guarantees/{guarantee.proof}"))
    if "method" in facts:
        rows.append(("learns by", f"{facts['method']}: {facts['why']}"))
    pictures = []
    for name, value in learner.decision.items():
        if _is_numbers_by_name(value):
            pictures.append(_bars(name, value))
        else:
            rows.append((f"now: {name}", _shown(value)))
    notes = [facts.get("warning"), *learner.notices.values()]
    rows += [("note", note) for note in notes if note]
    return html.block(
        html.facts(rows),
        *pictures,
        guarantee.folded,
        title=type(learner).__name__,
        warning=guarantee.warning,
    )


def _rounds(clock: int, horizon: int | None) -> object:
    """The rounds so far, and how many are planned."""
    if not horizon:
        return f"{clock:,}, without end"
    return html.metered(clock / horizon, f"{clock:,} of {horizon:,}")


def _releases(made: int, planned: int | None) -> str:
    return f"{made:,}" if planned is None else f"{made:,} of {planned:,}"


def _is_numbers_by_name(value: object) -> bool:
    """Whether a part of a decision is a mapping from names to numbers."""
    return (
        isinstance(value, Mapping)
        and bool(value)
        and all(isinstance(number, int | float) for number in value.values())
    )


def _bars(name: str, numbers: Mapping[object, float]) -> html.Html:
    """The largest numbers of a decision as bars."""
    largest = sorted(numbers, key=lambda label: -abs(numbers[label]))[:MOST_NUMBERS]
    note = f"the {len(largest)} largest of {len(numbers):,}"
    picture = svg.bars(
        svg.Bars(largest, [numbers[label] for label in largest]),
        title=f"Now: {name}",
        note=note if len(largest) < len(numbers) else "",
        axis=svg.Axis(percent=name == "chances"),
    )
    return html.Html(picture)


def _shown(value: object) -> object:
    """Any other part of a decision: labels, numbers, or weights per arm."""
    if isinstance(value, Mapping):
        return _weights(value)
    if isinstance(value, float):
        return number_text(value)
    if not isinstance(value, list):
        return str(value)
    if all(isinstance(entry, str | int) for entry in value):
        return html.labels(value)
    if all(isinstance(entry, float) for entry in value):
        more = f", … {len(value):,} in all" if len(value) > MOST_NUMBERS else ""
        return ", ".join(map(number_text, value[:MOST_NUMBERS])) + more
    return f"{len(value):,} rows of {len(value[0]):,} numbers"


def _weights(arms: Mapping[object, Mapping[object, float]]) -> object:
    """The heaviest features of each arm, as a table."""
    if not any(arms.values()):
        return "none yet"
    rows = []
    for arm, weights in arms.items():
        heaviest = sorted(weights, key=lambda feature: -abs(weights[feature]))
        texts = [f"{feature}: {number_text(weights[feature])}" for feature in heaviest]
        more = f", … {len(texts):,} in all" if len(texts) > MOST_FEATURES else ""
        rows.append((arm, ", ".join(texts[:MOST_FEATURES]) + more))
    return html.table(["arm", "heaviest features"], rows)
