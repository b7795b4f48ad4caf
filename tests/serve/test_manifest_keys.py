"""Each key of a manifest: right, of a wrong shape, unknown, and without effect."""

import pytest

from vaultgraph.errors import ProfileError, SettingsError
from vaultgraph.serve.manifest import CsvServer, EmbedderChoice, ImageCaps, Manifest
from vaultgraph.serve.manifest_extensions import KEYS, NEED_GRAPH, WITHOUT_EFFECT
from vaultgraph.serve.manifest_yaml import TOP_KEYS, find_manifest
from vaultgraph.serve.surface import check_surface

OTHERS = ("writable", "write_scope", "parallel", "graph_watch", "recipe_tools")  # of no mapping

RECIPES = """extensions:
  cypher_recipes:
    help:
      description: Queries of the harbour.
      queries:
        by_tag:
          description: Notes with a tag.
          parameters:
            type: object
            properties: {tag: {type: string}, most: {type: integer, default: 5}}
            required: [tag]
            additionalProperties: false
          cypher: 'MATCH (n)-[:TAGGED]->({id: $tag}) RETURN n.path LIMIT $most'
          tool: notes_by_tag
"""


@pytest.fixture
def read(write):
    """The manifest with this text, beside a vault, named or found."""

    def manifest(text: str, mode: str = "vault", *, is_named: bool = True) -> Manifest:
        folder = write({"A.md": "a", "workspace_mcp.yaml": text, "words/x.md": "x", ".hidden/y": "y"})
        place = folder / "graph.kgl" if mode == "graph" else folder
        if mode == "graph" and not is_named:
            (folder / "graph_mcp.yaml").write_text(text)
        found = find_manifest(mode, place, str(folder / "workspace_mcp.yaml") if is_named else None)
        check_surface(mode, found)
        return found

    return manifest


@pytest.fixture
def refused(read):
    """The message of a refusal, without the file's name."""

    def message(text: str, **how) -> str:
        with pytest.raises(ProfileError) as caught:
            read(text, **how)
        assert caught.value.data["line"] >= 1
        return caught.value.message.split("workspace_mcp.yaml:", 1)[1]

    return message


def test_words_for_callers_are_read(read):
    manifest = read("name: Harbour\ninstructions: Ask first.\noverview_prefix: |\n  Read this.\n")
    assert (manifest.name, manifest.instructions, manifest.overview_prefix) == ("Harbour", "Ask first.", "Read this.")
    assert manifest.remarks == ()


def test_an_empty_manifest_is_that_of_a_server_without_one(read):
    manifest = read("")
    assert manifest == Manifest(path=manifest.path)


@pytest.mark.parametrize("key", ["name", "instructions", "overview_prefix"])
@pytest.mark.parametrize("value", ["[a]", "{a: b}", "5", "true", "''"])
def test_words_of_another_shape_are_refused(refused, key, value):
    assert refused(f"{key}: {value}").startswith(f"1: `{key}` must ")


