"""How calls over HTTP fare beside slow ones: `python benchmarks/http_calls.py VAULT [--kinds] [--slow N …]`.

Starts the server on a free port of this machine, asks RETURN 1 again and again on a connection of its own, first alone,
then beside one heavy query of each KIND, and then while N clients run queries that never end; prints median, 95th
percentile and maximum in milliseconds, and the load of the machine. In between the clients hang up, and the
processor time the server takes in the following second is measured.
"""

import argparse
import http.client
import json
import os
import socket
import statistics
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

SLOW = "UNWIND range(1, 9000) AS a UNWIND range(1, 9000) AS b WITH a, b WHERE a * b = -1 RETURN count(*)"
KINDS = {
    "rows": SLOW,
    "joins": "MATCH (a), (b), (c) WHERE a.title + b.title = c.title RETURN count(*)",
    "long paths": "MATCH p = (a)-[*1..6]->(b) RETURN count(p)",
    "path values": "MATCH p = (a)-[*1..4]->(b) RETURN max(size([n IN nodes(p) | n.title]))",
    "shortest paths": "MATCH (a), (b) WHERE a <> b MATCH p = shortestPath((a)-[*]-(b)) RETURN max(length(p))",
    "lists": "UNWIND range(1, 3000) AS k RETURN sum(reduce(s = 0, x IN range(1, 5000) | s + x * k))",
    "distinct": "MATCH (a)-[:LINKS_TO]->(b)-[:LINKS_TO]->(c)-[:LINKS_TO]->(d)-[:LINKS_TO]->(e) "
    "RETURN count(DISTINCT [a.title, e.title])",
    "sorting": "UNWIND range(1, 3000000) AS a RETURN a, toString(a) AS t ORDER BY t DESC LIMIT 5",
    "patterns": "MATCH (a), (b) WHERE a.body =~ ('(?s).*' + b.title + '.*') RETURN count(*)",
}
ENVELOPE = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": "tools/call",
    "Mcp-Name": "cypher_query",
}


def body(query):
    params = {"name": "cypher_query", "arguments": {"query": query, "timeout_ms": 0}, "_meta": ENVELOPE}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()


def measure(port, seconds):
    """Milliseconds of each RETURN 1 within ``seconds``."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    taken = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        connection.request("POST", "/mcp", body("RETURN 1"), HEADERS)
        answer = connection.getresponse().read()
        taken.append((time.perf_counter() - start) * 1000)
        assert b"1 row" in answer, answer
        time.sleep(0.005)
    connection.close()
    return taken


def summary(taken):
    taken = sorted(taken)
    return {
        "calls": len(taken),
        "median_ms": round(statistics.median(taken), 2),
        "p95_ms": round(taken[int(len(taken) * 0.95)], 2),
        "max_ms": round(taken[-1], 2),
    }


def cpu_s(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


class Slow:
    """A client that asks one query again and again until it is told to hang up."""

    def __init__(self, port, query):
        self._port, self._query = port, query
        self._end = threading.Event()
        self._connection = None
        self._thread = threading.Thread(target=self._ask)
        self._thread.start()

    def _ask(self):
        while not self._end.is_set():
            self._connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=600)
            with suppress(OSError, http.client.HTTPException):  # hung up
                self._connection.request("POST", "/mcp", body(self._query), HEADERS)
                self._connection.getresponse().read()
            self._connection.close()

    def hang_up(self):
        self._end.set()
        with suppress(OSError, AttributeError):  # between two queries
            self._connection.sock.shutdown(socket.SHUT_RDWR)
        self._thread.join()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("vault")
    parser.add_argument("--slow", type=int, nargs="*", default=[1, 8])
    parser.add_argument("--kinds", action="store_true", help="beside one query of each kind too")
    parser.add_argument("--seconds", type=float, default=5)
    options = parser.parse_args()
    command = [sys.executable, "-m", "vaultgraph.cli.main", "--vault", options.vault, "--vault-cache", "none"]
    server = subprocess.Popen([*command, "--http", "127.0.0.1:0"], stderr=subprocess.PIPE, text=True)
    try:
        line = next(line for line in server.stderr if "listening on" in line)
        port = int(line.split("http://127.0.0.1:")[1].split("/")[0])
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("POST", "/mcp", body("RETURN 1"), HEADERS)
        connection.getresponse().read()
        figures = {"alone": summary(measure(port, options.seconds))}
        kinds = {name: [query] for name, query in KINDS.items()} if options.kinds else {}
        for name, queries in {**kinds, **{f"{count} slow": [SLOW] * count for count in options.slow}}.items():
            busy = [Slow(port, query) for query in queries]
            time.sleep(0.5)
            figures[f"beside {name}"] = summary(measure(port, options.seconds))
            for one in busy:
                one.hang_up()
            time.sleep(0.5)
            before = cpu_s(server.pid)
            time.sleep(1)
            figures[f"beside {name}"]["cpu_s_in_the_second_after"] = round(cpu_s(server.pid) - before, 2)
        eight = [[] for _ in range(8)]
        threads = [threading.Thread(target=lambda out=out: out.extend(measure(port, options.seconds))) for out in eight]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        figures["eight clients at once"] = summary([one for out in eight for one in out])
        figures["load"] = os.getloadavg()
        print("\n".join(f"{name}: {json.dumps(figure)}" for name, figure in figures.items()))
    finally:
        server.terminate()
        server.wait(30)


if __name__ == "__main__":
    main()
