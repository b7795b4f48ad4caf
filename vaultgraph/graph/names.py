"""How names are compared and shaped: folding, slugs, relationship types, the parts of a path.

Used by everything that matches what notes write against what exists. Each function takes and gives whole columns; work
that only Python can do is done once for each distinct name. It knows nothing about vaults.
"""

import re
import unicodedata
from typing import Final

import numpy as np
import polars as pl

from vaultgraph.graph.texts import NONE, Texts, taken
from vaultgraph.note.alone import TEXTS, made_of

WIKILINK: Final = r"\[\[([^\[\]|#]+)(?:[|#][^\[\]]*)?\]\]"
"""A wikilink inside a property text; the first group is its target."""
_ODD: Final = (
    r"[^\x{00}-\x{B4}\x{B6}-\x{DE}\x{E0}-\x{12F}\x{131}-\x{148}\x{14A}-\x{17E}\x{180}-\x{24F}\x{400}-\x{482}"
    r"\x{48A}-\x{52F}\x{5D0}-\x{5EA}\x{620}-\x{64A}\x{2010}-\x{205E}\x{2100}-\x{2125}\x{2190}-\x{21FF}"
    r"\x{3001}-\x{3029}\x{3041}-\x{3096}\x{309B}-\x{30FF}\x{3400}-\x{4DBF}\x{4E00}-\x{9FFF}\x{AC00}-\x{D7A3}"
    r"\x{FF01}-\x{FF5E}\x{1F300}-\x{1F64F}]"
)
"""Any character but those whose key is their lower case, whatever stands beside them: such names need no folding."""


_FEW: Final = 64  # names that are taken one by one: a column of them takes longer
_EXTENSION: Final = re.compile(r"[^/]\.(?![0-9]+\Z)([A-Za-z0-9]{1,12})\Z")
_NOTES: Final = (".md", ".MD", ".Md", ".mD")


_IS_ODD: Final = TEXTS.str.contains(_ODD)
_WIDE: Final = (TEXTS.str.len_bytes() != TEXTS.str.len_chars()).arg_true()
_SPACED: Final = TEXTS.str.contains(r"[\s--\x20]|[_-]|\x20\x20|^\x20|\x20$").arg_true()
_UNSPACED: Final = TEXTS.str.replace_all(r"[\s_-]+", " ").str.strip_chars(" ")
_SHAPED: Final = TEXTS.str.replace_all(r"[^\p{L}\p{M}\p{N}]+", "_").str.strip_chars("_").str.to_uppercase()
_LAST_PART: Final = TEXTS.str.split("/").list.last()
_FIRST_PART: Final = TEXTS.str.splitn("/", 2).struct.field("field_0")
_PARENT: Final = TEXTS.str.strip_suffix(_LAST_PART).str.strip_suffix("/")
_MD: Final = TEXTS.str.contains(r"\.[mM][dD]\z").arg_true()
_DOTTED: Final = TEXTS.str.contains(".", literal=True).arg_true()
_HAS_LETTER: Final = TEXTS.str.contains("[a-z]")
_ENDING: Final = TEXTS.str.extract(r"[^/]\.([A-Za-z0-9]{1,12})$", 1)


def fold_text(name: str) -> str:
    """The key under which one name is compared: NFC, full Unicode case folding, NFC again."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def fold(names: pl.Series) -> pl.Series:
    """The comparison keys of a String column, same length and order; null stays null."""
    if len(names) <= _FEW:
        # row loop: a few names
        return pl.Series(
            names.name, [None if name is None else fold_text(name) for name in names.to_list()], dtype=pl.String
        )
    # One after the other: for short columns, as most are, the threads of a common select cost more than they gain.
    lowered = names.str.to_lowercase()
    wide = made_of(names, _WIDE)  # ASCII is never odd, and sooner told
    if not len(wide):
        return lowered
    odd = wide.filter(made_of(names[wide], _IS_ODD))
    if not len(odd):
        return lowered
    texts = Texts()
    at = texts.numbers(names[odd])
    # row loop: full case folding exists in Python's str only; once for each distinct name that needs it
    keys = pl.Series([fold_text(name) for name in texts.distinct.to_list()], dtype=pl.String)
    return lowered.scatter(odd, taken(keys, at))


def slug(keys: pl.Series) -> pl.Series:
    """Folded names with every run of spaces, ``_`` and ``-`` as one space."""
    spaced = made_of(keys, _SPACED)
    if not len(spaced):
        return keys
    return keys.clone().scatter(spaced, made_of(keys[spaced], _UNSPACED))


def relationship_types(keys: pl.Series) -> pl.Series:
    """UPPER_SNAKE of property keys: ``related to`` and ``related-to`` give ``RELATED_TO``."""
    return made_of(keys, pl.when(_SHAPED != "").then(_SHAPED).otherwise(TEXTS))


def parent(paths: pl.Series) -> pl.Series:
    """The folder of each path, ``""`` for the root."""
    return made_of(paths, _PARENT)


def last_part(paths: pl.Series) -> pl.Series:
    """The name after the last ``/``."""
    return made_of(paths, _LAST_PART)


def first_part(paths: pl.Series) -> pl.Series:
    """The part before the first ``/``, the whole path where there is none."""
    return made_of(paths, _FIRST_PART)


def without_md(paths: pl.Series) -> pl.Series:
    """Paths without a trailing ``.md`` of any case."""
    if len(paths) <= _FEW:
        # row loop: a few paths
        bare = [path[:-3] if path is not None and path.endswith(_NOTES) else path for path in paths.to_list()]
        return pl.Series(paths.name, bare, dtype=pl.String)
    notes = made_of(paths, _MD)
    return paths.clone().scatter(notes, paths[notes].str.head(-3)) if len(notes) else paths


def extension(names: pl.Series) -> pl.Series:
    """The lower-case file extension without a dot, null where the last part has none.

    An extension is 1 to 12 ASCII letters or digits, at least one of them a letter, so that ``v1.2`` has none.
    """
    if len(names) <= _FEW:
        # row loop: a few names
        ends = [name and _EXTENSION.search(name) for name in names.to_list()]
        return pl.Series(names.name, [end[1].lower() if end else None for end in ends], dtype=pl.String)
    # Few names have a dot, and fewer have several.
    dotted = made_of(names, _DOTTED).to_numpy()
    texts = Texts()
    at = texts.numbers(made_of(names[dotted], _ENDING))
    found = texts.distinct.str.to_lowercase()
    is_one = np.append(made_of(found, _HAS_LETTER).to_numpy(), False)
    place = np.full(len(names), NONE, dtype=np.int64)
    place[dotted] = np.where(is_one[at], at, NONE)
    return taken(found, place)
