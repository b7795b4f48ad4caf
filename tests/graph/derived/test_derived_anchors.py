"""Anchors of random notes, against a resolver that tries one section after the other."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vaultgraph.note.records import PieceKind
from vaultgraph.profile.settings import Profile, Reading, Sections, Structure

TITLES = st.sampled_from(["a", "b", "A!", "c d", "C-D", "Ä"])
HEADINGS = st.lists(st.tuples(st.integers(1, 6), TITLES), max_size=12)
ANCHORS = st.lists(st.lists(TITLES, min_size=1, max_size=4), min_size=1, max_size=12, unique_by=tuple)
PROFILE = Profile(reading=Reading(Structure(sections=Sections())))


def key(title: str) -> str:
    return title.casefold().replace("!", "").replace("-", "").replace(" ", "")


def paths(headings: list[tuple[int, str]]) -> list[list[str]]:
    """The keys of each heading and of those around it."""
    found: list[list[tuple[int, str]]] = []
    for level, title in headings:
        around = [entry for entry in (found[-1] if found else []) if entry[0] < level]
        found.append([*around, (level, key(title))])
    return [[name for _, name in path] for path in found]


def reaches(path: list[str], anchor: list[str]) -> bool:
    """Whether the last key is the section's and the others stand around it, in order."""
    rest = iter(path[:-1])
    return path[-1] == anchor[-1] and all(name in rest for name in anchor[:-1])


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(headings=HEADINGS, anchors=ANCHORS)
def test_an_anchor_means_the_first_section_that_its_headings_lead_to(derive, of, headings, anchors):
    known = paths(headings)
    sections = [
        of(PieceKind.SECTION, f"#{at}", level=level, title=title, line=at + 1)
        for at, (level, title) in enumerate(headings)
    ]
    links = [f"[[B#{'#'.join(anchor)}]]" for anchor in anchors]
    found = derive({"a.md": {"links": links}, "B.md": {"pieces": sections}}, PROFILE)
    expected: list[tuple[str, str, str]] = []
    for anchor in anchors:
        at = next((at for at, path in enumerate(known) if reaches(path, [key(part) for part in anchor])), None)
        expected.append(("a.md", "B.md" if at is None else f"Section:B#{at}", "#".join(anchor)))
    assert found.relationships("LINKS_TO", "anchor") == sorted(expected, key=repr)
