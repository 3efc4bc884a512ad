# SPDX-License-Identifier: Apache-2.0
"""Somebody else writes to the Redis of the answers: it costs a search, and never changes an answer."""

import hashlib
import hmac
import os
import random
import struct
import threading
import time

import pytest

from redis_server import RedisError
from replicas import at_once, call_bytes, outcome
from test_replicas import spread, the_one
from test_secrets import length_prefixed

pytestmark = [pytest.mark.redis, pytest.mark.security]

SEED = 20260608
MARK = b"F0RGED"
QUERY = "travel booking"
HEAD_BYTES, TAG_BYTES = 46, 32


def encode(hmac_key: bytes, key: bytes, note: bytes, body: bytes, version=1, flags=0) -> bytes:
    """An answer as cache/shared_value.h describes it."""
    head = b"kbgv" + bytes([version, flags]) + key + struct.pack("<II", len(note), len(body))
    tag = hmac.new(hmac_key, length_prefixed(b"kbgate shared value", head, note, body), hashlib.sha256).digest()
    return head + note + body + tag


class Scene:
    """Three replicas that keep nothing themselves, one answer, and where it lies in Redis."""

    def __init__(self, three):
        self.three, self.redis = three, three.redis.client(timeout=30)
        self.request = call_bytes(three.mint(), QUERY)
        self.key, self.good = self.learn(self.request)
        self.value = self.redis("GET", self.key)
        self.lock = self.key.replace(b":a:", b":l:", 1)
        assert self.lock != self.key and MARK not in self.good
        note_bytes, body_bytes = struct.unpack("<II", self.value[38:HEAD_BYTES])
        self.hash, self.note = self.value[6:38], self.value[HEAD_BYTES:HEAD_BYTES + note_bytes]
        self.body = self.value[HEAD_BYTES + note_bytes:-TAG_BYTES]
        assert len(self.body) == body_bytes

    def learn(self, request):
        """Asks, and finds the one key that came into being."""
        before = set(self.redis("KEYS", "*:a:*"))
        body = the_one(at_once(spread(self.three, request, 3)))
        [key] = set(self.redis("KEYS", "*:a:*")) - before
        return key, body

    def forged(self, hmac_key: bytes) -> bytes:
        """The answer with a mark in every passage, signed with this key."""
        return encode(hmac_key, self.hash, self.note, self.body.replace(b"travel", MARK))

    def holds(self, what: str, n=1):
        """Every replica gives the good answer, one of them after a search; then that lies in Redis again."""
        before = self.three.searches()
        answers = [answer for _ in range(n) for answer in at_once(spread(self.three, self.request, 3))]
        assert the_one(answers) == self.good, what
        assert self.three.searches() > before, what
        assert self.redis("TYPE", self.key) == b"string" and self.redis("GET", self.key) == self.value, what

    def plant(self, what: str, value: bytes):
        self.redis("SET", self.key, value)
        self.holds(what)


@pytest.fixture
def scene(replicas):
    one = Scene(replicas(config="cache_bytes: 0\n"))
    yield one
    one.redis.close()


def test_what_protects_an_answer_is_the_key_alone(scene):
    """Who has the key is believed, so the refusals below are no accident of the format."""
    real = scene.three.cache_key.read_bytes()
    assert encode(real, scene.hash, scene.note, scene.body) == scene.value
    before = scene.three.searches()
    scene.redis("SET", scene.key, scene.forged(real))
    assert MARK in the_one(at_once(spread(scene.three, scene.request, 3))) and scene.three.searches() == before
    home = scene.three[0].home
    keys = {"nothing": b"", "zeros": bytes(32), "the fence's": (home / "fence.key").read_bytes(),
            "the audit's": (home / "audit.key").read_bytes(), "the token's": (home / "token.pem").read_bytes(),
            "its hash": hashlib.sha256(real).digest(), "half of it": real[:16]}
    for name, key in keys.items():
        scene.plant(f"signed with {name}", scene.forged(key))
    scene.plant("unsigned", scene.forged(real)[:-TAG_BYTES])
    scene.plant("signed as something else", scene.forged(real)[:-TAG_BYTES] + hmac.new(
        real, scene.forged(real)[:-TAG_BYTES], hashlib.sha256).digest())
    text = "".join(one.log_text() for one in scene.three)
    assert MARK.decode() not in text
    rejected = scene.three.total(lambda one: one.metrics()["kbgate_shared_cache_rejected_total"])
    assert rejected >= len(keys) + 2


def test_answers_moved_to_another_key_are_none(scene):
    three = scene.three
    others = {
        "another query's": call_bytes(three.mint(), "parental leave"),
        "another depth's": call_bytes(three.mint(), QUERY, top_k=1),
        "another tenant's": call_bytes(three.mint(tenant="globex"), QUERY),
        "another filter's": call_bytes(three.mint("kb:read kb:all"), QUERY),
    }
    for name, request in others.items():
        key, _ = scene.learn(request)
        scene.redis("COPY", key, scene.key, "REPLACE")
        scene.holds(name)
        body = scene.redis("GET", key)
        scene.plant(f"{name}, with this key in its head", body[:6] + scene.hash + body[38:])


