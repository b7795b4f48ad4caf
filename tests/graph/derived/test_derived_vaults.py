"""Whole notes with every rule of `structure:` on: the graph, refreshes, changes of the profile, and the cache."""

from collections.abc import Mapping

import pytest

import vaultgraph
from vaultgraph import Vault

RULES = """kglite_vault: 1
types:
  Parameter: {size: int}
  WORKED_AT: {since: int}
structure:
  sections: {}
  chunks: {max_words: 8}
  callouts: {}
  code_fences: {}
  ordered_lists: {}
  tables:
    - {under_heading: '^Parameters$', label: Parameter, key_column: name}
    - {under_heading: '^Worked at$', edge: WORKED_AT, edges: true}
  key_from_heading: {under_label: Api}
  inherit: [corpus]
  embed_text: "{title} | {heading_path} | {text}"
"""
OWN_RULES = "inline_fields: true\ntasks: {}\n"
API = """---
type: Api
corpus: 3
---
Opening words.

# Top

First paragraph. ^p1

> [!TIP] Mind
> the gap

```py
x = 1
```

1. one
   1. inner
2. two

- [x] done #now ^t1
- [ ] open

met:: [[Other]]

## Parameters

| name | size |
|---|---|
| a | 3 |
| b | 4x |

## Worked at

| who | since |
|---|---|
| [[Other]] | 2020 |
| Nobody | 2021 |

## mod.func(a)

Text.
"""
OTHER = "# Here\n\n[[Api#Top]] [[Api#^p1]] [[Api#Top#Parameters]] ![[Api#mod.func(a)]] [[#Here]]\n"
FILES = {
    ".kglite/vault.yaml": RULES,
    ".kglite/vaultgraph.yaml": OWN_RULES,
    "Api.md": API,
    "Other.md": OTHER,
    "plain.md": "text\n",
}


EDITS: Mapping[str, Mapping[str, str | None]] = {
    "a chunk grows": {"Api.md": API.replace("Opening words.", "Opening words, and many more than there were before.")},
    "a section goes": {"Api.md": API.replace("## Parameters", "**Parameters**")},
    "a heading comes before": {"Api.md": API.replace("# Top", "# Before\n\ntext\n\n# Top", 1)},
    "a row goes": {"Api.md": API.replace("| Nobody | 2021 |\n", "")},
    "a note comes first": {"A.md": "# One\n\n[[Api#Top]]\n\n- [ ] task\n"},
    "a note goes": {"Api.md": None},
    "a note is skipped": {"Api.md": API.replace("type: Api", "kg_skip: true")},
    "another label": {"Api.md": API.replace("type: Api", "type: Guide")},
    "what is inherited": {"Api.md": API.replace("corpus: 3", "corpus: [a, b]")},
}


def answers(vault: Vault) -> tuple[list[str], list[str], list[str]]:
    """Nodes, relationships and problems of a vault, without what depends on the machine."""
    nodes = vault.query("MATCH (n) RETURN labels(n), properties(n)").rows
    ends = vault.query("MATCH (a)-[r]->(b) RETURN a.id, type(r), properties(r), b.id").rows
    known = [(labels, {key: value for key, value in cells.items() if key != "mtime"}) for labels, cells in nodes]
    return sorted(map(repr, known)), sorted(map(repr, ends)), list(map(repr, vault.current().problems.rows()))


@pytest.fixture
def files(write):
    return write(FILES)


def test_every_rule_makes_its_nodes_and_relationships(files):
    with vaultgraph.open(files, cache=None) as vault:
        counts = dict(vault.query("MATCH (n) UNWIND labels(n) AS label RETURN label, count(*)").rows)
        types = dict(vault.query("MATCH ()-[r]->() RETURN type(r), count(*)").rows)
        unused = [row for row in vault.current().problems.rows() if row[2:4] == ("unused-rule", "warning")]
    assert {label: counts[label] for label in ("Section", "ApiSymbol", "Callout", "Example", "Procedure")} == {
        "Section": 4,
        "ApiSymbol": 1,
        "Callout": 1,
        "Example": 1,
        "Procedure": 1,
    }
    assert (counts["ProcedureStep"], counts["Parameter"], counts["Task"], counts["Concept"]) == (3, 2, 2, 1)
    assert {name: types[name] for name in ("HAS_SECTION", "PARENT_SECTION", "NEXT_SECTION", "HAS_STEP", "MET")} == {
        "HAS_SECTION": 5,
        "PARENT_SECTION": 3,
        "NEXT_SECTION": 2,
        "HAS_STEP": 3,
        "MET": 1,
    }
    assert (types["HAS_PARAMETER"], types["WORKED_AT"], types["HAS_TASK"], types["NEXT_STEP"]) == (2, 2, 2, 1)
    assert types["HAS_CHUNK"] == counts["Chunk"]
    assert unused == []


