"""A graph as one GraphML file: valid XML 1.0 with typed keys, made piece by piece.

Labels are a data key `labels` (``:Note:Person``), types a data key `label` of relationships, as Gephi, NetworkX and
Neo4j's APOC read them. Lists, dates and mixed values are text; characters XML has no place for become U+FFFD.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from xml.sax.saxutils import escape, quoteattr

import polars as pl

from vaultgraph.export.columns import TypedColumn, columns_between, json_texts
from vaultgraph.export.plan import Loss, Plan
from vaultgraph.graph.columns import Column
from vaultgraph.graph.graph import Graph

FORM: Final = "graphml"
FILE: Final = "graph.graphml"
_BATCH: Final = 2000
_FORBIDDEN: Final = "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
_FORBIDDEN_BYTES: Final = r"[\x{00}-\x{08}\x{0B}\x{0C}\x{0E}-\x{1F}\x{FFFE}\x{FFFF}]"
_TYPES: Final[dict[pl.DataType, str]] = {pl.Int64(): "long", pl.Float64(): "double", pl.Boolean(): "boolean"}
_HEAD: Final = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns"'
    ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns'
    ' http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">\n'
)


@dataclass(frozen=True, slots=True)
class _Key:
    """A declared property: ``id`` in the file, ``kind`` the type GraphML knows it by."""

    id: str
    name: str
    kind: str


def plan_graphml(graph: Graph) -> Plan:
    """One file; characters that XML cannot hold are counted as lost."""
    nodes = _keys("n", [(graph.node_columns, group.first, group.stop) for group in graph.groups])
    tables = list(graph.relationships.values())
    relationships = _keys("r", [(table.columns, 0, len(table.sources)) for table in tables])
    lost = _unwritable(graph)
    return Plan(FORM, {FILE: lambda: _pieces(graph, nodes, relationships)}, lost)


def _keys(prefix: str, spans: Sequence[tuple[Mapping[str, Column], int, int]]) -> dict[str, _Key]:
    """A key a property; ``string`` where its types differ."""
    found: dict[str, set[str]] = {}
    for columns, first, stop in spans:
        for column in columns_between(columns, first, stop):
            kind = "string" if column.is_json else _TYPES.get(column.values.dtype, "string")
            found.setdefault(column.key, set()).add(kind)
    return {
        name: _Key(f"{prefix}{at}", name, kinds.pop() if len(kinds) == 1 else "string")
        for at, (name, kinds) in enumerate(sorted(found.items()))
    }


def _pieces(graph: Graph, nodes: Mapping[str, _Key], relationships: Mapping[str, _Key]) -> Iterator[bytes]:
    head = [_HEAD, '<key id="labels" for="node" attr.name="labels" attr.type="string"/>\n']
    head.append('<key id="label" for="edge" attr.name="label" attr.type="string"/>\n')
    head += [_declared(key, "node") for key in nodes.values()]
    head += [_declared(key, "edge") for key in relationships.values()]
    yield ("".join(head) + '<graph id="G" edgedefault="directed">\n').encode()
    for group in graph.groups:
        text = _clean("".join(f":{label}" for label in group.labels))
        mark = f' labels={quoteattr(text)}><data key="labels">{escape(text)}</data>'
        for first in range(group.first, group.stop, _BATCH):
            stop = min(first + _BATCH, group.stop)
            data = _data(graph.node_columns, first, stop, nodes)
            # row loop: the nodes of the graph, a batch at a time
            yield "".join(f'<node id="n{first + at}"{mark}{cells}</node>\n' for at, cells in enumerate(data)).encode()
    for table in graph.relationships.values():
        text = _clean(table.type)
        mark = f' label={quoteattr(text)}><data key="label">{escape(text)}</data>'
        for first in range(0, len(table.sources), _BATCH):
            stop = min(first + _BATCH, len(table.sources))
            data = _data(table.columns, first, stop, relationships)
            ends = zip(table.sources[first:stop].tolist(), table.targets[first:stop].tolist(), strict=True)
            # row loop: the relationships of the graph, a batch at a time
            yield "".join(
                f'<edge id="e{table.first + first + at}" source="n{source}" target="n{target}"{mark}{cells}</edge>\n'
                for at, ((source, target), cells) in enumerate(zip(ends, data, strict=True))
            ).encode()
    yield b"</graph>\n</graphml>\n"


def _declared(key: _Key, what: str) -> str:
    return f'<key id="{key.id}" for="{what}" attr.name={quoteattr(_clean(key.name))} attr.type="{key.kind}"/>\n'


def _data(columns: Mapping[str, Column], first: int, stop: int, keys: Mapping[str, _Key]) -> list[str]:
    """The data elements of each id."""
    found = [pl.repeat("", stop - first, dtype=pl.String, eager=True)]
    for column in columns_between(columns, first, stop):
        key = keys[column.key]
        text = _texts(column)
        inside = pl.concat_str(pl.lit(f'<data key="{key.id}">'), text, pl.lit("</data>"))
        found.append(pl.select(inside.fill_null("")).to_series())
    return pl.select(pl.concat_str(found)).to_series().to_list()


def _texts(column: TypedColumn) -> pl.Series:
    """The cells as escaped text, null where there is none."""
    values = column.values
    if isinstance(values.dtype, pl.List):
        texts = json_texts(values)
    elif isinstance(values.dtype, pl.Datetime):
        texts = values.dt.to_string("iso:strict" if values.dtype.time_zone is None else "%Y-%m-%dT%H:%M:%S%.fZ")
    else:
        texts = values.cast(pl.String)
    if values.dtype in (pl.Int64(), pl.Float64(), pl.Boolean(), pl.Date()):
        return texts.replace({"NaN": "NaN", "inf": "INF", "-inf": "-INF"}) if values.dtype == pl.Float64() else texts
    return (
        texts.str.replace_all(_FORBIDDEN_BYTES, "\ufffd")
        .str.replace_all("&", "&amp;", literal=True)
        .str.replace_all("<", "&lt;", literal=True)
        .str.replace_all(">", "&gt;", literal=True)
        .str.replace_all("\r", "&#13;", literal=True)
    )


def _clean(text: str) -> str:
    return re.sub(_FORBIDDEN, "\ufffd", text)


def _unwritable(graph: Graph) -> list[Loss]:
    """A loss for each property with characters that XML has no place for."""
    found: list[Loss] = []
    owners: list[tuple[str, Mapping[str, Column]]] = [("nodes", graph.node_columns)]
    owners += [(table.type, table.columns) for table in graph.relationships.values()]
    for owner, columns in owners:
        for key, column in sorted(columns.items()):
            count = sum(_count(segment.series) for segment in column.segments)
            if count:
                found.append(Loss("characters-replaced", f"{key} of {owner}: {count} values"))
    return found


def _count(series: pl.Series) -> int:
    dtype: Any = series.dtype
    if isinstance(dtype, pl.Struct):
        series = series.struct.field("text")
    elif isinstance(dtype, pl.List):
        if dtype.inner != pl.String():
            return 0
        series = series.list.explode()
    elif dtype != pl.String():
        return 0
    return int(series.str.contains(_FORBIDDEN_BYTES).sum())
