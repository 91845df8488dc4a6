"""The sections of the cost of rounds, equality of seeded runs, and readability of the source."""

from collections.abc import Mapping
from typing import Any

from pages.text import blocks, counted, fixed, load, power, prose, source, table

HORIZONS = {"10000": 4, "1000000": 6, "1000000000": 9}
READ = (
    ("untyped reads of public state in learners", "untyped_reads"),
    ("assertions about a type", "isinstance_assertions"),
    ("the name `Any`", "any_annotations"),
    ("methods of learners that state again what follows from statistics", "frame_definitions"),
    ("lines of `examples/poll.py`, a learner of one's own", "poll_lines"),
)
CALLS = {
    "act": "`act`",
    "observe": "`observe`",
    "release": "a release",
    "constructor": "the constructor",
}


def frame() -> str:
    """Return the section of the cost of a round."""
    report, equality = load("frame"), load("equality")
    return blocks(
        "## What a round costs (`benchmarks/frame.py --against` another checkout)",
        prose(f"""
            A round (`act` and `observe`, one thread), and a round among a thousand that are opened
            and closed at once; each beside its time in another checkout, "before" (above 1: now is
            faster): the median of {report["settings"]["alternations"]} ratios, in processes that
            alternate. A round of `RunningSum` makes a release, during which signals wait.
        """),
        table(
            (
                "learner",
                "µs per round",
                "before / now",
                "µs per round in thousands",
                "before / now",
            ),
            _rounds(report),
        ),
        prose("""
            The first release and the size of the state (a ratio where a release takes at least 5
            ms; shorter ones vary by half on this machine):
        """),
        table(
            (
                "learner",
                *(f"T = {power(exponent)}" for exponent in HORIZONS.values()),
                "10⁹ over 10⁶",
            ),
            _releases(report),
        ),
        table(("claim", "measured"), _claims(report, equality)),
        source("frame", "equality"),
    )


def _rounds(report: Mapping[str, Any]) -> list[tuple[str, ...]]:
    single, many = report["microseconds_a_round"], report["microseconds_a_round_in_thousands"]
    before = report["old_over_new"] or {}
    before_many = report["old_over_new_in_thousands"] or {}
    return [
        (
            name,
            fixed(single[name], 1),
            fixed(before.get(name), 2),
            fixed(many[name], 2),
            fixed(before_many.get(name), 2),
        )
        for name in single
    ]


def _releases(report: Mapping[str, Any]) -> list[tuple[str, ...]]:
    times, state = report["release_milliseconds"], report["state_bytes"]
    growth = report["release_growth_1e9_over_1e6"]
    return [
        (
            name,
            *(f"{fixed(times[T][name], 2)} ms, {counted(state[T][name])} B" for T in HORIZONS),
            fixed(growth[name], 2),
        )
        for name in growth
    ]


def _claims(report: Mapping[str, Any], equality: Mapping[str, Any]) -> list[tuple[str, str]]:
    equal = equality["seeded_equal"]
    claims = [
        (
            "modes whose seeded decisions, draws, charges, scores and reports are equal in both "
            "checkouts",
            f"{sum(equal.values())} of {len(equal)} ({counted(equality['runs'])} runs, "
            f"{counted(equality['entries'])} entries)",
        ),
        (
            "largest cost over charge in the transcript audit",
            f"{fixed(report['audit_largest_cost_over_charge'], 6)} in "
            f"{counted(report['audit_pairs'])} "
            "pairs of streams",
        ),
        ("`import discreet`, besides NumPy", f"{fixed(1000 * report['import_seconds'], 1)} ms"),
    ]
    if report["old_over_new"]:
        least = [min(report[key].values()) for key in ("old_over_new", "old_over_new_in_thousands")]
        words = "before / now, the least: single rounds, rounds in thousands"
        claims.insert(0, (words, f"{fixed(least[0], 2)}, {fixed(least[1], 2)}"))
    return claims


