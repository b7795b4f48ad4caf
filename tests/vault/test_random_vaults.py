"""A vault of random bytes, YAML and Markdown under random names opens, and every note is a node."""

from pathlib import Path
from types import ModuleType

import pytest


@pytest.mark.parametrize("seed", [101, 102])
def test_every_note_of_a_random_vault_is_a_node(folder: Path, reading_fuzz: ModuleType, seed: int) -> None:
    notes = reading_fuzz.random_notes(seed, 100)
    assert len(notes) == 100
    assert reading_fuzz.missing_notes(notes, folder) == set()
