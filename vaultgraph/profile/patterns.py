"""Patterns of the configuration, and the templates it may hold: checked where they are written.

A pattern is a regular expression of polars' engine, which is linear in its input, so a downloaded vault cannot make it
run away; look-around and back references are not in it. Nothing is matched here.
"""

import re
from typing import Final

import polars as pl
from polars.exceptions import ComputeError

from vaultgraph.profile.yaml_tree import Entry

MOST_PATTERN_CHARS: Final = 500
MOST_TEMPLATE_CHARS: Final = 2_000
PLACEHOLDERS: Final = ("title", "section_title", "heading_path", "text", "id")

_PLACEHOLDER: Final = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
_REASON: Final = re.compile(r"(?m)^error: (.+)$|regex error: (.+)$")


def read_pattern(entry: Entry) -> str:
    """A regular expression as it is written, which compiles."""
    pattern = entry.string()
    if len(pattern) > MOST_PATTERN_CHARS:
        entry.refuse(f"has {len(pattern)} characters; a pattern has at most {MOST_PATTERN_CHARS}.")
    try:
        pl.Series([""]).str.contains(pattern)
    except ComputeError as error:
        found = _REASON.findall(str(error))
        reason = next((part for first, second in reversed(found) for part in (first, second) if part), "cannot be read")
        entry.refuse(f"is not a regular expression: {reason.rstrip('.')}.")
    return pattern


def read_template(entry: Entry) -> str | None:
    """A template whose placeholders are all known; None for an empty one. Other braces stand for themselves."""
    template = entry.string()
    if len(template) > MOST_TEMPLATE_CHARS:
        entry.refuse(f"has {len(template)} characters; a template has at most {MOST_TEMPLATE_CHARS}.")
    for name in _PLACEHOLDER.findall(template):
        if name not in PLACEHOLDERS:
            accepted = ", ".join(f"{{{known}}}" for known in PLACEHOLDERS)
            entry.refuse(f"uses `{{{name}}}`, which is no placeholder. Accepted here: {accepted}.")
    return template or None
