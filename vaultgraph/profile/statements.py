"""Looking at a recipe's text without parsing its query: its fenced block, its parameters, words that write.

Used by guidance.py. The query itself is parsed and run by cypher/; what is refused here is refused early and with the
file's name. Every pass is linear in the text.
"""

import re
from typing import Final

WRITING_WORDS: Final = frozenset({"CREATE", "MERGE", "SET", "DELETE", "REMOVE", "LOAD", "FOREACH", "DROP"})

_FENCE: Final = re.compile(r"([ \t]*)(`{3,}+|~{3,}+)([^`]*)")
# Strings, quoted names and comments run to the end of the text when nothing closes them. A word after "." or ":" is
# the name of a property, label or type, whatever it says.
_TOKEN: Final = re.compile(
    r"""'(?:[^'\\]|\\(?:.|\Z))*(?:'|\Z)
      | "(?:[^"\\]|\\(?:.|\Z))*(?:"|\Z)
      | \$`(?P<quoted>[^`]*)(?:`|\Z)
      | `[^`]*(?:`|\Z)
      | //[^\n]*
      | /\*.*?(?:\*/|\Z)
      | \$(?P<parameter>\w+)
      | [.:]\s*\w+
      | (?P<word>\w+)""",
    re.VERBOSE | re.DOTALL,
)


def fenced_blocks(text: str, language: str) -> list[str]:
    """What stands in the fenced blocks marked with ``language`` alone (in any case), without the fence's indent."""
    found: list[str] = []
    fence, indent = "", ""
    lines: list[str] | None = None
    for line in text.splitlines():
        match = _FENCE.fullmatch(line)
        if not fence:
            if match:
                indent, fence, info = match.groups()
                lines = [] if info.strip().lower() == language else None
        elif match and match[2].startswith(fence) and not match[3].strip():
            if lines is not None:
                found.append("\n".join(lines))
            fence, lines = "", None
        elif lines is not None:
            lines.append(line.removeprefix(indent))
    if lines is not None:
        found.append("\n".join(lines))
    return found


def parameters_in(statement: str) -> set[str]:
    """Names of the `$parameters` of a query."""
    matches = _TOKEN.finditer(statement)
    return {name for match in matches if (name := match["parameter"] or match["quoted"])}


def writing_word_in(statement: str) -> str | None:
    """The first keyword by which a query would write; None where there is none."""
    words = (match["word"] for match in _TOKEN.finditer(statement))
    return next((word.upper() for word in words if word and word.upper() in WRITING_WORDS), None)
