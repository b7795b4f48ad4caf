"""Skills and recipes that a vault carries: what they hold, and how a bad one is told without losing its siblings."""

import pytest

from vaultgraph.profile.guidance import MOST_FILES, Guidance, Recipe, Skill, read_guidance
from vaultgraph.profile.yaml_tree import MOST_BYTES

SKILL = "name: tides\ndescription: How tides are noted."
RECIPE = "recipe: notes\nname: by_tag\ndescription: Notes with a tag."
QUERY = "```cypher\nMATCH (n) RETURN n.title\n```\n"
QUERY_OF_TAG = "Text.\n\n```cypher\nMATCH (n)-[:TAGGED]->(t {id: $tag})\nRETURN n.title\n```\n\nMore text.\n"
PARAMETERS = (
    "parameters: {type: object, properties: {tag: {type: string}}, required: [tag], additionalProperties: false}"
)
IDENTIFIER = "must be letters, digits and `_`, no digit first, at most 100 characters."
ONE_OF_TYPES = "one of string, integer, number, boolean, array, object."


def note(front: str, text: str = "") -> bytes:
    return f"---\n{front}\n---\n{text}".encode()


@pytest.fixture
def problem_of():
    """Line and message of the one problem that a file `x.md` of ``kind`` (skill, recipe) gives."""

    def run(kind: str, data: bytes) -> tuple[int | None, str]:
        path = f".kglite/{kind}s/x.md"
        found = read_guidance({path: data})
        assert (found.skills, found.recipes, len(found.problems)) == ((), (), 1)
        [(where, line, code, severity, message)] = found.problems
        assert (where, code, severity) == (path, f"bad-{kind}", "warning")
        return line, message

    return run


def test_no_files_are_no_guidance():
    assert read_guidance({}) == Guidance((), (), ())


def test_a_skill_is_its_frontmatter_and_the_text_below():
    front = SKILL + "\nreferences_tools: [grep, search]\napplies_when: {graph_has_node_type: [Tide]}\ndelivery: eager"
    found = read_guidance({".kglite/skills/tides.md": note(front, "# Tides\n\nText.\n")})
    assert found.skills == (
        Skill(
            path=".kglite/skills/tides.md",
            name="tides",
            description="How tides are noted.",
            references_tools=("grep", "search"),
            applies_when={"graph_has_node_type": ["Tide"]},
            delivery="eager",
            text="# Tides\n\nText.\n",
        ),
    )
    assert found.problems == ()


def test_a_skill_needs_no_more_than_name_and_description():
    [skill] = read_guidance({".kglite/skills/a.MD": b"\xef\xbb\xbf---\r\nname: a\r\ndescription: b\r\n---\r\n"}).skills
    assert skill == Skill(".kglite/skills/a.MD", "a", "b", (), None, "lazy", "")


def test_keys_that_are_not_known_are_passed_over():
    [skill] = read_guidance({".kglite/skills/a.md": note(SKILL + "\nauthor: Ada\nreferences_tools: grep")}).skills
    assert skill.references_tools == ("grep",)


def test_a_recipe_is_its_frontmatter_and_its_query():
    front = f"{RECIPE}\nrecipe_description: About notes.\n{PARAMETERS}"
    found = read_guidance({".kglite/recipes/by_tag.md": note(front, QUERY_OF_TAG)})
    assert found == Guidance(
        recipes=(
            Recipe(
                path=".kglite/recipes/by_tag.md",
                recipe="notes",
                name="by_tag",
                description="Notes with a tag.",
                recipe_description="About notes.",
                parameters={
                    "type": "object",
                    "properties": {"tag": {"type": "string"}},
                    "required": ["tag"],
                    "additionalProperties": False,
                },
                cypher="MATCH (n)-[:TAGGED]->(t {id: $tag})\nRETURN n.title",
            ),
        )
    )


def test_a_query_without_parameters_needs_none_declared():
    [recipe] = read_guidance({".kglite/recipes/a.md": note(RECIPE, QUERY)}).recipes
    assert recipe.parameters == {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    assert recipe.recipe_description is None


def test_a_parameter_with_a_default_is_not_required():
    front = (
        RECIPE
        + "\nparameters: {type: object, properties: {tag: {type: string, default: x}}, additionalProperties: false}"
    )
    [recipe] = read_guidance({".kglite/recipes/a.md": note(front, QUERY_OF_TAG)}).recipes
    assert recipe.parameters["properties"] == {"tag": {"type": "string", "default": "x"}}


def test_only_markdown_right_in_the_two_folders_is_read():
    files = {".kglite/skills/a.txt", ".kglite/skills/deep/a.md", "skills/a.md", ".kglite/a.md", "A.md"}
    assert read_guidance(dict.fromkeys(files, note(SKILL))) == Guidance()


def test_siblings_of_a_bad_file_load():
    files = {
        ".kglite/skills/c.md": note("name: c\ndescription: C"),
        ".kglite/skills/b.md": b"no frontmatter",
        ".kglite/skills/a.md": note("name: a\ndescription: A"),
        ".kglite/recipes/b.md": note(RECIPE, QUERY),
        ".kglite/recipes/a.md": note(RECIPE, "no query"),
    }
    found = read_guidance(files)
    assert [skill.name for skill in found.skills] == ["a", "c"]
    assert [recipe.path for recipe in found.recipes] == [".kglite/recipes/b.md"]
    assert [problem[:3] for problem in found.problems] == [
        (".kglite/skills/b.md", 1, "bad-skill"),
        (".kglite/recipes/a.md", 1, "bad-recipe"),
    ]


def test_of_two_with_one_name_the_first_by_path_is_kept():
    files = {f".kglite/skills/{name}.md": note(SKILL, name) for name in "ba"}
    files |= {f".kglite/recipes/{name}.md": note(RECIPE, QUERY) for name in "ba"}
    found = read_guidance(files)
    assert ([one.path for one in found.skills], [one.path for one in found.recipes]) == (
        [".kglite/skills/a.md"],
        [".kglite/recipes/a.md"],
    )
    assert [problem[1:] for problem in found.problems] == [
        (2, "bad-skill", "warning", "`name` is `tides`, like that of .kglite/skills/a.md. Names are unique."),
        (3, "bad-recipe", "warning", "`name` is `by_tag`, like that of .kglite/recipes/a.md. Names are unique."),
    ]


def test_recipes_of_different_groups_may_have_one_name():
    other = RECIPE.replace("recipe: notes", "recipe: people")
    files = {".kglite/recipes/a.md": note(RECIPE, QUERY), ".kglite/recipes/b.md": note(other, QUERY)}
    assert [recipe.recipe for recipe in read_guidance(files).recipes] == ["notes", "people"]


@pytest.mark.parametrize(
    ("front", "line", "message"),
    [
        ("name: a", 2, "`description` is missing."),
        ("\ndescription: a", 3, "`name` is missing."),
        ("name:\ndescription: a", 2, "`name` is missing."),
        ("name: a\ndescription: ' '", 3, "`description` must not be empty."),
        ("name: a b\ndescription: c", 2, "`name` must be one word without `/`, `\\` and `:`, at most 100 characters."),
        ("name: a/b\ndescription: c", 2, "`name` must be one word without `/`, `\\` and `:`, at most 100 characters."),
        ("name: 2\ndescription: c", 2, "`name` must be a string, not an integer (`2`). Put it in quotes to mean text."),
        (SKILL + "\ndelivery: now", 4, "`delivery` is `now`; use one of eager, lazy."),
        (SKILL + "\nreferences_tools: {}", 4, "`references_tools` must be a list of strings, not a mapping."),
        ("name: [a", 3, "is not valid YAML: while parsing a flow sequence, did not find expected ',' or ']'."),
        ("- a", 2, "must be a mapping, not a list."),
        (f"name: a\ndescription: {'x' * 5001}", 3, "`description` has 5,001 characters; at most 5,000 are read."),
    ],
)
def test_a_bad_skill_is_a_problem_that_names_the_rule(problem_of, front, line, message):
    assert problem_of("skill", note(front)) == (line, message)


@pytest.mark.parametrize(
    ("data", "line", "message"),
    [
        (b"", 1, "has no frontmatter. Begin with `---`, `name:`, `description:` and `---`."),
        (b"---\nname: a\n", 1, "has no frontmatter. Begin with `---`, `name:`, `description:` and `---`."),
        (b"---\nname: \xff\n---\n", 2, "is not UTF-8. Save the file as UTF-8."),
        (b"x" * (MOST_BYTES + 1), 1, f"has {MOST_BYTES + 1} bytes; at most {MOST_BYTES} are read."),
    ],
)
def test_a_file_that_cannot_be_read_is_a_problem(problem_of, data, line, message):
    assert problem_of("skill", data) == (line, message)


@pytest.mark.parametrize(
    ("front", "line", "message"),
    [
        ("name: a\ndescription: b", 2, "`recipe` is missing."),
        ("recipe: a\ndescription: b", 2, "`name` is missing."),
        ("recipe: a\nname: b", 2, "`description` is missing."),
        ("recipe: a b\nname: c\ndescription: d", 2, f"`recipe` {IDENTIFIER}"),
        ("recipe: a\nname: 2b\ndescription: d", 3, f"`name` {IDENTIFIER}"),
        (f"recipe: a\nname: {'b' * 101}\ndescription: d", 3, f"`name` {IDENTIFIER}"),
        (
            f"{RECIPE}\n{PARAMETERS}",
            5,
            "`parameters` must declare only $parameters of the query: tag is not used.",
        ),
    ],
)
def test_a_recipe_with_bad_frontmatter_is_a_problem_that_names_the_rule(problem_of, front, line, message):
    assert problem_of("recipe", note(front, QUERY)) == (line, message)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("Text.", 1, "must hold one fenced block marked `cypher`, not none."),
        ("```\nRETURN 1\n```", 1, "must hold one fenced block marked `cypher`, not none."),
        ("```cypher title\nRETURN 1\n```", 1, "must hold one fenced block marked `cypher`, not none."),
        (QUERY + QUERY, 1, "must hold one fenced block marked `cypher`, not 2."),
        ("```cypher\n\n```", 1, "has an empty query."),
        (f"```cypher\nRETURN {'1' * 20_000}\n```", 1, "has a query of 20007 characters; at most 20000 are read."),
        (QUERY_OF_TAG, 2, "must declare each $parameter of the query: tag is missing in `parameters:`."),
    ],
)
def test_a_recipe_without_one_fitting_query_is_a_problem(problem_of, text, line, message):
    assert problem_of("recipe", note(RECIPE, text)) == (line, message)


