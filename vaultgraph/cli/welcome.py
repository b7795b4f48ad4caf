"""What a person sees who starts the server at a terminal: that it works, and how to register it.

Three sample calls are really run through dispatch, as a client's would be. Everything goes to stderr.
"""

import sys
from collections.abc import Iterator, Mapping
from itertools import chain, islice
from typing import Any, Final

from vaultgraph.cli.progress import progress_bar
from vaultgraph.cli.register import register_text
from vaultgraph.errors import VaultgraphError
from vaultgraph.files.root import askable
from vaultgraph.files.stamps import scan
from vaultgraph.serve.answers import Answer, ImagePart
from vaultgraph.serve.cells import counted, plain_text
from vaultgraph.serve.dispatch import dispatch
from vaultgraph.serve.problems import problem_summary
from vaultgraph.serve.session import Session

WAIT_S: Final = 600.0
TICK_S: Final = 0.1
SHOWN_LINES: Final = 8
LINKED: Final = (
    "MATCH (n:Note)<-[r:LINKS_TO]-() RETURN n.path AS note, count(r) AS backlinks ORDER BY backlinks DESC, note LIMIT 3"
)
TRIED: Final = 20
SUFFIXES: Final = (".png", ".jpg", ".jpeg", ".gif", ".webp")
IMAGES: Final = "MATCH (i:Image) WHERE i.missing IS NULL RETURN i.path AS path ORDER BY path LIMIT 20"


def welcome(session: Session, name: str | None) -> None:
    """Wait for the build with a progress bar, then show the summary, three sample calls and how to register."""
    _wait(session)
    if session.is_built():
        report = session.vault().report
        how = {"cache": "opened from the cache", "built": "built"}.get(report.origin, report.origin)
        spent = sum(report.phases_ms.values())
        nouns = {"note": report.notes, "node": report.nodes, "relationship": report.relationships}
        _say(
            f"{', '.join(counted(count, noun) for noun, count in nouns.items())} {how} in "
            f"{spent:,.0f} ms · problems: {problem_summary(report.problems)}"
        )
    _show(session, "graph_overview", {})
    _show(session, "cypher_query", {"query": LINKED})
    _show_image(session)
    _say("")
    _say(register_text(session.root.path, name))
    _say("")
    _say("Serving on stdin and stdout now; Ctrl-C ends it.")


def _wait(session: Session) -> None:
    with progress_bar() as progress:
        waited_s = 0.0
        while not session.wait_built(TICK_S) and waited_s < WAIT_S:
            waited_s += TICK_S
            if progress:
                progress(*session.phase)


def _show(session: Session, name: str, arguments: Mapping[str, Any]) -> None:
    answer = dispatch(session, name, arguments)
    _print_call(name, arguments, answer.text)


def _show_image(session: Session) -> None:
    """The first image that can be delivered, one that a note shows where there is any; says so where there is none."""
    rows = dispatch(session, "cypher_query", {"query": IMAGES, "format": "json"}).structured or {"rows": []}
    for path in chain((path for (path,) in rows["rows"]), islice(_image_files(session), TRIED)):
        answer = dispatch(session, "fetch_images", {"items": [path]})
        if not answer.is_error:
            _print_call("fetch_images", {"items": [path]}, f"{_image_bytes(answer):,} bytes\n{answer.text}")
            return
    _say("\n> fetch_images: there is no image to show in this vault")


def _image_files(session: Session) -> Iterator[str]:
    """Files called like images, from the folder itself: there may be no graph."""
    try:
        paths: list[str] = scan(session.folder()).files["path"].to_list()
    except VaultgraphError:
        return
    yield from (askable(path) for path in paths if path.lower().endswith(SUFFIXES))


def _image_bytes(answer: Answer) -> int:
    return sum(len(part.data) for part in answer.parts if isinstance(part, ImagePart))


def _print_call(name: str, arguments: Mapping[str, Any], text: str) -> None:
    shown = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
    lines = text.splitlines()
    _say(f"\n> {name}({shown})")
    for line in lines[:SHOWN_LINES]:
        _say(f"  {line}")
    if len(lines) > SHOWN_LINES:
        _say(f"  … {len(lines) - SHOWN_LINES} more lines")


def _say(line: str) -> None:
    shown = "\t".join(map(plain_text, line.split("\t")))  # tabs are between the cells of an answer
    sys.stderr.write(f"{shown}\n")
    sys.stderr.flush()
