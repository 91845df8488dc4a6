"""The sections of slates: shares of value, warm starts from logs, and returning people."""

from collections.abc import Mapping
from typing import Any

from pages.text import (
    blocks,
    counted,
    fixed,
    interval,
    load,
    power,
    prose,
    significant,
    source,
    table,
    with_error,
)

CASES = (
    ("whole preferences, drifting", 4, "drifting_full_1e4"),
    ("whole preferences, drifting", 5, "drifting_full_1e5"),
    ("– noise off", 5, "drifting_full_1e5_noise_off"),
    ("whole preferences, i.i.d.", 4, "iid_full_1e4"),
    ("whole preferences, i.i.d.", 5, "iid_full_1e5"),
    ("– noise off", 5, "iid_full_1e5_noise_off"),
    ("– private greedy once, on the first 2 %", 5, "one_shot_full_1e5"),
    ("clicks, i.i.d.", 5, "clicks_iid_1e5"),
    ("clicks, i.i.d.", 6, "clicks_iid_1e6"),
    ("clicks, drifting", 6, "clicks_drifting_1e6"),
    ("rewards, i.i.d.", 6, "iid_bandit_1e6"),
    ("rewards, drifting", 6, "drifting_bandit_1e6"),
    ("– noise off", 6, "drifting_bandit_1e6_noise_off"),
    ("preferences replaced halfway, rewards, drifting", 6, "drifting_bandit_exchanged_1e6"),
    ("preferences replaced halfway, clicks, drifting", 6, "clicks_drifting_exchanged_1e6"),
    ("click rates of a real shop, 3 slots, i.i.d.", 5, "clicks_low_rate_1e5"),
    ("click rates of a real shop, 3 slots, i.i.d.", 6, "clicks_low_rate_1e6"),
    ("very flat worlds (100 types, 4 favourites), clicks, i.i.d.", 6, "clicks_flat_1e6"),
)
LOGS = (
    ("clicks, no log", "none"),
    ("clicks, 2·10⁴ uniform slates", "uniform_2e4"),
    ("clicks, 10⁵ uniform slates", "uniform_1e5"),
    ("clicks, 2·10⁴, favourites", "favourites_2e4"),
    ("clicks, 10⁵, favourites", "favourites_1e5"),
    ("rewards, no log", "rewards_none"),
    ("rewards, 2·10⁴ uniform slates", "rewards_uniform_2e4"),
    ("rewards, 10⁵ uniform slates", "rewards_uniform_1e5"),
    ("rewards, 10⁵, favourites", "rewards_favourites_1e5"),
)
TITLE_WAYS = {
    "epsilon_1": "ε = 1, i.i.d.",
    "epsilon_1_drifting": "ε = 1, drifting",
    "epsilon_0.3": "ε = 0.3, i.i.d.",
    "noise_off": "noise off, i.i.d.",
}


def display() -> str:
    """Return the section of `SetMaximizer`."""
    report = load("display")
    shares = report["share"]
    rows = [(case, power(visitors), with_error(shares[key])) for case, visitors, key in CASES]
    times = report["microseconds_a_round"]
    claims = [
        ("10⁶ visitors through `replay`, over a plain NumPy loop, times as fast",
         fixed(report["speedup_over_numpy_loop"], 0)),
        ("median round of the bandit at 10⁶ items over that at 100",
         fixed(report["bandit_round_1e6_items_over_1e2"], 2)),
        ("exponent of T in the default's regret (95 % interval), 3·10³ to 3·10⁵ visitors",
         interval(report["regret_slope_drifting_full"])),
        ("median round of clicks or rewards, `act` and `observe`, while screening, µs",
         _range(times, "_screening")),
        ("– while exchanging", _range(times, "_exchanging")),
    ]  # fmt: skip
    return blocks(
        "## Which items to show (`benchmarks/display.py`)",
        prose("""
            100 items, 5 slots, 20 visitor types, ε = 1, δ = 10⁻⁶. Share of what greedy in hindsight
            gains over random slates, burn-in counted: mean ± standard deviation over twelve worlds
            (shops: 48) that nothing was tuned on; defaults were chosen on the worlds 0 to 29.
            "Noise off" is the same learner with the same schedule at ε = 10⁴. Shares of exchanged
            worlds exceed 1 because 1 is the best fixed slate.
        """),
        table(("feedback, stream", "visitors", "share ± sd"), rows),
        table(("claim", "measured"), claims),
        source("display"),
    )


