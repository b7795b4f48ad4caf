"""Inline fields as rows: property cells beside those of the frontmatter, and links that belong to a property.

After `fields` has found them, before the RecordTable. A value is typed as the same text is in frontmatter.
"""

from collections.abc import Sequence
from typing import Final

import polars as pl

from vaultgraph.note.fields import Field
from vaultgraph.note.frontmatter import NULL, TEXT, implicit_kind
from vaultgraph.note.inline import TokenKind
from vaultgraph.note.records import PROPERTIES, ValueKind
from vaultgraph.note.values import native

Stated = tuple[int, int, Field]  # note, 1-based line of the file, field
_QUOTES: Final = ('"', "'")


def with_fields(properties: pl.DataFrame, fields: Sequence[Stated]) -> pl.DataFrame:
    """The table PROPERTIES with the cells of ``fields``, which are in order of notes.

    Where a note has several values of one key they are one list, those of the frontmatter first.
    """
    rows: list[tuple[object, ...]] = []
    # row loop: the fields of the batch
    for note, line, field in fields:
        kind, text = _scalar(field.value)
        if kind != NULL:
            rows.append((note, field.key, -1, *native(kind, text), line))
    if not rows:
        return properties
    cells = pl.DataFrame(dict(zip(PROPERTIES, zip(*rows, strict=True), strict=True)), schema=PROPERTIES)
    both = pl.concat([properties.with_columns(is_field=pl.lit(False)), cells.with_columns(is_field=pl.lit(True))])
    cell = ("note", "key")
    has_field = pl.col("is_field").any().over(cell)
    is_empty = pl.col("kind") == ValueKind.EMPTY_LIST
    # what is a list in frontmatter stays one, however many values it has
    is_list = (pl.len().over(cell) > 1) | (pl.col("ordinal") >= 0).any().over(cell) | is_empty.any().over(cell)
    both = both.with_columns(has_field=has_field, is_list=is_list).filter(~(is_empty & pl.col("has_field")))
    place = pl.int_range(pl.len(), dtype=pl.Int32).over(cell)
    ordinal = pl.when(pl.col("has_field") & pl.col("is_list")).then(place).otherwise("ordinal")
    ordered = both.with_columns(ordinal=ordinal.cast(pl.Int32)).sort("note", maintain_order=True)
    return ordered.select(properties.columns)


def with_field_keys(tokens: pl.DataFrame, fields: Sequence[Stated]) -> pl.DataFrame:
    """``tokens`` (note, line, kind, name and others) with ``field``: the key in whose value a wikilink is."""
    rows = [(note, line, name, field.key) for note, line, field in fields for name in field.names()]
    schema = {"note": pl.UInt32, "line": pl.Int32, "name": pl.String, "field": pl.String}
    keys = pl.DataFrame(rows, schema=schema, orient="row").unique(["note", "line", "name"], keep="first")
    joined = tokens.join(keys, on=["note", "line", "name"], how="left", maintain_order="left")
    return joined.with_columns(field=pl.when(pl.col("kind") == TokenKind.WIKILINK).then("field"))


def _scalar(value: str) -> tuple[str, str]:
    """Kind and text of a value; quotes around it make it text."""
    if len(value) > 1 and value[0] in _QUOTES and value.find(value[0], 1) == len(value) - 1:
        return TEXT, value[1:-1]
    return implicit_kind(value), value
