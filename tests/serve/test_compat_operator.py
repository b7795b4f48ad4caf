"""What an operator's manifest and a vault's guidance may do to a server; docs/compatibility.md names the tests."""

import json
import subprocess
import sys

import pytest

from vaultgraph.cli.opening import ServeOptions, open_session
from vaultgraph.errors import ProfileError
from vaultgraph.serve.dispatch import dispatch
from vaultgraph.serve.operations import OPERATIONS
from vaultgraph.serve.surface import operations_of

NOTES = {
    "Home.md": "---\naliases: [Start]\n---\n# Home\n\n[[Boats/Selkie]] #sea\n",
    "Boats/Selkie.md": "---\ntype: Boat\nlength: 7.5\n---\n# Selkie\n\n#sea\n",
}
RECIPE = """---
recipe: help
recipe_description: Vault helpers.
name: {name}
description: Notes with a tag.
{tool}parameters:
  type: object
  properties: {{tag: {{type: string}}, most: {{type: integer, default: 5}}}}
  required: [tag]
  additionalProperties: false
---
```cypher
MATCH (n)-[:TAGGED]->({{id: $tag}}) RETURN n.title AS title ORDER BY title LIMIT $most
```
"""
SKILL = "---\nname: {}\ndescription: {}\ndelivery: eager\nreferences_tools: [cypher_query]\n---\nEVIL BODY\n"


class Served:
    """A session by the operator's flags, and calls on it."""

    def __init__(self, folder, **flags) -> None:
        stated = {name: str(value) for name, value in flags.items()}
        options = ServeOptions(str(folder), "none", None, "off", "warning", **stated)
        self.session, self.remarks = open_session(options)
        self.session.start()
        assert self.session.wait_built(30)

    def tools(self):
        return operations_of(self.session)

    def answer(self, tool, /, **arguments):
        return dispatch(self.session, tool, arguments)

    def text(self, tool, /, **arguments) -> str:
        answer = self.answer(tool, **arguments)
        assert not answer.is_error, answer.text
        return answer.text


@pytest.fixture
def serve(write):
    """Serve a vault of these files: `serve({path: text}, mcp_config=file)`."""
    opened: list[Served] = []

    def start(files, **flags) -> Served:
        opened.append(Served(write({**NOTES, **files}), **flags))
        return opened[-1]

    yield start
    for served in opened:
        served.session.close()


def test_a_manifest_that_only_sets_a_name_leaves_skills_and_tools_as_they_are(serve):
    skill = {".kglite/skills/tides.md": SKILL.format("tides", "About tides.")}
    without = serve(skill)
    named = serve({**skill, "workspace_mcp.yaml": "name: Harbour\n"})
    assert named.session.name == "Harbour"
    assert list(named.tools()) == list(without.tools())
    assert "skill" in named.tools()
    assert named.text("skill") == without.text("skill").replace('"vault"', '"Harbour"')


def test_a_manifest_cannot_point_the_server_at_another_folder(serve, write):
    with pytest.raises(ProfileError, match="`workspace` is not a known key"):
        serve({"workspace_mcp.yaml": "workspace: {kind: local, root: /}\n"})
    assert "set_root_dir" not in OPERATIONS
    folder = write(NOTES)
    command = [sys.executable, "-m", "vaultgraph.cli.main", "--vault", str(folder)]
    done = subprocess.run(command, input=b"", capture_output=True, timeout=60, check=False)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert b"workspace_mcp.yaml:1: `workspace`" in done.stderr


def test_a_source_root_without_effect_is_said(serve):
    served = serve({"words/x.md": "x", "workspace_mcp.yaml": "source_root: words\n"})
    (remark,) = served.remarks
    assert "workspace_mcp.yaml:1: `source_root` has no effect with --vault" in remark
    assert "Home.md" in served.text("list_source")


@pytest.mark.parametrize("name", [*OPERATIONS])
def test_no_tool_of_a_manifest_takes_the_name_of_a_built_in_one(serve, name):
    text = f"tools: [{{name: {name}, description: d, cypher: RETURN 1}}]\n"
    with pytest.raises(ProfileError, match=f"asks for the name `{name}`, which is that of a built-in tool"):
        serve({"workspace_mcp.yaml": text})


def test_a_query_that_cannot_run_ends_the_start_and_not_the_first_call(serve):
    for query, words in (("RETRUN 1", "Did you mean RETURN"), ("CREATE (n)", "must only read")):
        with pytest.raises(ProfileError, match=words):
            serve({"workspace_mcp.yaml": f"tools: [{{name: ask, cypher: {query}}}]\n"})


