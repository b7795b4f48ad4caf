"""What a client is told at the handshake: the operator's words where there are some, else how to start, by mode.

Names only tools that are offered under their own names.
"""

from vaultgraph.serve.session import Session
from vaultgraph.serve.surface import as_allowed, static_operations

_STEPS = (
    ("graph_overview", "start with graph_overview"),
    ("cypher_query", "ask with cypher_query"),
    ("read_source", "read notes and files with read_source"),
    ("fetch_images", "see pictures with fetch_images"),
)


def instructions_of(session: Session) -> str:
    """The text, short."""
    if session.manifest.instructions is not None:
        return session.manifest.instructions
    offered = as_allowed(static_operations(session), session.manifest)
    steps = ", ".join(words for name, words in _STEPS if name in offered)
    match session.mode:
        case "vault":
            subject = f'The notes of the vault "{session.name}" as a live graph'
            end = " Answers include every edit that was saved before the call."
        case "graph":
            subject, end = f'The saved graph "{session.name}"', " A file that was saved anew is read again."
        case "files":
            subject, end = f'The files of "{session.name}", without a graph', ""
    return f"{subject}{': ' + steps if steps else ''}.{end}"
