"""Raw tokens to rows of the LINKS and TAGS tables: targets, anchors, display texts, sizes.

Last step before the RecordTable. Nothing is resolved here: a target is what the note says, decoded. Links to other
schemes than http(s) and links to folders are dropped.
"""

import html
import re
from collections.abc import Callable
from typing import Final
from urllib.parse import unquote_to_bytes

import numpy as np
import polars as pl

from vaultgraph.note.alone import TEXTS, kept, made_of, selected
from vaultgraph.note.inline import TokenKind
from vaultgraph.note.lines import BoolArray, IntArray, at_rows
from vaultgraph.note.patterns import PUNCTUATION, RELATIONSHIP_TYPE, SCHEME, SIZE
from vaultgraph.note.records import LINKS, LinkSyntax

_ESCAPES: Final = re.compile(rf"\\({PUNCTUATION})")
_WEB: Final = r"^(?i:https?)://"
_LOOSE_END: Final = r"[?!.,:;*_~')]$"
_LINK_COLUMNS: Final = tuple(name for name in LINKS if name != "note")
_TOKEN_COLUMNS: Final = ("line", "kind", "is_embed", "name", "text", "title")
_OWN_COLUMNS: Final = ("target", "anchor", "display", "syntax", "type")  # what readers of one kind give
_NO_TEXT: Final = pl.Series([None], dtype=pl.String)
_NO_NUMBER: Final = pl.Series([None], dtype=pl.Int32)

_NAME, _TITLE, _CUT = pl.col("name"), pl.col("title"), pl.col("cut")
_BEFORE, _AFTER = _CUT.struct.field("field_0"), _CUT.struct.field("field_1")

# Wikilinks. In a table the bar is escaped. A name that begins with a bar has no other part.
_AT_BAR: Final = _NAME.str.splitn("|", 2).alias("cut")
_IS_CUT: Final = _AFTER.is_not_null() & (_BEFORE != "")
_BARE: Final = pl.when(_BEFORE == "\\").then(_BEFORE).otherwise(_BEFORE.str.strip_suffix("\\"))
_WIKI_TARGET: Final = pl.when(_IS_CUT).then(_BARE).otherwise(_NAME).alias("target")
_WIKI_CUT: Final = _WIKI_TARGET.str.splitn("#", 2).alias("cut")
_WIKI_DISPLAY: Final = pl.when(_IS_CUT).then(_AFTER).alias("display")

# what stands before and after the first #
_AT_HASH: Final = pl.col("target").str.splitn("#", 2).alias("cut")
_TARGET: Final = _BEFORE.str.strip_chars().alias("target")
_ANCHOR: Final = pl.when(_AFTER.str.strip_chars() != "").then(_AFTER.str.strip_chars()).alias("anchor")

_IS_WEB: Final = _NAME.str.contains(_WEB).alias("is_web")
_IS_FOREIGN: Final = (
    (_NAME.str.contains(SCHEME) & ~_NAME.str.contains("^(?i:file):")) | _NAME.str.starts_with("//")
).alias("is_foreign")
_DESTINATION: Final = _NAME.str.strip_chars().alias("target")
_LINK_TEXT: Final = pl.col("text").str.replace_all(r"\s*\n\s*", " ").alias("display")
_TYPE: Final = pl.when(_TITLE.str.contains(RELATIONSHIP_TYPE) & ~pl.col("is_embed")).then(_TITLE).alias("type")
_MARKDOWN_PARTS: Final = (_IS_WEB, _IS_FOREIGN, _DESTINATION, _LINK_TEXT, _TYPE)
_HAS_ESCAPE: Final = pl.col("name", "text").str.contains(r"\\|&(?:#|[A-Za-z])[A-Za-z0-9]*;")
_HAS_PERCENT: Final = pl.col("target", "anchor").str.contains("%[0-9A-Fa-f]{2}")
_SHOWN: Final = TEXTS.str.strip_chars()
_DISPLAY: Final = pl.when(_SHOWN != "").then(_SHOWN)
_SIZES: Final = TEXTS.str.extract_groups(SIZE)
_IS_NAME: Final = TEXTS.str.strip_chars("0123456789") != ""
_IS_FOLDER: Final = TEXTS.str.ends_with("/")
_IS_LOOSE: Final = TEXTS.str.contains(_LOOSE_END)
_IS_ADDRESS: Final = TEXTS.str.contains(r"^(?i:https?)://[^/]")


