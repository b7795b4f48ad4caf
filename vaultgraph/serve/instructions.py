"""What a client is told at the handshake: the operator's words where there are some, else how to start, by mode.

Names only tools that are offered, as they are called here.
"""

from vaultgraph.serve.session import Session
from vaultgraph.serve.surface import static_operations
from vaultgraph.serve.tool_names import in_callers_words, offered_name

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
    static_operations(session)
    steps = in_callers_words(session, ", ".join(words for name, words in _STEPS if offered_name(session, name)))
    match session.mode:
        case "vault":
            subject = f'The notes of the vault "{session.name}" as a live graph'
            end = " Answers include every edit that was saved before the call."
            if not session.follows_edits:
                end = in_callers_words(session, " Edits are not followed. They show after rebuild_graph.")
        case "graph":
            subject, end = f'The saved graph "{session.name}"', " A file that was saved anew is read again."
        case "files":
            subject, end = f'The files of "{session.name}", without a graph', ""
    return f"{subject}{': ' + steps if steps else ''}.{end}"