def test_a_value_of_which_any_byte_is_another_is_none(scene):
    print(f"seed {SEED}")
    rng = random.Random(SEED)
    n = len(scene.value)
    places = [*range(HEAD_BYTES), *(n - 1 - i for i in range(TAG_BYTES)), *(rng.randrange(n) for _ in range(60))]
    for place in places:
        changed = bytearray(scene.value)
        changed[place] ^= 1 << rng.randrange(8)
        scene.plant(f"seed {SEED}: byte {place}", bytes(changed))
    for version in (0, 2, 255):
        scene.plant(f"version {version}", encode(scene.three.cache_key.read_bytes(), scene.hash, scene.note, scene.body, version))


def test_a_value_that_is_cut_or_longer_is_none(scene):
    n = len(scene.value)
    for length in (0, 1, 4, 5, HEAD_BYTES - 1, HEAD_BYTES, HEAD_BYTES + TAG_BYTES, n // 2, n - TAG_BYTES, n - 1):
        scene.plant(f"{length} bytes", scene.value[:length])
    for more in (1, 1000, 256 * 1024 - n, 256 * 1024 - n + 1, 10 * 1024 * 1024):
        scene.plant(f"{more} more", scene.value + MARK[:1] * more)
    scene.plant("10 MB of something else", os.urandom(10 * 1024 * 1024))
    for lengths in ((0xFFFFFFFF, 0xFFFFFFFF), (0, 0xFFFFFFFF), (0xFFFFFFFF, 1), (len(scene.note) + 1, len(scene.body) - 1)):
        scene.plant(f"lengths {lengths}", scene.value[:38] + struct.pack("<II", *lengths) + scene.value[HEAD_BYTES:])


PLANTS = {
    "list": ("RPUSH", "{key}", MARK),
    "hash": ("HSET", "{key}", "field", MARK),
    "set": ("SADD", "{key}", MARK),
    "sorted set": ("ZADD", "{key}", 1, MARK),
    "stream": ("XADD", "{key}", "*", "field", MARK),
    "number": ("SET", "{key}", 7),
}


def test_other_types_under_the_keys_are_none(scene):
    for name, command in PLANTS.items():
        scene.redis("DEL", scene.key)
        scene.redis(*(scene.key if part == "{key}" else part for part in command))
        scene.holds(f"a {name} for the answer")
    for name, command in (PLANTS | {"lock without an end": ("SET", "{key}", "x"), "lock of a year": ("SET", "{key}", "x", "EX", 31536000)}).items():
        scene.redis("DEL", scene.key, scene.lock)
        scene.redis(*(scene.lock if part == "{key}" else part for part in command))
        start = time.monotonic()
        scene.holds(f"a {name} for the lock")
        assert time.monotonic() - start < 3, f"a {name} held the call up"


def test_garbage_under_the_budgets_keys_stops_no_search(replicas):
    """The counters are not signed: who writes them decides what is left. But never whether there is an answer."""
    three = replicas(budgets="budgets:\n  tenant: {per_minute: 600, burst: 60, per_day: 10000}\n")
    request = call_bytes(three.mint(), QUERY)
    the_one(at_once([(three[0].host, request)]))
    with three.redis.client() as c:
        keys = [key for key in c("KEYS", "*") if b":a:" not in key and b":l:" not in key]
        assert len(keys) >= 4
        n = 0
        for plant in PLANTS.values():
            for key in keys:
                c("DEL", key)
                c(*(key if part == "{key}" else part for part in plant))
            for value in ("", "x y", "1e9 1", "-1 5", "99999999999999999999 1", MARK * 100000):
                c("SET", keys[n % len(keys)], value)
            n += 1
            the_one(at_once(spread(three, call_bytes(three.mint(), f"travel {n}"), 3)))
        c("DEL", *keys)
    three.wait_reached()


def test_a_forger_who_never_rests(scene):
    """Values and locks change while calls run."""
    print(f"seed {SEED}")
    rng, ending, failures = random.Random(SEED), threading.Event(), []
    forged = scene.forged(os.urandom(32))

    def forge():
        try:
            with scene.three.redis.client() as c:
                while not ending.is_set():
                    rng.choice((
                        lambda: c("SET", scene.key, forged),
                        lambda: c("SET", scene.key, scene.value[:rng.randrange(len(scene.value))]),
                        lambda: c("DEL", scene.key, scene.lock),
                        lambda: c("SET", scene.lock, "x", "PX", 50),
                        lambda: (c("DEL", scene.key), c("RPUSH", scene.key, MARK)),
                        lambda: c("SCRIPT", "FLUSH"),
                    ))()
        except (OSError, RedisError) as failure:
            failures.append(failure)

    forger = threading.Thread(target=forge)
    forger.start()
    try:
        for _ in range(15):
            assert the_one(at_once(spread(scene.three, scene.request, 30))) == scene.good
    finally:
        ending.set()
        forger.join(30)
    assert failures == [] or all(isinstance(f, RedisError) and "WRONGTYPE" in str(f) for f in failures), failures
    assert outcome(scene.good)["results"]
