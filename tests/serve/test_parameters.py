"""Arguments are checked against closed schemas, and what is wrong is said in words that help."""

import pytest

from vaultgraph.errors import ParameterError
from vaultgraph.serve.parameters import check_arguments, nearest

SCHEMA = {
    "type": "object",
    "properties": {
        "query": {"type": "string"},
        "depth": {"type": "integer", "minimum": 1},
        "shape": {"type": "string", "enum": ["text", "json"]},
        "types": {"type": ["boolean", "array"], "items": {"type": "string"}},
        "items": {"type": "array", "items": {"type": "string"}, "minItems": 1},
        "_response": {"type": "object", "properties": {"max_bytes": {"type": "integer", "minimum": 4096}}},
    },
    "required": ["query"],
    "additionalProperties": False,
}


def check(**arguments):
    return check_arguments(SCHEMA, arguments, "tool")


def test_null_counts_as_absent_and_whole_floats_as_integers():
    assert check(query="x", depth=2.0, shape=None) == {"query": "x", "depth": 2}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "tool needs the argument `query` (text)."),
        ({"query": None}, "tool needs the argument `query` (text)."),
        (
            {"query": "x", "dept": 1},
            "tool has no argument `dept`. Did you mean `depth`? It accepts: query, depth, shape, types, items.",
        ),
        ({"query": 3}, "`query` must be text, not 3."),
        ({"query": "x", "depth": True}, "`depth` must be a whole number, not True."),
        ({"query": "x", "depth": 0}, "`depth` must be at least 1, not 0."),
        ({"query": "x", "depth": "2"}, "`depth` must be a whole number, not '2'."),
        ({"query": "x", "shape": "jsn"}, "`shape` must be one of text, json, not 'jsn'. Did you mean `json`?"),
        ({"query": "x", "types": 3}, "`types` must be true or false or a list of texts, not 3."),
        ({"query": "x", "label": "A"}, "tool has no argument `label`. Did you mean `types`?"),
        ({"query": "x", "types": ["A", 1]}, "`types[1]` must be text, not 1."),
        ({"query": "x", "items": []}, "`items` must name at least one."),
        ({"query": "x", "_response": {"max_bytes": 10}}, "`max_bytes` must be at least 4096, not 10."),
        ({"query": "x", "_response": {"maxbytes": 10}}, "`_response` has no argument `maxbytes`. Did you mean"),
    ],
)
def test_a_wrong_argument_is_named_with_what_is_accepted(arguments, message):
    with pytest.raises(ParameterError) as caught:
        check(**arguments)
    assert caught.value.message.startswith(message)


def test_a_text_for_a_list_is_its_one_entry():
    assert check(query="x", types="A", items="b.png") == {"query": "x", "types": ["A"], "items": ["b.png"]}
    assert check(query="x", types="TRUE") == {"query": "x", "types": True}
    assert check(query="x", items="true") == {"query": "x", "items": ["true"]}


def test_the_nearest_name_ignores_case_and_is_absent_when_nothing_is_close():
    assert nearest("linksto", ["LINKS_TO", "TAGGED"]) == "LINKS_TO"
    assert nearest("note", ["Note", "Node"]) == "Note"
    assert nearest("zzz", ["Note"]) is None
