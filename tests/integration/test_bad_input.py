# SPDX-License-Identifier: Apache-2.0
"""Queries and corpora that nobody meant: each has one outcome, the same by every way in."""

import json
import os
import resource
import subprocess
from pathlib import Path
from urllib.parse import urlencode

import pytest

import service as kb

FOUND, EMPTY, INVALID = "found", "empty", "invalid_input"
ANSWERED = "found or empty"  # whether that little is about the query is not the question here
JSON_TYPE = [("Content-Type", "application/json")]

# Of two letters each, since 500 words have to fit into 2,000 characters; no document has them.
WORDS = [f"{a}{b}" for a in "αβγδεζηθικλμνξοπρστυφχψω" for b in "bcdfghjklmnpqrstvwxyz"][:500]

# What somebody sees as one character may be several to Unicode; a query needs one letter or digit.
QUERIES = {
    "one letter": ("q", EMPTY),
    "one digit": ("7", FOUND),
    "one Han character": ("休", FOUND),
    "one kana": ("か", FOUND),
    "a letter that no document has": ("語", EMPTY),
    "one emoji": ("\U0001f600", INVALID),
    "an emoji of several": ("\U0001f468\u200d\U0001f469\u200d\U0001f467", INVALID),
    "a keycap is a digit": ("7\ufe0f\u20e3", FOUND),
    "an emoji and a word": ("\U0001f600 travel", FOUND),
    "2,000 letters past the BMP": ("\U00020000" * 2000, EMPTY),
    "2,001 of them": ("\U00020000" * 2001, INVALID),
    "2,000 characters that compose": ("e\u0301" * 2000, EMPTY),
    "2,000 ligatures of 18 letters": ("\ufdfa" * 2000, EMPTY),
    "one letter under 1,999 marks": ("q" + "\u0301" * 1999, EMPTY),
    "500 words": (" ".join(WORDS), EMPTY),
    "500 words, the first is known": (" ".join(["travel", *WORDS[1:]]), ANSWERED),
    "one word 285 times": ("travel " * 285, FOUND),
    "words of five scripts": ("цеппелин ツェッペリン זפלין زبلين ZEPPELIN-7", ANSWERED),
    "Latin and Cyrillic in one word": ("trаvel", EMPTY),  # its second vowel is Cyrillic
    "right-to-left marks around": ("\u200fZEPPELIN-7\u202e", FOUND),
    "right-to-left marks within": ("ZEP\u200f\u2067PELIN-7", FOUND),
    "format characters within": ("tra\u00ad\u200b\u2060vel", FOUND),
    "format characters alone": ("\u200b\u200d\u2060\u202e\ufeff", INVALID),
    "right-to-left marks alone": ("\u200f\u202b", INVALID),
    "tag characters alone": ("\U000e0041\U000e007f", INVALID),
    "combining marks alone": ("\u0301\u0302\u20dd", INVALID),
    "variation selectors alone": ("\ufe0f\ufe0e", INVALID),
    "signs alone": ("++ # _ \u24b6", INVALID),
    "a letter that is a filler": ("\u3164", EMPTY),
    "other fillers": ("\u115f\u1160\uffa0", EMPTY),
    "a filler and a word": ("travel\u3164", FOUND),
    "replacement character": ("\ufffd", INVALID),
    "no characters": ("\uffff\U0010ffff", INVALID),
    "private use": ("\ue000", INVALID),
    "unassigned": ("\u0378", INVALID),
    "NUL": ("\0", INVALID),
    "NUL behind a word": ("travel\0", INVALID),
    "escape sequence": ("travel\x1b[2J", INVALID),
    "C1 control": ("travel\u009b", INVALID),
}


def outcome_of(content: dict) -> str:
    return content["error"]["type"] if "error" in content else FOUND


