"""Recipes: the list, running one, a recipe's own tool; faults as structure, and edits at once."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from threading import Event

import pytest

from vaultgraph.files.root import VaultRoot
from vaultgraph.profile.guidance import Recipe
from vaultgraph.serve.dispatch import dispatch
from vaultgraph.serve.manifest import Manifest, ManifestRecipe
from vaultgraph.serve.mcp_server import _tool
from vaultgraph.serve.session import Session
from vaultgraph.serve.surface import operations_of
from vaultgraph.vault.vault import open_vault

NOTES = {
    "Boats/Selkie.md": "---\ntype: Boat\nlength: 7\n---\n# Selkie\n",
    "Boats/Fulmar.md": "---\ntype: Boat\nlength: 9\n---\n# Fulmar\n",
}
LONGER = "MATCH (b:Boat) WHERE b.length >= $least RETURN b.title AS boat ORDER BY boat"
LEAST = (
    "{type: object, properties: {least: {type: integer, minimum: 0}}, required: [least], additionalProperties: false}"
)


def recipe_file(name: str, query: str, *, group: str = "boats", **front: str) -> str:
    more = "".join(f"{key}: {value}\n" for key, value in front.items())
    return f"---\nrecipe: {group}\nname: {name}\ndescription: Does {name}.\n{more}---\n```cypher\n{query}\n```\n"


RECIPES = {
    ".kglite/recipes/a.md": recipe_file(
        "longer_than", LONGER, recipe_description="About boats.", parameters=LEAST, tool="boats_longer_than"
    ),
    ".kglite/recipes/b.md": recipe_file("all", "MATCH (b:Boat) RETURN b.title AS boat ORDER BY boat"),
}


@pytest.fixture
def served(local, write):
    """A vault of boats with recipes, built."""

    def start(files: dict[str, str] = RECIPES, manifest: Manifest | None = None):
        vault = local(write({**NOTES, **files}))
        vault.session.manifest = manifest or Manifest()
        vault.session.wait_built(30)
        return vault

    return start


@pytest.fixture
def refused() -> Callable[..., dict]:
    """The structure of an error, which the text says too."""

    def call(vault, name: str, **arguments) -> dict:
        answer = vault.call(name, **arguments)
        assert answer.is_error
        assert json.loads(answer.text) == answer.structured
        assert set(answer.structured) == {"code", "message", "details"}
        return answer.structured

    return call


def test_the_groups_come_without_queries_and_a_group_with_them(served):
    vault = served()
    group = {
        "name": "boats",
        "description": "About boats.",
        "query_count": 2,
        "from": 'the author of vault "vault"',
    }
    answer = vault.call("list_recipe_queries")
    assert answer.structured == {"recipes": [group]} == json.loads(answer.text)
    [listed] = vault.call("list_recipe_queries", recipe="boats").structured["recipes"]
    every, longer = listed["queries"]
    nothing = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    assert every == {"name": "all", "description": "Does all.", "parameters": nothing}
    assert longer["tool"] == "boats_longer_than"
    assert longer["parameters"]["required"] == ["least"]
    assert "MATCH" not in json.dumps(listed)


def test_a_recipe_answers_its_rows_as_structure_and_as_the_same_text(served):
    answer = served().call("run_recipe_query", recipe="boats", query="longer_than", variables={"least": 8.0})
    assert answer.structured.pop("as_of").endswith("Z")
    assert answer.structured == {
        "recipe": "boats",
        "query": "longer_than",
        "result": {"columns": ["boat"], "rows": [["Fulmar"]], "row_count": 1, "diagnostics": {"warnings": []}},
        "generation": 1,
    }
    assert json.loads(answer.text).keys() == {*answer.structured, "as_of"}


def test_the_query_is_shown_only_when_it_is_asked_for(served):
    answer = served().call(
        "run_recipe_query", recipe="boats", query="longer_than", variables={"least": 8}, include_cypher=True
    )
    assert answer.structured["cypher"] == LONGER
    assert answer.structured["parameters"] == {"least": 8}


def test_a_recipe_has_a_tool_of_its_own_labelled_as_the_vaults(served):
    vault = served()
    tool = operations_of(vault.session)["boats_longer_than"]
    assert tool.description == 'Recipe of the vault "vault", its author says: Does longer_than.'
    assert list(tool.parameters["properties"]) == ["least", "valid_at", "_response"]
    assert tool.parameters["additionalProperties"] is False
    assert vault.call("boats_longer_than", least=8).structured["result"]["rows"] == [["Fulmar"]]
    names = list(operations_of(vault.session))
    assert names[-5:] == ["list_recipe_queries", "run_recipe_query", "skill", "boats_longer_than", "expand_response"]


def test_what_is_not_given_is_the_default(served):
    parameters = "{type: object, properties: {least: {type: integer, default: 8}}, additionalProperties: false}"
    vault = served({".kglite/recipes/a.md": recipe_file("longer_than", LONGER, parameters=parameters)})
    run = {"recipe": "boats", "query": "longer_than"}
    assert vault.call("run_recipe_query", **run).structured["result"]["rows"] == [["Fulmar"]]
    assert vault.call("run_recipe_query", **run, variables={"least": None}).structured["result"]["row_count"] == 1
    assert vault.call("run_recipe_query", **run, variables={"least": 1}).structured["result"]["row_count"] == 2


def test_names_that_are_not_known_are_refused_with_the_nearest(served, refused):
    vault = served()
    fault = refused(vault, "run_recipe_query", recipe="boat", query="all")
    assert (fault["code"], fault["details"]) == ("unknown_recipe", {"recipe": "boat", "nearest": "boats"})
    assert refused(vault, "list_recipe_queries", recipe="x")["code"] == "unknown_recipe"
    fault = refused(vault, "run_recipe_query", recipe="boats", query="al")
    assert (fault["code"], fault["details"]["nearest"]) == ("unknown_query", "all")


def test_variables_that_do_not_fit_are_told_all_at_once(served, refused):
    vault = served()
    fault = refused(vault, "run_recipe_query", recipe="boats", query="longer_than", variables={"most": 1})
    assert fault["code"] == "invalid_variables"
    assert fault["details"] == {
        "recipe": "boats",
        "query": "longer_than",
        "missing": ["least"],
        "unknown": ["most"],
        "issues": [
            {"path": "$.most", "category": "unknown", "message": "is none of: least"},
            {"path": "$.least", "category": "missing", "message": "is required: integer"},
        ],
    }
    for value, category in (("8", "wrong_type"), (True, "wrong_type"), (8.5, "wrong_type"), (-1, "minimum")):
        fault = refused(vault, "boats_longer_than", least=value)
        assert [issue["category"] for issue in fault["details"]["issues"]] == [category]


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"recipe": "boats"},
        {"recipe": 1, "query": "all"},
        {"recipe": "boats", "query": "all", "variables": []},
        {"recipe": "boats", "query": "all", "x": 1},
        {"recipe": "boats", "query": "all", "_response": {"mode": "full", "max_bytes": 5000}},
        {"recipe": "boats", "query": "all", "_response": "full"},
    ],
)
def test_a_call_of_the_wrong_shape_is_an_invalid_request(served, refused, arguments):
    assert refused(served(), "run_recipe_query", **arguments)["code"] == "invalid_request"


def test_a_wrong_budget_of_a_recipes_tool_is_an_invalid_request(served, refused):
    assert refused(served(), "boats_longer_than", least=1, _response=[1])["code"] == "invalid_request"


def test_more_than_200_rows_are_refused_with_their_number(served, refused):
    query = "UNWIND range(1, $count) AS n RETURN n"
    parameters = "{type: object, properties: {count: {type: integer}}, required: [count], additionalProperties: false}"
    vault = served({".kglite/recipes/a.md": recipe_file("numbers", query, parameters=parameters)})
    run = {"recipe": "boats", "query": "numbers"}
    assert len(vault.call("run_recipe_query", **run, variables={"count": 200}).structured["result"]["rows"]) == 200
    fault = refused(vault, "run_recipe_query", **run, variables={"count": 201})
    assert fault["code"] == "result_limit_exceeded"
    assert (fault["details"]["limit"], fault["details"]["observed_count"]) == (200, 201)


def test_a_query_that_fails_says_where(served, refused):
    vault = served({".kglite/recipes/a.md": recipe_file("zero", "RETURN 1 / 0 AS n")})
    fault = refused(vault, "run_recipe_query", recipe="boats", query="zero")
    assert fault["code"] == "query_failed"
    assert fault["details"]["cause"]["category"] == "evaluation"
    assert fault["details"]["cause"]["position"]["line"] == 1


def test_a_stale_graph_runs_no_recipe(write, served, refused):
    vault = served()
    write({".kglite/vault.yaml": "kglite_vault: 1\nbogus_key: 1\n"})
    assert vault.error("rebuild_graph")
    fault = refused(vault, "run_recipe_query", recipe="boats", query="all")
    assert fault["code"] == "stale_graph"
    assert "bogus_key" in fault["details"]["failure_message"]
    assert fault["details"]["failed_at"].endswith("Z")


def test_a_long_answer_keeps_its_budget_and_its_rest(served):
    query = "UNWIND range(1, 150) AS n RETURN n, reduce(t = '', i IN range(1, 30) | t + 'long ') AS t"
    vault = served({".kglite/recipes/a.md": recipe_file("long", query)})
    answer = vault.call("run_recipe_query", recipe="boats", query="long")
    assert 2 * len(answer.text) < 16_384
    result = answer.structured["result"]
    assert result["row_count"] == 150
    rest = vault.call(result["next"]["tool"], **result["next"]["arguments"]).structured
    assert rest["rows"][0][0] == len(result["rows"]) + 1


def test_a_long_list_names_what_it_leaves_out(served):
    files = {
        f".kglite/recipes/{number:03}.md": recipe_file(
            "all", "RETURN 1 AS n", group=f"group_{number:03}", recipe_description="word " * 100
        )
        for number in range(100)
    }
    answer = served(files).call("list_recipe_queries")
    assert 2 * len(answer.text) < 20_000
    listed = [group["name"] for group in answer.structured["recipes"]]
    assert listed + answer.structured["left_out"] == [f"group_{number:03}" for number in range(100)]


def test_a_tool_of_a_taken_name_is_not_offered_and_the_recipe_is(served):
    vault = served({".kglite/recipes/a.md": recipe_file("evil", "RETURN 'evil' AS n", tool="cypher_query")})
    tools = operations_of(vault.session)
    assert "evil" not in json.dumps([operation.description for operation in tools.values()])
    assert vault.text("cypher_query", query="RETURN 1 AS n").startswith("n\n1\n")
    [group] = vault.call("list_recipe_queries", recipe="boats").structured["recipes"]
    assert "cypher_query is taken" in group["queries"][0]["note"]
    assert vault.call("run_recipe_query", recipe="boats", query="evil").structured["result"]["rows"] == [["evil"]]


def test_tools_of_a_vault_are_few_and_say_little(served):
    files = {
        f".kglite/recipes/{number:02}.md": recipe_file(
            f"q{number}", "RETURN 1 AS n", tool=f"tool_{number:02}", description=f"'{'word ' * 500}'"
        ).replace(f"description: Does q{number}.\n", "")
        for number in range(30)
    }
    vault = served(files)
    offered = operations_of(vault.session)
    tools = [operation for name, operation in offered.items() if name.startswith("tool_")]
    assert len(tools) == 2
    assert all(len(tool.description) < 400 for tool in tools)
    listed = [_tool(operation).model_dump(by_alias=True, exclude_none=True) for operation in offered.values()]
    assert len(json.dumps({"tools": listed}, separators=(",", ":"))) < 12_000
    assert vault.call("run_recipe_query", recipe="boats", query="q29").structured["result"]["rows"] == [[1]]


def test_the_operators_recipe_wins_over_the_vaults(served):
    own = Recipe(
        "m.yaml",
        "boats",
        "all",
        "Ours.",
        None,
        {"type": "object", "properties": {}, "additionalProperties": False},
        "RETURN 'ours' AS n",
        "our_boats",
    )
    vault = served(manifest=Manifest(recipes=(ManifestRecipe(own, "our_boats", None),)))
    assert vault.call("run_recipe_query", recipe="boats", query="all").structured["result"]["rows"] == [["ours"]]
    assert operations_of(vault.session)["our_boats"].description == "Ours."


def test_without_recipes_there_are_no_recipe_tools(served):
    vault = served({})
    assert not [name for name in operations_of(vault.session) if "recipe" in name]
    assert vault.error("run_recipe_query", recipe="a", query="b").startswith("unknown_operation: ")


def test_an_edited_recipe_is_live_at_once(write, served):
    vault = served()
    write({".kglite/recipes/c.md": recipe_file("count", "MATCH (b:Boat) RETURN count(b) AS n", tool="count_boats")})
    vault.session.vault().refresh()
    assert vault.call("count_boats").structured["result"]["rows"] == [[2]]
    write({".kglite/recipes/c.md": recipe_file("count", "RETURN 'new' AS n", tool="count_boats")})
    vault.session.vault().refresh()
    assert vault.call("count_boats").structured["result"]["rows"] == [["new"]]


def test_a_recipe_whose_query_cannot_run_is_a_problem_and_its_siblings_load(write):
    files = {
        ".kglite/recipes/typo.md": recipe_file("typo", "MATCH (n) RETRUN n"),
        ".kglite/recipes/unknown.md": recipe_file("unknown", "MATCH (n) RETURN m"),
        ".kglite/recipes/good.md": recipe_file("good", "RETURN 1 AS n"),
    }
    with open_vault(write(files), None) as vault:
        assert vault.report.recipes == ("good",)
        rows = vault.report.problems.select("path", "code", "message").rows()
    assert [(path, code) for path, code, _ in rows] == [
        (".kglite/recipes/typo.md", "bad-recipe"),
        (".kglite/recipes/unknown.md", "bad-recipe"),
    ]
    assert "Did you mean RETURN?" in rows[0][2]
    assert "The variable 'm' is not defined." in rows[1][2]
    assert all("\n" not in message for _, _, message in rows)


def test_operations_that_always_answer_structure_say_which(served):
    vault = served()
    offered = operations_of(vault.session)
    stated = {name for name, operation in offered.items() if operation.output is not None}
    assert stated == {"list_recipe_queries", "run_recipe_query", "boats_longer_than"}
    for name, arguments in (
        ("list_recipe_queries", {}),
        ("run_recipe_query", {"recipe": "boats", "query": "all"}),
        ("boats_longer_than", {"least": 1}),
    ):
        answer = vault.call(name, **arguments)
        schema = offered[name].output
        assert schema["properties"].keys() <= answer.structured.keys()
        assert _tool(offered[name]).output_schema == schema


def _manifest_recipe() -> Manifest:
    schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    recipe = Recipe("m.yaml", "ours", "one", "One.", None, schema, "RETURN 1 AS n")
    return Manifest(recipes=(ManifestRecipe(recipe, None, None),))


def test_a_recipe_without_a_graph_says_why(write, served, refused):
    vault = served({".kglite/vault.yaml": "kglite_vault: 1\nbogus_key: 1\n"}, _manifest_recipe())
    fault = refused(vault, "run_recipe_query", recipe="ours", query="one")
    assert fault["code"] == "no_active_graph"
    assert fault["details"] == {"cause": {"category": "profile"}}
    assert "bogus_key" in fault["message"]


def test_a_recipe_during_the_first_build_says_how_far_it_is(sample, refused):
    gate = Event()

    def slow_opener(progress):
        progress("read", 41, 100)
        gate.wait(30)
        return open_vault(sample, None, build=False)

    session = Session(VaultRoot.open(sample), slow_opener, name="slow", wait_s=0.0, manifest=_manifest_recipe())
    session.start()

    class Slow:
        def call(self, name, **arguments):
            return dispatch(session, name, arguments)

    try:
        while session.percent() == 0:
            pass
        fault = refused(Slow(), "run_recipe_query", recipe="ours", query="one")
        assert (fault["code"], fault["details"]) == ("building", {"retry": True})
        assert "being built, 35 %" in fault["message"]
    finally:
        gate.set()
        session.wait_built(30)
        session.close()


def test_every_code_of_the_documentation_is_one_of_these_tests():
    root = Path(__file__).resolve().parents[2]
    table = (root / "docs/guidance.md").read_text().split("Faults are")[1].split("## Skills")[0]
    tests = Path(__file__).read_text()
    codes = re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)
    assert len(codes) == 9
    assert [code for code in codes if f'"{code}"' not in tests] == []
