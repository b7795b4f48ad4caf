"""A result as a data frame, and as a table to look at in a terminal or a notebook.

Called by cypher/result. Typed columns keep their types; a column of nodes, relationships, paths, maps or mixed values
has no type a frame could keep, so it becomes JSON text. Tables to look at show the first rows and say how many there
are.
"""

import json
import math
from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any, Final, cast

import polars as pl

from vaultgraph.cypher.durations import Duration
from vaultgraph.cypher.execute.bindings import BoundColumn, ValueColumn
from vaultgraph.cypher.execute.fetch import column_values
from vaultgraph.cypher.temporals import Temporal
from vaultgraph.cypher.values import Node, Path, Relationship, materialize_all
from vaultgraph.graph.graph import Graph

SHOWN_ROWS: Final = 20
SHOWN_CHARS: Final = 200  # of one cell


def frame_of(columns: Sequence[tuple[str, BoundColumn]], graph: Graph, height: int) -> pl.DataFrame:
    """One polars column a result column, in order: typed ones as they are, moments and durations that no type of polars
    holds as ISO text, others as JSON text."""
    if not columns:
        return pl.DataFrame(height=height)
    return pl.DataFrame([_series(name, column, graph) for name, column in columns])


def _series(name: str, column: BoundColumn, graph: Graph) -> pl.Series:
    if isinstance(column, ValueColumn):
        return column.series.alias(name)
    values = materialize_all(column_values(column), graph)
    is_times = all(value is None or isinstance(value, date | Temporal | Duration) for value in values)
    text = _time_text if is_times else json_text
    return pl.Series(name, [None if value is None else text(value) for value in values], dtype=pl.String)


def _time_text(value: object) -> str:
    return str(_plain(value))


def json_text(value: object) -> str:
    """A public value as JSON: nodes as labels and properties, relationships as type and properties, times as text."""
    return json.dumps(_plain(value), ensure_ascii=False)


def _plain(value: object) -> Any:
    match value:
        case float() if not math.isfinite(value):
            return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        case None | bool() | int() | float() | str():
            return value
        case Node():
            return {"labels": list(value.labels), "properties": _plain(value.properties)}
        case Relationship():
            return {"type": value.type, "properties": _plain(value.properties)}
        case Path():
            return {"nodes": _plain(list(value.nodes)), "relationships": _plain(list(value.relationships))}
        case list():
            return [_plain(item) for item in cast("list[object]", value)]
        case dict():
            return {key: _plain(item) for key, item in cast("dict[str, object]", value).items()}
        case _:
            return value.isoformat().replace("+00:00", "Z") if isinstance(value, date) else str(value)


def shown_cell(value: object) -> str:
    """A value as one line, cut to SHOWN_CHARS."""
    text = value if isinstance(value, str) else "" if value is None else json_text(value).strip('"')
    text = " ".join(text.split())
    return text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]}…"


def rest_line(shown: int, rows: int) -> str:
    """What is said below a table: nothing where every row is in it."""
    return "" if shown == rows else f"{shown} of {rows:,} rows"


def html_table(columns: Sequence[str], rows: Iterable[Sequence[object]], height: int) -> str:
    """An HTML table of the first rows; everything in it is escaped."""
    import html  # noqa: PLC0415 -- only for notebooks

    head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
    lines = ["<tr>" + "".join(f"<td>{html.escape(shown_cell(value))}</td>" for value in row) + "</tr>" for row in rows]
    rest = rest_line(len(lines), height)
    foot = f"<p>{rest}</p>" if rest else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>{foot}"
