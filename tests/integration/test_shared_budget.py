# SPDX-License-Identifier: Apache-2.0
"""One budget for all replicas: what a tenant may ask for does not depend on whom it asks, nor on their clocks."""

import json
import time

import pytest

from redis_server import Clock
from replicas import ask, at_once, call_bytes, error_type, outcome, wait_for
from test_replicas import LONG, Background, in_flight, lead, spread, the_one

pytestmark = pytest.mark.redis

NOON = 1_900_000_800_000_000 // 86_400_000_000 * 86_400_000_000 + 43_200_000_000  # µs, of some day
SECOND = 1_000_000
DAY = 86_400 * SECOND

MINUTE_BUDGET = """\
budgets:
  tenant: {per_minute: 120, burst: 20, per_day: 20000}
  subject: {per_minute: 0, burst: 1, per_day: 0}
"""


@pytest.fixture
def clock(tmp_path):
    """What Redis takes for the time: noon, until a test moves it."""
    one = Clock(tmp_path / "clock")
    one.freeze(NOON)
    return one


@pytest.fixture
def budgeted(replicas, redis_server, clock):
    """make(budgets, …) → three replicas whose Redis lives by `clock`."""
    return lambda budgets, **options: replicas(redis=redis_server(env=clock.environment()), budgets=budgets, **options)


class Asker:
    """Calls that nobody asked before, to one replica after another, so that each costs something. Askers of one
    tenant begin at different numbers."""

    def __init__(self, replicas, token, begin=0):
        self.hosts, self.token, self.asked = [one.host for one in replicas], token, begin

    def requests(self, n) -> list:
        first, self.asked = self.asked, self.asked + n
        return [(self.hosts[i % len(self.hosts)], call_bytes(self.token, f"travel booking {i}")) for i in range(first, first + n)]

    def one(self) -> dict:
        """The error of a new call, {} for a success."""
        status, body = ask(*self.requests(1)[0])
        assert status == 200
        return outcome(body).get("error", {})

    def passed(self, n) -> int:
        """How many of n new calls at once pass; the others must be refused for a budget."""
        bodies = [body for status, body in at_once(self.requests(n)) if status == 200]
        kinds = [error_type(body) for body in bodies]
        assert len(bodies) == n and set(kinds) <= {"ok", "retryable"}, set(kinds)
        assert all("budget" in outcome(body)["error"] for body in bodies if error_type(body) == "retryable")
        return kinds.count("ok")

    def left(self) -> int:
        """How many still pass, one after another; the clock stands still."""
        n = 0
        while not self.one():
            n += 1
        return n


