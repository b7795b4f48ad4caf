"""How long heavy queries take to stop, and how much memory they take over the graph.

usage: python benchmarks/cancel.py DATA_DIR [--memory] [--only WORD]

DATA_DIR is what benchmarks/social.py reads. Every query is stopped twice after 150 ms: by cancelling it from another
thread, and by its own timeout; the table shows how many milliseconds later it had stopped, the worst of some runs.
With --memory each query runs in a process of its own with the default budget and at most 20 s, and the table shows the
peak over the graph. Exits 1 where a query took more than 100 ms to stop, or more than 1,000 MB.
"""

import argparse
import subprocess
import sys
import threading
import time
from pathlib import Path

from social import load

from vaultgraph.cypher.budget import budget_for
from vaultgraph.cypher.query import run_query
from vaultgraph.errors import QueryError
from vaultgraph.graph.graph import Graph
from vaultgraph.graph.schema import Schema, schema_of

AFTER_MS = 150
MOST_LAG_MS = 100
MOST_MB = 1_000
MEMORY_MS = 20_000

QUERIES = {
    "pairs": "MATCH (a:Person), (b:Person) WHERE a.age + b.age = 1 RETURN count(*)",
    "pairs of cities": "MATCH (a:City), (b:City) RETURN a.city, b.city",
    "pairs filtered": "MATCH (a:City), (b:Interest), (c:State) WHERE a.city + b.interest CONTAINS c.state "
    "RETURN count(*)",
    "1..6": "MATCH (a:Person)-[r:Follows*1..6]->(b) WHERE a.id < 50 RETURN count(r)",
    "1..6 paths": "MATCH p = (a:Person {id: 1})-[:Follows*1..6]->(b) RETURN p",
    "any length": "MATCH (a:Person {id: 1})-[r*]->(b) RETURN size(r), b.name",
    "any length both": "MATCH (a:Person {id: 1})-[r*]-(b) RETURN count(r)",
    "any length distinct": "MATCH (a:Person)-[*]-(b:Person) RETURN DISTINCT a, b",
    "1..3 each": "MATCH (a:Person)-[r:Follows*1..3 {since: 1}]->(b) RETURN count(r)",
    "collect": "MATCH (a:Person)-[r:Follows]->(b) RETURN collect(b.name)",
    "collect by": "MATCH (a:Person)-[:Follows]->(b) RETURN a.name, collect(b.name) AS names ORDER BY size(names)",
    "collect nodes": "MATCH (a:Person)-[r:Follows]->(b) RETURN collect(b), collect(r)",
    "collect distinct": "MATCH (a:Person)-[:Follows]->(b) RETURN a.id, collect(DISTINCT {n: b.name})",
    "sort texts": "MATCH (a:Person)-[:Follows]->(b) RETURN a.name, b.name ORDER BY a.name, b.name DESC",
    "sort expressions": "MATCH (a:Person)-[:Follows]->(b) RETURN a.id ORDER BY a.name + b.name",
    "sort mixed": "UNWIND range(1, 3000000) AS x RETURN x ORDER BY CASE WHEN x % 2 = 0 THEN x ELSE toString(x) END",
    "sort lists": "UNWIND range(1, 2000000) AS x RETURN [x % 7, x] AS y ORDER BY y DESC",
    "distinct": "MATCH (a:Person)-[:Follows]->(b) RETURN DISTINCT a.name, b.name",
    "distinct lists": "UNWIND range(1, 3000000) AS x RETURN count(DISTINCT [x, x + 1])",
    "distinct maps": "UNWIND range(1, 3000000) AS x WITH DISTINCT {a: x} AS m RETURN count(m)",
    "regex": "UNWIND range(1, 400) AS i WITH reduce(s = 'ab', k IN range(1, 18) | s + s) + toString(i) AS t "
    "WHERE t =~ '(a|b|ab)*c' RETURN count(*)",
    "regex names": "MATCH (a:Person), (b:City) WHERE a.name + b.city =~ '.*(a|e)+.*z{2}.*' RETURN count(*)",
    "comprehension": "RETURN size([x IN range(1, 9000000) WHERE x % 3 = 0 | x * 2])",
    "comprehension each": "MATCH (a:Person) RETURN sum(size([x IN range(1, 180) WHERE x % a.age = 0]))",
    "nested comprehension": "RETURN size([x IN range(1, 10000) | [y IN range(1, 10000) | x * y]])",
    "shortest": "MATCH (a:Person), (b:Person), p = shortestPath((a)-[:Follows*]-(b)) WHERE a.id < 400 AND b.id > 99000 "
    "RETURN length(p)",
    "all shortest": "MATCH (a:Person), (b:Person), p = allShortestPaths((a)-[:Follows*]->(b)) "
    "WHERE a.id < 100 AND b.id > 99900 RETURN length(p)",
    "unwind": "UNWIND range(1, 10000000) AS x RETURN count(x)",
    "unwind unwind": "UNWIND range(1, 10000) AS x UNWIND range(1, 10000) AS y RETURN sum(x * y)",
    "unwind texts": "UNWIND range(1, 10000000) AS x RETURN max(toString(x) + 'a')",
    "range": "RETURN size(range(1, 1000000000))",
    "quantifier": "RETURN all(x IN range(1, 9000000) WHERE x % 1000000007 <> 0)",
    "quantifier each": "MATCH (a:Person) WHERE none(x IN range(2, 180) WHERE x * a.age = 7) RETURN count(*)",
    "reduce": "RETURN reduce(s = 0, x IN range(1, 9000000) | s + x)",
    "repetition": "RETURN size(reduce(s = 'a', x IN range(1, 23) | s + s))",
    "padding": "MATCH (a:Person)-[:Follows]->(b) RETURN max(replace(a.name, 'a', reduce(s = 'x', i IN range(1, "
    "12) | s + s)))",
    "replace": "WITH reduce(s = 'a', x IN range(1, 11) | s + s) AS t RETURN size(replace(t, 'a', t))",
    "split": "WITH reduce(s = 'a,', x IN range(1, 21) | s + s) AS t RETURN size(split(t, ','))",
    "percentiles": "MATCH (a:Person)-[:Follows]->(b) RETURN a.id, percentileCont(b.age, 0.5), "
    "percentileDisc(b.age, 0.9), "
    "stDev(b.age)",
    "percentile": "UNWIND range(1, 9000000) AS x RETURN percentileCont(x * 1.5, 0.3), stDev(x)",
    "join": "MATCH (a:Person), (b:Person) WHERE a.age = b.age RETURN count(*)",
    "join rows": "MATCH (a:Person), (b:Person) WHERE a.name = b.name AND a.id <> b.id RETURN a.name, collect(b.id)",
    "exists": "MATCH (a:Person)-[:Follows]->(b) WHERE EXISTS { (b)-[:Follows]->(c)-[:LivesIn]->() WHERE c.age > "
    "a.age } "
    "RETURN count(*)",
    "count": "MATCH (a:Person)-[:Follows]->(b) RETURN sum(COUNT { (b)-[:Follows]->()-[:Follows]->(a) })",
    "pattern lists": "MATCH (a:Person) RETURN a.id, [(a)-[:Follows]->(b)-[:Follows]->(c) | c.name] AS names",
    "three hops": "MATCH (a:Person)-[:Follows]->(b)-[:Follows]->(c)-[:Follows]->(d) RETURN a.id, d.id",
    "three hops sum": "MATCH (a:Person)-[:Follows]->(b)-[:Follows]->(c) WHERE a.age + b.age > c.age RETURN count(*)",
    "optional": "MATCH (a:Person)-[:Follows]->(b) OPTIONAL MATCH (b)-[:Follows]->(c) WHERE c.age = a.age RETURN "
    "count(c)",
    "call": "MATCH (a:Person) CALL { WITH a MATCH (a)-[:Follows]->(b)-[:Follows]->(c) RETURN collect(c.name) AS "
    "names } "
    "RETURN sum(size(names))",
    "union": "MATCH (a:Person)-[:Follows]->(b) RETURN a.name AS x UNION MATCH (a:Person)-[:Follows]->(b) RETURN "
    "b.name AS x",
    "maps": "MATCH (a:Person)-[:Follows]->(b) RETURN {a: a, b: properties(b)} AS m",
    "dates": "UNWIND range(1, 10000000) AS x RETURN max(date('2020-01-01') + duration({days: x % 365}))",
    "triangle": "MATCH (a:Person)-[:Follows]->(b)-[:Follows]->(c)-[:Follows]->(a) RETURN count(*)",
}


