"""The section of tables."""

from collections.abc import Mapping

from pages.text import blocks, counted, fixed, joined, load, prose, significant, source, table


def tables() -> str:
    """Return the section of tables and columns."""
    report = load("tables")
    speed = report["arrow_over_numpy"]
    rows = report["settings"]["rows"]
    alike = "give the same coefficients, bit for bit" if report["equal"] else "DIFFER"
    return blocks(
        "## Tables (`benchmarks/tables.py`)",
        prose(f"""
            {joined(report["kinds"])} of the same 50,000 rows of 20 numbers {alike}.

            Rows per second for {counted(rows)} rows of 20 numbers: an Arrow stream over the same
            array, in a `StreamingLearner`, {significant(speed["as_it_is"])} as it is and
            {significant(speed["scaled"])} with bounds, by which the stream is scaled; a CSV file,
            every line parsed alone, over `polars.read_csv`,
            {significant(report["csv_over_polars"])}.

            Peak memory of a process that learns from a file of 20 features, above that after its
            imports, in MB. The Parquet files have row groups of 2²⁰ rows.
        """),
        table(
            ("file", f"{counted(rows)} rows", f"{counted(10 * rows)} rows", "ratio"),
            [
                (
                    kind,
                    fixed(report["megabytes_1e6_rows"][kind], 0),
                    fixed(megabytes, 0),
                    fixed(report["megabytes_1e7_over_1e6"][kind], 2),
                )
                for kind, megabytes in report["megabytes_1e7_rows"].items()
            ],
        ),
        prose(f"""
            Diamonds ({counted(report["diamonds_rows"])} real prices) with cut, color and clarity as
            categories, ε = 1, δ = 10⁻⁶: R² on a held-out fifth over that of least squares with the
            same columns, predictions clipped to the range of prices; mean, sd and least of as many
            random splits as the file says.
        """),
        table(
            ("way", "mean", "sd", "least"),
            [
                _shares("`fit`, many passes and one release", report["diamonds_r2_fit"]),
                _shares("`discreet run`, a stream", report["diamonds_r2_run"]),
                _shares(
                    '`discreet run` with `method = "passes"`, one release at the end',
                    report["diamonds_r2_run_passes"],
                ),
            ],
        ),
        source("tables"),
    )


def _shares(name: str, found: Mapping[str, float]) -> tuple[str, ...]:
    return (name, fixed(found["mean"]), fixed(found["sd"]), fixed(found["least"]))
