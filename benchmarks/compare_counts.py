"""What both readers make of the same vaults: nodes by kind and relationships by type, side by side.

    python benchmarks/compare_counts.py [VAULT …] [--kglite-python PYTHON]

A VAULT is a folder or the name of a packed one; without any, all packed ones. Prints Markdown. Kinds are Note (all
notes, whatever their label), Concept, Source, Tag, Folder, Image, Attachment; types that only frontmatter keys make are
summed as "frontmatter". docs/differences.md says why figures differ.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from make_vault import Size
from sides import Side, SideError, both_sides
from vaults import copy_for, prepare, shared_names

KINDS = ("Note", "Concept", "Source", "Tag", "Folder", "Image", "Attachment")
TYPES = ("LINKS_TO", "LINKS_OUT", "EMBEDS", "TAGGED", "CONTAINS", "CHILD_OF", "HAS_IMAGE", "HAS_ATTACHMENT")

COUNT = """
import json, sys
NODES = "MATCH (n) RETURN labels(n) AS labels, n.file_path IS NOT NULL AS is_note, count(*) AS n"
TYPES = "MATCH ()-[r]->() RETURN type(r) AS type, count(*) AS n"
if sys.argv[1] == "vaultgraph":
    import vaultgraph
    with vaultgraph.open(sys.argv[2], cache=None) as vault:
        out = [[list(row) for row in vault.query(text).rows] for text in (NODES, TYPES)]
else:
    from kglite import okf
    graph = okf.build(sys.argv[2], dialect="obsidian")
    out = [[list(row.values()) for row in graph.cypher(text)] for text in (NODES, TYPES)]
print(json.dumps(out))
"""


def count(side: Side, vault: Path) -> tuple[Counter[str], Counter[str]]:
    """Nodes by kind, relationships by type.

    Raises: SideError with the last line the side wrote.
    """
    done = subprocess.run(
        [side.python, "-c", COUNT, side.name, str(vault)], capture_output=True, text=True, timeout=600, check=False
    )
    if done.returncode:
        raise SideError((done.stderr.strip().splitlines() or ["it ended without a word"])[-1])
    nodes, types = json.loads(done.stdout.splitlines()[-1])
    kinds: Counter[str] = Counter()
    for labels, is_note, number in nodes:
        kind = "Note" if is_note else next((label for label in labels if label in KINDS), "other")
        kinds[kind] += number
    counted: Counter[str] = Counter()
    for type_, number in types:
        counted[type_ if type_ in TYPES else "frontmatter and headings"] += number
    return kinds, counted


def show(title: str, rows: tuple[str, ...], counts: list[Counter[str]]) -> None:
    """One Markdown row for each name in ``rows`` and each other one found."""
    for name in (*rows, *sorted(set().union(*counts) - set(rows))):
        values = [counted[name] for counted in counts]
        if any(values):
            print(f"| {title} | {name} | {values[0]:,} | {values[1]:,} | {values[0] - values[1]:+,} |")


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description="Compare what both readers make of vaults.")
    parser.add_argument("vaults", nargs="*")
    parser.add_argument("--kglite-python", default=sys.executable)
    options = parser.parse_args()
    sides = both_sides(sys.executable, options.kglite_python)
    print("| vault | what | " + " | ".join(side.name for side in sides) + " | difference |\n|---|---|--:|--:|--:|")
    for name in options.vaults or shared_names():
        with tempfile.TemporaryDirectory(prefix="vaultgraph-counts-") as work:
            vault = prepare(name, Path(work), Size())
            counts = [count(side, copy_for(side.name, vault, Path(work))) for side in sides]
            show(Path(name).name, KINDS, [kinds for kinds, _ in counts])
            show(Path(name).name, TYPES, [types for _, types in counts])
    return 0


if __name__ == "__main__":
    sys.exit(main())
