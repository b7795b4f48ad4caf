"""`valid_time:` in vaultgraph.yaml: its shapes, and what is refused with file, line and key."""

import pytest

from vaultgraph.errors import ProfileError
from vaultgraph.profile.settings import Interval, ValidTime
from vaultgraph.profile.vault_yaml import load_profile


def read(text: str) -> ValidTime:
    return load_profile({".kglite/vaultgraph.yaml": text.encode()}.get).valid_time


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ValidTime()),
        ("valid_time:", ValidTime()),
        ("valid_time: {labels: [Job]}", ValidTime(labels={"Job": Interval("valid_from", "valid_to")})),
        ("valid_time: {labels: {Job: }}", ValidTime(labels={"Job": Interval()})),
        ("valid_time: {types: {KNOWS: {from: since}}}", ValidTime(types={"KNOWS": Interval("since", "valid_to")})),
        ("valid_time: {types: {A: {from: x, to: y}}}", ValidTime(types={"A": Interval("x", "y")})),
    ],
)
def test_labels_and_types_with_the_properties_of_both_ends(text, expected):
    assert read(text) == expected
    assert bool(read(text)) is bool(expected.labels or expected.types)


@pytest.mark.parametrize(
    "text",
    [
        "valid_time: true",
        "valid_time: {}",
        "valid_time: {label: [Job]}",
        "valid_time: {labels: Job}",
        "valid_time: {labels: [1]}",
        "valid_time: {labels: {Job: {since: x}}}",
        "valid_time: {labels: {Job: {from: x, to: x}}}",
        "valid_time: {labels: {Job: valid_from}}",
    ],
)
def test_anything_else_is_refused_with_file_and_line(text):
    with pytest.raises(ProfileError) as caught:
        read(text)
    assert caught.value.data["file"] == ".kglite/vaultgraph.yaml"
    assert caught.value.data["line"] == 1


def test_it_is_a_key_of_vaultgraph_yaml_only():
    with pytest.raises(ProfileError, match=r"Move it there"):
        load_profile({".kglite/vault.yaml": b"kglite_vault: 1\nvalid_time: {labels: [Job]}\n"}.get)
