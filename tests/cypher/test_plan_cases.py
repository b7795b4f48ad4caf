"""Runs tests/cases/rules/*.md: a query, its plan before a rule and its plan after it.

The stem of a file is the name of the rule. "Before" is the plan that the rules ahead of it have left.
"""

import re
from pathlib import Path

import pytest

from vaultgraph.cypher.bind import bind
from vaultgraph.cypher.clauses import parse
from vaultgraph.cypher.estimate import Statistics
from vaultgraph.cypher.explain import plan_text
from vaultgraph.cypher.optimise import RULES
from vaultgraph.cypher.planner import plan_query
from vaultgraph.cypher.rules.prune import prune
from vaultgraph.cypher.rules.reach import reach
from vaultgraph.graph.facts import Facts

CASES = Path(__file__).resolve().parents[1] / "cases" / "rules"
BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
NAMES = [*(rule.__name__ for rule in RULES), "prune", "reach"]


def cases():
    for file in sorted(CASES.glob("*.md")):
        _, *parts = re.split(r"^## ", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
        for part in parts:
            title, _, body = part.partition("\n")
            found = {name: text.strip("\n") for name, text in BLOCK.findall(body)}
            yield pytest.param(file.stem, found, id=f"{file.stem}: {title}")


@pytest.fixture(scope="module")
def graph(make_graph):
    """Many notes, few folders; every note is in a folder and links to the next two."""
    nodes = [(["Folder"], {"path": f"f{number}"}) for number in range(3)]
    nodes += [(["Note"], {"path": f"n{number}", "title": f"N{number}", "rank": number}) for number in range(60)]
    relationships = [(3 + number, "IN", number % 3, {}) for number in range(60)]
    relationships += [(3 + number, "LINKS", 3 + (number + step) % 60, {}) for number in range(60) for step in (1, 2)]
    return make_graph(nodes, relationships)


@pytest.mark.parametrize(("rule", "case"), list(cases()))
def test_rule_turns_one_plan_into_the_other(rule, case, graph):
    bound = bind(parse(case["cypher"]), case["cypher"], None, {})
    statistics = Statistics(Facts(graph, {"Folder": ("rank",)}))
    plan = plan_query(bound.query, bound.columns, statistics, {})
    rules = [*RULES, lambda plan, _: prune(plan, frozenset(bound.columns)), lambda plan, _: reach(plan)]
    for before in rules[: NAMES.index(rule)]:
        plan = before(plan, statistics)
    assert plan_text(plan) == case["before"]
    assert plan_text(rules[NAMES.index(rule)](plan, statistics)) == case["after"]


@pytest.mark.parametrize("rule", NAMES)
def test_every_rule_has_its_case_file(rule):
    assert (CASES / f"{rule}.md").is_file()
