"""If these fail, a page names a proof or a file that does not exist, or its examples do not run."""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import typer
from typer.core import TyperGroup

import discreet
import links
from discreet.cli import app

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
        pages |= set(re.findall(r'\bPromise\(\s*"(\w+\.md)"', path.read_text()))
    assert len(pages) >= 4
    assert all((REPOSITORY / "docs" / "guarantees" / page).exists() for page in pages)


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


# --- pages

EXAMPLES = REPOSITORY / "examples"
RUNNER = Path(__file__).with_name("run_page.py")
PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]
RUNNING = [page for page in PAGES if ">>> " in page.read_text()]
FENCED = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)


def titled(page: Path) -> str:
    return page.relative_to(REPOSITORY).with_suffix("").as_posix()


def blocks_of(page: Path, language: str) -> list[str]:
    """Return the code blocks of a page in a language."""
    return [text for kind, text in FENCED.findall(page.read_text()) if kind == language]


def test_every_link_leads_somewhere() -> None:
    assert not list(links.broken())


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A head\n\n## Words, `code` and ε\n\n```\n[not](a-link.md)\n```\n")
    faults = {
        "#words-code-and-ε": None,
        "page.md#a-head": None,
        "https://example.org/anything": None,
        "#nowhere": "no such heading",
        "other.md": "no such file",
    }
    assert {address: links.fault_of(links.Link(page, address)) for address in faults} == faults
    assert not links.links_on(page)


def test_a_link_of_a_built_page_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    (tmp_path / "guide").mkdir()
    (tmp_path / "guide" / "index.html").write_text('<h1 id="head">A</h1><a href="../gone/">B</a>')
    (tmp_path / "index.html").write_text(
        '<a href="guide/#head">1</a><a href="guide/#tail">2</a><a href="https://example.org">3</a>'
    )
    assert list(links.broken_on_site(tmp_path)) == [
        "guide/index.html: ../gone/: no such file",
        "index.html: guide/#tail: no such anchor",
    ]


def test_a_page_of_the_site_links_no_file_that_the_site_lacks() -> None:
    page = links.DOCS / "guides" / "shop.md"
    fault = links.fault_of(links.Link(page, "../../README.md"))
    assert fault == "leads out of docs/: write the path as code"


def test_the_navigation_has_every_page_once() -> None:
    navigation = (REPOSITORY / "mkdocs.yml").read_text().split("\nnav:", 1)[1].split("\n\n", 1)[0]
    named = re.findall(r"([\w/]+\.md)$", navigation, re.MULTILINE)
    pages = [page.relative_to(links.DOCS).as_posix() for page in links.DOCS.rglob("*.md")]
    assert sorted(named) == sorted(pages)


@pytest.mark.parametrize("page", RUNNING, ids=titled)
def test_the_examples_of_a_page_run(page: Path, tmp_path: Path) -> None:
    """Every page has a process of its own, as its reader has, who finds `examples/` too."""
    command = [sys.executable, "-W", "error", str(RUNNER), str(page)]
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(EXAMPLES), *sys.path])}
    ran = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


def test_python_without_prompts_is_quoted_from_an_example() -> None:
    """Such a block is shown, but does not run; the scripts of `examples/` run in the tests.

    Blocks with prompts are `pycon`: the copy button leaves prompts and results out.
    """
    scripts = [
        {line.partition("  #")[0] for line in path.read_text().splitlines()}
        for path in EXAMPLES.glob("*.py")
    ]
    for page in PAGES:
        for block in blocks_of(page, "python"):
            lines = {line for line in block.splitlines() if line}
            assert any(lines <= script for script in scripts), titled(page)
        assert all(block.startswith(">>> ") for block in blocks_of(page, "pycon")), titled(page)


COMMANDS = [
    (titled(page), line.partition("#")[0].strip())
    for page in PAGES
    for language in ("sh", "bash", "shell", "console")
    for block in blocks_of(page, language)
    for line in block.replace("\\\n", " ").splitlines()
    if line.partition("#")[0].strip()
]


@pytest.mark.parametrize(("page", "line"), COMMANDS)
def test_a_command_on_a_page_is_one_that_exists(page: str, line: str) -> None:
    for part in line.split("&&"):
        words = shlex.split(part.partition(" > ")[0])
        if words[:3] == ["python", "-m", "discreet"]:
            words = words[2:]
        if words[0] == "discreet":
            parse(words[1:])
        elif words[0] == "make":
            makefile = (REPOSITORY / "Makefile").read_text()
            assert all(f"\n{target}:" in makefile for target in words[1:] if "=" not in target)
        elif "pip" in words:
            extras = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
            for named in re.findall(r"\[([\w,]+)\]", part):
                assert set(named.split(",")) <= extras["optional-dependencies"].keys()
        elif words[0] == "python":
            assert (REPOSITORY / words[1]).exists()
        else:
            assert words[0] in ("git", "cd", "pre-commit"), f"{page}: unknown command {words[0]}"


def parse(words: list[str]) -> None:
    """Parse a command of ours as the command line does, without running it."""
    command = typer.main.get_command(app)
    while isinstance(command, TyperGroup) and words and not words[0].startswith("-"):
        assert words[0] in command.commands, f"there is no command {words[0]}"
        command, words = command.commands[words[0]], words[1:]
    if words not in (["--version"], ["--help"]):
        command.make_context("discreet", list(words))