@pytest.mark.parametrize(
    ("embedder", "words"),
    [
        ("{library: fastembde, model: m}", "use one of fastembed"),
        ("{library: fastembed}", "needs `model:`"),
        ("{factory: nowhere}", "must be `module:attribute`"),
        ("{model: m}", "needs `library:`"),
    ],
)
def test_an_embedder_that_cannot_be_ends_the_start(serve, write, embedder, words):
    folder = write({"m.yaml": f"trust: {{allow_embedder: true}}\nextensions: {{embedder: {embedder}}}\n"})
    with pytest.raises(ProfileError, match=words):
        serve({}, mcp_config=folder / "m.yaml")


def test_an_embedder_that_is_not_installed_is_said_at_the_start(serve, write):
    folder = write(
        {"m.yaml": "trust: {allow_embedder: true}\nextensions: {embedder: {factory: 'no_such_module:make'}}\n"}
    )
    (remark,) = serve({}, mcp_config=folder / "m.yaml").remarks
    assert "the module `no_such_module` is not installed" in remark


def test_the_list_of_tools_is_small_and_speaks_of_notes_only(serve):
    files = {f".kglite/recipes/{name}.md": RECIPE.format(name=name, tool=f"tool: {name}\n") for name in "abcdef"}
    tools = serve(files).tools().values()
    assert not {"explore", "read_code_source", "save_graph", "load_graph", "create_graph"} & set(serve(files).tools())
    published = [
        {"name": one.name, "title": one.title, "description": one.description, "inputSchema": dict(one.parameters)}
        for one in tools
    ]
    assert len(json.dumps(published, ensure_ascii=False)) < 12_000
    for one in tools:
        assert len(one.description) <= 400
        assert not {"function", "class", "code", "budget"} & set(one.description.casefold().split())


def test_a_new_recipe_can_be_called_at_once_and_an_edited_one_is_new(serve, folder):
    served = serve({".kglite/recipes/a.md": RECIPE.format(name="by_tag", tool="")})
    assert "first" not in served.text("list_recipe_queries", recipe="help")
    (folder / ".kglite/recipes/b.md").write_text(RECIPE.format(name="first", tool="tool: first_notes\n"))
    served.text("rebuild_graph")
    assert "first_notes" in served.tools()
    answer = served.answer("first_notes", tag="sea", most=1)
    assert answer.structured["result"]["rows"] == [["Home"]]
    (folder / ".kglite/recipes/b.md").write_text(RECIPE.format(name="first", tool="").replace("n.title", "n.path"))
    served.text("rebuild_graph")
    assert "first_notes" not in served.tools()
    answer = served.answer("run_recipe_query", recipe="help", query="first", variables={"tag": "sea", "most": 1})
    assert answer.structured["result"]["rows"] == [["Boats/Selkie.md"]]


@pytest.mark.parametrize("name", ["cypher_query", "querying", "vault_authoring", "images"])
def test_a_vault_replaces_no_advice_and_no_description_of_ours(serve, name):
    plain = serve({})
    before = {tool: one.description for tool, one in plain.tools().items()}
    ours = None if name == "cypher_query" else plain.text("skill", name=name)
    hijacking = serve({".kglite/skills/x.md": SKILL.format(name, "HIJACKED ROUTING.")})
    assert {tool: one.description for tool, one in hijacking.tools().items()} == before
    if ours is not None:
        assert hijacking.text("skill", name=name) == ours
    told = hijacking.text("skill", name=f"vault:{name}")
    assert told.startswith('[From the vault "vault", .kglite/skills/x.md')
    assert told.endswith("EVIL BODY\n")
    overview = hijacking.text("graph_overview")
    assert "HIJACKED" not in overview
    assert "EVIL" not in overview.split("[From the vault")[0]


@pytest.mark.parametrize("name", ["cypher_query", "ping", "expand_response", "list_recipe_queries", "skill"])
def test_a_recipe_that_asks_for_a_taken_name_stops_nothing(serve, name):
    served = serve({".kglite/recipes/a.md": RECIPE.format(name="by_tag", tool=f"tool: {name}\n")})
    assert served.tools()[name].description == OPERATIONS[name].description
    (group,) = served.answer("list_recipe_queries", recipe="help").structured["recipes"]
    assert f"the name {name} is taken" in group["queries"][0]["note"]
    answer = served.answer("run_recipe_query", recipe="help", query="by_tag", variables={"tag": "sea"})
    assert answer.structured["result"]["rows"] == [["Home"], ["Selkie"]]


