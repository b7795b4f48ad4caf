"""What the tests of configuration share: loading a profile from texts, and the error of doing so."""

from collections.abc import Callable

import pytest

from vaultgraph.errors import ProfileError
from vaultgraph.profile.settings import Profile
from vaultgraph.profile.vault_yaml import OWN_FILE, VAULT_FILE, load_profile


@pytest.fixture
def load() -> Callable[..., Profile]:
    """Load a profile from the texts of the two files; ``vault`` follows `kglite_vault: 1` on line 1."""

    def run(vault: str | bytes | None = None, own: str | None = None, *, version: str = "kglite_vault: 1\n") -> Profile:
        data = vault if isinstance(vault, bytes) else None if vault is None else (version + vault).encode()
        files = {VAULT_FILE: data, OWN_FILE: own.encode() if own is not None else None}
        return load_profile(files.get)

    return run


@pytest.fixture
def refusal(load: Callable[..., Profile]) -> Callable[..., ProfileError]:
    """The error of loading."""

    def run(*args: object, **options: object) -> ProfileError:
        with pytest.raises(ProfileError) as caught:
            load(*args, **options)
        return caught.value

    return run


@pytest.fixture
def refused_words(refusal: Callable[..., ProfileError]) -> Callable[..., str]:
    """The whole message of refusing a vault.yaml that goes on after `kglite_vault: 1`, without the name of the file."""

    def run(vault: str) -> str:
        return refusal(vault).message.removeprefix(f"{VAULT_FILE}:")

    return run
