"""Links, embeds and tags of all segments at once, by polars' regular expressions.

One alternation in order of precedence reads each segment from left to right, so code spans, comments and escapes take
their text out of play. What an alternation cannot judge goes to the exact scan of `inline`; both give the same columns.
`links` turns them into rows of the RecordTable.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np
import polars as pl

from vaultgraph.note.inline import References, TokenKind, scan_inline
from vaultgraph.note.patterns import (
    AUTOLINK,
    HTML_TAG,
    LINK_TAIL,
    PLAIN_TEXT,
    PUNCTUATION,
    SPACE,
    TAG_CHARS,
    URL,
    URL_START,
    WIKILINK,
)
from vaultgraph.note.segments import Segments

MOST_BYTES: Final = 4096  # longer segments with comments are scanned exactly: each opener may look ahead to the end

_ESCAPE: Final = rf"\\{PUNCTUATION}"
_LINK: Final = rf"!?\[{PLAIN_TEXT}\]{LINK_TAIL}"
_TOKEN: Final = "|".join(
    (
        rf"(?:\A|[{SPACE}]|{_ESCAPE})(?:#{TAG_CHARS}+)+",
        _ESCAPE,
        "`[^`]+`",
        r"<!--(?:-?>|(?s:.*?)-->)",
        AUTOLINK,
        HTML_TAG,
        WIKILINK,
        _LINK,
        rf"(?:\A|{URL_START}){URL}",
        r"\n",
    )
)
_DIFFICULT: Final = (
    r"``|\$[^$]*\$|\][^\[\]]*\]\(|<[^\[\]]*\]\(|\\\[[^\[\]]*\]\(|(?:[>\])`]|\\.)https?://"
    rf"|(?:[{SPACE}]|\\.)#[^\[\]]*\]\("  # a tag in a link's text
)
_DOUBTFUL: Final = r"``|\$|\]\(|://"  # literals, one of which every difficult text has: quickly looked for
_COLUMNS: Final = pl.Schema(
    {
        "segment": pl.UInt32,
        "line": pl.Int64,  # of the batch
        "kind": pl.UInt8,
        "is_embed": pl.Boolean,
        "name": pl.String,
        "text": pl.String,
        "title": pl.String,
    }
)


def find_tokens(segments: Segments) -> pl.DataFrame:
    """Every link, embed and tag: segment (row of ``segments.text``), line (row of the batch), kind and raw parts.

    In order of segment and position.
    """
    frame = segments.text.with_row_index("segment")
    exact = difficult(segments)
    if not exact.any():
        return _quick(frame)
    quick = _quick(frame.filter(~exact))
    slow = _slow(frame.filter(exact), segments.references)
    return pl.concat([quick, slow]).sort("segment", maintain_order=True)


def difficult(segments: Segments) -> pl.Series:
    """Which segments the column scan leaves to the exact one."""
    text = pl.col("text")
    found = segments.text.select(
        long=(text.str.len_bytes() > MOST_BYTES) & text.str.contains("<!--", literal=True),
        doubtful=text.str.contains(_DOUBTFUL),
        referring=pl.col("body").is_in(list(segments.references)) & text.str.contains("[", literal=True),
    )
    doubtful = found["doubtful"].arg_true()
    is_difficult = segments.text["text"].gather(doubtful).str.contains(_DIFFICULT)
    return (found["long"] | found["referring"]).scatter(doubtful.filter(is_difficult), True).alias("difficult")


def _quick(frame: pl.DataFrame) -> pl.DataFrame:
    found = frame.select("segment", "row", raw=pl.col("text").str.extract_all(_TOKEN)).explode("raw").drop_nulls("raw")
    raw = pl.col("raw")
    marks = found.select(
        ends=raw.str.count_matches("\n", literal=True),
        is_end=raw.str.starts_with("\n"),
        is_wiki=raw.str.starts_with("[["),
        is_embed=raw.str.starts_with("![["),
    )
    segment, ends = found["segment"].to_numpy(), marks["ends"].to_numpy().astype(np.int64)
    before = np.cumsum(ends) - ends
    is_first = np.ones(len(segment), dtype=np.bool_)
    is_first[1:] = segment[1:] != segment[:-1]
    base = before[is_first][np.cumsum(is_first) - 1] if len(segment) else before
    line = found["row"].to_numpy() + before - base + marks["is_end"].to_numpy()
    found = pl.DataFrame([found["segment"], pl.Series("line", line), found["raw"], marks["is_embed"]]).with_row_index(
        "order"
    )
    is_wiki = marks["is_wiki"] | marks["is_embed"]
    rest = found.filter(~is_wiki)
    kinds = [_wikilinks(found.filter(is_wiki)), *_links_and_addresses(rest), _tags(rest)]
    return pl.concat(kinds).sort("order", maintain_order=True).select(_COLUMNS.names())


def _wikilinks(found: pl.DataFrame) -> pl.DataFrame:
    inner = pl.col("raw").str.strip_prefix("!").str.strip_prefix("[[").str.strip_suffix("]]")
    return _shaped(found, TokenKind.WIKILINK, embed=pl.col("is_embed"), name=inner)


def _links_and_addresses(found: pl.DataFrame) -> list[pl.DataFrame]:
    if not found.height:
        return []
    raw = pl.col("raw")
    bracketed = found["raw"].str.contains(r"\A!?\[(?:[^\[]|\z)")
    parts = found.filter(bracketed)
    groups = parts["raw"].str.extract_groups(rf"\A!?\[({PLAIN_TEXT})\]{LINK_TAIL}\z").struct.unnest()
    is_link = groups["1"].is_not_null()
    title = pl.coalesce("4", "5", "6")
    links = _shaped(
        parts.hstack(groups).filter(is_link),
        TokenKind.MARKDOWN,
        embed=raw.str.starts_with("!"),
        name=pl.coalesce("2", "3", pl.lit("")),
        text=pl.col("1"),
        title=pl.when(title != "").then(title),
    )
    # a bare address may stand behind an opening bracket that is no link
    others = pl.concat([found.filter(~bracketed), parts.filter(~is_link)])
    address = others.with_columns(
        name=pl.coalesce(
            raw.str.extract(rf"\A<((?i:https?)://[^{SPACE}<>]+)>\z"), raw.str.extract(rf"\A(?:{URL_START})?({URL})\z")
        )
    )
    return [links, _shaped(address.drop_nulls("name"), TokenKind.URL, name=pl.col("name"))]


def _tags(found: pl.DataFrame) -> pl.DataFrame:
    # a tag may follow a tag directly
    names = pl.col("raw").str.extract(rf"\A(?:[{SPACE}]|\\.)?#([^#]+(?:#[^#]+)*)\z").str.split("#")
    tags = found.with_columns(name=names).drop_nulls("name").explode("name")
    return _shaped(tags, TokenKind.TAG, name=pl.col("name"))


def _shaped(
    found: pl.DataFrame,
    kind: TokenKind,
    *,
    name: pl.Expr,
    embed: pl.Expr | None = None,
    text: pl.Expr | None = None,
    title: pl.Expr | None = None,
) -> pl.DataFrame:
    nothing = pl.lit(None, dtype=pl.String)
    return found.select(
        "order",
        "segment",
        "line",
        kind=pl.lit(int(kind), dtype=pl.UInt8),
        is_embed=pl.lit(False) if embed is None else embed,
        name=name,
        text=nothing if text is None else text,
        title=nothing if title is None else title,
    )


def _slow(frame: pl.DataFrame, references: Mapping[int, References]) -> pl.DataFrame:
    rows: list[tuple[int, int, int, bool, str, str | None, str | None]] = []
    # row loop: segments the column scan cannot judge
    for segment, row, body, text in frame.select("segment", "row", "body", "text").iter_rows():
        rows += [(segment, row + token.line, *token[1:]) for token in scan_inline(text, references.get(body, {}))]
    return pl.DataFrame(rows, schema=_COLUMNS, orient="row")
