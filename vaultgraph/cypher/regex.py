"""``=~``: whether a pattern matches a whole text, with an engine that never backtracks.

One implementation for columns and single values, so that both agree. Patterns that need look-around or back-references
are refused with advice: matching those could take unbounded time that no budget can interrupt.
"""

import polars as pl

from vaultgraph.cypher.values import Refusal


def matches(texts: pl.Series, pattern: str) -> pl.Series:
    """Whether the whole of each text matches, Boolean; null for null. ``texts`` is a String series.

    Raises:
        Refusal: the pattern is not one this engine takes.
    """
    try:
        pl.Series([""]).str.contains(pattern)  # alone, so that brackets cannot close the group put around it below
        return texts.str.contains(rf"\A(?:{pattern})\z")
    except pl.exceptions.ComputeError as error:
        raise Refusal(_advice(pattern, str(error))) from None


def matches_one(text: str, pattern: str) -> bool:
    """Whether the whole of ``text`` matches.

    Raises:
        Refusal: the pattern is not one this engine takes.
    """
    return bool(matches(pl.Series([text]), pattern)[0])


def _advice(pattern: str, reason: str) -> str:
    if "look-around" in reason:
        return (
            f"The regular expression '{pattern}' uses look-around, which is not available. "
            "Write it as several conditions joined by AND, OR and NOT."
        )
    if "backreference" in reason:
        return f"The regular expression '{pattern}' uses a back-reference, which is not available."
    if "size limit" in reason:
        return f"The regular expression '{pattern}' is too large once its repetitions are written out."
    detail = next((line[6:].strip() for line in reason.splitlines() if line.startswith("error:")), "it is not valid")
    return f"The regular expression '{pattern}' cannot be used: {detail}."
