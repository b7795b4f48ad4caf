"""Markdown made to be misread: lines put together from container markers and beginnings of every kind of block.

The tables are for tests and checks that make notes of them, at random from a seed or by search.
"""

import random
from typing import Final

MARGINS: Final = (
    "", "", "", "", "", "", "", " ", "  ", "   ", "    ", "     ", "      ", "\t", " \t", "> ", "> ", "> ", ">", ">> ",
    "> > ", ">     ", ">\t", ">  ", "- ", "- ", "* ", "+ ", "1. ", "2. ", "10) ", "-   ", "-\t", "-     ", "  - ",
    "    - ", "- > ", "> - ", "- - ", "1. - ", "   > ", " - ",
)  # fmt: skip
"""What a line may begin with, several of them at times; the frequent ones more than once."""

CONTENTS: Final = (
    "", "", "", "text", "[[a]]", "#t", "[[b]] #u", "x `code", "y` z", "`[[c]]`", "``a ` [[d]]``", "# H",
    "## H [[e]] ##", "#", "### `x", "===", "=", "---", "***", "-", "- - -", "```", "```py", "````", "~~~", "~~~~ x",
    "``` [[f]] ```", "``", "$$", "$$ x $$", "$$ [[g]]", "x $$", "$x", "y$", "%%", "%% [[h]] %%", "%% [[i]]", "x %%",
    "<!--", "<!-- [[j]] -->", "-->", "x -->", "<div>", "</div>", "<b>[[k]]</b>", "<b>", "</b>", "<u>", "<pre>",
    "</pre>", "<script>x", "</script>", "<style>", "<?php", "?>", "<!A", "<![CDATA[", "]]>", "<x-y a='b'>", "<i",
    "x='1'>", "[^1]: [[l]]", "[^2]: `x", "[^3]:", "[^1]:     [[p]]", "[^1]: - x", "[r]: u", "[r]: u 't'", "[r", "s]: u",
    "[s]:", "'title'", "[r]", "[t][r]", "[t](u)", "[t", "](u)", "|a|b|", "|#ta|#tb|", "a|#tc", "|[[a\\|#x]]|", "|-|-|",
    "|---|", "a|b", "-|-", "x ^id", "^id2", "[ ] task #v", "[!note] `t", "\\", "a\\", "**x**", "* x", "1) x", "!",
    "https://x.y", "<https://x.y>", "&amp;", "    [[m]]", "\t[[n]]", "  [[o]]", "\u00a0x", "\x0b", "\x00",
)  # fmt: skip
"""What may follow: text with links, and beginnings and ends of blocks."""


def odd_bodies(seed: int, count: int, most_lines: int = 9) -> list[str]:
    """``count`` bodies of up to ``most_lines`` lines; the same for the same ``seed``."""
    source = random.Random(seed)
    return [_body(source, most_lines) for _ in range(count)]


def _body(source: random.Random, most_lines: int) -> str:
    size = source.randint(1, source.choice((3, 5, most_lines)))
    return "\n".join(
        source.choice(MARGINS) + (source.choice(MARGINS) if source.random() < 0.15 else "") + source.choice(CONTENTS)
        for _ in range(size)
    )