@pytest.mark.parametrize("query, expected", QUERIES.values(), ids=QUERIES.keys())
def test_a_query_has_one_outcome_by_every_way_in(server, token, query, expected):
    seen = []
    for modern in (False, True):
        result = server.call(token, modern, query=query)
        assert result["isError"] is (expected == INVALID)
        assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
        seen.append(result["structuredContent"])
    status = 400 if expected == INVALID else 200
    posted = server.request("POST", "/v1/search", token, JSON_TYPE, json.dumps({"query": query}))
    assert posted.status == status, posted.body
    seen.append(posted.json())
    if "\0" not in query and "\ufffd" not in query:
        got = server.request("GET", "/v1/search?" + urlencode({"q": query}), token)
        assert got.status == status and got.body == posted.body
    for content in seen:
        assert outcome_of(content) in ((FOUND, EMPTY) if expected == ANSWERED else (expected,)), content
        assert content.get("error") == seen[0].get("error")
        assert [r["chunk_id"] for r in content["results"]] == [r["chunk_id"] for r in seen[0]["results"]]
        if expected == INVALID:
            assert content["error"]["field"] == "query"


# The bytes of a JSON text, quotes included. None is valid JSON for us: RFC 8259 §8.2 leaves lone surrogates open.
NO_JSON = {
    "high surrogate": b'"\\ud800"',
    "low surrogate": b'"\\udc00"',
    "high surrogate before a letter": b'"a\\ud800b"',
    "a pair the wrong way round": b'"\\udc00\\ud800"',
    "two high surrogates": b'"\\ud83d\\ud83d\\ude00"',
    "surrogate as UTF-8": b'"\xed\xa0\x80"',
    "pair as UTF-8": b'"\xed\xa0\xbd\xed\xb8\x80"',
    "bytes that are no UTF-8": b'"a\xff"',
    "overlong": b'"\xc0\xaf"',
    "past the last code point": b'"\xf4\x90\x80\x80"',
    "raw NUL": b'"a\0"',
    "raw newline": b'"a\n"',
}


def mcp_body(text: bytes, modern: bool) -> tuple:
    meta = {
        "io.modelcontextprotocol/protocolVersion": kb.MODERN,
        "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_kb","arguments":{"query":%s}' % text
    body += b',"_meta":%s}}' % json.dumps(meta).encode() if modern else b"}}"
    headers = [("MCP-Protocol-Version", kb.MODERN if modern else kb.LEGACY)]
    return body, headers + ([("Mcp-Method", "tools/call"), ("Mcp-Name", "search_kb")] if modern else [])


@pytest.mark.parametrize("text", NO_JSON.values(), ids=NO_JSON.keys())
def test_what_is_no_text_is_no_message(server, token, text):
    for modern in (False, True):
        body, headers = mcp_body(text, modern)
        reply = server.post(body, token, headers)
        assert reply.status == 400 and reply.json()["error"]["code"] == -32700 and "id" not in reply.json()
    reply = server.request("POST", "/v1/search", token, JSON_TYPE, b'{"query":%s}' % text)
    assert reply.status == 400
    assert (reply.json()["error"]["type"], reply.json()["error"]["field"]) == (INVALID, "arguments")


def test_a_whole_pair_of_surrogates_is_one_character(server, token):
    for modern in (False, True):
        for text, expected in ((b'"\\ud83d\\ude00"', INVALID), (b'"\\ud83d\\ude00 travel"', FOUND)):
            body, headers = mcp_body(text, modern)
            assert outcome_of(server.post(body, token, headers).json()["result"]["structuredContent"]) == expected


@pytest.mark.parametrize("escaped", ["%ED%A0%80", "%00", "travel%00", "a%FF", "%", "%4", "%zz", "%C0%AF"])
def test_broken_escapes_in_a_query_string(server, token, escaped):
    reply = server.request("GET", "/v1/search?q=" + escaped, token)
    assert reply.status == 400
    assert (reply.json()["error"]["type"], reply.json()["error"]["field"]) == (INVALID, "arguments")


# --- corpora ---------------------------------------------------------------------------------------------

WHERE = ["--collection", "handbook", "--doc-type", "note", "--label", "public"]


def ingest(store: Path, folder: Path, check=True, seconds=120):
    """kbgate ingest with a report on standard output."""
    command = [kb.KBGATE, "ingest", "--store", store, folder, *WHERE, "--json", "--quiet"]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=seconds)
    assert not check or done.returncode == 0, done.stderr
    return done