def test_unknown_keys_are_refused_with_the_nearest_and_the_accepted(refused):
    message = refused("name: a\nintsructions: b\n")
    assert message.startswith("2: `intsructions` is not a known key. Did you mean `instructions`? Accepted here: ")
    assert all(key in message for key in TOP_KEYS)
    for key in ("workspace", "embedder"):
        assert "is not a known key" in refused(f"{key}: {{kind: local}}")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("trust: {zz: true}", "`trust.zz` is not a known key. Accepted here: allow_embedder, allow_python_tools."),
        ("trust: yes", "`trust` must be a mapping"),
        ("trust: {allow_embedder: 1}", "must be true or false"),
        ("builtins: {zz: true}", "Accepted here: save_graph, temp_cleanup, github, screen_stargazers."),
        ("builtins: {temp_cleanup: often}", "use one of never, on_overview"),
        ("builtins: {save_graph: 1}", "must be true or false"),
        ("source_root: nowhere", "must be a folder"),
        ("source_root: A.md", "is a file"),
        ("source_roots: words", "must be a list of folders"),
        ("source_root: words\nsource_roots: [words]", "stands beside `source_root`"),
        ("env_file: nowhere.env", "not there"),
        ("env_file: words", "must be a file"),
        ("skills: {a: b}", "`skills` must be true, false, a folder, or a list"),
        ("skills: nowhere", "must be a folder"),
        ("skills: [false]", "to have no skills write `skills: false`"),
        ("skills: [{name: a}]", "needs `description:`"),
        ("skills: [{name: a, description: b, body: c, zz: d}]", "is not a known key"),
        ("skills: [{name: a b, description: b, body: c}]", "must be one word"),
        ("tools: {a: b}", "must be a list of tools"),
        ("tools: [{name: a}]", "needs one of `cypher:`"),
        ("tools: [{name: a, cypher: RETURN 1, bundled: ping}]", "needs one of `cypher:`"),
        ("tools: [{name: a, python: x.py, function: f}]", "is a tool in Python"),
        ("tools: [{cypher: RETURN 1}]", "needs `name:`"),
        ("tools: [{name: 1a, cypher: RETURN 1}]", "must be letters"),
        ("tools: [{name: a, cypher: RETURN 1, zz: 1}]", "is not a known key"),
        ("tools: [{name: a, cypher: RETRUN 1}]", "Did you mean RETURN? (line 1, column 1 of the query)"),
        ("tools: [{name: a, cypher: CREATE (n)}]", "must only read: it holds CREATE"),
        ("tools: [{name: a, cypher: RETURN m}]", "cannot run"),
        ("tools: [{name: a, cypher: RETURN $x}]", "must declare each $parameter of the query: x is missing"),
        ("tools: [{name: a, cypher: RETURN 1, parameters: [x]}]", "must be a mapping"),
        ("tools: [{name: a, cypher: RETURN 1, parameters: {type: array}}]", "must have `type: object`"),
        ("tools: [{name: a, cypher: RETURN 1, parameters: {required: [x]}}]", "requires x, which it does not declare"),
        (
            "tools: [{name: a, cypher: RETURN $x, parameters: {properties: {x: {type: integer, default: b}}}}]",
            "has a default of `x` that must be integer",
        ),
        ("tools: [{name: a, cypher: RETURN $x, parameters: {properties: {x: {type: any}}}}]", "must have a `type`"),
        ("tools: [{name: ping, cypher: RETURN 1}]", "asks for the name `ping`, which is that of a built-in tool"),
        ("tools: [{name: skill, cypher: RETURN 1}]", "which is that of a built-in tool"),
        ("tools:\n- {name: a, cypher: RETURN 1}\n- {name: a, cypher: RETURN 2}", "that of the tool of line 2"),
        ("tools: [{bundled: nope}]", "is `nope`, which is no built-in tool. There are: graph_overview, "),
        ("tools: [{bundled: grep, zz: 1}]", "Accepted here: bundled, rename, description, hidden."),
        ("tools: [{bundled: grep, rename: ping}]", "asks for the name `ping`"),
        ("tools: [{bundled: grep, hidden: 1}]", "must be true or false"),
        ("tools: [{bundled: expand_response, hidden: true}]", "cannot hide or rename `expand_response`"),
        ("tools: [{bundled: grep}, {bundled: grep}]", "changes `grep` a second time"),
        ("extensions: [a]", "`extensions` must be a mapping"),
        ("extensions: {tools_allow: ping}", "must be a list"),
        ("extensions: {tools_allow: [1]}", "must be a string"),
        (f"{RECIPES}  tools_allow: [ping]", "leaves out `list_recipe_queries`"),
        ("extensions: {fetch_images: {max_items: 0}}", "is 0; it must be 1 or more"),
        ("extensions: {fetch_images: {zzz: 1}}", "Accepted here: max_items, max_bytes_per_image, max_total_bytes."),
        ("extensions: {fetch_images: {max_items: 101}}", "may be 100 at most"),
        ("extensions: {fetch_images: 4}", "must be a mapping"),
        ("extensions: {csv_http_server: yes}", "must be true, false, or a mapping"),
        ("extensions: {csv_http_server: {port: 70000}}", "it must be 0 (any) to 65535"),
        ("extensions: {csv_http_server: {cors_origin: nowhere}}", "must be * or an origin"),
        ("extensions: {csv_http_server: {zz: 1}}", "is not a known key"),
        ("extensions: {embedder: {library: fastembed, model: m}}", "needs `trust: {allow_embedder: true}`"),
        ("trust: {allow_embedder: true}\nextensions: {embedder: {library: zz, model: m}}", "use one of fastembed"),
        ("trust: {allow_embedder: true}\nextensions: {embedder: {library: fastembed}}", "needs `model:`"),
        ("trust: {allow_embedder: true}\nextensions: {embedder: {factory: a.b}}", "must be `module:attribute`"),
        ("extensions: {value_codecs: {a: 1}}", "must be a list of codecs"),
        ("extensions: {value_codecs: [{property: a}]}", "needs `kind:`"),
        ("extensions: {value_codecs: [{property: a, kind: zz}]}", "use one of prefix, map, regex"),
        ("extensions: {value_codecs: [{property: a, kind: prefix}]}", "needs `prefix:`"),
        ("extensions: {value_codecs: [{property: a, kind: prefix, prefix: x, map: {}}]}", "is not a known key"),
        (
            "extensions: {value_codecs: [{property: a, kind: prefix, prefix: x, stored_type: zz}]}",
            "use one of int, float, str",
        ),
        ("extensions: {value_codecs: [{property: a, kind: map, map: {x: 1, y: 1}}]}", "maps `x` and `y` to the same"),
        ("extensions: {value_codecs: [{property: a, kind: regex, match: '(', decode: b}]}", "not a regular expression"),
        ("extensions: {valid_time: {default: tomorrow}}", "use today, all or a date"),
        ("extensions: {valid_time: {zz: 1}}", "is not a known key"),
        ("extensions: {cypher_recipes: [a]}", "must be a mapping"),
        ("extensions: {cypher_recipes: {g: {queries: {}}}}", "needs `description:`"),
        ("extensions: {cypher_recipes: {g: {description: d, queries: {q: {description: b}}}}}", "needs `cypher:`"),
        ("extensions: {cypher_recipes: {1g: {description: d, queries: {}}}}", "must be letters"),
        ("extensions: {writable: zz}", "must be true or false"),
        ("extensions: {write_scope: Note}", "must be a list"),
        ("extensions: {ontology: zz}", "must be a mapping"),
    ],
)
def test_what_is_wrong_is_refused_with_its_place_and_what_is_accepted(refused, text, words):
    assert words in refused(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("source_root: words", "has no effect with --vault"),
        ("source_roots: [words, words]", "has no effect with --vault"),
        ("trust: {allow_python_tools: true}", "tools in Python are not run"),
        ("builtins: {save_graph: true}", "notes are changed by editing their files"),
        ("builtins: {temp_cleanup: on_overview}", "has no effect"),
        ("builtins: {github: true}", "there is no such tool here"),
        ("extensions: {graph_watch: true}", "a graph is followed without it"),
        ("extensions: {writable: true}", "queries only read"),
        ("extensions: {write_scope: [Note]}", "queries only read"),
        ("extensions: {write_budget: {limit: 1}}", "queries only read"),
        ("extensions: {ontology: {file: a}}", "declared in .kglite/vault.yaml"),
        ("extensions: {parallel: true}", "always uses all cores"),
        ("extensions: {recipe_tools: true}", "has no effect"),
        (
            "extensions: {writeable: true}",
            "`extensions.writeable` is not a known key and has no effect. Known: cypher_",
        ),
        ("extensions: {value_codecs: [{property: a, kind: regex, match: 'a.(b)', decode: '$1'}]}", "without `encode:`"),
        (
            "extensions: {value_codecs: [{property: a, kind: map, map: {}}, {property: a, kind: map, map: {}}]}",
            "has no effect: `a` has a codec above",
        ),
    ],
)
def test_what_has_no_effect_is_one_remark_with_its_place(read, text, words):
    (remark,) = read(text).remarks
    assert words in remark
    assert "workspace_mcp.yaml:1: `" in remark


