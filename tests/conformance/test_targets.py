"""Links lead to the files a running Obsidian recorded: which file, from which note, how often, and to no other one."""

from collections import Counter

KINDS = ("links", "embeds", "frontmatterLinks")


def recorded_links(dump):
    """(target, anchor) of every link whose answer was recorded, repeats kept; and the links without an answer."""
    answers = dump["resolveLinkToPath"]
    texts = [entry["link"] for kind in KINDS for entry in dump["cachedMetadata"].get(kind, [])]
    known = [(answers[text], text.partition("#")[2] or None) for text in texts if answers.get(text)]
    return known, [text for text in texts if text not in answers]


def test_every_link_leads_to_the_file_and_anchor_obsidian_recorded(recorded_vault):
    checked = 0
    for path, dump in recorded_vault.dumps.items():
        known, unanswered = recorded_links(dump)
        found = Counter()
        for source, target, anchor, is_file, count in recorded_vault.links:
            if source == path and target.rpartition("/")[2] not in unanswered:
                found[target, anchor] += known.count((target, anchor)) if is_file else count
        assert found == Counter(known), path
        checked += len(known)
    assert checked > 50


def test_pairs_of_source_and_target_are_all_of_obsidians_and_no_others(recorded_vault):
    expected, found = set(), set()
    for path, dump in recorded_vault.dumps.items():
        known, unanswered = recorded_links(dump)
        expected |= {(path, target) for target, _ in known}
        targets = {target for source, target, *_ in recorded_vault.links if source == path}
        found |= {(path, target) for target in targets if target.rpartition("/")[2] not in unanswered}
    both = expected & found
    assert (len(both) / len(found), len(both) / len(expected)) == (1.0, 1.0)
