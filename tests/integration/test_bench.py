# SPDX-License-Identifier: Apache-2.0
"""The retrieval benchmark runs, finds the right hits and writes every figure; what they are is not asked."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import service as kb

pytestmark = pytest.mark.bench

PROGRAMS = Path(kb.KBGATE).resolve().parent / "tests" / "bench" / "engines"
SCRIPT = kb.TOP / "tests" / "bench" / "retrieval"
QUANTITIES = ("mean", "p50", "p95", "p99")
ELSEWHERE = {
    "chunks", "partitions", "cores", "date", "cpu", "kernel", "compiler", "kbgate_version", "sqlite_version", "seed",
    "ingest_s", "ingest_chunks_per_s", "ingest_cpu_s", "ingest_max_rss_mb", "store_bytes", "store_idx_bytes",
    "store_seg_bytes", "index_bytes_a_posting", "text_bytes", "postings",
    "anon_mb", "load_before", "checked", "right",
}


def bench(*arguments):
    assert (PROGRAMS / "bench_retrieval").exists(), f"no {PROGRAMS}/bench_retrieval: build the target"
    environment = os.environ | {"KBGATE_BIN": str(Path(kb.KBGATE).resolve()), "KB_BENCH_DIR": str(PROGRAMS)}
    return subprocess.run([SCRIPT, *arguments], capture_output=True, text=True, env=environment, timeout=100)


@pytest.fixture(scope="module")
def figures(tmp_path_factory):
    out = tmp_path_factory.mktemp("bench") / "figures.json"
    done = bench("--chunks", "2000", "--only", "kbgate,fts5", "--questions", "30", "--rounds", "2", "--seconds", "1",
                 "--json", str(out))
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(out.read_text()) | {"table": done.stdout}


def test_every_figure_is_there(figures):
    wanted = set(ELSEWHERE)
    for prefix in ("", "all_"):
        for engine in ("kbgate", "kbgate_answer", "fts5_term", "fts5_joined"):
            wanted |= {f"{prefix}{engine}_{clock}_{q}" for clock in ("ms", "cpu_ms") for q in QUANTITIES}
            wanted |= {f"{prefix}{engine}_{name}" for name in ("questions", "hits", "shared")}
            wanted |= {f"{prefix}{engine}_over_kbgate{c}" for c in ("", "_cpu") if engine != "kbgate"}
    assert wanted <= set(figures), wanted - set(figures)
    assert "xapian_ms_mean" not in figures
    assert all(figures[name] > 0 for name in wanted if name.endswith(("_mean", "_over_kbgate")))


def test_the_table_has_a_row_for_each_engine_and_caller(figures):
    for row in ("kbgate  ", "kbgate, answer written", "FTS5, filter as a term", "FTS5, filter joined"):
        assert figures["table"].count(f"  {row}") == 2, figures["table"]


def test_hits_are_those_worked_out_from_the_corpus(figures):
    assert figures["right"] == figures["checked"] == 40
    assert figures["all_kbgate_hits"] > 9 and figures["all_fts5_term_shared"] > 5


def test_it_leaves_nothing_behind(figures):
    assert not list((kb.TOP / "build/bench/retrieval").glob("2000-50-*"))


def test_the_corpus_is_the_same_at_every_size(tmp_path):
    """Indexes kept from an earlier run are of the text that the next one ingests."""
    written = {}
    for n, partitions in ((1000, 50), (1400, 50), (1000, 100)):
        place = tmp_path / f"{n}-{partitions}"
        (place / "corpus").mkdir(parents=True)
        subprocess.run([PROGRAMS / "bench_corpus", str(n), str(partitions), "20", place], check=True, capture_output=True)
        written[n, partitions] = (place / "corpus/000.jsonl").read_text().splitlines()
    assert written[1400, 50][:1000] == written[1000, 50]
    chunks, others = [[json.loads(line) for line in written[1000, p]] for p in (50, 100)]
    assert [c["text"] for c in chunks] == [c["text"] for c in others]
    assert len({(c["collection"], c["doc_type"], *c["labels"]) for c in chunks}) > 30
    assert 550 < sum(len(c["text"]) for c in chunks) / len(chunks) < 700
    assert all(60 <= len(c["text"].split()) <= 140 for c in chunks)


def test_wrong_hits_are_noticed(tmp_path):
    """The store lacks the last tenth of the corpus that the judge reads."""
    (tmp_path / "corpus").mkdir()
    subprocess.run([PROGRAMS / "bench_corpus", "900", "10", "10", tmp_path], check=True, capture_output=True)
    kb.run("ingest", "--store", str(tmp_path / "store"), str(tmp_path / "corpus"))

    def check(chunks):
        return subprocess.run([PROGRAMS / "bench_retrieval", "check", "--dir", tmp_path, "--chunks", chunks, "--partitions",
                               "10", "--questions", "10"], capture_output=True, text=True)

    assert check("900").returncode == 0
    wrong = check("1000")
    assert wrong.returncode == 1 and "wrong hits for" in wrong.stderr


@pytest.mark.parametrize("arguments", [
    ("--chunks", "999"), ("--chunks", "5000001"), ("--partitions", "45"), ("--partitions", "510"), ("--rounds", "0"),
    ("--only", "lucene"), ("--json",), ("--fast",),
])
def test_bad_usage_is_refused(arguments):
    done = bench(*arguments)
    assert done.returncode == 2 and done.stderr.count("\n") == 1


def test_goals_are_judged():
    sys.path.insert(0, str(SCRIPT.parent))
    import retrieval_report as report

    good = {"chunks": 1_000_000, "partitions": 50, "kbgate_ms_mean": 0.1, "kbgate_ms_p99": 0.3, "kbgate_cpu_ms_mean": 0.1,
            "kbgate_cpu_ms_p99": 0.3, "ingest_chunks_per_s": 15_000, "fts5_term_over_kbgate": 50, "xapian_over_kbgate": 12,
            "all_kbgate_ms_mean": 2, "all_kbgate_cpu_ms_mean": 2, "all_xapian_over_kbgate": 1, "anon_mb": 64,
            "index_bytes_a_posting": 5}
    before = good | {"kbgate_ms_mean": 0.034}
    assert report.judge(good, before)
    for name, worse in {"kbgate_ms_p99": 0.41, "ingest_chunks_per_s": 14_999, "fts5_term_over_kbgate": 49,
                        "xapian_over_kbgate": None, "all_kbgate_ms_mean": 2.1, "all_xapian_over_kbgate": 0.9, "anon_mb": 65,
                        "index_bytes_a_posting": None}.items():
        assert not report.judge(good | {name: worse}, before), name
    assert not report.judge(good, before | {"kbgate_ms_mean": 0.033})
    assert report.judge(good | {"chunks": 100_000, "fts5_term_over_kbgate": 12, "xapian_over_kbgate": 3}, {})
    assert not report.judge(good | {"chunks": 100_000, "fts5_term_over_kbgate": 11}, {})
    assert not report.judge(good | {"partitions": 500, "kbgate_ms_mean": 1.6}, {})
