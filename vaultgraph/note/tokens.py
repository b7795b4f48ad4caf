"""Links, embeds and tags of all segments at once, by polars' regular expressions.

One alternation in order of precedence reads each segment from left to right, so code spans, comments and escapes take
their text out of play. What an alternation cannot judge goes to the exact scan of `inline`; both give the same columns.
`links` turns them into rows of the RecordTable.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vaultgraph.note.alone import TEXTS, kept, made_of, selected
from vaultgraph.note.inline import References, TokenKind, scan_inline
from vaultgraph.note.lines import BoolArray, IntArray, at_rows
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
_BEFORE_ALL: Final = (rf"(?:\A|[{SPACE}]|{_ESCAPE})(?:#{TAG_CHARS}+)+",)
_ALWAYS: Final = (_ESCAPE, "`[^`]+`", r"<!--(?:-?>|(?s:.*?)-->)", AUTOLINK, HTML_TAG, WIKILINK, _LINK)
_TOKEN: Final = "|".join((*_BEFORE_ALL, *_ALWAYS, rf"(?:\A|{URL_START}){URL}", r"\n"))
# Without tags and bare addresses, either of which may begin at any character: found three times as fast.
_TOKEN_IN_PLAIN: Final = "|".join((*_ALWAYS, r"\n"))
_MANY: Final = 1000  # segments that are worth two steps
_DIFFICULT: Final = (
    r"``|\$[^$]*\$|\][^\[\]]*\]\(|<[^\[\]]*\]\(|\\\[[^\[\]]*\]\(|(?:[>\])`]|\\.)https?://"
    rf"|(?:[{SPACE}]|\\.)#[^\[\]]*\]\("  # a tag in a link's text
)
_DOUBTFUL: Final = r"``|\$|\]\(|://"  # literals, one of which every difficult text has: quickly looked for
_LINK_GROUPS: Final = rf"\A!?\[({PLAIN_TEXT})\]{LINK_TAIL}\z"

_LEAST_ADDRESS: Final = len("http://x")
_LF: Final = 10
_EXCLAMATION: Final = ord("!")
_MAY_BE_LINK, _MAY_BE_ADDRESS, _MAY_BE_TAG = 1, 2, 4
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
_NONE: Final = pl.DataFrame(schema=_COLUMNS)
_NOTHING: Final = pl.Series([None], dtype=pl.String)

_SIZE: Final = TEXTS.str.len_bytes().alias("size")
_IS_DOUBTFUL: Final = TEXTS.str.contains(_DOUBTFUL).alias("doubtful")

_HAS_TAG_OR_ADDRESS: Final = (TEXTS.str.contains("#", literal=True) | TEXTS.str.contains("://", literal=True)).alias(
    "more"
)

_HAS_HASH: Final = TEXTS.str.contains("#", literal=True)
_HAS_BRACKET: Final = TEXTS.str.contains("[", literal=True)
_HAS_COMMENT: Final = TEXTS.str.contains("<!--", literal=True)
_IS_DIFFICULT: Final = TEXTS.str.contains(_DIFFICULT)
_TOKENS: Final = TEXTS.str.extract_all(_TOKEN)
_TOKENS_IN_PLAIN: Final = TEXTS.str.extract_all(_TOKEN_IN_PLAIN)
_GROUPS: Final = TEXTS.str.extract_groups(_LINK_GROUPS)  # made once: it reads its pattern each time
_AT_HASHES: Final = TEXTS.str.split("#")
_RAW: Final = pl.col("raw")
_MARKS: Final = (
    _RAW.str.count_matches("\n", literal=True).alias("ends"),
    _RAW.cast(pl.Binary).bin.get(0).alias("lead"),
    _RAW.str.len_bytes().alias("size"),
    _RAW.str.starts_with("[[").alias("is_wiki"),
    _RAW.str.starts_with("![[").alias("is_embed"),
)
_INNER: Final = TEXTS.str.strip_prefix("!").str.strip_prefix("[[").str.strip_suffix("]]")
_ADDRESS: Final = pl.coalesce(
    TEXTS.str.extract(rf"\A<((?i:https?)://[^{SPACE}<>]+)>\z"), TEXTS.str.extract(rf"\A(?:{URL_START})?({URL})\z")
)
_TAG: Final = TEXTS.str.extract(rf"\A(?:[{SPACE}]|\\.)?#([^#]+(?:#[^#]+)*)\z").alias("name")
_DESTINATION: Final = pl.coalesce("2", "3", pl.lit("")).alias("name")
_ANY_TITLE: Final = pl.coalesce("4", "5", "6")
_LINK_TITLE: Final = pl.when(_ANY_TITLE != "").then(_ANY_TITLE).alias("title")


def _first_bytes() -> NDArray[np.uint8]:
    """For each byte, what a token that begins with it may be."""
    first = np.zeros(256, dtype=np.uint8)
    first[list(b"[!")] = _MAY_BE_LINK
    may_be_address = np.ones(256, dtype=np.bool_)
    may_be_address[list(b"[!0123456789_=+/&?%.#@-")] = False
    may_be_address[[byte for byte in range(128) if chr(byte).isalpha() and byte != ord("h")]] = False
    first[may_be_address] |= _MAY_BE_ADDRESS
    first[[*b"#\\ \t\n\x0b\x0c\r", *range(128, 256)]] |= _MAY_BE_TAG
    first.setflags(write=False)
    return first


_FIRST: Final = _first_bytes()


def find_tokens(segments: Segments) -> pl.DataFrame:
    """Every link, embed and tag: segment (row of ``segments.text``), line (row of the batch), kind and raw parts.

    In order of segment and position.
    """
    frame = segments.text.with_row_index("segment")
    exact = difficult(segments)
    if not exact.any():
        return _quick(frame)
    quick = _quick(kept(frame, ~exact))
    slow = _slow(kept(frame, exact), segments.references)
    return pl.concat([quick, slow], rechunk=True).sort("segment", maintain_order=True)


def difficult(segments: Segments) -> pl.Series:
    """Which segments the column scan leaves to the exact one."""
    text = segments.text["text"]
    found = selected(text.to_frame(), [_SIZE, _IS_DOUBTFUL])
    is_exact = found["size"].to_numpy() > MOST_BYTES
    if is_exact.any():
        is_exact[is_exact] = made_of(text.filter(pl.Series(is_exact)), _HAS_COMMENT).to_numpy()
    if segments.references:
        referring = np.isin(segments.text["body"].to_numpy(), list(segments.references))
        is_exact |= referring & made_of(text, _HAS_BRACKET).to_numpy()
    is_doubtful = found["doubtful"]
    if is_doubtful.any():
        is_exact[is_doubtful.to_numpy()] |= made_of(text.filter(is_doubtful), _IS_DIFFICULT).to_numpy()
    return pl.Series("difficult", is_exact)


def _quick(frame: pl.DataFrame) -> pl.DataFrame:
    counts, raw = _tokens_in(frame["text"])
    if not counts.any():
        return _NONE
    marks = selected(raw.to_frame(), _MARKS)
    segment = np.repeat(frame["segment"].to_numpy(), counts)
    ends, lead = marks["ends"].to_numpy().astype(np.int64), marks["lead"].to_numpy()
    before = np.cumsum(ends) - ends
    is_first = np.ones(len(segment), dtype=np.bool_)
    is_first[1:] = segment[1:] != segment[:-1]
    base = before[is_first][np.cumsum(is_first) - 1]
    line = np.repeat(frame["row"].to_numpy(), counts) + before - base + (lead == _LF)
    is_embed = marks["is_embed"].to_numpy()
    is_wiki = marks["is_wiki"].to_numpy() | is_embed
    size = marks["size"].to_numpy()
    rest = np.flatnonzero(~is_wiki & (size > 1))  # what is one byte long states nothing
    kinds = [_Found(TokenKind.WIKILINK, np.flatnonzero(is_wiki), _inner(raw.filter(pl.Series(is_wiki))))]
    if len(rest):
        kinds += _links_and_tags(rest, raw, lead, size)
    kinds = [found for found in kinds if len(found.order)]
    return _in_order(kinds, segment, line, is_embed) if kinds else _NONE


def _tokens_in(texts: pl.Series) -> tuple[IntArray, pl.Series]:
    """How many tokens are in each text; all of them, one text after the other."""
    if len(texts) < _MANY:
        lists = made_of(texts, _TOKENS)
        return lists.list.len().to_numpy().astype(np.int64), lists.explode(empty_as_null=False).alias("raw")
    has_more = made_of(texts, _HAS_TAG_OR_ADDRESS)
    plain = made_of(texts.filter(~has_more), _TOKENS_IN_PLAIN)
    lists = pl.concat([plain, made_of(texts.filter(has_more), _TOKENS)], rechunk=True)
    rows = np.argsort(has_more.to_numpy(), kind="stable")
    counts = np.zeros(len(texts), dtype=np.int64)
    counts[rows] = sizes = lists.list.len().to_numpy()
    order = np.argsort(np.repeat(rows, sizes), kind="stable")
    return counts, at_rows(lists.explode(empty_as_null=False), order).alias("raw")


@dataclass(frozen=True, slots=True)
class _Found:
    """Tokens of one kind: their places ``order`` among all of them, name, and for links text, title and whether they
    are embeds."""

    kind: TokenKind
    order: IntArray
    name: pl.Series
    text: pl.Series | None = None
    title: pl.Series | None = None
    is_embed: BoolArray | None = None


def _in_order(
    kinds: Sequence[_Found], segment: NDArray[np.uint32], line: IntArray, is_wiki_embed: BoolArray
) -> pl.DataFrame:
    """The tokens of all ``kinds`` as rows, by place."""
    order = np.concatenate([found.order for found in kinds])
    kind = np.repeat(np.array([found.kind for found in kinds], dtype=np.uint8), [len(found.order) for found in kinds])
    is_embed = is_wiki_embed[order]
    columns: dict[str, list[pl.Series]] = {"name": [], "text": [], "title": []}
    first = 0
    for found in kinds:
        size = len(found.order)
        if found.is_embed is not None:
            is_embed[first : first + size] = found.is_embed
        first += size
        for name, column in columns.items():
            column.append(
                getattr(found, name) if getattr(found, name) is not None else _NOTHING.new_from_index(0, size)
            )
    texts = [pl.concat(column, rechunk=True).alias(name) for name, column in columns.items()]
    if len(kinds) > 1:
        sorting = np.argsort(order, kind="stable")
        order, kind, is_embed = order[sorting], kind[sorting], is_embed[sorting]
        index = pl.Series(sorting.astype(np.uint32))
        texts = [column[index] for column in texts]
    numbers = {"segment": segment[order], "line": line[order], "kind": kind, "is_embed": is_embed}
    return pl.DataFrame([*(pl.Series(name, column) for name, column in numbers.items()), *texts])


def _inner(raw: pl.Series) -> pl.Series:
    if not len(raw):
        return raw
    return made_of(raw, _INNER)


def _links_and_tags(rows: IntArray, raw: pl.Series, lead: NDArray[np.uint8], size: NDArray[np.uint32]) -> list[_Found]:
    """The links, addresses and tags among the tokens ``rows``, none of which is a wikilink."""
    first = _FIRST[lead[rows]]
    found: list[_Found] = []
    bracketed = rows[first & _MAY_BE_LINK != 0]
    others = rows[(first & _MAY_BE_ADDRESS != 0) & (size[rows] >= _LEAST_ADDRESS)]
    if len(bracketed):
        texts = at_rows(raw, bracketed)
        groups = made_of(texts, _GROUPS).struct.unnest()
        is_link = groups["1"].is_not_null().to_numpy()
        if is_link.any():
            found.append(_links(bracketed[is_link], lead, kept(groups, pl.Series(is_link))))
        # a bare address may stand behind an opening bracket that is no link
        others = np.union1d(others, bracketed[~is_link])
    if len(others):
        names = made_of(at_rows(raw, others), _ADDRESS)
        is_address = names.is_not_null()
        found.append(_Found(TokenKind.URL, others[is_address.to_numpy()], names.filter(is_address)))
    tagged = rows[first & _MAY_BE_TAG != 0]
    if len(tagged):
        found.append(_tags(tagged, at_rows(raw, tagged)))
    return found


def _links(order: IntArray, lead: NDArray[np.uint8], groups: pl.DataFrame) -> _Found:
    parts = selected(groups, [_DESTINATION, _LINK_TITLE])
    return _Found(
        TokenKind.MARKDOWN, order, parts["name"], groups["1"], parts["title"], is_embed=lead[order] == _EXCLAMATION
    )


def _tags(order: IntArray, raw: pl.Series) -> _Found:
    names = made_of(raw, _TAG)
    if names.null_count():
        is_tag = names.is_not_null()
        order, names = order[is_tag.to_numpy()], names.filter(is_tag)
    if made_of(names, _HAS_HASH).any():  # a tag may follow a tag directly
        lists = made_of(names, _AT_HASHES)
        order, names = np.repeat(order, lists.list.len().to_numpy()), lists.explode(empty_as_null=False)
    return _Found(TokenKind.TAG, order, names)


def _slow(frame: pl.DataFrame, references: Mapping[int, References]) -> pl.DataFrame:
    rows: list[tuple[int, int, int, bool, str, str | None, str | None]] = []
    # row loop: segments the column scan cannot judge
    for segment, row, body, text in frame.select("segment", "row", "body", "text").iter_rows():
        rows += [(segment, row + token.line, *token[1:]) for token in scan_inline(text, references.get(body, {}))]
    return pl.DataFrame(rows, schema=_COLUMNS, orient="row")
