# SPDX-License-Identifier: Apache-2.0
"""The Redis benchmark notices a count that is off, and computes its ratios round by round."""

import sys

import pytest

import service as kb

sys.path.insert(0, str(kb.TOP / "tests" / "bench"))
import redis_report as report  # noqa: E402

pytestmark = [pytest.mark.bench, pytest.mark.redis]


def turn(path: str, n: int, **changes) -> dict:
    """100 calls as they should be; changes by the counter's short name."""
    counts = {"cache_hits": 0, "shared_hits": 0, "shared_misses": 0, "searches": 0, "failures": 0, "writes": 0, "budget": 0}
    counts |= {
        "hit": {"cache_hits": 100}, "hit_alone": {"cache_hits": 100}, "redis_hit": {"shared_hits": 100, "writes": 100},
        "cold": {"searches": 100, "shared_misses": 100, "writes": 200, "budget": 100}, "cold_alone": {"searches": 100},
    }[path] | changes
    return {
        "path": path, "connections": n, "calls": 100, "took_us": 10_000, "bytes": 2_000_000, "us": [100] * 100,
        "cpu_ns": 5_000_000, "redis_cpu_ns": 1_000_000, "user_ticks": 3, "system_ticks": 1,
        "counted": {
            "kbgate_cache_hits_total": counts["cache_hits"],
            "kbgate_shared_cache_hits_total": counts["shared_hits"],
            "kbgate_shared_cache_misses_total": counts["shared_misses"],
            'kbgate_step_total{step="retrieve"}': counts["searches"],
            'kbgate_step_total{step="token"}': 100,
            'kbgate_redis_failures_total{endpoint="cache",reason="timeout"}': counts["failures"],
            'kbgate_redis_writes_total{endpoint="cache"}': counts["writes"],
            'kbgate_redis_writes_total{endpoint="budget"}': counts["budget"],
            'kbgate_redis_calls_total{endpoint="cache"}': counts["writes"],
        },
    }


def test_right_counts_are_let_pass():
    assert report.wrong_counts([turn(path, n) for path in report.TITLES for n in report.CONNECTIONS]) == []


@pytest.mark.parametrize("path, changes", [
    ("hit", {"cache_hits": 99}),
    ("hit", {"cache_hits": 99, "shared_hits": 1, "writes": 1}),
    ("hit", {"writes": 1}),
    ("hit_alone", {"searches": 1}),
    ("redis_hit", {"shared_hits": 99}),
    ("redis_hit", {"writes": 101}),
    ("redis_hit", {"budget": 1}),
    ("redis_hit", {"writes": 0}),
    ("redis_hit", {"searches": 1}),
    ("cold", {"writes": 201}),
    ("cold", {"writes": 0, "budget": 0}),
    ("cold", {"shared_misses": 99}),
    ("cold", {"failures": 1}),
    ("cold", {"searches": 99}),
    ("cold_alone", {"writes": 1}),
])
def test_a_count_that_is_off_is_noticed(path, changes):
    wrong = report.wrong_counts([turn(path, 8, **changes)])
    assert wrong and all(line.startswith(f"{path}, 8 connections, 100 calls: ") for line in wrong)


def test_a_ratio_is_taken_round_by_round_and_the_largest_leads():
    turns = []
    for cost in (1, 5, 2):  # the machine is slower in the second round, for all alike
        for n, factor in zip(report.CONNECTIONS, (1.2, 1.4, 1.3)):
            for path in report.TITLES:
                one = turn(path, n)
                one["cpu_ns"] = int(1_000_000 * cost * (factor if path == "redis_hit" else 1))
                turns.append(one)
    figures = report.figures(turns)
    assert [figures[f"redis_hit_over_hit_cpu_{n}"] for n in report.CONNECTIONS] == [1.2, 1.4, 1.3]
    assert figures["redis_hit_over_hit_cpu"] == 1.4 and figures["hit_with_redis_over_without_cpu"] == 1
    assert figures["hit_cpu_us_1"] == 20 and figures["hit_user_us_1"] == 15
    assert figures["redis_batches_per_hit"] == 1 and figures["redis_batches_per_miss"] == 3


def test_redis_is_up_when_both_endpoints_are():
    up = {'kbgate_redis_up{endpoint="cache"}': 1, 'kbgate_redis_up{endpoint="budget"}': 1}
    assert report.is_up(up)
    assert not report.is_up(up | {'kbgate_redis_up{endpoint="budget"}': 0})
    assert not report.is_up({})
