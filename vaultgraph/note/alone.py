"""Column work on texts in the caller's own thread.

Below all steps of reading. Polars hands an expression with arguments, such as a pattern, to its threads, waits for them
and gains nothing, since the arguments are constants: two changes of threads, which take longer than the work on a
thousand lines. It leaves that where a selection has as many expressions as there are threads; so it gets some that cost
nothing.
"""

from collections.abc import Iterable
from typing import Final

import polars as pl

_MOST: Final = 16  # expressions that are added; where there are more threads, none
TEXTS: Final = pl.col("text")


def _idle() -> list[pl.Expr]:
    size = pl.thread_pool_size()
    return [pl.lit(False).alias(f"idle {number}") for number in range(size)] if size <= _MOST else []


_IDLE: Final = _idle()


def selected(frame: pl.DataFrame, expressions: Iterable[pl.Expr]) -> pl.DataFrame:
    """The columns of ``expressions``, and others behind them."""
    asked = list(expressions)
    return frame.select_seq(*asked, *_IDLE[len(asked) :])


def made_of(texts: pl.Series, expression: pl.Expr) -> pl.Series:
    """What ``expression`` makes of ``TEXTS``, which ``texts`` is; by their name."""
    return pl.DataFrame([texts.alias("text")]).select_seq(expression, *_IDLE[1:]).to_series(0).alias(texts.name)


def kept(frame: pl.DataFrame, is_kept: pl.Series) -> pl.DataFrame:
    """The rows of ``frame`` for which ``is_kept``, Boolean, holds: all columns of a frame are left to threads, too."""
    return pl.DataFrame([column.filter(is_kept) for column in frame.get_columns()])
