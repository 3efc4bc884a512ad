# SPDX-License-Identifier: Apache-2.0
"""The official Python SDK as a driver; see driver.mjs for what goes in and comes out.

It runs inside the tests' own process: its import alone takes seconds."""

import os

import httpx2
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client


async def perform(client: Client, method: str, *args):
    if method == "tools/list":
        return await client.list_tools()
    if method == "tools/call":
        return await client.call_tool("search_kb", args[0])
    if method == "resources/list":
        return await client.list_resources()
    if method == "resources/templates/list":
        return await client.list_resource_templates()
    if method == "resources/read":
        return await client.read_resource(args[0])
    if method == "prompts/list":
        return await client.list_prompts()
    if method == "prompts/get":
        return await client.get_prompt(*args)
    raise ValueError(f"no step {method}")


async def attempt(client: Client, step: list):
    try:
        result = await perform(client, *step)
        return result.model_dump(mode="json", by_alias=True, exclude_none=True)
    except Exception as error:  # every failure of a client is a result for the test
        detail = getattr(error, "error", None)
        return {
            "raised": {
                "kind": type(error).__name__,
                "code": getattr(detail, "code", None),
                "message": str(error),
                "data": getattr(detail, "data", None),
            }
        }


async def converse(job: dict) -> dict:
    headers = {"Authorization": f"Bearer {job.get('token')}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        with open(os.devnull, "w") as nowhere:
            if job["transport"] == "http":
                transport = streamable_http_client(job["url"], http_client=http)
            else:
                command, *args = job["command"]
                transport = stdio_client(StdioServerParameters(command=command, args=args, env=job["env"]), nowhere)
            async with Client(transport, mode=job["mode"]) as client:
                results = [await attempt(client, step) for step in job["steps"]]
                info = client.server_info
                server = info.model_dump(mode="json", by_alias=True, exclude_none=True) if info else None
                return {"version": client.protocol_version, "server": server, "results": results}
