"""Answer queries on one vault with one program, one line of JSON in and one out, and say how long each took.

usage: query_run.py vaultgraph|kglite VAULT

A line in is {"query": …, "params": {…}}; a line out {"ms": …, "rows": …, "first": …}: the call alone, rows as Python
values included, the number of rows and the first one. It runs under the Python of its side and imports nothing else.
"""

import json
import sys
import time
from collections.abc import Callable


def opened(side: str, vault: str) -> Callable[[str, dict], list]:
    """A function that runs a query and gives its rows."""
    if side == "vaultgraph":
        import vaultgraph

        graph = vaultgraph.open(vault, cache=None)
        return lambda text, params: graph.query(text, **params).rows
    import kglite.okf

    found = kglite.okf.build(vault, dialect="obsidian")
    return lambda text, params: [list(row.values()) for row in found.cypher(text, params=params or None)]


def main(side: str, vault: str) -> None:
    run = opened(side, vault)
    print("ready", flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        start = time.perf_counter()
        rows = run(asked["query"], asked["params"])
        spent = (time.perf_counter() - start) * 1000
        first = list(rows[0]) if rows else None
        print(json.dumps({"ms": spent, "rows": len(rows), "first": first}, default=str), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
