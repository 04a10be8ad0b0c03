"""What the official Python client sees of a server, as a line of JSON: `client.py URL ERA [apps]`."""

import asyncio
import json
import sys

from mcp import Client
from mcp.client import advertise
from mcp.shared.exceptions import MCPError

UI = "io.modelcontextprotocol/ui"
# A modern client asks `server/discover` first; this one does so where it may fall back.
MODES = {"legacy": "legacy", "modern": "auto"}


async def see(url, era, apps):
    extensions = [advertise(UI, {"mimeTypes": ["text/html;profile=mcp-app"]})] if apps else []
    async with Client(url, mode=MODES[era], extensions=extensions, read_timeout_seconds=20) as client:
        tools = (await client.list_tools()).tools
        seen = {
            "version": client.protocol_version,
            "extensions": client.server_capabilities.extensions or {},
            "tools": {tool.name: (tool.meta or {}).get("ui") for tool in tools},
            "calls": {},
        }
        for name in {*seen["tools"], "account_overview"}:
            try:
                result = await client.call_tool(name, {})
                seen["calls"][name] = result.content[0].text
            except MCPError as error:
                seen["calls"][name] = error.error.code
        if apps:
            resources = (await client.list_resources()).resources
            seen["resources"] = [[str(resource.uri), resource.mime_type] for resource in resources]
            page = (await client.read_resource(seen["resources"][0][0])).contents[0]
            seen["page"] = {"mimeType": page.mime_type, "meta": page.meta, "length": len(page.text)}
        return seen


url, era, *rest = sys.argv[1:]
print(json.dumps(asyncio.run(see(url, era, "apps" in rest))))
