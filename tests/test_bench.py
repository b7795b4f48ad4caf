"""The benchmark itself: it measures a small vault, reports a missing side, and leaves the vault alone."""

import json
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]


def test_the_benchmark_measures_a_vault_and_reports_a_missing_side(tmp_path: Path):
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "A.md").write_text("[[B]]")
    (vault / "B.md").write_text("# b")
    out = tmp_path / "out.json"
    options = ["--vault", str(vault), "--runs", "1", "--only", "library", "--out", str(out)]
    options += ["--kglite-python", str(tmp_path / "no-python")]
    done = subprocess.run(
        [sys.executable, str(REPOSITORY / "benchmarks" / "bench.py"), *options],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 1, done.stderr  # a side is missing
    found = json.loads(out.read_text())
    figures = next(iter(found["vaults"].values()))["figures"]
    assert figures["nodes"]["vaultgraph"]["median"] == 2
    assert figures["relationships"]["vaultgraph"]["median"] == 1
    assert figures["library: cold build, ms"]["vaultgraph"]["median"] > 0
    assert "missing" in found["versions"]["kglite"]
    assert "cold build, ms" in done.stdout
    assert sorted(path.name for path in vault.iterdir()) == ["A.md", "B.md"]


def test_the_comparison_of_bytes_says_which_side_is_missing(tmp_path: Path):
    command = [sys.executable, str(REPOSITORY / "benchmarks" / "reply_bytes.py"), "--vault", str(tmp_path)]
    missing = str(tmp_path / "no-python")
    done = subprocess.run(
        [*command, "--kglite-python", missing], capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 1
    assert missing in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []
