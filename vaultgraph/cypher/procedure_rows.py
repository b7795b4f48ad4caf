"""What the procedures answer: the names in a graph, its properties, the functions, and tables of the vault.

The implementations behind cypher/procedures. Tables that are not in the graph are handed in by the caller of the
engine; without them the procedures of a vault answer nothing.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from vaultgraph.cypher.advice import listed, shortened
from vaultgraph.cypher.execute.properties import node_property_column
from vaultgraph.cypher.execute.rows import cells_of
from vaultgraph.cypher.functions import registry
from vaultgraph.cypher.functions.aggregates import AGGREGATES
from vaultgraph.errors import EvaluationError
from vaultgraph.graph.columns import Ids, gather
from vaultgraph.graph.graph import Graph, RelationshipTable, label_counts, ranges_of_label
from vaultgraph.graph.note_names import is_path, notes_like, notes_named
from vaultgraph.graph.schema import PropertyFacts, facts_of

Tables = Mapping[str, Callable[[], pl.DataFrame]]
"""What makes the frames that belong to the snapshot and not to the graph, by procedure name (``vault.problems``).

Called only where a query calls the procedure.
"""

HEADINGS: Final = pl.Schema({"path": pl.String, "line": pl.Int64, "level": pl.Int64, "text": pl.String})
INDEXES: Final = pl.Schema({"name": pl.String, "type": pl.String, "label": pl.String, "properties": pl.List(pl.String)})
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
PROBLEMS: Final = pl.Schema(
    {"path": pl.String, "line": pl.Int64, "code": pl.String, "severity": pl.String, "message": pl.String}
)
_PROPERTIES: Final = {"propertyName": pl.String, "propertyTypes": pl.List(pl.String), "mandatory": pl.Boolean}
_NODE_PROPERTIES: Final = pl.Schema({"nodeType": pl.String, "nodeLabels": pl.List(pl.String), **_PROPERTIES})
_RELATIONSHIP_PROPERTIES: Final = pl.Schema({"relType": pl.String, **_PROPERTIES})


def labels(graph: Graph, _tables: Tables) -> pl.DataFrame:
    """The labels, most nodes first."""
    return _names("label", label_counts(graph))


def types(graph: Graph, _tables: Tables) -> pl.DataFrame:
    """The types that some relationship has, sorted."""
    return _names("relationshipType", [name for name, table in graph.relationships.items() if len(table.sources)])


def keys(graph: Graph, _tables: Tables) -> pl.DataFrame:
    """The keys of all properties, of nodes and of relationships, sorted."""
    found = set(graph.node_columns)
    for table in graph.relationships.values():
        found.update(table.columns)
    return _names("propertyKey", sorted(found))


def node_properties(graph: Graph, _tables: Tables) -> pl.DataFrame:
    """The properties of the nodes with each set of labels; a set without properties has one row."""
    ranges: dict[tuple[str, ...], list[tuple[int, int]]] = {}
    for group in graph.groups:
        if group.first < group.stop:
            ranges.setdefault(group.labels, []).append((group.first, group.stop))
    rows: list[tuple[object, ...]] = []
    for names, places in sorted(ranges.items()):
        shown = "".join(f":`{name}`" for name in names)
        rows += ((shown, list(names), *row) for row in _described(facts_of(graph.node_columns, places)))
    return pl.DataFrame(rows, schema=_NODE_PROPERTIES, orient="row")


def relationship_properties(graph: Graph, _tables: Tables) -> pl.DataFrame:
    """The properties of the relationships of each type; a type without properties has one row."""
    rows: list[tuple[object, ...]] = []
    for name, table in sorted(graph.relationships.items()):
        if len(table.sources):
            described = _described(facts_of(table.columns, [(0, len(table.sources))]))
            rows += ((f":`{name}`", *row) for row in described)
    return pl.DataFrame(rows, schema=_RELATIONSHIP_PROPERTIES, orient="row")


def _described(found: Iterable[PropertyFacts]) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = [(one.key, list(one.types), one.count == one.total) for one in found]
    return rows or [(None, None, None)]


def functions(_graph: Graph, _tables: Tables) -> pl.DataFrame:
    """All functions and aggregates, by name."""
    records = [one for name in registry.names() if (one := registry.find(name)) is not None]
    rows = [(one.name, one.signature, False) for one in records]
    rows += [(one.name, one.signature, True) for one in AGGREGATES.values()]
    schema = {"name": pl.String, "signature": pl.String, "aggregating": pl.Boolean}
    return pl.DataFrame(sorted(rows, key=lambda row: row[0].lower()), schema=schema, orient="row")


def indexes(_graph: Graph, tables: Tables) -> pl.DataFrame:
    """The properties a vault declares to be looked up or searched often."""
    return _handed_in("db.indexes", INDEXES, tables)


def headings(_graph: Graph, tables: Tables) -> pl.DataFrame:
    """The headings of all notes."""
    return _handed_in("vault.headings", HEADINGS, tables)


def links(_graph: Graph, tables: Tables) -> pl.DataFrame:
    """The links of all notes as they are written."""
    return _handed_in("vault.links", LINKS, tables)


def problems(_graph: Graph, tables: Tables) -> pl.DataFrame:
    """What the last build found faulty."""
    return _handed_in("vault.problems", PROBLEMS, tables)


def outline(graph: Graph, tables: Tables, path: str | None) -> pl.DataFrame:
    """The headings of one note, in order; it may be named by its id, title or an alias instead of its path.

    Raises:
        EvaluationError: no note or more than one is called so; the message names those that may be meant.
    """
    make = tables.get("vault.headings")
    if make is None or path is None:
        return HEADINGS.to_frame().drop("path")
    whole = make()
    found = whole.filter(whole["path"] == path)
    if not found.height:
        found = whole.filter(whole["path"] == _path_of_note(graph, path))
    return _cast(found, HEADINGS).drop("path")


def _path_of_note(graph: Graph, name: str) -> str:
    """The path of the one note ``name`` means; ``name`` itself where it is the path of a node."""
    if is_path(graph, name):
        return name
    found = notes_named(graph, name)
    if len(found) == 1:
        return found[0]
    if found:
        raise EvaluationError(
            f"{len(found)} notes are called '{shortened(name)}': {listed(found)}. Name one by its path."
        )
    near = notes_like(graph, name)
    advice = f" Did you mean {' or '.join(near)}?" if near else " Name it by its path, id, title or an alias."
    raise EvaluationError(f"No note is called '{shortened(name)}'.{advice}")


def orphans(graph: Graph, tables: Tables) -> pl.DataFrame:
    """The notes that no link from elsewhere leads to, by path."""
    is_linked = np.zeros(graph.node_count, dtype=np.bool_)
    for table in graph.relationships.values():
        rows = _written(table)
        is_linked[table.targets[rows[table.sources[rows] != table.targets[rows]]]] = True
    label = str(tables["vault.note_label"]()["label"][0]) if "vault.note_label" in tables else "Note"
    notes = [np.arange(*one, dtype=np.int64) for one in ranges_of_label(graph, label)]
    ids = np.concatenate(notes) if notes else np.zeros(0, dtype=np.int64)
    ids = ids[~is_linked[ids]]
    return pl.DataFrame({"path": _texts(graph, ids, "path"), "title": _texts(graph, ids, "title")}).sort("path")


def unresolved(graph: Graph, _tables: Tables) -> pl.DataFrame:
    """The links to what no note is and to files that are not there, by target, path and line.

    A link in a table whose rows make relationships is there once, as what is written.
    """
    parts: list[pl.DataFrame] = []
    for table in graph.relationships.values():
        rows = _written(table)
        targets = table.targets[rows].astype(np.int64)
        rows = rows[_flags(graph, targets, "_provisional") | _flags(graph, targets, "missing")]
        if len(rows):
            sources = table.sources[rows].astype(np.int64)
            parts.append(
                pl.DataFrame(
                    {
                        "target": _texts(graph, table.targets[rows].astype(np.int64), "title"),
                        "path": _texts(graph, sources, "path"),
                        "line": _lines(table).gather(pl.Series(rows)),
                        "is_row": _is_row(table, rows),
                    }
                )
            )
    empty = pl.DataFrame(schema={"target": pl.String, "path": pl.String, "line": pl.Int64, "is_row": pl.Boolean})
    found = pl.concat([empty, *parts])
    rows_alone = found.filter("is_row").join(found.filter(~pl.col("is_row")), on=["target", "path", "line"], how="anti")
    return pl.concat([found.filter(~pl.col("is_row")), rows_alone]).drop("is_row").sort("target", "path", "line")


def _is_row(table: RelationshipTable, rows: Ids) -> npt.NDArray[np.bool_]:
    """Which of ``rows`` stand for a row of a table in a note: they have the property `row`."""
    found = np.zeros(len(table.sources), dtype=np.bool_)
    for part in gather(table.columns.get("row"), np.arange(len(table.sources), dtype=np.int64)):
        found[slice(None) if part.rows is None else part.rows] = part.series.is_not_null().to_numpy()
    return found[rows]


def _written(table: RelationshipTable) -> Ids:
    """The rows of the relationships that stand on a line of a note: links, not what a graph adds by itself."""
    return np.flatnonzero(_lines(table).is_not_null().to_numpy())


def _flags(graph: Graph, ids: Ids, key: str) -> npt.NDArray[np.bool_]:
    """Whether the property ``key`` of each node is true."""
    cells = cells_of(node_property_column(graph, ids, key), len(ids))
    # row loop: the links of one type; a flag may be any value in a graph that is no vault
    return np.fromiter((cell is True for cell in cells), dtype=np.bool_, count=len(ids))


def _lines(table: RelationshipTable) -> pl.Series:
    """The line of each relationship, null where it has none: Int64."""
    count = len(table.sources)
    lines = np.full(count, -1, dtype=np.int64)
    for part in gather(table.columns.get("line"), np.arange(count, dtype=np.int64)):
        if part.series.dtype == pl.Int64:
            rows = np.arange(count, dtype=np.int64) if part.rows is None else part.rows
            lines[rows] = part.series.fill_null(-1).to_numpy()
    series = pl.Series(lines)
    return series.set(series < 0, None)


def _texts(graph: Graph, ids: Ids, key: str) -> pl.Series:
    """The property ``key`` of each node where it is a text, else null."""
    # row loop: the nodes of an answer
    cells = [one if isinstance(one, str) else None for one in cells_of(node_property_column(graph, ids, key), len(ids))]
    return pl.Series(cells, dtype=pl.String)


def _names(column: str, names: Iterable[str]) -> pl.DataFrame:
    return pl.DataFrame({column: pl.Series(list(names), dtype=pl.String)})


def _handed_in(name: str, schema: pl.Schema, tables: Tables) -> pl.DataFrame:
    """The table ``name`` that the caller of the engine handed in; empty without it."""
    make = tables.get(name)
    return schema.to_frame() if make is None else _cast(make(), schema)


def _cast(frame: pl.DataFrame, schema: pl.Schema) -> pl.DataFrame:
    return frame.select(pl.col(key).cast(schema[key]) for key in schema)
