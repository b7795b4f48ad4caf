"""Values as the operator writes them: a snapshot whose properties hold what `value_codecs` of the manifest says.

Between a session's snapshot and whoever asks it. Whole columns are written anew once a generation, so that patterns,
conditions, order, answers and samples all have the same values. What a codec does not lead back from stays as stored.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, cast

import polars as pl

from vaultgraph.cypher.plan_cache import PlanCache
from vaultgraph.graph.cells import series_of
from vaultgraph.graph.columns import VARIANT, Column, Segment
from vaultgraph.graph.schema import schema_of
from vaultgraph.note.records import ValueKind
from vaultgraph.serve.manifest import ValueCodec
from vaultgraph.serve.session import Session

if TYPE_CHECKING:
    from vaultgraph.graph.graph import Graph
    from vaultgraph.vault.snapshot import Snapshot

Plain = str | int | float | bool
_Cell = dict[str, object]  # of a variant segment
_TYPES: Final[Mapping[str, type]] = {"str": str, "int": int, "float": float}
_FIELDS: Final = {
    ValueKind.TEXT: "text",
    ValueKind.INTEGER: "number",
    ValueKind.FLOAT: "real",
    ValueKind.BOOLEAN: "number",
}
_ONE_GROUP: Final = re.compile(r"\^([^\\.^$*+?()\[\]{}|]*)\(([^()]*)\)([^\\.^$*+?()\[\]{}|]*)\$")
_WHOLE_GROUP: Final = frozenset({"$1", "${1}"})


@dataclass(frozen=True, slots=True)
class KeptCoded:
    """A coded snapshot, and the graph it was made of."""

    graph: "Graph"
    snapshot: "Snapshot"


def coded(session: Session, snapshot: "Snapshot") -> "Snapshot":
    """``snapshot`` with its values as the manifest writes them; itself where it states no codec."""
    codecs = session.manifest.value_codecs
    if not codecs:
        return snapshot
    kept = cast("KeptCoded | None", session.coded)
    if kept is None or kept.graph is not snapshot.graph:
        graph = coded_graph(snapshot.graph, codecs)
        made = replace(snapshot, graph=graph, schema=schema_of(graph, snapshot.schema.indexes), plans=PlanCache())
        session.coded = kept = KeptCoded(snapshot.graph, made)
    return replace(kept.snapshot, stale=snapshot.stale)


def coded_graph(graph: "Graph", codecs: Sequence[ValueCodec]) -> "Graph":
    """``graph`` with the properties of ``codecs`` written as they say, those of nodes and of relationships."""
    tables = {
        name: replace(table, columns=_coded_columns(table.columns, codecs))
        for name, table in graph.relationships.items()
    }
    return replace(graph, node_columns=_coded_columns(graph.node_columns, codecs), relationships=tables)


def _coded_columns(columns: Mapping[str, Column], codecs: Sequence[ValueCodec]) -> Mapping[str, Column]:
    found = {
        codec.property: Column(tuple(Segment(part.first, encoded(part.series, codec)) for part in column.segments))
        for codec in codecs
        if (column := columns.get(codec.property)) is not None
    }
    return {**columns, **found} if found else columns


def encoded(series: pl.Series, codec: ValueCodec) -> pl.Series:
    """The cells of a segment as ``codec`` writes them; lists, dates and what it does not know are left as they are."""
    if series.dtype == VARIANT:
        return _encoded_variants(series, codec)
    if series.dtype not in (pl.String(), pl.Int64(), pl.Float64(), pl.Boolean()):
        return series
    values = series.drop_nulls().unique()
    outer = _outer(values, codec)
    if not outer:
        return series
    if series.dtype == pl.String():
        return series.replace(list(outer), list(outer.values()))
    if len(outer) == len(values):
        return series.replace_strict(list(outer), list(outer.values()), default=None, return_dtype=pl.String)
    # row loop: cells differ in type now; as many as the segment has
    return series_of([outer.get(value, value) for value in series.to_list()])


def _encoded_variants(series: pl.Series, codec: ValueCodec) -> pl.Series:
    fields = series.struct.unnest()
    outer: dict[int, dict[object, str]] = {}
    for kind, name in _FIELDS.items():
        values = fields.filter(pl.col("kind") == kind)[name].unique()
        outer[kind] = cast(
            "dict[object, str]", _outer(values.cast(pl.Boolean) if kind == ValueKind.BOOLEAN else values, codec)
        )
    # row loop: cells differ in type; as many as the segment has
    cells: list[_Cell | None] = series.to_list()
    return pl.Series([_encoded_cell(cell, outer) for cell in cells], dtype=VARIANT)


def _encoded_cell(
    cell: dict[str, object] | None, outer: Mapping[int, Mapping[object, str]]
) -> dict[str, object] | None:
    kind = cast("int", cell["kind"]) if cell else 0
    if not cell or kind not in outer:
        return cell
    text = outer[kind].get(cell[_FIELDS[ValueKind(kind)]])
    return cell if text is None else {"kind": int(ValueKind.TEXT), "number": None, "real": None, "text": text}


def _outer(values: pl.Series, codec: ValueCodec) -> dict[Plain, str]:
    """The distinct ``values`` of one type that the codec writes otherwise, and how."""
    stored = cast("list[Plain]", values.to_list())
    wanted = _TYPES.get(codec.stored_type or "")
    if wanted is not None:
        stored = [value for value in stored if type(value) is wanted]
    match codec.kind:
        case "map":
            known = {(isinstance(one, bool), isinstance(one, str), one): name for name, one in codec.values.items()}
            keyed = {value: (isinstance(value, bool), isinstance(value, str), value) for value in stored}
            return {value: known[key] for value, key in keyed.items() if key in known}
        case "prefix":
            return {value: f"{codec.prefix}{value}" for value in stored if not isinstance(value, bool)}
        case "regex":
            return _outer_by_pattern([value for value in stored if not isinstance(value, bool)], codec)


def _outer_by_pattern(stored: Sequence[Plain], codec: ValueCodec) -> dict[Plain, str]:
    """Those that `encode` matches, and that `match` leads back to."""
    pair = codec.encode or inverse(codec.match, codec.decode)
    if pair is None or not stored:
        return {}
    texts = pl.Series(map(str, stored), dtype=pl.String)
    written = texts.str.replace(*pair)
    is_led_back = texts.str.contains(pair[0]) & written.str.contains(codec.match)
    is_led_back &= written.str.replace(codec.match, codec.decode) == texts
    rows = zip(stored, written.to_list(), is_led_back.to_list(), strict=True)
    return {value: text for value, text, is_right in rows if is_right}


def inverse(match: str, decode: str) -> tuple[str, str] | None:
    """The pattern and replacement that lead back where ``match`` is plain text around the one group that is kept."""
    found = _ONE_GROUP.fullmatch(match)
    if found is None or decode not in _WHOLE_GROUP:
        return None
    before, group, after = (part.replace("$", "$$") for part in found.groups())
    return f"^({group})$", f"{before}${{1}}{after}"