@pytest.mark.parametrize(
    ("written", "instead", "message"),
    [
        ("type: object, ", "", "`parameters` must have `type: object`."),
        ("false", "true", "`parameters` must have `additionalProperties: false`."),
        (", additionalProperties: false", "", "`parameters` must have `additionalProperties: false`."),
        ("required: [tag], ", "", "`parameters` must require exactly the parameters without `default`: tag."),
        (
            "type: string",
            "type: string, default: x",
            "`parameters` must require exactly the parameters without `default`: nothing.",
        ),
        (
            "type: string",
            "type: string, default: 1",
            "`parameters.properties.tag.default` must be of the type `string`.",
        ),
        (
            "type: string",
            "type: integer, default: true",
            "`parameters.properties.tag.default` must be of the type `integer`.",
        ),
        ("type: string", "type: text", f"`parameters.properties.tag.type` is `text`; use {ONE_OF_TYPES}"),
        ("type: string", "minimum: 1", f"`parameters.properties.tag` needs `type:`, {ONE_OF_TYPES}"),
        ("{type: string}", "3", "`parameters.properties.tag` must be a mapping, not an integer (`3`)."),
    ],
)
def test_parameters_that_are_no_closed_schema_are_a_problem(problem_of, written, instead, message):
    front = f"{RECIPE}\n{PARAMETERS.replace(written, instead)}"
    assert problem_of("recipe", note(front, QUERY_OF_TAG)) == (5, message)


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ("CREATE (n)", "CREATE"),
        ("MATCH (n) SET n.a = 1", "SET"),
        ("MATCH (n) DETACH delete n", "DELETE"),
        ("merge (n:A)", "MERGE"),
        ("MATCH (n) REMOVE n.a", "REMOVE"),
        ("LOAD CSV FROM 'x' AS row RETURN row", "LOAD"),
        ("FOREACH (x IN [1] | CREATE (n))", "FOREACH"),
        ("DROP INDEX a", "DROP"),
        ("RETURN '\\'' CREATE (n)", "CREATE"),
        ("RETURN 1 /* ' */ CREATE (n)", "CREATE"),
        ("MATCH (`a'`) CREATE (n)", "CREATE"),
        ("MATCH (n) // '\nSET n.a = 1", "SET"),
    ],
)
def test_a_query_that_writes_is_refused(problem_of, query, word):
    message = f"must only read: its query holds {word}."
    assert problem_of("recipe", note(RECIPE, f"```cypher\n{query}\n```")) == (1, message)


