"""Bytes of the replies to the same calls, side by side: `python benchmarks/reply_bytes.py [--vault NAME_OR_PATH …]`.

Starts vaultgraph's server and kglite's on copies of one vault, to which a recipe, a skill and a picture are added.
Sends both the same twenty calls over stdio and prints the bytes of each reply's line on the wire, their ratio, and the
geometric mean of the ratios; beside them tools/list and the handshake, which count by themselves. Bytes do not depend
on the machine: one run is enough. Exits with 1 where a side is missing, or answers a call otherwise than it is meant.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from make_vault import Size
from mcp_stdio import Reply, Server
from measures import first_count
from PIL import Image
from sides import Side, SideError, both_sides
from vaults import STANDARD, copy_for, prepare, sample

WAIT_S = 120.0
PICTURE = "reply_bytes.png"
RECIPE = """---
recipe: garden
recipe_description: Questions about the notes.
name: most_linked
description: Notes by the number of links to them.
parameters:
  type: object
  properties:
    least: {type: integer, minimum: 0, description: Links at least.}
  required: [least]
  additionalProperties: false
---
```cypher
MATCH (n)<-[r:LINKS_TO]-() WITH n, count(r) AS links WHERE links >= $least
RETURN n.title AS title, links ORDER BY links DESC, title LIMIT 10
```
"""
SKILL = """---
name: reading_order
description: Before summarising a subject.
---
Start with the notes most linked to, then follow their links one step.
Quote the path of every note you rely on.
"""


@dataclass(frozen=True, slots=True)
class Ask:
    """One call; ``refused`` where it is wrong on purpose."""

    name: str
    tool: str
    arguments: dict[str, Any]
    refused: bool = False


def calls(note: str, title: str, word: str, label: str) -> list[Ask]:
    """The twenty calls about one vault."""

    def query(name: str, text: str, *, refused: bool = False, **more: Any) -> Ask:
        return Ask(name, "cypher_query", {"query": text, **more}, refused)

    titles = "MATCH (n) WHERE n.title IS NOT NULL RETURN n.title AS title"
    recipe = {"recipe": "garden", "query": "most_linked", "variables": {"least": 1}}
    return [
        Ask("overview", "graph_overview", {}),
        Ask("describe a label", "graph_overview", {"types": [label]}),
        Ask("describe a relationship type", "graph_overview", {"connections": ["LINKS_TO"]}),
        Ask("reference of a clause", "graph_overview", {"cypher": ["WHERE"]}),
        query("one value", "RETURN 1"),
        query("count", "MATCH (n) RETURN count(n) AS nodes"),
        query("10 rows of 2 columns", f"{titles}, labels(n) AS labels ORDER BY title LIMIT 10"),
        query("100 rows of 1 column", f"{titles} ORDER BY title LIMIT 100"),
        query("neighbours of a note", "MATCH (n)--(m) WHERE n.title = $title RETURN m", params={"title": title}),
        query("no rows", "MATCH (n) WHERE n.title = 'nothing is called so' RETURN n.title"),
        query("syntax error", "MATCH (n) RETRUN n.title", refused=True),
        query("unknown label", "MATCH (n:Nottes) RETURN n.title"),
        Ask("find lines", "grep", {"pattern": word, "max_results": 20}),
        Ask("list a folder", "list_source", {}),
        Ask("read a note", "read_source", {"file_path": note}),
        Ask("read what is not there", "read_source", {"file_path": f"{note}x"}, refused=True),
        Ask("list recipes", "list_recipe_queries", {"recipe": "garden"}),
        Ask("run a recipe", "run_recipe_query", recipe),
        Ask("a skill", "skill", {"name": "reading_order"}),
        Ask("a picture", "fetch_images", {"items": [PICTURE]}),
    ]


def equip(vault: Path) -> None:
    """Add the recipe, the skill and the picture."""
    for folder, name, text in (("recipes", "most_linked.md", RECIPE), ("skills", "reading_order.md", SKILL)):
        place = vault / ".kglite" / folder
        place.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text, encoding="utf-8")
    Image.linear_gradient("L").resize((48, 32)).save(vault / PICTURE)


def is_refused(reply: Reply) -> bool:
    """Whether the call failed; kglite's file tools say it in their text only."""
    return reply.failed or reply.text.startswith("Error")


