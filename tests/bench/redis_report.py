# SPDX-License-Identifier: Apache-2.0
"""The figures, the table and the counts of `redis`, from the turns that redis_rounds measured. Pure.

A time or a rate is the median of the rounds, a quantile is taken over the calls of all rounds together, a ratio is taken
round by round and is the median of these. What stands without a number of connections is the largest of the three.
"""

import math
from statistics import median

CONNECTIONS = (1, 8, 64)
TITLES = {
    "hit": "answer from the process",
    "redis_hit": "answer from Redis",
    "hit_alone": "from the process, no Redis configured",
    "cold": "new answer",
    "cold_alone": "new answer, no Redis configured",
}
WITH_REDIS = ("hit", "redis_hit", "cold")
WARM = ("hit", "redis_hit", "hit_alone")
COLD = ("cold", "cold_alone")
RATIOS = {
    "redis_hit_over_hit_cpu": ("redis_hit", "hit"),
    "hit_with_redis_over_without_cpu": ("hit", "hit_alone"),
    "cold_with_redis_over_without_cpu": ("cold", "cold_alone"),
}
BATCHES = {"redis_hit": "redis_batches_per_hit", "cold": "redis_batches_per_miss"}
MOST_BATCHES = {"hit": 0, "redis_hit": 1, "hit_alone": 0, "cold": 3, "cold_alone": 0}


# --- what kbgate counted ------------------------------------------------------------------------------------------


def is_up(counted: dict) -> bool:
    up = [value for key, value in counted.items() if key.startswith("kbgate_redis_up")]
    return len(up) == 2 and min(up) == 1


def total(counted: dict, name: str, label: str = "") -> int:
    return int(sum(v for key, v in counted.items() if key.partition("{")[0] == name and label in key))


def searches(counted: dict) -> int:
    return total(counted, "kbgate_step_total", 'step="retrieve"')


def wrong_counts(turns: list) -> list:
    """A line for each count that is not as the path says."""
    wrong = []
    for t in turns:
        n, c = t["calls"], t["counted"]
        counts = {
            "answers from the process": (total(c, "kbgate_cache_hits_total"), n if t["path"] in ("hit", "hit_alone") else 0),
            "answers from Redis": (total(c, "kbgate_shared_cache_hits_total"), n if t["path"] == "redis_hit" else 0),
            "misses in Redis": (total(c, "kbgate_shared_cache_misses_total"), n if t["path"] == "cold" else 0),
            "searches": (searches(c), n if t["path"] in COLD else 0),
            "calls of Redis that failed": (total(c, "kbgate_redis_failures_total"), 0),
        }
        found = [f"{got} {what}, not {wanted}" for what, (got, wanted) in counts.items() if got != wanted]
        batches, most = total(c, "kbgate_redis_writes_total"), MOST_BATCHES[t["path"]] * n
        if batches > most:
            found.append(f"{batches} batches to Redis, more than {most}")
        if t["path"] in ("redis_hit", "cold") and not batches:
            found.append("no batch to Redis")
        wrong += [f"{t['path']}, {t['connections']} connections, {n} calls: {text}" for text in found]
    return wrong


# --- figures --------------------------------------------------------------------------------------------------------


def cpu_us(turn: dict) -> float:
    return turn["cpu_ns"] / turn["calls"] / 1000


def quantile_ms(samples: list, q: float) -> float:
    return sorted(samples)[max(math.ceil(q * len(samples)) - 1, 0)] / 1000


