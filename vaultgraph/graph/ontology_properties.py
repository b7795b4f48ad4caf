"""Holding property columns against a contract of the ontology: required, types, values.

Works on the columns of nodes and of relationships alike, whole segments at a time. It words what is wrong and leaves to
ontology.py where it is and how grave it is.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from vaultgraph.graph.coerce import cell_text
from vaultgraph.graph.columns import VARIANT, Column, Gathered, Ids, gather
from vaultgraph.graph.ontology_places import Flags, clipped
from vaultgraph.note.records import ValueKind
from vaultgraph.profile.ontology import Contract, PropertyType, ValueRule

SHOWN_CHARS: Final = 60
LIST: Final = 100  # code of a list beside ValueKind's, whatever its items are

_NUMBERS: Final = (ValueKind.INTEGER, ValueKind.FLOAT)
_MOMENTS: Final = (ValueKind.LOCAL_DATETIME, ValueKind.UTC_DATETIME)
_ADMITTED: Final[Mapping[PropertyType, tuple[int, ...]]] = {
    "string": (ValueKind.TEXT,),
    "integer": (ValueKind.INTEGER,),
    "float": _NUMBERS,
    "boolean": (ValueKind.BOOLEAN,),
    "date": (ValueKind.DATE,),
    "datetime": (ValueKind.DATE, *_MOMENTS),
    "list": (LIST,),
}
"""Kinds of cells that a type name admits; `any`, and `point` (which no note can state), admit every cell."""
_KINDS: Final[Mapping[type[pl.DataType], int]] = {
    pl.String: ValueKind.TEXT,
    pl.Int64: ValueKind.INTEGER,
    pl.Float64: ValueKind.FLOAT,
    pl.Boolean: ValueKind.BOOLEAN,
    pl.Date: ValueKind.DATE,
    pl.List: LIST,
}


@dataclass(frozen=True, slots=True)
class Broken:
    """One demand that some ids do not meet; ``messages`` has a text for each of ``ids``, after the declaring name."""

    check: str
    code: str
    ids: Ids
    messages: pl.Series


def broken_properties(contract: Contract, columns: Mapping[str, Column], ids: Ids, noun: str) -> Iterator[Broken]:
    """What of ``contract`` the nodes or relationship rows ``ids`` (not empty, each once) do not meet.

    ``noun``: "node" or "relationship", for the messages.
    """
    for key in contract.required_properties:
        lacking = ids[~present(columns.get(key), ids)]
        text = f"'{clipped(key)}' is required, and this {noun} has no value for it."
        yield Broken("required_properties", "ontology-property", lacking, pl.repeat(text, len(lacking), eager=True))
    for key, kind in contract.property_types.items():
        for part in gather(columns.get(key), ids):
            wrong = _of_other_type(part.series, kind)
            messages = _around(f"'{clipped(key)}' must be {_article(kind)}, but is '", part.series.filter(wrong), "'.")
            yield Broken("property_types", "ontology-type", _ids_of(part, ids)[wrong.to_numpy()], messages)
    for key, rule in contract.property_values.items():
        for part in gather(columns.get(key), ids):
            wrong = _outside(part.series, rule)
            after = f"', but must be {clipped(rule.words)}."
            messages = _around(f"'{clipped(key)}' is '", part.series.filter(wrong), after)
            yield Broken("property_values", "ontology-value", _ids_of(part, ids)[wrong.to_numpy()], messages)


def absent_keys(contract: Contract, columns: Mapping[str, Column], ids: Ids) -> list[str]:
    """Keys with a type or values declared that none of ``ids`` has: often a typing error. Sorted."""
    keys = {*contract.property_types, *contract.property_values} - {*contract.required_properties}
    return sorted(key for key in keys if not present(columns.get(key), ids).any())


def present(column: Column | None, ids: Ids) -> Flags:
    """Whether each of ``ids`` has a value: ``bool[len(ids)]``; an empty text or list is one."""
    found = np.zeros(len(ids), dtype=np.bool_)
    for part in gather(column, ids):
        has_value = _has_value(part.series).to_numpy()
        if part.rows is None:
            return has_value
        found[part.rows] = has_value
    return found


def shown(values: pl.Series) -> pl.Series:
    """Cells as texts for a message, cut to SHOWN_CHARS; null for none."""
    text = pl.DataFrame({"text": as_text(values)})
    is_long = pl.col("text").str.len_chars() > SHOWN_CHARS
    cut = pl.when(is_long).then(pl.col("text").str.head(SHOWN_CHARS - 1) + pl.lit("…")).otherwise("text")
    return text.select(text=cut)["text"]


def as_text(values: pl.Series) -> pl.Series:
    """Cells of any segment as texts, a list as JSON."""
    if values.dtype == VARIANT:
        is_empty = pl.col("kind") == ValueKind.EMPTY_LIST
        fields = values.struct.unnest()
        return fields.select(text=pl.when(is_empty).then(pl.lit("[]")).otherwise(cell_text()))["text"]
    if isinstance(values.dtype, pl.List):
        listed = pl.struct(x="value").struct.json_encode().str.slice(5).str.head(-1)
        return pl.DataFrame({"value": values}).select(text=pl.when(pl.col("value").is_not_null()).then(listed))["text"]
    return values.cast(pl.String)


def _article(kind: str) -> str:
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"


def _around(before: str, values: pl.Series, after: str) -> pl.Series:
    """A message for each value, with the value as text in the middle."""
    text = pl.DataFrame({"text": shown(values)}).select(
        text=pl.lit(before) + pl.col("text").fill_null("") + pl.lit(after)
    )
    return text["text"]


def _ids_of(part: Gathered, ids: Ids) -> Ids:
    return ids if part.rows is None else ids[part.rows]


def _has_value(values: pl.Series) -> pl.Series:
    return values.struct.field("kind").fill_null(0) > 0 if values.dtype == VARIANT else values.is_not_null()


def _kinds(values: pl.Series) -> pl.Series:
    """The kind of each cell, null for none: ValueKind codes, LIST for every list, JSON for a mapping."""
    if values.dtype != VARIANT:
        code = next((code for dtype, code in _KINDS.items() if isinstance(values.dtype, dtype)), None)
        code = code if code is not None else int(ValueKind.LOCAL_DATETIME)
        return pl.select(pl.when(values.is_not_null()).then(pl.lit(code, pl.UInt8))).to_series()
    kind, text = pl.col("kind"), pl.col("text")
    is_list = (kind == ValueKind.EMPTY_LIST) | ((kind == ValueKind.JSON) & text.str.starts_with("["))
    coded = pl.when(is_list).then(pl.lit(LIST, pl.UInt8)).when(kind > 0).then("kind")
    return values.struct.unnest().select(kind=coded)["kind"]


def _of_other_type(values: pl.Series, kind: PropertyType) -> pl.Series:
    admitted = _ADMITTED.get(kind)
    if admitted is None:
        return pl.repeat(False, len(values), dtype=pl.Boolean, eager=True)
    return (~_kinds(values).is_in(list(admitted))).fill_null(False)


def _outside(values: pl.Series, rule: ValueRule) -> pl.Series:
    """Whether a cell, or an item of a list, is a value the rule does not allow."""
    cells = _judged(values)
    kind, text, number = pl.col("kind"), pl.col("text"), pl.col("number")
    is_number, is_text = kind.is_in(list(_NUMBERS)), kind == ValueKind.TEXT
    wrong = pl.lit(False)
    if rule.enum:
        flags = [float(value) for value in rule.enum if isinstance(value, bool)]
        numbers = [
            float(value) for value in rule.enum if isinstance(value, int | float) and not isinstance(value, bool)
        ]
        texts = [value for value in rule.enum if isinstance(value, str)]
        known = (
            pl.when(is_number)
            .then(number.is_in(numbers))
            .when(kind == ValueKind.BOOLEAN)
            .then(number.is_in(flags))
            .otherwise(text.is_in(texts))
        )
        wrong |= ~known
    if rule.pattern is not None:
        wrong |= is_text & ~text.str.contains(rule.pattern)
    if rule.not_pattern is not None:
        wrong |= is_text & text.str.contains(rule.not_pattern)
    if rule.least is not None:
        wrong |= is_number & (number < rule.least)
    if rule.most is not None:
        wrong |= is_number & (number > rule.most)
    at = cells.filter(wrong.fill_null(False))["at"].unique()
    found = np.zeros(len(values), dtype=np.bool_)
    found[at.to_numpy()] = True
    return pl.Series(found)


def _judged(values: pl.Series) -> pl.DataFrame:
    """(at, kind, text, number) of cells and list items that rules for values are about; ``at`` is the cell's position.

    A list or mapping that is kept as JSON text is left out.
    """
    rows = pl.DataFrame({"at": pl.int_range(len(values), dtype=pl.Int64, eager=True), "value": values})
    if isinstance(values.dtype, pl.List):
        rows = rows.explode("value").drop_nulls("value")
        values = rows["value"]
    kinds = _kinds(values)
    if values.dtype == VARIANT:
        fields = values.struct.unnest()
        number = fields.select(pl.coalesce("real", pl.col("number").cast(pl.Float64)))["real"]
    else:
        is_number = isinstance(values.dtype, pl.Int64 | pl.Float64 | pl.Boolean)
        number = values.cast(pl.Float64) if is_number else pl.repeat(None, len(values), dtype=pl.Float64, eager=True)
    judged = pl.DataFrame({"at": rows["at"], "kind": kinds, "text": as_text(values), "number": number})
    return judged.filter(pl.col("kind").is_not_null() & ~pl.col("kind").is_in([LIST, ValueKind.JSON]))
