"""`discreet doctor`: checks of this machine, each with its result or its remedy.

Only the kernels of the sampler and of one learner are compiled, so that all checks take seconds.
"""

import platform
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import NamedTuple

from discreet.errors import StateError

EXTRAS = {
    "tables": ("polars", "nanoarrow"),
    "lab": ("matplotlib", "polars", "nanoarrow"),
    "sklearn": ("sklearn",),
    "scale": ("distributed",),
    "accounting": ("dp_accounting",),
}
"""The packages of each extra."""
BRINGS = {
    "extra tables": "frames, files and logs: every command that reads people's rows",
    "extra lab": "pictures of the demo, of runs, audits and repeated experiments",
    "extra sklearn": "estimators with scikit-learn's interface",
    "extra scale": "records on a Dask cluster, --engine",
    "extra accounting": "guarantees as events of dp-accounting",
}
"""What each extra brings, by the name of its check."""
DRAWS = 100_000
"""Number of draws by which the sampler is checked."""
FARTHEST = 0.03
"""Largest error of the mean and the deviation of the draws: more than nine standard errors."""
VISITS = 100
"""Number of simulated visits that the learner of the self-test counts."""
MOST_DEVIATIONS = 10.0
"""Largest error of their released total, in its standard deviations."""


class Finding(NamedTuple):
    """The result of one check: whether it is fine, and details or the remedy."""

    name: str
    fine: bool
    says: str
    essential: bool = False


class Check(NamedTuple):
    """A check of this machine: what it does, and the remedy if it fails."""

    name: str
    details: Callable[[], str]
    remedy: str
    essential: bool = False

    def finding(self) -> Finding:
        """Return the result; any error is one."""
        try:
            return Finding(self.name, True, self.details(), self.essential)
        except Exception as error:  # any error is a finding
            return Finding(self.name, False, f"{error}: {self.remedy}", self.essential)


def examine(begin: Callable[[str], object] = lambda name: None) -> list[Finding]:
    """Run all checks: first the essential ones, then those that cost time or comfort.

    `begin` is called with the name of each check before it runs.
    """
    reinstall = "pip install --force-reinstall discreet"
    checks = [
        Check("versions", _versions, "pip install --upgrade discreet", essential=True),
        Check(
            "randomness",
            _randomness,
            "the operating system must provide random keys",
            essential=True,
        ),
        Check("exact sampler", _sampler, "pip install --upgrade numba numpy", essential=True),
        Check("self-test", _learner, reinstall, essential=True),
        Check("proofs", _proofs, reinstall),
        Check("state files", _formats, reinstall),
        Check("compiler cache", _cache, "set NUMBA_CACHE_DIR to a folder that you can write"),
        Check("file locks", _locks, "keep runs on a local disk of a POSIX system"),
        *(
            Check(f"extra {name}", partial(_extra, packages), f"pip install 'discreet[{name}]'")
            for name, packages in EXTRAS.items()
        ),
    ]
    findings = []
    for check in checks:
        begin(check.name)
        findings.append(check.finding())
    return findings


def extra_with(package: str) -> str | None:
    """Return the smallest extra that has a package; None if the package is not optional.

    >>> extra_with("polars")
    'tables'
    """
    return next((extra for extra, packages in EXTRAS.items() if package in packages), None)


def _versions() -> str:
    installed = (
        f"{package} {version(package)}" for package in ("numpy", "scipy", "numba", "randomgen")
    )
    return ", ".join([f"Python {platform.python_version()}", *installed])


def _randomness() -> str:
    from discreet.release.randomness import system_bits

    if system_bits().key() == system_bits().key():
        raise StateError("two keys are equal")
    return "keyed by the operating system"


def _sampler() -> str:
    from discreet.release.noise import DiscreteGaussian
    from discreet.release.randomness import system_bits

    noise = DiscreteGaussian(2**24)
    bits = system_bits()
    began = perf_counter()
    noise.draw(1, bits)
    ready = perf_counter()
    drawn = noise.draw(DRAWS, bits) / noise.sigma
    seconds_per_draw = (perf_counter() - ready) / DRAWS
    if abs(drawn.mean()) > FARTHEST or abs(drawn.std() - 1) > FARTHEST:
        raise StateError("draws do not follow the Gaussian distribution")
    return f"ready in {ready - began:.1f} s, {seconds_per_draw * 1e9:.0f} ns per draw"


def _learner() -> str:
    """Count simulated visits with a learner, as a user would."""
    from discreet.budget.privacy import Privacy
    from discreet.learners.running_sum import RunningSum

    visits = RunningSum(dimension=1, horizon=VISITS, privacy=Privacy(1.0, 1e-6), bound=1.0)
    for _ in range(VISITS):
        total = visits.add([1.0])
    if abs(total.item() - VISITS) > MOST_DEVIATIONS * visits.standard_deviation:
        raise StateError("a released total is far from the truth")
    spent = visits.guarantee.epsilon_spent
    if not 0 < spent <= 1:
        raise StateError("a learner did not account for its releases")
    return f"a learner released {visits.releases} totals for epsilon = {spent:.3g}"


def _proofs() -> str:
    from discreet.budget.guarantee import PROOFS

    pages = list(PROOFS.glob("*.md"))
    if not pages:
        raise StateError(f"no page in {PROOFS}")
    return f"{len(pages)} pages in {PROOFS}"


def _formats() -> str:
    from discreet.engine.formats import FORMATS

    return f"format {FORMATS.newest} is written, {FORMATS.read} is read"


def _cache() -> str:
    from discreet.release import kernels

    folder = kernels.fill_gaussian.stats.cache_path
    if folder is None:
        raise StateError("no folder can be written, so every start compiles for a minute")
    return str(folder)


def _locks() -> str:
    from discreet.engine.journal import FileJournal

    with TemporaryDirectory(dir=".") as folder:
        first, second = (FileJournal(f"{folder}/state") for _ in range(2))
        first.claim(lambda snapshot: snapshot)
        try:
            second.claim(lambda snapshot: snapshot)
        except StateError:
            return "locks work in this folder"
        finally:
            first.close()
            second.close()
    raise StateError("two processes may hold one lock")


def _extra(packages: tuple[str, ...]) -> str:
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        raise StateError(f"{', '.join(missing)} missing")
    return ", ".join(packages)
