#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turns the rounds that bench_load printed into the table and the metrics of `loops`.

Usage: report.py ROUNDS.jsonl OUT.json NAME=NUMBER…      (metrics measured elsewhere)

A figure is taken over all samples of all idle or all loaded rounds together; `worst` and `median` are
those of the rounds' own p99. A probe that had to wait held up the ones due after it, which clients
would have sent all the same: each is counted with the rest of the wait.
"""

import json
import math
import sys
from pathlib import Path
from statistics import median

STATES = {"idle": lambda r: r["clients"] == 0, "loaded": lambda r: r["clients"] > 0}


def held_up(samples: list, period: int) -> list:
    """The samples and those that a fixed pace would have added."""
    return [left for us in samples for left in range(us, 0, -period)] if period else samples


def quantile(samples: list, q: float) -> float:
    """In ms, the smallest sample that at least the share q does not exceed."""
    return sorted(samples)[max(math.ceil(q * len(samples)) - 1, 0)] / 1000


def figures(prefix: str, state: str, rounds: list, paced: bool) -> dict:
    each = [held_up(r[f"{prefix}_us"], r["period_us"] if paced else 0) for r in rounds]
    every = [us for samples in each for us in samples]
    p99s = [quantile(samples, 0.99) for samples in each]
    return {
        f"{prefix}_p50_ms_{state}": quantile(every, 0.50),
        f"{prefix}_p99_ms_{state}": quantile(every, 0.99),
        f"{prefix}_max_ms_{state}": quantile(every, 1),
        f"{prefix}_p99_ms_{state}_median_round": median(p99s),
        f"{prefix}_p99_ms_{state}_worst_round": max(p99s),
        f"{prefix}_samples_{state}": len(every),
    }


def metrics(rounds: list) -> dict:
    by_state = {name: [r for r in rounds if belongs(r)] for name, belongs in STATES.items()}
    out = {}
    for prefix in ("livez", "cached"):
        for state, chosen in by_state.items():
            out |= figures(prefix, state, chosen, paced=True)
        for q in ("p50", "p99"):
            name = f"{prefix}_{q}"
            out[f"{name}_ratio"] = out[f"{name}_ms_loaded"] / out[f"{name}_ms_idle"]
    loaded = by_state["loaded"]
    out |= figures("cold", "loaded", loaded, paced=False)
    out["cold_searches_per_s"] = median(len(r["cold_us"]) / r["took_us"] * 1e6 for r in loaded)
    out["clients"] = loaded[0]["clients"]
    out["rounds"] = len(loaded)
    return {name: round(value, 3) for name, value in out.items()}


def line(name: str, m: dict, prefix: str, state: str, ratios: bool = False) -> str:
    cells = [m[f"{prefix}_{q}_ms_{state}"] for q in ("p50", "p99", "max")]
    cells += [m[f"{prefix}_p99_ms_{state}_{which}_round"] for which in ("median", "worst")]
    text = f"{name:<28}" + "".join(f"{ms:>9.2f}" for ms in cells) + f"{m[f'{prefix}_samples_{state}']:>9}"
    return text + (f"   p50 x{m[f'{prefix}_p50_ratio']:.1f}, p99 x{m[f'{prefix}_p99_ratio']:.1f}" if ratios else "")


def table(m: dict) -> str:
    under = f"{m['clients']} clients search"
    return "\n".join([
        f"{'ms':<28}{'p50':>9}{'p99':>9}{'max':>9}{'p99 of a round':>18}{'':>9}",
        f"{'':<28}{'':>9}{'':>9}{'':>9}{'median':>9}{'worst':>9}{'samples':>9}   loaded / idle",
        line("/livez, idle", m, "livez", "idle"),
        line(f"/livez, {under}", m, "livez", "loaded", ratios=True),
        line("cached call, idle", m, "cached", "idle"),
        line(f"cached call, {under}", m, "cached", "loaded", ratios=True),
        line("cold search", m, "cold", "loaded"),
        "",
        f"cold searches a second {m['cold_searches_per_s']:.0f} (median of {m['rounds']} rounds)",
        f"resident memory {m['rss_mb_start']:.1f} MB when ready, {m['rss_mb']:.1f} MB at the end "
        f"(cache of answers up to {m['cache_mb']:.0f} MB; {m['chunks']:.0f} chunks)",
        f"{m['cores']:.0f} cores; load average {m['load_before']:.2f} before the run: what else ran is in the figures",
    ])


def main() -> None:
    rounds = [json.loads(text) for text in Path(sys.argv[1]).read_text().splitlines()]
    elsewhere = {name: float(value) for name, value in (pair.split("=") for pair in sys.argv[3:])}
    m = metrics(rounds) | elsewhere
    zero_is_fine = {"load_before"}
    missing = [name for name, value in m.items() if not (math.isfinite(value) and (value > 0 or name in zero_is_fine))]
    if missing:
        sys.exit(f"report.py: no figure for {', '.join(missing)}")
    Path(sys.argv[2]).write_text(json.dumps(m, indent=1) + "\n")
    print(table(m))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main()
