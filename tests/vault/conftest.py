"""The random edits of benchmarks/, which is no package."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def refresh_fuzz() -> ModuleType:
    """Small vaults edited at random, and what a refreshed one must answer."""
    path = Path(__file__).parents[2] / "benchmarks" / "refresh_fuzz.py"
    spec = importlib.util.spec_from_file_location("refresh_fuzz", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
