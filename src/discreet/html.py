"""Blocks of HTML for notebooks and pages: a block with a title, facts, tables.

Every text is escaped, unless it is `Html` already. The look is in CSS classes, all under
`.discreet-block`; a block takes the colour of the page's text.
"""

from collections.abc import Iterable, Sequence

from discreet import svg
from discreet.texts import escaped, number_text

STYLE = """
.discreet-block{border-left:4px solid #2a80c5;padding:.2em 0 .2em 1em;margin:.4em 0;
max-width:54em;line-height:1.45;font-size:13px}
.discreet-block.warns{border-color:#d1453b}
.discreet-block p{margin:.35em 0}
.discreet-block .title{font-size:15px;font-weight:600}
.discreet-block .warning{color:#d1453b;font-weight:600}
.discreet-block .quiet{opacity:.75}
.discreet-block .label{border:1px solid #8888;border-radius:4px;padding:0 .45em;
margin:0 .3em .2em 0;display:inline-block}
.discreet-block svg{vertical-align:middle;margin-right:.5em}
.discreet-block table{border-collapse:collapse;table-layout:auto;font-size:13px;margin:.4em 0}
.discreet-block.discreet-block tr{background:none}
.discreet-block.discreet-block th,.discreet-block.discreet-block td{
text-align:left;vertical-align:top;padding:.2em 1.2em .2em 0;border:0;
border-bottom:1px solid #8883;white-space:normal;max-width:44em}
.discreet-block.discreet-block th{font-weight:600;white-space:nowrap}
.discreet-block.discreet-block .number{text-align:right;font-variant-numeric:tabular-nums}
.discreet-block details{margin:.35em 0}
.discreet-block summary{cursor:pointer}
""".replace("\n", "")
"""The look of blocks; its colours suit light and dark pages.

The class stands twice where Jupyter has a rule of its own, which would win otherwise.
"""

MOST_ROWS = 50
"""The largest number of rows of a table; a line below it counts the others."""


class Html(str):
    """A text that is HTML already, and is not escaped again."""

    __slots__ = ()


def block(*parts: object, title: str = "", warning: str = "") -> str:
    """Return a block with a title and parts below it; a warning stands out.

    >>> page = block("none yet", title="Scores of <tea>")
    >>> "Scores of &lt;tea&gt;" in page, "<p>none yet</p>" in page
    (True, True)
    """
    kind = "discreet-block warns" if warning else "discreet-block"
    shown = [paragraph(title, "title"), paragraph(warning, "warning"), *map(_part, parts)]
    return f'<div class="{kind}"><style>{STYLE}</style>{"".join(shown)}</div>'


def paragraph(text: object, kind: str = "") -> Html:
    """Return a paragraph; nothing for an empty text."""
    if not text:
        return Html()
    named = f' class="{kind}"' if kind else ""
    return Html(f"<p{named}>{_content(text)}</p>")


def facts(rows: Iterable[tuple[str, object]]) -> Html:
    """Return a table with a name and a value per row; nothing without rows."""
    body = "".join(
        f'<tr><th scope="row">{_content(name)}</th><td>{_content(value)}</td></tr>'
        for name, value in rows
    )
    return Html(f"<table>{body}</table>" if body else "")


def table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> Html:
    """Return a table with at most `MOST_ROWS` of the rows; nothing without rows.

    Numbers are aligned right.
    """
    if not rows:
        return Html()
    head = "".join(f'<th scope="col">{_content(column)}</th>' for column in columns)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows[:MOST_ROWS])
    more = f"and {len(rows) - MOST_ROWS:,} more rows" if len(rows) > MOST_ROWS else ""
    return Html(
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        f"{paragraph(more, 'quiet')}"
    )


def labels(names: Sequence[object], most: int = 40) -> Html:
    """Return names one beside the other; of many the first ones, and the number of all."""
    shown = [f'<span class="label">{_content(name)}</span>' for name in names[:most]]
    if len(names) > most:
        shown.append(f"… {len(names):,} in all")
    return Html("".join(shown))


def folded(summary: str, *parts: object) -> Html:
    """Return parts that open when a reader clicks the summary."""
    shown = "".join(map(_part, parts))
    return Html(f"<details><summary>{_content(summary)}</summary>{shown}</details>")


def metered(share: float, text: str) -> Html:
    """Return a bar that is filled up to a share, and its text."""
    return Html(svg.meter(share, text) + escaped(text))


def _part(part: object) -> str:
    """A part of a block: HTML as it is, a text as a paragraph."""
    return part if isinstance(part, Html) else paragraph(part)


def _content(value: object) -> str:
    return value if isinstance(value, Html) else escaped(value)


def _cell(value: object) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        shown = f"{value:,}" if isinstance(value, int) else number_text(value)
        return f'<td class="number">{shown}</td>'
    return f"<td>{_content(value)}</td>"