def link_rows(tokens: pl.DataFrame) -> pl.DataFrame:
    """The links among ``tokens`` (line, kind, is_embed, name, text, title, section, property and any other column).

    Gives the columns of LINKS without ``note``, and the other columns, in the same order.
    """
    others = [name for name in tokens.columns if name not in {*_TOKEN_COLUMNS, *_LINK_COLUMNS}]
    kinds = tokens["kind"].to_numpy()
    readers = {TokenKind.WIKILINK: _wikilinks, TokenKind.MARKDOWN: _markdown, TokenKind.URL: _addresses}
    parts: list[tuple[IntArray, list[pl.Series]]] = []
    for kind, read in readers.items():
        order = np.flatnonzero(kinds == kind)
        if len(order):
            names = ("name", "text", "title", "is_embed", "property")
            kept, columns = read(pl.DataFrame(_at(order, *(tokens[name] for name in names))))
            parts.append((order[kept], columns))
    order = np.concatenate([order for order, _ in parts]) if parts else np.zeros(0, dtype=np.int64)
    if not len(order):
        return pl.DataFrame(
            schema={name: LINKS[name] for name in _LINK_COLUMNS} | {name: tokens.schema[name] for name in others}
        )
    pieces = zip(*(columns for _, columns in parts), strict=True)
    own: list[pl.Series] = [pl.concat(column, rechunk=True) for column in pieces]
    if bool(np.any(order[1:] < order[:-1])):
        sorting = np.argsort(order)
        order, own = order[sorting], _at(sorting, *own)
    names = ("line", "is_embed", "section", "property", *others)
    found: dict[str, pl.Series] = dict(zip(_OWN_COLUMNS, own, strict=True))
    found |= zip(names, _at(order, *(tokens[name] for name in names)), strict=True)
    sized = _sized(found["display"], found["is_embed"].to_numpy())
    found |= zip(("display", "width", "height"), sized, strict=True)
    return pl.DataFrame([found[name].alias(name) for name in (*_LINK_COLUMNS, *others)])


def tag_rows(tokens: pl.DataFrame) -> pl.DataFrame:
    """Note, line and ``tag`` of the tags among ``tokens``: those with something else than digits."""
    is_tag = tokens["kind"] == int(TokenKind.TAG)
    columns = [tokens[name].filter(is_tag) for name in ("note", "line", "name")]
    if len(columns[2]):
        is_name = made_of(columns[2], _IS_NAME)
        columns = [column.filter(is_name) for column in columns]
    return pl.DataFrame([*columns[:2], columns[2].alias("tag")])


_Read = tuple[IntArray, list[pl.Series]]
"""Which of the rows are links, and the ``_OWN_COLUMNS`` of those."""


def _wikilinks(rows: pl.DataFrame) -> _Read:
    parts = selected(selected(rows, [_NAME, _AT_BAR]), [_WIKI_DISPLAY, _WIKI_CUT])
    anchored = selected(parts, [_TARGET, _ANCHOR])
    properties = rows["property"]
    syntax = np.full(rows.height, LinkSyntax.WIKILINK, dtype=np.uint8)
    if properties.null_count() < rows.height:
        syntax[properties.is_not_null().to_numpy()] = LinkSyntax.FRONTMATTER
    kept = _not_empty(anchored)
    target, anchor, display = _at(kept, anchored["target"], anchored["anchor"], parts["display"])
    return kept, [target, anchor, display, pl.Series("syntax", syntax[kept]), _nothing("type", len(kept))]


def _markdown(rows: pl.DataFrame) -> _Read:
    """Links and images with a destination; those to the web are URL rows."""
    escaped = selected(rows, [_HAS_ESCAPE])
    name, text = (_mapped(rows[column], escaped[column], _without_escapes) for column in ("name", "text"))
    parts = selected(pl.DataFrame([name, text, rows["title"], rows["is_embed"]]), _MARKDOWN_PARTS)
    is_web = parts["is_web"].to_numpy()
    web, local = np.flatnonzero(is_web), np.flatnonzero(~(is_web | parts["is_foreign"].to_numpy()))
    target, anchor = _at(web, parts["target"])[0], _nothing("anchor", len(web))
    if len(local):
        place, local_target, local_anchor = _local(
            parts["target"] if len(local) == len(name) else _at(local, parts["target"])[0]
        )
        local, target, anchor = local[place], pl.concat([target, local_target]), pl.concat([anchor, local_anchor])
    kept = np.concatenate([web, local])
    syntax = np.repeat(np.array([LinkSyntax.URL, LinkSyntax.MARKDOWN], dtype=np.uint8), [len(web), len(local)])
    display, kind = _at(kept, parts["display"], parts["type"])
    return kept, [target, anchor, display, pl.Series("syntax", syntax), kind]


