"""Raw tokens to rows of the LINKS and TAGS tables: targets, anchors, display texts, sizes.

Last step before the RecordTable. Nothing is resolved here: a target is what the note says, decoded. Links to other
schemes than http(s) and links to folders are dropped.
"""

import html
import re
from collections.abc import Callable
from typing import Final
from urllib.parse import unquote_to_bytes

import polars as pl

from vaultgraph.note.inline import TokenKind
from vaultgraph.note.patterns import PUNCTUATION, RELATIONSHIP_TYPE, SCHEME, SIZE
from vaultgraph.note.records import LINKS, LinkSyntax

_ESCAPES: Final = re.compile(rf"\\({PUNCTUATION})")
_WEB: Final = r"^(?i:https?)://"
_LOOSE_END: Final = r"[?!.,:;*_~')]$"
_LINK_COLUMNS: Final = tuple(name for name in LINKS if name != "note")
_NOTHING: Final = pl.lit(None, dtype=pl.String)
_TOKEN_COLUMNS: Final = ("line", "kind", "is_embed", "name", "text", "title")


def link_rows(tokens: pl.DataFrame) -> pl.DataFrame:
    """The links among ``tokens`` (line, kind, is_embed, name, text, title, section, property and any other column).

    Gives the columns of LINKS without ``note``, and the other columns, in the same order.
    """
    others = [name for name in tokens.columns if name not in {*_TOKEN_COLUMNS, *_LINK_COLUMNS}]
    kept = tokens.with_row_index("order").partition_by("kind", as_dict=True)
    readers = {TokenKind.WIKILINK: _wikilinks, TokenKind.MARKDOWN: _markdown, TokenKind.URL: _addresses}
    parts = [read(kept[(int(kind),)]) for kind, read in readers.items() if (int(kind),) in kept]
    if not parts:
        return pl.DataFrame(
            schema={name: LINKS[name] for name in _LINK_COLUMNS} | {n: tokens.schema[n] for n in others}
        )
    sized = _sized(pl.concat(parts, how="diagonal")).sort("order")
    return sized.select(*_LINK_COLUMNS, *others)


def tag_rows(tokens: pl.DataFrame) -> pl.DataFrame:
    """The tags among ``tokens``: those with something else than digits."""
    return tokens.filter((pl.col("kind") == TokenKind.TAG) & pl.col("name").str.contains("[^0-9]")).rename(
        {"name": "tag"}
    )


def _wikilinks(rows: pl.DataFrame) -> pl.DataFrame:
    parts = _cut(rows["name"], "|")
    # In a table the bar is escaped. A name that begins with a bar has no other part.
    bare = pl.when(pl.col("before") == "\\").then("before").otherwise(pl.col("before").str.strip_suffix("\\"))
    split = rows.hstack(parts).with_columns(
        target=pl.when("is_cut").then(bare).otherwise("name"),
        display=pl.when("is_cut").then("after"),
        syntax=pl.when(pl.col("property").is_null())
        .then(_code(LinkSyntax.WIKILINK))
        .otherwise(_code(LinkSyntax.FRONTMATTER)),
        type=_NOTHING,
    )
    return _anchored(split.drop(parts.columns)).filter((pl.col("target") != "") | pl.col("anchor").is_not_null())


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
    web = split.filter(is_web).with_columns(anchor=_NOTHING)
    is_foreign = name.str.contains(SCHEME) & ~name.str.contains("^(?i:file):")
    local = _anchored(split.filter(~is_web & ~is_foreign & ~name.str.starts_with("//")))
    local = local.with_columns(target=_decoded(local["target"]), anchor=_decoded(local["anchor"]))
    is_nothing = (pl.col("target") == "") & pl.col("anchor").is_null()
    return pl.concat([web, local.filter(~is_nothing & ~pl.col("target").str.ends_with("/"))], how="diagonal")


def _addresses(rows: pl.DataFrame) -> pl.DataFrame:
    loose = rows["name"].str.contains(_LOOSE_END)
    name = _mapped(rows["name"], loose, _without_loose_end)
    return rows.with_columns(
        target=name, anchor=_NOTHING, display=_NOTHING, syntax=_code(LinkSyntax.URL), type=_NOTHING
    ).filter(pl.col("target").str.contains(r"^(?i:https?)://[^/]"))


def _code(syntax: LinkSyntax) -> pl.Expr:
    return pl.lit(int(syntax), dtype=pl.UInt8)


def _anchored(rows: pl.DataFrame) -> pl.DataFrame:
    """Splits ``target`` at its first #."""
    parts = rows["target"].str.splitn("#", 2).struct.unnest()
    target, anchor = parts["field_0"].str.strip_chars(), parts["field_1"].str.strip_chars()
    return rows.with_columns(target=target, anchor=anchor.set(anchor == "", None))


def _cut(texts: pl.Series, mark: str) -> pl.DataFrame:
    """Texts cut at the first ``mark``: before, after, and is_cut where there is something before it."""
    parts = texts.str.splitn(mark, 2).struct.unnest()
    before, after = parts["field_0"].alias("before"), parts["field_1"].alias("after")
    return pl.DataFrame([before, after, (after.is_not_null() & (before != "")).alias("is_cut")])


def _sized(rows: pl.DataFrame) -> pl.DataFrame:
    """Takes the size out of the display text of embeds; an empty display text is none."""
    display = rows["display"]
    embeds = (rows["is_embed"] & display.is_not_null()).arg_true()
    width = height = pl.Series([None], dtype=pl.Int32).new_from_index(0, rows.height)
    if len(embeds):
        groups = display.gather(embeds).str.extract_groups(SIZE).struct.unnest()
        is_sized = groups["2"].is_not_null()
        sized, groups = embeds.filter(is_sized), groups.filter(is_sized)
        display = display.scatter(sized, groups["1"])
        width = width.clone().scatter(sized, groups["2"].cast(pl.Int32))
        height = height.clone().scatter(sized, groups["3"].cast(pl.Int32))
    shown = pl.col("display").str.strip_chars()
    return rows.with_columns(display, width=width, height=height).with_columns(pl.when(shown != "").then(shown))


def _unescaped(texts: pl.Series) -> pl.Series:
    return _mapped(texts, texts.str.contains(r"\\|&(?:#|[A-Za-z])[A-Za-z0-9]*;"), _without_escapes)


def _without_escapes(text: str) -> str:
    return html.unescape(_ESCAPES.sub(r"\1", text))


def _decoded(texts: pl.Series) -> pl.Series:
    return _mapped(texts, texts.str.contains("%[0-9A-Fa-f]{2}"), _percent_decoded)


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
