"""If these fail, someone installs a wheel that lacks something, or that names another version."""

import os
import re
import shutil
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import check_release
import discreet
from discreet.runs.doctor import EXTRAS

REPOSITORY = Path(__file__).parent.parent
PROJECT = (REPOSITORY / "pyproject.toml").read_text()
OPTIONAL = tomllib.loads(PROJECT)["project"]["optional-dependencies"]
TRACKED = {
    "docs/guarantees/sums.md",
    "docs/index.md",
    "examples/poll.py",
    "src/discreet/__init__.py",
    "src/discreet/guarantees",
    "src/discreet/py.typed",
    "tests/test_release.py",
}
WHEEL = ["discreet/__init__.py", "discreet/guarantees/sums.md", "discreet/py.typed"]
BESIDE = ["discreet-0.6.0.dist-info/METADATA"]


# --- versions -------------------------------------------------------------------------------------


def test_the_citation_names_this_version() -> None:
    citation = (REPOSITORY / "CITATION.cff").read_text()
    assert f"\nversion: {discreet.__version__}\n" in citation


def test_the_changelog_describes_this_version() -> None:
    """Its newest section is this version, or says what this version will be."""
    unreleased, newest, *_ = (REPOSITORY / "CHANGELOG.md").read_text().split("\n## ")[1:]
    coming = re.findall(r"^Version (\d+\.\d+\.\d+): ", unreleased, re.MULTILINE)
    assert (coming or re.findall(r"^\[(.*?)\]", newest)) == [discreet.__version__]


# --- extras ---------------------------------------------------------------------------------------


def packages_of(extra: str) -> set[str]:
    """Return the packages of an extra, and of the extras that it names."""
    packages: set[str] = set()
    for requirement in map(Requirement, OPTIONAL[extra]):
        inner = requirement.extras
        packages |= set().union(*map(packages_of, inner)) if inner else {requirement.name}
    return packages


def test_all_has_the_packages_of_every_other_extra() -> None:
    others = OPTIONAL.keys() - {"all", "dev"}
    assert packages_of("all") == set().union(*map(packages_of, others))
    assert packages_of("all") <= packages_of("dev")


def test_the_doctor_knows_the_packages_of_every_extra() -> None:
    imported = {"scikit-learn": "sklearn", "dp-accounting": "dp_accounting"}
    assert OPTIONAL.keys() - {"all", "dev"} == EXTRAS.keys()
    for extra, packages in EXTRAS.items():
        assert {imported.get(name, name) for name in packages_of(extra)} == set(packages)


def test_every_extra_says_what_it_brings() -> None:
    for extra in OPTIONAL:
        assert re.search(rf"^# .*\.\n{extra} = \[", PROJECT, re.MULTILINE), extra


@pytest.mark.parametrize(("command", "line"), check_release.WITHOUT_EXTRAS)
def test_a_missing_extra_is_named_in_one_clear_line(
    command: list[str], line: str, tmp_path: Path
) -> None:
    packages = [package for extra in EXTRAS.values() for package in extra]
    (tmp_path / "sitecustomize.py").write_text(
        f"import sys\nsys.modules.update(dict.fromkeys({packages}))\n"
    )
    paths = [str(tmp_path), str(Path(discreet.__file__).parent.parent)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    start = {
        "python": [sys.executable],
        "discreet": [sys.executable, "-c", "from discreet.cli import main; main()"],
    }
    program = [*start[command[0]], *command[1:]]
    check_release.check_missing(program, line, cwd=tmp_path, environment=environment)


# --- contents -------------------------------------------------------------------------------------


def test_a_complete_wheel_passes() -> None:
    check_release.check_wheel([*WHEEL, *BESIDE], TRACKED)


@pytest.mark.parametrize("name", WHEEL)
def test_a_wheel_that_lacks_a_module_a_proof_or_the_types_is_refused(name: str) -> None:
    held = [other for other in WHEEL if other != name]
    with pytest.raises(check_release.Refused, match=f"^the wheel lacks {name}$"):
        check_release.check_wheel(held, TRACKED)


@pytest.mark.parametrize("name", ["tests/test_release.py", "discreet/old.py", "build/lib/x.py"])
def test_a_wheel_with_tests_or_left_over_modules_is_refused(name: str) -> None:
    with pytest.raises(check_release.Refused, match=f"^the wheel holds {name}$"):
        check_release.check_wheel([*WHEEL, name], TRACKED)


def test_a_source_archive_without_its_pages_or_with_tests_is_refused() -> None:
    held = [f"src/{name}" for name in WHEEL] + [*check_release.FRONT, "examples/poll.py"]
    with pytest.raises(check_release.Refused, match=r"^the source archive lacks docs/"):
        check_release.check_archive(held, TRACKED)
    held += ["docs/index.md", "docs/guarantees/sums.md"]
    check_release.check_archive(held, TRACKED)
    with pytest.raises(check_release.Refused, match=r"^the source archive holds tests/"):
        check_release.check_archive([*held, "tests/test_release.py"], TRACKED)


def test_only_tracked_files_are_built(tmp_path: Path) -> None:
    if shutil.which("git") is None or not (REPOSITORY / ".git").exists():
        pytest.skip("a source archive has no git")
    tracked = check_release.copy_tracked(tmp_path)
    assert {"pyproject.toml", "src/discreet/py.typed"} <= tracked
    assert not [path for path in tracked if "__pycache__" in path or path.startswith("dist/")]
    assert (tmp_path / "src/discreet/guarantees").is_symlink()
    assert (tmp_path / "src/discreet/guarantees/sums.md").read_text().startswith("# ")


def wheel_with(metadata: str, commands: str, folder: Path) -> Path:
    """Write a wheel that has nothing but its metadata."""
    wheel = folder / "discreet-0.6.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as opened:
        opened.writestr("discreet-0.6.0.dist-info/METADATA", metadata)
        opened.writestr("discreet-0.6.0.dist-info/entry_points.txt", commands)
    return wheel


README = (REPOSITORY / "README.md").read_text()
COMMANDS = "[console_scripts]\ndiscreet = discreet.cli:main\n"
METADATA = (
    "Metadata-Version: 2.4\nName: discreet\nVersion: 0.6.0\n"
    "Description-Content-Type: text/markdown\n\n" + README
)


def test_metadata_with_the_readme_and_the_command_pass(tmp_path: Path) -> None:
    check_release.check_metadata(wheel_with(METADATA, COMMANDS, tmp_path))


@pytest.mark.parametrize(
    ("metadata", "commands", "reason"),
    [
        (METADATA.replace("text/markdown", "text/plain"), COMMANDS, "is not Markdown"),
        (METADATA.replace(README, "Soon."), COMMANDS, "is not the README"),
        (METADATA, "", "has no command discreet"),
        (METADATA.replace("0.6.0", "six"), COMMANDS, "'six' is invalid for 'version'"),
    ],
    ids=["markdown", "readme", "command", "field"],
)
def test_an_index_page_without_the_readme_or_a_wheel_without_the_command_is_refused(
    metadata: str, commands: str, reason: str, tmp_path: Path
) -> None:
    with pytest.raises(check_release.Refused, match=f"{reason}$"):
        check_release.check_metadata(wheel_with(metadata, commands, tmp_path))


def test_an_error_that_names_no_extra_is_refused(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import nothing_of_this_name"]
    with pytest.raises(check_release.Refused, match=r"^expected .*, got .*No module named"):
        check_release.check_missing(command, "pip install", cwd=tmp_path, environment={})
