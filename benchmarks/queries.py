"""Engine times of the queries people ask of a vault, by both libraries in turn: no server, no protocol in between."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from measures import Figures, Vaults, turns
from sides import HERE, Side, SideError

HUB = "MATCH (n)<-[r:LINKS_TO]-(m) RETURN n.id AS id, count(m) AS many ORDER BY many DESC, id LIMIT 1"
QUERIES = {
    "point": "MATCH (n) WHERE n.id = $id RETURN n.title",
    "one hop": "MATCH (n)<-[:LINKS_TO]-(m) WHERE n.id = $id RETURN m.title",
    "two hops, rows": "MATCH (n)-[:LINKS_TO]-(a)-[:LINKS_TO]-(b) WHERE n.id = $id RETURN b.title",
    "two hops, distinct": "MATCH (n)-[:LINKS_TO]-(a)-[:LINKS_TO]-(b) WHERE n.id = $id RETURN count(DISTINCT b)",
    "*1..3, rows": "MATCH (n)<-[:LINKS_TO*1..3]-(b) WHERE n.id = $id RETURN b.title",
    "*1..3, distinct": "MATCH (n)-[:LINKS_TO*1..3]-(b) WHERE n.id = $id RETURN count(DISTINCT b)",
    "bodies that contain": "MATCH (n) WHERE n.body CONTAINS 'not in any note' RETURN count(n)",
    "orphans": "MATCH (n) WHERE n.concept_id IS NOT NULL AND NOT EXISTS { MATCH (n)<-[:LINKS_TO]-() } RETURN count(n)",
    "tag counts": "MATCH (t:Tag)<-[:TAGGED]-(n) RETURN t.title AS t, count(n) AS c ORDER BY c DESC LIMIT 10",
}


class Engine:
    """A process that holds one vault and answers queries."""

    def __init__(self, process: subprocess.Popen) -> None:
        self._process = process

    def ask(self, query: str, params: dict[str, object]) -> dict:
        """The answer of ``query_run`` to one query.

        Raises: SideError when it does not answer.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"query": query, "params": params}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise SideError("it ended without an answer")
        return json.loads(line)


@contextmanager
def engine(side: Side, vault: Path) -> Iterator[Engine]:
    """An engine that has read ``vault``."""
    command = [side.python, str(HERE / "query_run.py"), side.name, str(vault)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            if process.stdout.readline() != "ready\n":
                raise SideError("it did not open the vault")
            yield Engine(process)
        finally:
            process.kill()


def measure_queries(figures: Figures, vaults: Vaults, repeats: int) -> None:
    """Each query on both sides in turn; the node asked for is the one with most links, on vaultgraph's word."""
    with ExitStack() as stack:
        engines = {side: stack.enter_context(engine(side, vault)) for side, vault in vaults.items()}
        hub = next(iter(engines.values())).ask(HUB, {})["first"][0]
        for name, query in QUERIES.items():
            params = {"id": hub} if "$id" in query else {}
            for repetition in range(-1, repeats):
                for side, _ in turns(vaults, repetition):
                    answer = engines[side].ask(query, params)
                    if repetition >= 0:
                        figures.add(f"engine: {name}, ms", side, answer["ms"])