def stopped(graph: Graph, schema: Schema, query: str, by: str) -> tuple[float, str]:
    """How many ms after the moment it should stop it had, and how it ended."""
    event = threading.Event()
    budget = budget_for(AFTER_MS if by == "timeout" else None, event)
    timer = threading.Timer(AFTER_MS / 1000, event.set)
    begin = time.perf_counter()
    if by == "cancel":
        timer.start()
    try:
        run_query(graph, query, budget=budget, schema=schema)
        ended = "done"
    except QueryError as error:
        ended = error.message
    took = (time.perf_counter() - begin) * 1000
    timer.cancel()
    ended = next((short for short in ("done", "cancelled", "out of time") if short in ended), ended)
    return took - AFTER_MS, ended


def times(data: Path, word: str, runs: int) -> int:
    graph = load(data)
    schema = schema_of(graph)
    bad = 0
    print(f"{'query':22} {'cancel':>8} {'timeout':>8}")
    for name, query in QUERIES.items():
        if word not in name:
            continue
        lags, ends = {}, set()
        for by in ("cancel", "timeout"):
            found = [stopped(graph, schema, query, by) for _ in range(runs)]
            lags[by] = max(lag for lag, _ in found)
            ends |= {end for _, end in found}
        is_bad = max(lags.values()) > MOST_LAG_MS
        bad += is_bad
        rest = "; ".join(sorted(end for end in ends if end not in ("cancelled", "out of time")))
        print(
            f"{name:22} {lags['cancel']:8.0f} {lags['timeout']:8.0f} {'SLOW ' if is_bad else ''}{rest[:120]}",
            flush=True,
        )
    return bad


