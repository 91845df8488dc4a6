"""One TOML of every kind that the commands read, with most of its keys, and their schemas."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from discreet.runs.schema import schema_for


@cache
def validator(name: str | None = None) -> Any:
    """Return the validator of the files of a command or a learner; without a name, of all."""
    schema = schema_for(name)
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def faults_of(path: Path) -> list[str]:
    """Return why the schema refuses a file; an empty list if it accepts it."""
    plain = tomllib.loads(path.read_text(encoding="utf-8"))
    return [error.message for error in validator().iter_errors(plain)]


FILES = {
    "SetMaximizer": """
        person = "who"
        keyed = true
        epsilon = 1.0
        delta = 1e-6
        contributions = 2
        horizon = 1e4
        seed = 1
        report = 0.1
        items = ["tea", "milk", "soap"]
        slots = 2
        feedback = "bandit"
        stream = "iid"
        explore = "auto"
        block = 100
        bound = 1
        max_items = 10
        propensity = "p"
        least_propensity = 0.01
        rename = { session = "who", basket = "slate" }
        layout = { kind = "positions", request = "id" }
    """,
    "SetMinimizer": """
        learner = "SetMinimizer"
        epsilon = 1.0
        delta = 0
        horizon = 1000
        items = 4
        columns = ["a", "b", "c", "d", "e", "f"]

        [function]
        kind = "MinusModular"
        family = { kind = "GraphCut", edges = [[0, 1], [2, 3]] }
    """,
    "StreamingLearner": """
        learner = "StreamingLearner"
        epsilon = 1.0
        delta = 1e-6
        horizon = 1000
        features = ["age", "joined", "region"]
        target = "spent"
        bounds = { age = [18, 100], joined = [0, 10], spent = [0.0, 500.0] }
        categories = { region = ["north", "south"] }
        dates = { joined = "years since 2020-01-01" }
        fill = { age = 40, region = "south" }
        other = { region = "south" }
        domain = { kind = "LpBall", p = 1.5, radius = 3 }
        loss = { kind = "HuberLoss", width = 0.5 }
    """,
    "ContextualBandit": """
        learner = "ContextualBandit"
        epsilon = 1.0
        delta = 1e-6
        horizon = 1000
        arms = ["low", "high"]
        context = ["age", "weight"]
        context_bound = [1.0, 2.0]
        reward_range = [-1.0, 1.0]
        relevant = "all"
        propensity = "uniform"
    """,
    "ContinuousMaximizer": """
        learner = "ContinuousMaximizer"
        epsilon = 1.0
        delta = 1e-6
        horizon = 1000
        play = "point"
        labels = ["radio", "press", "web"]
        domain = { kind = "Knapsack", costs = [3, 2, 2], budget = 4 }
        function = { kind = "ConcaveOfLinear", curve = "root", scale = 2.0 }
    """,
    "Hedge": """
        learner = "Hedge"
        epsilon = 1.0
        delta = 1e-6
        horizon = 1000
        columns = ["a", "b", "c"]
        bound = 2.0
    """,
    "RunningSum": """
        learner = "RunningSum"
        epsilon = 1.0
        delta = 1e-6
        dimension = 2
        bound = 1
        norm = "inf"
        nonnegative = true
    """,
    "select": """
        epsilon = 1.0
        columns = ["longitude", "latitude"]
        rename = { lon = "longitude" }
        labels = ["a", "b"]
        domain = { kind = "UniformMatroid", rank = 1 }

        [function]
        kind = "Nearby"
        sites = [[0.1, 0.2], [0.3, 0.4]]
        reach = 0.5
        box = [[0, 1], [0, 1]]
    """,
    "policy": """
        slate = ["tea", 7]
        items = ["tea", 7, "milk"]
    """,
    "log": """
        rename = { basket = "slate" }
        [layout]
        kind = "events"
        request = "id"
        event = "event"
        impression = "view"
        click = "click"
        time = "time"
        wait = "30 minutes"
    """,
}
