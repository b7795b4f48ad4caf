"""Values declared with `frozen` behave as frozen, slotted dataclasses do."""

import pickle
from dataclasses import FrozenInstanceError, dataclass, field, replace

import pytest

from vaultgraph.frozen import frozen


@frozen
class Root:
    """Root of the values."""

    at: tuple[int, int] = field(default=(0, 0), compare=False, kw_only=True)


@frozen
class Leaf(Root):
    """A value with a default and a made one."""

    name: str
    rank: int = 1
    items: list[int] = field(default_factory=list)


@frozen
class Empty(Root):
    """A value without fields of its own."""


@dataclass(frozen=True, slots=True)
class Twin:
    """What the library makes."""

    name: str
    rank: int = 1
    items: list[int] = field(default_factory=list)
    at: tuple[int, int] = field(default=(0, 0), compare=False, kw_only=True)


def test_values_are_made_as_of_any_dataclass():
    leaf = Leaf("a", items=[2], at=(1, 2))
    assert (leaf.name, leaf.rank, leaf.items, leaf.at) == ("a", 1, [2], (1, 2))
    assert Leaf("a").items is not Leaf("a").items
    for wrong in ((), ("a", 1, [], (0, 0))):
        with pytest.raises(TypeError, match="__init__"):
            Leaf(*wrong)


def test_equality_and_hash_are_of_the_compared_fields_and_the_class():
    assert Leaf("a", at=(1, 2)) == Leaf("a") != Leaf("b")
    assert Leaf("a") != Twin("a")
    assert Empty(at=(3, 4)) == Empty() != Root()
    assert len({Empty(at=(1, 1)), Empty(at=(2, 2)), Root()}) == 2
    with pytest.raises(TypeError, match="unhashable"):
        hash(Leaf("a"))


def test_a_class_that_says_itself_how_its_values_compare_is_left_alone():
    class ByLength:
        def __eq__(self, other: object) -> bool:
            return len(str(self)) == len(str(other))

        def __hash__(self) -> int:
            return 7

    @frozen
    class Word(ByLength):
        text: str

        def __str__(self) -> str:
            return self.text

    assert Word("abc") == Word("xyz") != Word("a")
    assert hash(Word("abc")) == 7


def test_values_are_frozen_and_slotted():
    leaf = Leaf("a")
    for name in ("name", "other"):
        with pytest.raises(FrozenInstanceError):
            setattr(leaf, name, 1)
    with pytest.raises(FrozenInstanceError):
        del leaf.name
    assert not hasattr(leaf, "__dict__")


def test_a_field_that_is_not_given_is_refused_when_the_class_is_made():
    class Later:
        name: str
        made: int = field(init=False, default=1)

    with pytest.raises(TypeError, match=r"Later\.made: .* init=False"):
        frozen(Later)


def test_values_are_shown_replaced_matched_and_pickled():
    leaf = Leaf("a", 2)
    assert repr(leaf) == "Leaf(at=(0, 0), name='a', rank=2, items=[])"
    assert replace(leaf, rank=3) == Leaf("a", 3)
    assert pickle.loads(pickle.dumps(leaf)) == leaf
    match leaf:
        case Leaf(name, rank):
            assert (name, rank) == ("a", 2)
