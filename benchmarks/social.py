"""The social-graph benchmark on this engine: median milliseconds, the answers and the peak memory, as JSON.

usage: python benchmarks/social.py DATA_DIR [RUNS=5]

DATA_DIR holds Parquet files as the public generator of this benchmark writes them (person, city, state, country,
interest; follows, lives_in, has_interest, city_in, state_in). The queries are read from social_queries.json, looked for
in the folder `bench` under VAULTGRAPH_SHARED (default ../shared).
"""

import json
import os
import resource
import statistics
import sys
import time
from pathlib import Path

import polars as pl

from vaultgraph.cypher.query import run_query
from vaultgraph.graph.graph import Graph
from vaultgraph.graph.schema import schema_of

SHARED = Path(os.environ.get("VAULTGRAPH_SHARED", Path(__file__).parents[2] / "shared"))
NODES = {"Person": "person", "City": "city", "State": "state", "Country": "country", "Interest": "interest"}
RELATIONSHIPS = [
    ("Follows", "follows", "Person", "Person"),
    ("LivesIn", "lives_in", "Person", "City"),
    ("HasInterest", "has_interest", "Person", "Interest"),
    ("CityIn", "city_in", "City", "State"),
    ("StateIn", "state_in", "State", "Country"),
]
MOST_MS = 20_000


def load(data: Path) -> Graph:
    """The benchmark's graph from its Parquet files."""
    nodes = {label: pl.read_parquet(data / f"{name}.parquet") for label, name in NODES.items()}
    relationships = [
        (kind, pl.read_parquet(data / f"{name}.parquet"), start, end) for kind, name, start, end in RELATIONSHIPS
    ]
    return Graph.from_tables(nodes, relationships)


def main(data: Path, runs: int = 5) -> None:
    begin = time.perf_counter()
    graph = load(data)
    schema = schema_of(graph)
    result: dict = {"engine": "vaultgraph", "ingest_s": round(time.perf_counter() - begin, 2), "ms": {}, "answers": {}}
    for key, query in json.loads((SHARED / "bench" / "social_queries.json").read_text()).items():
        times: list[float] = []
        rows: list = []
        while len(times) < runs and sum(times) < MOST_MS:
            begin = time.perf_counter()
            rows = run_query(graph, query["cypher"], query.get("params", {}), schema=schema).rows
            times.append((time.perf_counter() - begin) * 1e3)
        result["ms"][key] = round(statistics.median(times), 2)
        result["answers"][key] = rows
    result["peak_rss_mb"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)
    print(json.dumps(result, default=str))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *(int(runs) for runs in sys.argv[2:3]))
