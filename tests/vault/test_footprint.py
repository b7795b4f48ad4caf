"""Memory that is given back is missed by nobody."""

from pathlib import Path

import pytest

import vaultgraph
from vaultgraph.vault.footprint import give_back

SMAPS = Path("/proc/self/smaps")


def _resident_code_bytes(library: str) -> int:
    found = 0
    is_code = False
    for line in SMAPS.read_text().splitlines():
        first, *rest = line.split()
        if "-" in first and not first.endswith(":"):
            is_code = rest[0] == "r-xp" and library in line
        elif is_code and first == "Rss:":
            found += int(rest[0]) * 1024
    return found


def test_queries_and_edits_go_on_after_memory_was_given_back(tmp_path: Path) -> None:
    (tmp_path / "A.md").write_text("# one\n[[B]]")
    with vaultgraph.open(tmp_path, cache=None) as vault:
        query = "MATCH (a {path: 'A.md'})-->(b) RETURN a.title AS a, b.title AS b"
        assert vault.query(query).rows == [("one", "B")]
        give_back()
        assert vault.query(query).rows == [("one", "B")]
        (tmp_path / "A.md").write_text("# two\n[[C]]")
        vault.refresh()
        give_back()
        assert vault.query(query).rows == [("two", "C")]


@pytest.mark.skipif(not SMAPS.exists(), reason="only Linux tells which pages a process has")
def test_code_of_polars_leaves_the_process_until_it_runs_again(tmp_path: Path) -> None:
    (tmp_path / "A.md").write_text("# one")
    with vaultgraph.open(tmp_path, cache=None) as vault:
        before = _resident_code_bytes("_polars_runtime")
        give_back()
        assert _resident_code_bytes("_polars_runtime") < before / 4
        assert vault.query("MATCH (n) RETURN count(n) AS n").rows == [(1,)]
