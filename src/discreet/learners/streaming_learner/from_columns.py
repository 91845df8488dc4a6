"""Settings that follow from the columns of a table: domain, intercept and bounds."""

from typing import Any

from discreet.engine.codec import admitted
from discreet.optim.domains import Box, LpBall, Simplex
from discreet.records.columns import Columns

REACH = 4.0
"""The default radius of a ball, per unit of the target's bound, for features in the unit box."""
SHIFTED = ("SquaredLoss", "HuberLoss")
"""Losses of the difference to the target, which an intercept shifts."""


def shifts(columns: Columns, loss: object) -> bool:
    """Whether targets are taken less the middle of their bounds."""
    return columns.is_scaled and columns.classes is None and _kind(loss) in SHIFTED


def completed(given: dict[str, Any]) -> dict[str, Any]:
    """Return settings, completed by what follows from their `columns`."""
    columns = admitted(Columns | None, given.get("columns"), "columns")
    if not isinstance(columns, Columns):
        return given
    given = given | {"columns": columns}
    if columns.is_scaled:
        given = {"intercept": True} | given
    if "domain" not in given:
        return given
    size = (len(columns.names) + bool(given.get("intercept"))) * _classes(given.get("loss"))
    defaults: dict[str, Any] = {"dimension": size}
    if columns.is_scaled and _kind(given["domain"]) == "LpBall":
        bound = columns.target_bound(shifts=shifts(columns, given.get("loss", "SquaredLoss")))
        defaults["radius"] = REACH * bound
    return given | {"domain": _with(given["domain"], defaults)}


def bound_of_features(columns: Columns, domain: LpBall | Box | Simplex) -> float:
    """Return the largest norm of a row in the unit box, in the norm dual to the domain's."""
    return columns.box.length(domain.dual)


def _with(domain: Any, defaults: dict[str, Any]) -> Any:
    """Return a domain that is named or described, with what it leaves out."""
    kind = _kind(domain)
    if isinstance(domain, LpBall | Box | Simplex) or kind not in ("LpBall", "Box", "Simplex"):
        return domain
    described = domain if isinstance(domain, dict) else {"kind": kind}
    return admitted(LpBall | Box | Simplex, defaults | described, "domain")


def _kind(value: Any) -> str:
    """Return the name of a described value: of an instance, a class, a text or plain data."""
    if isinstance(value, dict):
        return str(value.get("kind"))
    if isinstance(value, type):
        return value.__name__
    return value if isinstance(value, str) else type(value).__name__


def _classes(loss: Any) -> int:
    classes = loss.get("classes", 1) if isinstance(loss, dict) else getattr(loss, "classes", 1)
    return classes if type(classes) is int and _kind(loss) == "SoftmaxLoss" else 1
