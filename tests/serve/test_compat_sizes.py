"""How long the list of tools, the overview and replies may be, and that nothing is sent twice."""

import json
import os
import tarfile
from pathlib import Path

import pytest

from vaultgraph.serve.operations import OPERATIONS

VAULTS = Path(os.environ.get("VAULTGRAPH_SHARED", Path(__file__).parents[3] / "shared")) / "vaults"
NAMES = sorted(path.name.removesuffix(".tar.xz") for path in VAULTS.glob("*.tar.xz")) or ["none"]
RECIPE = """---
recipe: help
name: boats
description: Boats by title.
tool: all_boats
---
```cypher
MATCH (b:Boat) RETURN b.title AS boat ORDER BY boat
```
"""
SAID = "Fulmar"  # of the only row
CALLS = {
    "graph_overview": {"types": ["Boat"]},
    "cypher_query": {"query": "MATCH (b:Boat) RETURN b.title AS boat"},
    "links": {"note": "Fulmar"},
    "read_source": {"file_path": "Boats/Fulmar.md"},
    "grep": {"pattern": "Fulmar"},
    "list_source": {"path": "Boats"},
    "fetch_images": {"items": ["Fulmar.png"]},
    "rebuild_graph": {},
    "ping": {"message": "Fulmar"},
    "skill": {},
    "list_recipe_queries": {"recipe": "help"},
    "run_recipe_query": {"recipe": "help", "query": "boats"},
    "all_boats": {},
}
WITH_STRUCTURE = {"list_recipe_queries", "run_recipe_query", "all_boats"}
"""As the format has it, these answer structure and the same JSON as text."""


@pytest.fixture(scope="module")
def served(connect, make_image, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sizes") / "vault"
    for path, content in {
        "Boats/Fulmar.md": b"---\ntype: Boat\n---\n# Fulmar\n",
        "Boats/Fulmar.png": make_image(),
        ".kglite/recipes/boats.md": RECIPE.encode(),
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    with connect(folder, "--vault-cache", "none", "--watch", "off") as server:
        server.until("1 row", "cypher_query", query="RETURN 1")
        yield server


def wire_bytes(result) -> int:
    return len(result.model_dump_json(by_alias=True, exclude_none=True).encode())


def test_the_schemas_of_all_tools_together_are_under_10_kb(served):
    tools = [tool.model_dump(by_alias=True, exclude_none=True) for tool in served.tools()]
    names = {tool["name"] for tool in tools}
    assert names == {*OPERATIONS, "all_boats"} - {"reload_graph"}
    assert len(json.dumps({"tools": tools}, separators=(",", ":"), ensure_ascii=False).encode()) < 10_000


def test_every_tool_is_asked_in_the_tests_below(served):
    assert {tool.name for tool in served.tools()} == {*CALLS, "expand_response"}


@pytest.mark.parametrize("tool", CALLS)
def test_no_tool_sends_its_rows_as_text_and_as_structure(served, tool):
    result = served.call(tool, **CALLS[tool])
    assert not result.is_error
    text = "\n".join(part.text for part in result.content if part.type == "text")
    if tool in WITH_STRUCTURE:
        assert json.loads(text) == result.structured_content
        return
    assert result.structured_content is None
    assert result.meta is None
    assert wire_bytes(result) < 1500
    if tool == "cypher_query":
        assert text.count(SAID) == 1


def test_rows_that_are_asked_for_as_structure_are_not_in_the_text(served):
    result = served.call("cypher_query", **CALLS["cypher_query"], format="json")
    assert result.structured_content["rows"] == [[SAID]]
    (part,) = result.content
    assert SAID not in part.text
    assert wire_bytes(result) < 400
    csv = served.call("cypher_query", **CALLS["cypher_query"], format="csv")
    assert csv.structured_content is None
    assert "".join(part.text for part in csv.content).count(SAID) == 1


@pytest.mark.parametrize("mode", ["text", "json", "csv"])
def test_a_part_of_a_long_result_repeats_no_row_of_the_part_before(served, mode):
    query = "UNWIND range(100000, 109999) AS i RETURN i"
    first = served.call("cypher_query", query=query, format=mode)
    second = served.call("expand_response", result_id=_result_id(first))
    assert wire_bytes(first) <= 16 * 1024
    assert wire_bytes(second) <= 16 * 1024
    assert not _numbers(first) & _numbers(second)
    assert min(_numbers(second)) == max(_numbers(first)) + 1


def _result_id(result) -> str:
    if result.structured_content:
        return result.structured_content["next"]["arguments"]["result_id"]
    return result.content[-1].text.split('result_id="')[1].split('"')[0]


def _numbers(result) -> set[int]:
    if result.structured_content:
        return {row[0] for row in result.structured_content["rows"]}
    lines = "\n".join(part.text for part in result.content).split("\n")
    return {int(line) for line in lines if line.strip().isdigit()}


@pytest.mark.skipif(NAMES == ["none"], reason="the packed vaults are not here (VAULTGRAPH_SHARED)")
@pytest.mark.parametrize("name", NAMES)
def test_the_overview_of_every_shared_vault_is_at_most_4_kb(local, tmp_path, name):
    with tarfile.open(VAULTS / f"{name}.tar.xz") as packed:
        packed.extractall(tmp_path, filter="data")
    vault = local(tmp_path / name)
    assert vault.session.wait_built(120)
    text = vault.text("graph_overview")
    assert len(json.dumps(text, ensure_ascii=False).encode()) <= 4096
    assert "\nLabels (nodes):\n" in text
    assert "Note " in text
    assert "Problems: " in text
    assert "Example query: " in text
