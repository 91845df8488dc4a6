"""`discreet reproduce errata`: the papers' errata with computed numbers, and the verdicts."""

from dataclasses import asdict
from math import inf

from discreet.papers.errata import ERRATA
from discreet.papers.printed.catalogue import CATALOGUE
from discreet.papers.printed.verdict import Verdict
from discreet.papers.reproduce.report import Ask, Chapter, Grid, Part
from discreet.progress import bar


def tell_errata(ask: Ask) -> Chapter:
    """Compute all errata and return them as a chapter."""
    errata = []
    with bar("errata", len(ERRATA)) as report:
        for show in ERRATA.values():
            errata.append(show())
            report(1)
    shown = [erratum.name for erratum in errata if erratum.shown]
    parts: list[Part] = [
        f"{len(shown)} of {len(errata)} statements differ from what follows from the text's own "
        "definitions, computed exactly or by numerical integration; none is a simulation. "
        "Neighbouring streams differ in one person.",
        Grid(
            "Errata",
            ["erratum", "paper", "in print", "computed", "what it needs"],
            [
                [
                    each.name.replace("-", " "),
                    each.paper,
                    each.claim,
                    _numbers(each.computed),
                    each.needs,
                ]
                for each in errata
            ],
            brief=(0, 1, 3, 4),
        ),
        Grid(
            "Is it private as printed?",
            ["algorithm", "paper", "as", "verdict"],
            [
                [name, algorithm.paper, algorithm.printed_as, str(algorithm.verdict)]
                for name, algorithm in CATALOGUE.items()
            ],
        ),
    ]
    numbers = {
        "errata": [asdict(erratum) for erratum in errata],
        "errata_shown": shown,
        "verdicts": {name: _plain(algorithm.verdict) for name, algorithm in CATALOGUE.items()},
    }
    return Chapter("errata", "Errata of the papers, by numbers", parts, numbers)


def _plain(verdict: Verdict) -> dict[str, object]:
    """Return the verdict for JSON, which has no ∞."""
    fields = asdict(verdict)
    return fields | {"epsilon": "infinite"} if verdict.epsilon == inf else fields


def _numbers(computed: dict[str, float]) -> str:
    return "; ".join(f"{name} = {value:.4g}" for name, value in computed.items())
