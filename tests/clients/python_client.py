"""Drives `afctl mcp` with the official Python SDK: tools, a whole task, resources with a subscription, progress, a cancelled wait, a prompt.

Usage: python_client.py stdio AFCTL SOCKET | http URL TOKEN
"""

import asyncio
import sys

import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ResourceUpdatedNotification, Implementation

ME = Implementation(name="python-sdk", version="1")


def text(result):
    return result.content[0].text


async def drive(server, **options):
    updated = asyncio.Event()

    async def on_message(message):
        if isinstance(message, ResourceUpdatedNotification):
            assert message.params.uri == "afd://screen", message
            updated.set()

    async with Client(server, message_handler=on_message, client_info=ME, **options) as client:
        print("protocol", client.protocol_version)
        tools = (await client.list_tools()).tools
        assert 10 <= len(tools) <= 16 and all(tool.name.startswith("af_") for tool in tools), [t.name for t in tools]

        # A whole task: turn the dark theme on.
        page = text(await client.call_tool("af_launch", {"package": "com.android.settings"}))
        assert 'page "Settings"' in page, page
        display = text(await client.call_tool("af_tap", {"value": "Display"}))
        assert 'page "Display"' in display, display
        dark = text(await client.call_tool("af_tap", {"value": "Dark theme"}))
        assert "Dark theme" in dark and "~" in dark, dark
        passed = await client.call_tool("af_verify", {"text": "Dark theme"})
        assert not passed.is_error, passed
        saved = await client.call_tool("af_note_save", {"topic": "nav/dark", "content": "Settings, Display", "app": "com.android.settings"})
        assert not saved.is_error, saved
        wrong = await client.call_tool("af_tap", {"value": "Zork"})
        assert wrong.is_error and "TARGET_NOT_FOUND" in text(wrong) and "hint:" in text(wrong), wrong
        picture = await client.call_tool("af_screenshot", {})
        assert picture.content[1].type == "image", picture

        uris = {str(resource.uri) for resource in (await client.list_resources()).resources}
        assert {"afd://screen", "afd://notes", "afd://session", "afd://sessions", "afd://artifacts"} <= uris, uris
        templates = {t.uri_template for t in (await client.list_resource_templates()).resource_templates}
        assert "afd://graph/{app}" in templates, templates
        screen = (await client.read_resource("afd://screen")).contents[0].text
        assert '\npage "Display"' in screen, screen
        notes = (await client.read_resource("afd://notes/com.android.settings")).contents[0].text
        assert "nav/dark" in notes and "Settings, Display" in notes, notes
        graph = (await client.read_resource("afd://graph/com.android.settings")).contents[0].text
        assert "Display" in graph, graph
        assert "mcp-python-sdk" in (await client.read_resource("afd://sessions")).contents[0].text
        try:
            await client.read_resource("afd://zork")
            raise SystemExit("an unknown resource was read")
        except MCPError as error:
            assert "afd://zork" in str(error), error

        # An observation updates the screen.
        if client.protocol_version < "2026":
            await client.subscribe_resource("afd://screen")
            await client.call_tool("af_back", {})
            await asyncio.wait_for(updated.wait(), 30)
            await client.unsubscribe_resource("afd://screen")
        else:
            async with client.listen(resource_subscriptions=["afd://screen"]) as changes:
                await client.call_tool("af_back", {})
                async for change in changes:
                    assert change.uri == "afd://screen", change
                    break

        steps = []

        async def on_progress(progress, total, message):
            steps.append((progress, total, message))

        wait = {"until": "text", "text": "never", "timeoutMs": 2500}
        ran_out = await client.call_tool("af_wait", wait, progress_callback=on_progress)
        assert ran_out.is_error and "TIMEOUT" in text(ran_out), ran_out
        assert steps and steps[0][1] == 2500 and "waiting" in steps[0][2], steps
        waiting = asyncio.create_task(client.call_tool("af_wait", {**wait, "timeoutMs": 600000}, progress_callback=on_progress))
        seen = len(steps)
        while len(steps) == seen:
            await asyncio.sleep(0.05)
        waiting.cancel()
        try:
            await waiting
            raise SystemExit("the wait was not cancelled")
        except asyncio.CancelledError:
            pass
        assert 'page "' in text(await client.call_tool("af_look", {}))

        prompts = {prompt.name for prompt in (await client.list_prompts()).prompts}
        assert prompts == {"test_app", "resume", "report"}, prompts
        prompt = await client.get_prompt("test_app", {"app": "com.android.settings"})
        assert "com.android.settings" in prompt.messages[0].content.text
        record = (await client.get_prompt("resume")).messages[1].content.resource
        assert str(record.uri) == "afd://session", record


async def main():
    match sys.argv[1:]:
        case ["stdio", afctl, socket]:
            server = StdioServerParameters(command=afctl, args=["mcp", "--socket", socket])
            await drive(server)
            await drive(server, mode="legacy")
        case ["http", url, token]:
            async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60) as http:
                await drive(streamable_http_client(url, http_client=http))
        case _:
            sys.exit(__doc__)
    print("done")


asyncio.run(asyncio.wait_for(main(), 120))