def write(folder: Path, files: dict) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        if isinstance(content, list):
            content = "".join(json.dumps(record) + "\n" for record in content)
        (folder / name).write_text(content, encoding="utf-8")
    return folder


def search(store: Path, query: str, *args) -> dict:
    return json.loads(kb.run("search", "--store", store, "--json", query, *args).stdout)


@pytest.mark.parametrize("files", [{}, {"a.md": ""}, {"a.md": "\n \n", "b.txt": "", "c.html": "", "d.jsonl": "\n"}],
                         ids=["no file", "an empty file", "nothing but blanks"])
def test_nothing_is_not_published(tmp_path, files):
    store = tmp_path / "store"
    folder = write(tmp_path / "corpus", files)
    done = ingest(store, folder, check=False)
    assert done.returncode == 1 and "nothing to ingest" in done.stderr
    assert not store.exists()
    searched = kb.run("search", "--store", store, "travel", check=False)
    assert searched.returncode == 1 and "no index here yet" in searched.stderr and "kbgate ingest" in searched.stderr
    # And what is published stays.
    ingest(store, write(tmp_path / "good", {"a.md": "lanterns\n"}))
    before = sorted(path.name for path in store.rglob("*"))
    assert ingest(store, folder, check=False).returncode == 1
    assert sorted(path.name for path in store.rglob("*")) == before
    assert search(store, "lanterns")["results"]


def test_a_store_without_documents_is_served_and_empty(tmp_path, own_server):
    """No ingest makes one; whoever takes the last segment off the list of a generation does."""
    store = tmp_path / "nothing"
    ingest(store, write(tmp_path / "corpus", {"a.md": "lanterns\n"}))
    generation = store / "generations" / (store / "CURRENT").read_text().strip()
    generation.write_text(json.dumps(json.loads(generation.read_text()) | {"segments": []}))
    assert search(store, "travel")["error"]["type"] == EMPTY
    server = own_server(store=store)
    token = server.mint("kb:read kb:all")
    for modern in (False, True):
        outcome = server.call(token, modern, query="travel")["structuredContent"]
        assert outcome["error"]["type"] == EMPTY and outcome["results"] == []
        assert outcome["index_version"].startswith("kb1-")
    assert outcome_of(server.search(token, "travel", published_from="2024-01-01")) == EMPTY
    assert outcome_of(server.search(token, "travel", collection="handbook")) == INVALID
    index = server.rpc("resources/read", {"uri": "kb://index"}, token).json()["result"]["contents"][0]["text"]
    assert json.loads(index)["collections"] == []
    ingest(store, tmp_path / "corpus")
    server.restart()
    assert server.search(token, "lanterns")["results"][0]["doc_id"] == "a.md"


def test_one_document(tmp_path):
    store = tmp_path / "store"
    ingest(store, write(tmp_path / "corpus", {"a.txt": "lantern"}))
    only = search(store, "lanterns", "--top-k", "20")
    assert [(r["doc_id"], r["score"], r["text"]) for r in only["results"]] == [("a.txt", 1.0, "lantern")]
    assert "also_in" not in only["results"][0] and "truncated" not in only
    assert search(store, "lanterns of the moon")["index_version"] == only["index_version"]
    assert search(store, "moon")["error"]["type"] == EMPTY


# Seconds of processor time of this process's children so far.
def children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def process_cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def equal_documents(n: int) -> dict:
    return {"equal.jsonl": [{"id": f"d{i:05}", "title": "Lanterns", "text": "Lanterns are lit at dusk."} for i in range(n)]}


