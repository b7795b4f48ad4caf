"""Tools by the names that callers see: what the manifest renamed is called so in our messages, what is hidden in none.

Used wherever words of ours name a tool. Never applied to text of notes or to what a caller wrote.
"""

import re
from collections.abc import Mapping
from typing import Final

from vaultgraph.serve.manifest import BundledTool
from vaultgraph.serve.session import Session

NAMED: Final = (
    "graph_overview",
    "cypher_query",
    "read_source",
    "list_source",
    "fetch_images",
    "rebuild_graph",
    "reload_graph",
    "list_recipe_queries",
    "run_recipe_query",
)
"""Tools that messages name; `grep`, `ping` and `skill` are words of other meaning too."""
_SENTENCES: Final = re.compile(r"(?<=[.;:!?])(\s+)")


def offered_name(session: Session, tool: str) -> str | None:
    """What a tool of the table is called here; None where the session does not offer it."""
    manifest = session.manifest
    if session.offered is None or tool not in session.offered:
        return None
    name = tool
    for change in manifest.tools:
        if isinstance(change, BundledTool) and change.bundled == tool:
            if change.is_hidden:
                return None
            name = change.rename or tool
    is_always = tool == "skill" and manifest.skills is not None and manifest.skills.is_on
    return name if is_always or manifest.tools_allow is None or name in manifest.tools_allow else None


def in_callers_words(session: Session, text: str) -> str:
    """``text`` with tools called as the session offers them, without sentences about those it does not offer."""
    names = _names(session)
    if not any(tool in text for tool in names):
        return text
    hidden = [tool for tool, name in names.items() if name is None]
    parts = _SENTENCES.split(text)
    kept = [at for at in range(0, len(parts), 2) if not any(tool in parts[at] for tool in hidden)]
    words = "".join(f"{parts[at - 1] if at and place else ''}{parts[at]}" for place, at in enumerate(kept)) or text
    words = words.rstrip(";: ") if kept and kept[-1] < len(parts) - 1 else words
    for tool, name in names.items():
        if name is not None:
            words = re.sub(rf"\b{tool}\b", name, words)
    return words


def _names(session: Session) -> Mapping[str, str | None]:
    """The tools whose names here are others, or none."""
    if session.offered is None or not (session.manifest.tools or session.manifest.tools_allow is not None):
        # What a mode does not offer is named by no message of that mode but those of file tools.
        return {"graph_overview": None} if session.mode == "files" else {}
    named = {tool: offered_name(session, tool) for tool in NAMED}
    return {tool: name for tool, name in named.items() if name != tool}
