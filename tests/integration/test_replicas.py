# SPDX-License-Identifier: Apache-2.0
"""Several replicas answer as one: the same bytes whoever answers, one search for equal calls, and nobody else's answer."""

import collections
import http.client
import json
import random
import re
import shutil
import signal
import socket
import threading
import time

import pytest

import corpus
import service as kb
from replicas import at_once, call_bytes, error_type, outcome, wait_for

pytestmark = pytest.mark.redis

LOCK = b":l:"  # in the keys of locks

SEED = 20260607
N_QUERIES, N_CALLS, N_CLIENTS = 100, 1000, 6
WORDS = ("travel booking policy hotel receipts leave parental weeks manager password laptop printer paper contract payment "
         "invoice languages python review salary quarter terms termination notice desk code word floor pay").split()


def some_queries(rng, n=N_QUERIES) -> list:
    found = {}
    while len(found) < n:
        found[" ".join(rng.sample(WORDS, rng.randrange(1, 5)))] = None
    return list(found)


class Caller(threading.Thread):
    """Asks what it is given through the round-robin, a few calls a connection. A connection that is cut is made
    anew and the call sent again: a retry is free."""

    def __init__(self, host, token, calls, rng):
        super().__init__()
        self.host, self.token, self.calls, self.random = host, token, calls, rng
        self.answers = collections.defaultdict(set)  # (query, index_version) -> bodies
        self.done, self.cut, self.failure = 0, 0, None

    def run(self):
        connection, left = None, 0
        try:
            for query in self.calls:
                end = time.monotonic() + 20
                while True:
                    if left == 0 or connection is None:
                        connection, left = http.client.HTTPConnection(self.host, timeout=30), self.random.randrange(1, 15)
                    left -= 1
                    try:
                        body = self.ask(connection, query)
                        break
                    except (ConnectionError, http.client.HTTPException):
                        assert time.monotonic() < end
                        connection.close()
                        connection, self.cut = None, self.cut + 1
                self.answers[query, re.search(rb'"index_version":"(kb1-[a-z2-7]{26})"', body)[1]].add(body)
                self.done += 1
        except Exception as failure:  # looked at by who joins
            self.failure = failure

    def ask(self, connection, query) -> bytes:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                           "params": {"name": "search_kb", "arguments": {"query": query}}})
        connection.request("POST", "/mcp", body, {
            "Host": "kb.example", "Authorization": f"Bearer {self.token}", "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": kb.LEGACY})
        reply = connection.getresponse()
        body = reply.read()
        assert reply.status == 200 and error_type(body) in ("ok", "empty"), (reply.status, body)
        return body


