"""Numbers and names as people read them in pictures and pages: rounded, shortened, escaped."""

import re
from html import escape
from math import floor, isfinite, log10
from unicodedata import east_asian_width

HUGE = 1e300
"""Numbers from here on count as unknown: differences of them would overflow."""
MOST_LETTERS = 32
"""Longer names are cut."""
FORBIDDEN = re.compile(
    r"[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"  # not in XML
    r"|[\u202a-\u202e\u2066-\u2069]"  # reverses the order of the text around it
)
"""Characters that must not stand in a page."""


def escaped(text: object) -> str:
    """Return a text for XML and HTML; a character that must not stand there becomes a mark.

    >>> escaped("<b>tea & milk"), escaped("bell" + chr(7))
    ('&lt;b&gt;tea &amp; milk', 'bell�')
    """
    return escape(FORBIDDEN.sub("�", str(text)))


def shortened(text: object, most: int = MOST_LETTERS) -> str:
    """Return a text of at most `most` letters.

    >>> shortened("a very long name", 8)
    'a very …'
    """
    text = str(text)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def letters(text: str) -> int:
    """Return the width of a text in letters; those of East Asia are twice as wide.

    >>> letters("tea"), letters("お茶")
    (3, 4)
    """
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def is_known(number: float) -> bool:
    """Return whether a number is finite, and small enough to be drawn."""
    return isfinite(number) and abs(number) < HUGE


def number_text(number: float, error: float | None = None, *, percent: bool = False) -> str:
    """Return a number with three digits, or with its error if that is known.

    >>> number_text(12345.6), number_text(0.123456, percent=True), number_text(-0.5, 0.0312)
    ('12,346', '12.3 %', '−0.500 ± 0.031')
    """
    if not is_known(number):
        return "unknown"
    unit = 100 if percent else 1
    if error is None or not is_known(error) or error <= 0:
        return _three_digits(unit * number) + " %" * percent
    decimals = 1 - floor(log10(unit * error))
    texts = [with_decimals(unit * one, decimals) for one in (number, error)]
    return " ± ".join(texts) + " %" * percent


def _three_digits(number: float) -> str:
    """The number with three digits; a whole number without decimals."""
    is_whole = abs(number) < 1e12 and number == round(number)
    return with_decimals(number, 0 if is_whole else 2 - floor(log10(abs(number))))


def with_decimals(number: float, decimals: int) -> str:
    """Return a number with this many decimals; a very large or small one with a power of ten.

    >>> with_decimals(1234.5, 0), with_decimals(-0.25, 1), with_decimals(2.5e-7, 8)
    ('1,234', '−0.2', '2.5e-07')
    """
    is_extreme = abs(number) >= 1e12 or (decimals > 6 and number != 0)
    text = f"{number:.3g}" if is_extreme else f"{number:,.{min(max(decimals, 0), 6)}f}"
    is_zero = not text.strip("-0.")
    return text.lstrip("-") if is_zero else text.replace("-", "−", 1) if text[0] == "-" else text


def percent(share: float, decimals: int = 1) -> str:
    """Return a share as a percentage with this many decimals.

    >>> percent(0.1234), percent(-0.5, 0), percent(-1e-9, 0)
    ('12.3 %', '−50 %', '0 %')
    """
    return f"{with_decimals(100 * share, decimals)} %"
