"""Values against the schema of a query's parameters: defaults, kinds, limits, and faults with their places."""

import pytest

from vaultgraph.profile.guidance import read_guidance
from vaultgraph.profile.parameter_values import MOST_ISSUES, bind_values, schema_fault, value_issues


def faults(schema: dict, value: object) -> list[tuple[str, str]]:
    return [(issue.path, issue.category) for issue in value_issues(schema, value)]


def test_defaults_are_taken_and_nulls_count_as_not_given():
    schema = {"properties": {"a": {"type": "string", "default": "x"}, "b": {"type": "integer"}}}
    assert bind_values(schema, {"b": 1}) == ({"a": "x", "b": 1}, [])
    assert bind_values(schema, {"a": None, "b": 2.0}) == ({"a": "x", "b": 2}, [])
    bound, issues = bind_values(schema, {"c": 1})
    assert bound == {"a": "x"}
    assert [(issue.path, issue.category) for issue in issues] == [("$.c", "unknown"), ("$.b", "missing")]


@pytest.mark.parametrize(
    ("schema", "right", "wrong", "category"),
    [
        ({"type": "string"}, "a", 1, "wrong_type"),
        ({"type": "integer"}, 1, 1.5, "wrong_type"),
        ({"type": "integer"}, 1, True, "wrong_type"),
        ({"type": "number"}, 1.5, "1", "wrong_type"),
        ({"type": "boolean"}, True, 1, "wrong_type"),
        ({"type": "array"}, [], "a", "wrong_type"),
        ({"type": "object"}, {}, [], "wrong_type"),
        ({"type": "string", "enum": ["a", "b"]}, "b", "c", "enum"),
        ({"type": "string", "const": "a"}, "a", "b", "const"),
        ({"type": "string", "minLength": 2}, "ab", "a", "minLength"),
        ({"type": "string", "maxLength": 2}, "ab", "abc", "maxLength"),
        ({"type": "string", "pattern": "^a+$"}, "aa", "ab", "pattern"),
        ({"type": "integer", "minimum": 1}, 1, 0, "minimum"),
        ({"type": "integer", "maximum": 1}, 1, 2, "maximum"),
        ({"type": "number", "exclusiveMinimum": 1}, 1.1, 1, "minimum"),
        ({"type": "number", "exclusiveMaximum": 1}, 0.9, 1, "maximum"),
        ({"type": "array", "minItems": 1}, [1], [], "minItems"),
        ({"type": "array", "maxItems": 1}, [1], [1, 2], "maxItems"),
    ],
)
def test_each_keyword_takes_what_is_right_and_tells_what_is_wrong(schema, right, wrong, category):
    assert schema_fault(schema) is None
    assert faults(schema, right) == []
    assert faults(schema, wrong) == [("$", category)]


def test_faults_inside_lists_and_mappings_say_where_they_are():
    schema = {
        "type": "object",
        "properties": {"tags": {"type": "array", "items": {"type": "string"}}, "n": {"type": "integer"}},
        "required": ["n"],
        "additionalProperties": False,
    }
    assert faults(schema, {"tags": ["a", 1], "x": 1}) == [
        ("$.n", "missing"),
        ("$.x", "unknown"),
        ("$.tags[1]", "wrong_type"),
    ]


def test_faults_are_counted_to_a_limit():
    schema = {"properties": {"list": {"type": "array", "items": {"type": "integer"}}}}
    assert len(bind_values(schema, {"list": ["x"] * 1_000})[1]) == MOST_ISSUES


def test_a_pattern_that_would_run_away_elsewhere_is_linear_here():
    assert faults({"type": "string", "pattern": "^(a+)+$"}, "a" * 50_000 + "b") == [("$", "pattern")]


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ("text", "must be a mapping"),
        ({"type": "date"}, "must have a `type`"),
        ({"anyOf": []}, "states `anyOf`, which is not checked here"),
        ({"type": "string", "pattern": "(?<=a)b"}, "no regular expression"),
        ({"type": "string", "pattern": "("}, "no regular expression"),
        ({"type": "string", "pattern": "a" * 501}, "more than 500 characters"),
        ({"type": "string", "minLength": "1"}, "`minLength` that is not a whole number"),
        ({"type": "integer", "minimum": "1"}, "`minimum` that is not a number"),
        ({"type": "string", "enum": "a"}, "a list as `enum`"),
        ({"type": "array", "items": {"type": "x"}}, "`$[]` must have a `type`"),
        ({"type": "object", "properties": {"a": {"$ref": "#"}}}, "`$.a` states `$ref`"),
        ({"type": "object", "required": "a"}, "a list of names as `required`"),
    ],
)
def test_a_schema_that_cannot_be_checked_is_told(schema, words):
    assert words in schema_fault(schema)


def test_a_schema_nested_without_end_is_told():
    schema: dict = {"type": "array"}
    for _ in range(50):
        schema = {"type": "array", "items": schema}
    assert "nested more than" in schema_fault(schema)


def test_a_default_must_satisfy_its_own_parameter():
    front = (
        "recipe: a\nname: b\ndescription: c\nparameters:\n  type: object\n  additionalProperties: false\n"
        "  properties:\n    n: {type: integer, minimum: 1, default: 0}"
    )
    found = read_guidance({".kglite/recipes/a.md": f"---\n{front}\n---\n```cypher\nRETURN $n\n```\n".encode()})
    assert found.recipes == ()
    [(_, line, code, _, message)] = found.problems
    assert (line, code) == (9, "bad-recipe")
    assert "does not satisfy its own parameter: must be at least 1." in message


def test_a_recipe_may_name_a_tool_of_its_own():
    text = "---\nrecipe: a\nname: b\ndescription: c\ntool: {}\n---\n```cypher\nRETURN 1\n```\n"
    [recipe] = read_guidance({".kglite/recipes/a.md": text.format("my-tool").encode()}).recipes
    assert recipe.tool == "my-tool"
    found = read_guidance({".kglite/recipes/a.md": text.format("'my tool'").encode()})
    assert "tool" in found.problems[0][4]
