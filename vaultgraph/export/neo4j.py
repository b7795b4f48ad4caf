"""A graph as CSV files for Neo4j: with typed headers for `neo4j-admin database import`, and a script for either way.

`import.sh` loads into an empty database, `load.cypher` into a running one. Lists are joined by U+001F, a character no
text has a use for; one that has it all the same gets U+FFFD instead, which the report counts.
"""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import polars as pl

from vaultgraph.export.columns import TypedColumn, columns_between
from vaultgraph.export.names import FileNames
from vaultgraph.export.plan import Content, Loss, Plan
from vaultgraph.graph.columns import Column
from vaultgraph.graph.graph import Graph

FORM: Final = "neo4j"
DELIMITER: Final = "\x1f"
NODE: Final = "_node"
_BATCH_ROWS: Final = 1000
_TYPES: Final[dict[pl.DataType, str]] = {
    pl.Int64(): "long",
    pl.Float64(): "double",
    pl.Boolean(): "boolean",
    pl.Date(): "date",
    pl.Datetime("us"): "localdatetime",
    pl.Datetime("us", "UTC"): "datetime",
}
_CONVERSIONS: Final = {
    "long": "toInteger",
    "double": "toFloat",
    "boolean": "toBoolean",
    "date": "date",
    "localdatetime": "localdatetime",
    "datetime": "datetime",
}


@dataclass(frozen=True, slots=True)
class _Field:
    """One column of a CSV: the property's name in Neo4j and its type there."""

    name: str
    kind: str

    @property
    def header(self) -> str:
        """As `neo4j-admin` reads it."""
        return f"{self.name}:{self.kind}"


@dataclass(frozen=True, slots=True)
class _File:
    path: str
    fields: list[_Field]
    labels: tuple[str, ...] = ()
    type: str = ""


def plan_neo4j(graph: Graph) -> Plan:
    """The files ``nodes/*.csv``, ``relationships/*.csv``, ``import.sh`` and ``load.cypher``."""
    names, losses = FileNames(), list[Loss]()
    files: dict[str, Content] = {}
    nodes: list[_File] = []
    relationships: list[_File] = []
    for group in graph.groups:
        path = names.free("nodes", "-".join(group.labels) or "unlabelled", ".csv")
        ids = pl.int_range(group.first, group.stop, dtype=pl.Int64, eager=True)
        labels = pl.repeat(";".join(map(_label, group.labels)), len(ids), eager=True)
        first = {f"{NODE}:ID": ids, ":LABEL": labels}
        files[path], fields = _csv(first, graph.node_columns, group.first, group.stop, path, losses)
        nodes.append(_File(path, fields, labels=tuple(map(_label, group.labels))))
    for table in graph.relationships.values():
        path = names.free("relationships", table.type, ".csv")
        count = len(table.sources)
        first = {
            ":START_ID": pl.Series(table.sources, dtype=pl.Int64),
            ":END_ID": pl.Series(table.targets, dtype=pl.Int64),
            ":TYPE": pl.repeat(table.type, count, dtype=pl.String, eager=True),
        }
        files[path], fields = _csv(first, table.columns, 0, count, path, losses)
        relationships.append(_File(path, fields, type=table.type))
    files["import.sh"] = _import_script(nodes, relationships).encode()
    files["load.cypher"] = _load_script(nodes, relationships).encode()
    return Plan(FORM, files, losses)


def _label(label: str) -> str:
    """A semicolon would make two labels of it."""
    return label.replace(";", "_")


def _csv(
    ids: Mapping[str, pl.Series],
    columns: Mapping[str, Column],
    first: int,
    stop: int,
    path: str,
    losses: list[Loss],
) -> tuple[bytes, list[_Field]]:
    found: dict[str, pl.Series] = dict(ids)
    fields: list[_Field] = []
    taken = {NODE}
    for column in columns_between(columns, first, stop):
        name = _name(column.key, taken)
        taken.add(name)
        if name != column.key:
            losses.append(Loss("property-renamed", f"{path}: {column.key} is {name}"))
        field = _Field(name, _kind(column.values.dtype))
        found[field.header] = _texts(column, path, losses)
        fields.append(field)
    return pl.DataFrame(found).write_csv().encode(), fields


def _name(key: str, taken: set[str]) -> str:
    """A header may hold no colon, brace, bracket or delimiter: they would be read as a type or an option."""
    name = "".join("_" if char in ':{}[]()\x1f"\r\n' else char for char in key).strip() or "_"
    while name in taken:
        name = f"{name}_"
    return name


def _kind(dtype: pl.DataType) -> str:
    if isinstance(dtype, pl.List):
        return f"{_TYPES.get(pl.Series(dtype=dtype.inner).dtype, 'string')}[]"
    return _TYPES.get(dtype, "string")


