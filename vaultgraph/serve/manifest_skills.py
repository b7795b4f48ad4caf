"""Reading `skills:` of a manifest: false, true, a folder, or a list of true, folders and skills.

Only what is stated: which files lie in a folder, and what they say, is for whoever serves skills.
"""

from pathlib import Path
from typing import Final, Literal, cast

from vaultgraph.profile.guidance import Skill, read_description, read_predicates, read_skill_name
from vaultgraph.profile.yaml_tree import Entry
from vaultgraph.serve.manifest import SkillSources
from vaultgraph.serve.manifest_reading import Reading

SKILL_KEYS: Final = ("name", "description", "body", "references_tools", "applies_when", "delivery")
ACCEPTED: Final = "true, false, a folder, or a list of true, folders and skills (mappings)"


def read_skills(reading: Reading, entry: Entry | None, manifest: Path) -> SkillSources | None:
    """`skills:`, with the folder `<manifest>.skills` where there is one; None where nothing is stated.

    Raises:
        ProfileError: another shape, a folder that is not there, a skill without name, description or body.
    """
    beside = manifest.with_name(f"{manifest.stem}.skills")
    own = (beside,) if beside.is_dir() and not beside.is_symlink() else ()
    if entry is None:
        return SkillSources(is_on=True, folders=own) if own else None
    if entry.is_boolean:
        return SkillSources(is_on=True, folders=own) if entry.boolean() else SkillSources(is_on=False)
    if entry.is_string:
        return SkillSources(is_on=True, has_bundled=False, folders=(reading.folder_at(entry), *own))
    if entry.is_mapping:
        entry.refuse(f"must be {ACCEPTED}.")
    folders: list[Path] = []
    inline: dict[str, Skill] = {}
    has_bundled = False
    for item in entry.items("true, folders and skills"):
        if item.is_boolean:
            if not item.boolean():
                item.refuse("must be true, a folder or a skill; to have no skills write `skills: false`.")
            has_bundled = True
        elif item.is_mapping:
            skill = _inline(item)
            if skill.name in inline:
                item.refuse(f"is named `{skill.name}`, like another one. Names are unique.")
            inline[skill.name] = skill
        else:
            folders.append(reading.folder_at(item))
    return SkillSources(is_on=True, has_bundled=has_bundled, folders=(*folders, *own), inline=tuple(inline.values()))


def _inline(entry: Entry) -> Skill:
    stated = entry.stated(SKILL_KEYS)
    for key in ("name", "description", "body"):
        if key not in stated:
            entry.refuse(f"needs `{key}:`. Accepted here: {', '.join(SKILL_KEYS)}.")
    delivery = stated["delivery"].choice(("eager", "lazy")) if "delivery" in stated else "lazy"
    return Skill(
        path=entry.file,
        name=read_skill_name(stated["name"]),
        description=read_description(stated["description"]),
        references_tools=stated["references_tools"].texts() if "references_tools" in stated else (),
        applies_when=read_predicates(stated.get("applies_when")),
        delivery=cast("Literal['eager', 'lazy']", delivery),
        text=stated["body"].string(),
    )
