# SPDX-License-Identifier: Apache-2.0
"""A hidden document does not exist: not a hit, a score, an order, a version, a name or a byte of it."""

import shutil

import pytest

import corpus
import service as kb

HIDDEN_WORDS = ["QUILLON-9", "VESPER-2", "BARNACLE-4", "HALCYON-3", "salary bands", "supply agreement"]
HIDDEN_NAMES = [b"salary-bands", b"embargo", b"acme-supply", b"contracts", b"QUILLON", b"VESPER", b"BARNACLE", b"HALCYON"]
QUERIES = ["travel", "ZEPPELIN-7", "休暇", "printer paper", "parental leave weeks", "zzzunknown", *HIDDEN_WORDS]


def observe(server, token) -> dict:
    """Every byte this caller can get, by request."""
    seen = {}

    def keep(name, reply):
        headers = [(n.lower(), v) for n, v in reply.headers if n.lower() not in ("date", "x-request-id")]
        seen[name] = (reply.status, sorted(headers), reply.body)

    for modern in (False, True):
        for method in ("tools/list", "resources/list", "resources/templates/list", "prompts/list"):
            keep((method, modern), server.rpc(method, {}, token, modern))
        for uri in ("kb://index", "kb://doc/handbook/handbook/travel.md", "kb://chunk/handbook/handbook/travel.md/0",
                    "kb://doc/handbook/handbook/salary-bands.md", "kb://doc/contracts/contracts/acme-supply.md",
                    "kb://doc/contracts/nothing.md", "kb://chunk/contracts/contracts/acme-supply.md/0"):
            keep((uri, modern), server.rpc("resources/read", {"uri": uri}, token, modern))
        for query in QUERIES:
            for extra in ({}, {"top_k": 20}, {"collection": "handbook"}, {"collection": "contracts"}, {"doc_type": "contract"},
                          {"published_from": "2020-01-01"}):
                arguments = {"query": query, **extra}
                keep((str(arguments), modern), server.rpc("tools/call", {"name": "search_kb", "arguments": arguments}, token, modern))
    for path in ("/v1/search?q=travel", "/v1/search?q=QUILLON-9", "/v1/search?q=travel&collection=contracts", "/v1/search?q="):
        keep(path, server.request("GET", path, token))
    return seen


def without_queries(seen: dict) -> bytes:
    return b"\n".join(body for _, _, body in seen.values())


def test_restricted_caller_never_sees_a_hidden_byte(server, restricted_token, token):
    seen = without_queries(observe(server, restricted_token))
    for name in HIDDEN_NAMES:
        if name != b"contracts":  # its own request repeats it: an unknown resource's uri is echoed
            assert name not in seen.replace(b'"uri":"kb://doc/contracts/contracts/acme-supply.md"', b"").replace(
                b'"uri":"kb://chunk/contracts/contracts/acme-supply.md/0"', b"").replace(
                b'"uri":"kb://doc/handbook/handbook/salary-bands.md"', b""), name
    assert b'"contracts"' not in seen
    assert b"QUILLON" in without_queries(observe(server, token)), "the other caller does see it: the test can fail"


def test_hidden_and_missing_names_have_the_same_bytes(server, restricted_token):
    def answer(**extra):
        return server.rpc("tools/call", {"name": "search_kb", "arguments": {"query": "travel", **extra}}, restricted_token).body

    assert answer(collection="contracts") == answer(collection="nothere")
    assert answer(doc_type="contract") == answer(doc_type="nothere")

    def read(uri, modern):
        reply = server.rpc("resources/read", {"uri": uri}, restricted_token, modern)
        return reply.status, reply.body.replace(uri.encode(), b"URI")

    for modern in (False, True):
        hidden = read("kb://doc/handbook/handbook/salary-bands.md", modern)
        assert hidden == read("kb://doc/handbook/handbook/nothere.md", modern)
        assert hidden == read("kb://doc/nowhere/x.md", modern)
        assert read("kb://chunk/handbook/handbook/salary-bands.md/0", modern) == read("kb://chunk/handbook/handbook/travel.md/99", modern)


def test_a_second_label_narrows(server):
    staff = server.mint("kb:read kb:staff", sub="staff")
    found = {r["doc_id"] for q in ("passwords laptop", "salary bands base", "results publication quarter")
             for r in server.search(staff, q, top_k=20)["results"]}
    assert "handbook/security.txt" in found
    assert "handbook/salary-bands.md" not in found
    assert "handbook/embargo.md" not in found


def test_a_deny_holds_for_everyone_but_its_exception(server, token):
    board = server.mint("kb:read kb:all", sub="chair", groups=["board"])
    assert server.search(board, "VESPER-2")["results"][0]["doc_id"] == "handbook/embargo.md"
    assert all(r["doc_id"] != "handbook/embargo.md" for r in server.search(token, "VESPER-2", top_k=20)["results"])


def test_cache_does_not_carry_an_answer_to_other_rights(server, token, restricted_token):
    seen = server.search(token, "QUILLON-9 salary")["results"]
    assert any(r["doc_id"] == "handbook/salary-bands.md" for r in seen)
    again = server.search(restricted_token, "QUILLON-9 salary")["results"]
    assert all(r["doc_id"] != "handbook/salary-bands.md" for r in again)
    assert any(r["doc_id"] == "handbook/salary-bands.md" for r in server.search(token, "QUILLON-9 salary")["results"])


@pytest.mark.parametrize("cache", ["67108864", "0"])
def test_a_thousand_hidden_documents_change_no_byte(tmp_path, corpus_folder, own_server, cache):
    store, source = tmp_path / "store", tmp_path / "source"
    shutil.copytree(corpus_folder, source)
    kb.ingest(store, source)
    server = own_server(store=store, config=f"cache_bytes: {cache}\n")
    caller = server.mint("kb:read", sub="restricted")
    owner = server.mint("kb:read kb:all", sub="owner")
    before, owner_before = observe(server, caller), observe(server, owner)

    # Full of the caller's own rare words, in new and in shared collections, by label, type and collection.
    docs = corpus.documents()
    for i in range(1000):
        where = [("handbook", "policy", ["internal"]), ("faq", "faq", ["hr", "public"]), ("secret", "memo", ["public"]),
                 ("handbook", "memo", [])][i % 4]
        text = f"# Zeppelin {i}\n\nZEPPELIN-7 travel desk receipts parental leave printer 有給休暇 marzipan MARZIPAN-8 zzzunknown {i}.\n"
        docs.append(corpus.Document(f"hidden/{i}.md", text, where[0], where[1], where[2], published="2024-03-01"))
    shutil.rmtree(source)
    kb.ingest(store, corpus.write(source, docs))
    server.restart()
    after, owner_after = observe(server, caller), observe(server, owner)
    assert owner_after != owner_before, "the documents were published: the test can fail"
    for request, reply in before.items():
        assert after[request] == reply, request


def test_grants_that_match_no_partition_work_and_are_empty(server):
    nobody = server.mint("kb:nowhere", sub="nobody")
    outcome = server.search(nobody, "travel")
    assert outcome["error"]["type"] == "empty" and outcome["results"] == []
    assert server.call(nobody, query="travel")["isError"] is False
    tool = server.rpc("tools/list", {}, nobody).json()["result"]["tools"][0]
    assert "enum" not in tool["inputSchema"]["properties"]["collection"]
    assert tool["inputSchema"]["properties"]["collection"]["type"] == "string"
    index = server.rpc("resources/read", {"uri": "kb://index"}, nobody).json()["result"]["contents"][0]["text"]
    assert '"collections":[]' in index
