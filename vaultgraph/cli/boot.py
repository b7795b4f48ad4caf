"""The line on stderr that says what a server came to: mode, notes, nodes, relationships, where from, milliseconds.

Called by serving when the first build has ended; a build that failed is said in the same place.
"""

import time
from collections.abc import Callable

from vaultgraph.errors import VaultgraphError
from vaultgraph.serve.session import Session


def boot_line(session: Session, since: float) -> str:
    """The line; ``since`` is the `time.perf_counter()` at which starting began."""
    spent = f"{(time.perf_counter() - since) * 1000:,.0f} ms"
    head = f'vaultgraph: {session.mode} "{session.name}"'
    if session.mode == "files":
        return f"{head} · file tools only · {spent}"
    try:
        snapshot = session.vault().current()
    except VaultgraphError as error:
        return f"{head} · there is no graph yet: {' '.join(error.message.split())} · the next call tries again"
    from vaultgraph.serve.cells import counted  # noqa: PLC0415 -- loads the engine, which has been loaded by now
    from vaultgraph.serve.problems import problem_summary  # noqa: PLC0415 -- as above
    from vaultgraph.serve.report import ORIGINS  # noqa: PLC0415 -- as above

    report = snapshot.report
    counts = [(report.notes, "note"), (report.nodes, "node"), (report.relationships, "relationship")]
    found = ", ".join(counted(count, noun) for count, noun in counts)
    origin = "read from the file" if session.mode == "graph" else ORIGINS[report.origin]
    parts = [head, found, origin, *([f"cache {report.cache}"] if report.cache else []), spent]
    return " · ".join([*parts, f"problems: {problem_summary(report.problems)}"])


def announcing(say: Callable[[str], None], since: float) -> Callable[[Session], None]:
    """What a session is started with: it says the line."""
    return lambda session: say(boot_line(session, since))
