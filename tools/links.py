"""Check the links of all pages: every file and every heading that a link names must exist.

    python tools/links.py           links of the Markdown pages
    python tools/links.py site      links of the HTML pages that `make docs` has built

Addresses on the web are not fetched. Pages in docs/ link pages in docs/ only, because the site has
no other files.
"""

import re
import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

REPOSITORY = Path(__file__).resolve().parent.parent
DOCS = REPOSITORY / "docs"
FENCE = re.compile(r"^(```+|~~~+).*?^\1\s*$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)")
HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*$", re.MULTILINE)
SNIPPET = re.compile(r'^--8<-- "([^"]+)"$', re.MULTILINE)


class Link(NamedTuple):
    """A link: the page that it stands on, and the address as written."""

    page: Path
    address: str


def pages() -> list[Path]:
    """Return all Markdown pages of the repository: those of the root, of docs/ and of results."""
    results = REPOSITORY / "benchmarks" / "RESULTS.md"
    return [*sorted(REPOSITORY.glob("*.md")), *sorted(DOCS.rglob("*.md")), results]


@cache
def prose_of(page: Path) -> str:
    """Return a page without its code blocks, with the text of the files that it includes."""
    text = SNIPPET.sub(
        lambda match: (REPOSITORY / match[1]).read_text(encoding="utf-8"),
        page.read_text(encoding="utf-8"),
    )
    return FENCE.sub("", text)


def links_on(page: Path) -> list[Link]:
    """Return the links of a page; code in backticks has none."""
    prose = re.sub(r"`[^`\n]+`", "code", prose_of(page))
    return [Link(page, address) for address in LINK.findall(prose)]


@cache
def anchors_on(page: Path) -> set[str]:
    """Return the anchors of the headings of a page, as forges and the site's generator form them.

    A heading that stands on its page before gets a number.
    """
    anchors: set[str] = set()
    for heading in HEADING.findall(prose_of(page)):
        words = re.sub(r"[*`]|\]\([^)]*\)|!?\[", "", heading)
        slug = re.sub(r"[^\w\- ]", "", words).strip().lower().replace(" ", "-")
        number = 1
        anchor = slug
        while anchor in anchors:
            anchor = f"{slug}_{number}"
            number += 1
        anchors.add(anchor)
    return anchors


def fault_of(link: Link) -> str | None:
    """Return the reason why a link of a Markdown page leads nowhere; None if it does not."""
    address = urlsplit(link.address)
    if address.scheme or address.netloc:
        return None
    target = link.page
    if address.path:
        target = (link.page.parent / unquote(address.path)).resolve()
        if link.page.is_relative_to(DOCS) and not target.is_relative_to(DOCS):
            return "leads out of docs/: write the path as code"
        if not target.exists():
            return "no such file"
    is_page = target.suffix == ".md"
    is_reference = is_page and ":::" in target.read_text(encoding="utf-8")
    is_checked = bool(address.fragment) and is_page and not is_reference
    if is_checked and unquote(address.fragment) not in anchors_on(target):
        return "no such heading"
    return None


class _Reader(HTMLParser):
    """Collects the anchors and the links of an HTML page."""

    def __init__(self) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the attributes that name an anchor or an address."""
        for name, value in attrs:
            if value and name in ("id", "name"):
                self.anchors.add(value)
            if value and name in ("href", "src"):
                self.addresses.append(value)


@cache
def _read(page: Path) -> _Reader:
    reader = _Reader()
    reader.feed(page.read_text(encoding="utf-8"))
    return reader


def broken_on_site(site: Path) -> Iterator[str]:
    """Yield the links of built pages that lead nowhere, each with its reason."""
    for page in sorted(site.rglob("*.html")):
        if page.name == "404.html":
            continue  # its links are relative to wherever the reader was
        for written in _read(page).addresses:
            address = urlsplit(written)
            if address.scheme or address.netloc:
                continue
            target = (page.parent / unquote(address.path)).resolve() if address.path else page
            target = target / "index.html" if target.is_dir() else target
            anchor = unquote(address.fragment) if target.suffix == ".html" else ""
            where = f"{page.relative_to(site)}: {written}"
            if not target.exists():
                yield f"{where}: no such file"
            elif anchor and anchor not in _read(target).anchors:
                yield f"{where}: no such anchor"


def broken() -> Iterator[str]:
    """Yield the links of Markdown pages that lead nowhere, each with its reason."""
    for page in pages():
        for link in links_on(page):
            fault = fault_of(link)
            if fault is not None:
                yield f"{page.relative_to(REPOSITORY)}: {link.address}: {fault}"


def main() -> None:
    """Print all broken links; end with exit code 1 if there are any."""
    site = [Path(name).resolve() for name in sys.argv[1:]]
    found = [fault for folder in site for fault in broken_on_site(folder)]
    if not site:
        found = list(broken())
    print(*found, f"{len(found)} broken links", sep="\n")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
