# SPDX-License-Identifier: Apache-2.0
"""Runs one real MCP client over one transport and returns what it saw of each step."""

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import anyio

import service as kb

HERE = Path(__file__).resolve().parent
BUILT = kb.TOP / "build" / "tests"
NODE = os.environ.get("KB_NODE", str(BUILT / "node"))
INSPECTOR = BUILT / "clients" / "node_modules" / "@modelcontextprotocol" / "inspector" / "clients" / "launcher" / "build" / "index.js"


@dataclass(frozen=True)
class Client:
    name: str
    driver: str
    transport: str
    mode: str  # legacy, auto or a pinned revision
    version: str  # the revision it has to end up with

    def __str__(self):
        return f"{self.name}-{self.transport}-{self.mode}"


def _clients():
    for transport in ("http", "stdio"):
        yield Client("sdk-v1", "sdk_v1.mjs", transport, "legacy", kb.LEGACY)
        yield Client("sdk-v2", "sdk_v2.mjs", transport, "legacy", kb.LEGACY)
        yield Client("sdk-v2", "sdk_v2.mjs", transport, "auto", kb.MODERN)
        yield Client("sdk-v2", "sdk_v2.mjs", transport, kb.MODERN, kb.MODERN)
        yield Client("sdk-python", "sdk_python", transport, "legacy", kb.LEGACY)
        yield Client("sdk-python", "sdk_python", transport, "auto", kb.MODERN)
        yield Client("sdk-python", "sdk_python", transport, kb.MODERN, kb.MODERN)


SDKS = list(_clients())


def _environment(home: Path, **more) -> dict:
    home.mkdir(parents=True, exist_ok=True)
    keep = {k: os.environ[k] for k in ("PATH", "LANG", "NODE_EXTRA_CA_CERTS") if k in os.environ}
    return keep | {"HOME": str(home)} | more


def stdio_command(service: kb.Service) -> list:
    return [kb.KBGATE, "stdio", "--config", str(service.config)]


def run(client: Client, service: kb.Service, token: str, steps: list, home: Path) -> dict:
    """{"version", "server", "results"}: one result a step, {"raised": …} where the client raised."""
    job = {"transport": client.transport, "mode": client.mode, "steps": steps}
    if client.transport == "http":
        job |= {"url": service.url, "token": token}
    else:
        job |= {"command": stdio_command(service), "env": {"KBGATE_TOKEN": token}}
    if client.driver == "sdk_python":
        from clients import sdk_python

        return anyio.run(sdk_python.converse, job)
    for file in (HERE / "clients").glob("*.mjs"):  # beside the packages they import
        target = BUILT / "clients" / file.name
        if not target.exists() or target.read_bytes() != file.read_bytes():
            shutil.copyfile(file, target)
    command = [NODE, str(BUILT / "clients" / client.driver)]
    done = subprocess.run(
        command, input=json.dumps(job), capture_output=True, text=True, timeout=100, env=_environment(home)
    )
    assert done.returncode == 0, f"{client}: exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return json.loads(done.stdout)


def inspect(service: kb.Service, token: str, transport: str, era: str, method: str, home: Path, *args) -> tuple:
    """(exit code, result) of one Inspector CLI call."""
    environment = _environment(home)
    command = [NODE, str(INSPECTOR), "--cli"]
    if transport == "http":
        command += [service.url, "--transport", "http", "--header", f"Authorization: Bearer {token}"]
    else:  # in a file: on the command line our --config would be taken for the Inspector's
        program, *arguments = stdio_command(service)
        entry = {"type": "stdio", "command": program, "args": arguments, "env": {"KBGATE_TOKEN": token}}
        (home / "mcp.json").write_text(json.dumps({"mcpServers": {"kb": entry}}))
        command += ["--config", str(home / "mcp.json"), "--server", "kb"]
    command += ["--protocol-era", era, "--format", "json", "-q", "--stored-auth-only", "--method", method, *args]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, env=environment)
    try:
        return done.returncode, json.loads(done.stdout)["result"]
    except (ValueError, KeyError):
        raise AssertionError(f"Inspector: exit {done.returncode}\n{done.stdout}\n{done.stderr}") from None
