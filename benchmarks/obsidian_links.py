"""How many of the links a running Obsidian recorded both readers find: precision and recall of (source, target) pairs.

    VAULTGRAPH_SHARED=… python benchmarks/obsidian_links.py [--kglite-python PYTHON]

Needs the recordings (`oracle/recordings/*.json`) and the vault they were made in (`vaults/tasks-demo.tar.xz`) under
VAULTGRAPH_SHARED. The notes are put back as they were recorded; then each side builds the vault, and its relationships
from a recorded note to a file of the vault are compared with Obsidian's answers. Links that only an alias or a title
explains (`via`) are a reading beyond Obsidian's and do not count; embeds whose answer was not recorded are left out.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from make_vault import Size
from sides import Side, SideError, both_sides
from vaults import copy_for, prepare, shared_folder

VAULT = "tasks-demo"
KINDS = ("links", "embeds", "frontmatterLinks")
Pairs = set[tuple[str, str]]

ASK = """
import json, sys
name, vault = sys.argv[1:3]
if name == "vaultgraph":
    import vaultgraph
    text = ("MATCH (a)-[r]->(b) WHERE r.line IS NOT NULL AND r.via IS NULL AND b._provisional IS NULL"
            " RETURN a.path AS source, b.path AS target")
    with vaultgraph.open(vault, cache=None) as opened:
        rows = [tuple(row) for row in opened.query(text).rows]
else:
    from kglite import okf
    text = ("MATCH (a)-[r]->(b) WHERE NOT type(r) IN ['CONTAINS', 'CHILD_OF', 'TAGGED']"
            " RETURN a.file_path AS source, coalesce(b.file_path, b.path) AS target, b.missing AS missing")
    rows = [(row["source"], row["target"]) for row in okf.build(vault, dialect="obsidian").cypher(text)
            if not row["missing"]]
print(json.dumps(sorted({row for row in rows if all(row)})))
"""


def recorded() -> tuple[dict[str, str], Pairs, Pairs]:
    """The text of each recorded note by path, the pairs Obsidian has, and (source, name) without a recorded answer."""
    texts: dict[str, str] = {}
    pairs: Pairs = set()
    unknown: Pairs = set()
    for file in sorted((shared_folder().parent / "oracle" / "recordings").glob("*.json")):
        dump = json.loads(file.read_text(encoding="utf-8"))
        source, answers = dump["filePath"], dump["resolveLinkToPath"]
        texts[source] = dump["fileContents"]
        for link in (entry["link"] for kind in KINDS for entry in dump["cachedMetadata"].get(kind, [])):
            if link not in answers:
                unknown.add((source, link))
            elif answers[link] is not None:
                pairs.add((source, answers[link]))
    return texts, pairs, unknown


def found(side: Side, vault: Path) -> Pairs:
    """The (source, target) pairs one side has in the whole vault.

    Raises: SideError with the last line the side wrote.
    """
    done = subprocess.run(
        [side.python, "-c", ASK, side.name, str(vault)], capture_output=True, text=True, timeout=600, check=False
    )
    if done.returncode:
        raise SideError((done.stderr.strip().splitlines() or ["it ended without a word"])[-1])
    return {(source, target) for source, target in json.loads(done.stdout.splitlines()[-1])}


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description="Compare links with what a running Obsidian recorded.")
    parser.add_argument("--kglite-python", default=sys.executable)
    options = parser.parse_args()
    texts, expected, unknown = recorded()
    if not texts:
        print(f"no recordings under {shared_folder().parent}: set VAULTGRAPH_SHARED", file=sys.stderr)
        return 2
    print("| reader | pairs | Obsidian's | both | precision | recall |\n|---|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory(prefix="vaultgraph-links-") as work:
        vault = prepare(VAULT, Path(work), Size())
        for path, text in texts.items():
            (vault / path).parent.mkdir(parents=True, exist_ok=True)
            (vault / path).write_text(text, encoding="utf-8", newline="")
        for side in both_sides(sys.executable, options.kglite_python):
            try:
                every = found(side, copy_for(side.name, vault, Path(work)))
            except SideError as error:
                print(f"| {side.name} | FAILED: {error} | | | | |")
                continue
            pairs = {
                pair for pair in every if pair[0] in texts and (pair[0], pair[1].rpartition("/")[2]) not in unknown
            }
            both = len(pairs & expected)
            precision, recall = both / len(pairs), both / len(expected)
            print(f"| {side.name} | {len(pairs)} | {len(expected)} | {both} | {precision:.3f} | {recall:.3f} |")
            for what, odd in (("missed", expected - pairs), ("not Obsidian's", pairs - expected)):
                for source, target in sorted(odd):
                    print(f"{side.name} {what}: {source} -> {target}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
