"""Raw tokens to rows of the LINKS and TAGS tables: targets, anchors, display texts, sizes.

Last step before the RecordTable. Nothing is resolved here: a target is what the note says, decoded. Links to other
schemes than http(s) and links to folders are dropped.
"""

import html
from collections.abc import Callable
from typing import Final
from urllib.parse import unquote

import polars as pl

from vaultgraph.note.inline import TokenKind
from vaultgraph.note.patterns import PUNCTUATION, RELATIONSHIP_TYPE, SCHEME, SIZE
from vaultgraph.note.records import LinkSyntax

_WEB: Final = r"^(?i:https?)://"
_LOOSE_END: Final = r"[?!.,:;*_~'\")\]]$"
_LINK_COLUMNS: Final = (
    "line",
    "syntax",
    "is_embed",
    "target",
    "anchor",
    "display",
    "width",
    "height",
    "section",
    "type",
    "property",
)


def link_rows(tokens: pl.DataFrame) -> pl.DataFrame:
    """The links among ``tokens`` (line, kind, is_embed, name, text, title, section, property and any other column).

    Keeps the other columns and the order; gives the columns of LINKS without ``note``.
    """
    others = [name for name in tokens.columns if name not in {"line", "kind", "is_embed", "name", "text", "title"}]
    kept = tokens.with_row_index("order")
    parts = [
        _wikilinks(kept.filter(pl.col("kind") == TokenKind.WIKILINK)),
        _markdown(kept.filter(pl.col("kind") == TokenKind.MARKDOWN)),
        _addresses(kept.filter(pl.col("kind") == TokenKind.URL)),
    ]
    sized = _sized(pl.concat(parts, how="diagonal")).sort("order")
    extra = [name for name in others if name not in _LINK_COLUMNS]
    return sized.select(*_LINK_COLUMNS, *extra)


def tag_rows(tokens: pl.DataFrame) -> pl.DataFrame:
    """The tags among ``tokens``: those with something else than digits."""
    return tokens.filter((pl.col("kind") == TokenKind.TAG) & pl.col("name").str.contains("[^0-9]")).rename(
        {"name": "tag"}
    )


def _wikilinks(rows: pl.DataFrame) -> pl.DataFrame:
    name = pl.col("name")
    split = rows.with_columns(
        target=name.str.extract(r"\A([^|][^|]*?)\\?\|").fill_null(name),
        display=name.str.extract(r"\A[^|]+\|(.*)\z"),
        syntax=pl.when(pl.col("property").is_null()).then(_code(LinkSyntax.WIKILINK)).otherwise(_code(LinkSyntax.FRONTMATTER)),
        type=pl.lit(None, dtype=pl.String),
    )
    return _anchored(split).filter((pl.col("target") != "") | pl.col("anchor").is_not_null())


def _markdown(rows: pl.DataFrame) -> pl.DataFrame:
    """Links and images with a destination; those to the web are URL rows."""
    name = pl.col("name")
    is_web = name.str.contains(_WEB)
    title = pl.col("title")
    split = rows.with_columns(name=_unescaped(rows["name"]), text=_unescaped(rows["text"])).with_columns(
        target=name.str.strip_chars(),
        display=pl.col("text").str.replace_all(r"\s*\n\s*", " "),
        syntax=pl.when(is_web).then(_code(LinkSyntax.URL)).otherwise(_code(LinkSyntax.MARKDOWN)),
        type=pl.when(title.str.contains(RELATIONSHIP_TYPE) & ~pl.col("is_embed")).then(title),
    )
    web = split.filter(is_web).with_columns(anchor=pl.lit(None, dtype=pl.String))
    is_foreign = name.str.contains(SCHEME) & ~name.str.contains("^(?i:file):")
    local = _anchored(split.filter(~is_web & ~is_foreign & ~name.str.starts_with("//")))
    local = local.with_columns(target=_decoded(local["target"]), anchor=_decoded(local["anchor"]))
    is_nothing = (pl.col("target") == "") & pl.col("anchor").is_null()
    return pl.concat([web, local.filter(~is_nothing & ~pl.col("target").str.ends_with("/"))], how="diagonal")


def _addresses(rows: pl.DataFrame) -> pl.DataFrame:
    nothing = pl.lit(None, dtype=pl.String)
    loose = rows["name"].str.contains(_LOOSE_END)
    name = _mapped(rows["name"], loose, _without_loose_end)
    return rows.with_columns(
        target=name, anchor=nothing, display=nothing, syntax=_code(LinkSyntax.URL), type=nothing
    ).filter(pl.col("target").str.contains(r"^(?i:https?)://[^/]"))


def _code(syntax: LinkSyntax) -> pl.Expr:
    return pl.lit(int(syntax), dtype=pl.UInt8)


def _anchored(rows: pl.DataFrame) -> pl.DataFrame:
    """Splits ``target`` at its first #."""
    target = pl.col("target")
    anchor = target.str.extract(r"\A[^#]*#(?s:(.*))\z").str.strip_chars()
    return rows.with_columns(
        target=target.str.extract(r"\A([^#]*)").str.strip_chars(), anchor=pl.when(anchor != "").then(anchor)
    )


def _sized(rows: pl.DataFrame) -> pl.DataFrame:
    """Takes the size out of the display text of embeds; an empty display text is none."""
    display, sized = pl.col("display"), pl.col("is_embed") & pl.col("display").str.contains(SIZE)
    size = display.str.extract_groups(SIZE).struct
    shown = pl.when(sized).then(size.field("1")).otherwise(display).str.strip_chars()
    return rows.with_columns(
        width=pl.when(sized).then(size.field("2").cast(pl.Int32)),
        height=pl.when(sized).then(size.field("3").cast(pl.Int32)),
        display=pl.when(shown != "").then(shown),
    )


def _unescaped(texts: pl.Series) -> pl.Series:
    plain = texts.str.replace_all(rf"\\({PUNCTUATION})", "$1")
    return _mapped(plain, plain.str.contains(r"&(?:#|[A-Za-z])[A-Za-z0-9]*;"), html.unescape)


def _decoded(texts: pl.Series) -> pl.Series:
    return _mapped(texts, texts.str.contains("%[0-9A-Fa-f]{2}"), _percent_decoded)


def _percent_decoded(text: str) -> str:
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError:
        return text


def _without_loose_end(address: str) -> str:
    """Without the punctuation that ends the sentence around a bare URL; brackets stay where they are balanced."""
    # row loop: trailing characters of one address
    while address:
        last = address[-1]
        opening = {")": "(", "]": "["}.get(last)
        if opening is None and last not in "?!.,:;*_~'\"":
            break
        if opening is not None and address.count(last) <= address.count(opening):
            break
        address = address[:-1]
    return address


def _mapped(texts: pl.Series, chosen: pl.Series, change: Callable[[str], str]) -> pl.Series:
    """``texts`` with ``change`` applied to the chosen ones; each distinct text once."""
    distinct = texts.filter(chosen.fill_null(False)).unique().to_list()
    if not distinct:
        return texts
    # row loop: distinct texts that need decoding
    return texts.replace(distinct, [change(text) for text in distinct])
