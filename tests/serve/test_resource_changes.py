"""Who subscribes while the server looks for changes, with a disk that is as slow as a test needs."""

from threading import Event
from types import SimpleNamespace

import anyio
import anyio.to_thread
import pytest
from mcp.server.subscriptions import InMemorySubscriptionBus
from mcp.shared.exceptions import MCPError
from mcp_types import SubscribeRequestParams

from vaultgraph.files.root import VaultRoot
from vaultgraph.serve.resource_changes import MOST_WATCHED, ResourceChanges
from vaultgraph.serve.session import Session
from vaultgraph.vault.vault import open_vault

HOME, OTHER = "vault://Home.md", "vault://Boats/Fulmar.md"


class SlowRoot(VaultRoot):
    """A folder where looking at `Home.md` says that it began, and lasts until it may end."""

    began: Event
    may_end: Event

    def stat(self, rel):
        if rel == "Home.md":
            self.began.set()
            self.may_end.wait(30)
        return super().stat(rel)


class Connection:
    def __init__(self):
        self.told = []

    async def send_resource_updated(self, uri):
        self.told.append(uri)


class Watching:
    """The changes of a folder, and one connection that subscribes to them."""

    def __init__(self, folder):
        self.root = SlowRoot.open(folder)
        self.root.began, self.root.may_end = Event(), Event()
        session = Session(self.root, lambda _: open_vault(folder, None, build=False), name="v")
        self.changes = ResourceChanges(session, InMemorySubscriptionBus())
        self.connection = Connection()

    async def subscribe(self, uri):
        context = SimpleNamespace(session=self.connection)
        await self.changes.subscribe(context, SubscribeRequestParams(uri=uri))

    async def while_home_is_looked_at(self, looking, meanwhile):
        """Run ``meanwhile`` in the midst of ``looking``."""
        self.root.began.clear()
        self.root.may_end.clear()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(looking)
            await anyio.to_thread.run_sync(self.root.began.wait, 30)
            await meanwhile()
            self.root.may_end.set()


def test_a_file_saved_right_after_a_subscription_that_came_during_a_look_is_told(sample):
    async def within():
        watching = Watching(sample)
        watching.root.may_end.set()
        await watching.subscribe(HOME)
        await watching.while_home_is_looked_at(watching.changes.look, lambda: watching.subscribe(OTHER))
        (sample / "Boats/Fulmar.md").write_text("saved")
        await watching.changes.look()
        await watching.changes.look()
        return watching.connection.told

    assert anyio.run(within) == [OTHER]


def test_subscriptions_that_come_at_the_same_time_do_not_pass_the_cap_together(sample):
    async def within():
        watching = Watching(sample)
        for number in range(MOST_WATCHED - 1):
            await watching.subscribe(f"none://{number}")
        refused = []

        async def last():
            with pytest.raises(MCPError) as error:
                await watching.subscribe(HOME)
            refused.append(error.value.message)

        await watching.while_home_is_looked_at(last, lambda: watching.subscribe(OTHER))
        return refused

    assert anyio.run(within) == ["At most 1,024 resources are watched."]