def _range(times: Mapping[str, float], ending: str) -> str:
    found = [value for name, value in times.items() if name.endswith(ending)]
    return f"{fixed(min(found), 0)} to {fixed(max(found), 0)}"


def movielens() -> str:
    """Return the section of `SetMaximizer` on real ratings."""
    report = load("movielens")
    settings, share = report["settings"], report["share"]
    return blocks(
        "## Titles of MovieLens (`benchmarks/movielens.py --movielens` the file u.data)",
        prose(f"""
            {counted(settings["users"])} users, {counted(settings["titles"])} titles,
            {counted(settings["liked"])} ratings of 4 or 5. A visitor has the ratings of a random
            user, looks at a slate of {settings["slots"]} from its first title on, and clicks a
            title that this user rated 4 or 5 with probability ½. Every visit counts as another
            person, although the same user is drawn many times. Share of what greedy in hindsight
            gains over random slates, the first rounds included, δ = 10⁻⁶: mean ± standard error
            over draws of the catalogue and the visitors, on which nothing was tuned. Thompson
            sampling is MABWiser's, per title; it is not private and sees the same clicks. "Noise
            off" is ε = 10⁴: what it loses is lost by the schedule. The ratings are not part of the
            repository.
        """),
        table(
            ("titles", "visitors", "draws", "Thompson sampling", *TITLE_WAYS.values()),
            [
                (
                    counted(found["titles"]),
                    counted(found["visitors"]),
                    str(found["seeds"]),
                    with_error(share[name]["thompson"]),
                    *(with_error(share[name][way]) for way in TITLE_WAYS),
                )
                for name, found in settings["catalogues"].items()
            ],
        ),
        source("movielens"),
    )


def warm() -> str:
    """Return the section of logs that are read before the first visitor."""
    report = load("warm")
    rows = [
        (log, *(with_error(report[key][part]) for part in ("first", "later", "all")))
        for log, key in LOGS
    ]
    return blocks(
        "## Logs that teach (`benchmarks/warm.py`)",
        prose("""
            Share of the value, 10⁵ visitors (100 items, 5 slots, i.i.d., ε = 1, δ = 10⁻⁶) after a
            log of another policy: mean ± standard deviation over 24 worlds that nothing was tuned
            on. "Favourites": every second slate of the log is one of ten good ones, with the
            probability of every place in a column.
        """),
        table(("log", "first 2·10⁴ visitors", "the rest", "all"), rows),
        source("warm"),
    )


def returning() -> str:
    """Return the section of people with several rounds."""
    report = load("returning")
    return blocks(
        "## People who come back (`benchmarks/returning.py`)",
        prose(f"""
            ε = 1, δ = 10⁻⁶, c contributions; mean ± standard error over {report["seeds"]} seeds.
            Plain: rounds do not name their person. Keyed: rounds do (`keyed=True`). Uneven: some
            people come often. Even: each person comes c times, which is the worst case for keys,
            since only one round per person and block counts. Shares: higher is better; errors and
            noise: lower is better.
        """),
        table(("measure", "c", "plain", "keyed"), _returning_rows(report)),
        source("returning"),
    )


def _returning_rows(report: Mapping[str, Any]) -> list[tuple[str, ...]]:
    words = {
        "noise": "standard deviation of the last total, 20 numbers",
        "share": "share of value, sets, i.i.d.",
        "excess": "excess error of many passes",
    }
    rows = []
    for key, pair in report.items():
        measure, *details = key.split(", ")
        if measure not in words:
            continue
        numbers = dict(detail.split("=") for detail in details if "=" in detail)
        where = [detail for detail in details if "=" not in detail]
        where += [f"T = {numbers['T']}"] if "T" in numbers else [f"{numbers['R']} totals"]
        rows.append((", ".join([words[measure], *where]), numbers["c"], *map(_either, pair)))
    return rows


def _either(value: Any) -> str:
    if isinstance(value, float):
        return fixed(value, 0)
    mean, error = value
    return (
        f"{significant(mean)} ± {significant(error, 1)}"
        if mean < 0.5
        else f"{mean:.3f} ± {error:.3f}"
    )
