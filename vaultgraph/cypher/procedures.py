"""The procedures of CALL: what a procedure is, made from its signature, and the table of those there are.

Read by cypher/bind_procedures (names, arguments, columns) and execute/call. What makes their rows is in
cypher/procedure_rows. Procedures only read.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

import polars as pl

from vaultgraph.cypher import procedure_rows
from vaultgraph.cypher.algorithms.declared import ALGORITHMS
from vaultgraph.cypher.budget import Budget
from vaultgraph.cypher.execute.bindings import Bindings
from vaultgraph.cypher.functions.record import Parameter, parameter
from vaultgraph.cypher.procedure_rows import HEADINGS, LINKS, PROBLEMS, Tables
from vaultgraph.cypher.values import equals
from vaultgraph.frozen import frozen
from vaultgraph.graph.graph import Graph

__all__ = ["HEADINGS", "LINKS", "PROBLEMS", "PROCEDURES", "Procedure", "Tables", "fixed_rows", "procedure"]

Rows = pl.DataFrame | Bindings | Sequence[Sequence[object]]
MakeRows = Callable[..., Rows]
"""Takes the graph, the tables and the arguments; gives a frame or bindings with exactly the columns, or rows of engine
values."""

_SIGNATURE: Final = re.compile(r"\s*([\w.]+)\((.*)\) :: \((.*)\)\s*")


@frozen
class Procedure:
    """``columns`` are the result columns in order; without any the procedure keeps the rows as they are.

    ``nothing``: the columns without a row, of a procedure that works for long: its rows are then made with the budget
    before the arguments, and never where there are no rows to call it for.
    """

    name: str
    signature: str
    parameters: tuple[Parameter, ...]
    columns: tuple[str, ...]
    rows: MakeRows
    nothing: Bindings | None = None


def procedure(signature: str, rows: MakeRows, nothing: Bindings | None = None) -> Procedure:
    """A procedure from its signature, ``name(a :: STRING, b :: INTEGER?) :: (c :: STRING, d :: ANY)``.

    The question mark says that null may come; it is never refused.
    """
    match = _SIGNATURE.fullmatch(signature)
    if match is None:
        raise ValueError(f"not a signature: {signature}")
    parameters = tuple(parameter(part.removesuffix("?")) for part in match[2].split(", ") if part.strip())
    columns = tuple(part.partition(" :: ")[0].strip() for part in match[3].split(", ") if part.strip())
    return Procedure(match[1], signature.strip(), parameters, columns, rows, nothing)


def fixed_rows(signature: str, table: Iterable[Sequence[object]]) -> Procedure:
    """A procedure that looks its answer up: each row of ``table`` holds the arguments, then the result columns."""
    kept = [tuple(row) for row in table]

    def rows(_graph: Graph, _tables: Tables, *arguments: object) -> Rows:
        width = len(arguments)
        return [row[width:] for row in kept if all(map(_is_same, row, arguments))]

    return procedure(signature, rows)


def _is_same(cell: object, argument: object) -> bool:
    return cell is argument if cell is None or argument is None else equals(cell, argument) is True


def _procedures(_graph: Graph, _tables: Tables) -> pl.DataFrame:
    rows = [(one.name, one.signature) for one in PROCEDURES.values()]
    return pl.DataFrame(rows, schema={"name": pl.String, "signature": pl.String}, orient="row")


def _algorithm(name: str) -> Procedure:
    def rows(graph: Graph, _tables: Tables, budget: Budget, options: object = None) -> Bindings:
        from vaultgraph.cypher.algorithms.calls import run_algorithm  # noqa: PLC0415 -- most queries call none

        return run_algorithm(graph, name, options, budget)

    return procedure(ALGORITHMS[name].signature, rows, ALGORITHMS[name].nothing)


_DECLARED: Final[tuple[tuple[str, MakeRows], ...]] = (
    (
        "db.indexes() :: (name :: STRING, type :: STRING, label :: STRING, properties :: LIST<STRING>)",
        procedure_rows.indexes,
    ),
    ("db.labels() :: (label :: STRING)", procedure_rows.labels),
    ("db.propertyKeys() :: (propertyKey :: STRING)", procedure_rows.keys),
    ("db.relationshipTypes() :: (relationshipType :: STRING)", procedure_rows.types),
    (
        (
            "db.schema.nodeTypeProperties() :: (nodeType :: STRING, nodeLabels :: LIST<STRING>, "
            "propertyName :: STRING, propertyTypes :: LIST<STRING>, mandatory :: BOOLEAN)"
        ),
        procedure_rows.node_properties,
    ),
    (
        (
            "db.schema.relTypeProperties() :: (relType :: STRING, propertyName :: STRING, "
            "propertyTypes :: LIST<STRING>, mandatory :: BOOLEAN)"
        ),
        procedure_rows.relationship_properties,
    ),
    ("dbms.functions() :: (name :: STRING, signature :: STRING, aggregating :: BOOLEAN)", procedure_rows.functions),
    ("dbms.procedures() :: (name :: STRING, signature :: STRING)", _procedures),
    (
        "vault.headings() :: (path :: STRING, line :: INTEGER, level :: INTEGER, text :: STRING)",
        procedure_rows.headings,
    ),
    (
        (
            "vault.links() :: (path :: STRING, line :: INTEGER, target :: STRING, anchor :: STRING, display :: STRING, "
            "is_embed :: BOOLEAN, section :: STRING, property :: STRING)"
        ),
        procedure_rows.links,
    ),
    ("vault.orphans() :: (path :: STRING, title :: STRING)", procedure_rows.orphans),
    ("vault.outline(path :: STRING) :: (line :: INTEGER, level :: INTEGER, text :: STRING)", procedure_rows.outline),
    (
        "vault.problems() :: (path :: STRING, line :: INTEGER, code :: STRING, severity :: STRING, message :: STRING)",
        procedure_rows.problems,
    ),
    ("vault.unresolved() :: (target :: STRING, path :: STRING, line :: INTEGER)", procedure_rows.unresolved),
)
PROCEDURES: Final[Mapping[str, Procedure]] = MappingProxyType(
    {
        one.name.lower(): one
        for one in (*map(_algorithm, ALGORITHMS), *(procedure(signature, rows) for signature, rows in _DECLARED))
    }
)
"""Every procedure by its name in lower case."""
