# SPDX-License-Identifier: Apache-2.0
"""Valgrind watches a replica while Redis goes away in each way it can: no byte is read that nobody wrote, none after it
was freed, and at the end none is lost."""

import os
import shutil
import time

import pytest

import service as kb
from redis_server import shim
from test_redis_faults import FAULTS, is_away
from test_shared_budget import Asker

pytestmark = [pytest.mark.redis, pytest.mark.timeout(400)]

# Valgrind is some thirty times slower than the machine.
SLOW = {"connect_ms": 2000, "command_ms": 1000}
CALLS = 4  # at each turn


def is_sanitized(binary: str) -> bool:
    with open(binary, "rb") as f:
        return b"__asan_init" in f.read()


@pytest.fixture
def watched(tmp_path, monkeypatch):
    """kbgate under valgrind for the rest of the test, and where it reports."""
    if not shutil.which("valgrind"):
        pytest.skip("valgrind is not installed: deploy/install-packages tests")
    if is_sanitized(kb.KBGATE):
        pytest.skip("a build with sanitizers does not run under valgrind; the dev preset is tried")
    report = tmp_path / "valgrind.%p.txt"
    wrapper = tmp_path / "kbgate"
    known = kb.TOP / "tests" / "valgrind.supp"
    wrapper.write_text(
        f'#!/bin/sh\nexec valgrind -q --fair-sched=yes --leak-check=full --errors-for-leak-kinds=definite '
        f'--error-exitcode=99 --suppressions="{known}" --log-file="{report}" "{os.path.abspath(kb.KBGATE)}" "$@"\n'
    )
    wrapper.chmod(0o755)
    monkeypatch.setenv("SHIM_DIR", str(shim("store_shim").parent))  # the script is not where the libraries are
    return wrapper


def test_valgrind_has_nothing_to_say_through_all_faults(watched, monkeypatch, replicas, redis_server, tmp_path):
    one = replicas(start=False, redis=redis_server(password="s3cret"), proxy=True, n=1, settings=SLOW)
    token = one.mint()  # outside of valgrind
    with monkeypatch.context() as patched:
        patched.setattr(kb, "KBGATE", str(watched))
        one.start()
    asker = Asker(one, token)
    assert asker.passed(CALLS) == CALLS
    for name, (begin, _, _) in FAULTS.items():
        end = begin(one)
        began = time.monotonic()
        while not is_away(one[0]):
            assert time.monotonic() - began < 60, name
            assert asker.passed(1) == 1, name
        assert asker.passed(CALLS) == CALLS, name
        end()
        one.wait_reached(60)
        assert asker.passed(CALLS) == CALLS, name
    assert one[0].stop() == 0
    said = "".join(path.read_text() for path in tmp_path.glob("valgrind.*.txt"))
    assert said == "", said
