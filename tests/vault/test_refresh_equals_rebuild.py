"""Whatever is edited in whatever order, a refreshed vault is the vault as if it were read for the first time.

With every rule of the configuration on: parts of notes, tasks, inline fields, hubs, tags, defaults, an ontology. The
cache file of a refreshed vault is compared too, byte for byte.
"""

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import vaultgraph
from vaultgraph import Vault

RULES = """kglite_vault: 1
tag_labels:
  "topic/*": {label: Topic, edge: IS_ABOUT}
hubs:
  author: {label: Author, edge: WRITTEN_BY, case_insensitive: true}
heading_edges: {Sources: CITES}
edge_defaults:
  CITES: {weight: 1}
types:
  Note: {rating: float}
  Row: {size: int}
structure:
  sections: {}
  chunks: {max_words: 6, max_chars: 60}
  callouts: {}
  code_fences: {}
  ordered_lists: {min_items: 1}
  tables:
    - {under_heading: '^Crew$', edges: true, edge: SAILED_WITH}
    - {under_heading: '.', label: Row, key_column: name}
  key_from_heading: {under_label: Api}
  inherit: [rating, author]
  embed_text: "{title} {heading_path} {text}"
ontology:
  closed_labels: true
  classes:
    Note: {required_properties: [rating], property_types: {rating: number}}
    Row: {required_properties: [size]}
  relationships:
    CITES: {domain: Note, range: Note, cardinality: {max: 1}}
"""
OTHER_RULES = "kglite_vault: 1\nstructure:\n  sections: {label: Part}\n  callouts: {}\n"
OWN_RULES = "inline_fields: true\ntasks: true\n"

NAMES = ("A.md", "b.md", "a/A.md", "a/c.md", "a.md", "Über/Ü.md", "A.canvas", "pic.png")
PARTS = (
    "---\nauthor: Ada\nrating: 3\ntags: [topic/sea]\n---\n",
    "---\ntype: Api\nid: A\nauthor: [ada, '[[b]]']\nrating: high\n---\n",
    "---\nkg_skip: true\n---\n",
    "---\nbad: [\n---\n",
    "# A\n\n## lib.open(a) → B\n\ntext ^one\n\n",
    "# Sources\n\n[[A]] [[b#A]] [[c#^one]] ![[pic.png|x|30]]\n\n",
    "# Crew\n\n| who | since |\n|---|---|\n| [[b]] | 1999 |\n| Ghost | 2001 |\n| [[A#A]] | |\n\n",
    "# Rows\n\n| name | size | size |\n|---|---|---|\n| x | 1 | 2 |\n| x | y | |\n\n",
    "> [!note]- Mind\n> the gap #topic/sea\n> > [!tip]\n> > inside\n\n^q1\n\n",
    "1. one\n   1. deep\n2. two\n\nsay:\n```py\nx\n```\n\n",
    "- [ ] open ^t1\n- [x] done [due:: 2026-01-01] #topic/wind\n\n",
    "seen:: [[c]]\nrating:: 4\n\n[[nobody]] #a/b <!-- [[x]] -->\n\n",
    "one\r\rtwo\r# Three\r\x00\u2028\U0001f600\r\n",
    '{"nodes": [{"id": "1", "type": "text", "text": "# A\\n[[b]] #x", "x": 0, "y": 0, "width": 1, "height": 1}]}',
    "a b c d e f g h i j k l m n o p q r s t u v w x y z " * 3 + "\n\n",
)

texts = st.lists(st.sampled_from(PARTS), max_size=5).map("".join)
edits = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(NAMES), texts),
    st.tuples(st.just("delete"), st.sampled_from(NAMES), st.just("")),
    st.tuples(st.just("rename"), st.sampled_from(NAMES), st.sampled_from(NAMES)),
    st.tuples(st.just("rules"), st.just(".kglite/vault.yaml"), st.sampled_from((RULES, RULES, OTHER_RULES))),
)


def answers(vault: Vault) -> tuple[list[str], list[str], list[str]]:
    """Nodes, relationships and problems."""
    nodes = vault.query("MATCH (n) RETURN labels(n), properties(n)").rows
    ends = vault.query("MATCH (a)-[r]->(b) RETURN a.id, a.path, type(r), properties(r), b.id, b.path").rows
    return sorted(map(repr, nodes)), sorted(map(repr, ends)), list(map(repr, vault.current().problems.rows()))


def apply(folder: Path, edit: tuple[str, str, str]) -> None:
    kind, name, what = edit
    file = folder / name
    match kind:
        case "delete":
            file.unlink(missing_ok=True)
        case "rename" if file.exists():
            (folder / what).parent.mkdir(exist_ok=True)
            file.replace(folder / what)
        case "write" | "rules":
            file.parent.mkdir(exist_ok=True)
            file.write_text(what, encoding="utf-8", newline="")
        case _:
            pass


@settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
)
@given(
    first=st.dictionaries(st.sampled_from(NAMES), texts, max_size=5),
    steps=st.lists(st.lists(edits, min_size=1, max_size=3), min_size=1, max_size=3),
)
def test_any_edits_give_what_a_first_reading_gives(
    first: dict[str, str], steps: list[list[tuple[str, str, str]]]
) -> None:
    with tempfile.TemporaryDirectory() as base:
        folder = Path(base) / "vault"
        (folder / ".kglite").mkdir(parents=True)
        (folder / ".kglite/vaultgraph.yaml").write_text(OWN_RULES)
        apply(folder, ("rules", ".kglite/vault.yaml", RULES))
        for name, text in first.items():
            apply(folder, ("write", name, text))
        kept, made = Path(base) / "kept.kgl", Path(base) / "made.kgl"
        with vaultgraph.open(folder, cache=str(kept)) as vault:
            for step in steps:
                for edit in step:
                    apply(folder, edit)
                vault.refresh()
                with vaultgraph.open(folder, cache=None) as fresh:
                    assert answers(vault) == answers(fresh)
        with vaultgraph.open(folder, cache=str(made)) as fresh:
            expected = answers(fresh)
        assert kept.read_bytes() == made.read_bytes()
        with vaultgraph.open(folder, cache=str(kept)) as again:
            assert again.report.parsed == 0
            assert answers(again) == expected