def asked_about(server: Server, note: str) -> str:
    """The title of the note."""
    reply = server.call("cypher_query", {"query": f"MATCH (n) WHERE n.path = {json.dumps(note)} RETURN n.title AS t"})
    return json.loads(line) if (line := reply.text.splitlines()[1]).startswith('"') else line


def measure(side: Side, vault: Path, asked: list[Ask], saved: Path | None) -> dict[str, int]:
    """Bytes of each reply.

    Raises: SideError where a call is answered otherwise than meant.
    """
    found: dict[str, int] = {}
    with Server(side.server_command(vault, cached=False), timeout_s=WAIT_S) as server:
        found["handshake"] = server.hello.size_bytes
        first_count(server)
        found["tools/list"] = server.request("tools/list", {}).size_bytes
        for one in asked:
            reply = server.call(one.tool, one.arguments)
            if saved:
                name = f"{one.name.replace(' ', '_')}.{side.name}.json"
                (saved / name).write_text(json.dumps(reply.body, indent=1, ensure_ascii=False))
            if is_refused(reply) != one.refused:
                raise SideError(f"{one.name}: {reply.text.strip()[:200] or reply.body}")
            found[one.name] = reply.size_bytes
    return found


def measure_vault(name: str, sides: list[Side], options: argparse.Namespace) -> dict[str, Any]:
    """The table of one vault, printed, and its figures."""
    with tempfile.TemporaryDirectory(prefix="vaultgraph-bench-", ignore_cleanup_errors=True) as folder:
        work = Path(folder)
        source = prepare(name, work, Size())
        copies = {side: copy_for(side.name, source, work) for side in sides}
        for copy in copies.values():
            equip(copy)
        about = sample(source)
        with Server(sides[0].server_command(copies[sides[0]], cached=False), timeout_s=WAIT_S) as server:
            first_count(server)
            title = asked_about(server, about.note)
        asked = calls(about.note, title, about.word, options.label)
        if options.save:
            options.save.mkdir(parents=True, exist_ok=True)
        found = {side.name: measure(side, copies[side], asked, options.save) for side in sides}
    ours, theirs = found[sides[0].name], found[sides[1].name]
    ratios = {call: ours[call] / theirs[call] for call in ours}
    mean = statistics.geometric_mean([ratios[one.name] for one in asked])
    print(f"## {name}: {about.notes:,} notes\n")
    print(f"| reply to | {sides[0].name}, bytes | {sides[1].name}, bytes | ratio |\n|---|--:|--:|--:|")
    for call in [*(one.name for one in asked), "tools/list", "handshake"]:
        print(f"| {call} | {ours[call]:,} | {theirs[call]:,} | {ratios[call]:.2f} |")
    print(f"| **geometric mean of {len(asked)} calls** | | | **{mean:.3f}** |\n", flush=True)
    return {"notes": about.notes, "bytes": found, "ratios": ratios, "geometric_mean": mean}


def main() -> int:
    parser = argparse.ArgumentParser(description="Bytes of the replies to the same calls, side by side.")
    parser.add_argument("--vault", action="append", metavar="NAME|PATH", help=f"default: {STANDARD}; repeatable")
    parser.add_argument("--kglite-python", default=sys.executable, help="Python that has kglite (default: this one)")
    parser.add_argument("--label", default="Tag", help="the label that is described (default: Tag)")
    parser.add_argument("--save", type=Path, metavar="DIR", help="keep the replies there, to be looked at")
    parser.add_argument("--out", type=Path, help="JSON file to write")
    options = parser.parse_args()
    sides = both_sides(sys.executable, options.kglite_python)
    try:
        versions = {side.name: side.version() for side in sides}
        started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        vaults = {name: measure_vault(name, sides, options) for name in options.vault or [STANDARD]}
    except (SideError, FileNotFoundError) as error:
        print(error, file=sys.stderr)
        return 1
    if options.out:
        options.out.write_text(json.dumps({"started": started, "versions": versions, "vaults": vaults}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
