# SPDX-License-Identifier: Apache-2.0
"""What `kbgate check` says about the section `redis`: where cache and budgets live, and never a password."""

import os

import pytest

import service as kb

PASSWORD = "r7canarypassword"
SECTION = """\
redis:
  cache_url: redis://kb:{password}@127.0.0.1:7001/2
  budget_url: unix://kb@/run/kbgate-nowhere/redis.sock
  budget_password_file: redis.password
  cache_key_file: cache.key
  replicas_max: 3
"""


@pytest.fixture
def checked(own_server):
    """Writes the section, the password and the key; returns how to check it, perhaps after a change."""
    server = own_server(start=False)
    text = server.config.read_text()
    (server.home / "redis.password").write_text(PASSWORD + "\n")
    (server.home / "cache.key").write_bytes(os.urandom(32))

    def check(old: str = "", new: str = ""):
        section = SECTION.format(password=PASSWORD)
        assert old in section
        server.config.write_text(text + section.replace(old, new, 1))
        done = kb.run("check", "--config", server.config, check=False)
        assert PASSWORD not in done.stdout + done.stderr
        return done

    check.home = server.home
    return check


def test_check_says_where_cache_and_budgets_live(checked):
    done = checked()
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1:] == [
        "cache: in Redis at 127.0.0.1:7001/2",
        "budgets: in Redis at unix:/run/kbgate-nowhere/redis.sock",
    ]


def test_check_says_nothing_of_redis_where_there_is_none(own_server):
    done = kb.run("check", "--config", own_server(start=False).config)
    assert len(done.stdout.splitlines()) == 1 and "Redis" not in done.stdout


@pytest.mark.parametrize(
    "old, new, key",
    [
        ("127.0.0.1:7001", "10.0.0.1:7001", "redis.cache_url"),
        ("127.0.0.1:7001/2", "127.0.0.1:7001/99", "redis.cache_url"),
        ("redis://kb", "rediss://kb", "redis.cache_url"),
        ("  budget_password_file", "  cache_password_file: redis.password\n  budget_password_file", "redis.cache_password_file"),
    ],
)
def test_a_refused_url_is_named_by_its_key_alone(checked, old, new, key):
    done = checked(old, new)
    assert done.returncode == 1
    assert f"key `{key}`" in done.stderr and "kbgate.yaml:" in done.stderr


@pytest.mark.parametrize(
    "file, content, word",
    [
        ("cache.key", bytes(31), "at least 32"),
        ("cache.key", None, "cache_key_file"),
        ("redis.password", b"\n", "is empty"),
        ("redis.password", b"x" * 513, "512 bytes"),
        ("redis.password", None, "password of the budgets"),
    ],
)
def test_the_files_are_read_as_at_the_start(checked, file, content, word):
    path = checked.home / file
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    done = checked()
    assert done.returncode == 1 and word in done.stderr and str(path) in done.stderr, done.stderr
