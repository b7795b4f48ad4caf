"""The regular expressions of inline syntax, in the subset that Python's and polars' engines read alike.

Shared by the column scan (`tokens`) and the exact scan (`inline`), so that both mean the same by a tag, a wikilink or a
Markdown link. Where a rule is Obsidian's own (which characters end a tag), it is stated here and nowhere else.
"""

import re
from typing import Final

SPACE: Final = " \t\n\x0b\x0c\r\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
PUNCTUATION: Final = r"[!-/:-@\[-`{-~]"
"""What a backslash escapes: ASCII punctuation (CommonMark 2.4)."""

TAG_CHARS: Final = rf"[^{SPACE}\u2000-\u206f\u2e00-\u2e7f'!\"#$%&()*+,.:;<=>?@\^`{{|}}~\[\]\\]".replace(
    r"\u2000-\u206f\u2e00-\u2e7f", "\u2000-\u206f\u2e00-\u2e7f"
)
"""Obsidian's rule: everything but blank space, general punctuation and ASCII punctuation other than `_ - /`."""

_NAME: Final = r"(?:[^\[\]\n]|\][^\]\n])(?:[^\[\]\n]|\[[^\[\]\n]|\][^\]\n])*"
WIKILINK: Final = rf"!?\[\[{_NAME}\]\]"
"""A name ends at the first `]]`, stays on its line and does not begin with a bracket."""

HTML_TAG: Final = (
    r"</?[A-Za-z][A-Za-z0-9-]*"
    r"(?:[ \t\n]+[A-Za-z_:][A-Za-z0-9_.:-]*(?:[ \t\n]*=[ \t\n]*(?:\"[^\"]*\"|'[^']*'|[^ \t\n\"'=<>`]+))?)*"
    r"[ \t\n]*/?>"
)
AUTOLINK: Final = rf"<[A-Za-z][A-Za-z0-9+.-]{{1,31}}:[^{SPACE}<>]*>"

URL_START: Final = r"[^0-9A-Za-z_=+/&?%.#@-]"
"""What may stand before a bare URL: nothing that could be the inside of a longer one."""
URL: Final = rf"https?://[^{SPACE}<>\[\]\"`|，。；、）】》」』]+"
"""A bare URL ends at blank space, brackets, a table's bar, and at the full-width punctuation of CJK sentences."""

_LEVEL_1: Final = rf"\([^{SPACE}()]*\)"
_LEVEL_2: Final = rf"\((?:[^{SPACE}()\\]|\\[^{SPACE}]|{_LEVEL_1})*\)"
_LEVEL_3: Final = rf"\((?:[^{SPACE}()\\]|\\[^{SPACE}]|{_LEVEL_2})*\)"
_BARE: Final = rf"(?:[^{SPACE}()<\\]|\\[^{SPACE}]|{_LEVEL_3})(?:[^{SPACE}()\\]|\\[^{SPACE}]|{_LEVEL_3})*"
_GAP: Final = r"[ \t\n]*"
_TITLES: Final = (r"\"((?:[^\"\\]|\\[^\n])*)\"", r"'((?:[^'\\]|\\[^\n])*)'", r"\(((?:[^()\\]|\\[^\n])*)\)")
LINK_TAIL: Final = rf"\({_GAP}(?:<((?:[^<>\n\\]|\\[^\n])*)>|({_BARE})?)(?:[ \t\n]+(?:{'|'.join(_TITLES)}))?{_GAP}\)"
"""`(destination "title")` after a link text; groups: destination in angle brackets, bare destination, three titles."""

PLAIN_TEXT: Final = r"(?:[^\[\]\\`<]|\\(?s:.)|`[^`]*`)*"
"""A link text the column scan reads: no brackets and no HTML inside (those go to the exact scan)."""

SIZE: Final = r"^(?:(?s:(.*))\|)?[ \t]*([0-9]{1,5})(?:[xX]([0-9]{1,5}))?[ \t]*$"
"""The size at the end of an embed's display text: `300`, `100x145`, `alt|100x145`."""

SCHEME: Final = r"^[A-Za-z][A-Za-z0-9+.-]+:"
RELATIONSHIP_TYPE: Final = r"^[A-Z][A-Z0-9_]*$"

_TAG_NAME: Final = re.compile(TAG_CHARS + "+")
_DIGITS: Final = re.compile(r"[0-9]+")


def is_tag_name(name: str) -> bool:
    """Whether ``name`` (without #) is a tag: allowed characters only, and not digits only."""
    return _TAG_NAME.fullmatch(name) is not None and _DIGITS.fullmatch(name) is None