class Load:
    """Rounds of calls, all queries equally often, in random order; what was answered, over all rounds."""

    def __init__(self, replicas, token, queries, rng):
        self.replicas, self.token, self.queries, self.random = replicas, token, queries, rng
        self.answers = collections.defaultdict(set)
        self.cut = 0

    def round(self, meanwhile=None):
        calls = self.queries * (N_CALLS // len(self.queries))
        self.random.shuffle(calls)
        callers = [Caller(self.replicas.balancer.host, self.token, calls[i::N_CLIENTS], random.Random(self.random.random()))
                   for i in range(N_CLIENTS)]
        for caller in callers:
            caller.start()
        if meanwhile:
            wait_for(lambda: sum(c.done for c in callers) >= N_CALLS // 4 or any(c.failure for c in callers), 60)
            meanwhile()
        for caller in callers:
            caller.join(90)
            assert not caller.is_alive() and caller.failure is None, (SEED, caller.failure)
            self.cut += caller.cut
            for key, bodies in caller.answers.items():
                self.answers[key] |= bodies
        assert all(len(bodies) == 1 for bodies in self.answers.values()), (SEED, "two answers to one question")

    # -- what it cost, from the audit streams: they outlive the processes --------------------------

    def answered(self) -> list:
        """For each replica its lines of calls that were answered, once all are written."""
        files = [one.home / "audit.jsonl" for one in self.replicas]

        def sizes():
            return [file.stat().st_size for file in files]

        wait_for(lambda: (sizes(), time.sleep(0.1))[0] == sizes(), 10)
        return [[line for line in one.audit() if line["outcome"] in ("ok", "empty")] for one in self.replicas]

    def searched(self) -> int:
        return sum(not line["cache_hit"] for lines in self.answered() for line in lines)

    def lacking(self) -> list:
        """For each answer that was ever given, how many replicas do not keep it: have not given it since they started."""
        answered = self.answered()
        every = {(line["arguments"], line["index_version"]) for lines in answered for line in lines}
        held = [{(line["arguments"], line["index_version"]) for line in lines if line["time"] >= one.started}
                for one, lines in zip(self.replicas, answered)]
        return [sum(answer not in own for own in held) for answer in every]


def test_ten_thousand_repeats_have_one_answer_each_and_are_searched_once(replicas, tmp_path, own_server):
    print(f"seed {SEED}")
    rng = random.Random(SEED)
    store, files = tmp_path / "store", tmp_path / "files"
    kb.ingest(store, corpus.write(files))
    all_of_them = replicas(store=store)
    queries = some_queries(rng)
    load = Load(all_of_them, all_of_them.mint("kb:read kb:all"), queries, rng)

    load.round()  # cold
    assert load.searched() == N_QUERIES
    load.round(lambda: all_of_them.restart(all_of_them[0]))
    load.round(lambda: all_of_them.restart(all_of_them[1], signal.SIGKILL))
    load.round()
    assert load.searched() == N_QUERIES and load.cut > 0, "Redis kept what restarts forgot"

    # While nobody asks: what each replica keeps still serves.
    lacking = sum(n > 0 for n in load.lacking())
    all_of_them.redis.restart()
    all_of_them.wait_reached()
    load.round()
    assert load.searched() <= N_QUERIES + lacking < N_QUERIES + 20

    # A replica forgets what Redis has lost: once more each, at most.
    before = load.searched()
    all_of_them.restart(all_of_them[2])
    load.round()
    assert load.searched() <= before + N_QUERIES

    # Dead for a while: who lacks an answer searches by itself, or somebody later on for Redis.
    before, lost = load.searched(), sum(max(1, n) for n in load.lacking())
    load.round(lambda: die_and_return(all_of_them))
    assert load.searched() <= before + lost

    before, old = load.searched(), {version for _, version in load.answers}
    assert len(old) == 1
    publish_more(store, files)
    load.round(lambda: [all_of_them.restart(one) for one in all_of_them])
    load.round()
    load.round()
    fresh = {query: bodies for (query, version), bodies in load.answers.items() if version not in old}
    assert set(fresh) == set(queries) and len({version for _, version in load.answers}) == 2
    # A replica that has not seen the new edition yet may still lack an answer of the old one.
    assert load.searched() <= before + N_QUERIES + lost

    # Who answers alone and without any cache says the same.
    alone = own_server(store=store, config="cache_bytes: 0\n")
    token = alone.mint("kb:read kb:all")
    for query in queries[:20]:
        assert {body for _, body in at_once([(alone.host, call_bytes(token, query))])} == fresh[query]


def die_and_return(replicas):
    replicas.redis.kill()
    time.sleep(0.3)
    replicas.redis.start()
    replicas.wait_reached()


def publish_more(store, files):
    parking = "# Parking\n\nThe travel desk hands out parking passes.\n"
    shutil.rmtree(files)
    kb.ingest(store, corpus.write(files, [*corpus.documents(), corpus.Document("faq/parking.md", parking, "faq", "faq", ["public"])]))


# -- one search for equal calls ----------------------------------------------------------------------


class Background(threading.Thread):
    """at_once() while the test does something else."""

    def __init__(self, exchanges):
        super().__init__()
        self.exchanges, self.answers, self.failure = exchanges, None, None
        self.start()

    def run(self):
        try:
            self.answers = at_once(self.exchanges)
        except Exception as failure:  # looked at by get()
            self.failure = failure

    def get(self) -> list:
        self.join(60)
        assert not self.is_alive() and self.failure is None, self.failure
        return self.answers


def spread(replicas, request, n, over=None) -> list:
    """n times the request, over these replicas in turn."""
    over = over or list(replicas)
    return [(over[i % len(over)].host, request) for i in range(n)]


def lead(replica, request) -> socket.socket:
    """Sends a call whose search hangs, and waits until it is on its way: it leads."""
    before = replica.step("budget")
    host, port = replica.host.rsplit(":", 1)
    s = socket.create_connection((host, int(port)), timeout=60)
    s.sendall(request)
    wait_for(lambda: replica.step("budget") == before + 1, 10, replica.log_text)
    return s


def read_all(s: socket.socket) -> bytes:
    return b"".join(iter(lambda: s.recv(65536), b"")).partition(b"\r\n\r\n")[2]


def in_flight(replicas) -> int:
    return replicas.total(lambda one: one.in_flight())


def the_one(answers) -> bytes:
    """The body that they all have; a success."""
    assert len(set(answers)) == 1 and answers[0][0] == 200, set(answers)
    assert error_type(answers[0][1]) == "ok"
    return answers[0][1]


def locks(replicas) -> list:
    return [key for key in replicas.redis.keys() if LOCK in key]


# Longer than any of these tests holds the store, so that no lock ends by itself.
LONG = {"settings": {"lock_ms": 20000}, "config": "deadline_ms: 30000\n"}


def test_three_hundred_cold_calls_at_once_are_one_search(replicas):
    three = replicas()
    first = call_bytes(three.mint(), "travel booking")
    the_one(at_once(spread(three, first, 300)))
    assert three.searches() == 1
    # And so that all of them certainly wait for it.
    second = call_bytes(three.mint(), "parental leave")
    three.fault.hold()
    waiting = Background(spread(three, second, 300))
    wait_for(lambda: in_flight(three) == 300, 20)
    assert three.searches() == 1
    three.fault.release()
    the_one(waiting.get())
    assert three.searches() == 2 and locks(three) == []


def test_programs_get_one_answer_too(replicas):
    three = replicas()
    token = three.mint()
    replies = [one.request("GET", "/v1/search?q=travel+booking", token) for one in three for _ in range(2)]
    assert {reply.status for reply in replies} == {200} and len({(reply.header("ETag"), reply.body) for reply in replies}) == 1
    assert three.searches() == 1
    the_one(at_once(spread(three, call_bytes(token, "travel booking"), 3)))  # fenced: other bytes, another search
    assert three.searches() == 2
    read = [one.rpc("resources/read", {"uri": "kb://doc/handbook/handbook/travel.md"}, token).body for one in three]
    assert len(set(read)) == 1 and b"ZEPPELIN-7" in read[0] and three.searches() == 3


@pytest.mark.parametrize("company", ["on its replica too", "elsewhere only"])
def test_a_leader_that_leaves_hands_over(replicas, company):
    three = replicas(**LONG)
    request = call_bytes(three.mint(), "travel booking")
    three.fault.hold()
    leader = lead(three[0], request)
    assert len(locks(three)) == 1
    waiting = Background(spread(three, request, 299, over=list(three) if company == "on its replica too" else three.all[1:]))
    wait_for(lambda: in_flight(three) == 300, 20)
    leader.close()
    wait_for(lambda: in_flight(three) == 299, 20)
    three.fault.release()
    the_one(waiting.get())
    assert three.searches() == 1 and locks(three) == []
    charged = [line["charged"] for one in three for line in one.audit()]
    assert charged.count(True) == 1, "the first paid, whoever searched in the end"


def test_work_ends_when_nobody_waits_and_leaves_no_lock(replicas):
    three = replicas(**LONG)
    request = call_bytes(three.mint(), "travel booking")
    three.fault.hold()
    lead(three[0], request).close()
    wait_for(lambda: in_flight(three) == 0 and locks(three) == [], 10)
    three.fault.release()
    start = time.monotonic()
    the_one(at_once(spread(three, request, 3, over=[three[1]])))
    assert time.monotonic() - start < 5 and three.searches() == 1


def test_a_leader_that_dies_costs_the_others_the_life_of_its_lock(replicas):
    three = replicas(settings={"lock_ms": 1500})
    request = call_bytes(three.mint(), "travel booking")
    three.fault.hold()
    with lead(three[0], request):
        waiting = Background(spread(three, request, 60, over=three.all[1:]))
        wait_for(lambda: in_flight(three) == 61, 20)
        start = time.monotonic()
        three[0].stop(signal.SIGKILL)
        three.fault.release()
        the_one(waiting.get())
    assert time.monotonic() - start < 1.5 + 2
    assert three.searches() <= 2, "one a replica at most"


def test_waiting_for_a_replica_that_hangs_ends_with_its_lock(replicas):
    """The store hangs for one alone: the others work by themselves once its lock is over."""
    three = replicas(settings={"lock_ms": 1000}, env=lambda i: {} if i == 0 else {"STORE_FAULT": "/nowhere"})
    request = call_bytes(three.mint(), "travel booking")
    three.fault.hold()
    with lead(three[0], request) as leader:
        start = time.monotonic()
        others = the_one(at_once(spread(three, request, 20, over=three.all[1:])))
        assert 0.5 < time.monotonic() - start < 1 + 2
        three.fault.release()
        assert read_all(leader) == others, "it found what the others had stored meanwhile"
    assert three.searches() <= 3


ONE_A_MINUTE = """\
budgets:
  tenant: {per_minute: 0, burst: 1, per_day: 0}
  subject: {per_minute: 1, burst: 1, per_day: 0}
"""


def test_a_spent_subject_does_not_fail_who_waited_for_it(replicas):
    """Equal calls of two subjects; the one that leads may not search, so another does."""
    three = replicas(proxy=True, budgets=ONE_A_MINUTE)
    spent, rich = three.mint(sub="spent"), three.mint(sub="rich")
    the_one(at_once([(three[0].host, call_bytes(spent, "parental leave"))]))
    three.proxy.set("delay", delay_ms=300)
    leads = Background([(three[0].host, call_bytes(spent, "travel booking"))])
    wait_for(lambda: three[0].in_flight() == 1, 5)
    the_one(at_once(spread(three, call_bytes(rich, "travel booking"), 3)))
    [(_, refusal)] = leads.get()
    assert outcome(refusal)["error"]["budget"] == "subject/minute"
    assert three.searches() == 2
    three.proxy.set("pass")
    the_one(at_once(spread(three, call_bytes(spent, "travel booking"), 3)))  # it is there now, and free


# -- whose answer it is ------------------------------------------------------------------------------


def test_subjects_of_a_tenant_share_and_tenants_do_not(replicas):
    three = replicas(**LONG)
    ann, bob = (call_bytes(three.mint(sub=name), "travel booking") for name in ("ann", "bob"))
    other = call_bytes(three.mint(tenant="globex", sub="ann"), "travel booking")
    at = [one.host for one in three]
    answer = the_one(at_once([(at[0], ann)]))
    assert the_one(at_once([(at[1], bob), (at[2], bob), (at[1], ann)])) == answer
    assert three.searches() == 1
    # The same rights, the same bytes; but not for free: it is another tenant.
    assert the_one(at_once([(at[0], other)])) == answer and three.searches() == 2
    assert the_one(at_once([(at[1], other), (at[2], other)])) == answer and three.searches() == 2
    filters = {line["filter"] for one in three for line in one.audit()}
    assert len(filters) == 1, "equal filters: the tenant alone keeps them apart"


@pytest.mark.parametrize("where", ["at one replica", "at all"])
def test_tenants_do_not_share_a_flight(replicas, where):
    three = replicas(**LONG)
    ours = [call_bytes(three.mint(sub=name), "travel booking") for name in ("ann", "bob")]
    theirs = call_bytes(three.mint(tenant="globex", sub="ann"), "travel booking")
    three.fault.hold()
    at = list(three) if where == "at all" else [three[0]] * 3
    waiting = Background([(one.host, request) for one in at for request in (*ours, theirs)])
    wait_for(lambda: in_flight(three) == 9, 20)
    wait_for(lambda: len(locks(three)) == 2, 20)
    three.fault.release()
    the_one(waiting.get())
    assert three.searches() == 2


def test_a_token_that_loses_a_grant_misses_at_once(replicas):
    three = replicas()
    hosts = [one.host for one in three]
    query = "HALCYON-3 lost laptop"  # in a document labelled internal

    def ask(token):
        return [body for _, body in at_once([(host, call_bytes(token, query)) for host in hosts])]

    staff = three.mint("kb:read kb:staff", sub="ann")
    assert all(b"HALCYON-3" in body for body in ask(staff))
    searches = three.searches()
    for body in ask(three.mint("kb:read", sub="ann")):
        assert b"HALCYON-3" not in body
    assert three.searches() == searches + 1
    # The same token, of which the policy thinks less.
    policy = three[0].home / "policy.yaml"
    fresh = policy.with_suffix(".new")
    fresh.write_text(policy.read_text().replace('["kb:staff"]', '["kb:crew"]'))
    fresh.rename(policy)
    wait_for(lambda: three.total(lambda one: one.metrics()["kbgate_policy_reloads_total"] >= 1) == 3, 10)
    for body in ask(staff):
        assert b"HALCYON-3" not in body