def _texts(column: TypedColumn, path: str, losses: list[Loss]) -> pl.Series:
    values = column.values
    if not isinstance(values.dtype, pl.List):
        return _cell_texts(values)
    items = values.explode()
    split = int(items.str.contains(DELIMITER, literal=True).sum()) if items.dtype == pl.String() else 0
    if split:
        losses.append(Loss("characters-replaced", f"{path}: {column.key}, {split} items of lists"))
    empty = int((values.list.len() == 0).sum())
    if empty:
        losses.append(Loss("empty-list", f"{path}: {column.key}, lists without items: {empty}"))
    frame = values.alias("v").to_frame()
    inner = pl.Series(dtype=values.dtype.inner).dtype
    if inner == pl.String():
        texts = pl.element().str.replace_all(DELIMITER, "\ufffd", literal=True)
    else:
        texts = _expression(inner, pl.element())
    return frame.select(pl.col("v").list.eval(texts).list.join(DELIMITER))["v"]


def _cell_texts(values: pl.Series) -> pl.Series:
    return values.alias("v").to_frame().select(_expression(values.dtype, pl.col("v")))["v"]


def _expression(dtype: pl.DataType, value: pl.Expr) -> pl.Expr:
    if isinstance(dtype, pl.Datetime):
        return value.dt.to_string("%Y-%m-%dT%H:%M:%S%.f" + ("Z" if dtype.time_zone else ""))
    if dtype == pl.Float64():
        return value.cast(pl.String).replace({"inf": "Infinity", "-inf": "-Infinity"})
    return value.cast(pl.String)


def _import_script(nodes: list[_File], relationships: list[_File]) -> str:
    lines = [
        "#!/bin/sh",
        "# Loads the graph into an empty database: sh import.sh [database]",
        "set -eu",
        'cd "$(dirname "$0")"',
        'exec neo4j-admin database import full "${1:-neo4j}" \\',
        "  --id-type=integer --array-delimiter='U+001F' --multiline-fields=true --legacy-style-quoting=false \\",
    ]
    given = [f"--nodes={shlex.quote(file.path)}" for file in nodes]
    given += [f"--relationships={shlex.quote(file.path)}" for file in relationships]
    return "\n".join([*lines, *(f"  {flag} \\" for flag in given[:-1]), *(f"  {flag}" for flag in given[-1:]), ""])


def _load_script(nodes: list[_File], relationships: list[_File]) -> str:
    """Statements for `cypher-shell`, with the files in the import folder of the server."""
    return "\n".join(
        [
            "// Loads the graph into a running database. Copy nodes/ and relationships/ into its import folder, then:",
            "// cypher-shell -f load.cypher",
            f"CREATE CONSTRAINT vaultgraph_node IF NOT EXISTS FOR (n:_Loaded) REQUIRE n.{NODE} IS UNIQUE;",
            *(_load_nodes(file) for file in nodes),
            *(_load_relationships(file) for file in relationships),
            f"MATCH (n:_Loaded) CALL (n) {{ REMOVE n:_Loaded }} IN TRANSACTIONS OF {_BATCH_ROWS} ROWS;",
            "DROP CONSTRAINT vaultgraph_node IF EXISTS;",
            "",
        ]
    )


def _load_nodes(file: _File) -> str:
    labels = "".join(f":{_quoted(label)}" for label in ("_Loaded", *file.labels))
    values = ", ".join([f"{NODE}: toInteger(row.{_quoted(f'{NODE}:ID')})", *_values(file.fields)])
    return _load(file.path, f"CREATE (n{labels} {{{values}}})")


def _load_relationships(file: _File) -> str:
    ends = "".join(
        f"MATCH ({name}:_Loaded {{{NODE}: toInteger(row.{_quoted(column)})}}) "
        for name, column in (("a", ":START_ID"), ("b", ":END_ID"))
    )
    return _load(file.path, f"{ends}CREATE (a)-[:{_quoted(file.type)} {{{', '.join(_values(file.fields))}}}]->(b)")


def _load(path: str, statement: str) -> str:
    address = "file:///" + "".join(
        c if c.isalnum() or c in "/._-" else "".join(f"%{b:02X}" for b in c.encode()) for c in path
    )
    return (
        f"LOAD CSV WITH HEADERS FROM '{address}' AS row CALL (row) {{ {statement} }}"
        f" IN TRANSACTIONS OF {_BATCH_ROWS} ROWS;"
    )


def _values(fields: list[_Field]) -> Iterator[str]:
    for field in fields:
        cell = f"row.{_quoted(field.header)}"
        kind = field.kind.removesuffix("[]")
        convert = _CONVERSIONS.get(kind)
        if field.kind != kind:
            parts = f"split({cell}, '\\u001F')"
            value = f"[item IN {parts} | {convert}(item)]" if convert else parts
        else:
            value = f"{convert}({cell})" if convert else cell
        yield f"{_quoted(field.name)}: {value}"


def _quoted(name: str) -> str:
    """Some servers read ``\\u0060`` as a backtick before they look for one, so no escape is left in a name."""
    return "`" + name.replace("`", "``").replace("\\u", "_u") + "`"
