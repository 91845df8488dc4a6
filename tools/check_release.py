"""Build the source archive and the wheel, and try the wheel where a user would install it.

    python tools/check_release.py        # or `make wheel`; both files are in dist/ afterwards

Only files that git tracks are built. The wheel is made from the source archive, so the archive is
complete if the wheel is. It is installed without any extra into a new environment outside the
checkout, and used from a folder outside the checkout.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TypeVar

from packaging.metadata import Metadata

Result = TypeVar("Result")

CHECKOUT = Path(__file__).resolve().parent.parent
CONSTRAINTS = CHECKOUT / "constraints.txt"
FRONT = {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", "SECURITY.md"}
"""Files that the source archive must have at its top."""

SELECTOR = """
from discreet import Privacy, SetSelector
from discreet.domains import UniformMatroid
from discreet.functions import ClickModel
SetSelector(UniformMatroid(3, 2), Privacy(1), function=ClickModel, engine="tcp://nowhere:1")\\
    .fit([[0.1, 0.2, 0.3]])
"""
TABLE = """
from pathlib import Path
from discreet import Hedge, Privacy
Hedge(["tea", "milk"], 100, Privacy(1)).replay(Path("log.csv"))
"""
EVENT = """
from discreet import Privacy, RunningSum
RunningSum(1, 100, Privacy(1), bound=1.0).guarantee.event()
"""
WITHOUT_EXTRAS: list[tuple[list[str], str]] = [
    (
        ["python", "-c", "import discreet.estimators"],
        "discreet.estimators needs scikit-learn: pip install 'discreet[sklearn]'",
    ),
    (["python", "-c", TABLE], "tables need Polars: pip install 'discreet[tables]'"),
    (["python", "-c", SELECTOR], "a cluster needs Dask: pip install 'discreet[scale]'"),
    (["python", "-c", EVENT], "events need dp-accounting: pip install 'discreet[accounting]'"),
    (
        ["discreet", "run", "shop.toml", "--data", "log.csv"],
        "discreet: polars is missing: pip install 'discreet[tables]'",
    ),
    (
        ["discreet", "demo", "--people", "1000"],
        "discreet: pictures need matplotlib: pip install 'discreet[lab]'",
    ),
]
"""What needs an extra, as a program and its arguments, and the line that says which one."""

DOCTEST = """
import doctest, sys
failures, tried = doctest.testfile(sys.argv[1], module_relative=False, optionflags=doctest.ELLIPSIS)
sys.exit(0 if tried and not failures else 1)
"""


class Refused(Exception):
    """A check that failed, in one line."""


def main() -> None:
    """Run all steps, with one line each; the first check that fails ends them."""
    began = perf_counter()
    try:
        with TemporaryDirectory(prefix="discreet-release-") as folder:
            _check_in(Path(folder))
    except Refused as refusal:
        print("failed", flush=True)
        sys.exit(f"check_release: {refusal}")
    print(f"The release is complete ({perf_counter() - began:.0f} s).")


def _check_in(folder: Path) -> None:
    source = folder / "source"
    tracked = _step("copying the files that git tracks", lambda: copy_tracked(source))
    archive, wheel = _step("building the source archive and the wheel", lambda: build(source))
    _step("comparing what they hold with the checkout", lambda: compare(archive, wheel, tracked))
    _step("reading the metadata", lambda: check_metadata(wheel))
    user = _step("installing the wheel in a new environment", lambda: User.new(folder, wheel))
    _step("discreet --version", lambda: user.check_version(wheel))
    _step("discreet doctor", user.check_doctor)
    _step("the first example of the README", user.run_first_example)
    _step("what needs an extra", user.check_without_extras)
    _step("resolving discreet[all]", lambda: user.resolve_all(wheel))
    _step("putting both files into dist/", lambda: keep(archive, wheel))


def _step(label: str, work: Callable[[], Result]) -> Result:
    print(f"{label} … ", end="", flush=True)
    began = perf_counter()
    result = work()
    print(f"{perf_counter() - began:.1f} s", flush=True)
    return result


def run(command: list[str], *, cwd: Path, environment: dict[str, str] | None = None) -> str:
    """Run a command and return what it prints; refuse with its last line if it fails."""
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["no output"]
        raise Refused(f"{' '.join(command)[:80]} ended with {done.returncode}: {lines[-1]}")
    return done.stdout


# --- build ----------------------------------------------------------------------------------------


def copy_tracked(target: Path) -> set[str]:
    """Copy what git tracks, links as links, and return the paths: caches and drafts stay out."""
    listed = run(["git", "ls-files", "-z"], cwd=CHECKOUT).split("\0")
    tracked = {path for path in listed if path and os.path.lexists(CHECKOUT / path)}
    for path in tracked:
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(CHECKOUT / path, target / path, follow_symlinks=False)
    return tracked


def build(source: Path) -> tuple[Path, Path]:
    """Build the source archive, and the wheel from it; return both."""
    run([sys.executable, "-m", "build", str(source)], cwd=source)
    (archive,) = (source / "dist").glob("*.tar.gz")
    (wheel,) = (source / "dist").glob("*.whl")
    return archive, wheel


# --- contents -------------------------------------------------------------------------------------


def compare(archive: Path, wheel: Path, tracked: set[str]) -> None:
    """Refuse files that lack modules, proofs or pages, or that hold anything else."""
    check_wheel(zipfile.ZipFile(wheel).namelist(), tracked)
    with tarfile.open(archive) as opened:
        names = [member.name for member in opened if not member.isdir()]
    check_archive([name.partition("/")[2] for name in names], tracked)


def expected_in_wheel(tracked: Iterable[str]) -> set[str]:
    """Return the files that the wheel must have: modules, proofs, and the marker of types."""
    package = [path for path in tracked if path.startswith("src/discreet/")]
    modules = {path.removeprefix("src/") for path in package if path.endswith((".py", "py.typed"))}
    pages = [Path(path) for path in tracked if path.startswith("docs/guarantees/")]
    return modules | {f"discreet/guarantees/{page.name}" for page in pages if page.suffix == ".md"}


def check_wheel(names: Iterable[str], tracked: set[str]) -> None:
    """Refuse a wheel that lacks a file of the package, or holds one of another kind."""
    held = {name for name in names if ".dist-info/" not in name}
    _refuse("the wheel lacks", expected_in_wheel(tracked) - held)
    _refuse("the wheel holds", held - expected_in_wheel(tracked))


def check_archive(names: Iterable[str], tracked: set[str]) -> None:
    """Refuse a source archive that lacks what it should have, or holds tests or benchmarks."""
    held = set(names)
    _refuse("the source archive lacks", FRONT - held)
    pages = {path for path in tracked if path.startswith(("docs/", "examples/"))}
    modules = {f"src/{name}" for name in expected_in_wheel(tracked)}
    _refuse("the source archive lacks", (pages | modules) - held)
    others = ("tests/", "benchmarks/", "tools/")
    _refuse("the source archive holds", {name for name in held if name.startswith(others)})


def _refuse(what: str, names: set[str]) -> None:
    if names:
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        raise Refused(f"{what} {min(names)}{more}")


def check_metadata(wheel: Path) -> None:
    """Refuse metadata that an index would not take, or show without the README."""
    with zipfile.ZipFile(wheel) as opened:
        (name,) = (name for name in opened.namelist() if name.endswith(".dist-info/METADATA"))
        (points,) = (name for name in opened.namelist() if name.endswith("/entry_points.txt"))
        commands = opened.read(points).decode()
        try:
            metadata = Metadata.from_email(opened.read(name))
        except ExceptionGroup as errors:  # fields that the standard does not allow
            raise Refused(f"the metadata is malformed: {errors.exceptions[0]}") from None
    if metadata.description_content_type != "text/markdown":
        raise Refused("the long description is not Markdown")
    if (metadata.description or "").strip() != (CHECKOUT / "README.md").read_text().strip():
        raise Refused("the long description is not the README")
    if "discreet = discreet.cli:main" not in commands:
        raise Refused("the wheel has no command discreet")


# --- a user ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class User:
    """Someone with the wheel in a new environment, who works in a folder of their own."""

    environment: Path
    folder: Path

    @classmethod
    def new(cls, folder: Path, wheel: Path) -> "User":
        """Return a user whose environment has the wheel and what it requires, and no extra."""
        user = cls(folder / "environment", folder / "work")
        user.folder.mkdir()
        new = [sys.executable, "-m", "venv", "--without-pip", str(user.environment)]
        run(new, cwd=folder)
        user._pip("--no-compile", str(wheel))
        return user

    def _pip(self, *arguments: str) -> None:
        pip = [sys.executable, "-m", "pip", "--python", self._program("python"), "install"]
        pip += ["--quiet", "--constraint", str(CONSTRAINTS)]
        run([*pip, *arguments], cwd=self.folder)

    def _program(self, name: str) -> str:
        return str(self.environment / "bin" / name)

    @property
    def _variables(self) -> dict[str, str]:
        """The environment variables, without those that lead back to the checkout."""
        return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}

    def run(self, program: str, *arguments: str) -> str:
        """Run a program of the environment in the user's folder, and return what it prints."""
        command = [self._program(program), *arguments]
        return run(command, cwd=self.folder, environment=self._variables)

    def check_version(self, wheel: Path) -> None:
        """Refuse a command that names another version than the wheel does."""
        version = wheel.name.split("-")[1]
        for command in (["discreet"], ["python", "-m", "discreet"]):
            if self.run(*command, "--version").strip() != f"discreet {version}":
                raise Refused(f"{' '.join(command)} --version does not say {version}")

    def check_doctor(self) -> None:
        """Refuse an installation in which anything but the extras is not fine."""
        findings = json.loads(self.run("discreet", "doctor", "--json"))["findings"]
        extras = {finding["name"]: finding["fine"] for finding in findings if _is_extra(finding)}
        wrong = [finding for finding in findings if not finding["fine"] and not _is_extra(finding)]
        if wrong:
            raise Refused(f"discreet doctor says {wrong[0]['name']}: {wrong[0]['says']}")
        if any(extras.values()):
            raise Refused("the new environment has extras, so nothing says what is missing")

    def run_first_example(self) -> None:
        """Refuse a README whose first example does not run without extras."""
        readme = (CHECKOUT / "README.md").read_text()
        examples = re.findall(r"^```pycon\n(>>> .*?)^```", readme, re.DOTALL | re.MULTILINE)
        if not examples:
            raise Refused("README.md has no example")
        page = self.folder / "first_example.txt"
        page.write_text(examples[0])
        self.run("python", "-W", "error", "-c", DOCTEST, str(page))

    def check_without_extras(self) -> None:
        """Refuse a missing extra that its user does not learn of in one clear line."""
        for command, line in WITHOUT_EXTRAS:
            program = [self._program(command[0]), *command[1:]]
            check_missing(program, line, cwd=self.folder, environment=self._variables)

    def resolve_all(self, wheel: Path) -> None:
        """Refuse extras whose requirements cannot be met together."""
        self._pip("--dry-run", f"{wheel}[all]")


def check_missing(command: list[str], line: str, *, cwd: Path, environment: dict[str, str]) -> None:
    """Refuse a command that does not end with this line, which says which extra is missing."""
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    shown = done.stderr.strip().splitlines() or [""]
    if not done.returncode or not shown[-1].endswith(line):
        raise Refused(f"expected “{line}”, got “{shown[-1]}”")


def _is_extra(finding: dict[str, object]) -> bool:
    return str(finding["name"]).startswith("extra ")


def keep(archive: Path, wheel: Path) -> None:
    """Put both files into dist/, in the place of older ones."""
    target = CHECKOUT / "dist"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    for built in (archive, wheel):
        shutil.copy2(built, target)


if __name__ == "__main__":
    main()