@pytest.mark.parametrize(
    "query",
    [
        "MATCH (n) WHERE n.title = 'CREATE' RETURN n",
        'RETURN "it\'s a \\" SET" AS text',
        "MATCH (`set`) RETURN `set` // DELETE",
        "MATCH (n) /* MERGE\n$gone */ RETURN n.set, n . delete",
        "MATCH (n:Set)-[:REMOVE]->(m) RETURN n",
        "RETURN 'unclosed $gone SET",
        "RETURN setting, created",
    ],
)
def test_words_and_parameters_in_texts_names_and_comments_do_not_count(query):
    [recipe] = read_guidance({".kglite/recipes/a.md": note(RECIPE, f"```cypher\n{query}\n```")}).recipes
    assert recipe.cypher == query


def test_parameters_may_be_quoted_or_named_in_any_script():
    front = RECIPE + (
        "\nparameters: {type: object, properties: {a b: {type: integer}, größe: {type: number}},"
        " required: [größe, a b], additionalProperties: false}"
    )
    [recipe] = read_guidance({".kglite/recipes/a.md": note(front, "```cypher\nRETURN $`a b` + $größe\n```")}).recipes
    assert recipe.cypher == "RETURN $`a b` + $größe"


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("- item\n\n  ```cypher\n  RETURN 1\n    AS x\n  ```\n", "RETURN 1\n  AS x"),
        ("```Cypher\nRETURN 1", "RETURN 1"),
        ("````cypher\nRETURN '\n```\n'\n````", "RETURN '\n```\n'"),
        ("~~~\n```cypher\nRETURN 2\n```\n~~~\n```cypher\nRETURN 1\n```", "RETURN 1"),
        ("```text\n~~~\n```\n```cypher\nRETURN 1\n```", "RETURN 1"),
        ("`` ```cypher `` is how it starts\n\n```cypher\nRETURN 1\n```", "RETURN 1"),
    ],
)
def test_the_block_is_found_as_markdown_has_it(text, query):
    [recipe] = read_guidance({".kglite/recipes/a.md": note(RECIPE, text)}).recipes
    assert recipe.cypher == query


def test_no_more_files_are_read_than_anyone_needs():
    files = {f".kglite/skills/{at:04}.md": note(f"name: s{at}\ndescription: d") for at in range(MOST_FILES + 5)}
    found = read_guidance(files)
    assert len(found.skills) == MOST_FILES
    message = f"Left out, like every file after it: at most {MOST_FILES} are read."
    assert found.problems == ((".kglite/skills/0200.md", None, "bad-skill", "warning", message),)


@pytest.mark.parametrize(
    "text",
    [
        "```" + " " * 200_000 + "`",
        "~" * 200_000 + "`",
        "---\n" * 50_000,
        "```cypher\n" + "'" * 200_000 + "\n```",
    ],
)
def test_long_odd_texts_are_refused_at_once(problem_of, text):
    assert problem_of("recipe", note(RECIPE, text))[0] == 1
