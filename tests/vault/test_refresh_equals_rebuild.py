"""Whatever is edited in whatever order, a refreshed vault is the vault as if it were read for the first time.

With nearly every rule of the configuration on: parts of notes, tasks, inline fields, hubs, tags, defaults, an ontology.
The edits are those of benchmarks/refresh_fuzz; the cache file of a refreshed vault is compared too, byte for byte.
"""

import random
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import vaultgraph

EDITS = (
    "write_note",
    "touch_up",
    "write_other",
    "restore",
    "rename",
    "change_case",
    "remove",
    "rename_folder",
    "remove_folder",
    "take_the_place",
    "link",
    "pipe",
    "rules",
    "misplace",
    "skill",
    "recipe",
)


@settings(
    max_examples=3,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.large_base_example],
    derandomize=True,
)
@given(chance=st.randoms(use_true_random=False))
def test_any_edits_give_what_a_first_reading_gives(refresh_fuzz: ModuleType, chance: random.Random) -> None:
    assert refresh_fuzz.check(chance, follow=False) == []


def test_any_edits_are_followed_by_events(refresh_fuzz: ModuleType) -> None:
    assert refresh_fuzz.check(random.Random(11), follow=True) == []


@pytest.mark.parametrize("way", EDITS)
def test_each_kind_of_edit_gives_what_a_first_reading_gives(refresh_fuzz: ModuleType, folder: Path, way: str) -> None:
    chance = random.Random(way)
    (folder / ".kglite").mkdir()
    (folder / ".kglite/vault.yaml").write_text(refresh_fuzz.RULES)
    for name in (*refresh_fuzz.NOTES, *refresh_fuzz.OTHERS):
        refresh_fuzz.write(folder / name, refresh_fuzz.some_text(chance))
    assert list(refresh_fuzz.WAYS) == list(EDITS)
    with vaultgraph.open(folder, cache=None) as vault:
        for _ in range(3):
            refresh_fuzz.edit(folder, chance, way)
        assert refresh_fuzz.compare(folder, vault, None) == []
