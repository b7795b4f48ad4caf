"""A warning for dates compared with texts, or with moments of another type: right Cypher that never matches.

Called by execute/strict where columns are compared. Notes hold real dates, and queries are written with texts.
"""

from typing import Final

import polars as pl

from vaultgraph.cypher.advice import shortened
from vaultgraph.cypher.execute.bindings import ValueColumn
from vaultgraph.cypher.execute.context import Context
from vaultgraph.cypher.execute.operand import Constant, Operand
from vaultgraph.cypher.syntax import Binary, Expression, Literal, Parameter
from vaultgraph.cypher.values import is_list, type_name

_MAKERS: Final = {"DATE": "date", "LOCAL DATETIME": "localdatetime", "ZONED DATETIME": "datetime"}
Side = tuple[Expression, Operand]


def warn_unlike_times(left: Side, right: Side, context: Context) -> None:
    """Keep a warning where one side is a column of dates or datetimes, and the other a text or another such type."""
    for (column_part, column), (other_part, other) in ((left, right), (right, left)):
        if isinstance(column, Constant):
            continue
        one, two = _type_of(column), _type_of(other)
        if one in _MAKERS and one != two and two in (*_MAKERS, "LOCAL TIME", "ZONED TIME", "STRING"):
            name, value = _shown(column_part, context), _shown(other_part, context)
            maker = _MAKERS[one]
            advice = f"{maker}({value})" if isinstance(other_part, Literal | Parameter) else f"{maker}(…)"
            message = f"{name} is {one} and {value} is {two}: they never match. Compare with {advice}."
            if one == "ZONED DATETIME" and two == "DATE":
                message = message.removesuffix(".") + f", or date({name})."
            context.warnings[message] = None
            return


def warn_times_as_texts(part: Binary, left: Operand, right: Operand, context: Context) -> None:
    """Keep a warning where a text operator, or ``IN`` with a list of texts, is used on a column of dates."""
    one = None if isinstance(left, Constant) else _type_of(left)
    if one not in _MAKERS or not isinstance(right, Constant):
        return
    name = _shown(part.left, context)
    if part.operator != "IN":
        message = f"{name} is {one}, no STRING, so {part.operator} never holds: write toString({name})."
    elif is_list(right.value) and any(isinstance(item, str) for item in right.value):
        message = f"{name} is {one} and the list holds STRING: they never match. Write {_MAKERS[one]}('…') in the list."
    else:
        return
    context.warnings[message] = None


def warn_of_sought(variable: str, key: str, texts: pl.Series, dtype: pl.DataType, context: Context) -> None:
    """Keep a warning where nodes are sought by a text in a column of dates."""
    maker = _MAKERS[
        "DATE" if dtype == pl.Date else "LOCAL DATETIME" if dtype == pl.Datetime("us") else "ZONED DATETIME"
    ]
    name = key if variable.startswith(" ") else f"{variable}.{key}"
    text = f"'{shortened(texts[0])}'"
    message = f"{name} is no STRING, and {text} is: they never match. Compare with {maker}({text})."
    context.warnings[message] = None


def _type_of(operand: Operand) -> str | None:
    match operand:
        case Constant(value):
            return type_name(value)
        case ValueColumn(series) if series.dtype == pl.String:
            return "STRING"
        case ValueColumn(series) if series.dtype == pl.Date:
            return "DATE"
        case ValueColumn(series) if isinstance(series.dtype, pl.Datetime):
            return "LOCAL DATETIME" if series.dtype.time_zone is None else "ZONED DATETIME"
        case _:
            return None


def _shown(part: Expression, context: Context) -> str:
    start, stop = part.at
    if stop:
        return shortened(context.text[start:stop])
    return (
        f"'{shortened(part.value)}'" if isinstance(part, Literal) and isinstance(part.value, str) else "this property"
    )
