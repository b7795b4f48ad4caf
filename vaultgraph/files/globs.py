"""Which paths a glob means: `*.md` by file name at any depth, `Folder/*` from the root, `**` any number of folders.

Shared by files/grep and files/listing. A glob becomes a regular expression of the linear engine, so no glob is slow.
"""

import re
from collections.abc import Sequence
from typing import Final

import polars as pl
from polars.exceptions import ComputeError

from vaultgraph.errors import ParameterError

_MOST_GLOB_CHARS: Final = 500


def matching(paths: Sequence[str], glob: str | None) -> list[bool]:
    """Which of ``paths`` match ``glob`` (None: all), letter case aside.

    Without a slash the glob is matched against the file name. `*` and `?` stop at slashes, `**/` is any number of
    folders, `[abc]` and `[!abc]` one character, `{a,b}` either.

    Raises:
        ParameterError: a glob that cannot be read, or over 500 characters.
    """
    if glob is None:
        return [True] * len(paths)
    if not glob or len(glob) > _MOST_GLOB_CHARS:
        raise ParameterError(
            f"glob: give 1 to {_MOST_GLOB_CHARS} characters, such as *.md or Folder/**.",
            {"name": "glob", "reason": "length"},
        )
    anchored = glob.removeprefix("./").removeprefix("/")
    start = "^" if "/" in anchored or glob.startswith("/") else "(?:^|/)"
    try:
        found = pl.Series("path", paths, dtype=pl.String).str.contains(f"(?is){start}{_expression(anchored)}$")
    except ComputeError as reason:
        raise ParameterError(
            f"glob: {glob!r} cannot be read. Use *, ?, **, [abc] and {{a,b}}, such as **/*.md.",
            {"name": "glob", "reason": "syntax"},
        ) from reason
    return found.to_list()


def _expression(glob: str) -> str:
    out: list[str] = []
    index, open_braces = 0, 0
    while index < len(glob):
        char = glob[index]
        if glob.startswith("**/", index) and (not index or glob[index - 1] == "/"):
            out.append("(?:[^/]*/)*")
            index += 3
            continue
        if glob.startswith("**", index):
            out.append(".*")
            index += 2
            continue
        stop = glob.find("]", index + 2) if char == "[" else -1
        if char == "[" and stop > 0:
            inner = re.sub(r"([\[\]\\&~])", r"\\\1", glob[index + 1 : stop])
            out.append(f"[^{inner[1:]}]" if inner[0] in "!^" else f"[{inner}]")
            index = stop + 1
            continue
        if char == "{" and "}" in glob[index:]:
            open_braces += 1
            out.append("(?:")
        elif char == "}" and open_braces:
            open_braces -= 1
            out.append(")")
        elif char == "," and open_braces:
            out.append("|")
        else:
            out.append({"*": "[^/]*", "?": "[^/]"}.get(char) or re.escape(char))
        index += 1
    return "".join(out)
