# SPDX-License-Identifier: Apache-2.0
"""The host of Redis has a name, and the name server is silent: nothing waits for it, neither a call nor an end."""

import os
import subprocess
import time

import pytest

import service as kb
from redis_server import preloading, shim
from replicas import redis_config

pytestmark = pytest.mark.redis

AT_ONCE_S = 10  # the silence lasts for ever


@pytest.fixture
def service(own_server, tmp_path):
    key = tmp_path / "cache.key"
    key.write_bytes(bytes(32))
    config = redis_config("redis://silent.example:6379", key, allow_plaintext=True, connect_ms=300, command_ms=100)
    return own_server(start=False, config=config)


@pytest.fixture
def silence():
    return preloading(shim("names_shim"))


def test_serving_goes_on_and_ends(service, silence):
    service.start(env=silence)
    token = service.mint()
    for _ in range(3):
        assert service.search(token, "parental leave")["results"]
    ready = service.request("GET", "/readyz?verbose", admin=True)
    assert ready.status == 200 and b"silent.example" in ready.body
    began = time.monotonic()
    assert service.stop() == 0
    assert time.monotonic() - began < AT_ONCE_S


def test_commands_end(service, silence):
    environment = os.environ | silence | {"KBGATE_TOKEN": service.mint()}
    began = time.monotonic()
    found = kb.run("search", "--config", service.config, "--json", "parental leave", env=environment)
    assert '"results":[{' in found.stdout
    assert time.monotonic() - began < AT_ONCE_S
    began = time.monotonic()
    stdio = subprocess.run(
        [kb.KBGATE, "stdio", "--config", str(service.config)], capture_output=True, text=True, timeout=AT_ONCE_S,
        input='{"jsonrpc":"2.0","id":1,"method":"ping"}\n', env=environment)
    assert stdio.returncode == 0 and '"id":1' in stdio.stdout, stdio.stderr
    assert time.monotonic() - began < AT_ONCE_S
