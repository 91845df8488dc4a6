"""Numbers, tables and links of the page of results."""

import json
from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from pathlib import Path
from textwrap import dedent, fill
from typing import Any

RESULTS = Path(__file__).resolve().parent.parent / "results"
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
WIDTH = 110
NOT_MEASURED = "–"
"""Entry of a table where nothing was measured."""


@cache
def load(name: str) -> Mapping[str, Any]:
    """Return the report results/<name>.json."""
    found: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def fixed(value: float | None, digits: int = 3) -> str:
    """Return a number with a fixed number of decimals; a 5 as the last digit is rounded up."""
    if value is None:
        return NOT_MEASURED
    rounded = Decimal(str(value)).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP) + 0  # no −0
    return f"{rounded:f}".replace("-", "−")


def significant(value: float, digits: int = 2) -> str:
    """Return a number with significant digits: 0.00077, 1.3, 7.7·10⁻⁵."""
    number, _, exponent = f"{value:#.{digits}g}".partition("e")
    scale = f"·{power(int(exponent))}" if exponent else ""
    return number.rstrip(".").replace("-", "−") + scale


def power(exponent: int) -> str:
    """Return a power of ten: 10⁴."""
    return "10" + str(exponent).translate(RAISED)


def counted(number: int) -> str:
    """Return a whole number, with commas: 412,717."""
    return f"{number:,}"


def with_error(cell: Mapping[str, float] | None, digits: int = 3) -> str:
    """Return a mean ± the error in the report: a standard error or a standard deviation."""
    if cell is None:
        return NOT_MEASURED
    names = ("standard_error", "standard_deviation", "error")
    error = next(cell[name] for name in names if name in cell)
    return f"{fixed(cell['mean'], digits)} ± {fixed(error, digits)}"


def interval(slope: Mapping[str, float]) -> str:
    """Return a slope with its 95 % interval."""
    return f"{fixed(slope['slope'], 2)} ({fixed(slope['low'], 2)} to {fixed(slope['high'], 2)})"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    first, *others = (f"| {' | '.join(line)} |" for line in (head, *rows))
    return "\n".join([first, "|---" * len(head) + "|", *others])


def prose(text: str) -> str:
    """Return paragraphs wrapped to the width of the page, since figures vary in length."""
    paragraphs = dedent(text).strip().split("\n\n")
    return blocks(
        *(fill(each, WIDTH, break_on_hyphens=False, break_long_words=False) for each in paragraphs)
    )


def blocks(*parts: str) -> str:
    """Return paragraphs and tables with blank lines between them."""
    return "\n\n".join(parts)


def joined(words: Sequence[str]) -> str:
    """Return an enumeration: a, b and c."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def source(*names: str) -> str:
    """Return the line below a table: its reports, and the circumstances of each."""
    return blocks(*(_source(name) for name in names))


def _source(name: str) -> str:
    made = load(name)["made"]
    words = "committed" if "recorded" in made else "measured"
    parts = [f"{words} {made['date'][:10]} with discreet {made['discreet']}"]
    if "commit" in made:
        parts[0] += (
            f" (`{made['commit'][:7]}{'-dirty' if made['commit'].endswith('-dirty') else ''}`)"
        )
    parts += [f"{peer} {version}" for peer, version in made["peers"].items()]
    parts += [_seeds(label, seeds) for label, seeds in made.get("seeds", {}).items()]
    if "note" in made:
        parts.append(made["note"])
    return f"JSON: `benchmarks/results/{name}.json`: {'; '.join(parts)}."


def _seeds(label: str, seeds: Any) -> str:
    """Return "10 seeds", "first seed 500" or "other seeds 100 to 105"."""
    if label == "seeds" and isinstance(seeds, int):
        return f"{seeds} seeds"
    return f"{label.replace('_', ' ')} {seeds}"
