"""Names of any script in queries: labels, keys and values in patterns."""

import pytest

import vaultgraph


@pytest.mark.parametrize("pattern", ["(n:`観察` {`属性`: '値'})", "(n:観察 {属性: '値'})", "(n:`🗂️ hub`)", "(n:Ünder)"])
def test_labels_and_keys_of_any_script_stand_in_patterns(write, pattern):
    folder = write(
        {
            "観察/a.md": "---\n属性: 値\n---\n",
            "🗂️ hub/b.md": "",
            "Ünder/c.md": "",
            "観察/d.md": "",
        }
    )
    with vaultgraph.open(folder, cache=None) as vault:
        assert len(vault.query(f"MATCH {pattern} RETURN n.path").rows) == 1
