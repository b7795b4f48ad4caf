"""Property cells as other types: cells as text, and the conversions a profile declares under `types:`.

Works on the long property rows before properties.py makes columns of them. A cell that cannot be converted stays as
written and becomes a problem; it is never dropped.
"""

from typing import Final

import polars as pl

from vaultgraph.note.records import ValueKind
from vaultgraph.profile.settings import Profile

DAY_US: Final = 86_400_000_000
_KIND, _NUMBER, _REAL = pl.col("kind"), pl.col("number"), pl.col("real")
_STRIPPED: Final = pl.col("text").str.strip_chars()
_LOCAL_FORMATS: Final = ("%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M")


def cell_text() -> pl.Expr:
    """The text of a scalar cell, from the columns kind, number, real and text; null for an empty list."""
    return (
        pl.when(_KIND.is_in([ValueKind.TEXT, ValueKind.JSON]))
        .then("text")
        .when(_KIND == ValueKind.INTEGER)
        .then(_NUMBER.cast(pl.String))
        .when(_KIND == ValueKind.FLOAT)
        .then(_REAL.cast(pl.String))
        .when(_KIND == ValueKind.BOOLEAN)
        .then(pl.when(_NUMBER == 0).then(pl.lit("false")).otherwise(pl.lit("true")))
        .when(_KIND == ValueKind.DATE)
        .then(_of_kind(ValueKind.DATE).cast(pl.Int32).cast(pl.Date).dt.to_string("%Y-%m-%d"))
        .when(_KIND == ValueKind.LOCAL_DATETIME)
        .then(_moment(ValueKind.LOCAL_DATETIME))
        .when(_KIND == ValueKind.UTC_DATETIME)
        .then(_moment(ValueKind.UTC_DATETIME) + pl.lit("Z"))
    )


def cell_texts(cells: pl.DataFrame) -> pl.Series:
    """The text of each scalar cell, named ``text``; ``cells``: kind, number, real, text."""
    if (cells["kind"] == ValueKind.TEXT).all():
        return cells["text"]
    return cells.select(cell_text().alias("text"))["text"]


