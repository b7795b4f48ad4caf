"""Random queries of many clauses answer what a naive evaluation row by row answers."""

import importlib
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def fuzz():
    """The module of the benchmark."""
    sys.path.insert(0, str(BENCHMARKS))
    try:
        yield importlib.import_module("query_fuzz")
    finally:
        sys.path.remove(str(BENCHMARKS))
        for name in ("query_fuzz", "query_pieces", "query_naive"):
            sys.modules.pop(name, None)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_engine_agrees_with_the_naive_evaluation(fuzz, seed):
    outcomes = [fuzz.check(seed, case) for case in range(50)]
    assert [difference for difference in outcomes if difference] == []
    assert outcomes.count(None) > 30
