"""The procedures of CALL: a small table of names, result columns and what makes their rows.

Read by bind (names and columns), the planner and execute/call. Procedures take no arguments yet and only read.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import polars as pl

from vaultgraph.cypher.functions import registry
from vaultgraph.cypher.functions.aggregates import AGGREGATES
from vaultgraph.graph.graph import Graph, label_counts

Tables = Mapping[str, Callable[[], pl.DataFrame]]
"""What makes the frames that belong to the snapshot and not to the graph, by procedure name (``vault.problems``).

Called only where a query calls the procedure.
"""


@dataclass(frozen=True, slots=True)
class Procedure:
    """``columns`` are the result columns in order; ``rows`` gives a frame with exactly these."""

    name: str
    columns: tuple[str, ...]
    rows: Callable[[Graph, Tables], pl.DataFrame]
    parameters: tuple[str, ...] = ()

    @property
    def signature(self) -> str:
        """The call with its result columns, as documentation shows it."""
        return f"{self.name}({', '.join(self.parameters)}) :: ({', '.join(self.columns)})"


def find_procedure(name: str) -> Procedure | None:
    """The procedure called ``name`` in any case, None where there is none."""
    return PROCEDURES.get(name.lower())


def procedure_called(name: str) -> Procedure:
    """The procedure of a bound CALL.

    Raises:
        KeyError: bind let an unknown name through.
    """
    return PROCEDURES[name.lower()]


def _labels(graph: Graph, _tables: Tables) -> pl.DataFrame:
    return _names("label", list(label_counts(graph)))


def _types(graph: Graph, _tables: Tables) -> pl.DataFrame:
    return _names("relationshipType", [name for name, table in graph.relationships.items() if len(table.sources)])


def _keys(graph: Graph, _tables: Tables) -> pl.DataFrame:
    keys = set(graph.node_columns)
    for table in graph.relationships.values():
        keys.update(table.columns)
    return _names("propertyKey", sorted(keys))


def _names(column: str, names: list[str]) -> pl.DataFrame:
    return pl.DataFrame({column: pl.Series(names, dtype=pl.String)})


PROBLEMS: Final = pl.Schema(
    {"path": pl.String, "line": pl.Int64, "code": pl.String, "severity": pl.String, "message": pl.String}
)


HEADINGS: Final = pl.Schema({"path": pl.String, "line": pl.Int64, "level": pl.Int64, "text": pl.String})
LINKS: Final = pl.Schema(
    {
        "path": pl.String,
        "line": pl.Int64,
        "target": pl.String,  # as written, without anchor; "" is a link to the note itself
        "anchor": pl.String,
        "display": pl.String,
        "is_embed": pl.Boolean,
        "section": pl.String,
        "property": pl.String,  # the frontmatter key it is written in
    }
)


def _handed_in(name: str, schema: pl.Schema) -> Procedure:
    """A procedure whose rows are the table ``name`` that the caller of the engine handed in; none without it."""

    def rows(_graph: Graph, tables: Tables) -> pl.DataFrame:
        make = tables.get(name)
        return schema.to_frame() if make is None else make().select(pl.col(key).cast(schema[key]) for key in schema)

    return Procedure(name, tuple(schema.names()), rows)


def _functions(_graph: Graph, _tables: Tables) -> pl.DataFrame:
    records = [one for name in registry.names() if (one := registry.find(name)) is not None]
    rows = [(one.name, one.signature, False) for one in records]
    rows += [(one.name, one.signature, True) for one in AGGREGATES.values()]
    schema = {"name": pl.String, "signature": pl.String, "aggregating": pl.Boolean}
    return pl.DataFrame(sorted(rows, key=lambda row: row[0].lower()), schema=schema, orient="row")


def _procedures(_graph: Graph, _tables: Tables) -> pl.DataFrame:
    rows = [(one.name, one.signature) for one in PROCEDURES.values()]
    return pl.DataFrame(rows, schema={"name": pl.String, "signature": pl.String}, orient="row")


PROCEDURES: Final[Mapping[str, Procedure]] = MappingProxyType(
    {
        one.name.lower(): one
        for one in (
            Procedure("db.labels", ("label",), _labels),
            Procedure("db.propertyKeys", ("propertyKey",), _keys),
            Procedure("db.relationshipTypes", ("relationshipType",), _types),
            Procedure("dbms.functions", ("name", "signature", "aggregating"), _functions),
            Procedure("dbms.procedures", ("name", "signature"), _procedures),
            _handed_in("vault.headings", HEADINGS),
            _handed_in("vault.links", LINKS),
            _handed_in("vault.problems", PROBLEMS),
        )
    }
)
"""Every procedure by its name in lower case."""
