"""Naming what a text holds and a reader does not see: zero-width, direction and tag characters.

Used by read_source, which gives the text as it is and says so in its first line. Joiners between letters or pictures of
writing systems that need them are no secret and are not named.
"""

import re
from collections import Counter
from typing import Final

KINDS_SHOWN: Final = 5
SPELLED_CHARS: Final = 80
_TAGS: Final = range(0xE0020, 0xE007F)  # each stands for a visible ASCII character
_HIDDEN: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    "\U000e0000-\U000e007f]|(?<=[\x00-\x7f])[\u200c\u200d]"
)


def hidden_characters(text: str) -> str:
    """What is hidden in ``text``, in words, or "": `invisible: U+200B × 3; tag characters spell "…"`."""
    if text.isascii():
        return ""
    found = Counter(_HIDDEN.findall(text))
    if not found:
        return ""
    spelled = "".join(chr(ord(char) - 0xE0000) for char in _HIDDEN.findall(text) if ord(char) in _TAGS)
    plain = [(char, count) for char, count in found.most_common() if ord(char) not in _TAGS]
    kinds = [f"U+{ord(char):04X} × {count}" for char, count in plain[:KINDS_SHOWN]]
    kinds += [f"{len(plain) - KINDS_SHOWN} other kinds"] if len(plain) > KINDS_SHOWN else []
    parts = [f"invisible characters: {', '.join(kinds)}"] if kinds else []
    if spelled:
        cut = "…" if len(spelled) > SPELLED_CHARS else ""
        parts.append(f'{len(spelled)} invisible tag characters that spell "{spelled[:SPELLED_CHARS]}{cut}"')
    return "; ".join(parts)
