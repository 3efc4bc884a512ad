#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a corpus of ready chunks whose word frequencies follow Zipf's law, as those of real text do.

Usage: corpus.py CHUNKS FILE.jsonl WORDS.txt

WORDS.txt gets the vocabulary, a word a line, most frequent first. The same arguments always give the
same files.
"""

import itertools
import json
import random
import sys
from pathlib import Path

VOCABULARY = 30_000
SYLLABLES = [c + v for c in "bdfgklmnprtvwz" for v in "aeiou"]


def words() -> list:
    """Made-up words, the frequent ones short; stems and stop words of English leave them alone."""
    shapes = itertools.chain(*(itertools.product(SYLLABLES, repeat=n) for n in (2, 3)))
    return ["".join(shape) + "k" for shape in itertools.islice(shapes, VOCABULARY)]


def sentences(rng: random.Random, drawn: list):
    while drawn:
        n = rng.randint(6, 20)
        yield " ".join(drawn[:n]).capitalize() + "."
        del drawn[:n]


def main() -> None:
    n_chunks, corpus, vocabulary = int(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
    rng = random.Random(1)
    names = words()
    weights = list(itertools.accumulate(1 / rank for rank in range(1, len(names) + 1)))
    vocabulary.write_text("".join(name + "\n" for name in names))
    with corpus.open("w") as out:
        for i in range(n_chunks):
            drawn = rng.choices(names, cum_weights=weights, k=rng.randint(120, 300))
            title = " ".join(drawn[:4]).capitalize()
            text = " ".join(sentences(rng, drawn))
            out.write(json.dumps({"id": f"doc-{i:07}", "title": title, "text": text}) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main()
