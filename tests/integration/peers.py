# SPDX-License-Identifier: Apache-2.0
"""Whom kbgate speaks to: runs it under tests/fakes/connect_log.c and reads what that wrote down."""

import ipaddress
import os
from dataclasses import dataclass
from pathlib import Path

import pytest

import service as kb

SHIM = Path(os.environ.get("CONNECT_LOG_SHIM", Path(kb.KBGATE).resolve().parent / "tests" / "connect_log.so"))


@dataclass(frozen=True)
class Peer:
    program: str
    what: str  # connect, send or resolve
    whom: str

    def is_loopback(self) -> bool:
        host = self.whom if self.what == "resolve" else self.whom.rpartition(":")[0]
        try:
            return ipaddress.ip_address(host.strip("[]")).is_loopback
        except ValueError:
            return self.what == "resolve" and host == "localhost"


def environment(log: Path) -> dict:
    """What a program has to be started with."""
    # A sanitizer's runtime wants to be the first library; the shim calls nothing of it.
    options = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
    return {"LD_PRELOAD": str(SHIM), "CONNECT_LOG": str(log), "ASAN_OPTIONS": options.lstrip(":")}


def read(log: Path, program="kbgate") -> list:
    """The peers of every process of that name, in order; at least one must have started."""
    lines = [line.split(" ", 3) for line in log.read_text().splitlines() if line.startswith(program + " ")]
    assert any(what == "start" for _, _, what, _ in lines), f"no {program} ran under {SHIM}"
    return [Peer(name, what, whom) for name, _, what, whom in lines if what != "start"]


@pytest.fixture(scope="session", autouse=True)
def whole_run(clean_environment, tmp_path_factory):
    """Every kbgate of the run that is not watched by a test of its own: nobody beyond this machine."""
    if not SHIM.exists():  # a build without tests; test_peers.py fails then
        yield
        return
    log = tmp_path_factory.mktemp("peers") / "whole-run"
    before = dict(os.environ)
    os.environ.update(environment(log))
    yield
    for name in environment(log):
        os.environ.pop(name)
        if name in before:
            os.environ[name] = before[name]
    if log.exists() and "kbgate " in log.read_text():
        ours = f"unix:{tmp_path_factory.getbasetemp()}/"  # sockets of servers that a test started
        strangers = [peer for peer in read(log) if not peer.is_loopback() and not peer.whom.startswith(ours)]
        assert strangers == [], strangers
