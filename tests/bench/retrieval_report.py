#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The parts of `retrieval` that are easier in Python.

Usage: retrieval_report.py ingest OUT.json COMMAND…                 runs it on two cores, notes time and memory
       retrieval_report.py report DIR OUT.json [NAME=VALUE…] [--check]

A mean or quantile is taken over the samples of all rounds together. A ratio is taken round by round, over the
questions that both engines were asked, and then averaged.
"""

import json
import math
import os
import platform
import subprocess
import sys
import time
from pathlib import Path
from statistics import mean

SCOPES = {"tenth": "", "all": "all_"}
QUIET = 1.25  # time on the wall over CPU time, at most, for figures to be taken at their word
CLOCKS = {"wall_us": "", "cpu_us": "cpu_"}
TITLES = {
    "kbgate": "kbgate",
    "kbgate_answer": "kbgate, answer written",
    "fts5_term": "FTS5, filter as a term",
    "fts5_joined": "FTS5, filter joined",
    "xapian": "Xapian, OP_FILTER",
}


# --- ingest -----------------------------------------------------------------------------------------------------


def ingest(out: Path, command: list) -> int:
    cores = sorted(os.sched_getaffinity(0))[:2]
    start = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, preexec_fn=lambda: os.sched_setaffinity(0, cores))
    printed = child.stdout.read()
    _, status, used = os.wait4(child.pid, 0)
    seconds = time.monotonic() - start
    if status:
        return 1
    out.write_text(json.dumps({
        "ingest_s": seconds,
        "ingest_chunks_per_s": json.loads(printed)["chunks"] / seconds,
        "ingest_cpu_s": used.ru_utime + used.ru_stime,
        "ingest_max_rss_mb": used.ru_maxrss / 1024,
        "ingest_cores": len(cores),
    }))
    return 0


# --- figures ----------------------------------------------------------------------------------------------------


def quantile(samples: list, q: float) -> float:
    return sorted(samples)[max(math.ceil(q * len(samples)) - 1, 0)]


def timings(rounds: dict, engine: str, scope: str) -> dict:
    out = {}
    for clock, infix in CLOCKS.items():
        ms = [us / 1000 for r in rounds[engine, scope] for us in r[clock]]
        name = f"{SCOPES[scope]}{engine}_{infix}ms_"
        out[name + "mean"] = mean(ms)
        for q in (50, 95, 99):
            out[f"{name}p{q}"] = quantile(ms, q / 100)
    return out


def ratio(rounds: dict, engine: str, scope: str, clock: str) -> float:
    pairs = [(e[clock], k[clock]) for e, k in zip(rounds[engine, scope], rounds["kbgate", scope])]
    n = min(len(samples) for pair in pairs for samples in pair)
    return mean(mean(e[:n]) / mean(k[:n]) for e, k in pairs)


def search_figures(lines: list) -> dict:
    rounds, out = {}, {}
    for line in lines:
        if "round" in line:
            rounds.setdefault((line["engine"], line["scope"]), []).append(line)
        elif "engine" in line:
            prefix = f"{SCOPES[line['scope']]}{line['engine']}_"
            out |= {prefix + name: line[name] for name in ("questions", "hits", "shared")}
        else:
            out |= line
    for engine, scope in rounds:
        out |= timings(rounds, engine, scope)
        if engine != "kbgate":
            for clock, infix in CLOCKS.items():
                name = f"{SCOPES[scope]}{engine}_over_kbgate{'_cpu' if infix else ''}"
                out[name] = ratio(rounds, engine, scope, clock)
    return out


def disk_figures(work: Path, chunks: int, postings: int, text_bytes: int) -> dict:
    sizes = {}
    for file in (work / "store").rglob("*"):
        if file.is_file():
            sizes[file.suffix] = sizes.get(file.suffix, 0) + file.stat().st_size
    out = {"store_bytes": sum(sizes.values()), "store_bytes_a_chunk": sum(sizes.values()) / chunks}
    out |= {f"store_{suffix[1:]}_bytes": size for suffix, size in sizes.items() if suffix in (".seg", ".idx")}
    if ".idx" in sizes:
        out["index_bytes_a_posting"] = sizes[".idx"] / postings
    out["store_over_text"] = out["store_bytes"] / text_bytes
    return out


def cpu_model() -> str:
    names = [l.split(":", 1)[1].strip() for l in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in l]
    return names[0] if names else platform.machine()


def figures(work: Path, given: dict) -> dict:
    read = lambda name: json.loads((work / name).read_text())
    memory, corpus, checked = read("memory.json"), read("corpus.json"), read("check.json")
    m = {name: v if name == "kbgate_version" else float(v) if "." in v else int(v) for name, v in given.items()}
    m |= read("ingest.json") | checked | corpus
    m |= {"anon_mb": memory["rss_anon_kb"] / 1024, "anon_mb_opened": memory["rss_anon_kb_opened"] / 1024,
          "anon_mb_before": memory["rss_anon_kb_before"] / 1024, "rss_mb": memory["rss_kb"] / 1024}
    m |= disk_figures(work, m["chunks"], checked["postings"], corpus["text_bytes"])
    m |= search_figures([json.loads(line) for line in (work / "samples.jsonl").read_text().splitlines()])
    m |= {"date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "cpu": cpu_model(), "kernel": platform.release(),
          "load_after": os.getloadavg()[0]}
    return {name: round(v, 5) if isinstance(v, float) else v for name, v in m.items()}


# --- table ------------------------------------------------------------------------------------------------------


def row(m: dict, engine: str, prefix: str) -> str:
    name = prefix + engine
    cells = [m[f"{name}_ms_{q}"] for q in ("mean", "p50", "p95", "p99")]
    cells += [m[f"{name}_cpu_ms_{q}"] for q in ("mean", "p99")]
    text = f"  {TITLES[engine]:<24}" + "".join(f"{ms:>9.3f}" for ms in cells)
    ratios = [m.get(f"{name}_over_kbgate"), m.get(f"{name}_over_kbgate_cpu")]
    text += "".join(f"{f'{r:.1f} x':>11}" if r else f"{'':>11}" for r in ratios)
    return text + f"{m[f'{name}_questions']:>9}{m[f'{name}_shared']:>8.1f}"


def table(m: dict) -> str:
    lines = [f"{m['chunks']} chunks of {m['text_bytes_a_chunk']:.0f} bytes with title, {m['partitions']} "
             f"partitions; {m['rounds']} rounds; ms from question to ten passages"]
    names = ("mean", "p50", "p95", "p99", "CPU mean", "CPU p99")
    head = "".join(f"{name:>9}" for name in names) + f"{'/ kbgate':>11}{'by CPU':>11}{'asked':>9}{'shared':>8}"
    for scope, prefix in SCOPES.items():
        who = "sees a tenth" if scope == "tenth" else "sees all"
        lines.append(f"\n{'caller ' + who:<26}" + head)
        lines += [row(m, engine, prefix) for engine in TITLES if f"{prefix}{engine}_ms_mean" in m]
    posting = m.get("index_bytes_a_posting")
    lines += [
        "",
        f"ingest      {m['ingest_s']:.1f} s on {m['ingest_cores']} cores, {m['ingest_chunks_per_s']:.0f} chunks/s "
        f"({m['ingest_cpu_s']:.1f} s CPU, {m['ingest_max_rss_mb']:.0f} MB at most)",
        f"disk        {m['store_bytes'] / 1e6:.1f} MB, {m['store_bytes_a_chunk']:.0f} bytes a chunk; "
        f"text {m['text_bytes'] / 1e6:.1f} MB; {m['postings']} postings"
        + (f", {posting:.2f} bytes each in the index files" if posting else ""),
        f"memory      {m['anon_mb']:.1f} MB anonymous with two workers that searched ({m['anon_mb_opened']:.1f} when "
        f"opened, {m['anon_mb_before']:.1f} before; resident with mapped files {m['rss_mb']:.1f})",
        f"hits        {m['right']} of {m['checked']} searches as worked out from the corpus; `shared`: how many of "
        "kbgate's ten an engine has",
        f"ran on      {m['cpu']}, {m['cores']} cores, Linux {m['kernel']}; load {m['load_before']:.2f} before, "
        f"{m['load_after']:.2f} after; {m['date']}",
        f"versions    kbgate {m['kbgate_version']}, gcc {m['compiler']}, SQLite {m['sqlite_version']}, "
        f"Xapian {m.get('xapian_version', 'not measured')}",
    ]
    waited = m["kbgate_ms_mean"] / m["kbgate_cpu_ms_mean"]
    if waited > QUIET:
        lines.append(f"BUSY        a search took {waited:.1f} times its CPU time: something else ran; measure again in quiet")
    return "\n".join(lines)


# --- goals ------------------------------------------------------------------------------------------------------


def ms(m: dict, figure: str) -> tuple:
    """A figure by the clock on the wall and by CPU time."""
    engine, quantity = figure.split("_ms_")
    return m[figure], m[f"{engine}_cpu_ms_{quantity}"]


def ratios(m: dict, figure: str) -> tuple:
    return m.get(figure), m.get(figure + "_cpu")


def goals(m: dict, against: dict) -> list:
    """(what, figures, at least or at most, bound) for a run of this size; the first figure decides."""
    chunks, fifty = m["chunks"], m["partitions"] == 50
    means, p99s = ms(m, "kbgate_ms_mean"), ms(m, "kbgate_ms_p99")
    out = [("p99 over mean", tuple(p / mean for p, mean in zip(p99s, means)), "<=", 4),
           ("ingest, chunks/s", (m["ingest_chunks_per_s"],), ">=", 15_000)]
    if m["partitions"] == 500:
        out.append(("kbgate_ms_mean, 500 partitions", means, "<=", 1.5))
    if fifty:
        out.append(("index bytes a posting", (m.get("index_bytes_a_posting"),), "<=", 5))
    if fifty and chunks in (100_000, 1_000_000):
        bounds = (12, 3) if chunks == 100_000 else (50, 12)
        for name, bound in zip(("fts5_term_over_kbgate", "xapian_over_kbgate"), bounds):
            out.append((name, ratios(m, name), ">=", bound))
    if fifty and chunks == 1_000_000:
        out += [("all_kbgate_ms_mean", ms(m, "all_kbgate_ms_mean"), "<=", 2),
                ("all_xapian_over_kbgate", ratios(m, "all_xapian_over_kbgate"), ">=", 1),
                ("anonymous memory, MiB", (m["anon_mb"],), "<=", 64)]
        if against:
            growth = tuple(now / then for now, then in zip(means, ms(against, "kbgate_ms_mean")))
            out.append(("mean over that at 100,000 chunks", growth, "<=", 3))
    return out


def judge(m: dict, against: dict) -> bool:
    missed = 0
    for what, shown, order, bound in goals(m, against):
        figure = shown[0]
        good = figure is not None and (figure <= bound if order == "<=" else figure >= bound)
        missed += not good
        text = "not measured" if figure is None else f"{figure:.2f}"
        by_cpu = f", by CPU time {shown[1]:.2f}" if len(shown) > 1 and shown[1] is not None else ""
        print(f"{'PASS' if good else 'FAIL'}  {what}: {text}{by_cpu} (goal {order} {bound})")
    return missed == 0


def report(work: Path, out: Path, arguments: list) -> int:
    given = dict(pair.split("=", 1) for pair in arguments if "=" in pair)
    against = json.loads(Path(given.pop("against")).read_text()) if "against" in given else {}
    m = figures(work, given)
    out.write_text(json.dumps(m, indent=1) + "\n")
    print(table(m))
    if "--check" not in arguments:
        return 0
    print()
    return 0 if judge(m, against) else 1


def main() -> int:
    if len(sys.argv) >= 4 and sys.argv[1] == "ingest":
        return ingest(Path(sys.argv[2]), sys.argv[3:])
    if len(sys.argv) >= 4 and sys.argv[1] == "report":
        return report(Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4:])
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