def coerced(properties: pl.DataFrame, labels: pl.Series, profile: Profile) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The rows with every declared conversion made, and the cells that refused: (file, line, label, key, type, text).

    ``properties``: long rows with a ``file`` column; ``labels``: specific label of each note by file row. A type
    declared for the note label goes for every note; one declared for a specific label goes before it.
    """
    refused: list[pl.DataFrame] = []
    kept = properties.with_row_index("place") if profile.types else properties
    declared = [(label, key, kind) for label, table in profile.types.items() for key, kind in table.items()]
    done: dict[str, pl.Series] = {}
    for label, key, kind in sorted(declared, key=lambda entry: (entry[0] == profile.note_label, entry)):
        files = kept["file"]
        is_meant = kept["key"] == key
        if label == profile.note_label:
            is_meant &= ~files.is_in(done[key].implode()) if key in done else True
        else:
            members = (labels == label).fill_null(False).arg_true().cast(pl.Int64)
            is_meant &= files.is_in(members.implode())
            done[key] = members if key not in done else done[key].append(members)
        if not is_meant.any():
            continue
        converted = kept.filter(is_meant).with_columns(_conversion(kind)).unnest("converted")
        made = converted.filter("is_made").drop("kind", "number", "real", "text", "ordinal", "is_made")
        made = made.rename({f"new_{name}": name for name in ("kind", "number", "real", "text", "ordinal")})
        left = converted.filter(~pl.col("is_made"))
        refused.append(
            left.select(
                "file", "line", pl.lit(label).alias("label"), "key", pl.lit(kind).alias("type"), text=cell_text()
            )
        )
        kept = pl.concat([kept.filter(~is_meant), made.select(kept.columns), left.select(kept.columns)])
    if not refused:
        return properties, _refused_schema().to_frame()
    # Items of a list keep their order, whichever of them could be converted.
    return kept.sort("place").drop("place"), pl.concat(refused)


def _refused_schema() -> pl.Schema:
    text = pl.String
    return pl.Schema({"file": pl.Int64, "line": pl.Int32, "label": text, "key": text, "type": text, "text": text})


def _conversion(kind: str) -> pl.Expr:
    """A struct ``converted`` of the new cell fields and ``is_made``; empty lists and cells of the type pass as made."""
    same, number, real, text = pl.lit(False), pl.lit(None, pl.Int64), pl.lit(None, pl.Float64), pl.lit(None, pl.String)
    new_kind: pl.Expr = pl.lit(ValueKind.TEXT.value, pl.UInt8)
    ordinal = pl.col("ordinal")
    match kind:
        case "string":
            text = cell_text()
        case "int":
            same, number = _KIND == ValueKind.INTEGER, _as_int()
            new_kind = pl.lit(ValueKind.INTEGER.value, pl.UInt8)
        case "float":
            same, real = _KIND == ValueKind.FLOAT, _as_float()
            new_kind = pl.lit(ValueKind.FLOAT.value, pl.UInt8)
        case "bool":
            same, number = _KIND == ValueKind.BOOLEAN, _as_bool()
            new_kind = pl.lit(ValueKind.BOOLEAN.value, pl.UInt8)
        case "date":
            same, number = _KIND == ValueKind.DATE, _as_days()
            new_kind = pl.lit(ValueKind.DATE.value, pl.UInt8)
        case "datetime":
            same = _KIND.is_in([ValueKind.LOCAL_DATETIME, ValueKind.UTC_DATETIME])
            local, utc = _as_moments()
            number = pl.coalesce(utc, local)
            is_utc = utc.is_not_null()
            new_kind = pl.when(is_utc).then(ValueKind.UTC_DATETIME.value).otherwise(ValueKind.LOCAL_DATETIME.value)
        case _:  # "list": a scalar becomes a list of one
            same, ordinal = pl.lit(True), pl.max_horizontal(pl.col("ordinal"), pl.lit(0, pl.Int32))
    keeps = same | (_KIND == ValueKind.EMPTY_LIST)
    is_new = ~keeps & pl.coalesce(number.is_not_null() | real.is_not_null() | text.is_not_null(), pl.lit(False))
    return pl.struct(
        new_kind=pl.when(keeps).then("kind").otherwise(new_kind.cast(pl.UInt8)),
        new_number=pl.when(keeps).then("number").otherwise(number),
        new_real=pl.when(keeps).then("real").otherwise(real),
        new_text=pl.when(keeps).then("text").otherwise(text),
        new_ordinal=ordinal.cast(pl.Int32),
        is_made=keeps | is_new,
    ).alias("converted")


def _of_kind(kind: ValueKind) -> pl.Expr:
    """The number of cells of ``kind``, null for the others, so that a cast never sees a foreign one."""
    return pl.when(_KIND.eq(kind)).then("number")


def _moment(kind: ValueKind) -> pl.Expr:
    moment = _of_kind(kind).cast(pl.Datetime("us"))
    return moment.dt.to_string("%Y-%m-%dT%H:%M:%S%.f")


def _text_where(pattern: str) -> pl.Expr:
    return pl.when((_KIND == ValueKind.TEXT) & _STRIPPED.str.contains(pattern)).then(_STRIPPED)


def _as_int() -> pl.Expr:
    whole = pl.when((_KIND == ValueKind.FLOAT) & _REAL.floor().eq(_REAL) & (_REAL.abs() < 2**63)).then("real")
    return pl.coalesce(_text_where(r"^[+-]?\d+$").cast(pl.Int64, strict=False), whole.cast(pl.Int64, strict=False))


def _as_float() -> pl.Expr:
    number = r"^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$"
    return pl.coalesce(_text_where(number).cast(pl.Float64, strict=False), _of_kind(ValueKind.INTEGER).cast(pl.Float64))


def _as_bool() -> pl.Expr:
    word = pl.when(_KIND == ValueKind.TEXT).then(_STRIPPED.str.to_lowercase())
    return pl.when(word.is_in(["true", "yes"])).then(1).when(word.is_in(["false", "no"])).then(0).cast(pl.Int64)


def _as_days() -> pl.Expr:
    written = _text_where(r"^\d{4}-\d{2}-\d{2}$").str.to_date("%Y-%m-%d", strict=False).cast(pl.Int32).cast(pl.Int64)
    is_moment = _KIND.is_in([ValueKind.LOCAL_DATETIME, ValueKind.UTC_DATETIME])
    return pl.coalesce(written, pl.when(is_moment).then(_NUMBER.floordiv(DAY_US)))


def _as_moments() -> tuple[pl.Expr, pl.Expr]:
    """Microseconds of a local time and of a zoned one, each null where the cell is not one."""
    zone = r"(?:[zZ]|[+-]\d{2}:?\d{2})$"
    plain = pl.when((_KIND == ValueKind.TEXT) & ~_STRIPPED.str.contains(zone + r"|^\d{4}-\d{2}-\d{2}$")).then(_STRIPPED)
    local = pl.coalesce(
        *[plain.str.to_datetime(form, strict=False, time_unit="us").cast(pl.Int64) for form in _LOCAL_FORMATS],
        _text_where(r"^\d{4}-\d{2}-\d{2}$").str.to_date("%Y-%m-%d", strict=False).cast(pl.Int32).cast(pl.Int64)
        * DAY_US,
        _of_kind(ValueKind.DATE) * DAY_US,
    )
    zoned = (
        _text_where(r"^\d{4}-\d{2}-\d{2}[T ].*" + zone)
        .str.replace(r"[zZ]$", "+00:00")
        .str.replace(" ", "T", literal=True)
    )
    utc = zoned.str.to_datetime("%Y-%m-%dT%H:%M:%S%.f%z", strict=False, time_unit="us").cast(pl.Int64)
    return local, utc