def readability() -> str:
    """Return the section of counts in the source."""
    report = load("readability")
    checkouts = {name: report[name] for name in ("before", "now") if report[name]}
    rows = [(words, *(counted(found[key]) for found in checkouts.values())) for words, key in READ]
    shares = (f"{100 * found['docstring_share']:.1f} %" for found in checkouts.values())
    rows.append(("lines of docstrings, of all that are not blank", *shares))
    for call, words in CALLS.items():
        counts = (found["entered"][call] for found in checkouts.values())
        cells = (f"{count['files']} / {count['functions']}" for count in counts)
        rows.append(
            (f"files / functions that run in {words} of a `SetMaximizer` by clicks", *cells)
        )
    return blocks(
        "## How the source reads (`benchmarks/readability.py --against` another checkout)",
        table(("counted in `src/discreet`", *checkouts), rows),
        source("readability"),
    )


def mended() -> str:
    """Return the section of intervals, predictions and round times in use."""
    report = load("mended")
    coverage, bias = report["coverage_of_95"], report["prediction_bias"]
    return blocks(
        "## Intervals, predictions and limits in use (`benchmarks/mended.py`)",
        prose("""
            Share of true coefficients inside their 95 % interval: 4 features, 30,000 samples, noise
            0.1, δ = 10⁻⁶; 300 worlds per cell, four intervals each. In "correlated" two features
            have correlation 0.95. The constants behind the errors of streams were chosen while
            looking at these two kinds of worlds, on other seeds. A share above 0.95 means that
            intervals are wider than they have to be: released values cannot exclude slopes that are
            shared with a direction of which little is known.
        """),
        table(
            ("world", *(f"ε = {epsilon}, stream / fit" for epsilon in coverage["plain"])),
            [
                (
                    world,
                    *(f"{fixed(cell['stream'])} / {fixed(cell['fit'])}" for cell in cells.values()),
                )
                for world, cells in coverage.items()
            ],
        ),
        prose("""
            The predicted reward of the arm that is chosen, minus the true one ("by weights":
            without the shrinking of scores), ε = 1, mean of eight seeds:
        """),
        table(
            ("world", "5,000 people: by weights → shown", "20,000 people"),
            [(world, *map(_shrunk, cells.values())) for world, cells in bias.items()],
        ),
        table(("claim", "measured"), _limits(report)),
        source("mended"),
    )


def _shrunk(cell: Mapping[str, float]) -> str:
    return f"{fixed(cell['by_weights'])} → {fixed(cell['shown'])}"


def _limits(report: Mapping[str, Any]) -> list[tuple[str, str]]:
    masked = report["other_masked_rounds_over_plain"]
    pairs = report["audit_pairs_to_catch"]
    slowest = max(pairs, key=lambda name: pairs[name])
    others = max(count for name, count in pairs.items() if name != slowest)
    caught, missed = report["audit_weakened"]["caught"], report["audit_weakened"]["missed"]
    return [
        (
            "a round with a mask over a plain one, 100 items, clicks (rewards, single costs, arms)",
            f"{fixed(report['masked_round_over_plain'], 2)} "
            f"({', '.join(fixed(masked[name], 2) for name in ('rewards', 'costs', 'arms'))})",
        ),
        (
            "rows per second with text labels over those with numbers, 10⁶ rounds, 5 slots",
            fixed(report["bulk_with_labels_over_without"], 2),
        ),
        (
            "10⁴ answers one by one in random order, over 2·10³",
            fixed(report["answers_one_by_one_1e4_seconds_over_2e3"], 1),
        ),
        (
            "a checkpoint with 16,000 rounds open, over one with 100",
            fixed(report["checkpoint_16000_open_over_100"], 1),
        ),
        ("weakened copies that the audit catches", f"{len(caught)} of {len(caught) + len(missed)}"),
        (
            "pairs until a sensitivity understated by 1.3 is caught, at most",
            f"{pairs[slowest]} (`{slowest}`; all others {others} or fewer)",
        ),
    ]