def test_four_minutes_of_too_many_calls(budgeted, clock, tmp_path):
    skewed = Clock(tmp_path / "skewed")  # of one replica
    skewed.skew(30)
    three = budgeted(MINUTE_BUDGET, env=lambda i: skewed.environment() if i == 1 else {})
    greedy, other = Asker(three, three.mint(sub="ann")), Asker(three, three.mint(tenant="globex", sub="ann"))
    per_minute, refusals = [0] * 4, []
    for n in range(4 * 400):
        clock.freeze(NOON + n * 60 * SECOND // 400)
        error = greedy.one()
        per_minute[n // 400] += not error
        if error:
            refusals.append(error)
        if n % 20 == 0:
            assert other.one() == {}, "the second tenant's budget is its own"
    assert abs(per_minute[0] - 140) <= 2 and all(abs(n - 120) <= 1 for n in per_minute[1:]), per_minute
    assert {e["budget"] for e in refusals} == {"tenant/minute"} and all(0 < e["retry_after_ms"] <= 500 for e in refusals)
    charged = [sum(line["charged"] for line in one.audit() if line["tenant"] == "acme") for one in three]
    assert sum(charged) == sum(per_minute) and min(charged) > 100, "each replica took part"


def test_the_wait_is_exact_whoever_is_asked(budgeted, clock):
    three = budgeted(MINUTE_BUDGET)
    asker = Asker(three, three.mint())
    assert asker.left() == 20
    for _ in range(6):
        wait_ms = asker.one()["retry_after_ms"]
        assert wait_ms == 500
        clock.forward((wait_ms - 1) * 1000)
        assert asker.one()["retry_after_ms"] == 1
        clock.forward(1000)
        assert asker.one() == {}


def test_fifty_callers_at_the_boundary_are_never_over(budgeted, clock):
    three = budgeted(MINUTE_BUDGET)
    asker = Asker(three, three.mint())
    assert asker.passed(50) == 20
    for more in (1, 0, 3, 7, 20, 0):
        clock.forward(more * 500_000)
        assert asker.passed(50) == more
    clock.forward(3600 * SECOND)
    assert asker.passed(50) == 20, "an hour saves no more than the burst"


def test_a_redis_that_forgot_the_script_is_told_it_again(budgeted):
    three = budgeted(MINUTE_BUDGET)
    asker = Asker(three, three.mint())
    for _ in range(4):
        assert asker.passed(5) == 5
        three.redis("SCRIPT", "FLUSH")
    assert asker.passed(50) == 0, "the counters are not in the script"
    assert three.total(lambda one: one.metrics()["kbgate_budget_decided_in_process_total"]) == 0


def test_a_day_ends_for_all_at_once(budgeted, clock):
    three = budgeted("budgets:\n  tenant: {per_minute: 0, burst: 1, per_day: 30}\n  subject: {per_minute: 0, burst: 1, per_day: 0}\n")
    asker = Asker(three, three.mint())
    clock.freeze(NOON + DAY // 2 - 1000 * SECOND)
    assert asker.passed(50) == 30
    error = asker.one()
    assert error["budget"] == "tenant/day" and error["retry_after_ms"] == 1_000_000
    clock.forward(1000 * SECOND - 1)
    assert asker.one()["retry_after_ms"] == 1
    clock.forward(1)
    assert asker.passed(50) == 30


SUBJECT_BUDGET = """\
budgets:
  tenant: {per_minute: 1000, burst: 100, per_day: 0}
  subject: {per_minute: 60, burst: 10, per_day: 1000}
"""


def test_a_subject_that_has_spent_all_still_gets_what_it_got(budgeted):
    three = budgeted(SUBJECT_BUDGET)
    ann = three.mint(sub="ann")
    asker = Asker(three, ann)
    had = the_one(at_once(asker.requests(1)))
    assert asker.left() == 9
    assert asker.one()["budget"] == "subject/minute"
    again = call_bytes(ann, "travel booking 0")
    assert the_one(at_once(spread(three, again, 30))) == had
    # What a colleague got is there too, but nothing that only another tenant asked for.
    the_one(at_once([(three[0].host, call_bytes(three.mint(sub="bob"), "parental leave"))]))
    the_one(at_once([(three[0].host, call_bytes(three.mint(sub="eve", tenant="globex"), "printer paper"))]))
    the_one(at_once(spread(three, call_bytes(ann, "parental leave"), 6)))
    for _, body in at_once(spread(three, call_bytes(ann, "printer paper"), 6)):
        assert outcome(body)["error"]["budget"] == "subject/minute" and outcome(body)["results"] == []
    assert Asker(three, three.mint(sub="bob"), 1000).left() == 9, "bob asked once; whatever ann did costs him nothing"


def test_a_client_that_leaves_and_retries_twenty_times_is_charged_once(budgeted):
    three = budgeted(SUBJECT_BUDGET, **LONG)
    ann = three.mint(sub="ann")
    request = call_bytes(ann, "parental leave")
    three.fault.hold()
    for n in range(20):
        lead(three[n % 3], request).close()
        wait_for(lambda: in_flight(three) == 0, 10)
    three.fault.release()
    the_one(at_once(spread(three, request, 3)))
    charged = [line["charged"] for one in three for line in one.audit()]
    assert len(charged) == 23 and charged.count(True) == 1
    assert Asker(three, ann).left() == 9


def test_while_the_store_is_down_nobody_pays(budgeted):
    """Some seconds stand for a minute: each attempt is charged and given back, however many there are."""
    three = budgeted(SUBJECT_BUDGET, config="deadline_ms: 300\nworker_queue: 2\n", settings={"lock_ms": 200})
    tokens = [three.mint(sub=name) for name in ("ann", "bob", "cid")]
    askers = [Asker(three, token, 1000 * i) for i, token in enumerate(tokens)]
    assert all(asker.one() == {} for asker in askers)
    paid = three.redis("DBSIZE")
    three.fault.hold()
    end = time.monotonic() + 6
    told = 0
    while time.monotonic() < end:
        waiting = Background([(one.host, call_bytes(token, f"parental leave {i}")) for one in three for i, token in enumerate(tokens)])
        answers = waiting.get()
        assert all(status == 200 and error_type(body) == "retryable" for status, body in answers), answers
        assert all("budget" not in outcome(body)["error"] for _, body in answers), answers
        told += len(answers)
        time.sleep(max(outcome(body)["error"]["retry_after_ms"] for _, body in answers) / 1000)
    three.fault.release()
    assert told >= 30
    assert three.redis("DBSIZE") == paid, "neither a charge's memory nor a lock is left"
    refunded = three.total(lambda one: one.metrics()["kbgate_budget_refunded_total"])
    assert 0 < refunded == three.total(lambda one: one.metrics()["kbgate_budget_charged_total"]) - 3
    assert [asker.left() for asker in askers] == [9, 9, 9], "as before"


def test_a_fault_of_the_server_is_given_back_too(budgeted):
    three = budgeted(SUBJECT_BUDGET)
    ann = three.mint(sub="ann")
    three.fault.fail()
    for _, body in at_once(spread(three, call_bytes(ann, "parental leave"), 12)):
        assert json.loads(body)["error"]["code"] == -32603
    three.fault.release()
    assert Asker(three, ann).left() == 10