def test_10000_equal_documents_are_one_result(tmp_path, own_server):
    spent = {}
    for n in (1000, 10000):
        store = tmp_path / f"store{n}"
        folder = write(tmp_path / f"corpus{n}", equal_documents(n))
        before = children_cpu()
        assert json.loads(ingest(store, folder).stdout)["documents"] == n
        ingesting = children_cpu() - before
        server = own_server(store=store, config="cache_bytes: 0\n")
        token = server.mint("kb:read")
        before = process_cpu(server.process.pid)
        bodies = {json.dumps(server.search(token, "lanterns at dusk", top_k=20)) for _ in range(20)}
        spent[n] = (ingesting, process_cpu(server.process.pid) - before)
        server.restart()
        bodies.add(json.dumps(server.search(token, "lanterns at dusk", top_k=20)))
        assert len(bodies) == 1
        (outcome,) = [json.loads(body) for body in bodies]
        assert [r["chunk_id"] for r in outcome["results"]] == ["handbook/d00000/0"]
        assert outcome["results"][0]["also_in"] == [f"handbook/d{i:05}/0" for i in range(1, 6)]
        assert outcome["results"][0]["score"] == 1.0
    # Ten times the documents: about ten times the work, not a hundred times. The fixed part is what noise there is.
    for few, many in zip(spent[1000], spent[10000]):
        assert many < 40 * max(few, 0.05), spent


FIFTY_MB = 50 * 1024 * 1024


