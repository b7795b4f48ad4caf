"""A graph from data frames: one frame of nodes a label, one frame of relationships a type and pair of labels.

The way in for data that is no vault. It checks keys and ends, brings columns to the types the engine knows, and sorts
relationships; `graph.Graph.from_tables` is its public name.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import polars as pl

from vaultgraph.errors import BuildError
from vaultgraph.graph.columns import Segment

FROM: Final = "from"
TO: Final = "to"
SHOWN_KEYS: Final = 5  # of what is wrong, in an error

NodeFrames = Mapping[str, Any]  # label → polars DataFrame or anything with the Arrow C stream (pyarrow Table)
RelationshipFrames = Sequence[tuple[str, Any, str, str]]  # type, frame, label of `from`, label of `to`


def frame_of(data: Any, what: str) -> pl.DataFrame:
    """``data`` as a polars frame whose columns have the engine's types.

    Raises:
        BuildError: it is no table, or a column has a type that properties cannot have.
    """
    try:
        frame = data if isinstance(data, pl.DataFrame) else pl.DataFrame(data)
    except (TypeError, ValueError, pl.exceptions.PolarsError) as reason:
        raise BuildError(f"{what}: is no table ({reason}). Give a polars DataFrame or an Arrow table.") from reason
    return frame.select(_as_property(column, what) for column in frame.iter_columns())


def node_segments(nodes: Mapping[str, pl.DataFrame], key: str) -> tuple[dict[str, list[Segment]], dict[str, int]]:
    """Segments by property and the first node id of each label; nodes follow each other in the order of the frames.

    Raises:
        BuildError: a frame lacks ``key``, or a key is null or there twice.
    """
    segments: dict[str, list[Segment]] = {}
    firsts: dict[str, int] = {}
    first = 0
    for label, frame in nodes.items():
        if key not in frame.columns:
            raise BuildError(f"{label}: has no column {key!r}. Name the column of keys with key=….")
        if frame[key].null_count():
            raise BuildError(f"{label}: {frame[key].null_count():,} rows have no {key!r}.")
        if (twice := frame.filter(frame[key].is_duplicated())[key].unique(maintain_order=True)).len():
            raise BuildError(f"{label}: {key!r} is there twice: {_shown(twice)}.")
        firsts[label] = first
        for column in frame.iter_columns():
            if column.null_count() < len(column):
                segments.setdefault(column.name, []).append(Segment(first, column.rechunk()))
        first += frame.height
    return segments, firsts


def relationship_rows(
    relationships: RelationshipFrames, nodes: Mapping[str, pl.DataFrame], firsts: Mapping[str, int], key: str
) -> Iterator[tuple[str, pl.DataFrame]]:
    """For each frame its type and its rows: source, target UInt32 node ids, then the properties.

    Raises:
        BuildError: a label is unknown, `from` or `to` is missing, or names no node.
    """
    for name, data, start_label, end_label in relationships:
        frame = frame_of(data, name)
        ends: dict[str, pl.Series] = {}
        for column, label, end in ((FROM, start_label, "source"), (TO, end_label, "target")):
            if label not in nodes:
                raise BuildError(f"{name}: there are no nodes labelled {label!r}; there are: {', '.join(nodes)}.")
            if column not in frame.columns:
                raise BuildError(f"{name}: has no column {column!r}; relationships need `from` and `to`.")
            ends[end] = _node_ids(frame[column], nodes[label][key], firsts[label], f"{name}.{column}", label)
        properties = [column for column in frame.iter_columns() if column.name not in (FROM, TO)]
        rows = pl.DataFrame([series.alias(f" {end}") for end, series in ends.items()] + properties)
        yield name, rows


def _node_ids(asked: pl.Series, keys: pl.Series, first: int, what: str, label: str) -> pl.Series:
    if asked.dtype != keys.dtype:
        raise BuildError(f"{what}: holds {asked.dtype}, but the keys of {label} are {keys.dtype}.")
    places = pl.DataFrame({"key": keys, "id": np.arange(first, first + len(keys), dtype=np.uint32)})
    found = asked.alias("key").to_frame().join(places, on="key", how="left", maintain_order="left")["id"]
    if found.null_count():
        raise BuildError(f"{what}: names no node of {label}: {_shown(asked.filter(found.is_null()))}.")
    return found


def _shown(keys: pl.Series) -> str:
    shown = ", ".join(repr(key) for key in keys.head(SHOWN_KEYS).to_list())
    return f"{shown}, … ({len(keys):,} in all)" if len(keys) > SHOWN_KEYS else shown


def _as_property(column: pl.Series, what: str) -> pl.Series:
    dtype = _property_type(column.dtype)
    if dtype is None:
        raise BuildError(f"{what}: the column {column.name!r} is {column.dtype}, which no property can be.")
    try:
        return column.cast(dtype)
    except pl.exceptions.InvalidOperationError as reason:
        raise BuildError(f"{what}: the column {column.name!r} does not fit {dtype} ({reason}).") from reason


def _property_type(dtype: pl.DataType) -> pl.DataType | None:
    """The engine's type for a column, None where it has none."""
    if isinstance(dtype, pl.List | pl.Array):
        inner = _property_type(dtype.inner)  # pyright: ignore[reportArgumentType] -- instances, never classes
        return None if inner is None or isinstance(inner, pl.List) else pl.List(inner)
    if isinstance(dtype, pl.Datetime):
        return pl.Datetime("us", None if dtype.time_zone is None else "UTC")
    if dtype.is_integer():
        return pl.Int64()
    if dtype.is_float():
        return pl.Float64()
    if isinstance(dtype, pl.Categorical | pl.Enum):
        return pl.String()
    return dtype if isinstance(dtype, pl.Boolean | pl.String | pl.Date) else None
