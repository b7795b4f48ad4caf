"""The development part of the openCypher TCK: every scenario passes, but for those of the list of known failures."""

import importlib.util
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

HERE = Path(__file__).parent
KNOWN = HERE / "tck_known_failures.txt"
SHARED = Path(os.environ.get("VAULTGRAPH_SHARED", HERE.parents[2] / "shared"))
FEATURES = Path(os.environ.get("VAULTGRAPH_TCK", SHARED / "tck")) / "features"
GROUPS = sorted({file.parent.relative_to(FEATURES).as_posix() for file in FEATURES.rglob("*.feature")})

pytest.importorskip("gherkin", reason="gherkin-official is not installed: it reads the scenarios")
if not GROUPS:
    pytest.skip("there are no scenarios under VAULTGRAPH_TCK", allow_module_level=True)


@pytest.fixture(scope="module")
def adapter() -> ModuleType:
    """Our adapter for the kit, whose folder it puts on the path."""
    spec = importlib.util.spec_from_file_location("tck_adapter", HERE / "tck_adapter.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["tck_adapter"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def scenarios(adapter: ModuleType) -> dict[str, list[Any]]:
    """The scenarios by directory."""
    found: dict[str, list[Any]] = {}
    loading = importlib.import_module("cyphertck.scenarios")
    for one in loading.select(loading.load(FEATURES), "dev"):
        found.setdefault(one.directory, []).append(one)
    return found


@pytest.fixture(scope="module")
def known() -> Mapping[str, str]:
    """Reasons by the id of the scenario that fails."""
    lines = [line for line in KNOWN.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    return dict(line.split("\t") for line in lines)


@pytest.mark.parametrize("group", GROUPS)
def test_scenarios_pass_but_for_those_known_to_fail(group, adapter, scenarios, known):
    runner = importlib.import_module("cyphertck.runner")
    engine = adapter.Vaultgraph()
    failed: dict[str, str] = {}
    for one in scenarios.get(group, []):
        result = runner.run_scenario(engine, one, FEATURES)
        if result.status != "pass":
            failed[one.id] = f"{result.status}: {result.reason}"
    expected = {one.id for one in scenarios.get(group, []) if one.id in known}
    assert {one: reason for one, reason in failed.items() if one not in expected} == {}
    assert expected - failed.keys() == set(), "these pass now: take them off the list"


def test_every_known_failure_is_a_scenario_and_says_why(scenarios, known):
    ids = {one.id for group in scenarios.values() for one in group}
    assert set(known) - ids == set()
    assert all(len(reason) > 10 for reason in known.values())
