"""A graph as Parquet files: one for each set of labels, one for each relationship type, and a description.

Columns are typed; a property whose cells differ in type is JSON text, which the file's metadata and `graph.json` say.
Nodes are joined by a number, `_node`, which holds within one export only.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from vaultgraph.export.columns import TypedColumn, columns_between
from vaultgraph.export.names import FileNames
from vaultgraph.export.plan import Content, Plan
from vaultgraph.graph.columns import Column
from vaultgraph.graph.graph import Graph
from vaultgraph.graph.schema import type_name

FORM: Final = "parquet"
NODE: Final = "_node"
ENDS: Final = ("_source", "_target")
_METADATA: Final = "vaultgraph.json_columns"


def plan_parquet(graph: Graph) -> Plan:
    """The files: ``nodes/<labels>.parquet``, ``relationships/<type>.parquet``, ``graph.json``; nothing is lost."""
    files: dict[str, Content] = {}
    names = FileNames()
    nodes: list[dict[str, Any]] = []
    relationships: list[dict[str, Any]] = []
    for group in graph.groups:
        path = names.free("nodes", "-".join(group.labels) or "unlabelled", ".parquet")
        first = {NODE: pl.int_range(group.first, group.stop, dtype=pl.UInt32, eager=True)}
        data, columns = _table(first, graph.node_columns, group.first, group.stop)
        files[path] = data
        rows = group.stop - group.first
        nodes.append({"file": path, "labels": list(group.labels), "rows": rows, "columns": columns})
    for table in graph.relationships.values():
        path = names.free("relationships", table.type, ".parquet")
        ends = {
            ENDS[0]: pl.Series(table.sources, dtype=pl.UInt32),
            ENDS[1]: pl.Series(table.targets, dtype=pl.UInt32),
        }
        data, columns = _table(ends, table.columns, 0, len(table.sources))
        files[path] = data
        relationships.append({"file": path, "type": table.type, "rows": len(table.sources), "columns": columns})
    about = {
        "form": "vaultgraph graph as Parquet",
        "join": f"{ENDS[0]} and {ENDS[1]} of relationships are {NODE} of nodes",
        "nodes": nodes,
        "relationships": relationships,
    }
    files["graph.json"] = (json.dumps(about, ensure_ascii=False, indent=1) + "\n").encode()
    return Plan(FORM, files)


def _table(
    ids: Mapping[str, pl.Series], columns: Mapping[str, Column], first: int, stop: int
) -> tuple[bytes, list[dict[str, Any]]]:
    """The bytes of one file, and what its columns are."""
    taken = set(ids)
    found: dict[str, pl.Series] = dict(ids)
    about: list[dict[str, Any]] = []
    for column in _renamed(columns_between(columns, first, stop), taken):
        name, typed = column
        found[name] = typed.values
        kind = "JSON" if typed.is_json else type_name(typed.values.dtype)
        about.append({"column": name, "property": typed.key, "type": kind})
    variants = [entry["column"] for entry in about if entry["type"] == "JSON"]
    table: Any = cast("Any", pl.DataFrame(found)).to_arrow()
    known: dict[bytes, bytes] = table.schema.metadata or {}
    described: Any = table.replace_schema_metadata({**known, _METADATA: json.dumps(variants, ensure_ascii=False)})
    target: Any = cast("Any", pa).BufferOutputStream()
    # The Arrow schema in the file keeps what Parquet has no type for: time zones, and texts of any length.
    pq.write_table(described, target, compression="zstd")
    return target.getvalue().to_pybytes(), about


def _renamed(columns: Iterator[TypedColumn], taken: set[str]) -> Iterator[tuple[str, TypedColumn]]:
    """Each column with a name that is not ours."""
    for column in columns:
        name = column.key
        while name in taken:
            name = f"{name}_"
        taken.add(name)
        yield name, column