def test_what_is_switched_off_is_no_remark(read):
    text = "trust: {allow_embedder: false, allow_python_tools: false}\nbuiltins: {save_graph: false, github: false}\n"
    assert read(text).remarks == ()


def test_without_a_graph_what_needs_one_is_a_remark(read):
    text = f"overview_prefix: a\ntools: [{{name: a, cypher: RETURN 1}}]\n{RECIPES}  valid_time: {{default: all}}\n"
    manifest = read(text, "files")
    assert manifest.tools == ()
    keys = [remark.split("`")[1] for remark in manifest.remarks]
    assert keys == ["overview_prefix", "tools", "extensions.cypher_recipes", "extensions.valid_time"]


def test_source_roots_have_their_effect_on_a_saved_graph(read):
    assert [path.name for path in read("source_root: words", "graph").source_roots] == ["words"]
    manifest = read("source_roots: [words, .hidden]", "graph")
    assert [path.name for path in manifest.source_roots] == ["words", ".hidden"]
    assert manifest.remarks == ()


def test_extensions_are_read_to_values(read):
    manifest = read(
        "trust: {allow_embedder: true}\nskills: [true, words, {name: own, description: d, body: text}]\nextensions:\n"
        "  tools_allow: [ping, nowhere_at_all]\n"
        "  fetch_images: {max_items: 9, max_total_bytes: 1000}\n"
        "  csv_http_server: {port: 8123, dir: out, cors_origin: 'https://example.org'}\n"
        "  embedder: {factory: 'no_such_module_here:make'}\n"
        "  value_codecs:\n"
        "    - {property: status, kind: map, map: {finished: done, open: todo}}\n"
        "    - {property: code, kind: regex, match: 'x(.*)', decode: '$1', encode: {match: '(.*)', replace: 'x$1'}}\n"
        "  valid_time: {default: 2026-01-31}\n"
    )
    assert manifest.tools_allow == ("ping", "nowhere_at_all")
    assert manifest.images == ImageCaps(9, 4 * 1024 * 1024, 1000)
    assert manifest.csv_server == CsvServer(8123, manifest.path.parent / "out", "https://example.org")
    assert manifest.embedder == EmbedderChoice(None, None, "no_such_module_here:make")
    assert "the module `no_such_module_here` is not installed" in manifest.remarks[0]
    assert [codec.kind for codec in manifest.value_codecs] == ["map", "regex"]
    assert manifest.value_codecs[0].values == {"finished": "done", "open": "todo"}
    assert manifest.valid_time == "2026-01-31"
    assert [skill.name for skill in manifest.skills.inline] == ["own"]
    assert [folder.name for folder in manifest.skills.folders] == ["words"]
    assert manifest.skills.has_bundled
    assert read("extensions: {csv_http_server: true}").csv_server == CsvServer()
    assert read("extensions: {csv_http_server: false}").csv_server is None


