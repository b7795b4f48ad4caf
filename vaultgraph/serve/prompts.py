"""Skills as prompts of the protocol: the list, and one by name. The same texts as the `skill` tool, labelled alike.

Registered by the transport; a skill takes no arguments, so neither does its prompt.
"""

import anyio.to_thread
import mcp_types as types
from mcp.shared.exceptions import MCPError

from vaultgraph.errors import ParameterError
from vaultgraph.serve.cells import error_text
from vaultgraph.serve.guidance import Guides, guides_of
from vaultgraph.serve.guidance_skills import described, find_skill, skill_text
from vaultgraph.serve.session import Session
from vaultgraph.serve.surface import static_operations


async def list_prompts(session: Session) -> types.ListPromptsResult:
    """Every skill offered now, as a prompt."""
    guides = await anyio.to_thread.run_sync(_guides, session)
    prompts = [
        types.Prompt(
            name=served.name,
            description=f"Of the vault: {described(served)}" if served.source == "vault" else described(served),
        )
        for served in guides.skills.values()
    ]
    return types.ListPromptsResult(prompts=prompts)


async def get_prompt(session: Session, params: types.GetPromptRequestParams) -> types.GetPromptResult:
    """The text of one skill.

    Raises:
        MCPError: there is none of that name.
    """
    guides = await anyio.to_thread.run_sync(_guides, session)
    try:
        served = find_skill(guides, params.name)
    except ParameterError as error:
        raise MCPError(types.INVALID_PARAMS, error_text(error)) from None
    content = types.TextContent(text=skill_text(session, served))
    return types.GetPromptResult(
        description=described(served), messages=[types.PromptMessage(role="user", content=content)]
    )


def _guides(session: Session) -> Guides:
    return guides_of(session, static_operations(session))
