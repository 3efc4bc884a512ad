# SPDX-License-Identifier: Apache-2.0
"""The account that kbgate has at Redis: the rights that the README names are enough, and neither a right password nor
a wrong one is told anywhere."""

import json
import re

import pytest

import service as kb
from replicas import is_up, wait_for

PASSWORD = "r7canarypassword"
QUERY = "how many days of parental leave"


def rights() -> list:
    """The command of the README, with our password."""
    line = re.search(r"^ACL SETUSER kbgate .*$", (kb.TOP / "README.md").read_text(), re.M).group(0)
    assert ">PASSWORD" in line
    return line.replace("PASSWORD", PASSWORD).split()


@pytest.fixture
def redis(redis_server):
    server = redis_server()
    assert server(*rights()) == b"OK"
    return server


def account(server, tmp_path, password: str) -> dict:
    """Settings below `redis:`."""
    (tmp_path / "redis.password").write_text(password + "\n")
    return {"url": f"unix://kbgate@{server.path}?db=3", "password_file": str(tmp_path / "redis.password")}


def expect_silence(replicas, word: str):
    """Nowhere that kbgate writes."""
    for one in replicas:
        metrics = one.request("GET", "/metrics", admin=True).body.decode()
        ready = one.request("GET", "/readyz?verbose", admin=True).body.decode()
        checked = kb.run("check", "--config", one.config)
        for text in (one.log_text(), metrics, ready, json.dumps(one.audit()), checked.stdout + checked.stderr):
            assert text and word not in text


@pytest.mark.security
def test_the_rights_of_the_readme_are_enough(replicas, redis, tmp_path):
    both = replicas(redis=redis, n=2, settings=account(redis, tmp_path, PASSWORD), config="log_level: debug\ncache_bytes: 0\n",
                    budgets="budgets: {tenant: {burst: 100}, subject: {burst: 100}}\n")
    token = both.mint()
    first, second = both
    answer = first.search(token, QUERY)
    assert answer["results"] and second.search(token, QUERY) == answer and second.step("retrieve") == 0
    # what somebody else put in its place is removed
    with redis.client() as client:
        client("SELECT", 3)
        (kept,) = [key for key in client("KEYS", "*") if key.startswith(b"kbgate:a:")]
        client("DEL", kept)
        client("HSET", kept, "a", "b")
        assert second.search(token, QUERY) == answer and client("TYPE", kept) == b"string"
        # a charge is given back, a lock is given up
        both.fault.fail()
        failed = first.rpc("tools/call", {"name": "search_kb", "arguments": {"query": "travel"}}, token)
        assert failed.json()["error"]["code"] == -32603
        both.fault.release()
        assert first.search(token, "travel")["results"]
        assert all(key.startswith(b"kbgate:") for key in client("KEYS", "*"))
    assert redis("ACL", "LOG") == [], "something was refused"
    expect_silence(both, PASSWORD)


@pytest.mark.security
def test_a_wrong_password_is_told_nowhere_and_stops_no_search(replicas, redis, tmp_path):
    wrong = "w7canarypassword"
    alone = replicas(start=False, redis=redis, n=1, settings=account(redis, tmp_path, wrong), config="log_level: debug\n")
    (one,) = alone.start(reached=False)
    token = one.mint()
    wait_for(lambda: one.events("redis_down"), 10, one.log_text)
    assert not is_up(one, "cache")
    assert one.search(token, QUERY)["results"]
    refused = wait_for(lambda: len(lines := one.events("redis_refused")) == 2 and lines, 10, one.log_text)
    assert {line["endpoint"] for line in refused} == {"cache", "budget"}, "said once for each, however many loops and attempts"
    assert b": refused\n" in one.request("GET", "/readyz?verbose", admin=True).body
    assert one.metrics()['kbgate_redis_failures_total{endpoint="cache",reason="refused"}'] > 0
    expect_silence(alone, wrong)