def test_skills_are_off_on_or_those_of_a_folder(read):
    assert read("skills: false").skills.is_on is False
    assert read("skills: true").skills.folders == ()
    assert read("skills: words").skills.has_bundled is False
    assert read("name: a").skills is None


def test_recipes_are_read_with_their_schema_and_tool(read):
    (one,) = read(RECIPES).recipes
    assert (one.recipe.recipe, one.recipe.name, one.tool) == ("help", "by_tag", "notes_by_tag")
    assert one.recipe.parameters["required"] == ["tag"]
    assert one.recipe.recipe_description == "Queries of the harbour."


def test_a_recipe_must_declare_its_parameters_exactly(refused):
    assert "most is missing in `parameters:`" in refused(RECIPES.replace(", most: {type: integer, default: 5}", ""))
    assert "must require exactly" in refused(RECIPES.replace("required: [tag]", "required: []"))
    assert "additionalProperties: false" in refused(RECIPES.replace("            additionalProperties: false\n", ""))
    assert "must be of the type" in refused(RECIPES.replace("default: 5", "default: five"))


def test_a_found_manifest_is_believed_less_than_a_named_one(read, write):
    found = read("trust: {allow_embedder: true}\nenv_file: A.md", is_named=False)
    assert found.env_file is None
    assert all("counts only in one named with --mcp-config" in remark for remark in found.remarks)
    with pytest.raises(ProfileError, match="needs `trust"):
        read("trust: {allow_embedder: true}\nextensions: {embedder: {factory: 'os:system'}}", is_named=False)
    for text in ("skills: ..", "extensions: {csv_http_server: {dir: ../out}}"):
        with pytest.raises(ProfileError, match="leads out of the manifest's folder"):
            read(text, is_named=False)
    with pytest.raises(ProfileError, match="leads out of the manifest's folder"):
        read("source_root: ..", "graph", is_named=False)


