"""Reading `ontology:` of vault.yaml: the classes a vault declares. Called by vault_yaml.py."""

from vaultgraph.profile.ontology import Ontology
from vaultgraph.profile.yaml_tree import Entry


def read_ontology(entry: Entry | None) -> Ontology | None:
    """The declarations below `ontology:`; None where it is absent.

    Raises:
        ProfileError: it is no mapping; ``data`` has file, line and key.
    """
    if entry is None:
        return None
    entry.mapping()
    return Ontology()