def path_figures(prefix: str, suffix: str, turns: list) -> dict:
    us = [one for t in turns for one in t["us"]]
    cpu = median(map(cpu_us, turns))
    user, system = (sum(t[key] for t in turns) for key in ("user_ticks", "system_ticks"))
    share = user / (user + system) if user + system else 0.0
    return {
        f"{prefix}_cpu_us{suffix}": cpu,
        f"{prefix}_user_us{suffix}": cpu * share,
        f"{prefix}_system_us{suffix}": cpu * (1 - share),
        f"{prefix}_redis_server_cpu_us{suffix}": median(t["redis_cpu_ns"] / t["calls"] / 1000 for t in turns),
        f"{prefix}_p50_ms{suffix}": quantile_ms(us, 0.50),
        f"{prefix}_p99_ms{suffix}": quantile_ms(us, 0.99),
        f"{prefix}_per_s{suffix}": median(t["calls"] / t["took_us"] * 1e6 for t in turns),
        f"{prefix}_calls{suffix}": sum(t["calls"] for t in turns),
        f"{prefix}_batches_a_call{suffix}": sum(total(t["counted"], "kbgate_redis_writes_total") for t in turns)
        / sum(t["calls"] for t in turns),
        f"{prefix}_commands_a_call{suffix}": sum(total(t["counted"], "kbgate_redis_calls_total") for t in turns)
        / sum(t["calls"] for t in turns),
    }


def figures(turns: list) -> dict:
    out = {}
    by = {(path, n): [t for t in turns if (t["path"], t["connections"]) == (path, n)] for path in TITLES for n in CONNECTIONS}
    for (path, n), chosen in by.items():
        out |= path_figures(path, f"_{n}", chosen)
    for name, (over, under) in RATIOS.items():
        for n in CONNECTIONS:
            out[f"{name}_{n}"] = median(cpu_us(o) / cpu_us(u) for o, u in zip(by[over, n], by[under, n]))
        out[name] = max(out[f"{name}_{n}"] for n in CONNECTIONS)
    for path, name in BATCHES.items():
        out[name] = max(out[f"{path}_batches_a_call_{n}"] for n in CONNECTIONS)
    for paths, name in ((WARM, "hit_answer_bytes"), (COLD, "cold_answer_bytes")):
        chosen = [t for t in turns if t["path"] in paths]
        out[name] = sum(t["bytes"] for t in chosen) / sum(t["calls"] for t in chosen)
    return {name: round(value, 3) for name, value in out.items()}


# --- table ----------------------------------------------------------------------------------------------------------


def row(m: dict, path: str, n: int) -> str:
    value = lambda name: m[f"{path}_{name}_{n}"]
    cells = [f"{value(name):>8.1f}" for name in ("cpu_us", "user_us", "system_us", "redis_server_cpu_us")]
    cells += [f"{value(name):>8.2f}" for name in ("p50_ms", "p99_ms")]
    cells += [f"{value('per_s'):>9.0f}"] + [f"{value(name):>9.2f}" for name in ("batches_a_call", "commands_a_call")]
    return f"  {TITLES[path]:<38}" + "".join(cells)


def table(m: dict) -> str:
    lines = [
        f"{'':<40}{'kbgate, CPU us a call':>24}{'Redis':>8}{'ms':>16}{'calls':>9}{'to Redis, a call':>18}",
        f"{'':<40}{'all':>8}{'user':>8}{'system':>8}{'CPU us':>8}{'p50':>8}{'p99':>8}{'a second':>9}{'batches':>9}{'commands':>9}",
    ]
    for n in CONNECTIONS:
        lines += [f"{n} connection{'s' * (n > 1)}"] + [row(m, path, n) for path in TITLES]
    lines += ["", f"{'CPU time of kbgate, ratios':<40}" + "".join(f"{n:>8}" for n in CONNECTIONS) + f"{'largest':>9}"]
    for name, (over, under) in RATIOS.items():
        cells = "".join(f"{m[f'{name}_{n}']:>8.2f}" for n in CONNECTIONS)
        lines.append(f"  {TITLES[over]} /\n    {TITLES[under]:<36}{cells}{m[name]:>9.2f}")
    lines += [
        "",
        f"batches to Redis: at most {m['redis_batches_per_hit']:.2f} an answer from Redis, "
        f"{m['redis_batches_per_miss']:.2f} a new answer",
        f"answers of {m['hit_answer_bytes'] / 1024:.1f} KB on average, new ones {m['cold_answer_bytes'] / 1024:.1f} KB; "
        f"median of {m['rounds']} rounds",
        f"{m['cores']} cores, shared with the client and Redis; load average {m['load_before']:.2f} before the run: what else "
        "ran is in the figures",
    ]
    return "\n".join(lines)