@pytest.mark.parametrize("is_named", [True, False])
@pytest.mark.parametrize("name", ["s" * 300, "~nobody-of-this-name/skills"])
def test_a_path_that_cannot_be_looked_at_is_refused_where_it_is_written(read, name, is_named):
    with pytest.raises(ProfileError, match="names nothing that can be looked at"):
        read(f"skills: {name}", is_named=is_named)


def test_a_found_manifest_leaves_its_folder_by_no_link(write):
    folder = write({"A.md": "a", "workspace_mcp.yaml": "skills: out\n"})
    (folder / "out").symlink_to(folder.parent)
    with pytest.raises(ProfileError, match="leads out of the manifest's folder"):
        find_manifest("vault", folder, None)


def test_a_named_manifest_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(SettingsError, match="names a file that is not there"):
        find_manifest("vault", tmp_path, str(tmp_path / "no.yaml"))
    with pytest.raises(SettingsError, match="is not a file"):
        find_manifest("vault", tmp_path, str(tmp_path))
    assert find_manifest("vault", tmp_path, "none") == Manifest()
    assert find_manifest("vault", tmp_path, None) == Manifest()


@pytest.mark.parametrize("name", ["vault_mcp.yaml", "mcp.yaml", ".kglite/mcp.yaml", "workspace_mcp.yml"])
def test_only_one_name_is_looked_for(write, name):
    folder = write({"A.md": "a", name: "name: Other\n"})
    assert find_manifest("vault", folder, None).name is None


def test_the_folder_of_skills_beside_a_manifest_is_taken(write):
    folder = write({"A.md": "a", "workspace_mcp.yaml": "name: a\n", "workspace_mcp.skills/x.md": "x"})
    assert [path.name for path in find_manifest("vault", folder, None).skills.folders] == ["workspace_mcp.skills"]


@pytest.mark.parametrize("text", ["a: [", "a: &x [*x]", "\t", "- a\n- b", "name: a\nname: b\n"])
def test_text_that_is_no_mapping_of_yaml_is_refused_with_its_line(refused, text):
    assert refused(text)[0].isdigit()


def test_a_query_may_say_its_instant_and_an_unfinished_one_is_refused(read, refused):
    text = "tools: [{name: a, cypher: \"FOR VALID_TIME AS OF '2026-01-31' MATCH (n) RETURN n LIMIT $most\",\n"
    text += "  parameters: {properties: {most: {type: integer}}}}]\n"
    assert read(text).tools[0].cypher.startswith("FOR VALID_TIME")
    assert "After FOR VALID_TIME comes" in refused("tools: [{name: a, cypher: FOR VALID_TIME RETURN 1}]")