def test_rows_tasks_and_symbols_answer_queries(files):
    with vaultgraph.open(files, cache=None) as vault:
        ask = "MATCH (a:Api)-[r:WORKED_AT]->(b) WHERE r.since < 2021 RETURN b.title, r.since, r.row, r.section"
        assert vault.query(ask).rows == [("Here", 2020, 1, "Worked at")]
        ask = "MATCH (s:Section)-[:HAS_PARAMETER]->(p) RETURN s.title, p.id, p.size, p.corpus ORDER BY p.id"
        assert vault.query(ask).rows == [
            ("Parameters", "Api#Top#Parameters~a", 3, 3),
            ("Parameters", "Api#Top#Parameters~b", "4x", 3),
        ]
        ask = "MATCH (t:Task) RETURN t.title, t.done, t.block_id ORDER BY t.line"
        assert vault.query(ask).rows == [("done #now", True, "t1"), ("open", False, None)]
        ask = "MATCH (n:ApiSymbol) RETURN n.qualified_name, n.signature, n.path, n.embed_text"
        assert vault.query(ask).rows == [("mod.func", "(a)", ["Top", "mod.func(a)"], "Top | Top > mod.func(a) | Text.")]


def test_anchors_lead_to_parts_of_notes(files):
    with vaultgraph.open(files, cache=None) as vault:
        ask = "MATCH (:Note {path: 'Other.md'})-[r]->(b) WHERE r.anchor IS NOT NULL RETURN type(r), b.id ORDER BY b.id"
        assert vault.query(ask).rows == [
            ("LINKS_TO", "Api#Top"),
            ("LINKS_TO", "Api#Top#Parameters"),
            ("EMBEDS", "Api#Top#mod.func(a)"),
            ("LINKS_TO", "Api#^p1"),
            ("LINKS_TO", "Other#Here"),
        ]


@pytest.mark.parametrize("edit", EDITS)
def test_a_refresh_gives_the_graph_of_a_rebuild(files, write, edit):
    with vaultgraph.open(files, cache=None) as vault:
        for path, text in EDITS[edit].items():
            if text is None:
                (files / path).unlink()
            else:
                write({path: text})
        before = answers(vault)
        report = vault.refresh()
        assert report.parsed <= 1
        with vaultgraph.open(files, cache=None) as fresh:
            assert answers(vault) == answers(fresh) != before


def test_another_profile_reads_all_notes_again(files, write):
    with vaultgraph.open(files, cache=None) as vault:
        write({".kglite/vault.yaml": "kglite_vault: 1\nstructure:\n  callouts: {label: Box, edge: HAS_BOX}\n"})
        write({".kglite/vaultgraph.yaml": "{}\n"})
        assert vault.refresh().parsed == 3
        assert vault.query("MATCH (n)-[:HAS_BOX]->(b:Box) RETURN n.path, b.title, b.section_id").rows == [
            ("Api.md", "Mind", None)
        ]
        (files / ".kglite/vault.yaml").unlink()
        assert vault.refresh().parsed == 3
        assert vault.query("MATCH (n) WHERE n.note_id IS NOT NULL RETURN count(*)").rows == [(0,)]
        assert vault.query(
            "MATCH (:Note {path: 'Other.md'})-[r:LINKS_TO]->(b) RETURN DISTINCT b.path ORDER BY b.path"
        ).rows == [
            ("Api.md",),
            ("Other.md",),
        ]


def test_the_cache_gives_the_same_graph_and_the_same_bytes_on_every_machine(files, tmp_path):
    places = [tmp_path / "one.kgl", tmp_path / "two.kgl"]
    for place in places:
        with vaultgraph.open(files, cache=str(place)) as vault:
            built = answers(vault)
    assert places[0].read_bytes() == places[1].read_bytes()
    with vaultgraph.open(files, cache=str(places[0])) as vault:
        assert vault.report.parsed == 0
        assert answers(vault) == built