def _local(destinations: pl.Series) -> tuple[IntArray, pl.Series, pl.Series]:
    """Which destinations are of a note or a file, and the targets and anchors of those, decoded."""
    anchored = selected(selected(destinations.to_frame(), [_AT_HASH]), [_TARGET, _ANCHOR])
    encoded = selected(anchored, [_HAS_PERCENT])
    target, anchor = (_mapped(anchored[name], encoded[name], _percent_decoded) for name in ("target", "anchor"))
    is_folder = made_of(target, _IS_FOLDER).to_numpy()
    kept = _not_empty(pl.DataFrame([target, anchor]))
    kept = kept[~is_folder[kept]]
    target, anchor = _at(kept, target, anchor)
    return kept, target, anchor


def _addresses(rows: pl.DataFrame) -> _Read:
    target = _mapped(rows["name"], made_of(rows["name"], _IS_LOOSE), _without_loose_end).alias("target")
    kept = np.flatnonzero(made_of(target, _IS_ADDRESS).to_numpy())
    anchor, display, kind = (_nothing(name, len(kept)) for name in ("anchor", "display", "type"))
    syntax = pl.Series("syntax", np.full(len(kept), LinkSyntax.URL, dtype=np.uint8))
    return kept, [*_at(kept, target), anchor, display, syntax, kind]


def _not_empty(anchored: pl.DataFrame) -> IntArray:
    """The rows that name something."""
    is_named = (anchored["target"] != "").to_numpy()
    if not is_named.all():
        is_named = is_named | anchored["anchor"].is_not_null().to_numpy()
    return np.flatnonzero(is_named)


def _at(rows: IntArray, *columns: pl.Series) -> list[pl.Series]:
    """The columns at ``rows``, which are distinct and ascending or all the rows there are."""
    if columns and len(rows) == len(columns[0]) and bool(np.all(rows[1:] > rows[:-1])):
        return list(columns)
    index = pl.Series(rows.astype(np.uint32))
    return [column[index] for column in columns]


def _nothing(name: str, size: int) -> pl.Series:
    return _NO_TEXT.new_from_index(0, size).alias(name)


def _sized(display: pl.Series, is_embed: BoolArray) -> list[pl.Series]:
    """The display texts, those of embeds without the size, and widths and heights; an empty display text is none."""
    width = height = _NO_NUMBER.new_from_index(0, len(display))
    if display.null_count() == len(display):
        return [display, width.alias("width"), height.alias("height")]
    embeds = np.flatnonzero(is_embed)
    if len(embeds):
        groups = made_of(at_rows(display, embeds), _SIZES).struct.unnest()
        is_sized = groups["2"].is_not_null()
        if is_sized.any():
            sized, groups = embeds[is_sized.to_numpy()], kept(groups, is_sized)
            display = display.scatter(sized, groups["1"])
            width = width.clone().scatter(sized, groups["2"].cast(pl.Int32))
            height = height.clone().scatter(sized, groups["3"].cast(pl.Int32))
    display = made_of(display.alias("display"), _DISPLAY)
    return [display, width.alias("width"), height.alias("height")]


def _without_escapes(text: str) -> str:
    return html.unescape(_ESCAPES.sub(r"\1", text))


def _percent_decoded(text: str) -> str:
    try:
        return unquote_to_bytes(text).decode()
    except UnicodeDecodeError:
        return text


def _without_loose_end(address: str) -> str:
    """Without the punctuation that ends the sentence around a bare URL; parentheses stay where they are balanced."""
    unopened = address.count(")") - address.count("(")
    end = len(address)
    # row loop: trailing characters of one address
    while end and (address[end - 1] in "?!.,:;*_~'" or (address[end - 1] == ")" and unopened > 0)):
        end -= 1
        unopened -= address[end] == ")"
    return address[:end]


def _mapped(texts: pl.Series, chosen: pl.Series, change: Callable[[str], str]) -> pl.Series:
    """``texts`` with ``change`` applied to the chosen ones; each distinct text once."""
    if not chosen.any():
        return texts
    distinct = texts.filter(chosen.fill_null(False)).unique().to_list()
    # row loop: distinct texts that need decoding
    return texts.replace(distinct, [change(text) for text in distinct])