RIGHT = {
    "name": "Harbour",
    "instructions": "Ask.",
    "overview_prefix": "Boats.",
    "source_root": "words",
    "source_roots": "[words, .hidden]",
    "trust": "{allow_embedder: true}",
    "tools": "[{name: one, cypher: RETURN 1}]",
    "builtins": "{save_graph: false}",
    "env_file": "A.md",
    "extensions": "{}",
    "skills": "true",
}
TRUST = "trust: {allow_embedder: true}\n"
RIGHT_EXTENSIONS = {
    "cypher_recipes": "{g: {description: d, queries: {q: {description: d, cypher: RETURN 1}}}}",
    "tools_allow": "[ping, list_recipe_queries, run_recipe_query]",
    "fetch_images": "{max_items: 2}",
    "csv_http_server": "true",
    "embedder": "{library: fastembed, model: m}",
    "value_codecs": "[{property: a, kind: prefix, prefix: x}]",
    "valid_time": "{default: all}",
}


def test_every_key_of_the_format_is_tried_here():
    assert set(RIGHT) == set(TOP_KEYS)
    assert set(RIGHT_EXTENSIONS) == set(KEYS)


@pytest.mark.parametrize("key", RIGHT)
def test_a_right_key_is_taken_and_a_wrong_shape_of_it_refused(read, refused, key):
    assert read(f"{key}: {RIGHT[key]}", "graph").remarks == ()
    wrong = "5" if key != "builtins" else "[a]"
    assert refused(f"{key}: {wrong}", mode="graph").startswith(f"1: `{key}` must ")


@pytest.mark.parametrize("key", RIGHT_EXTENSIONS)
def test_a_right_extension_is_taken_and_a_wrong_shape_of_it_refused(read, refused, key):
    remarks = read(f"{TRUST}extensions: {{{key}: {RIGHT_EXTENSIONS[key]}}}").remarks
    assert [words for words in remarks if "has no effect until there is a search" not in words] == []
    assert refused(f"{TRUST}extensions: {{{key}: 5}}").startswith(f"2: `extensions.{key}` must ")


@pytest.mark.parametrize(
    ("text", "mode", "key"),
    [
        (f"source_root: {RIGHT['source_root']}", "vault", "source_root"),
        (f"source_roots: {RIGHT['source_roots']}", "vault", "source_roots[0]"),
        (f"overview_prefix: {RIGHT['overview_prefix']}", "files", "overview_prefix"),
        (f"tools: {RIGHT['tools']}", "files", "tools"),
        *(
            (
                f"trust: {{allow_embedder: true}}\nextensions: {{{key}: {RIGHT_EXTENSIONS[key]}}}",
                "files",
                f"extensions.{key}",
            )
            for key in NEED_GRAPH
        ),
        *(
            (f"extensions: {{{key}: {{}}}}", "vault", f"extensions.{key}")
            for key in WITHOUT_EFFECT
            if key not in OTHERS
        ),
    ],
)
def test_a_key_without_effect_in_this_mode_is_a_remark(read, text, mode, key):
    assert any(f"`{key}` has" in remark and "no effect" in remark for remark in read(text, mode).remarks)


def test_allowed_tools_are_named_as_clients_see_them(read, refused):
    renamed = "tools: [{bundled: list_recipe_queries, rename: menu}, {bundled: run_recipe_query, rename: cook}]\n"
    assert read(f"{renamed}{RECIPES}  tools_allow: [menu, cook]\n").tools_allow == ("menu", "cook")
    message = refused(f"{renamed}{RECIPES}  tools_allow: [menu, run_recipe_query]\n")
    assert "leaves out `cook`, which a manifest with `cypher_recipes` must allow" in message
