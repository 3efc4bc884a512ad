# SPDX-License-Identifier: Apache-2.0
"""A retry changes nothing: the same bytes on every connection, after a restart, with and without cache and
on a CPU that lacks fused multiply-add."""

import concurrent.futures
import http.client
import json
import platform

import pytest

CALL = {"query": "how do I book travel and hand in receipts", "top_k": 10}
BROAD = {"query": "travel receipts parental leave passwords laptop invoices liability printer languages salary", "top_k": 20}
# glibc's own switch: what libm and string functions would otherwise pick by CPU.
NO_FMA = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2_Usable,-FMA_Usable,-AVX2,-FMA,-FMA4,-AVX512F"}

# Every setting of `answer:` with another value than its default.
SETTINGS = {
    "bm25_k1_milli": 1300, "bm25_b_milli": 700, "candidate_depth": 60, "rrf_k": 61, "lexical_weight": 2,
    "chunks_per_document": 3, "also_in_max": 4, "byte_budget": 50000,
}


def bodies(server, token, times, connections=8):
    """The distinct bodies of `times` equal calls over this many kept-alive connections."""
    message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search_kb", "arguments": CALL}})
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def one(_):
        seen = set()
        connection = http.client.HTTPConnection(server.host, timeout=30)
        for _ in range(times // connections):
            connection.request("POST", "/mcp", message, headers)
            answer = connection.getresponse()
            assert answer.status == 200
            seen.add(answer.read())
        connection.close()
        return seen

    with concurrent.futures.ThreadPoolExecutor(connections) as pool:
        return set.union(*pool.map(one, range(connections)))


def test_a_thousand_calls_have_one_answer(own_server):
    seen = set()
    server = own_server()
    token = server.mint("kb:read kb:all")
    seen |= bodies(server, token, 400)
    server.restart()
    seen |= bodies(server, token, 200)
    server.config.write_text(server.config.read_text() + "cache_bytes: 0\n")
    server.restart()
    seen |= bodies(server, token, 200)
    if platform.machine() == "x86_64":
        server.restart(NO_FMA)
    seen |= bodies(server, token, 200)
    assert len(seen) == 1


def test_top_k_is_a_prefix(server, token):
    for query in (CALL["query"], "travel", "leave policy laptop invoices"):
        longest = server.search(token, query, top_k=20)["results"]
        for k in (1, 2, 5, 10):
            assert server.search(token, query, top_k=k)["results"] == longest[:k]


def test_scores_fall_and_have_six_decimals(server, token):
    reply = server.rpc("tools/call", {"name": "search_kb", "arguments": CALL}, token)
    scores = [r["score"] for r in json.loads(reply.body, parse_float=str)["result"]["structuredContent"]["results"]]
    assert scores[0] == "1.000000"
    assert all(len(s.split(".")[1]) == 6 for s in scores)
    assert [float(s) for s in scores] == sorted(map(float, scores), reverse=True)


def test_equal_text_is_one_result_that_names_its_other_places(server, token):
    results = server.search(token, "ZEPPELIN-7", top_k=20)["results"]
    holders = [r for r in results if "ZEPPELIN-7" in r["text"]]
    # Heading lines differ between the two documents, so equal text is checked where it is equal.
    texts = [r["text"].split("| ", 1)[1] for r in holders]
    assert len(texts) == len(set(texts))


@pytest.mark.parametrize("setting", SETTINGS)
def test_every_setting_of_an_answer_changes_the_version(own_server, server, token, setting):
    standard = server.search(token, "travel")["index_version"]
    other = own_server(config=f"answer: {{{setting}: {SETTINGS[setting]}}}\n")
    changed = other.search(other.mint("kb:read kb:all"), "travel")["index_version"]
    assert changed != standard


def test_the_fence_key_changes_the_version_and_the_same_key_does_not(own_server, server, token):
    standard = server.search(token, "travel")["index_version"]
    same = own_server()
    assert same.search(same.mint("kb:read kb:all"), "travel")["index_version"] == standard
    other = own_server(start=False)
    (other.home / "fence.key").write_bytes(b"k" * 32)
    other.start()
    assert other.search(other.mint("kb:read kb:all"), "travel")["index_version"] != standard


def test_byte_budget_cuts_between_words_and_says_so(own_server):
    tight = own_server(config="answer: {byte_budget: 4096}\n")
    token = tight.mint("kb:read kb:all")
    reply = tight.rpc("tools/call", {"name": "search_kb", "arguments": BROAD}, token)
    outcome = reply.json()["result"]["structuredContent"]
    assert outcome["truncated"] is True and outcome["results"]
    assert len(reply.body) <= 4096 + 512  # the budget leaves the JSON-RPC envelope aside
    roomy = own_server()
    full = roomy.search(roomy.mint("kb:read kb:all"), **BROAD)
    assert "truncated" not in full
    assert [r["chunk_id"] for r in outcome["results"]] == [r["chunk_id"] for r in full["results"]][: len(outcome["results"])]


def test_etag_is_the_body_and_a_match_sends_none(server, token, restricted_token):
    first = server.request("GET", "/v1/search?q=travel", token)
    etag = first.header("ETag")
    again = server.request("GET", "/v1/search?q=travel", token, [("If-None-Match", etag)])
    assert (again.status, again.body, again.header("ETag")) == (304, b"", etag)
    other = server.request("GET", "/v1/search?q=travel", restricted_token, [("If-None-Match", etag)])
    assert other.status == 200, "another caller's answer is another body"
    assert server.request("GET", "/v1/search?q=travel", None, [("If-None-Match", etag)]).status == 401
    assert first.header("Cache-Control") == "private, no-cache" and first.header("Vary") == "Authorization"
