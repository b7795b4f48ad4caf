"""Demands on relationships, against a slow and simple twin on random graphs."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from vaultgraph.graph.ontology import violations
from vaultgraph.profile.ontology import Class, Ontology, RelationshipClass
from vaultgraph.profile.settings import Profile

LABELS = ("A", "B", "C")  # B is a kind of A
CLASSES = {"A": Class(), "B": Class(is_a="A"), "C": Class()}


def expected(labels: list[str], pairs: list[tuple[int, int]]) -> Counter[tuple[str, str]]:
    """(code, node) of every violation: domain A, range C, required, at most 2, distinct, symmetric, transitive."""
    found: list[tuple[str, int]] = []
    known = set(pairs)
    of_domain = [node for node, label in enumerate(labels) if label in "AB"]
    found += [("ontology-ends", source) for source, _ in pairs if source not in of_domain]
    found += [("ontology-ends", source) for source, target in pairs if labels[target] != "C"]
    out = Counter(source for source, _ in pairs)
    found += [("ontology-count", node) for node in of_domain if out[node] == 0 or out[node] > 2]
    found += [("ontology-count", pair[0]) for pair, times in Counter(pairs).items() for _ in range(times - 1)]
    found += [("ontology-pair", source) for source, target in known if (target, source) not in known]
    chains = {(a, d) for a, b in known for c, d in known if b == c and a != d and (a, d) not in known}
    found += [("ontology-pair", source) for source, _ in chains]
    return Counter((code, str(node)) for code, node in found)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_violations_are_those_of_the_twin(make_graph, data):
    labels = sorted(data.draw(st.lists(st.sampled_from(LABELS), min_size=1, max_size=6)))
    ends = st.integers(0, len(labels) - 1)
    pairs = data.draw(st.lists(st.tuples(ends, ends), min_size=1, max_size=14))
    nodes = [((label,), {"id": str(at)}) for at, label in enumerate(labels)]
    declared = RelationshipClass(
        domain="A", range="C", required=True, most=2, distinct=(), symmetric=True, transitive=True
    )
    graph = make_graph(nodes, [(source, "R", target, {}) for source, target in pairs])
    found = violations(graph, Profile(ontology=Ontology(classes=CLASSES, relationships={"R": declared})))
    found = found.filter(severity="warning")
    assert Counter(found.select("code", "path").rows()) == expected(labels, pairs)