def test_one_document_of_50_mb(tmp_path, own_server):
    """Sections of 30 long words each, so that most of the time goes into bytes and not into words."""
    store, sections, size = tmp_path / "store", [], 0
    while size < FIFTY_MB:
        i = len(sections)
        words = " ".join(f"{i * 7919 % 9973:05}{'lamp' * 14}{k:02}" for k in range(30))
        sections.append(f"## Section {i}\n\nmarker{i} {words}\n\n")
        size += len(sections[-1])
    folder = write(tmp_path / "corpus", {"big.md": "".join(sections)})
    assert (folder / "big.md").stat().st_size >= FIFTY_MB
    report = json.loads(ingest(store, folder, seconds=500).stdout)
    assert (report["documents"], report["skipped"]) == (1, 0) and report["chunks"] > 10000
    server = own_server(store=store)
    token = server.mint("kb:read")
    for i in (0, len(sections) // 2, len(sections) - 1):
        results = server.search(token, f"marker{i}", top_k=1)["results"]
        assert f"marker{i} " in results[0]["text"] and results[0]["doc_id"] == "big.md"
    last = results[0]["position"]
    reply = server.rpc("resources/read", {"uri": "kb://doc/handbook/big.md"}, token)
    text = reply.json()["result"]["contents"][0]["text"]
    assert len(reply.body) <= 49152 + 512 and "marker0 " in text and "marker9999 " not in text
    assert "kb://chunk/handbook/big.md/" in text, "the rest is listed"
    chunk = server.rpc("resources/read", {"uri": f"kb://chunk/handbook/big.md/{last}"}, token).json()
    assert f"marker{len(sections) - 1} " in chunk["result"]["contents"][0]["text"]
    for position in (last + 1, 2**31 - 1):
        missing = server.rpc("resources/read", {"uri": f"kb://chunk/handbook/big.md/{position}"}, token).json()
        assert "error" in missing


def test_a_ready_passage_of_50_mb_is_refused(tmp_path):
    words = "lantern " * (FIFTY_MB // 8)
    folder = write(tmp_path / "corpus", {"r.jsonl": [{"id": "huge", "text": words}, {"id": "small", "text": "lantern"}]})
    report = json.loads(ingest(tmp_path / "store", folder).stdout)
    assert report["documents"] == 1
    (skipped,) = report["skipped_items"]
    assert (skipped["path"], skipped["line"]) == ("r.jsonl", 1)
    assert "256 KiB" in skipped["reason"] and "body" in skipped["reason"]


@pytest.mark.parametrize("size, fits", [(262143, True), (262144, True), (262145, False)])
def test_a_ready_passage_has_a_limit(tmp_path, size, fits):
    folder = write(tmp_path / "corpus", {"r.jsonl": [{"id": "a", "text": "x" * size}, {"id": "b", "text": "lantern"}]})
    report = json.loads(ingest(tmp_path / "store", folder).stdout)
    assert report["documents"] == 1 + fits and report["skipped"] == 1 - fits


def test_a_file_over_the_limit_is_left_out(tmp_path):
    folder = write(tmp_path / "corpus", {"a.md": "lantern\n"})
    with open(folder / "huge.txt", "wb") as file:
        file.truncate(64 * 1024 * 1024 + 1)
    report = json.loads(ingest(tmp_path / "store", folder).stdout)
    assert report["documents"] == 1 and [s["path"] for s in report["skipped_items"]] == ["huge.txt"]


def test_documents_without_words_are_read_and_never_found(tmp_path, own_server):
    store = tmp_path / "store"
    silent = {"dots.md": "… — !!!\n", "emoji.txt": "\U0001f600\U0001f600", "filler.txt": "\u3164", "marks.txt": "\u0301"}
    ingest(store, write(tmp_path / "corpus", silent | {"dots.jsonl": [{"id": "r", "title": "?", "text": "***"}]}))
    server = own_server(store=store)
    token = server.mint("kb:read")
    index = server.rpc("resources/read", {"uri": "kb://index"}, token).json()["result"]["contents"][0]["text"]
    assert json.loads(index)["collections"][0]["documents"] == 5
    assert "…" in server.rpc("resources/read", {"uri": "kb://doc/handbook/dots.md"}, token).json()["result"]["contents"][0]["text"]
    for query in ("x", "the", "travel"):
        assert outcome_of(server.search(token, query)) == EMPTY
    # Titles that come from file names are words.
    assert [r["doc_id"] for r in server.search(token, "emoji")["results"]] == ["emoji.txt"]


def test_a_word_of_1_mb(tmp_path, own_server):
    store = tmp_path / "store"
    files = {"word.txt": "a" * 1000000 + " lantern", "han.txt": "語" * 350000, "other.txt": "a lamp"}
    report = json.loads(ingest(store, write(tmp_path / "corpus", files)).stdout)
    assert report["documents"] == 3 and report["skipped"] == 0
    server = own_server(store=store)
    token = server.mint("kb:read")
    assert server.search(token, "lantern")["results"][0]["doc_id"] == "word.txt"
    han = server.search(token, "語語", top_k=20)["results"]
    assert han[0]["doc_id"] == "han.txt" and len(han) <= 3, "equal pieces are one text"
    for query in ("a" * 2000, "a" * 100, "語" * 2000):
        assert outcome_of(server.search(token, query)) in (FOUND, EMPTY)
    for name in ("word.txt", "han.txt"):
        reply = server.rpc("resources/read", {"uri": f"kb://doc/handbook/{name}"}, token)
        assert reply.status == 200 and len(reply.body) <= 49152 + 512 and "error" not in reply.json()


def test_a_title_of_10_kb_is_cut_and_searched(tmp_path, own_server):
    store = tmp_path / "store"
    records = [
        {"id": "word", "title": "T" * 10240, "text": "one lantern"},
        {"id": "words", "title": "wick " * 2048 + "snuffer", "text": "two lanterns"},
        {"id": "wide", "title": "灯" * 3413, "text": "three lanterns"},
    ]
    report = json.loads(ingest(store, write(tmp_path / "corpus", {"r.jsonl": records})).stdout)
    assert report["documents"] == 3 and report["skipped"] == 0
    server = own_server(store=store)
    token = server.mint("kb:read")
    results = {r["doc_id"]: r for r in server.search(token, "lanterns", top_k=20)["results"]}
    assert set(results) == {"word", "words", "wide"}
    for record in records:
        shown = results[record["id"]]["title"]
        assert 0 < len(shown.encode()) <= 520 and record["title"].startswith(shown.rstrip("….").rstrip()), shown
    assert server.search(token, "wick")["results"][0]["doc_id"] == "words"
    assert outcome_of(server.search(token, "snuffer")) == EMPTY, "what is cut off is not indexed either"
