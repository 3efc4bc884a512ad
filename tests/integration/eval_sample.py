#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks the questions of a sample corpus and counts how often the answering file is in the top 5.

Usage: eval_sample.py KBGATE FOLDER [--at-least N]
FOLDER holds documents, manifest.jsonl and queries.jsonl ({"id", "text", "collection", "answer_path"}).
The last line is "N passed, M failed": one check for the ingest and one for the bar.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOP_K = 5


def search(kbgate: str, store: Path, query: str) -> list:
    command = [kbgate, "search", "--store", str(store), "--top-k", str(TOP_K), "--json", query]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return json.loads(done.stdout)["results"]


def rank_of(results: list, path: str) -> int | None:
    """1 for the best; a duplicate that was folded into a result counts as that result."""
    for rank, result in enumerate(results, 1):
        if result["doc_id"] == path or any(f"/{path}/" in f"/{chunk}" for chunk in result.get("also_in", [])):
            return rank
    return None


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("kbgate")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--at-least", type=int, default=25)
    args = parser.parse_args()
    questions = [json.loads(line) for line in (args.folder / "queries.jsonl").read_text().splitlines() if line]
    with tempfile.TemporaryDirectory() as scratch:
        store = Path(scratch) / "store"
        command = [args.kbgate, "ingest", "--store", str(store), str(args.folder)]
        command += ["--manifest", str(args.folder / "manifest.jsonl")]
        start = time.monotonic()
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        if done.returncode != 0:
            print(done.stderr)
            print("0 passed, 2 failed")
            return 1
        print(f"{done.stdout.strip()} ({time.monotonic() - start:.1f} s)")
        ranks = {}
        for question in questions:
            ranks[question["id"]] = rank_of(search(args.kbgate, store, question["text"]), question["answer_path"])
    hits = {k: sum(1 for rank in ranks.values() if rank and rank <= k) for k in (1, 3, 5)}
    print(f"top 1: {hits[1]}, top 3: {hits[3]}, top 5: {hits[5]} of {len(questions)}; at least {args.at_least} wanted")
    for question in questions:
        if not ranks[question["id"]]:
            print(f"  missed {question['id']}: {question['answer_path']}")
    good = hits[5] >= args.at_least
    print(f"{1 + good} passed, {1 - good} failed")
    return 0 if good else 1


sys.exit(main())