def resident_mb() -> float:
    """What this process holds in memory now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6


def one_memory(data: Path, name: str) -> None:
    """Print the peak of one query over the graph, in MB."""
    graph = load(data)
    schema = schema_of(graph)
    run_query(graph, "MATCH (a:Person)-[:Follows]->(b) RETURN count(b.name)", schema=schema)
    start = peak = resident_mb()
    stop = threading.Event()

    def watch() -> None:
        nonlocal peak
        while not stop.wait(0.005):
            peak = max(peak, resident_mb())

    watcher = threading.Thread(target=watch)
    watcher.start()
    begin = time.perf_counter()
    try:
        result = run_query(graph, QUERIES[name], budget=budget_for(MEMORY_MS), schema=schema)
        ended = f"{result.height if hasattr(result, 'height') else ''} rows"
    except QueryError as error:
        ended = error.message
    took = time.perf_counter() - begin
    stop.set()
    watcher.join()
    print(f"{max(peak, resident_mb()) - start:.0f}\t{took:.1f} s; {ended}")


def memory(data: Path, word: str) -> int:
    bad = 0
    print(f"{'query':22} {'MB':>6}")
    for name in QUERIES:
        if word not in name:
            continue
        done = subprocess.run(
            [sys.executable, __file__, str(data), "--one", name], capture_output=True, text=True, check=False
        )
        size, _, ended = done.stdout.strip().partition("\t")
        is_bad = not size or float(size) > MOST_MB
        bad += is_bad
        print(f"{name:22} {size:>6} {'BIG ' if is_bad else ''}{(ended or done.stderr)[-140:]}", flush=True)
    return bad


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--one")
    given = parser.parse_args()
    if given.one:
        one_memory(given.data, given.one)
        return 0
    bad = memory(given.data, given.only) if given.memory else times(given.data, given.only, given.runs)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
