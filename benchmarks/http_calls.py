"""How calls over HTTP fare beside slow ones: `python benchmarks/http_calls.py VAULT [--slow N] [--seconds S]`.

Starts the server on a free port of this machine, asks RETURN 1 again and again on a connection of its own, first alone
and then while N clients run queries that never end, and prints median, 95th percentile and maximum in milliseconds, as
JSON. At the end the clients hang up, and the processor time the server takes in the following second is measured.
"""

import argparse
import http.client
import json
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

SLOW = "UNWIND range(1, 9000) AS a UNWIND range(1, 9000) AS b WITH a, b WHERE a * b = -1 RETURN count(*)"
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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("vault")
    parser.add_argument("--slow", type=int, nargs="*", default=[1, 8])
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
        for count in options.slow:
            busy = [http.client.HTTPConnection("127.0.0.1", port) for _ in range(count)]
            for one in busy:
                one.request("POST", "/mcp", body(SLOW), HEADERS)
            time.sleep(0.5)
            figures[f"beside_{count}_slow"] = summary(measure(port, options.seconds))
            for one in busy:
                one.close()
            time.sleep(0.5)
            before = cpu_s(server.pid)
            time.sleep(1)
            figures[f"cpu_s_in_the_second_after_{count}_hung_up"] = round(cpu_s(server.pid) - before, 2)
        eight = [[] for _ in range(8)]
        threads = [threading.Thread(target=lambda out=out: out.extend(measure(port, options.seconds))) for out in eight]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        figures["eight_clients_at_once"] = summary([one for out in eight for one in out])
        print(json.dumps(figures, indent=1))
    finally:
        server.terminate()
        server.wait(30)


if __name__ == "__main__":
    main()
