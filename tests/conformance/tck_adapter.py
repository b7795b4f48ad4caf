"""The engine as the openCypher TCK kit sees it, and a table of what passes.

    python tests/conformance/tck_adapter.py [--tags write,!error] [--dir clauses/match] [--failures FILE] …

takes the options of the kit's runner. The kit lies under VAULTGRAPH_TCK, by default `tck` in VAULTGRAPH_SHARED, by
default `../shared` beside the repository; it needs the package gherkin-official.
"""

import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("VAULTGRAPH_SHARED", REPOSITORY.parent / "shared"))
KIT = Path(os.environ.get("VAULTGRAPH_TCK", SHARED / "tck"))
FEATURES = KIT / "features"
for place in (KIT, REPOSITORY):
    if str(place) not in sys.path:
        sys.path.append(str(place))

from cyphertck import engine  # noqa: E402 -- found only now
from cyphertck import values as neutral  # noqa: E402

from vaultgraph.cypher import values  # noqa: E402
from vaultgraph.cypher.procedures import Procedure, fixed_rows  # noqa: E402
from vaultgraph.cypher.write_query import run_write  # noqa: E402
from vaultgraph.errors import BindError, QuerySyntaxError, UnsupportedError, VaultgraphError  # noqa: E402
from vaultgraph.graph.mutable import MutableGraph  # noqa: E402

DIGITS = 9  # of fractions of seconds
KINDS = (
    ("deleted by this statement", "EntityNotFound"),
    ("still has relationships", "ConstraintVerificationFailed"),
    ("MERGE cannot look for null", "SemanticError"),
    ("There is no procedure", "ProcedureError"),
    ("is missing: ", "ParameterMissing"),
    (" needs a percentile ", "ArgumentError"),
    ("range cannot take ", "ArgumentError"),
    ("range() needs ", "ArgumentError"),
    (" take [index], ", "TypeError"),
)
"""Words of a message, and the TCK's kind of the error."""


class Vaultgraph(engine.Engine):
    """A mutable graph behind the kit's protocol; named graphs and setups are made by statements that write."""

    writes = True

    def __init__(self) -> None:
        self.graph = MutableGraph()
        self.procedures: dict[str, Procedure] = {}

    def reset(self) -> None:
        self.graph = MutableGraph()
        self.procedures = {}

    def register_procedure(self, signature: str, columns: list[str], rows: list[list[object]]) -> None:
        made = fixed_rows(signature, rows)
        self.procedures[made.name.lower()] = made

    def execute(self, query: str, params: Mapping[str, object]) -> tuple[list[str], list[list[object]]]:
        try:
            result = run_write(self.graph, query, params, procedures=self.procedures)
            return list(result.columns), [[neutral_value(cell) for cell in row] for row in result.rows]
        except VaultgraphError as error:
            raise engine.EngineError(str(error), *kind_and_phase(error), detail=error.code) from error

    def side_effect_counts(self) -> dict[str, set[object]]:
        """What can be seen of the graph, by the ids that stay."""
        graph = self.graph
        properties: set[object] = set()
        for kind, entities in (("nodes", graph.nodes), ("relationships", graph.relationships)):
            for one, entity in entities.items():
                properties |= {(kind, one, key, repr(value)) for key, value in entity.properties.items()}
        labels = {label for node in graph.nodes.values() for label in node.labels}
        return {
            "nodes": set(graph.nodes),
            "relationships": set(graph.relationships),
            "labels": labels,
            "properties": properties,
        }


def kind_and_phase(error: VaultgraphError) -> tuple[str, str]:
    """The TCK's words for an error, as far as ours tell; errors of values while running mostly are TypeErrors there."""
    at_once = isinstance(error, QuerySyntaxError | BindError | UnsupportedError)
    usual = "SyntaxError" if at_once else "TypeError"
    found = next((kind for words, kind in KINDS if words in error.message), usual)
    return found, "compile time" if at_once else "runtime"


def neutral_value(value: object) -> object:
    """A value of an answer as the kit compares it."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case values.Node():
            return neutral.Node(frozenset(value.labels), neutral_map(value.properties), value.id)
        case values.Relationship():
            return neutral.Rel(value.type, neutral_map(value.properties), value.id)
        case values.Path(nodes, relationships):
            forward = [
                step.source == start.id and step.target == end.id
                for step, start, end in zip(relationships, nodes, nodes[1:], strict=False)
            ]
            return neutral.Path(
                [neutral_value(node) for node in nodes], [neutral_value(step) for step in relationships], forward
            )
        case list():
            return [neutral_value(item) for item in value]
        case dict():
            return neutral_map(value)
        case _:
            return neutral.Temporal(text_of(value), DIGITS)


def neutral_map(entries: Mapping[str, object]) -> dict[str, object]:
    """A map with values of the kit."""
    return {key: neutral_value(cell) for key, cell in entries.items()}


def text_of(moment: object) -> str:
    """What toString() gives for a temporal value."""
    return importlib.import_module("vaultgraph.cypher.value_operators").text_of(moment)


def main(arguments: Sequence[str]) -> int:
    """Run the kit's runner with this adapter."""
    sys.path.insert(0, str(Path(__file__).parent))
    runner = importlib.import_module("cyphertck.runner")
    return runner.main(["tck_adapter:Vaultgraph", "--features", str(FEATURES), *arguments])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
