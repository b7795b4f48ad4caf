"""Hostile paths through every door to the files, a bounded run of benchmarks/sandbox_fuzz."""

import importlib.util
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "benchmarks" / "sandbox_fuzz.py"


@pytest.mark.skipif(sys.platform != "linux", reason="open handles are counted in /proc")
def test_no_generated_path_leads_out_of_the_vault_or_hangs(tmp_path):
    spec = importlib.util.spec_from_file_location("sandbox_fuzz", SOURCE)
    fuzz = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(fuzz)
    done = fuzz.run(tmp_path, 200, 7)
    assert (done["paths"], done["escaped"], done["hung"]) == (200, 0, 0)
    assert done["swaps"] > 0
    assert {"answered", "path_escape", "not_found"} <= set(done["outcomes"])
