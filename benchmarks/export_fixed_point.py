"""Build → export → build on whole vaults: what differs, and how long it takes.

    python benchmarks/export_fixed_point.py [VAULT …]

Without arguments: the handbook of the repository and every packed vault that is found (VAULTGRAPH_SHARED). Sources are
only read; everything is written to a temporary folder. Exits 1 where something differs that is no documented loss.
"""

import argparse
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

from make_vault import Size
from vaults import REPOSITORY, prepare, shared_names

from vaultgraph.export.compare import as_losses, differences
from vaultgraph.export.owned import check_out, write_plan
from vaultgraph.export.vault import Source, plan_vault
from vaultgraph.files.root import VaultRoot
from vaultgraph.vault.refresh import refresh
from vaultgraph.vault.state import State

DOCUMENTED = {"line-moved"}  # of links, tags and parts below frontmatter that became longer
COLUMNS = (
    "vault",
    "notes",
    "nodes",
    "relationships",
    "read s",
    "plan s",
    "write s",
    "again s",
    "same bytes",
    "differs",
)


def built(folder: Path) -> State:
    """What a folder holds, read from scratch."""
    with VaultRoot.open(folder) as root:
        return refresh(root, None, (), None).state


def run(name: str, work: Path) -> tuple[list[str], bool]:
    """One vault there and back: a row of the table, and whether only documented losses were found."""
    source = prepare(name, work, Size(0, 0, 0)) if name != "handbook" else REPOSITORY / "fixtures" / "handbook"
    clock = [time.perf_counter()]
    with VaultRoot.open(source) as root:
        state = refresh(root, None, (), None).state
        clock.append(time.perf_counter())
        plan = plan_vault(Source(state.records, state.built.graph, state.configuration, root))
        clock.append(time.perf_counter())
        out = check_out(work / f"{Path(name).name}-exported", root.path)
        write_plan(plan, out)
        clock.append(time.perf_counter())
        again = write_plan(plan, out)
        clock.append(time.perf_counter())
    assert again.written == 0
    other = built(out)
    counts: dict[str, int] = {}
    for kind, what in as_losses(differences(state.built.graph, other.built.graph)):
        counts[kind] = counts.get(kind, 0) + (int(what.split()[0]) if kind == "line-moved" else 1)
    hashes = dict(zip(other.records.notes["path"], other.records.notes["hash"], strict=True))
    pairs = zip(state.records.notes["path"], state.records.notes["hash"], strict=True)
    same = sum(hashes.get(path) == digest for path, digest in pairs)
    graph = state.built.graph
    seconds = [f"{stop - start:.2f}" for start, stop in pairwise(clock)]
    shown = ", ".join(f"{kind} {count}" for kind, count in sorted(counts.items())) or "nothing"
    numbers = [state.records.notes.height, graph.node_count, graph.relationship_count]
    return [Path(name).name, *map(str, numbers), *seconds, str(same), shown], set(counts) <= DOCUMENTED


def main() -> int:
    """Print the table; 1 where a vault is not the same after the way there and back."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("vaults", nargs="*", help="folders or names of packed vaults; default: all that are found")
    names = parser.parse_args().vaults or ["handbook", *shared_names()]
    is_right = True
    print("| " + " | ".join(COLUMNS) + " |\n|" + "---|" * len(COLUMNS))
    for name in names:
        with tempfile.TemporaryDirectory() as work:
            row, is_same = run(name, Path(work))
        is_right &= is_same
        print("| " + " | ".join(row) + " |", flush=True)
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
