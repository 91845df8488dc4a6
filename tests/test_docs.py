"""If these fail, a page names a proof or a file that does not exist, or its examples do not run."""

import doctest
import re
from pathlib import Path

import pytest

import discreet

pytestmark = pytest.mark.docs

SOURCE = Path(discreet.__file__).parent
REPOSITORY = SOURCE.parent.parent
FILES = sorted(SOURCE.rglob("*.py"))


def named(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def test_every_proof_that_a_docstring_names_exists() -> None:
    missing = []
    for path in FILES:
        for page in re.findall(r"docs/guarantees/\w+\.md", path.read_text()):
            if not (REPOSITORY / page).exists():
                missing.append(f"{named(path)} names {page}")
    assert not missing


def test_every_theorem_that_a_docstring_names_is_on_its_page() -> None:
    missing = []
    for path in FILES:
        text = re.sub(r"\n\s+", " ", path.read_text())
        for page, rest in re.findall(
            r"(docs/guarantees/\w+\.md)((?:, | \()(?:Theorem|Lemma)[^.\"]*)", text
        ):
            if not (REPOSITORY / page).exists():
                continue  # the test above reports it
            proof = (REPOSITORY / page).read_text()
            for kind, numbers in re.findall(
                r"(Theorem|Lemma)s? ((?:\d+(?:, | and | to )?)+)", rest.split("docs/")[0]
            ):
                for number in re.findall(r"\d+", numbers):
                    if not re.search(rf"\*\*{kind} {number}\b", proof):
                        missing.append(f"{named(path)}: {page} has no {kind} {number}")
    assert not missing


def test_every_guarantee_names_a_page() -> None:
    """The proof that a learner's guarantee prints is a page."""
    pages = set()
    for path in FILES:
        pages |= set(re.findall(r'^    proof = "(\w+\.md)"', path.read_text(), re.MULTILINE))
    assert len(pages) >= 4
    assert all((REPOSITORY / "docs" / "guarantees" / page).exists() for page in pages)


def test_the_examples_in_the_readme_run() -> None:
    readme = str(REPOSITORY / "README.md")
    failures, tried = doctest.testfile(readme, module_relative=False, optionflags=doctest.ELLIPSIS)
    assert tried > 3
    assert not failures


KINDS = ["Changed", "Added", "Deprecated", "Removed", "Fixed", "Security"]


def test_the_changelog_has_dated_versions_and_breaking_changes_first() -> None:
    versions = (REPOSITORY / "CHANGELOG.md").read_text().split("\n## ")[1:]
    heads = [version.splitlines()[0] for version in versions]
    assert heads[0] == "[Unreleased]"
    assert all(re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", head) for head in heads[1:])
    for version in versions:
        sections = version.split("\n### ")[1:]
        kinds = [section.splitlines()[0] for section in sections]
        assert kinds == [kind for kind in KINDS if kind in kinds], version.splitlines()[0]
        for section in sections:
            breaking = [entry.startswith("**Breaking**") for entry in section.split("\n- ")[1:]]
            assert breaking == sorted(breaking, reverse=True), section[:60]


PAGES = sorted((REPOSITORY / "docs").rglob("*.md"))
RUNNING = [page for page in PAGES if ">>> " in page.read_text()]


@pytest.mark.parametrize("page", RUNNING, ids=lambda page: page.stem)
def test_the_examples_of_a_page_run(page: Path) -> None:
    failures, tried = doctest.testfile(
        str(page), module_relative=False, optionflags=doctest.ELLIPSIS
    )
    assert tried > 3
    assert not failures