def test_a_faulty_recipe_is_a_problem_with_its_place_and_the_others_load(serve):
    served = serve(
        {
            ".kglite/recipes/a.md": RECIPE.format(name="by_tag", tool=""),
            ".kglite/recipes/b.md": RECIPE.format(name="worse", tool="").replace("MATCH", "MATHC"),
        }
    )
    problems = served.text("graph_overview", problems=True)
    assert ".kglite/recipes/b.md bad-recipe Its query cannot be run" in problems
    assert "Did you mean MATCH?" in problems
    (group,) = served.answer("list_recipe_queries", recipe="help").structured["recipes"]
    assert [query["name"] for query in group["queries"]] == ["by_tag"]


@pytest.mark.parametrize("tool", [*OPERATIONS])
def test_every_tool_accepts_the_budget_of_a_reply_and_refuses_a_wrong_one(serve, tool):
    given = {
        "cypher_query": {"query": "RETURN 1"},
        "links": {"note": "Home"},
        "read_source": {"file_path": "Home"},
        "grep": {"pattern": "sea"},
        "fetch_images": {"items": ["a.png"]},
        "run_recipe_query": {"recipe": "help", "query": "by_tag", "variables": {"tag": "sea"}},
        "expand_response": {"result_id": "r1"},
    }.get(tool, {})
    served = serve({".kglite/recipes/a.md": RECIPE.format(name="by_tag", tool="")})
    plain = served.answer(tool, **given)
    if tool not in ("rebuild_graph", "graph_overview", "ping"):  # these tell the time
        for budget in ({"mode": "full"}, {"mode": "bounded", "max_bytes": 5000}, {}, None):
            assert served.answer(tool, **given, _response=budget) == plain
    if tool in served.tools():
        assert "max_bytes" in served.answer(tool, **given, _response={"max_bytes": 10}).text
        assert served.answer(tool, **given, _response={"mode": "huge"}).is_error


OPTIONAL = """---
recipe: help
name: titled
description: Notes by title, all of them where none is given.
parameters:
  type: object
  properties:
    title: {type: [string, "null"], default: null}
    key: {type: [string, integer]}
    most: {type: [integer, "null"]}
  required: [key, most]
  additionalProperties: false
---
```cypher
MATCH (n:Note) WHERE $title IS NULL OR n.title = $title
RETURN n.title AS title, $key AS key, $most AS most ORDER BY title
```
"""


@pytest.mark.parametrize(
    ("variables", "rows"),
    [
        ({"key": 1, "most": None}, [["Home", 1, None], ["Selkie", 1, None]]),
        ({"key": "a", "most": 2.0, "title": "Home"}, [["Home", "a", 2]]),
        ({"key": "a", "most": 2, "title": None}, [["Home", "a", 2], ["Selkie", "a", 2]]),
    ],
)
def test_parameters_of_recipes_may_be_null_or_of_several_kinds(serve, variables, rows):
    served = serve({".kglite/recipes/a.md": OPTIONAL})
    answer = served.answer("run_recipe_query", recipe="help", query="titled", variables=variables)
    assert answer.structured["result"]["rows"] == rows


@pytest.mark.parametrize(
    ("variables", "issue"),
    [
        ({"key": 1}, {"path": "$.most", "category": "missing", "message": "is required: integer or null"}),
        (
            {"key": None, "most": 1},
            {"path": "$.key", "category": "missing", "message": "is required: string or integer"},
        ),
        ({"key": [1], "most": 1}, {"path": "$.key", "category": "wrong_type", "message": "must be string or integer"}),
    ],
)
def test_variables_of_none_of_the_kinds_are_told(serve, variables, issue):
    served = serve({".kglite/recipes/a.md": OPTIONAL})
    answer = served.answer("run_recipe_query", recipe="help", query="titled", variables=variables)
    assert answer.structured["details"]["issues"] == [issue]


@pytest.mark.parametrize("kinds", ['["null"]', "[]", "[string, text]", "[[string]]", "[null]"])
def test_a_list_of_kinds_is_of_known_ones(serve, kinds):
    served = serve({".kglite/recipes/a.md": OPTIONAL.replace("[string, integer]", kinds)})
    assert "bad-recipe" in served.text("graph_overview", problems=True)
