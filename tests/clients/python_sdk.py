"""A whole session with the Python MCP SDK's client, which nobody here wrote.

    python_sdk.py --mode auto|legacy PAGE OFF_LIST -- COMMAND ARGUMENTS...

PAGE is an address of tests/pages/note.html on a listed site, OFF_LIST an address of a site that is not listed.
Prints each step; ends with 0 when all went as it must.
"""

import argparse
import asyncio
import json
import os
import re
import sys

from mcp import Client, StdioServerParameters

NEEDED = {"status", "list_tabs", "open_tab", "observe", "fill", "click", "close_tab"}


def step(text):
    print(text, flush=True)


def body(result):
    """The structured reply: {"server": ..., "page_content": ...}, or a refusal."""
    if result.structured_content is not None:
        return result.structured_content
    return json.loads(next(part.text for part in result.content if part.type == "text"))


def mark(page, name):
    """The mark before a role and a name in what observe says of the page: `[3] button "Keep note"`."""
    for line in page["text"]:
        found = re.search(rf'\[(\d+)\] [a-z]+ "{re.escape(name)}"', line)
        if found:
            return int(found[1])
    raise AssertionError(f"no mark for {name!r} in {page}")


async def session(arguments):
    command, *rest = arguments.command
    server = StdioServerParameters(command=command, args=rest, env=dict(os.environ))
    async with Client(server, mode=arguments.mode, read_timeout_seconds=60) as client:
        step(f"connected: {client.server_info.name} {client.server_info.version}, protocol {client.protocol_version}")

        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        step(f"{len(tools)} tools: {' '.join(sorted(tools))}")
        assert NEEDED <= tools.keys(), NEEDED - tools.keys()

        async def call(tool, **given):
            result = await client.call_tool(tool, given)
            assert not result.is_error, (tool, body(result))
            return body(result)

        await call("status")
        tab = (await call("open_tab", url=arguments.page))["server"]["tab"]
        step(f"opened {tab}")

        result = await client.call_tool("observe", {"tab": tab})
        seen = body(result)
        kinds = [part.type for part in result.content]
        assert "image" in kinds, kinds
        step(f"observed {seen['server']['snapshot_id']}: {kinds}")

        await call(
            "fill",
            snapshot_id=seen["server"]["snapshot_id"],
            mark=mark(seen["page_content"], "Your note"),
            text="Buy oat milk",
        )
        step("filled")

        seen = await call("observe", tab=tab)
        done = await call(
            "click",
            snapshot_id=seen["server"]["snapshot_id"],
            mark=mark(seen["page_content"], "Keep note"),
        )
        assert done["server"]["outcome"] == "done", done
        step(f"clicked: {json.dumps(done['server'])}")

        refused = await client.call_tool("open_tab", {"url": arguments.off_list})
        why = body(refused)
        assert refused.is_error and why["code"] == "S301" and why["effect"] == "none", why
        step(f"refused: {why['code']} {why['message']}")

        await call("close_tab", tab=tab)
    step("session over")


parser = argparse.ArgumentParser()
parser.add_argument("--mode", choices=["auto", "legacy"], required=True)
parser.add_argument("page")
parser.add_argument("off_list")
parser.add_argument("command", nargs="+")
asyncio.run(session(parser.parse_args()))
sys.exit(0)
